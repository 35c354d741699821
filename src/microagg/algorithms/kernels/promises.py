"""Which moves `refine` may make, so that each group keeps what it promises.

Where records have marks, such as units, every group keeps k different ones; with `in_part` it keeps more: no mark has
more than 1/k of its members. Where there is a demand on values that members hold, every group keeps that.
"""

import numpy as np

from microagg.algorithms.kernels._jit import inlined, inner
from microagg.algorithms.kernels.diversity import add_track, runs_of


@inlined
def having_mark(records, mark, g, groups):
    """Count the members of a group that have a mark."""
    count = 0
    for i in range(groups.sizes[g]):
        count += records.marks[groups.members[g, i]] == mark
    return count


@inner
def is_new(records, row, g, groups):
    """Return whether no member of a group has the mark of a record."""
    return having_mark(records, records.marks[row], g, groups) == 0


@inner
def may_join(records, row, g, k, groups):
    """Return whether a group keeps its promise when a record joins it."""
    if not records.in_part:
        return True
    return (having_mark(records, records.marks[row], g, groups) + 1) * k <= groups.sizes[g] + 1


@inner
def may_leave(records, row, k, groups):
    """Return whether the group of a record keeps its promise when that leaves."""
    g = groups.labels[row]
    size = groups.sizes[g]
    if records.in_part and size % k > 0:
        return True  # as many of a mark are allowed among one fewer
    rest = np.empty(size - 1, dtype=np.int64)
    at = 0
    for i in range(size):
        if groups.members[g, i] != row:
            rest[at] = records.marks[groups.members[g, i]]
            at += 1
    rest.sort()
    different, run, longest = 1, 1, 1
    for i in range(1, size - 1):
        if rest[i] == rest[i - 1]:
            run += 1
        else:
            different += 1
            run = 1
        longest = max(longest, run)
    return longest * k <= size - 1 if records.in_part else different >= k


@inner
def may_swap(records, row, other, k, groups):
    """Return whether the groups of two records keep their promises when those change places."""
    return may_exchange(records, row, other, k, groups) and may_exchange(records, other, row, k, groups)


@inlined
def may_exchange(records, goes, comes, k, groups):
    """Return whether the group of a record keeps its promise when another takes its place."""
    g = groups.labels[goes]
    kept = True
    if records.marks[goes] != records.marks[comes]:
        after = having_mark(records, records.marks[comes], g, groups) + 1
        if records.in_part:
            kept = after * k <= groups.sizes[g]
        elif after > 1 and having_mark(records, records.marks[goes], g, groups) == 1:
            kept = may_leave(records, goes, k, groups)  # one mark fewer, and no new one
    return kept


NOBODY = -1  # no record leaves, or comes


@inner
def keeps(asked, g, leaving, coming, groups):
    """Return whether a group keeps what is asked when one record leaves it and another comes."""
    size = groups.sizes[g]
    own, counts = np.empty(size + 1, dtype=np.int64), np.empty(size + 1, dtype=np.int64)
    distance = 0.0
    for track in range(asked.kinds.shape[0]):
        codes = asked.codes[track]
        held = 0
        for i in range(size):
            row = groups.members[g, i]
            if row != leaving:
                own[held] = codes[row]
                held += 1
        if coming != NOBODY:
            own[held] = codes[coming]
            held += 1
        breach, distance = add_track(asked, track, own, counts, runs_of(held, own, counts), distance)
        if breach > 0.0:
            return False
    return True


@inner
def may_change_places(asked, row, other, groups):
    """Return whether the groups of two records keep what is asked when those change places."""
    same = True
    for track in range(asked.kinds.shape[0]):
        same &= asked.codes[track, row] == asked.codes[track, other]
    a, b = groups.labels[row], groups.labels[other]
    return same or (keeps(asked, a, row, other, groups) and keeps(asked, b, other, row, groups))
