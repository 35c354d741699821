"""What the ways of cutting share: numbering blocks, and joining those that are too small."""

import heapq
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.equivalence import rows_of
from microagg.algorithms.kernels.groups import number_groups
from microagg.algorithms.kernels.linkage import nearest_others
from microagg.algorithms.kernels.sums import exact_sums, group_means, group_sizes
from microagg.algorithms.kernels.tree import tree_of
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


def centroid_of(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the means of `columns` (d, n)."""
    scale = 2.0**-64 if np.abs(columns).max() > 2.0**900 else 1.0  # sums of the largest numbers would be infinite
    means: NDArray[np.float64] = exact_sums(np.ascontiguousarray(columns * scale)) / columns.shape[1] / scale
    return means


def join_within_limit(columns: NDArray[np.float64], labels: NDArray[np.int64], k: int, most: int) -> NDArray[np.int64]:
    """Join blocks of fewer than k records to others, so that none gets more than `most`.

    One after the other, in the order of their numbers: a small block joins the one with the nearest centroid that has
    room for its records. Where no block has room, it takes what it lacks from the one with the nearest centroid: the
    records nearest to its own. On ties the lowest number, or row, is taken; joined blocks have the lower number. The
    other block keeps more than k, as both together have more than `most`, which is at least 2k.
    """
    members = rows_of(labels)
    sizes = np.array([rows.size for rows in members])
    centroids = np.stack([centroid_of(columns[:, rows]) for rows in members], axis=1)
    small = np.flatnonzero(sizes < k).tolist()  # in order, so that it is a heap
    while small:
        one = heapq.heappop(small)
        others = sizes > 0
        others[one] = False
        if not 0 < sizes[one] < k or not others.any():
            continue
        with_room = others & (sizes + sizes[one] <= most)
        near = with_room if with_room.any() else others
        gaps = squared_gaps(centroids, centroids[:, one])
        other = int(np.argmin(np.where(near, gaps, np.inf)))
        other = other if near[other] else int(np.flatnonzero(near)[0])  # where all are beyond all numbers
        if near is with_room:
            first, last = min(one, other), max(one, other)
            members[first], members[last] = np.sort(np.concatenate([members[one], members[other]])), members[last][:0]
        else:
            order = np.argsort(squared_gaps(columns[:, members[other]], centroids[:, one]), kind="stable")
            lacking = k - members[one].size
            members[one] = np.sort(np.concatenate([members[one], members[other][order[:lacking]]]))
            members[other] = np.sort(members[other][order[lacking:]])
        for changed in (one, other):
            sizes[changed] = members[changed].size
            if sizes[changed]:
                centroids[:, changed] = centroid_of(columns[:, members[changed]])
            if 0 < sizes[changed] < k:
                heapq.heappush(small, changed)
    joined = np.empty_like(labels)
    for number, rows in enumerate(members):
        joined[rows] = number
    number_groups(joined)
    return joined


def squared_gaps(columns: NDArray[np.float64], point: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the squared distance of each of `columns` (d, n) to a point, added up in the order of the columns."""
    found = np.zeros(columns.shape[1])
    for column, value in zip(columns, point, strict=True):
        found += (column - value) ** 2
    return found
