"""MaximumDistance: two groups a turn, around the two records farthest from each other."""

import numpy as np

from microagg._kernels import search
from microagg._kernels._jit import kernel
from microagg._kernels.groups import FREE, group_around


@kernel
def pairs_of_groups(pool, k, budget, partner, reach, state, labels):  # OUT: pool and all that follow
    """Form two groups a turn while at least 2k records remain and the budget lasts.

    `partner` and `reach` keep, for each row, the farthest live record and how far it is. A partner that
    has left makes `reach` an upper bound, so it is searched anew only when that bound could win; start
    them at -1 and infinity. Scanned in row order, the first row with the largest reach is the lower one
    of the most distant pair. `state` holds the row reached in the present scan, the best row of the scan
    (-1: none yet) and the number of groups.
    """
    point = np.empty(pool.sums.shape[0])
    pool.counts[2] = 0
    while pool.counts[1] >= 2 * k:
        while state[0] < labels.shape[0]:
            row = state[0]
            if labels[row] == FREE and (state[1] < 0 or reach[row] > reach[state[1]]):
                if partner[row] < 0 or labels[partner[row]] != FREE:
                    if pool.counts[2] >= budget:
                        return
                    search.copy_point(pool, row, point)
                    partner[row], reach[row] = search.farthest(pool, point)
                if state[1] < 0 or reach[row] > reach[state[1]]:
                    state[1] = row
            state[0] += 1
        for side in range(2):
            state[1] = group_around(pool, state[1], k, state[2], side == 0, labels)
            state[2] += 1
        state[0], state[1] = 0, -1
