"""How a partitioner shares time with its caller: kernels work in slices, Python regains control between."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from microagg._kernels.groups import FREE
from microagg._kernels.pool import Pool, make_pool

Progress = Callable[[int, int], None]
"""Called as progress(records done, records in all); what it raises stops the work."""

SLICE = 50_000_000
"""Coordinates a kernel may look at before it returns: some 0.03 s of work."""


def start(columns: NDArray[np.float64]) -> tuple[Pool, NDArray[np.int64]]:
    """Give a pool of all records, and labels that leave all of them free."""
    return make_pool(columns), np.full(columns.shape[1], FREE)


def remaining(pool: Pool) -> int:
    """Count the records that are in no group yet."""
    return int(pool.counts[1])


def tell(progress: Progress | None, done: int, total: int) -> None:
    """Report progress to whoever asked for it."""
    if progress is not None:
        progress(done, total)
