"""The 2^d-tree: every column is cut at its midpoint, and again, until blocks are small enough.

A. Solanas, A. Martínez-Ballesté, J. Domingo-Ferrer, J. M. Mateo-Sanz: A 2^d-tree-based blocking method for
microaggregating very large data sets. ARES 2006. Blocks of fewer than k records are fused with others (section 2.3);
"limited" is the supervised fusion of its footnote 1, which keeps the upper limit.
"""

from collections import deque
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms._blocks import (
    SLICE,
    centroid_of,
    check_block_size,
    join_small_blocks,
    join_within_limit,
    labels_of_ranges,
)
from microagg.algorithms.kernels.blocking import orthants
from microagg.checks import check_option

FUSIONS = ("nearest", "limited")
"""Which block takes in one of fewer than k records: the nearest, or the nearest that has room."""


def orthant_blocks(
    columns: NDArray[np.float64],
    max_block: Any,
    k: Any,
    *,
    fusion: str = "nearest",
    n_jobs: int = 1,  # noqa: ARG001 - every way of cutting takes it
) -> NDArray[np.int64]:
    """Label each record of `columns` (d, n) with its block, of at most `max_block` records before small ones join."""
    check_option("fusion", fusion, FUSIONS)
    d, n = columns.shape
    max_block, k = check_block_size(max_block, k, n)
    order = np.arange(n)
    ends = np.zeros(n, dtype=np.int8)
    nodes = np.zeros((64 + 4 * d, 3), dtype=np.int64)
    boxes = np.zeros((nodes.shape[0], 2, d))
    nodes[0] = 0, n, d
    boxes[0] = columns.min(axis=1), columns.max(axis=1)
    height = 1
    while height > 0:  # Python regains control between slices
        if height == nodes.shape[0]:
            nodes = np.concatenate([nodes, np.zeros_like(nodes)])
            boxes = np.concatenate([boxes, np.zeros_like(boxes)])
        height = orthants(columns, max_block, height, SLICE, order, nodes, boxes, ends)
    leaves = labels_of_ranges(order, ends)
    if fusion == "limited":
        return join_within_limit(columns, leaves, k, max_block)
    return join_small_blocks(columns, leaves, k)


class OrthantNode(NamedTuple):
    """A node of a 2^d-tree.

    Attributes
    ----------
    parent : int
        The number of the node that it is a part of, which is lower than its own; -1 of the root.
    level : int
        How many times its box was halved. Halving that leaves all records in one part makes no node.
    n_records : int
    lower, upper : arrays of shape (d,)
        The limits of its box. A record on a cut is in the upper part.
    centroid : array of shape (d,)
        The means of its records.
    block : int
        Of a leaf, the block that its records are in when small ones have joined; -1 of a node that is cut. With limited
        fusion a leaf can give records away: it is the block of the first of them.
    """

    parent: int
    level: int
    n_records: int
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    centroid: NDArray[np.float64]
    block: int

    @property
    def is_leaf(self) -> bool:
        """Whether it is not cut."""
        return self.block >= 0


def orthant_nodes(columns: NDArray[np.float64], max_block: int, blocks: NDArray[np.int64]) -> tuple[OrthantNode, ...]:
    """List the nodes of the tree of `columns` (d, n), the root first; `blocks` are what `orthant_blocks` found."""
    waiting = deque([(-1, 0, np.arange(columns.shape[1]), columns.min(axis=1), columns.max(axis=1))])
    found: list[OrthantNode] = []
    while waiting:
        parent, level, rows, lower, upper = waiting.popleft()
        own = np.take(columns, rows, axis=1)
        lowest, highest = own.min(axis=1), own.max(axis=1)
        is_leaf = rows.size <= max_block or not np.any(lowest < highest)
        block = int(blocks[rows[0]]) if is_leaf else -1
        found.append(OrthantNode(parent, level, rows.size, lower, upper, centroid_of(own), block))
        apart = np.full(lower.size, is_leaf)
        while not apart.any():  # a half that holds all records makes no node
            cuts = _cuts(lower, upper)
            apart = (lower < upper) & (lowest < cuts) & (cuts <= highest)
            level += 1
            if not apart.any():
                lower, upper = _half(lower, upper, cuts, lowest >= cuts)
        for part in () if is_leaf else _parts(own[apart] >= cuts[apart, None]):
            half = _half(lower, upper, cuts, own[:, part[0]] >= cuts)
            waiting.append((len(found) - 1, level, rows[part], *half))
    return tuple(found)


def _cuts(lower: NDArray[np.float64], upper: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return where a box is cut: as the kernel's `midpoint`."""
    middle = lower / 2.0 + upper / 2.0
    return np.where(middle > lower, middle, upper)


def _parts(above: NDArray[np.bool_]) -> list[NDArray[np.int64]]:
    """Return the records of each part, from the side of each cut (d, n) that they are on, in the order of the sides."""
    code = np.zeros(above.shape[1], dtype=np.int64)
    for side in above:
        code = 2 * code + side
        if code.max() >= 2**15:
            code = np.unique(code, return_inverse=True)[1]
    order = np.argsort(code.astype(np.int64 if code.max() >= 2**15 else np.int16), kind="stable")
    return np.split(order, np.flatnonzero(np.diff(code[order])) + 1)


def _half(
    lower: NDArray[np.float64], upper: NDArray[np.float64], cuts: NDArray[np.float64], above: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the box of one of the 2^d parts: in each column the part above the cut, or below it."""
    flat = lower == upper
    return np.where(above | flat, np.where(flat, lower, cuts), lower), np.where(above | flat, upper, cuts)
