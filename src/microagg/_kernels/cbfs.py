"""CBFS: one group a turn, around the record farthest from the centroid of the rest."""

import numpy as np

from microagg._kernels import brute
from microagg._kernels._jit import kernel
from microagg._kernels.groups import group_around
from microagg._kernels.pool import centroid_of_rest


@kernel
def groups_from_outside(pool, k, least, budget, n_groups, labels):  # OUT: pool, labels
    """Form a group a turn while at least `least` records remain and the budget lasts.

    `budget` counts coordinates looked at. Returns the number of groups formed so far.
    """
    d = pool.columns.shape[0]
    centroid = np.empty(d)
    while pool.counts[1] >= least and budget > 0:
        budget -= 2 * d * pool.counts[0]
        centroid_of_rest(pool, centroid)
        group_around(pool, brute.farthest(pool, centroid), k, n_groups, labels)
        n_groups += 1
    return n_groups
