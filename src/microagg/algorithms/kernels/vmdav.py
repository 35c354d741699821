"""V-MDAV: groups from the outside in, each extended by near records that have no nearer company."""

import numpy as np

from microagg.algorithms.kernels import search
from microagg.algorithms.kernels._jit import kernel
from microagg.algorithms.kernels.groups import FINISHED, FREE, REACHED, SIZE
from microagg.algorithms.kernels.marks import NO_GROUP
from microagg.algorithms.kernels.pool import DIFFERENT, SPENT

ACCOUNTED = 3  # the place in the state for how many members of the growing group `closest` accounts for


@kernel
def extended_groups(pool, order, k, gamma, budget, state, members, closest, labels):  # OUT: pool and all from state
    """Form groups of k to 2k - 1 records while k different ones remain or one is unfinished, and the budget lasts.

    With marks, a group is extended by a mark that it does not hold, and a record finds no company in its own mark.
    `order` lists the rows, farthest from the whole file's centroid first, and `state` holds the place
    REACHED in it; `members` (2k, d) are the entries of the group that is growing.
    """
    near_rows = np.empty(max(k - 1, 2), dtype=np.int64)
    near_distances = np.empty(max(k - 1, 2))
    pool.state[SPENT] = 0
    while (state[SIZE] > 0 or pool.state[DIFFERENT] >= k) and pool.state[SPENT] < budget:
        size, group = state[SIZE], state[FINISHED]
        if size == 0:
            while labels[order[state[REACHED]]] != FREE:
                state[REACHED] += 1
            row = order[state[REACHED]]
            search.copy_point(pool, row, members[0])
            search.join(pool, row, group, labels)
            search.nearest(pool, row, members[0], group, k - 1, near_rows, near_distances)
            for i in range(1, k):
                row = near_rows[i - 1]
                search.copy_point(pool, row, members[i])
                search.join(pool, row, group, labels)
            size = k
            state[SIZE], state[ACCOUNTED] = k, 0
        joins = False
        candidate, inward = -1, np.inf
        if size < 2 * k - 1 and pool.state[DIFFERENT] >= 2:
            until = search.members_at_once(pool, state[ACCOUNTED], size)
            candidate, inward = search.nearest_to_any(pool, members, state[ACCOUNTED], until, group, closest)
            state[ACCOUNTED] = until
            if until < size:
                continue
        if candidate >= 0:
            search.copy_point(pool, candidate, members[size])
            # The nearest to the candidate is itself, at distance 0; the second is its own company.
            search.nearest(pool, candidate, members[size], NO_GROUP, 2, near_rows, near_distances)
            joins = np.sqrt(inward) < gamma * np.sqrt(near_distances[1])
        if joins:
            search.join(pool, candidate, group, labels)
            state[SIZE] += 1
        else:
            search.close_up(pool)
            state[FINISHED] += 1
            state[SIZE] = 0
