"""The 2^d-tree: every column is cut at its midpoint, and again, until blocks are small enough."""

from typing import Any

import numpy as np

from microagg._kernels.blocking import orthants
from microagg.blocking._blocks import SLICE, Columns, Labels, check_most, join_small_blocks, labels_of_ranges


def orthant_blocks(columns: Columns, most: Any, k: Any, *, n_jobs: int = 1) -> Labels:  # noqa: ARG001
    """Label each record of `columns` (d, n) with its leaf; a leaf has at most `most` records before joining."""
    d, n = columns.shape
    most, k = check_most(most, k, n)
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
        height = orthants(columns, most, height, SLICE, order, nodes, boxes, ends)
    return join_small_blocks(columns, labels_of_ranges(order, ends), k)
