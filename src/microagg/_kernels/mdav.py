"""Groups from the outside in: two a turn on opposite sides (MDAV), or one (CBFS)."""

from microagg._kernels._jit import kernel
from microagg._kernels.groups import group_around
from microagg._kernels.pool import REMAINING, SPENT
from microagg._kernels.shell import farthest_from_centroid


@kernel
def groups_from_outside(pool, shell, k, least, paired, budget, n_groups, labels):  # OUT: pool, shell, labels
    """Form groups around the record farthest from the centroid of the rest, while `least` records remain.

    `paired` forms a second group each turn, around the record farthest from the first one's. Stops
    early when `budget` coordinates have been looked at or the shell wants renewing. Returns the number
    of groups formed so far.
    """
    pool.state[SPENT] = 0
    while pool.state[REMAINING] >= least and pool.state[SPENT] < budget:
        row = farthest_from_centroid(pool, shell, labels)
        if row < 0:
            break
        for side in range(2 if paired else 1):
            row = group_around(pool, row, k, n_groups, paired and side == 0, labels)
            n_groups += 1
    return n_groups
