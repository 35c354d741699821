"""Groups that take their records from all parts of a confidential column's distribution."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.kernels import search
from microagg.algorithms.kernels._jit import inlined, inner, kernel
from microagg.algorithms.kernels.marks import HOLDER, LEFT, NO_GROUP
from microagg.algorithms.kernels.pool import SPENT
from microagg.algorithms.kernels.shell import farthest_from_centroid


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
