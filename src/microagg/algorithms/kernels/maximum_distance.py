"""MaximumDistance: two groups a turn, around the two records farthest from each other."""

import numpy as np

from microagg.algorithms.kernels import search
from microagg.algorithms.kernels._jit import kernel
from microagg.algorithms.kernels.groups import FINISHED, FREE, REACHED, group_around
from microagg.algorithms.kernels.pool import DIFFERENT, SPENT

BEST = 2  # the place in the state for the row with the largest reach in the present scan, -1 if there is none yet


@kernel
def pairs_of_groups(pool, k, budget, partner, reach, state, labels):  # OUT: pool and all that follow
    """Form two groups a turn while at least 2k different ones remain and the budget lasts.

    `partner` and `reach` keep, for each row, the farthest live record and how far it is. A partner that
    has left makes `reach` an upper bound, so it is searched anew only when that bound could win; start
    them at -1 and infinity. Scanned in row order, the first row with the largest reach is the lower one
    of the most distant pair; `state` holds the row REACHED in the present scan.
    """
    point = np.empty(pool.points.shape[1])
    pool.state[SPENT] = 0
    while pool.state[DIFFERENT] >= 2 * k:
        while state[REACHED] < labels.shape[0]:
            row = state[REACHED]
            if labels[row] == FREE and (state[BEST] < 0 or reach[row] > reach[state[BEST]]):
                if partner[row] < 0 or labels[partner[row]] != FREE:
                    if pool.state[SPENT] >= budget:
                        return
                    search.copy_point(pool, row, point)
                    partner[row], reach[row] = search.farthest(pool, point)
                if state[BEST] < 0 or reach[row] > reach[state[BEST]]:
                    state[BEST] = row
            state[REACHED] += 1
        for side in range(2):
            state[BEST] = group_around(pool, state[BEST], k, state[FINISHED], side == 0, labels)
            state[FINISHED] += 1
        state[REACHED], state[BEST] = 0, -1
