"""MDAV: two groups a turn, around the record farthest from the centroid and the one farthest from that."""

import numpy as np

from microagg._kernels import brute
from microagg._kernels._jit import kernel
from microagg._kernels.groups import group_around
from microagg._kernels.pool import centroid_of_rest


@kernel
def pairs_of_groups(pool, k, least, budget, n_groups, labels):  # OUT: pool, labels
    """Form two groups a turn while at least `least` records remain and the budget lasts.

    `budget` counts coordinates looked at. Returns the number of groups formed so far.
    """
    d = pool.columns.shape[0]
    centroid = np.empty(d)
    while pool.counts[1] >= least and budget > 0:
        budget -= 3 * d * pool.counts[0]
        centroid_of_rest(pool, centroid)
        first = brute.farthest(pool, centroid)
        second = group_around(pool, first, k, n_groups, labels)
        group_around(pool, second, k, n_groups + 1, labels)
        n_groups += 2
    return n_groups
