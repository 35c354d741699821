"""IAMAT: each group grows by the record that interacts most with all its members so far."""

import numpy as np

from microagg._kernels import brute
from microagg._kernels._jit import kernel
from microagg._kernels.groups import FREE, join
from microagg._kernels.pool import centroid_of_rest, close_up, copy_point


@kernel
def interacting_groups(pool, order, k, variable, budget, state, labels):  # OUT: pool, state, labels
    """Form groups while at least k records remain and the budget lasts.

    `order` lists the rows, farthest from the whole file's centroid first; where it is empty, the
    centroid moves with the records that remain. `state` holds the place reached in `order` and the
    number of groups.
    """
    d, n = pool.columns.shape
    point = np.empty(d)
    member_sums = np.empty(d)
    totals = np.empty(n)
    while pool.counts[1] >= k and budget > 0:
        if order.shape[0] > 0:
            while labels[order[state[0]]] != FREE:
                state[0] += 1
            row = order[state[0]]
        else:
            centroid_of_rest(pool, point)
            row = brute.farthest(pool, point)
            budget -= d * pool.counts[0]
        member_sums[:] = 0.0
        size = 0
        while size < k or (
            variable and size < 2 * k - 1 and pool.counts[1] >= k and belongs(pool, row, member_sums, size, k)
        ):
            copy_point(pool, row, point)
            join(pool, row, state[1], labels)
            member_sums += point
            row = brute.add_member(pool, point, size == 0, totals)
            size += 1
            budget -= 2 * d * pool.counts[0]
        close_up(pool)
        state[1] += 1


@kernel
def belongs(pool, row, member_sums, size, k):
    """Tell whether a free record adds less error to this group than to one it would found itself.

    Joining `size` members raises their squared error by size/(size+1) times the squared distance to
    their centroid. In a group of its own, with its k - 1 nearest free records, the record accounts
    for k/(k-1) times its squared distance to that group's centroid.
    """
    d = pool.columns.shape[0]
    point = np.empty(d)
    copy_point(pool, row, point)
    rows = np.empty(k, dtype=np.int64)
    distances = np.empty(k)
    brute.around(pool, point, k, rows, distances)  # the record itself is among them, at distance 0
    own_sums = np.zeros(d)
    for i in range(k):
        own_sums += pool.columns[:, pool.place[rows[i]]]
    here = 0.0
    there = 0.0
    for j in range(d):
        u = point[j] - member_sums[j] / size
        v = point[j] - own_sums[j] / k
        here += u * u
        there += v * v
    return size / (size + 1) * here < k / (k - 1) * there
