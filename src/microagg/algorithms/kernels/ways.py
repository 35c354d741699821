"""Groups whose values are diverse, or close to those of the file, by how they are formed: the loops of three ways.

- Candidates: groups of k records with enough different values, each taken by distance from the record it starts with.
- Closeness: groups that take their records from all parts of a confidential column's distribution.
- Swaps: groups of the k nearest records, in which members change places with records farther off to be close to the
  file. Distances from the file are sums of whole numbers, so the best of several swaps is the best to the last bit. On
  an ordered column the cumulative count of a group of k stays the same between two of its sorted values: tables hold
  the sums of |j N - k B_i| up to each value, B_i being the records of the file with value i or a lower one and j the
  count, and a distance takes two lookups a member.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.kernels import search
from microagg.algorithms.kernels._jit import inlined, inner, kernel
from microagg.algorithms.kernels.brute import close_up
from microagg.algorithms.kernels.pool import DIFFERENT, HOLDER, LEFT, NO_GROUP, REMAINING, SLOTS, SPENT
from microagg.algorithms.kernels.records import record_distances
from microagg.algorithms.kernels.shell import farthest_from_centroid


@inlined
def values_left(pool, missing):
    """Return how many different values the live records have."""
    lacking = missing < pool.tally.shape[1] and pool.tally[LEFT, missing] > 0
    return pool.state[DIFFERENT] - lacking


@kernel
def groups_of_values(
    pool, plain, shell, k, wanted, missing, least, paired, budget, n_groups, labels
):  # OUT: pool, shell, labels
    """Form groups around the records farthest from the centroid while `least` records and the values wanted remain.

    The marks of `pool` are values, `missing` being none; `plain` is the same pool without marks. `paired` forms a
    second group each turn, as MDAV does. Stops early when `budget` coordinates have been looked at. Returns the number
    of groups formed so far.
    """
    state = pool.state
    state[SPENT] = 0
    while state[REMAINING] >= least and values_left(pool, missing) >= wanted and state[SPENT] < budget:
        row = farthest_from_centroid(pool, shell, labels)
        if row < 0:
            break
        for side in range(2 if paired else 1):
            if values_left(pool, missing) < wanted:
                break
            row = group_with_values(pool, plain, row, k, wanted, missing, n_groups, paired and side == 0, labels)
            n_groups += 1
    return n_groups


@inner
def group_with_values(pool, plain, row, k, wanted, missing, label, opposite, labels):  # OUT: pool, labels
    """Make a group of a record and near ones; with `opposite`, return the remaining record farthest from it.

    One with a new value joins, or any while more places are free than values are wanting; then only new values do.
    """
    point = np.empty(pool.points.shape[1])
    near_rows, near_distances = np.empty(k, dtype=np.int64), np.empty(k)
    search.copy_point(pool, row, point)
    search.join(pool, row, label, labels)
    wanting = wanted - (pool.marks[row] != missing)
    if missing < pool.tally.shape[1]:
        pool.tally[HOLDER, missing] = label  # never new
    free = max(k - 1, wanting)  # one record more where that of the start brings no value
    offered = free
    search.nearest(plain, row, point, label, offered, near_rows, near_distances)
    for i in range(offered):
        other = near_rows[i]
        fresh = pool.tally[HOLDER, pool.marks[other]] != label
        if fresh or free > wanting:
            search.join(pool, other, label, labels)
            free -= 1
            wanting -= fresh
    if free > 0:
        search.nearest(pool, row, point, label, free, near_rows, near_distances)
        for i in range(free):
            search.join(pool, near_rows[i], label, labels)
    far_row = -1
    if opposite:
        far_row, _ = search.farthest(pool, point)
    search.close_up(pool)
    return far_row


@kernel
def groups_over_subsets(pool, shell, groups, budget, n_groups, labels):  # OUT: pool, shell, labels
    """Form groups around the record farthest from the centroid, and around the one farthest from that.

    The marks of `pool` are the subsets. Stops early, between two turns, when `budget` coordinates have been looked at.
    Returns the number of groups formed so far.
    """
    pool.state[SPENT] = 0
    while n_groups < groups and pool.state[SPENT] < budget:
        row = farthest_from_centroid(pool, shell, labels)
        if row < 0:
            break
        for side in range(2):
            if n_groups == groups:
                break
            row = group_over_subsets(pool, row, groups - n_groups, n_groups, side == 0, labels)
            n_groups += 1
    return n_groups


@inner
def group_over_subsets(pool, row, to_come, label, opposite, labels):  # OUT: pool, labels
    """Take from each subset the record nearest to one; then the next, where it has more than there are groups to come.

    With `opposite`, return the remaining record farthest from that one.
    """
    n_subsets = pool.tally.shape[1]
    point = np.empty(pool.points.shape[1])
    rows, distances = np.empty(n_subsets, dtype=np.int64), np.empty(n_subsets)
    search.copy_point(pool, row, point)
    over = np.flatnonzero(pool.tally[LEFT] > to_come)
    for turn in range(2):
        count = n_subsets if turn == 0 else over.shape[0]
        if count > 0:
            search.nearest(pool, row, point, label, count, rows, distances)
            taken = rows[:count]
            for other in taken[np.argsort(pool.marks[taken])]:
                search.join(pool, other, label, labels)
        for own in over:
            pool.tally[HOLDER, own] = NO_GROUP  # it may give another
    far_row = -1
    if opposite:
        far_row, _ = search.farthest(pool, point)
    search.close_up(pool)
    return far_row


class Exchange(NamedTuple):
    """Groups between which records of the same subset change places."""

    points: NDArray[np.float64]  # (n, D): centred
    order: NDArray[np.int64]  # (n,): rows, subset after subset
    starts: NDArray[np.int64]  # (subsets + 1,): where each begins in it
    sums: NDArray[np.float64]  # (groups, D)
    sizes: NDArray[np.float64]  # (groups,)
    state: NDArray[np.int64]  # (PASSES, CHANGES, SUBSET, AT)


# The places of its state.
PASSES = 0  # over all pairs that are finished
CHANGES = 1  # since the present one began
SUBSET = 2  # that it has come to
AT = 3  # and the place of the next record in it


def ready_to_exchange(points: NDArray[np.float64], subsets: NDArray[np.int64], labels: NDArray[np.int64]) -> Exchange:
    """Lay out points (n, D) with their subsets and groups, both numbered from 0."""
    centred = np.ascontiguousarray(points - points.mean(axis=0))
    order, starts = np.argsort(subsets, kind="stable"), np.concatenate([[0], np.cumsum(np.bincount(subsets))])
    sizes = np.bincount(labels).astype(np.float64)
    sums = np.zeros((sizes.size, points.shape[1]))
    np.add.at(sums, labels, centred)
    return Exchange(centred, order, starts, sums, sizes, np.zeros(4, dtype=np.int64))


@kernel
def exchange_some(exchange, budget, labels):  # OUT: exchange, labels
    """Swap records of two groups within a subset where that lowers the squared error.

    Stops after a pass over all pairs, or early when `budget` pairs have been looked at, to go on there the next time.
    Returns whether the pass is finished.
    """
    order, starts, state = exchange.order, exchange.starts, exchange.state
    while state[SUBSET] < starts.shape[0] - 1:
        begin, end = starts[state[SUBSET]], starts[state[SUBSET] + 1]
        while begin + state[AT] < end:
            if budget <= 0:
                return False
            at = begin + state[AT]
            for to in range(at + 1, end):
                state[CHANGES] += swap_if_better(
                    exchange.points, order[at], order[to], exchange.sums, exchange.sizes, labels
                )
            budget -= end - at
            state[AT] += 1
        state[SUBSET] += 1
        state[AT] = 0
    state[SUBSET] = 0
    state[PASSES] += 1
    return True


@inlined
def swap_if_better(points, row, other, sums, sizes, labels):  # OUT: sums, labels
    """Let two records change places if that lowers the error, by more than rounding could; return whether it did."""
    a, b = labels[row], labels[other]
    better = False
    if a != b:
        along, square = 0.0, 0.0
        for j in range(points.shape[1]):
            u = points[other, j] - points[row, j]
            along += u * (sums[a, j] / sizes[a] - sums[b, j] / sizes[b])
            square += u * u
        better = -2.0 * along - square * (1.0 / sizes[a] + 1.0 / sizes[b]) < -1e-9 * square
        if better:
            for j in range(points.shape[1]):
                u = points[other, j] - points[row, j]
                sums[a, j] += u
                sums[b, j] -= u
            labels[row], labels[other] = b, a
    return better


_FIRST = 256  # candidates put in order at first


@kernel
def tables_of(below, k, in_all):
    """Return the sums of |j * in_all - k * below_i| for i below each value, (k + 1, values + 1)."""
    m = below.shape[0]
    tables = np.zeros((k + 1, m + 1))
    for j in range(k + 1):
        for i in range(m):
            tables[j, i + 1] = tables[j, i] + abs(j * in_all - k * below[i])
    return tables


@kernel
def groups_by_swaps(
    pool, shell, codes, tables, counts, starts, limit, k, least, paired, budget, n_groups, labels
):  # OUT: pool, shell, labels
    """Form groups around the record farthest from the centroid while `least` records remain, by brute force.

    `codes` (levels, n) are the values; `tables` is that of an ordered column, else empty, and then `counts` those of
    the file, level after level, beginning at `starts`. A group's distance shall not be above `limit`. Stops early when
    `budget` coordinates have been looked at. Returns the number of groups formed so far.
    """
    state = pool.state
    state[SPENT] = 0
    while state[REMAINING] >= least and state[SPENT] < budget:
        row = farthest_from_centroid(pool, shell, labels)
        if row < 0:
            break
        for side in range(2 if paired else 1):
            row = group_by_swaps(
                pool, row, codes, tables, counts, starts, limit, k, n_groups, paired and side == 0, labels
            )
            n_groups += 1
    return n_groups


@inner
def group_by_swaps(pool, row, codes, tables, counts, starts, limit, k, label, opposite, labels):  # OUT: pool, labels
    """Make one group; with `opposite`, return the remaining record farthest from the one it started with."""
    point = np.empty(pool.points.shape[1])
    search.copy_point(pool, row, point)
    span = pool.state[SLOTS]
    pool.state[SPENT] += span * point.shape[0]
    distances = np.empty(span)
    record_distances(pool.points[0], pool.heights, 0, span, point, distances)
    live = np.flatnonzero(distances >= 0.0)
    distances = distances[live]
    ordered, used = by_distance(distances, max(_FIRST, k))
    members = np.empty(k, dtype=np.int64)
    for i in range(k):
        members[i] = pool.rows[live[ordered[i]]]
    distance = whole_distance(codes, tables, counts, starts, members)
    at = k
    while distance > limit and at < live.shape[0]:
        if at == used:
            ordered, used = by_distance(distances, 4 * used)
        other = pool.rows[live[ordered[at]]]
        at += 1
        place, swapped = best_swap(codes, tables, counts, starts, members, other, distance)
        if place >= 0:
            members[place] = other
            distance = swapped
            pool.state[SPENT] += k * k
    pool.state[SPENT] += at * k
    for i in range(k):
        search.join(pool, members[i], label, labels)
    far_row = -1
    if opposite:
        far_row, _ = search.farthest(pool, point)
    close_up(pool)
    return far_row


@inner
def by_distance(distances, count):
    """Order the nearest records, `count` or all, by distance and then as they stand; give them and how many."""
    if count >= distances.shape[0]:
        return np.argsort(distances, kind="mergesort"), distances.shape[0]
    near = np.flatnonzero(distances <= np.partition(distances, count)[count])
    return near[np.argsort(distances[near], kind="mergesort")], near.shape[0]


@inner
def best_swap(codes, tables, counts, starts, members, other, distance):
    """The member in whose place another record makes a group closest, the first on ties, or -1; and how close."""
    place, least = -1, distance
    for i in range(members.shape[0]):
        leaving = members[i]
        if codes[0, leaving] != codes[0, other]:
            members[i] = other
            swapped = whole_distance(codes, tables, counts, starts, members)
            members[i] = leaving
            if swapped < least:
                place, least = i, swapped
    return place, least


@inlined
def whole_distance(codes, tables, counts, starts, members):
    """Return a group's distance from the file, times the records of both and what else is the same for all groups."""
    if tables.shape[0] > 0:
        distance = distance_in_order(codes[0], tables, members)
    else:
        distance = distance_over_levels(codes, counts, starts, members)
    return distance


@inner
def distance_in_order(codes, tables, members):
    """Return the sum of |j N - k B_i| over all values i, j being the members with that value or a lower one."""
    k = members.shape[0]
    own = np.empty(k, dtype=np.int64)
    for i in range(k):
        at = i
        while at > 0 and own[at - 1] > codes[members[i]]:
            own[at] = own[at - 1]
            at -= 1
        own[at] = codes[members[i]]
    total = tables[k, tables.shape[1] - 1]
    for j in range(k):
        total += tables[j, own[j]] - tables[j + 1, own[j]]
    return total


@inner
def distance_over_levels(codes, counts, starts, members):
    """The sum of |c N - k C| over the values of each level, c and C being how many members and records have it."""
    k = members.shape[0]
    total = 0.0
    for level in range(codes.shape[0]):
        in_all = 0.0
        for i in range(starts[level], starts[level + 1]):
            in_all += counts[i]
        total += k * in_all
        for i in range(k):
            value = codes[level, members[i]]
            having, first = 0, True
            for other in range(k):
                same = codes[level, members[other]] == value
                having += same
                first &= not (same and other < i)
            if first:
                expected = k * counts[starts[level] + value]
                total += abs(having * in_all - expected) - expected
    return total
