"""Moving records between neighbouring groups to lower their squared error, by simulated annealing.

A sweep offers every record, in an order in which neighbours in space are neighbours in memory, one move towards a
group of a near record: to join it, to change places with one of its members, to leave its own group dissolved, or to
found a new one with near records. A move that lowers the error is made; one that raises it by e is made with
probability exp(-e / temperature), and the temperature falls geometrically. Random numbers are a counter's, so the
result is a function of the seed.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg._kernels._jit import inlined, inner, kernel
from microagg._kernels.pool import LEAF
from microagg._kernels.tree_search import nearest

# The places of the state of groups.
N_GROUPS = 0
NEXT = 1  # the record that is offered a move next
SWEEPS_DONE = 2


class MovableGroups(NamedTuple):
    """A partition, laid out for moving records about."""

    labels: NDArray[np.int64]  # (n,)
    places: NDArray[np.int64]  # (n,): where each record stands among its group's members
    members: NDArray[np.int64]  # (most groups, most members)
    sizes: NDArray[np.int64]  # (most groups,)
    sums: NDArray[np.float64]  # (most groups, d)
    state: NDArray[np.int64]  # (N_GROUPS, NEXT, SWEEPS_DONE)


def lay_out(points: NDArray[np.float64], labels: NDArray[np.int64], k: int) -> MovableGroups:
    """Lay out a partition of points (n, d)."""
    n, d = points.shape
    sizes = np.bincount(labels)
    most_groups = n // k + 1
    groups = MovableGroups(
        labels=labels.copy(),
        places=np.zeros(n, dtype=np.int64),
        members=np.zeros((most_groups, max(2 * k, int(sizes.max()) + 1)), dtype=np.int64),
        sizes=np.zeros(most_groups, dtype=np.int64),
        sums=np.zeros((most_groups, d)),
        state=np.zeros(3, dtype=np.int64),
    )
    groups.state[N_GROUPS] = sizes.size
    fill(points, groups)
    return groups


@kernel
def fill(points, groups):  # OUT: groups
    """Enter all records by their labels, in row order."""
    for g in range(groups.sizes.shape[0]):
        groups.sizes[g] = 0
        for j in range(points.shape[1]):
            groups.sums[g, j] = 0.0
    for row in range(points.shape[0]):
        enter(points, row, groups.labels[row], groups)


@inlined
def enter(points, row, g, groups):  # OUT: groups
    """Put a record that is in no group into one."""
    size = groups.sizes[g]
    groups.members[g, size] = row
    groups.places[row] = size
    groups.sizes[g] = size + 1
    groups.labels[row] = g
    for j in range(points.shape[1]):
        groups.sums[g, j] += points[row, j]


@inlined
def leave(points, row, groups):  # OUT: groups
    """Take a record out of its group."""
    g = groups.labels[row]
    size = groups.sizes[g] - 1
    last = groups.members[g, size]
    groups.members[g, groups.places[row]] = last
    groups.places[last] = groups.places[row]
    groups.sizes[g] = size
    for j in range(points.shape[1]):
        groups.sums[g, j] -= points[row, j]


@inlined
def cost_of_joining(points, row, g, groups):
    """Give by how much the error rises when a record joins a group."""
    size = groups.sizes[g]
    distance = 0.0
    for j in range(points.shape[1]):
        u = points[row, j] - groups.sums[g, j] / size
        distance += u * u
    return distance * size / (size + 1.0)


@inlined
def gain_of_leaving(points, row, groups):
    """Give by how much the error falls when a record leaves its group of two or more."""
    g = groups.labels[row]
    size = groups.sizes[g]
    distance = 0.0
    for j in range(points.shape[1]):
        u = points[row, j] - groups.sums[g, j] / size
        distance += u * u
    return distance * size / (size - 1.0)


@inlined
def cost_of_swapping(points, row, other, groups):
    """Give by how much the error rises when two records of two groups change places."""
    a, b = groups.labels[row], groups.labels[other]
    per_a, per_b = 1.0 / groups.sizes[a], 1.0 / groups.sizes[b]
    along, square = 0.0, 0.0
    for j in range(points.shape[1]):
        u = points[other, j] - points[row, j]
        along += u * (groups.sums[a, j] * per_a - groups.sums[b, j] * per_b)
        square += u * u
    return -2.0 * along - square * (per_a + per_b)


@inlined
def draw(counter):  # OUT: counter
    """Give 64 random bits: a counter, well mixed (splitmix64)."""
    counter[()] += np.uint64(0x9E3779B97F4A7C15)
    z = counter[()]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@inlined
def share(counter):  # OUT: counter
    """Give a random number from 0 to 1."""
    return (draw(counter) >> np.uint64(11)) * 2.0**-53


@inlined
def below(counter, n):  # OUT: counter
    """Give a random whole number below n."""
    return np.int64((draw(counter) >> np.uint64(32)) * np.uint64(n) >> np.uint64(32))


@inlined
def accepted(cost, temperature, counter):  # OUT: counter
    """Tell whether a move is made."""
    return cost < 0.0 or (temperature > 0.0 and share(counter) < np.exp(-cost / temperature))


@inner
def dissolve(points, g, k, near, temperature, counter, groups):  # OUT: counter, groups
    """Give every member of a group to the best group of its near records that has room, if that is accepted."""
    size = groups.sizes[g]
    rows = groups.members[g, :size].copy()
    cost = 0.0
    moved = 0
    for i in range(size):
        row = rows[i]
        best, target = np.inf, -1
        for c in range(near.shape[1]):
            other = groups.labels[near[row, c]]
            if other != g and groups.sizes[other] < 2 * k - 1:
                rise = cost_of_joining(points, row, other, groups)
                if rise < best:
                    best, target = rise, other
        if target < 0:
            break
        if groups.sizes[g] > 1:
            cost -= gain_of_leaving(points, row, groups)
        leave(points, row, groups)
        enter(points, row, target, groups)
        cost += best
        moved += 1
    if moved == size and accepted(cost, temperature, counter):
        drop_group(g, groups)
        return
    for i in range(moved):
        leave(points, rows[i], groups)
        enter(points, rows[i], g, groups)


@inlined
def drop_group(g, groups):  # OUT: groups
    """Give the number of an empty group to the last one."""
    last = groups.state[N_GROUPS] - 1
    groups.state[N_GROUPS] = last
    if g != last:
        for i in range(groups.sizes[last]):
            row = groups.members[last, i]
            groups.members[g, i] = row
            groups.labels[row] = g
        groups.sizes[g] = groups.sizes[last]
        for j in range(groups.sums.shape[1]):
            groups.sums[g, j] = groups.sums[last, j]
    groups.sizes[last] = 0
    for j in range(groups.sums.shape[1]):
        groups.sums[last, j] = 0.0


@inner
def make_group(points, row, k, near, temperature, counter, groups):  # OUT: counter, groups
    """Make a new group of a record and near ones from groups of more than k, if that is accepted."""
    g = groups.state[N_GROUPS]
    if g >= groups.sizes.shape[0]:
        return
    rows, sources = np.empty(k, dtype=np.int64), np.empty(k, dtype=np.int64)
    taken = 0
    cost = 0.0
    for c in range(-1, near.shape[1]):
        one = row if c < 0 else near[row, c]
        source = groups.labels[one]
        if source == g or groups.sizes[source] <= k:
            if c < 0:
                return
            continue
        cost -= gain_of_leaving(points, one, groups)
        leave(points, one, groups)
        if taken > 0:
            cost += cost_of_joining(points, one, g, groups)
        enter(points, one, g, groups)
        rows[taken], sources[taken] = one, source
        taken += 1
        if taken == k:
            break
    if taken == k and accepted(cost, temperature, counter):
        groups.state[N_GROUPS] = g + 1
        return
    for i in range(taken):
        leave(points, rows[i], groups)
        enter(points, rows[i], sources[i], groups)


@kernel
def anneal(points, k, variable, near, scale, hot, cold, sweeps, budget, counter, groups):  # OUT: counter, groups
    """Sweep over the records, the temperature falling from `hot` to `cold`; return when done or the budget is used up.

    A record's temperature is in units of its `scale` (n,), so that outliers and crowds freeze at the same time. The
    last tenth of the sweeps makes only moves that lower the error. Unless `variable`, sizes stay as they are.
    """
    n = points.shape[0]
    state = groups.state
    cooling = max(1, sweeps - sweeps // 10 - 1)
    while state[SWEEPS_DONE] < sweeps and budget > 0:
        heat = 0.0
        if hot > 0.0 and state[SWEEPS_DONE] < sweeps - sweeps // 10:
            heat = hot * (cold / hot) ** (state[SWEEPS_DONE] / cooling)
        while state[NEXT] < n and budget > 0:
            row = state[NEXT]
            state[NEXT] += 1
            budget -= 1
            temperature = heat * scale[row]
            a = groups.labels[row]
            b = groups.labels[near[row, below(counter, near.shape[1])]]
            kind = share(counter)
            if variable and kind < 0.02:
                if kind < 0.01:
                    dissolve(points, a, k, near, temperature, counter, groups)
                else:
                    make_group(points, row, k, near, temperature, counter, groups)
            elif a == b:
                continue
            elif variable and kind < 0.6 and groups.sizes[a] > k and groups.sizes[b] < 2 * k - 1:
                cost = cost_of_joining(points, row, b, groups) - gain_of_leaving(points, row, groups)
                if accepted(cost, temperature, counter):
                    leave(points, row, groups)
                    enter(points, row, b, groups)
            else:
                other = groups.members[b, below(counter, groups.sizes[b])]
                if accepted(cost_of_swapping(points, row, other, groups), temperature, counter):
                    leave(points, row, groups)
                    leave(points, other, groups)
                    enter(points, row, b, groups)
                    enter(points, other, a, groups)
        if state[NEXT] == n:
            state[NEXT] = 0
            state[SWEEPS_DONE] += 1
            if state[SWEEPS_DONE] % 256 == 0:  # rounding adds up in the sums
                fill_sums(points, groups)


@inner
def fill_sums(points, groups):  # OUT: groups
    """Sum each group anew."""
    for g in range(groups.state[N_GROUPS]):
        for j in range(points.shape[1]):
            total = 0.0
            for i in range(groups.sizes[g]):
                total += points[groups.members[g, i], j]
            groups.sums[g, j] = total


@kernel
def neighbours(pool, columns, order, position, start, stop, near, scale):  # OUT: near, scale
    """List the nearest records of each of `order[start:stop]`, all by their position in that order.

    `pool` is a tree of all of `columns` (d, n); `position` (n,) is the inverse of `order`. `scale` becomes half the
    mean squared distance to them.
    """
    count = near.shape[1] + 1
    point = np.empty(columns.shape[0])
    rows, distances = np.empty(count, dtype=np.int64), np.empty(count)
    for i in range(start, stop):
        row = order[i]
        for j in range(point.shape[0]):
            point[j] = columns[j, row]
        nearest(pool, point, pool.place[row] // LEAF, count, rows, distances)
        scale[i] = 0.0
        kept = 0
        for c in range(count):  # the record itself is among them, unless as many others lie in the same place
            if rows[c] != row and kept < near.shape[1]:
                near[i, kept] = position[rows[c]]
                scale[i] += 0.5 * distances[c] / near.shape[1]
                kept += 1
