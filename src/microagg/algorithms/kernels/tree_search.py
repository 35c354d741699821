"""Searches in the tree that enter only what can hold the answer.

Why the answers are those of brute force, ties included: a bound from a box is summed over the columns in
the same order as a distance, by the same operations (nothing is contracted, see `_jit`), and rounding is monotone. So
it is never above the distances of what is in the box (`nearest`), or never below them (`farthest`). The bound
from norms is computed otherwise and gets slack for rounding and underflow. A child whose bound only equals the best so
far is still entered if it holds a lower row than the one that would have to give way. A leaf is left out, too, where
rough copies of its records show that none is near enough (`rough`); they have slack as well. What is left is compared
by the same distance as brute force. `nearest_to_all` looks near the centroid, with slack; the exact sum decides.

So each search finds the same record. Records that join a group are subtracted from the same sums (`pool.lose`) in the
same order, and a tree that is built anew takes these sums over (`Run.pause`). So the next search begins from the same
state, and the groups are the same.
"""

import numpy as np

from microagg.algorithms.kernels import lanes
from microagg.algorithms.kernels._jit import inlined, inner
from microagg.algorithms.kernels.pool import (
    EMPTY,
    FAN,
    LEAF,
    REMAINING,
    SPENT,
    STACK,
    TINY,
    clear,
    is_held,
    offer,
    offer_apart,
    sort,
)
from microagg.algorithms.kernels.records import corner_distances, full_distance, rounding_of, vector_distances
from microagg.algorithms.kernels.rough import may_be_beyond, may_be_within, radius_beyond, radius_within
from microagg.algorithms.kernels.tree import add_leaf_mismatches, leaf_distances

_EPSILON = 2.0**-52


@inner
def nearest(pool, point, home, group, count, rows, distances):  # OUT: rows, distances
    """Return the `count` live records nearest to a point, nearest first, the lower row first on ties.

    With marks, they have different ones, which the group that is growing does not hold.

    `home` is the leaf the point came from: looked at first, it sets a bound that spares most of the descent.
    """
    clear(count, rows, distances)
    improve(pool, point, home, group, count, rows, distances)
    sort(count, rows, distances)


@inner
def nearest_to_any(pool, members, size, group):
    """Return the live record nearest to any of the first `size` members, or -1, and its squared distance."""
    row = np.full(1, EMPTY - 1)
    distance = np.full(1, np.inf)
    for member in range(size):
        improve(pool, members[member], -1, group, 1, row, distance)
    return row[0] if row[0] < EMPTY - 1 else -1, distance[0]


@inlined
def improve(pool, point, home, group, count, near_rows, near_distances):  # OUT: near_rows, near_distances
    """Bring live records into a list of the nearest where they beat those in it; start at leaf `home`, if not -1."""
    points, rows, filled, marks, tally = pool.points, pool.rows, pool.filled, pool.marks, pool.tally
    low, high, children, lowest = pool.low, pool.high, pool.children, pool.lowest
    heights = pool.heights
    numbers = point.shape[0] - heights.shape[0]
    stack_bounds, stack = np.empty(STACK), np.empty(STACK, dtype=np.int64)
    bounds, buffer = np.empty(FAN), np.empty(LEAF)
    top, work = 0, 0
    child = 0
    if home >= 0:
        leaf_distances(points, home, point, numbers, buffer)
        add_leaf_mismatches(points, heights, home, point, numbers, buffer)
        scan(rows, marks, tally, home, filled[home], group, buffer, count, near_rows, near_distances)
        work += LEAF
    radius = radius_within(pool, near_distances[0])
    while True:
        worst, worst_row = near_distances[0], near_rows[0]
        if child < 0:
            leaf = -1 - child
            if leaf != home and may_be_within(pool, leaf, point, radius):
                leaf_distances(points, leaf, point, numbers, buffer)
                add_leaf_mismatches(points, heights, leaf, point, numbers, buffer)
                scan(rows, marks, tally, leaf, filled[leaf], group, buffer, count, near_rows, near_distances)
                radius = radius_within(pool, near_distances[0])
            work += LEAF
        else:
            near = box_distances(low, high, child, point, numbers)
            near = with_box_mismatches(near, low, high, heights, child, point, numbers)
            lanes.store(near, bounds, (0,))
            bits = lanes.at_most(near, worst)
            work += FAN
            base = top
            while bits:
                c = lanes.lowest_bit(bits)
                bits &= bits - 1
                if bounds[c] < worst or lowest[child * FAN + c] < worst_row:
                    push(base, top, bounds[c], child * FAN + c, lowest, stack_bounds, stack)
                    top += 1
        # Drop what cannot win any more; go on with the best of the rest.
        worst, worst_row = near_distances[0], near_rows[0]
        while top > 0 and (
            stack_bounds[top - 1] > worst or (stack_bounds[top - 1] == worst and lowest[stack[top - 1]] > worst_row)
        ):
            top -= 1
        if top == 0:
            break
        top -= 1
        child = children[stack[top]]
    pool.state[SPENT] += work * point.shape[0]


@inlined
def scan(rows, marks, tally, leaf, filled, group, buffer, count, near_rows, near_distances):  # OUT: near_*
    """Offer a leaf's records, whose distances are in the buffer, to a list of the nearest."""
    bits = places_at_most(buffer, filled, near_distances[0])
    if bits and marks.shape[0] > 0:  # apart, so that the loop below stays small
        scan_apart(rows, marks, tally, leaf, bits, group, buffer, count, near_rows, near_distances)
    else:
        while bits:
            i = lanes.lowest_bit(bits)
            bits &= bits - 1
            offer(buffer[i], rows[leaf * LEAF + i], count, near_rows, near_distances)


@inner
def scan_apart(rows, marks, tally, leaf, bits, group, buffer, count, near_rows, near_distances):  # OUT: near_*
    """Offer some of a leaf's records, with marks, to a list of the nearest."""
    while bits:
        i = lanes.lowest_bit(bits)
        bits &= bits - 1
        offer_apart(buffer[i], rows[leaf * LEAF + i], marks, tally, group, count, near_rows, near_distances)


@inlined
def places_at_most(buffer, filled, limit):
    """Return a bit for each of a leaf's live records: whether its distance, in the buffer, is at most a limit."""
    bits = 0
    for i in range(0, LEAF, lanes.LANES):
        bits |= lanes.at_most(lanes.load(buffer, (i,)), limit) << i
    return bits & ((1 << filled) - 1)


@inlined
def places_at_least(buffer, filled, limit):
    """Return a bit for each of a leaf's live records: whether its distance, in the buffer, is at least a limit."""
    bits = 0
    for i in range(0, LEAF, lanes.LANES):
        bits |= lanes.at_least(lanes.load(buffer, (i,)), limit) << i
    return bits & ((1 << filled) - 1)


@inlined
def box_distances(low, high, node, point, numbers):
    """Return the least squared distance from a point to each of a node's eight boxes, over so many numbers."""
    nothing = lanes.spread(0.0)
    bounds = nothing
    for j in range(numbers):
        x = lanes.spread(point[j])
        gap = lanes.larger(lanes.load(low, (node, j, 0)) - x, x - lanes.load(high, (node, j, 0)))
        gap = lanes.larger(gap, nothing)
        bounds = bounds + gap * gap
    return bounds


@inlined
def with_box_mismatches(bounds, low, high, heights, node, point, numbers):
    """Add what every record of a box adds to the squared distance where its codes leave out the point's."""
    for j in range(heights.shape[0]):
        code, square = lanes.spread(point[numbers + j]), lanes.spread(heights[j] * heights[j])
        # The nearest code of the box is the point's own unless that lies below or above all of them.
        nearest_code = lanes.smaller(code, lanes.load(high, (node, numbers + j, 0)))
        nearest_code = lanes.larger(nearest_code, lanes.load(low, (node, numbers + j, 0)))
        u = lanes.differing(nearest_code, code, square)
        bounds = (bounds + u) + u
    return bounds


@inlined
def push(base, top, bound, slot, lowest, stack_bounds, stack):  # OUT: stack_*
    """Put a child on the stack, keeping those from `base` up in order: least bound, lowest row on top."""
    at = top
    while at > base and (
        stack_bounds[at - 1] < bound or (stack_bounds[at - 1] == bound and lowest[stack[at - 1]] < lowest[slot])
    ):
        stack_bounds[at] = stack_bounds[at - 1]
        stack[at] = stack[at - 1]
        at -= 1
    stack_bounds[at] = bound
    stack[at] = slot


@inlined
def spread_about(members, size, heights, centroid):  # OUT: centroid
    """Return the squared distances of members from their centroid, added up, and the largest number among them.

    Of codes the spread has what the commonest would leave over: no record adds less.
    """
    numbers = centroid.shape[0]
    magnitude = 0.0
    for j in range(numbers):
        for member in range(size):
            centroid[j] += members[member, j] / size
            magnitude = max(magnitude, abs(members[member, j]))
    spread = 0.0
    for member in range(size):
        distance = 0.0
        for j in range(numbers):
            distance += (members[member, j] - centroid[j]) ** 2
        spread += distance
    for j in range(heights.shape[0]):
        spread += 2.0 * heights[j] * heights[j] * (size - commonest(members[:size, numbers + j]))
    return spread, magnitude


@inlined
def sum_to_all(points, leaf, place, members, size, heights):
    """Return the squared distances from a record of a leaf to the members, added in the order in which they joined."""
    numbers = members.shape[1] - heights.shape[0]
    total = 0.0
    for member in range(size):
        distance = 0.0
        for j in range(numbers):
            u = points[leaf, j, place] - members[member, j]
            distance += u * u
        for j in range(heights.shape[0]):
            if points[leaf, numbers + j, place] != members[member, numbers + j]:
                distance = (distance + heights[j] * heights[j]) + heights[j] * heights[j]
        total += distance
    return total


@inner
def nearest_to_all(pool, members, size, group):
    """Return the live record with the least sum of squared distances to the first `size` members, or -1.

    That sum is size |x - g|² + a constant, g the members' centroid, so records near g are looked for;
    the sum itself, added in joining order, decides. `limit` is the squared distance from g up to which a
    record might still win, with slack for rounding. Of codes, only what any record would add is counted there.
    """
    heights = pool.heights
    numbers = pool.centre.shape[0]
    d = members.shape[1]
    points, rows, filled, marks, tally = pool.points, pool.rows, pool.filled, pool.marks, pool.tally
    low, high, children, lowest = pool.low, pool.high, pool.children, pool.lowest
    stack_bounds, stack = np.empty(STACK), np.empty(STACK, dtype=np.int64)
    bounds, buffer = np.empty(FAN), np.empty(LEAF)
    centroid = np.zeros(numbers)
    spread, magnitude = spread_about(members, size, heights, centroid)
    blur = _EPSILON * 4.0 * (size + 1) * np.sqrt(d) * magnitude  # of the centroid itself
    slack = 1.0 + _EPSILON * 16.0 * (d + size)
    best, best_row, limit = np.inf, EMPTY - 1, np.inf
    top, work = 0, 0
    child = 0
    while True:
        if child < 0:
            leaf = -1 - child
            work += LEAF
            bits = 0
            if may_be_within(pool, leaf, centroid, radius_within(pool, limit)):
                leaf_distances(points, leaf, centroid, numbers, buffer)
                bits = places_at_most(buffer, filled[leaf], limit)
            while bits:
                i = lanes.lowest_bit(bits)
                bits &= bits - 1
                total = sum_to_all(points, leaf, i, members, size, heights)
                work += size
                row = rows[leaf * LEAF + i]
                if (total < best or (total == best and row < best_row)) and not is_held(marks, tally, row, group):
                    best, best_row = total, row
                    room = max(best * slack - spread / slack, 0.0) / size
                    limit = (np.sqrt(room + 2.0 * blur * blur) + blur) ** 2 * slack + TINY
        else:
            near = box_distances(low, high, child, centroid, numbers)
            lanes.store(near, bounds, (0,))
            bits = lanes.at_most(near, limit)
            work += FAN
            base = top
            while bits:
                c = lanes.lowest_bit(bits)
                bits &= bits - 1
                slot = child * FAN + c
                if lowest[slot] != EMPTY:
                    push(base, top, bounds[c], slot, lowest, stack_bounds, stack)
                    top += 1
        while top > 0 and (stack_bounds[top - 1] > limit or (best == 0.0 and lowest[stack[top - 1]] > best_row)):
            top -= 1
        if top == 0:
            break
        top -= 1
        child = children[stack[top]]
    pool.state[SPENT] += work * d
    return best_row if best_row < EMPTY - 1 else -1


@inlined
def commonest(codes):
    """Return how many of the codes are the commonest one."""
    most = 0
    for i in range(codes.shape[0]):
        count = 0
        for other in range(codes.shape[0]):
            count += codes[i] == codes[other]
        most = max(most, count)
    return most


@inner
def farthest_from_vector(pool, vector):
    """Return the live record farthest from a vector of all coordinates, the lowest row on ties.

    With codes, every record is looked at: no box shows how far its categories are.
    """
    heights, starts, points = pool.heights, pool.starts, pool.points
    if heights.shape[0] == 0:
        row, _ = farthest(pool, vector)
        return row
    table = corner_distances(heights, starts, vector)
    slack = rounding_of(vector.shape[0])
    buffer = np.empty(LEAF)
    best, best_row = -1.0, EMPTY
    for leaf in range(points.shape[0]):
        filled = pool.filled[leaf]
        vector_distances(points[leaf], heights, starts, 0, filled, vector, table, buffer)
        for i in range(filled):
            if buffer[i] >= best / slack - TINY:
                row = pool.rows[leaf * LEAF + i]
                distance = full_distance(points[leaf], heights, starts, i, vector)
                if distance > best or (distance == best and row < best_row):
                    best, best_row = distance, row
    pool.state[SPENT] += pool.state[REMAINING] * points.shape[1]
    return best_row


@inner
def farthest(pool, point):
    """Return the live record farthest from a record's point, the lowest row on ties, and its squared distance."""
    d = point.shape[0]
    heights = pool.heights
    numbers = d - heights.shape[0]
    points, rows, filled = pool.points, pool.rows, pool.filled
    low, high, children, lowest, reach = pool.low, pool.high, pool.children, pool.lowest, pool.reach
    stack_bounds, stack = np.empty(STACK), np.empty(STACK, dtype=np.int64)
    bounds, buffer, centre = np.empty(FAN), np.empty(LEAF), pool.centre
    square = 0.0
    for j in range(numbers):
        square += (point[j] - centre[j]) * (point[j] - centre[j])
    widest = 0.0
    for c in range(FAN):
        widest = max(widest, reach[c])
    pull = 0.6 * np.sqrt(square / widest) if widest > TINY else 0.0
    slack = 1.0 + _EPSILON * 16.0 * (d + 4) * (d + 4)
    best, best_row, radius = -1.0, EMPTY, 0.0
    top, work = 0, 0
    child = 0
    while True:
        if child < 0:
            leaf = -1 - child
            work += LEAF
            if may_be_beyond(pool, leaf, point, radius):
                leaf_distances(points, leaf, point, numbers, buffer)
                add_leaf_mismatches(points, heights, leaf, point, numbers, buffer)
                bits = places_at_least(buffer, filled[leaf], best)
                while bits:
                    i = lanes.lowest_bit(bits)
                    bits &= bits - 1
                    if buffer[i] > best or (buffer[i] == best and rows[leaf * LEAF + i] < best_row):
                        best, best_row = buffer[i], rows[leaf * LEAF + i]
                radius = radius_beyond(pool, best)
        else:
            far = farthest_in_boxes(low, high, reach, heights, child, point, centre, square, pull, slack)
            lanes.store(far, bounds, (0,))
            bits = lanes.at_least(far, best)
            work += 2 * FAN
            base = top
            while bits:
                c = lanes.lowest_bit(bits)
                bits &= bits - 1
                slot = child * FAN + c
                if (bounds[c] > best or lowest[slot] < best_row) and lowest[slot] != EMPTY:
                    # Negated, because the stack keeps the least on top.
                    push(base, top, -bounds[c], slot, lowest, stack_bounds, stack)
                    top += 1
        while top > 0 and (
            -stack_bounds[top - 1] < best or (-stack_bounds[top - 1] == best and lowest[stack[top - 1]] > best_row)
        ):
            top -= 1
        if top == 0:
            break
        top -= 1
        child = children[stack[top]]
    pool.state[SPENT] += work * d
    return best_row, best


@inlined
def farthest_in_boxes(low, high, reach, heights, node, point, centre, square, pull, slack):
    """Return, for each of a node's eight boxes, a bound on the squared distance of its records from a point.

    Records lie in the box and within the reach, a ball about the centre. For any pull >= 0, x and q (the point) taken
    from the centre, and |q|² the square,
      |x - q|² <= (1 + pull) reach + |q|² - (pull |x|² + 2 x·q),
    and the last term is bounded by the box. Without a box the best pull would be |q| over the ball's radius; boxes take
    part of the norm, and 0.6 of that was seen to prune most where data fill the space. Where they lie along the axes,
    no pull at all does, so both bounds are taken, and the box's far corner.
    """
    nothing = lanes.spread(0.0)
    corners, products, pulled, apart = nothing, nothing, nothing, nothing
    pulls = lanes.spread(pull)
    numbers = centre.shape[0]
    for j in range(numbers):
        x, m, q = lanes.spread(point[j]), lanes.spread(centre[j]), point[j] - centre[j]
        ideal = lanes.spread(-q / pull if pull > 0.0 else 0.0)
        twice = lanes.spread(2.0 * q)
        lowest, highest = lanes.load(low, (node, j, 0)), lanes.load(high, (node, j, 0))
        gap = lanes.larger(x - lowest, highest - x)
        corners = corners + gap * gap
        near, far = lowest - m, highest - m
        products = products + twice * (near if q > 0.0 else far)
        at = lanes.smaller(lanes.larger(ideal, near), far)
        pulled = pulled + at * (pulls * at + twice)
    for j in range(heights.shape[0]):
        code, height = lanes.spread(point[numbers + j]), lanes.spread(heights[j] * heights[j])
        u = lanes.differing(lanes.load(low, (node, numbers + j, 0)), code, height)
        u = lanes.larger(u, lanes.differing(lanes.load(high, (node, numbers + j, 0)), code, height))
        corners = (corners + u) + u
        apart = apart + (u + u)
    reaches, q_square, slacks, tiny = (
        lanes.load(reach, (node * FAN,)),
        lanes.spread(square),
        lanes.spread(slack),
        lanes.spread(TINY),
    )
    by_norm = ((reaches + q_square + apart) * slacks + tiny) - products
    by_pull = ((lanes.spread(1.0 + pull) * reaches + q_square + apart) * slacks + tiny) - pulled
    return lanes.smaller(lanes.smaller(corners, by_norm), by_pull)
