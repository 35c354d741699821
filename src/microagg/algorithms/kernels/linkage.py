"""Who is nearest to whom: records and their masked versions, small blocks and their neighbours.

The masked records are in one tree by all keys, and any set of keys is searched in it: boxes bound the distance by some
columns as they bound that by all. Looking for anything nearer than the own version mostly ends at once; where nothing
is, those at the very same distance are counted.

Records are also given to released groups, the nearest pairs first and then by exchanges that make sums agree; and by
rank it is counted how near the masked values lie to the original ones.
"""

import numpy as np

from microagg.algorithms.kernels import lanes
from microagg.algorithms.kernels._jit import inlined, inner, kernel
from microagg.algorithms.kernels.pool import EMPTY, FAN, LEAF, NO_GROUP, STACK
from microagg.algorithms.kernels.tree_search import nearest, places_at_most, push


@kernel
def weigh_children(pool, weights, below):  # OUT: below
    """Add up the weights of the points in each child of a tree's nodes, (slots,)."""
    for slot in range(below.shape[0] - 1, -1, -1):  # a node's children come after it
        below[slot] = 0
        if pool.lowest[slot] == EMPTY:
            continue
        child = pool.children[slot]
        if child < 0:
            leaf = -1 - child
            for place in range(leaf * LEAF, leaf * LEAF + pool.filled[leaf]):
                below[slot] += weights[pool.rows[place]]
        else:
            for inner in range(child * FAN, (child + 1) * FAN):
                below[slot] += below[inner]


@kernel
def count_as_near(pool, weights, below, columns, queries, radii, start, budget, counts):  # OUT: counts
    """Return, for each query from `start` on, how many masked records are as near as its own, or 0 if one is nearer.

    `pool` is a tree of points, each of which `weights` masked records share; `below` are their sums (weigh_children).
    `queries` (n, d) are the original records, and `radii` (n,) their squared distances from their own masked records.
    Distances are over some `columns` alone, added in their order. Ends when all are done or `budget` coordinates have
    been looked at, and returns the next query.

    A child is not entered where its farthest corner settles it: one nearer than the own record ends the search, and a
    box that is one point at the very same distance counts as a whole.
    """
    n, d = queries.shape[0], columns.shape[0]
    rows, filled, children, lowest = pool.rows, pool.filled, pool.children, pool.lowest
    stack_bounds, stack = np.empty(STACK), np.empty(STACK, dtype=np.int64)
    near_bounds, far_bounds, buffer = np.empty(FAN), np.empty(FAN), np.empty(LEAF)
    work = 0
    query = start
    while query < n and work < budget:
        point, radius = queries[query], radii[query]
        as_near, nearer = 0, False
        child, top = 0, 0
        while True:
            if child < 0:
                leaf = -1 - child
                work += LEAF * d
                bits = 0
                if leaf_distances_by(pool.points, leaf, point, columns, radius, buffer):
                    bits = places_at_most(buffer, filled[leaf], radius)
                while bits:
                    i = lanes.lowest_bit(bits)
                    bits &= bits - 1
                    nearer |= buffer[i] < radius
                    as_near += weights[rows[leaf * LEAF + i]]
            else:
                work += FAN * d
                near, far = box_distances_by(pool.low, pool.high, child, point, columns)
                lanes.store(near, near_bounds, (0,))
                lanes.store(far, far_bounds, (0,))
                bits = lanes.at_most(near, radius)
                base = top
                while bits:
                    c = lanes.lowest_bit(bits)
                    bits &= bits - 1
                    slot = child * FAN + c
                    if lowest[slot] == EMPTY:
                        continue
                    if far_bounds[c] < radius:
                        nearer = True
                    elif near_bounds[c] == radius and far_bounds[c] == radius:
                        as_near += below[slot]
                    else:  # where all lie near, one is most likely nearer than the own record
                        push(base, top, far_bounds[c], slot, lowest, stack_bounds, stack)
                        top += 1
            if nearer:
                as_near = 0
                break
            if top == 0:
                break
            top -= 1
            child = children[stack[top]]
        counts[query] = as_near
        query += 1
    return query


@inlined
def leaf_distances_by(points, leaf, point, columns, radius, buffer):  # OUT: buffer
    """Return whether a place of a leaf may be within a radius, and write the squared distances of all if so.

    They are over some columns, added in their order, of live places and of others. Some columns are mostly enough to
    see that all are farther.
    """
    a = lanes.spread(0.0)
    b, c, d = a, a, a
    for i in range(columns.shape[0]):
        j = columns[i]
        x = lanes.spread(point[j])
        u, v = lanes.load(points, (leaf, j, 0)) - x, lanes.load(points, (leaf, j, 8)) - x
        w, y = lanes.load(points, (leaf, j, 16)) - x, lanes.load(points, (leaf, j, 24)) - x
        a, b, c, d = a + u * u, b + v * v, c + w * w, d + y * y
        if i % 4 == 3:  # often enough to spare most columns, and seldom enough to cost little
            within = lanes.at_most(a, radius) | lanes.at_most(b, radius)
            within |= lanes.at_most(c, radius) | lanes.at_most(d, radius)
            if within == 0:
                return False
    lanes.store(a, buffer, (0,))
    lanes.store(b, buffer, (8,))
    lanes.store(c, buffer, (16,))
    lanes.store(d, buffer, (24,))
    return True


@inlined
def box_distances_by(low, high, node, point, columns):
    """Return the least and the largest squared distance from a point to each of a node's boxes, over some columns."""
    nothing = lanes.spread(0.0)
    near, far = nothing, nothing
    for i in range(columns.shape[0]):
        j = columns[i]
        x = lanes.spread(point[j])
        to_low, to_high = lanes.load(low, (node, j, 0)) - x, x - lanes.load(high, (node, j, 0))
        gap = lanes.larger(lanes.larger(to_low, to_high), nothing)
        reach = lanes.smaller(to_low, to_high)  # to the farther side, below 0; its square is what counts
        near, far = near + gap * gap, far + reach * reach
    return near, far


@kernel
def nearest_others(pool, points):
    """Return, for each of these points of a tree, the nearest other one, the lowest number on ties."""
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


@kernel
def give_nearest(records, groups, room, given):  # OUT: room, given
    """Return records to groups pair by pair, as they come, where the record has none and the group has room."""
    for pair in range(records.size):
        record, group = records[pair], groups[pair]
        if given[record] < 0 and room[group] > 0:
            given[record] = group
            room[group] -= 1


@kernel
def settle(values, points, centers, targets, slack, starts, members, near, depth, most, taken, settled):
    """Settle groups whose members, `depth` of them exchanged for near records, have the sums that were released.

    Of several exchanges, the one whose records are nearest is taken. Records of settled groups are taken, and a group
    that lost one to another waits.

    `values` are (n, c), `points` (n, D), `centers` (G, D), `targets` and `slack` (G, c); `members` from `starts` on,
    `near` (G, m) with -1 at the end; `most` is the number of exchanges to look at for a group.
    """
    for group in range(centers.shape[0]):
        own = members[starts[group] : starts[group + 1]]  # a view: members that are exchanged are written into it
        if settled[group] or taken[own].any() or own.size < depth:
            continue
        others = _free(near[group], own, taken)
        if others.size < depth or _choices(own.size, depth) * _choices(others.size, depth) > most:
            continue
        if _exchange(values, points, centers[group], targets[group], slack[group], own, others, depth):
            settled[group] = True
            for record in own:
                taken[record] = True


@inner
def _free(near, own, taken):
    """Return near records that no group has for good, and that are not the group's own."""
    found, count = np.empty(near.size, np.int64), 0
    for record in near:
        if record >= 0 and not taken[record] and not (own == record).any():
            found[count] = record
            count += 1
    return found[:count]


@inner
def _choices(of, depth):
    """Count the ways to choose so many of some."""
    ways = 1.0
    for step in range(depth):
        ways = ways * (of - step) / (step + 1)
    return ways


@inner
def _exchange(values, points, center, target, slack, own, others, depth):  # OUT: own
    """Exchange so many of a group's records for others that its sums meet the target; return whether it did."""
    lacking = target.copy()
    for record in own:
        lacking -= values[record]
    best, best_out, best_in = np.inf, np.arange(depth), np.arange(depth)
    out = np.arange(depth)
    wanted = np.empty_like(lacking)
    while True:
        wanted[:] = lacking
        for place in out:
            wanted += values[own[place]]
        into = np.arange(depth)
        while True:
            if _adds_up(values, others, into, wanted, slack):
                cost = _cost(points, center, others, into) - _cost(points, center, own, out)
                if cost < best:
                    best = cost
                    best_out, best_in = out.copy(), into.copy()
            if not _advance(into, others.size):
                break
        if not _advance(out, own.size):
            break
    if best == np.inf:
        return False
    for place in range(depth):
        own[best_out[place]] = others[best_in[place]]
    return True


@inner
def _adds_up(values, others, into, wanted, slack):
    for column in range(wanted.size):
        total = 0.0
        for place in into:
            total += values[others[place], column]
        if abs(total - wanted[column]) > slack[column]:
            return False
    return True


@inner
def _cost(points, center, records, chosen):
    """Add up the squared distances of some records to a center."""
    total = 0.0
    for place in chosen:
        for axis in range(center.size):
            total += (points[records[place], axis] - center[axis]) ** 2
    return total


@inner
def _advance(chosen, of):  # OUT: chosen
    """Go on to the next choice of so many places, in order; return whether there is one."""
    depth = chosen.size
    for place in range(depth - 1, -1, -1):
        if chosen[place] < of - depth + place:
            chosen[place] += 1
            for after in range(place + 1, depth):
                chosen[after] = chosen[after - 1] + 1
            return True
    return False


@kernel
def count_rank_misses(ordered, values, widths, by_row, tied):  # OUT: by_row, tied
    """Count, for each value, the widths of ranks around its masked value within which it does not lie.

    `ordered` (n,) are the masked values from the lowest to the highest, `values` the originals in that order, and
    `widths` grow. Equal masked values are ranked as they stand for `by_row` and share the mean of their ranks for
    `tied`.
    """
    n = ordered.shape[0]
    first = 0
    while first < n:
        last = first
        while last + 1 < n and ordered[last + 1] == ordered[first]:
            last += 1
        for i in range(first, last + 1):
            by_row[i] = misses(ordered, values[i], i, i, widths)
            tied[i] = misses(ordered, values[i], (first + last) // 2, (first + last + 1) // 2, widths)
        first = last + 1


@inlined
def misses(ordered, value, low, high, widths):
    """Count the widths that miss a value: a wider interval holds the narrower, so those before the first that does."""
    for count in range(widths.shape[0]):
        below = ordered[max(low - widths[count], 0)]
        above = ordered[min(high + widths[count], ordered.shape[0] - 1)]
        if below <= value and value <= above:
            return count
    return widths.shape[0]
