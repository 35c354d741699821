"""Cutting a file into blocks of records that lie close to each other.

Beyond memory, the nodes of a tree of cuts are found by passes over the records in the order of their rows. Every record
is in a node, and every node that is to be cut has a slot (-1: none). `entries` (d, n) may lie in a file that is mapped
into memory; rows from `begin` to `end` are looked at, `nodes` (end - begin,) are theirs.
"""

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.kernels._jit import inlined, kernel
from microagg.algorithms.kernels.tree import BEGIN, END, bring_lowest_first

# Beside BEGIN and END, the range of the order of records: the next column to cut, or the blocks to make of a node.
COLUMN = BLOCKS = 2
LOW, HIGH = 0, 1  # the ends of a box


@kernel
def orthants(columns, max_block, height, budget, order, nodes, boxes, ends):  # OUT: from order on
    """Cut nodes at the midpoint of every column until each has at most `max_block` records.

    `nodes` and `boxes` are stacks of a `height`: a node's range of `order` and the next column to cut (d: none
    of this round is left), and its box (2, d). `ends` (n,) gets 1 where a block ends. Ends when the stack is
    empty or full, or the budget is used up, and returns its height.
    """
    d = columns.shape[0]
    while 0 < height < nodes.shape[0] and budget > 0:
        height -= 1
        top = height
        begin, end, j = nodes[top, BEGIN], nodes[top, END], nodes[top, COLUMN]
        if j == d:
            if end - begin <= max_block or not advance(columns, order, begin, end, boxes[top]):
                ends[end - 1] = 1
                continue
            budget -= (end - begin) * d
            j = 0
        # Cut by one column; both parts go on with the next.
        low, high = boxes[top, LOW, j], boxes[top, HIGH, j]
        cut = midpoint(low, high)
        middle = begin
        if low < high:
            # Records at or above the cut to the right; the order within each part does not matter.
            right = end - 1
            while middle <= right:
                if columns[j, order[middle]] < cut:
                    middle += 1
                else:
                    order[middle], order[right] = order[right], order[middle]
                    right -= 1
            budget -= end - begin
        for side in range(2):
            first, last = (begin, middle) if side == 0 else (middle, end)
            if first < last:
                if side == 1 and begin < middle:  # the left part lies on the stack already
                    for c in range(d):
                        boxes[height, LOW, c], boxes[height, HIGH, c] = boxes[top, LOW, c], boxes[top, HIGH, c]
                if low < high:
                    boxes[height, LOW, j], boxes[height, HIGH, j] = (low, cut) if side == 0 else (cut, high)
                nodes[height, BEGIN], nodes[height, END], nodes[height, COLUMN] = first, last, j + 1
                height += 1
    return height


@inlined
def midpoint(low, high):
    """The middle of an interval: above its lower end, so that every cut of two different ends separates them."""
    middle = low / 2.0 + high / 2.0
    return middle if middle > low else high


@inlined
def advance(columns, order, begin, end, box):  # OUT: box
    """Halve a box as long as all its records stay in one half of every column; return if they part after that.

    An outlier can leave all others in one of 2^d parts a thousand times over; this looks at them once.
    """
    d = columns.shape[0]
    low, high = np.empty(d), np.empty(d)
    varied = False
    for j in range(d):
        lowest, highest = np.inf, -np.inf
        for i in range(begin, end):
            value = columns[j, order[i]]
            lowest, highest = min(lowest, value), max(highest, value)
        low[j], high[j] = lowest, highest
        varied |= lowest < highest
    apart = not varied
    while not apart:
        for j in range(d):
            cut = midpoint(box[LOW, j], box[HIGH, j])
            apart |= box[LOW, j] < box[HIGH, j] and low[j] < cut <= high[j]
        if not apart:
            for j in range(d):
                if box[LOW, j] < box[HIGH, j]:
                    cut = midpoint(box[LOW, j], box[HIGH, j])
                    if low[j] >= cut:
                        box[LOW, j] = cut
                    else:
                        box[HIGH, j] = cut
    return varied


@inlined
def lower_part(n, blocks, k, max_block):
    """Return how many of a node's records go to the lower half of its blocks: a multiple of k, in proportion."""
    left = blocks // 2
    right = blocks - left
    least = max(k * left, -(-(n - right * max_block) // k) * k)
    greatest = min(left * max_block, n - k * right) // k * k
    return min(max((n * left // blocks + k // 2) // k * k, least), greatest)


@kernel
def medians(columns, scales, k, max_block, height, budget, order, keys, nodes, ends):  # OUT: from order on
    """Cut nodes in two by rank in their widest column until each is to be one block.

    A column in which more than half of a node's records have its lowest value, or its highest, as most have that of
    "is it this category", is passed over for the next widest: its median parts nobody. `widest_to_cut` says so too.
    A column is as wide as its range times its scale. `nodes` is a stack, of a `height`, of ranges of `order` and the
    number of blocks to make of each; sizes are multiples of k wherever the number of records allows. Ends when it is
    empty or the budget is used up, and returns its height.
    """
    d = columns.shape[0]
    lows, highs, spans = np.empty(d), np.empty(d), np.empty(d)
    while height > 0 and budget > 0:
        height -= 1
        top = height
        begin, end, blocks = nodes[top, BEGIN], nodes[top, END], nodes[top, BLOCKS]
        n = end - begin
        if blocks == 1:
            ends[end - 1] = 1
            continue
        left = blocks // 2
        right = blocks - left
        size = lower_part(n, blocks, k, max_block)
        for j in range(d):
            lowest, highest = np.inf, -np.inf
            for i in range(begin, end):
                value = columns[j, order[i]]
                lowest, highest = min(lowest, value), max(highest, value)
            lows[j], highs[j] = lowest, highest
            spans[j] = (highest - lowest) * scales[j]
        widest = np.argmax(spans)
        j = widest
        while True:
            at_low, at_high = 0, 0
            for i in range(begin, end):
                key = columns[j, order[i]]
                keys[i] = key
                at_low += key == lows[j]
                at_high += key == highs[j]
            if 2 * max(at_low, at_high) <= n:
                break
            spans[j] = -1.0
            budget -= 2 * n
            j = np.argmax(spans)
            if spans[j] <= 0.0:  # nothing parts them better
                for i in range(begin, end):
                    keys[i] = columns[widest, order[i]]
                break
        bring_lowest_first(order, keys, begin, end, begin + size)
        budget -= n * (d + 4)
        nodes[top, BEGIN], nodes[top, END], nodes[top, BLOCKS] = begin, begin + size, left
        nodes[top + 1, BEGIN], nodes[top + 1, END], nodes[top + 1, BLOCKS] = begin + size, end, right
        height += 2
    return height


def widest_to_cut(
    ranges: NDArray[np.float64], scales: NDArray[np.float64], at_ends: NDArray[np.int64], sizes: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the column by which each node is cut, as `medians` chooses it, from what is known of nodes.

    Of shape (d, nodes) are `ranges`, from the lowest to the highest value, and `at_ends`, how many records have one of
    these, that which more have.
    """
    spans = ranges * scales[:, None]
    widest = np.argmax(spans, axis=0)
    parting = np.where(2 * at_ends > sizes, -1.0, spans)
    best = np.argmax(parting, axis=0)
    return np.asarray(np.where(np.max(parting, axis=0) > 0.0, best, widest))


@kernel
def see_extremes(entries, begin, end, nodes, slots, lowest, highest, at_lowest, at_highest):  # OUT: from lowest on
    """Find the least and greatest entries of each slot (d, slots), and how many records have them."""
    for j in range(entries.shape[0]):
        for i in range(begin, end):
            slot = slots[nodes[i - begin]]
            if slot < 0:
                continue
            value = entries[j, i]
            if value < lowest[j, slot]:
                lowest[j, slot], at_lowest[j, slot] = value, 1
            elif value == lowest[j, slot]:
                at_lowest[j, slot] += 1
            if value > highest[j, slot]:
                highest[j, slot], at_highest[j, slot] = value, 1
            elif value == highest[j, slot]:
                at_highest[j, slot] += 1


@kernel
def gather_keys(entries, begin, end, nodes, slots, columns, places, keys):  # OUT: places, keys
    """Lay the entry by which each record's node is cut beside those of the same slot, from `places` on."""
    for i in range(begin, end):
        slot = slots[nodes[i - begin]]
        if slot >= 0:
            keys[places[slot]] = entries[columns[slot], i]
            places[slot] += 1


@kernel
def send_to_parts(entries, begin, end, slots, columns, keys, uppers, taken, nodes):  # OUT: taken, nodes
    """Send records above their slot's key to its upper part, and of those with just that key all but `taken`."""
    for i in range(begin, end):
        slot = slots[nodes[i - begin]]
        if slot < 0:
            continue
        value = entries[columns[slot], i]
        if value < keys[slot]:
            continue
        if value == keys[slot] and taken[slot] > 0:
            taken[slot] -= 1
        else:
            nodes[i - begin] = uppers[slot]


@kernel
def count_digits(entries, nodes, slots, columns, prefixes, shift, width, counts):  # OUT: counts
    """Count the records of each slot by `width` bits of their keys, from bit `shift` on, where those above are as said.

    Keys are the entries as integers of the same order: `key_of_bits` turns one back. `counts` has 2**width for a slot.
    """
    sign, bins = np.uint64(1) << np.uint64(63), np.uint64(1) << np.uint64(width)
    for i in range(nodes.size):
        slot = slots[nodes[i]]
        if slot < 0:
            continue
        bits = entries[columns[slot], i]
        key = sign if bits == sign else ~bits if bits & sign else bits | sign  # one for both zeros
        digits = key >> np.uint64(shift)
        above = digits >> np.uint64(width) if shift + width < 64 else np.uint64(0)
        if above == prefixes[slot]:
            counts[slot, digits & (bins - np.uint64(1))] += 1


def key_of_bits(keys: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Return the entries that keys stand for."""
    sign = np.uint64(1 << 63)
    return np.where(keys & sign, keys ^ sign, ~keys).view(np.float64)


@kernel
def places_of(nodes, following, places):  # OUT: following, places
    """Return the place of each record where nodes lie one after the other; the next of each node is in `following`."""
    for i in range(nodes.size):
        places[i] = following[nodes[i]]
        following[nodes[i]] += 1
