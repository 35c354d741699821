"""Standard scores that do not depend on the order or the chunking of the records."""

import numpy as np
from numpy.typing import NDArray

from microagg._kernels.sums import exact_sum

_SAFE = 450  # beyond 2**±450 the square of a value, or of its last digit, leaves the range of float64


def moments(column: NDArray[np.float64]) -> tuple[int, float, float]:
    """Give a column's power of two, mean and standard deviation; the latter two of column / 2**power.

    The power is 0 unless the magnitudes are extreme. The deviation of a constant column is 0.
    """
    n = column.shape[0]
    largest = np.abs(column).max()
    power = int(np.frexp(largest)[1])
    power = power if abs(power) > _SAFE and largest > 0 else 0
    scaled = np.ldexp(column, -power) if power else column
    mean = exact_sum(scaled) / n
    if column.max() == column.min():
        return power, mean, 0.0
    return power, mean, float(np.sqrt(exact_sum((scaled - mean) ** 2) / n))


def standardise(column: NDArray[np.float64], power: int, mean: float, deviation: float) -> NDArray[np.float64]:
    """Apply a column's moments to values of its kind; a constant column becomes zeros."""
    if deviation == 0:
        return np.zeros(column.shape[0])
    return np.asarray(((np.ldexp(column, -power) if power else column) - mean) / deviation)


def sum_of_squares(values: NDArray[np.float64]) -> float:
    """Give the exact sum of squares; infinite where it is beyond float64."""
    with np.errstate(over="ignore"):  # files that anybody masked may differ by any amount
        squares = values**2
    return exact_sum(squares) if np.isfinite(squares).all() else float("inf")


def standard_scores(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give the z-scores of each row of `columns` (d, n)."""
    scores = np.empty_like(columns)
    for j, column in enumerate(columns):
        scores[j] = standardise(column, *moments(column))
    return scores


def standard_scores_of_both(
    originals: NDArray[np.float64], released: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give the z-scores of original and released columns (d, n), both by the moments of the originals."""
    before, after = np.empty_like(originals), np.empty_like(released)
    for j, column in enumerate(originals):
        own = moments(column)
        before[j], after[j] = standardise(column, *own), standardise(released[j], *own)
    return before, after
