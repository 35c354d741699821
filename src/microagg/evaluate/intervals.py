"""Interval disclosure: whether all values of a record lie close to its masked ones."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from microagg._kernels.intervals import count_rank_misses
from microagg.moments import moments, standardise
from microagg.parallel import in_parallel

PERCENTS = range(1, 11)


@dataclass(frozen=True)
class Intervals:
    """The share of records, in percent, all of whose values lie within p percent of the masked ones."""

    by_percent: tuple[float, ...]  # at p = 1 .. 10
    counts: tuple[int, ...]

    @property
    def mean(self) -> float:
        """The mean over p."""
        return sum(self.by_percent) / len(self.by_percent)


def rank_intervals(
    original: NDArray[np.float64], masked: NDArray[np.float64], n_jobs: int = 1
) -> tuple[Intervals, Intervals]:
    """Count the records whose every value lies between the masked values p percent of ranks below and above.

    Equal masked values are ranked by row in the first figures; in the second they share the mean of their ranks.
    """
    d, n = original.shape
    widths = np.array([percent * n // 100 for percent in PERCENTS])

    def misses(column: int, check: Callable[[], None]) -> NDArray[np.int8]:
        check()
        order = np.argsort(masked[column], kind="stable")
        by_row, tied = np.empty((2, n), dtype=np.int8)
        count_rank_misses(masked[column][order], original[column][order], widths, by_row, tied)
        counts = np.empty((2, n), dtype=np.int8)
        counts[0, order], counts[1, order] = by_row, tied
        return counts

    most = np.zeros((2, n), dtype=np.int8)
    for start in range(0, d, n_jobs):  # a few at a time, so that the counts do not pile up
        for counts in in_parallel(misses, range(start, min(start + n_jobs, d)), n_jobs):
            np.maximum(most, counts, out=most)
    return _shares(most[0]), _shares(most[1])


def deviation_intervals(original: NDArray[np.float64], masked: NDArray[np.float64]) -> Intervals:
    """Count the records whose every value is within p percent of a standard deviation of the masked one."""
    missed = np.zeros(original.shape[1], dtype=np.int8)
    for values, released in zip(original, masked, strict=True):
        own = moments(values)
        # A constant column becomes zeros in both files; where it was changed all the same, that must show.
        gap = (
            np.abs(standardise(values, *own) - standardise(released, *own))
            if own[2] > 0
            else np.where(values == released, 0.0, np.inf)
        )
        outside = np.zeros(gap.size, dtype=np.int8)
        for percent in PERCENTS:
            outside += gap > percent / 100
        np.maximum(missed, outside, out=missed)
    return _shares(missed)


def _shares(missed: NDArray[np.int8]) -> Intervals:
    """Count the records inside each interval from how many each one misses: a wider one holds the narrower."""
    inside = np.cumsum(np.bincount(missed, minlength=len(PERCENTS)))[: len(PERCENTS)]
    return Intervals(tuple((100.0 * inside / missed.size).tolist()), tuple(inside.tolist()))
