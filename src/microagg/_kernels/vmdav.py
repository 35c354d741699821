"""V-MDAV: groups from the outside in, each extended by near records that have no nearer company."""

import numpy as np

from microagg._kernels import search
from microagg._kernels._jit import kernel
from microagg._kernels.groups import FINISHED, FREE, REACHED, SIZE
from microagg._kernels.pool import REMAINING, SPENT

ACCOUNTED = 3  # the place in the state for how many members of the growing group `closest` accounts for


@kernel
def extended_groups(pool, order, k, gamma, budget, state, members, closest, labels):  # OUT: pool and all from state
    """Form groups of k to 2k - 1 records while k remain or one is unfinished, and the budget lasts.

    `order` lists the rows, farthest from the whole file's centroid first, and `state` holds the place
    REACHED in it; `members` (2k, d) are the entries of the group that is growing.
    """
    near_rows = np.empty(max(k - 1, 2), dtype=np.int64)
    near_distances = np.empty(max(k - 1, 2))
    pool.state[SPENT] = 0
    while (state[SIZE] > 0 or pool.state[REMAINING] >= k) and pool.state[SPENT] < budget:
        size = state[SIZE]
        if size == 0:
            while labels[order[state[REACHED]]] != FREE:
                state[REACHED] += 1
            row = order[state[REACHED]]
            search.copy_point(pool, row, members[0])
            search.remove(pool, row)
            labels[row] = state[FINISHED]
            search.nearest(pool, row, members[0], k - 1, near_rows, near_distances)
            for i in range(1, k):
                row = near_rows[i - 1]
                search.copy_point(pool, row, members[i])
                search.remove(pool, row)
                labels[row] = state[FINISHED]
            size = k
            state[SIZE], state[ACCOUNTED] = k, 0
        joins = False
        if size < 2 * k - 1 and pool.state[REMAINING] >= 2:
            until = search.members_at_once(pool, state[ACCOUNTED], size)
            candidate, inward = search.nearest_to_any(pool, members, state[ACCOUNTED], until, closest)
            state[ACCOUNTED] = until
            if until < size:
                continue
            search.copy_point(pool, candidate, members[size])
            # The nearest to the candidate is itself, at distance 0; the second is its own company.
            search.nearest(pool, candidate, members[size], 2, near_rows, near_distances)
            joins = np.sqrt(inward) < gamma * np.sqrt(near_distances[1])
        if joins:
            search.remove(pool, candidate)
            labels[candidate] = state[FINISHED]
            state[SIZE] += 1
        else:
            search.close_up(pool)
            state[FINISHED] += 1
            state[SIZE] = 0
