"""What the ways of cutting share: numbering blocks, and joining those that are too small."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg._kernels.groups import number_groups
from microagg._kernels.linkage import nearest_others
from microagg._kernels.sums import group_means, group_sizes
from microagg._kernels.tree import tree_of
from microagg.checks import check_enough_records, check_k, check_max_block

SLICE = 20_000_000
"""Values looked at before Python regains control: some 0.1 s."""


def check_block_size(max_block: Any, k: Any, n: int) -> tuple[int, int]:
    """Return the most records a block may have, and k, or say what they must be."""
    k = check_k(k)
    check_enough_records(n, k)
    return check_max_block(max_block, k), k


def labels_of_ranges(order: NDArray[np.int64], ends: NDArray[np.int8]) -> NDArray[np.int64]:
    """Number the blocks, which are ranges of `order`, by their lowest row."""
    labels = np.empty(order.size, dtype=np.int64)
    labels[order] = np.cumsum(ends, dtype=np.int64) - ends
    number_groups(labels)
    return labels


def join_small_blocks(columns: NDArray[np.float64], labels: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """Join each block of fewer than k records to that with the nearest centroid, until none is left.

    In rounds: every small block picks the nearest other one, on ties the one that holds the lowest row, and
    blocks connected by picks become one.
    """
    from scipy.sparse import coo_array  # few files have small blocks, and it takes long to import
    from scipy.sparse.csgraph import connected_components

    labels = labels.copy()
    while True:
        n_blocks = int(labels.max()) + 1
        sizes = group_sizes(labels, n_blocks)
        small = np.flatnonzero(sizes < k)
        if small.size == 0 or n_blocks == 1:
            return labels
        centroids = group_means(columns, labels, n_blocks)
        picked = nearest_others(tree_of(centroids), small)
        graph = coo_array((np.ones(small.size), (small, picked)), shape=(n_blocks, n_blocks))
        joined = connected_components(graph, directed=False)[1]
        labels = joined[labels].astype(np.int64)
        number_groups(labels)
