"""Standard scores that do not depend on the order or the chunking of the records."""

from collections.abc import Callable, Generator
from functools import partial
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.kernels.sums import exact_sum, round_digits

_SAFE = 450  # beyond 2**±450 the square of a value, or of its last digit, leaves the range of float64

Result = TypeVar("Result")
Terms = Callable[[NDArray[np.float64]], NDArray[np.float64]]
Sums = Generator[Terms, float, Result]
"""What follows from exact sums over a column: it yields what is to be summed of the values, and is sent the sum.

So there is one definition, wherever the values are: in memory, on a disk, or on many machines.
"""


def summed(steps: Sums[Result], add: Callable[[Terms], float]) -> Result:
    """Return what follows from sums; `add` sums terms over all values."""
    try:
        terms = next(steps)
        while True:
            terms = steps.send(add(terms))
    except StopIteration as end:
        result: Result = end.value
        return result


def moments(column: NDArray[np.float64]) -> tuple[int, float, float]:
    """Return a column's power of two, mean and standard deviation; the latter two of column / 2**power.

    The power is 0 unless the magnitudes are extreme. The deviation of a constant column is 0.
    """
    steps = moments_by_sums(column.shape[0], float(column.min()), float(column.max()))
    return summed(steps, lambda terms: exact_sum(terms(column)))


def moments_by_sums(n: int, lowest: float, highest: float) -> Sums[tuple[int, float, float]]:
    """Return the moments of n values between these two."""
    largest = max(abs(lowest), abs(highest))
    power = int(np.frexp(largest)[1])
    power = power if abs(power) > _SAFE and largest > 0 else 0
    mean = (yield partial(_scaled, power=power)) / n
    if lowest == highest:
        return power, mean, 0.0
    squares = yield partial(_squared_distances, power=power, mean=mean)
    return power, mean, float(np.sqrt(squares / n))


def squares_by_sums(n: float, power: int, mean: float, deviation: float) -> Sums[float]:
    """Return the sum of squares of n standard scores, or of scores that weigh n, about their mean."""
    scores = partial(standardise, power=power, mean=mean, deviation=deviation)
    total = yield scores
    return (yield partial(_squares_about, scores=scores, middle=total / n))


def _scaled(values: NDArray[np.float64], power: int) -> NDArray[np.float64]:
    with np.errstate(over="ignore"):  # masked values may be far larger than the original ones
        return np.asarray(np.ldexp(values, -power)) if power else values


def _squared_distances(values: NDArray[np.float64], power: int, mean: float) -> NDArray[np.float64]:
    with np.errstate(over="ignore"):
        return np.asarray((_scaled(values, power) - mean) ** 2)


def _squares_about(values: NDArray[np.float64], scores: Terms, middle: float) -> NDArray[np.float64]:
    with np.errstate(over="ignore"):
        return np.asarray((scores(values) - middle) ** 2)


def standardise(column: NDArray[np.float64], power: int, mean: float, deviation: float) -> NDArray[np.float64]:
    """Apply a column's moments to values of its kind; a constant column becomes zeros."""
    if deviation == 0:
        return np.zeros(column.shape[0])
    with np.errstate(over="ignore"):
        return np.asarray((_scaled(column, power) - mean) / deviation)


def sum_of_squares(values: NDArray[np.float64]) -> float:
    """Return the exact sum of squares; infinite where it is beyond float64."""
    with np.errstate(over="ignore"):  # files that anybody masked may differ by any amount
        squares = values**2
    return exact_sum(squares) if np.isfinite(squares).all() else float("inf")


def standard_scores(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the z-scores of each row of `columns` (d, n)."""
    scores = np.empty_like(columns)
    for j, column in enumerate(columns):
        scores[j] = standardise(column, *moments(column))
    return scores


class MovedTotal(NamedTuple):
    """The total of a column, and what was added to it by rounding, say, as exact sums that can be joined."""

    total: NDArray[np.int64]
    change: NDArray[np.int64]

    def join(self, other: "MovedTotal") -> "MovedTotal":
        """Return the sums of both."""
        return MovedTotal(self.total + other.total, self.change + other.change)

    @property
    def share(self) -> float:
        """How far the total moved, as a share of itself."""
        total = round_digits(self.total)
        return round_digits(self.change) / total if total else 0.0
