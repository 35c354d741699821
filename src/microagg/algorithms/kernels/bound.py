"""How near the nearest others of every record are: no group of so many can be closer together."""

import numpy as np

from microagg.algorithms.kernels._jit import kernel
from microagg.algorithms.kernels.marks import NO_GROUP
from microagg.algorithms.kernels.pool import SPENT
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
