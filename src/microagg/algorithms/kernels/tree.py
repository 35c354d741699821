"""A k-d tree of the live records, kept tight as records leave it.

Records lie leaf by leaf, up to 32 in each, column by column within a leaf, so that a leaf is scanned in
SIMD. A node keeps the boxes of up to eight children side by side. A record that leaves changes places
with the last live one of its leaf, and the boxes above it shrink, so pruning stays sharp to the end.

A box holds the lowest and highest code of a column as it does those of numbers. Cuts are those that all coordinates
would give: a category's coordinate is the height or 0.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.kernels import lanes
from microagg.algorithms.kernels._jit import inlined, inner, kernel
from microagg.algorithms.kernels.pool import EMPTY, FAN, LEAF, LOOSE_LEAF, Pool, empty_pool, lose
from microagg.algorithms.kernels.records import Records, plain_records
from microagg.algorithms.kernels.rough import roughen

_SLICE = 2_000_000  # records moved about before Python regains control: some 0.1 s

# The places of a part that is to be cut: its range of the order of records, and the leaves to make of it.
BEGIN, END, LEAVES = 0, 1, 2
# The places of the state of `build`.
NODES_CUT, NODES_MADE, LEAVES_MADE = 0, 1, 2


def make_tree(
    records: Records,
    rows: NDArray[np.int64],
    sums: NDArray[np.float64],
    place: NDArray[np.int64],
    check: Callable[[], None] = lambda: None,
) -> Pool:
    """Put these rows of the records into a new tree.

    `rows` and `place` (n,) are used up; `sums` are the running sums of those rows. `check` is called often; what it
    raises stops the work.
    """
    n = rows.shape[0]
    leaves = -(-n // LEAF)
    pool = empty_pool(records, sums, n, place, leaves)
    # Medians: where most of a column is zero, norms from there bound best (see tree_search.farthest).
    pool.centre[:] = np.median(records.entries[: pool.centre.size, rows[:: 1 + n // 4096]], axis=1)
    spans = np.zeros((pool.low.shape[0], 3), dtype=np.int64)  # of each node
    spans[0] = 0, n, leaves
    state = np.zeros(3, dtype=np.int64)
    state[NODES_MADE] = 1
    keys = np.empty(n)
    while state[NODES_CUT] < state[NODES_MADE]:  # Python regains control between slices
        build(records.entries, rows, keys, spans, _SLICE, state, pool)
        check()
    return pool


def tree_of(columns: NDArray[np.float64], check: Callable[[], None] = lambda: None) -> Pool:
    """Put every record of `columns` (d, n) into a new tree that is searched only; its sums stay 0."""
    return tree_of_records(plain_records(columns), check)


def tree_of_records(records: Records, check: Callable[[], None] = lambda: None) -> Pool:
    """Put every record into a new tree that is searched only; its sums stay 0."""
    n = records.entries.shape[1]
    return make_tree(records, np.arange(n), np.zeros(records.starts[-1]), np.empty(n, dtype=np.int64), check)


def rows_by_leaf(pool: Pool) -> NDArray[np.int64]:
    """Return the rows of a new tree in the order of its leaves: near in it means near in space."""
    return pool.rows.reshape(-1, LEAF)[np.arange(LEAF) < pool.filled[:, None]]


@kernel
def build(columns, order, keys, spans, budget, state, pool):  # OUT: order, keys, spans, state, pool
    """Cut the records into leaves by medians of the widest column, eight parts to a node.

    Nodes are cut in the order in which they were made; `spans` (nodes, 3) are their parts. Returns when all
    are cut or `budget` records have been moved about.
    """
    parts = np.empty((FAN, 3), dtype=np.int64)
    while state[NODES_CUT] < state[NODES_MADE] and budget > 0:
        node = state[NODES_CUT]
        for i in range(3):
            parts[0, i] = spans[node, i]
        made = 1
        while made < FAN:
            widest = 0
            for c in range(1, made):
                widest = c if parts[c, LEAVES] > parts[widest, LEAVES] else widest
            begin, end, width = parts[widest, BEGIN], parts[widest, END], parts[widest, LEAVES]
            if width == 1:
                break
            middle = begin + (end - begin) * (width // 2) // width
            split(columns, pool.heights, order, keys, begin, end, middle)
            budget -= end - begin
            parts[widest, END], parts[widest, LEAVES] = middle, width // 2
            parts[made, BEGIN], parts[made, END], parts[made, LEAVES] = middle, end, width - width // 2
            made += 1
        for c in range(made):
            if parts[c, LEAVES] == 1:
                leaf = state[LEAVES_MADE]
                fill_leaf(columns, order, parts[c, BEGIN], parts[c, END], leaf, pool)
                pool.children[node * FAN + c] = -1 - leaf
                pool.slot_of[-1 - leaf] = node * FAN + c
                state[LEAVES_MADE] += 1
            else:
                child = state[NODES_MADE]
                for i in range(3):
                    spans[child, i] = parts[c, i]
                pool.children[node * FAN + c] = child
                pool.slot_of[child] = node * FAN + c
                state[NODES_MADE] += 1
        state[NODES_CUT] += 1
    if state[NODES_CUT] == state[NODES_MADE]:
        for leaf in range(pool.points.shape[0]):
            refit(pool, leaf)
        widest = 0.0
        for j in range(pool.centre.shape[0]):
            lowest = lanes.least(lanes.load(pool.low, (0, j, 0)))
            widest = max(widest, lanes.largest(lanes.load(pool.high, (0, j, 0))) - lowest)
        if widest > 0.0:
            # A power of two, so that nothing is rounded by it.
            pool.unit[0] = 2.0 ** min(-np.floor(np.log2(widest)), 1000.0)
        for leaf in range(pool.points.shape[0]):
            roughen(pool, leaf)


@inner
def split(columns, heights, order, keys, begin, end, middle):  # OUT: order, keys
    """Bring the records that are lowest in the widest coordinate before `middle`; equal ones by row."""
    numbers = columns.shape[0] - heights.shape[0]
    step = max(1, (end - begin) // 32)  # a sample shows the width well enough
    widest, width, category = 0, -1.0, -1.0
    for j in range(columns.shape[0]):
        lowest, highest = np.inf, -np.inf
        for i in range(begin, end, step):
            value = columns[j, order[i]]
            lowest, highest = min(lowest, value), max(highest, value)
        if j < numbers:
            if highest - lowest > width:
                widest, width = j, highest - lowest
        elif lowest < highest and heights[j - numbers] > width:
            # All categories of a column are as wide; the first that is there and not everywhere is the lowest.
            widest, width, category = j, heights[j - numbers], lowest
    for i in range(begin, end):
        value = columns[widest, order[i]]
        keys[i] = value if widest < numbers else (1.0 if value == category else 0.0)
    bring_lowest_first(order, keys, begin, end, middle)


@inlined
def bring_lowest_first(order, keys, begin, end, middle):  # OUT: order, keys
    """Bring the records with the lowest keys before `middle`; equal ones by row."""
    left, right = begin, end - 1
    while left < right:
        a, b, c = left, (left + right) // 2, right
        if precedes(keys, order, b, a):
            a, b = b, a
        if precedes(keys, order, c, b):
            b = a if precedes(keys, order, c, a) else c
        pivot_key, pivot_row = keys[b], order[b]
        i, j = left, right
        while i <= j:
            while keys[i] < pivot_key or (keys[i] == pivot_key and order[i] < pivot_row):
                i += 1
            while keys[j] > pivot_key or (keys[j] == pivot_key and order[j] > pivot_row):
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            right = j
        elif middle >= i:
            left = i
        else:
            break


@inlined
def precedes(keys, order, a, b):
    """Compare two records by key, then by row."""
    return keys[a] < keys[b] or (keys[a] == keys[b] and order[a] < order[b])


@inlined
def fill_leaf(columns, order, begin, end, leaf, pool):  # OUT: pool
    """Copy records into a leaf."""
    for i in range(end - begin):
        row = order[begin + i]
        place = leaf * LEAF + i
        pool.place[row] = place
        pool.rows[place] = row
        for j in range(columns.shape[0]):
            pool.points[leaf, j, i] = columns[j, row]
    pool.filled[leaf] = end - begin


@inner
def refit(pool, leaf):  # OUT: pool
    """Fit a leaf's box to its live records, and those above it as far as that changes them."""
    slot = pool.slot_of[-1 - leaf]
    node, c = divmod(slot, FAN)
    filled = pool.filled[leaf]
    for j in range(pool.points.shape[1]):
        lowest, highest = lanes.spread(np.inf), lanes.spread(-np.inf)
        for i in range(0, LEAF, lanes.LANES):
            values = lanes.load(pool.points, (leaf, j, i))
            lowest = lanes.smaller(lowest, lanes.first_or(filled - i, values, np.inf))
            highest = lanes.larger(highest, lanes.first_or(filled - i, values, -np.inf))
        pool.low[node, j, c], pool.high[node, j, c] = lanes.least(lowest), lanes.largest(highest)
    distances = np.empty(LEAF)
    leaf_distances(pool.points, leaf, pool.centre, pool.centre.shape[0], distances)
    reach, row = lanes.spread(-np.inf), EMPTY
    for i in range(0, LEAF, lanes.LANES):
        reach = lanes.larger(reach, lanes.first_or(filled - i, lanes.load(distances, (i,)), -np.inf))
    for i in range(filled):
        row = min(row, pool.rows[leaf * LEAF + i])
    pool.reach[slot], pool.lowest[slot] = lanes.largest(reach), row
    while node > 0 and tighten_node(pool, node):
        node = pool.slot_of[node] // FAN


@inlined
def tighten_node(pool, node):  # OUT: pool
    """Fit a node's box in its parent to its children; return whether that changed anything."""
    above, at = divmod(pool.slot_of[node], FAN)
    changed = False
    for j in range(pool.points.shape[1]):
        lowest = lanes.least(lanes.load(pool.low, (node, j, 0)))
        highest = lanes.largest(lanes.load(pool.high, (node, j, 0)))
        if pool.low[above, j, at] != lowest or pool.high[above, j, at] != highest:
            pool.low[above, j, at], pool.high[above, j, at] = lowest, highest
            changed = True
    reach, row = -np.inf, EMPTY
    for slot in range(node * FAN, (node + 1) * FAN):
        reach, row = max(reach, pool.reach[slot]), min(row, pool.lowest[slot])
    slot = pool.slot_of[node]
    if pool.reach[slot] != reach or pool.lowest[slot] != row:
        pool.reach[slot], pool.lowest[slot] = reach, row
        changed = True
    return changed


@inner
def remove(pool, row):  # OUT: pool
    """Take one record out and shrink what held it.

    That waits for the first removal from another leaf: a group's records mostly lie in one, and a box that is
    too wide bounds all the same.
    """
    leaf, at = divmod(pool.place[row], LEAF)
    node, c = divmod(pool.slot_of[-1 - leaf], FAN)
    last = pool.filled[leaf] - 1
    pool.filled[leaf] = last
    held = pool.lowest[node * FAN + c] == row
    lose(pool, row, leaf, at)
    for j in range(pool.points.shape[1]):
        value = pool.points[leaf, j, at]
        pool.points[leaf, j, at] = pool.points[leaf, j, last]
        pool.rough[leaf, j, at] = pool.rough[leaf, j, last]
        held |= value == pool.low[node, j, c] or value == pool.high[node, j, c]
    moved = pool.rows[leaf * LEAF + last]
    pool.rows[leaf * LEAF + at] = moved
    pool.place[moved] = leaf * LEAF + at
    loose = pool.state[LOOSE_LEAF]
    if held and loose != leaf:  # else only the reach may be too large now
        if loose >= 0:
            refit(pool, loose)
        pool.state[LOOSE_LEAF] = leaf


@inlined
def leaf_distances(points, leaf, point, numbers, buffer):  # OUT: buffer
    """The squared distances from a point to all places of a leaf, live or not, over so many numbers, in order."""
    a = lanes.spread(0.0)
    b, c, d = a, a, a  # the four sums of a leaf's 32 places stay in registers
    for j in range(numbers):
        x = lanes.spread(point[j])
        u, v = lanes.load(points, (leaf, j, 0)) - x, lanes.load(points, (leaf, j, 8)) - x
        w, y = lanes.load(points, (leaf, j, 16)) - x, lanes.load(points, (leaf, j, 24)) - x
        a, b, c, d = a + u * u, b + v * v, c + w * w, d + y * y
    lanes.store(a, buffer, (0,))
    lanes.store(b, buffer, (8,))
    lanes.store(c, buffer, (16,))
    lanes.store(d, buffer, (24,))


@inlined
def add_leaf_mismatches(points, heights, leaf, point, numbers, buffer):  # OUT: buffer
    """Add what codes that differ from a record's add to its squared distances from all places of a leaf."""
    if heights.shape[0] > 0:
        for i in range(0, LEAF, lanes.LANES):
            distances = lanes.load(buffer, (i,))
            for j in range(heights.shape[0]):
                square = lanes.spread(heights[j] * heights[j])
                codes = lanes.load(points, (leaf, numbers + j, i))
                u = lanes.differing(codes, lanes.spread(point[numbers + j]), square)
                distances = (distances + u) + u
            lanes.store(distances, buffer, (i,))
