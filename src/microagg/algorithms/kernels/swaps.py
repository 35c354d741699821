"""Groups of the k nearest records, in which members change places with records farther off to be close to the file.

Distances from the file are sums of whole numbers, so the best of several swaps is the best to the last bit. On an
ordered column the cumulative count of a group of k stays the same between two of its sorted values: tables hold the
sums of |j N - k B_i| up to each value, B_i being the records of the file with value i or a lower one and j the count,
and a distance takes two lookups a member.
"""

import numpy as np

from microagg.algorithms.kernels import search
from microagg.algorithms.kernels._jit import inlined, inner, kernel
from microagg.algorithms.kernels.brute import close_up
from microagg.algorithms.kernels.pool import REMAINING, SLOTS, SPENT
from microagg.algorithms.kernels.records import record_distances
from microagg.algorithms.kernels.shell import farthest_from_centroid

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
