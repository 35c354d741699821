"""Groups from the outside in: two a turn on opposite sides (MDAV), or one (CBFS)."""

from microagg.algorithms.kernels._jit import kernel
from microagg.algorithms.kernels.groups import group_around
from microagg.algorithms.kernels.pool import DIFFERENT, REMAINING, SPENT
from microagg.algorithms.kernels.shell import farthest_from_centroid


@kernel
def groups_from_outside(pool, shell, k, least, paired, repeated, budget, n_groups, labels):  # OUT: pool, shell, labels
    """Form groups around the record farthest from the centroid of the rest, while `least` different ones remain.

    Different are records that have no marks, and otherwise marks. `paired` forms a second group each turn, around the
    record farthest from the first one's; `repeated` stops when no two records have the same mark. Stops
    early when `budget` coordinates have been looked at or the shell must be renewed. Returns the number
    of groups formed so far.
    """
    state = pool.state
    state[SPENT] = 0
    while state[DIFFERENT] >= least and state[SPENT] < budget:
        if repeated and state[REMAINING] == state[DIFFERENT]:
            break
        row = farthest_from_centroid(pool, shell, labels)
        if row < 0:
            break
        for side in range(2 if paired else 1):
            row = group_around(pool, row, k, n_groups, paired and side == 0, labels)
            n_groups += 1
    return n_groups
