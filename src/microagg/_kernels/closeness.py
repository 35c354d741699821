"""Groups that take their records from all parts of a confidential column's distribution."""

import numpy as np

from microagg._kernels import search
from microagg._kernels._jit import inlined, inner, kernel
from microagg._kernels.brute import close_up
from microagg._kernels.pool import SLOTS, SPENT
from microagg._kernels.records import CHUNK, record_distances
from microagg._kernels.shell import farthest_from_centroid


@kernel
def groups_over_subsets(pool, shell, subsets, left, groups, budget, n_groups, labels):  # OUT: pool, shell, left, labels
    """Form groups around the record farthest from the centroid, and around the one farthest from that, by brute force.

    `subsets` (n,) are those of the records, and `left` how many live ones each has. Stops early, between two turns,
    when `budget` coordinates have been looked at. Returns the number of groups formed so far.
    """
    pool.state[SPENT] = 0
    while n_groups < groups and pool.state[SPENT] < budget:
        row = farthest_from_centroid(pool, shell, labels)
        if row < 0:
            break
        for side in range(2):
            if n_groups == groups:
                break
            row = group_over_subsets(pool, row, subsets, left, groups - n_groups, n_groups, side == 0, labels)
            n_groups += 1
    return n_groups


@inner
def group_over_subsets(pool, row, subsets, left, to_come, label, opposite, labels):  # OUT: pool, left, labels
    """Take from each subset the record nearest to one, and the next where it has more than there are groups to come."""
    n_subsets = left.shape[0]
    point = np.empty(pool.points.shape[1])
    search.copy_point(pool, row, point)
    rows, distances = np.full((n_subsets, 2), -1), np.full((n_subsets, 2), np.inf)
    buffer = np.empty(CHUNK)
    span = pool.state[SLOTS]
    pool.state[SPENT] += span * point.shape[0]
    for start in range(0, span, CHUNK):
        stop = min(start + CHUNK, span)
        record_distances(pool.points[0], pool.heights, start, stop, point, buffer)
        for i in range(stop - start):
            other = pool.rows[start + i]
            own = subsets[other]
            if buffer[i] < distances[own, 1]:  # rows ascend: the first of those that tie is kept
                at = 1
                if buffer[i] < distances[own, 0]:
                    distances[own, 1], rows[own, 1] = distances[own, 0], rows[own, 0]
                    at = 0
                distances[own, at], rows[own, at] = buffer[i], other
    for own in range(n_subsets):
        for turn in range(2 if left[own] > to_come else 1):
            search.join(pool, rows[own, turn], label, labels)
            left[own] -= 1
    far_row = -1
    if opposite:
        far_row, _ = search.farthest(pool, point)
    close_up(pool)
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
