"""How badly a group breaks what is demanded of the values, or units, that its records hold.

Each track is one way to distinguish records: a confidential column, a level of its taxonomy, or units. Distances are
summed as whole numbers and divided once, so that equal distances are equal to the last bit in whatever order records
come. A group's values come as runs: the different ones, ascending, and how many records have each.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.kernels._jit import inlined, inner, kernel

# What a track is.
NOMINAL = 0  # t is half the sum of absolute differences
ORDERED = 1  # t is the earth mover's distance over the values
UNITS = 2  # of which a group must hold k
UNITS_IN_PART = 3  # of which none may hold more than 1/k of a group

# The places of a track's limits; 0 where nothing is demanded, and infinity for t.
DISTINCT = 0  # different values, or k of units
ENTROPY = 1
FACTOR = 2  # c of recursive (c, l)
RANK = 3  # l of recursive (c, l)
CLOSENESS = 4

SLACK = 1e-12
"""How far a figure may be beyond its limit by rounding."""


class Tracks(NamedTuple):
    """What is demanded of groups; no track at all: nothing."""

    codes: NDArray[np.int64]  # (tracks, n): each record's value; a missing one comes after all others
    kinds: NDArray[np.int64]  # (tracks,)
    limits: NDArray[np.float64]  # (tracks, 5)
    levels: NDArray[np.int64]  # (tracks,): levels of the column whose last track it is, else 0
    values: NDArray[np.int64]  # (tracks,): how many values there are, missing left out
    starts: NDArray[np.int64]  # (tracks,): where a track begins in what follows
    counts: NDArray[np.float64]  # of the whole file, each value's records, then the missing ones
    below: NDArray[np.float64]  # the records with that value or a lower one
    running: NDArray[np.float64]  # the sums of `below` before that value


def nothing_asked() -> Tracks:
    """Return what demands nothing."""
    whole, none = np.empty(0, dtype=np.int64), np.empty(0)
    return Tracks(np.empty((0, 0), dtype=np.int64), whole, np.empty((0, 5)), whole, whole, whole, none, none, none)


@kernel
def group_breaches(asked, rows, starts):
    """Return the breach of each group; group g has the rows rows[starts[g] : starts[g + 1]]."""
    n_groups = starts.shape[0] - 1
    breaches = np.zeros(n_groups)
    own, counts = room_for_largest(starts)
    for g in range(n_groups):
        size = starts[g + 1] - starts[g]
        distance = 0.0
        for track in range(asked.kinds.shape[0]):
            for i in range(size):
                own[i] = asked.codes[track, rows[starts[g] + i]]
            used = runs_of(size, own, counts)
            breach, distance = add_track(asked, track, own, counts, used, distance)
            breaches[g] = max(breaches[g], breach)
    return breaches


@kernel
def group_figures(asked, rows, starts, rank):
    """Return each group's different values, exp(entropy), records of the commonest and from the rank-th commonest on.

    They are of one column, (groups, 4); its distances from the file, (groups,), come second.
    """
    n_groups = starts.shape[0] - 1
    figures, distances = np.zeros((n_groups, 4)), np.zeros(n_groups)
    own, counts = room_for_largest(starts)
    for g in range(n_groups):
        size = starts[g + 1] - starts[g]
        for track in range(asked.kinds.shape[0]):
            for i in range(size):
                own[i] = asked.codes[track, rows[starts[g] + i]]
            used = runs_of(size, own, counts)
            present = n_present(asked, track, own, used)
            if track == 0:
                figures[g, 0] = present
                figures[g, 1] = equally_frequent(counts, present)
                figures[g, 2], figures[g, 3] = most_and_tail(counts, present, rank)
            distances[g] += distance_on(asked, track, own, counts, used)
        distances[g] /= asked.kinds.shape[0]
    return figures, distances


@inner
def room_for_largest(starts):
    """Return two arrays that the codes of the largest group fit into."""
    largest = 0
    for g in range(starts.shape[0] - 1):
        largest = max(largest, starts[g + 1] - starts[g])
    return np.empty(largest, dtype=np.int64), np.empty(largest, dtype=np.int64)


@inner
def runs_of(size, own, counts):  # OUT: own, counts
    """Turn codes into runs, in place; return how many."""
    codes = own[:size]
    codes.sort()
    used = 0
    for i in range(size):
        if used > 0 and own[used - 1] == codes[i]:
            counts[used - 1] += 1
        else:
            own[used], counts[used] = codes[i], 1
            used += 1
    return used


@inner
def add_track(asked, track, own, counts, used, distance):
    """Return a group's breach on one track, and its distance on the levels so far of a column that has more."""
    kind = asked.kinds[track]
    limits = asked.limits[track]
    if kind in (UNITS, UNITS_IN_PART):
        return units_breach(kind, limits[DISTINCT], counts, used), 0.0
    breach = values_breach(limits, counts, n_present(asked, track, own, used))
    if limits[CLOSENESS] < np.inf:
        distance += distance_on(asked, track, own, counts, used)
    if asked.levels[track] == 0:
        return breach, distance
    mean = distance / asked.levels[track]
    if mean > limits[CLOSENESS] + SLACK:
        breach = max(breach, mean)
    return breach, 0.0


@inlined
def n_present(asked, track, own, used):
    """Return how many of the runs are of values; a missing one comes last."""
    return used - 1 if used > 0 and own[used - 1] == asked.values[track] else used


@inner
def distance_on(asked, track, own, counts, used):
    """Return a group's distance from the file on one track."""
    if asked.kinds[track] == ORDERED:
        return ordered_distance(asked, track, own, counts, n_present(asked, track, own, used), used)
    return nominal_distance(asked, track, own, counts, used)


@inlined
def units_breach(kind, k, counts, used):
    """Return how far a group is from k units, or by how much the largest has too many of its records."""
    size, largest = 0, 0
    for i in range(used):
        size += counts[i]
        largest = max(largest, counts[i])
    in_part = largest / size if largest * k > size else 0.0
    return max(0.0, (k - used) / k) if kind == UNITS else in_part


@inner
def values_breach(limits, counts, present):
    """Return how far the values that are present are from different ones enough; 0: they are."""
    breach = 0.0
    if present < limits[DISTINCT]:
        breach = (limits[DISTINCT] - present) / limits[DISTINCT]
    if limits[ENTROPY] > 0.0:
        reached = equally_frequent(counts, present)
        if reached < limits[ENTROPY] - SLACK * limits[ENTROPY]:
            breach = max(breach, (limits[ENTROPY] - reached) / limits[ENTROPY])
    if limits[FACTOR] > 0.0:
        most, tail = most_and_tail(counts, present, np.int64(limits[RANK]))
        if most >= limits[FACTOR] * tail * (1.0 - SLACK):  # fewer, and not as many by rounding
            breach = max(breach, 1.0 - limits[FACTOR] * tail / (most + 1.0))
    return breach


@inlined
def equally_frequent(counts, present):
    """Return exp of the entropy: how many values, were all equally frequent; 0 of none."""
    size = 0
    for i in range(present):
        size += counts[i]
    entropy = 0.0
    for i in range(present):
        p = counts[i] / size
        entropy -= p * np.log(p)
    return np.exp(entropy) if present > 0 else 0.0


@inlined
def most_and_tail(counts, present, rank):
    """Return how many records have the most frequent value, and how many those from the rank-th most frequent on."""
    falling = np.sort(counts[:present])[::-1]
    most = falling[0] if present > 0 else 0
    tail = 0
    for i in range(rank - 1, present):
        tail += falling[i]
    return most, tail


@inner
def nominal_distance(asked, track, own, counts, used):
    """Return half the sum of |p - q|, a missing value being one of its own."""
    start = asked.starts[track]
    size, in_all = 0, 0.0
    for i in range(used):
        size += counts[i]
    for i in range(asked.values[track] + 1):
        in_all += asked.counts[start + i]
    total = size * in_all  # of the values that do not occur: what the others leave
    for i in range(used):
        expected = size * asked.counts[start + own[i]]
        total += abs(counts[i] * in_all - expected) - expected
    return total / (2.0 * size * in_all)


@inner
def ordered_distance(asked, track, own, counts, present, used):
    """Return the earth mover's distance over the values, or that of the shares of missing ones where it is greater."""
    start, m = asked.starts[track], asked.values[track]
    size = 0
    for i in range(present):
        size += counts[i]
    lacking = counts[used - 1] if present < used else 0
    of_file = asked.below[start + m - 1] if m > 0 else 0.0
    in_all = of_file + asked.counts[start + m]
    apart = abs(lacking * in_all - (size + lacking) * asked.counts[start + m]) / ((size + lacking) * in_all)
    if size == 0 or m < 2:
        return apart
    total, level, begin = 0.0, 0, 0
    for i in range(present):
        total += stretch(asked.below, asked.running, start, begin, own[i], level * of_file, size)
        level += counts[i]
        begin = own[i]
    total += stretch(asked.below, asked.running, start, begin, m, level * of_file, size)
    return max(apart, total / (size * of_file * (m - 1.0)))


@inlined
def stretch(below, running, start, begin, end, level, size):
    """Sum |level - below_i * size| for i from begin to end: below_i ascends, so it crosses the level once."""
    low, high = begin, end
    while low < high:
        middle = (low + high) // 2
        if below[start + middle] * size < level:
            low = middle + 1
        else:
            high = middle
    under = level * (low - begin) - (running[start + low] - running[start + begin]) * size
    over = (running[start + end] - running[start + low]) * size - level * (end - low)
    return under + over


@kernel
def farthest_by_earth_movers(starts, values, shares, cumulative):
    """Return the greatest Σ |P_i - Q_i| over the groups, P and Q the cumulative shares of ordered values.

    Group g has the values values[starts[g] : starts[g + 1]], ascending, with those shares; `cumulative` (m,)
    is Q. P is constant between two of its values and Q ascends, so each stretch is summed from running sums
    of Q on either side of where it crosses P.
    """
    m = cumulative.shape[0]
    running = np.zeros(m + 1)
    for i in range(m):
        running[i + 1] = running[i] + cumulative[i]
    farthest = 0.0
    for group in range(starts.shape[0] - 1):
        total, level, begin = 0.0, 0.0, 0
        for at in range(starts[group], starts[group + 1]):
            total += stretch_of_shares(cumulative, running, begin, values[at], level)
            level += shares[at]
            begin = values[at]
        total += stretch_of_shares(cumulative, running, begin, m, level)
        farthest = max(farthest, total)
    return farthest


@inlined
def stretch_of_shares(cumulative, running, begin, end, level):
    """Sum |level - Q_i| for i from begin to end."""
    crossing = begin + np.searchsorted(cumulative[begin:end], level)
    below = level * (crossing - begin) - (running[crossing] - running[begin])
    above = (running[end] - running[crossing]) - level * (end - crossing)
    return below + above
