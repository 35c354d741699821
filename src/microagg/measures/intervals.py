"""Interval disclosure: whether all values of a record lie close to its masked ones."""

from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.kernels.linkage import count_rank_misses
from microagg.algorithms.scores import moments, standardise
from microagg.base.frozen import frozen
from microagg.columns.table import Coded, Table
from microagg.work import ALONE, Work

PERCENTS = range(1, 11)

Found = TypeVar("Found")


@frozen()
class Intervals:
    """The share of records, in percent, all of whose values lie within p percent of the masked ones."""

    by_percent: tuple[float, ...]  # at p = 1 .. 10
    counts: tuple[int, ...]

    @property
    def mean(self) -> float:
        """The mean over p."""
        return sum(self.by_percent) / len(self.by_percent)


def rank_intervals(original: Table, masked: Table, work: Work = ALONE) -> tuple[Intervals, Intervals]:
    """Count the records whose every value lies between the masked values p percent of ranks below and above.

    Equal masked values are ranked by row in the first figures; in the second they share the mean of their ranks.
    Categories without an order must be equal, and so must missing values.
    """
    d, n = len(original), original.n_records
    widths = np.array([percent * n // 100 for percent in PERCENTS])

    def misses(column: int, check: Callable[[], None]) -> NDArray[np.int8]:
        check()
        before, after = original.columns[column].cells, masked.columns[column].cells
        rows = comparable(original.columns[column], masked.columns[column])
        counts = np.where(before.classes == after.classes, 0, len(PERCENTS)) * np.ones((2, 1), dtype=np.int8)
        counts = counts.astype(np.int8)
        if rows.size == 0:
            return counts
        order = rows[np.argsort(after.values[rows], kind="stable")]
        by_row, tied = np.empty((2, rows.size), dtype=np.int8)
        own = widths if rows.size == n else np.array([percent * rows.size // 100 for percent in PERCENTS])
        count_rank_misses(after.values[order], before.values[order], own, by_row, tied)
        counts[0, order], counts[1, order] = by_row, tied
        return counts

    most = np.zeros((2, n), dtype=np.int8)
    for counts in _of_columns(misses, d, work):
        np.maximum(most, counts, out=most)
    return _shares(most[0]), _shares(most[1])


def comparable(before: Coded, after: Coded) -> NDArray[np.int64]:
    """Return the rows in which two versions of a column with an order both have a value."""
    if not before.kind.is_ordered:
        return np.empty(0, dtype=np.int64)
    return np.flatnonzero(before.cells.present & after.cells.present)


def deviation_intervals(original: Table, masked: Table, work: Work = ALONE) -> Intervals:
    """Count the records whose every value is within p percent of a standard deviation of the masked one."""

    def gaps(column: int, check: Callable[[], None]) -> NDArray[np.float64]:
        check()
        before, after = original.columns[column], masked.columns[column]
        gap = np.where(before.cells.classes == after.cells.classes, 0.0, np.inf)
        rows = comparable(before, after)
        own = moments(before.cells.known) if rows.size else (0, 0.0, 0.0)
        # A constant column becomes zeros in both files; where it was changed all the same, that must show.
        if own[2] > 0:
            values, released = before.values[rows], after.values[rows]
            gap[rows] = np.abs(standardise(values, *own) - standardise(released, *own))
        return gap

    widest = np.zeros(original.n_records)
    for own in _of_columns(gaps, len(original), work):
        np.maximum(widest, own, out=widest)
    missed = np.zeros(widest.size, dtype=np.int8)
    for percent in PERCENTS:
        missed += widest > percent / 100
    return _shares(missed)


def _of_columns(find: Callable[[int, Callable[[], None]], Found], n_columns: int, work: Work) -> Iterator[Found]:
    """Yield what is found of each column; of a few at a time, so that it does not pile up."""
    for start in range(0, n_columns, work.n_jobs):
        stop = min(start + work.n_jobs, n_columns)
        yield from work.part(start, stop, n_columns).each(find, range(start, stop))


def _shares(missed: NDArray[np.int8]) -> Intervals:
    """Count the records inside each interval from how many each one misses: a wider one holds the narrower."""
    inside = np.cumsum(np.bincount(missed, minlength=len(PERCENTS)))[: len(PERCENTS)]
    return Intervals(tuple((100.0 * inside / missed.size).tolist()), tuple(inside.tolist()))
