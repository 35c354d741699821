"""Cuts by rank in the widest column, into blocks that are nearly full."""

from collections.abc import Callable
from typing import Any

import numpy as np

from microagg._kernels.blocking import medians
from microagg.blocking._blocks import SLICE, Columns, Labels, check_most, labels_of_ranges
from microagg.parallel import in_parallel


def median_blocks(columns: Columns, most: Any, k: Any, *, n_jobs: int = 1) -> Labels:
    """Label each record of `columns` (d, n) with one of ⌈n / most⌉ blocks of nearly equal size.

    Sizes are multiples of k but for one block, so that microaggregation leaves no records over; `most` is
    rounded down to such a multiple.
    """
    n = columns.shape[1]
    most, k = check_most(most, k, n)
    most -= most % k
    order, keys, ends = np.arange(n), np.empty(n), np.zeros(n, dtype=np.int64)
    open_nodes = [(0, n, -(-n // most))]  # a range of `order`, and how many blocks to make of it

    def cut(node: tuple[int, int, int], check: Callable[[], None], budget: int = SLICE, once: bool = False) -> Any:
        stack = np.zeros((128, 3), dtype=np.int64)  # nodes are halved: deeper than any file
        stack[0] = node
        state = np.array([1])
        while state[0] > 0:  # Python regains control between slices
            medians(columns, k, most, order, keys, stack, state, budget, ends)
            check()
            if once:
                break
        return [tuple(left) for left in stack[: state[0]].tolist()]

    while len(open_nodes) < n_jobs and open_nodes[-1][2] > 1:  # one cut after the other, until each thread has a part
        open_nodes.sort(key=lambda node: node[1] - node[0])
        open_nodes += cut(open_nodes.pop(), lambda: None, budget=1, once=True)
    in_parallel(cut, open_nodes, n_jobs)
    return labels_of_ranges(order, ends)
