"""Cuts by rank in the widest column, into blocks that are nearly full."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms._blocks import SLICE, check_block_size, labels_of_ranges
from microagg.algorithms.kernels.blocking import medians
from microagg.work import Progress, in_parallel, tell

_Node = tuple[int, int, int]  # a range of the order of rows, its begin and end, and how many blocks to make of it


def median_blocks(columns: NDArray[np.float64], max_block: Any, k: Any, *, n_jobs: int = 1) -> NDArray[np.int64]:
    """Label each record of `columns` (d, n) with one of ⌈n / max_block⌉ blocks of nearly equal size.

    Sizes are multiples of k but for one block, so that microaggregation leaves no records over; `max_block` is
    rounded down to such a multiple.
    """
    return labels_of_ranges(*median_ranges(columns, np.ones(columns.shape[0]), max_block, k, n_jobs=n_jobs))


def blocks_needed(n: int, max_block: int, k: int) -> int:
    """Return the number of blocks of at most `max_block` records, rounded down to a multiple of k."""
    return -(-n // (max_block - max_block % k))


def median_pieces(
    columns: NDArray[np.float64],
    scales: NDArray[np.float64],
    max_block: int,
    k: int,
    *,
    rows: NDArray[np.int64],
    blocks: int | None = None,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> list[NDArray[np.int64]]:
    """List the rows of each block of some rows, in order; see `median_ranges`."""
    if (blocks_needed(rows.size, max_block, k) if blocks is None else blocks) == 1:
        return [rows]
    order, ends = median_ranges(
        columns, scales, max_block, k, rows=rows, blocks=blocks, n_jobs=n_jobs, progress=progress
    )
    return [np.sort(block) for block in np.split(order, np.flatnonzero(ends)[:-1] + 1)]


def median_ranges(
    columns: NDArray[np.float64],
    scales: NDArray[np.float64],
    max_block: Any,
    k: Any,
    *,
    rows: NDArray[np.int64] | None = None,
    blocks: int | None = None,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
    """Return the rows in an order in which each block is a range, and where blocks end (1).

    A column is as wide as its range times its scale. `columns` may lie in a file that is mapped into memory; with
    `rows`, only those are cut; `blocks` is how many to make of them, if a larger cut has settled that.
    """
    n = columns.shape[1] if rows is None else rows.size
    max_block, k = check_block_size(max_block, k, n)
    max_block -= max_block % k
    order = np.arange(n) if rows is None else rows.copy()
    keys, ends = np.empty(n), np.zeros(n, dtype=np.int8)
    blocks = blocks_needed(n, max_block, k) if blocks is None else blocks
    open_nodes = [(0, n, blocks)]

    def cut(node: _Node, check: Callable[[], None], budget: int = SLICE, once: bool = False) -> list[_Node]:
        stack = np.zeros((128, 3), dtype=np.int64)  # nodes are halved: deeper than any file
        stack[0] = node
        height = 1
        while height > 0:  # Python regains control between slices
            height = medians(columns, scales, k, max_block, height, budget, order, keys, stack, ends)
            check()
            tell(progress, 0, n)
            if once:
                break
        return [(begin, end, parts) for begin, end, parts in stack[:height].tolist()]

    # One cut after the other, until each thread has a part.
    while len(open_nodes) < n_jobs and open_nodes[-1][2] > 1:
        open_nodes += cut(open_nodes.pop(), lambda: None, budget=1, once=True)
        open_nodes.sort(key=lambda node: node[1] - node[0])
    in_parallel(cut, open_nodes, n_jobs)
    return order, ends
