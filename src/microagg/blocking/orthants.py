"""The 2^d-tree: every column is cut at its midpoint, and again, until blocks are small enough."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg._kernels.blocking import orthants
from microagg.blocking._blocks import SLICE, check_block_size, join_small_blocks, labels_of_ranges


def orthant_blocks(
    columns: NDArray[np.float64],
    max_block: Any,
    k: Any,
    *,
    n_jobs: int = 1,  # noqa: ARG001 - every way of cutting takes it
) -> NDArray[np.int64]:
    """Label each record of `columns` (d, n) with its block, of at most `max_block` records before small ones join."""
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
    return join_small_blocks(columns, labels_of_ranges(order, ends), k)
