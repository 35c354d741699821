"""IAMAT: each group grows by the record that interacts most with all its members so far."""

import numpy as np

from microagg.algorithms.kernels import search
from microagg.algorithms.kernels._jit import inner, kernel
from microagg.algorithms.kernels.groups import FINISHED, FREE, REACHED, SIZE
from microagg.algorithms.kernels.marks import NO_GROUP
from microagg.algorithms.kernels.pool import DIFFERENT, REMAINING, SPENT
from microagg.algorithms.kernels.records import add_record
from microagg.algorithms.kernels.shell import farthest_from_centroid

CANDIDATE = 3  # the place in the state for the row that the growing group would take next


@kernel
def interacting_groups(pool, shell, order, k, variable, budget, state, members, totals, labels):  # OUT: pool, state...
    """Form groups while at least k different ones remain or one is unfinished, and the budget lasts.

    `order` lists the rows, farthest from the whole file's centroid first; where it is empty, the
    centroid moves with the records that remain. With marks, a group takes none that it holds. `state`
    holds the place REACHED in `order`; `members` (2k, d) and `totals` (n,) hold what else is known of the
    group that is growing.
    """
    pool.state[SPENT] = 0
    while (state[SIZE] > 0 or pool.state[DIFFERENT] >= k) and pool.state[SPENT] < budget:
        size, row = state[SIZE], state[CANDIDATE]
        if size == 0:
            if order.shape[0] > 0:
                while labels[order[state[REACHED]]] != FREE:
                    state[REACHED] += 1
                row = order[state[REACHED]]
            else:
                row = farthest_from_centroid(pool, shell, labels)
                if row < 0:  # the shell must be renewed
                    return
        room = variable and size < 2 * k - 1 and pool.state[DIFFERENT] >= k and row >= 0
        if size < k or (room and belongs(pool, row, members, size, k)):
            search.copy_point(pool, row, members[size])
            search.join(pool, row, state[FINISHED], labels)
            size += 1
            state[SIZE] = size
            if pool.state[REMAINING] > 0 and (size < k or variable):
                state[CANDIDATE] = search.nearest_to_all(pool, members, size, state[FINISHED], totals)
        else:
            search.close_up(pool)
            state[FINISHED] += 1
            state[SIZE] = 0


@inner
def belongs(pool, row, members, size, k):
    """Return whether a free record adds less error to this group than to one it would found itself.

    Joining `size` members raises their squared error by size/(size+1) times the squared distance to
    their centroid. In a group of its own, with its k - 1 nearest free records, the record accounts
    for k/(k-1) times its squared distance to that group's centroid.
    """
    heights, starts = pool.heights, pool.starts
    rows = np.empty(k, dtype=np.int64)
    distances = np.empty(k)
    point = np.empty(members.shape[1])
    search.copy_point(pool, row, point)
    search.nearest(pool, row, point, NO_GROUP, k, rows, distances)  # the record itself is among them, at distance 0
    member_sums = np.zeros(starts[-1])
    for i in range(size):
        add_record(members.T, heights, starts, i, member_sums)
    own_sums = np.zeros(starts[-1])
    width = pool.points.shape[2]
    for i in range(k):
        block, at = divmod(pool.place[rows[i]], width)
        add_record(pool.points[block], heights, starts, at, own_sums)
    own = np.zeros(starts[-1])
    block, at = divmod(pool.place[row], width)
    add_record(pool.points[block], heights, starts, at, own)
    here = 0.0
    there = 0.0
    for j in range(own.shape[0]):
        u = own[j] - member_sums[j] / size
        v = own[j] - own_sums[j] / k
        here += u * u
        there += v * v
    return size / (size + 1) * here < k / (k - 1) * there
