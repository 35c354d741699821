"""Moving records between neighbouring groups to lower their squared error, by simulated annealing.

A sweep offers every record, in an order in which neighbours in space are neighbours in memory, one move towards a
group of a near record: to join it, to change places with one of its members, to leave its own group dissolved, or to
found a new one with near records. A move that lowers the error is made; one that raises it by e is made with
probability exp(-e / temperature), and the temperature falls geometrically. Random numbers are a counter's, so the
result is a function of the seed.

Where records have marks, or groups must keep a demand, a move is made only if all groups keep their promise (see
promises.py).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.kernels._jit import inlined, kernel
from microagg.algorithms.kernels.pool import LEAF, NO_GROUP
from microagg.algorithms.kernels.promises import NOBODY, is_new, keeps, may_change_places, may_join, may_leave, may_swap
from microagg.algorithms.kernels.records import Records
from microagg.algorithms.kernels.tree_search import nearest

# The places of the state of groups.
N_GROUPS = 0
NEXT = 1  # the record that is offered a move next
SWEEPS_DONE = 2

_ROOM = 1 << 26  # members to lay out places for, unless so many groups of few members need more


class MovableRecords(NamedTuple):
    """Records, laid out one after the other."""

    numbers: NDArray[np.float64]  # (n, numbers)
    codes: NDArray[np.int32]  # (n, codes)
    squares: NDArray[np.float64]  # (codes,): squared heights
    some_codes: tuple[()] | tuple[int]  # empty without codes: part of the type, so that numbers alone lose no time
    marks: NDArray[np.int64]  # (n,): of which a group must hold k different ones, or empty
    in_part: bool  # whether no mark may have more than 1/k of a group's members


class MovableGroups(NamedTuple):
    """A partition, laid out for moving records about.

    Of codes each group lists its members', and keeps how many pairs of members, each with itself too, have the same:
    the members' shares of categories are at hand that way without a place for every category.
    """

    labels: NDArray[np.int64]  # (n,)
    places: NDArray[np.int64]  # (n,): where each record stands among its group's members
    members: NDArray[np.int64]  # (most groups, most members)
    sizes: NDArray[np.int64]  # (most groups,)
    sums: NDArray[np.float64]  # (most groups, numbers)
    codes: NDArray[np.int32]  # (most groups, codes, most members)
    alike: NDArray[np.int64]  # (most groups, codes): pairs of members that have the same code
    state: NDArray[np.int64]  # (N_GROUPS, NEXT, SWEEPS_DONE)


def movable(records: Records, marks: NDArray[np.int64], in_part: bool) -> MovableRecords:
    """Lay out records one after the other; `marks` is empty where they have none."""
    numbers = int(records.starts[0])
    return MovableRecords(
        numbers=np.ascontiguousarray(records.entries[:numbers].T),
        codes=np.ascontiguousarray(records.entries[numbers:].T.astype(np.int32)),
        squares=records.heights**2,
        some_codes=(1,) if records.heights.size else (),
        marks=marks,
        in_part=in_part,
    )


def lay_out(records: MovableRecords, labels: NDArray[np.int64], k: int, most: int) -> MovableGroups:
    """Lay out a partition of records whose groups may grow to `most` members."""
    n, d = records.numbers.shape
    sizes = np.bincount(labels)
    most_members = max(most, int(sizes.max())) + 1
    most_groups = max(sizes.size, min(n // k + 1, max(_ROOM, 4 * n) // most_members))
    groups = MovableGroups(
        labels=labels.copy(),
        places=np.zeros(n, dtype=np.int64),
        members=np.zeros((most_groups, most_members), dtype=np.int64),
        sizes=np.zeros(most_groups, dtype=np.int64),
        sums=np.zeros((most_groups, d)),
        codes=np.zeros((most_groups, records.squares.size, most_members), dtype=np.int32),
        alike=np.zeros((most_groups, records.squares.size), dtype=np.int64),
        state=np.zeros(3, dtype=np.int64),
    )
    groups.state[N_GROUPS] = sizes.size
    fill(records, groups)
    return groups


@kernel
def fill(records, groups):  # OUT: groups
    """Enter all records by their labels, in row order."""
    for g in range(groups.sizes.shape[0]):
        groups.sizes[g] = 0
        groups.sums[g] = 0.0
        groups.alike[g] = 0
    for row in range(groups.labels.shape[0]):
        enter(records, row, groups.labels[row], groups)


@inlined
def n_codes(records):
    """Return how many columns of codes there are."""
    return len(records.some_codes) * records.squares.shape[0]


@inlined
def having(groups, g, j, code):
    """Count the members of a group that have a code in a column."""
    count = 0
    for i in range(groups.sizes[g]):
        count += groups.codes[g, j, i] == code
    return count


@inlined
def enter(records, row, g, groups):  # OUT: groups
    """Put a record that is in no group into one."""
    size = groups.sizes[g]
    for j in range(n_codes(records)):
        code = records.codes[row, j]
        groups.alike[g, j] += 2 * having(groups, g, j, code) + 1
        groups.codes[g, j, size] = code
    groups.members[g, size] = row
    groups.places[row] = size
    groups.sizes[g] = size + 1
    groups.labels[row] = g
    for j in range(records.numbers.shape[1]):
        groups.sums[g, j] += records.numbers[row, j]


@inlined
def leave(records, row, groups):  # OUT: groups
    """Take a record out of its group."""
    g = groups.labels[row]
    size = groups.sizes[g] - 1
    last, place = groups.members[g, size], groups.places[row]
    for j in range(n_codes(records)):
        groups.alike[g, j] -= 2 * having(groups, g, j, records.codes[row, j]) - 1
        groups.codes[g, j, place] = groups.codes[g, j, size]
    groups.members[g, place] = last
    groups.places[last] = place
    groups.sizes[g] = size
    for j in range(records.numbers.shape[1]):
        groups.sums[g, j] -= records.numbers[row, j]


@inlined
def distance_to_mean(records, row, g, groups):
    """Return the squared distance of a record from the mean of a group, which may be its own."""
    size = groups.sizes[g]
    distance = 0.0
    for j in range(records.numbers.shape[1]):
        u = records.numbers[row, j] - groups.sums[g, j] / size
        distance += u * u
    for j in range(n_codes(records)):
        share = having(groups, g, j, records.codes[row, j]) / size
        distance += records.squares[j] * (1.0 - 2.0 * share + groups.alike[g, j] / (size * size))
    return distance


@inlined
def cost_of_joining(records, row, g, groups):
    """Return by how much the error rises when a record joins a group."""
    size = groups.sizes[g]
    return distance_to_mean(records, row, g, groups) * size / (size + 1.0)


@inlined
def gain_of_leaving(records, row, groups):
    """Return by how much the error falls when a record leaves its group of two or more."""
    g = groups.labels[row]
    size = groups.sizes[g]
    return distance_to_mean(records, row, g, groups) * size / (size - 1.0)


@inlined
def cost_of_swapping(records, row, other, groups):
    """Return by how much the error rises when two records of two groups change places."""
    a, b = groups.labels[row], groups.labels[other]
    per_a, per_b = 1.0 / groups.sizes[a], 1.0 / groups.sizes[b]
    along, square = 0.0, 0.0
    for j in range(records.numbers.shape[1]):
        u = records.numbers[other, j] - records.numbers[row, j]
        along += u * (groups.sums[a, j] * per_a - groups.sums[b, j] * per_b)
        square += u * u
    for j in range(n_codes(records)):
        code, code_of_other = records.codes[row, j], records.codes[other, j]
        if code != code_of_other:
            in_a = having(groups, a, j, code_of_other) - having(groups, a, j, code)
            in_b = having(groups, b, j, code_of_other) - having(groups, b, j, code)
            along += records.squares[j] * (in_a * per_a - in_b * per_b)
            square += 2.0 * records.squares[j]
    return -2.0 * along - square * (per_a + per_b)


@inlined
def draw(counter):  # OUT: counter
    """Return 64 random bits: a counter, well mixed (splitmix64)."""
    counter[()] += np.uint64(0x9E3779B97F4A7C15)
    z = counter[()]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@inlined
def share(counter):  # OUT: counter
    """Return a random number from 0 to 1."""
    return (draw(counter) >> np.uint64(11)) * 2.0**-53


@inlined
def below(counter, n):  # OUT: counter
    """Return a random whole number below n."""
    return np.int64((draw(counter) >> np.uint64(32)) * np.uint64(n) >> np.uint64(32))


@inlined
def accepted(cost, temperature, counter):  # OUT: counter
    """Return whether a move is made."""
    return cost < 0.0 or (temperature > 0.0 and share(counter) < np.exp(-cost / temperature))


@inlined
def dissolve(records, asked, demanded, marked, g, k, most, near, temperature, counter, groups):  # OUT: counter, groups
    """Return every member of a group to the best group of its near records that has room, if that is accepted."""
    size = groups.sizes[g]
    rows = groups.members[g, :size].copy()
    cost = 0.0
    moved = 0
    for i in range(size):
        row = rows[i]
        best, target = np.inf, -1
        for c in range(near.shape[1]):
            other = groups.labels[near[row, c]]
            if other != g and groups.sizes[other] < most:
                if marked and not may_join(records, row, other, k, groups):
                    continue
                rise = cost_of_joining(records, row, other, groups)
                if rise < best and (not demanded or keeps(asked, other, NOBODY, row, groups)):
                    best, target = rise, other
        if target < 0:
            break
        if groups.sizes[g] > 1:
            cost -= gain_of_leaving(records, row, groups)
        leave(records, row, groups)
        enter(records, row, target, groups)
        cost += best
        moved += 1
    if moved == size and accepted(cost, temperature, counter):
        drop_group(g, groups)
        return
    for i in range(moved):
        leave(records, rows[i], groups)
        enter(records, rows[i], g, groups)


@inlined
def drop_group(g, groups):  # OUT: groups
    """Return the number of an empty group to the last one."""
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
        for j in range(groups.alike.shape[1]):
            groups.alike[g, j] = groups.alike[last, j]
            for i in range(groups.sizes[g]):
                groups.codes[g, j, i] = groups.codes[last, j, i]
    groups.sizes[last] = 0
    for j in range(groups.sums.shape[1]):
        groups.sums[last, j] = 0.0
    for j in range(groups.alike.shape[1]):
        groups.alike[last, j] = 0


@inlined
def make_group(records, asked, demanded, marked, row, k, near, temperature, counter, groups):  # OUT: counter, groups
    """Make a new group of a record and near ones from groups of more than k, if that is accepted.

    With marks, all of them have different ones.
    """
    g = groups.state[N_GROUPS]
    if g >= groups.sizes.shape[0] or groups.sizes[groups.labels[row]] <= k:
        return
    rows, sources = np.empty(k, dtype=np.int64), np.empty(k, dtype=np.int64)
    taken = 0
    cost = 0.0
    for c in range(-1, near.shape[1]):
        one = row if c < 0 else near[row, c]
        source = groups.labels[one]
        if source == g or groups.sizes[source] <= k:
            continue
        if marked and not (is_new(records, one, g, groups) and may_leave(records, one, k, groups)):
            continue
        if demanded and not keeps(asked, source, one, NOBODY, groups):
            continue
        cost -= gain_of_leaving(records, one, groups)
        leave(records, one, groups)
        if taken > 0:
            cost += cost_of_joining(records, one, g, groups)
        enter(records, one, g, groups)
        rows[taken], sources[taken] = one, source
        taken += 1
        if taken == k:
            break
    if (
        taken == k
        and accepted(cost, temperature, counter)
        and (not demanded or keeps(asked, g, NOBODY, NOBODY, groups))
    ):
        groups.state[N_GROUPS] = g + 1
        return
    for i in range(taken):
        leave(records, rows[i], groups)
        enter(records, rows[i], sources[i], groups)


@kernel
def anneal(
    records, asked, k, most, variable, near, scale, hot, cold, sweeps, budget, counter, groups
):  # OUT: counter, groups
    """Sweep over the records, the temperature falling from `hot` to `cold`; return when done or the budget is used up.

    A record's temperature is in units of its `scale` (n,), so that outliers and crowds freeze at the same time. The
    last tenth of the sweeps makes only moves that lower the error. Unless `variable`, sizes stay the same; no group
    grows beyond `most`.
    """
    n = groups.labels.shape[0]
    state = groups.state
    marked = records.marks.shape[0] > 0
    demanded = asked.kinds.shape[0] > 0
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
                    dissolve(records, asked, demanded, marked, a, k, most, near, temperature, counter, groups)
                else:
                    make_group(records, asked, demanded, marked, row, k, near, temperature, counter, groups)
            elif a == b:
                continue
            elif variable and kind < 0.6 and groups.sizes[a] > k and groups.sizes[b] < most:
                cost = cost_of_joining(records, row, b, groups) - gain_of_leaving(records, row, groups)
                if (
                    accepted(cost, temperature, counter)
                    and (not marked or (may_leave(records, row, k, groups) and may_join(records, row, b, k, groups)))
                    and (
                        not demanded or (keeps(asked, a, row, NOBODY, groups) and keeps(asked, b, NOBODY, row, groups))
                    )
                ):
                    leave(records, row, groups)
                    enter(records, row, b, groups)
            else:
                other = groups.members[b, below(counter, groups.sizes[b])]
                cost = cost_of_swapping(records, row, other, groups)
                if (
                    accepted(cost, temperature, counter)
                    and (not marked or may_swap(records, row, other, k, groups))
                    and (not demanded or may_change_places(asked, row, other, groups))
                ):
                    leave(records, row, groups)
                    leave(records, other, groups)
                    enter(records, row, b, groups)
                    enter(records, other, a, groups)
        if state[NEXT] == n:
            state[NEXT] = 0
            state[SWEEPS_DONE] += 1
            if state[SWEEPS_DONE] % 256 == 0:  # rounding adds up in the sums
                fill_sums(records, groups)


@inlined
def fill_sums(records, groups):  # OUT: groups
    """Sum each group anew."""
    for g in range(groups.state[N_GROUPS]):
        for j in range(records.numbers.shape[1]):
            total = 0.0
            for i in range(groups.sizes[g]):
                total += records.numbers[groups.members[g, i], j]
            groups.sums[g, j] = total


@kernel
def neighbours(pool, entries, order, position, start, stop, near, scale):  # OUT: near, scale
    """List the nearest records of each of `order[start:stop]`, all by their position in that order.

    `pool` is a tree of all of `entries` (d, n); `position` (n,) is the inverse of `order`. `scale` becomes half the
    mean squared distance to them.
    """
    count = near.shape[1] + 1
    point = np.empty(entries.shape[0])
    rows, distances = np.empty(count, dtype=np.int64), np.empty(count)
    for i in range(start, stop):
        row = order[i]
        for j in range(point.shape[0]):
            point[j] = entries[j, row]
        nearest(pool, point, pool.place[row] // LEAF, NO_GROUP, count, rows, distances)
        scale[i] = 0.0
        kept = 0
        for c in range(count):  # the record itself is among them, unless as many others lie in the same place
            if rows[c] != row and kept < near.shape[1]:
                near[i, kept] = position[rows[c]]
                scale[i] += 0.5 * distances[c] / near.shape[1]
                kept += 1
