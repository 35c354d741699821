"""Groups that take their records from all parts of a confidential column's distribution."""

import numpy as np

from microagg._kernels import search
from microagg._kernels._jit import inlined, inner, kernel
from microagg._kernels.marks import HOLDER, LEFT, NO_GROUP
from microagg._kernels.pool import SPENT
from microagg._kernels.shell import farthest_from_centroid


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


@kernel
def exchange(points, order, starts, passes, labels):  # OUT: labels
    """Swap records of two groups within a subset where that lowers the squared error, until none does.

    `points` (n, D) are centred; the records of subset i are order[starts[i] : starts[i + 1]]. Returns how many passes
    over all pairs it took, at most `passes`.
    """
    n, d = points.shape
    n_groups = labels.max() + 1
    sums, sizes = np.zeros((n_groups, d)), np.zeros(n_groups)
    for row in range(n):
        sizes[labels[row]] += 1.0
        for j in range(d):
            sums[labels[row], j] += points[row, j]
    done, changed = 0, True
    while changed and done < passes:
        changed = False
        done += 1
        for s in range(starts.shape[0] - 1):
            for at in range(starts[s], starts[s + 1]):
                for to in range(at + 1, starts[s + 1]):
                    changed |= swap_if_better(points, order[at], order[to], sums, sizes, labels)
    return done


@inlined
def swap_if_better(points, row, other, sums, sizes, labels):  # OUT: sums, labels
    """Let two records change places if that lowers the error, by more than rounding could; tell whether it did."""
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
