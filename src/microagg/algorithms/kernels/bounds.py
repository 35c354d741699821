"""What no partition can be below: how near the nearest others of every record are, covers by shares of groups, prices.

`dearest_groups` is the pricing of column generation: which group of records is worth more, by given prices, than its
squared error.

A group of s records with prices p has the excess sum(p) - (1/s) * (sum of squared distances of its pairs), less the
penalties of the cuts that it crosses: triples of records of which it has two or more. Groups are built record by
record. What q more records can bring to a group that is begun is at most the sum of the q largest values of
price - (squared distances to the members + half the sum of the q - 1 smallest to anyone) / s: among themselves new
members cost at least that. If they cross a cut with one member, two of them may share the penalty, so each counts half.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.kernels._jit import inlined, kernel
from microagg.algorithms.kernels.pool import NO_GROUP, SPENT
from microagg.algorithms.kernels.search import copy_point, nearest


@kernel
def sum_nearest(pool, order, start, stop, size, budget, sums):  # OUT: pool.state, sums
    """Sum the squared distances from records to their size - 1 nearest others; the records are those of `order`.

    It begins at `start`, ends at `stop` or when `budget` coordinates have been looked at, and returns where to go on.
    """
    point = np.empty(pool.points.shape[1])
    rows, distances = np.empty(size, dtype=np.int64), np.empty(size)
    limit = pool.state[SPENT] + budget
    at = start
    while at < stop and pool.state[SPENT] < limit:
        row = order[at]
        copy_point(pool, row, point)
        # The record itself is among them, or another in its very place: that adds 0.
        nearest(pool, row, point, NO_GROUP, size, rows, distances)
        total = 0.0
        for i in range(size):
            total += distances[i]
        sums[row] = total
        at += 1
    return at


@kernel
def share_together(members, starts, shares, together):  # OUT: together
    """Add up, for each pair of records, the shares of the groups that hold both; `together` (n, n) comes as zeros."""
    for g in range(shares.shape[0]):
        for a in range(starts[g], starts[g + 1]):
            for b in range(starts[g], starts[g + 1]):
                together[members[a], members[b]] += shares[g]


@kernel
def broken_triples(members, starts, shares, together, least, triples, excesses):  # OUT: triples, excesses
    """List triples of records of which groups with shares of more than 1 + `least` hold two or more.

    In a partition at most one group can. Returns how many there are; as many as there is room for are listed.
    """
    n = together.shape[0]
    near = np.empty(n, dtype=np.int64)
    of_all = np.empty(n)
    found = 0
    for i in range(n):
        count = 0
        for j in range(i + 1, n):
            if 0.0 < together[i, j] < 1.0:
                near[count] = j
                count += 1
        for a in range(count):
            j = near[a]
            for b in range(a + 1, count):
                of_all[near[b]] = 0.0
            for g in range(shares.shape[0]):
                has_i, has_j = False, False
                for m in range(starts[g], starts[g + 1]):
                    has_i |= members[m] == i
                    has_j |= members[m] == j
                if has_i and has_j:
                    for m in range(starts[g], starts[g + 1]):
                        of_all[members[m]] += shares[g]
            for b in range(a + 1, count):
                other = near[b]
                excess = together[i, j] + together[i, other] + together[j, other] - 2.0 * of_all[other] - 1.0
                if together[j, other] > 0.0 and excess > least:
                    if found < excesses.shape[0]:
                        triples[found, 0], triples[found, 1], triples[found, 2] = i, j, other
                        excesses[found] = excess
                    found += 1
    return min(found, excesses.shape[0])


class CutLists(NamedTuple):
    """Triples of records, listed at each of their records, and what a group pays that has two or more of one."""

    starts: NDArray[np.int64]  # (n + 1,): where each record's begin
    others: NDArray[np.int64]  # (..., 2): the other two records
    penalties: NDArray[np.float64]  # (...,)


class Lists(NamedTuple):
    """The candidates at each depth, which fall by value, and what is known of the group that is begun."""

    values: NDArray[np.float64]  # (2k, n)
    records: NDArray[np.int64]  # (2k, n)
    costs: NDArray[np.float64]  # (2k, n): squared distances to the members
    penalties: NDArray[np.float64]  # (2k, n): of the cuts that would be crossed
    counts: NDArray[np.int64]  # (2k,)
    at: NDArray[np.int64]  # (2k,): the candidate that is next
    bases: NDArray[np.float64]  # (2k,): the excess of the members alone


def empty_lists(n: int, k: int) -> Lists:
    """Make room for the candidates among n records."""
    shape = (2 * k, n)
    return Lists(
        np.empty(shape), np.empty(shape, dtype=np.int64), np.empty(shape), np.empty(shape),
        np.zeros(2 * k, dtype=np.int64), np.zeros(2 * k, dtype=np.int64), np.zeros(2 * k),
    )  # fmt: skip


@inlined
def place(value, record, cost, penalty, count, depth, lists):  # OUT: lists
    """Insert a candidate into the lists of a depth, which fall by value."""
    values, records = lists.values[depth], lists.records[depth]
    costs, penalties = lists.costs[depth], lists.penalties[depth]
    i = count
    while i > 0 and values[i - 1] < value:
        values[i], records[i], costs[i] = values[i - 1], records[i - 1], costs[i - 1]
        penalties[i] = penalties[i - 1]
        i -= 1
    values[i], records[i], costs[i], penalties[i] = value, record, cost, penalty


@inlined
def keep_promising(base, need, wanted, count, values):
    """Count the first of the candidates, which fall by value, that may be in a group of excess above `need`."""
    others = 0.0
    for i in range(min(wanted - 1, count)):
        others += values[i]
    while count >= wanted and base + others + values[count - 1] <= need:
        count -= 1
    return count if count >= wanted else 0


@inlined
def change_penalties(cuts, one, members, chosen, change, changes):  # OUT: changes
    """Enter by how much the penalties of other records change when a record joins so many members.

    Whoever joins the first record of a cut crosses it; once it is crossed, nobody else does. Called again with the
    opposite sign, the changes are zeros again.
    """
    for c in range(cuts.starts[one], cuts.starts[one + 1]):
        first, second = cuts.others[c, 0], cuts.others[c, 1]
        has_first, has_second = False, False
        for m in range(members):
            has_first |= chosen[m] == first
            has_second |= chosen[m] == second
        if not has_first and not has_second:
            changes[first] += change * cuts.penalties[c]
            changes[second] += change * cuts.penalties[c]
        elif has_first and not has_second:
            changes[second] -= change * cuts.penalties[c]
        elif has_second and not has_first:
            changes[first] -= change * cuts.penalties[c]


@inlined
def list_candidates(squared, nearest, prices, root, s, need, changes, lists):  # OUT: lists
    """List the records after the root that may be with it in a group of s of excess above `need`; give their number."""
    n = prices.shape[0]
    wanted = s - 1
    part = 1.0 if wanted == 1 else 0.5
    count = 0
    for c in range(root + 1, n):  # the best come first: they decide who else is promising
        value = prices[c] - (squared[root, c] + 0.5 * nearest[c, wanted - 1]) / s - part * changes[c]
        if count < wanted or value > lists.values[0, count - 1]:
            place(value, c, squared[root, c], changes[c], min(count, wanted - 1), 0, lists)
            count = min(count + 1, wanted)
    others = prices[root]
    for i in range(wanted - 1):
        others += lists.values[0, i] if i < count else -np.inf
    if count < wanted or others + lists.values[0, wanted - 1] <= need:
        return 0
    count = 0
    for c in range(root + 1, n):
        value = prices[c] - (squared[root, c] + 0.5 * nearest[c, wanted - 1]) / s - part * changes[c]
        if others + value > need:
            place(value, c, squared[root, c], changes[c], count, 0, lists)
            count += 1
    return count


@inlined
def list_further(squared, nearest, prices, depth, i, s, base, need, changes, lists):  # OUT: lists
    """List the candidates after the i-th that may be with it in a group of excess above `need`; give their number."""
    wanted = s - 2 - depth
    part = 1.0 if wanted == 1 else 0.5
    one = lists.records[depth, i]
    count = 0
    for j in range(i + 1, lists.counts[depth]):
        other = lists.records[depth, j]
        cost = lists.costs[depth, j] + squared[one, other]
        penalty = lists.penalties[depth, j] + changes[other]
        value = prices[other] - (cost + 0.5 * nearest[other, wanted - 1]) / s - part * penalty
        place(value, other, cost, penalty, count, depth + 1, lists)
        count += 1
    return keep_promising(base, need, wanted, count, lists.values[depth + 1])


@kernel
def dearest_groups(
    squared, nearest, prices, cuts, k, least, limit, start, stop, lists, groups, sizes, excesses, bounds
):  # OUT: lists, groups, sizes, excesses, bounds
    """Find for each record from `start` to `stop` the group of largest excess of which it is the first.

    `squared` (n, n) holds squared distances, `nearest` (n, 2k) the sums of each record's 0, 1, 2, ... smallest. Groups
    have k to 2k - 1 records, and `groups` (n, 2k - 1) lists those that are found, `excesses` their excess; where none
    is above `least`, the size is 0. No group exceeds `bounds`, which is the same or `least`, unless more than `limit`
    steps would have been needed: then it is a bound of what was left.
    """
    n = prices.shape[0]
    chosen = np.zeros(2 * k, dtype=np.int64)
    changes = np.zeros(n)
    for root in range(start, stop):
        best, left, steps = least, least, 0
        sizes[root] = 0
        chosen[0] = root
        for s in range(k, min(2 * k, n - root + 1)):
            change_penalties(cuts, root, 0, chosen, 1.0, changes)
            lists.counts[0] = list_candidates(squared, nearest, prices, root, s, best, changes, lists)
            change_penalties(cuts, root, 0, chosen, -1.0, changes)
            lists.at[0], lists.bases[0] = 0, prices[root]
            depth = 0
            while depth >= 0:
                wanted = s - 1 - depth
                i = lists.at[depth]
                bound = lists.bases[depth] if i + wanted <= lists.counts[depth] else -np.inf
                for j in range(i, min(i + wanted, lists.counts[depth])):
                    bound += lists.values[depth, j]
                if bound <= best:
                    depth -= 1
                    continue
                if steps >= limit:
                    left = max(left, bound)
                    depth -= 1
                    continue
                steps += 1
                lists.at[depth] = i + 1
                one = lists.records[depth, i]
                base = lists.bases[depth] + prices[one] - lists.costs[depth, i] / s - lists.penalties[depth, i]
                chosen[depth + 1] = one
                if wanted == 1:
                    if base > best:
                        best = base
                        sizes[root] = s
                        groups[root, :s] = chosen[:s]
                    continue
                change_penalties(cuts, one, depth + 1, chosen, 1.0, changes)
                count = list_further(squared, nearest, prices, depth, i, s, base, best, changes, lists)
                change_penalties(cuts, one, depth + 1, chosen, -1.0, changes)
                if count > 0:
                    depth += 1
                    lists.counts[depth], lists.at[depth], lists.bases[depth] = count, 0, base
        excesses[root] = best
        bounds[root] = max(best, left)
