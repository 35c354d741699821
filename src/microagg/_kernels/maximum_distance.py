"""MaximumDistance: two groups a turn, around the two records farthest from each other."""

from microagg._kernels import brute
from microagg._kernels._jit import kernel
from microagg._kernels.groups import FREE, group_around


@kernel
def pairs_of_groups(pool, k, budget, partner, reach, state, labels):  # OUT: pool and all that follow
    """Form two groups a turn while at least 2k records remain and the budget lasts.

    `partner` and `reach` keep, for each row, the farthest live record among the higher rows. A partner
    that has left makes `reach` an upper bound, so it is searched anew only when that bound could win;
    start them at -1 and infinity. `state` holds the row reached in the present scan, the best row of
    the scan (-1: none yet) and the number of groups.
    """
    d, n = pool.columns.shape
    while pool.counts[1] >= 2 * k:
        while state[0] < n:
            row = state[0]
            if labels[row] == FREE and (state[1] < 0 or reach[row] > reach[state[1]]):
                if partner[row] < 0 or labels[partner[row]] != FREE:
                    if budget <= 0:
                        return
                    partner[row], reach[row] = brute.farthest_behind(pool, row)
                    budget -= d * (pool.counts[0] - pool.place[row])
                if state[1] < 0 or reach[row] > reach[state[1]]:
                    state[1] = row
            state[0] += 1
        second = group_around(pool, state[1], k, state[2], labels)
        group_around(pool, second, k, state[2] + 1, labels)
        budget -= 2 * d * pool.counts[0]
        state[0], state[1] = 0, -1
        state[2] += 2
