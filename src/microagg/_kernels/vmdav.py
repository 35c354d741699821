"""V-MDAV: groups from the outside in, each extended by near records that have no nearer company."""

import numpy as np

from microagg._kernels import brute
from microagg._kernels._jit import kernel
from microagg._kernels.groups import FREE, join
from microagg._kernels.pool import close_up, copy_point


@kernel
def extended_groups(pool, order, k, gamma, budget, state, labels):  # OUT: pool, state, labels
    """Form groups of k to 2k - 1 records while at least k remain and the budget lasts.

    `order` lists the rows, farthest from the whole file's centroid first. `state` holds the place
    reached in it and the number of groups.
    """
    d, n = pool.columns.shape
    members = np.empty((k, d))
    point = np.empty(d)
    closest = np.empty(n)
    near_rows = np.empty(max(k - 1, 2), dtype=np.int64)
    near_distances = np.empty(max(k - 1, 2))
    while pool.counts[1] >= k and budget > 0:
        while labels[order[state[0]]] != FREE:
            state[0] += 1
        row = order[state[0]]
        copy_point(pool, row, members[0])
        join(pool, row, state[1], labels)
        brute.around(pool, members[0], k - 1, near_rows, near_distances)
        for i in range(1, k):
            copy_point(pool, near_rows[i - 1], members[i])
            join(pool, near_rows[i - 1], state[1], labels)
        budget -= d * pool.counts[0]

        size = k
        candidate, inward = -1, np.inf
        if pool.counts[1] >= 2:
            for i in range(k):
                candidate, inward = brute.approach_member(pool, members[i], i == 0, closest)
            budget -= k * d * pool.counts[0]
        while size < 2 * k - 1 and pool.counts[1] >= 2:
            copy_point(pool, candidate, point)
            # The nearest to the candidate is itself, at distance 0; the second is its own company.
            brute.around(pool, point, 2, near_rows, near_distances)
            budget -= 2 * d * pool.counts[0]
            if not np.sqrt(inward) < gamma * np.sqrt(near_distances[1]):
                break
            join(pool, candidate, state[1], labels)
            size += 1
            candidate, inward = brute.approach_member(pool, point, False, closest)
        close_up(pool)
        state[1] += 1
