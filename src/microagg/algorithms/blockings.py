"""Blocking: a file is cut into blocks of close records, and each block is microaggregated by itself."""

from microagg.algorithms.intervals import INTERVALS, univariate_blocks
from microagg.algorithms.median_tree import median_blocks
from microagg.algorithms.orthants import FUSIONS, orthant_blocks

__all__ = ["BLOCKINGS", "FUSIONS", "INTERVALS", "median_blocks", "orthant_blocks", "univariate_blocks"]

BLOCKINGS = {"median": median_blocks, "orthants": orthant_blocks, "univariate": univariate_blocks}
"""Each way of cutting by the name that `protect` uses.

function(columns (d, n), max_block, k, **options) to labels (n,).
"""
