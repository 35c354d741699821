"""Who is nearest to whom: records and their masked versions, small blocks and their neighbours.

The masked records are in a tree of distinct points. Looking for anything nearer than the own version
mostly ends at once; where nothing is, those at the very same distance are counted.
"""

import numpy as np

from microagg._kernels import lanes
from microagg._kernels._jit import kernel
from microagg._kernels.marks import NO_GROUP
from microagg._kernels.pool import EMPTY, FAN, LEAF, STACK
from microagg._kernels.rough import may_be_within, radius_within
from microagg._kernels.tree import leaf_distances
from microagg._kernels.tree_search import box_distances, nearest, places_at_most, push


@kernel
def count_as_near(pool, weights, queries, own, start, budget, counts):  # OUT: counts
    """Give, for each query from `start` on, how many masked records are as near as its own, or 0 if one is nearer.

    `pool` is a tree of distinct points, each of which `weights` masked records share; `queries` (n, d) are
    the original records and `own` (n,) the number of each one's point. Ends when all are done or `budget`
    coordinates have been looked at, and returns the next query.
    """
    n, d = queries.shape
    points, rows, filled = pool.points, pool.rows, pool.filled
    low, high, children, lowest = pool.low, pool.high, pool.children, pool.lowest
    stack_bounds, stack = np.empty(STACK), np.empty(STACK, dtype=np.int64)
    bounds, buffer = np.empty(FAN), np.empty(LEAF)
    work = 0
    query = start
    while query < n and work < budget:
        point = queries[query]
        block, at = divmod(pool.place[own[query]], LEAF)
        distance = 0.0
        for j in range(d):
            u = points[block, j, at] - point[j]
            distance += u * u
        radius = radius_within(pool, distance)
        as_near = 0
        child, top = 0, 0
        while True:
            if child < 0:
                leaf = -1 - child
                work += LEAF * d
                nearer, bits = False, 0
                if may_be_within(pool, leaf, point, radius):
                    leaf_distances(points, leaf, point, d, buffer)
                    bits = places_at_most(buffer, filled[leaf], distance)
                while bits:
                    i = lanes.lowest_bit(bits)
                    bits &= bits - 1
                    nearer |= buffer[i] < distance
                    as_near += weights[rows[leaf * LEAF + i]]
                if nearer:
                    as_near = 0
                    break
            else:
                near = box_distances(low, high, child, point, d)
                lanes.store(near, bounds, (0,))
                bits = lanes.at_most(near, distance)
                work += FAN * d
                base = top
                while bits:
                    c = lanes.lowest_bit(bits)
                    bits &= bits - 1
                    slot = child * FAN + c
                    if lowest[slot] != EMPTY:
                        push(base, top, bounds[c], slot, lowest, stack_bounds, stack)
                        top += 1
            if top == 0:
                break
            top -= 1
            child = children[stack[top]]
        counts[query] = as_near
        query += 1
    return query


@kernel
def nearest_others(pool, points):
    """Give, for each of these points of a tree, the nearest other one, the lowest number on ties."""
    others = np.empty(points.shape[0], dtype=np.int64)
    point = np.empty(pool.points.shape[1])
    rows, distances = np.empty(2, dtype=np.int64), np.empty(2)
    for i in range(points.shape[0]):
        block, at = divmod(pool.place[points[i]], LEAF)
        for j in range(point.shape[0]):
            point[j] = pool.points[block, j, at]
        nearest(pool, point, block, NO_GROUP, 2, rows, distances)
        others[i] = rows[1] if rows[0] == points[i] else rows[0]
    return others
