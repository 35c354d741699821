"""V-MDAV: groups from the outside in, each extended by near records that have no nearer company."""

import numpy as np

from microagg._kernels import search
from microagg._kernels._jit import kernel
from microagg._kernels.groups import FREE


@kernel
def extended_groups(pool, order, k, gamma, budget, state, members, closest, labels):  # OUT: pool and all from state
    """Form groups of k to 2k - 1 records while k remain or one is unfinished, and the budget lasts.

    `order` lists the rows, farthest from the whole file's centroid first. `state` holds the place
    reached in it, the number of finished groups, the size of the one in the making and how many of its
    members `closest` accounts for; `members` (2k, d) are their coordinates.
    """
    near_rows = np.empty(max(k - 1, 2), dtype=np.int64)
    near_distances = np.empty(max(k - 1, 2))
    pool.counts[2] = 0
    while (state[2] > 0 or pool.counts[1] >= k) and pool.counts[2] < budget:
        size = state[2]
        if size == 0:
            while labels[order[state[0]]] != FREE:
                state[0] += 1
            row = order[state[0]]
            search.copy_point(pool, row, members[0])
            search.remove(pool, row)
            labels[row] = state[1]
            search.nearest(pool, row, members[0], k - 1, near_rows, near_distances)
            for i in range(1, k):
                row = near_rows[i - 1]
                search.copy_point(pool, row, members[i])
                search.remove(pool, row)
                labels[row] = state[1]
            size = k
            state[2], state[3] = k, 0
        joins = False
        if size < 2 * k - 1 and pool.counts[1] >= 2:
            until = search.members_at_once(pool, state[3], size)
            candidate, inward = search.nearest_to_any(pool, members, state[3], until, closest)
            state[3] = until
            if until < size:
                continue
            search.copy_point(pool, candidate, members[size])
            # The nearest to the candidate is itself, at distance 0; the second is its own company.
            search.nearest(pool, candidate, members[size], 2, near_rows, near_distances)
            joins = np.sqrt(inward) < gamma * np.sqrt(near_distances[1])
        if joins:
            search.remove(pool, candidate)
            labels[candidate] = state[1]
            state[2] += 1
        else:
            search.close_up(pool)
            state[1] += 1
            state[2] = 0
