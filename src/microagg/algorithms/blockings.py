"""Blocking: a file is cut into blocks of close records, and each block is microaggregated by itself.

Beside the trees, which have files of their own, blocks can lie along one column: intervals of equal width, as in the
paper on the 2^d-tree, or of equal count.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms._blocks import check_block_size, join_small_blocks
from microagg.algorithms.kernels.groups import number_groups
from microagg.algorithms.median_tree import median_blocks
from microagg.algorithms.orthants import FUSIONS, orthant_blocks
from microagg.checks import check_option
from microagg.errors import InvalidParameter, a_type

__all__ = ["BLOCKINGS", "FUSIONS", "INTERVALS", "median_blocks", "orthant_blocks", "univariate_blocks"]

INTERVALS = ("width", "count")


def univariate_blocks(
    columns: NDArray[np.float64], max_block: Any, k: Any, *, column: Any = 0, by: str = "width", n_jobs: int = 1
) -> NDArray[np.int64]:
    """Label each record of `columns` (d, n) with its interval of one column, of ⌈n / max_block⌉."""
    d, n = columns.shape
    max_block, k = check_block_size(max_block, k, n)
    check_option("by", by, INTERVALS)
    if isinstance(column, bool) or not isinstance(column, (int, np.integer)) or not 0 <= column < d:
        shown = column if isinstance(column, (int, np.integer)) else a_type(column)
        raise InvalidParameter(f"column={shown} is not one of the {d} columns. Pass 0 to {d - 1}.", parameter="column")
    values = np.ascontiguousarray(columns[column])[None, :]
    if by == "count":
        return median_blocks(values, max_block, k, n_jobs=n_jobs)
    power = int(np.frexp(np.abs(values).max())[1])
    scaled = np.ldexp(values[0], -power)  # so that the range neither overflows nor vanishes
    lowest, spread = scaled.min(), np.ptp(scaled)
    intervals = -(-n // max_block)
    labels = np.zeros(n, dtype=np.int64)
    if spread > 0:
        labels = np.minimum(((scaled - lowest) / spread * intervals).astype(np.int64), intervals - 1)
    number_groups(labels)
    return join_small_blocks(values, labels, k)


BLOCKINGS = {"median": median_blocks, "orthants": orthant_blocks, "univariate": univariate_blocks}
"""Each way of cutting by the name that `protect` uses.

function(columns (d, n), max_block, k, **options) to labels (n,).
"""
