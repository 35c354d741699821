"""Groups of k records with enough different values, each taken by distance from the record it starts with."""

import numpy as np

from microagg.algorithms.kernels import search
from microagg.algorithms.kernels._jit import inlined, inner, kernel
from microagg.algorithms.kernels.marks import HOLDER, LEFT
from microagg.algorithms.kernels.pool import DIFFERENT, REMAINING, SPENT
from microagg.algorithms.kernels.shell import farthest_from_centroid


@inlined
def values_left(pool, missing):
    """Return how many different values the live records have."""
    lacking = missing < pool.tally.shape[1] and pool.tally[LEFT, missing] > 0
    return pool.state[DIFFERENT] - lacking


@kernel
def groups_of_values(
    pool, plain, shell, k, wanted, missing, least, paired, budget, n_groups, labels
):  # OUT: pool, shell, labels
    """Form groups around the records farthest from the centroid while `least` records and the values wanted remain.

    The marks of `pool` are values, `missing` being none; `plain` is the same pool without marks. `paired` forms a
    second group each turn, as MDAV does. Stops early when `budget` coordinates have been looked at. Returns the number
    of groups formed so far.
    """
    state = pool.state
    state[SPENT] = 0
    while state[REMAINING] >= least and values_left(pool, missing) >= wanted and state[SPENT] < budget:
        row = farthest_from_centroid(pool, shell, labels)
        if row < 0:
            break
        for side in range(2 if paired else 1):
            if values_left(pool, missing) < wanted:
                break
            row = group_with_values(pool, plain, row, k, wanted, missing, n_groups, paired and side == 0, labels)
            n_groups += 1
    return n_groups


@inner
def group_with_values(pool, plain, row, k, wanted, missing, label, opposite, labels):  # OUT: pool, labels
    """Make a group of a record and near ones; with `opposite`, return the remaining record farthest from it.

    One with a new value joins, or any while more places are free than values are wanting; then only new values do.
    """
    point = np.empty(pool.points.shape[1])
    near_rows, near_distances = np.empty(k, dtype=np.int64), np.empty(k)
    search.copy_point(pool, row, point)
    search.join(pool, row, label, labels)
    wanting = wanted - (pool.marks[row] != missing)
    if missing < pool.tally.shape[1]:
        pool.tally[HOLDER, missing] = label  # never new
    free = max(k - 1, wanting)  # one record more where that of the start brings no value
    offered = free
    search.nearest(plain, row, point, label, offered, near_rows, near_distances)
    for i in range(offered):
        other = near_rows[i]
        fresh = pool.tally[HOLDER, pool.marks[other]] != label
        if fresh or free > wanting:
            search.join(pool, other, label, labels)
            free -= 1
            wanting -= fresh
    if free > 0:
        search.nearest(pool, row, point, label, free, near_rows, near_distances)
        for i in range(free):
            search.join(pool, near_rows[i], label, labels)
    far_row = -1
    if opposite:
        far_row, _ = search.farthest(pool, point)
    search.close_up(pool)
    return far_row
