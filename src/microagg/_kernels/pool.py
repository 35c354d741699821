"""The records that are in no group yet: what every partitioner draws from."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

LEAF = 32  # records in a leaf of the tree, at most
FAN = 8  # children of a node, at most
TINY = 2.0**-1000  # more than squares can lose by underflow, and next to nothing beside any others
EMPTY = 1 << 62  # the lowest row of a child without live records: above any row


class Pool(NamedTuple):
    """The live records, laid out for one of the two ways to search them; the other's arrays are empty.

    One type for both, so that a partitioner compiles once.
    """

    sums: NDArray[np.float64]  # (d,): column sums of the live records
    counts: NDArray[np.int64]  # (slots in use or records at first, live records, coordinates looked at)
    place: NDArray[np.int64]  # (n,): where each original row lies: its slot, or leaf * LEAF + position

    # Looked at one by one (brute.py): slots in row order.
    columns: NDArray[np.float64]  # (d, n): coordinates by slot
    rows: NDArray[np.int64]  # (n,): the original row in each slot

    # In a tree (tree.py). A child is known by where it stands, node * FAN + position.
    points: NDArray[np.float64]  # (leaves, d, LEAF): coordinates, the live records first
    leaf_rows: NDArray[np.int64]  # (leaves, LEAF): the original row of each
    filled: NDArray[np.int64]  # (leaves,): live records in each leaf
    children: NDArray[np.int64]  # (nodes * FAN,): a node's number, or -1 - a leaf's
    reach: NDArray[np.float64]  # (nodes * FAN,): largest squared distance to the centre in that child
    lowest: NDArray[np.int64]  # (nodes * FAN,): lowest live row in that child, or EMPTY
    parent: NDArray[np.int64]  # (nodes,): where the node stands in its parent
    parent_of_leaf: NDArray[np.int64]  # (leaves,): where the leaf stands in its parent
    low: NDArray[np.float64]  # (nodes, d, FAN): the boxes of the children
    high: NDArray[np.float64]
    centre: NDArray[np.float64]  # (d,): where norms are measured from
    stack_bounds: NDArray[np.float64]  # scratch of one search
    stack: NDArray[np.int64]


def empty_pool(
    sums: NDArray[np.float64], counts: tuple[int, int, int], place: NDArray[np.int64], leaves: int = 0
) -> Pool:
    """Give a pool with room for so many leaves, and no slots."""
    d = sums.shape[0]
    nodes = max(leaves - 1, 1)
    depth = 2 + int(np.ceil(np.log2(leaves + 1)))
    return Pool(
        sums=sums,
        counts=np.array(counts),
        place=place,
        columns=np.empty((d, 0)),
        rows=np.empty(0, dtype=np.int64),
        points=np.zeros((leaves, d, LEAF)),
        leaf_rows=np.zeros((leaves, LEAF), dtype=np.int64),
        filled=np.zeros(leaves, dtype=np.int64),
        children=np.zeros(nodes * FAN, dtype=np.int64),
        reach=np.full(nodes * FAN, -np.inf),
        lowest=np.full(nodes * FAN, EMPTY),
        parent=np.full(nodes, -1),
        parent_of_leaf=np.full(leaves, -1),
        low=np.full((nodes, d, FAN), np.inf),
        high=np.full((nodes, d, FAN), -np.inf),
        centre=np.zeros(d),
        stack_bounds=np.empty(FAN * depth),
        stack=np.empty(FAN * depth, dtype=np.int64),
    )
