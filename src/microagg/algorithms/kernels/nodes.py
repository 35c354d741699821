"""Nodes of a tree of cuts over records that lie in the order of their rows: passes from the first row to the last.

Every record is in a node, and every node that is to be cut has a slot (-1: none). `entries` (d, n) may lie in a file
that is mapped into memory; rows from `begin` to `end` are looked at, `nodes` (end - begin,) are theirs.
"""

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.kernels._jit import kernel


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
