"""Which powers of ten divide the values of a column: what its figures are multiples of."""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.scores import moments
from microagg.base.frozen import frozen

MOST_DECIMALS = 12
_DIGITS = 6  # significant digits of the standard deviation, where values have no common step
_HIGHEST = 6  # the largest power of ten whose multiples are counted, down to that of so many decimals
_FEW_DIGITS = 1e9  # decimals are counted as such while they have at most so many digits: a random float has 16
FINEST = 3
"""Released values may have so many more decimals than nearly all of the column's own."""


@frozen()
class Steps:
    """Which powers of ten divide every value, as decimal numbers; what is known of several parts can be joined.

    Attributes
    ----------
    largest : float
        Of the values' magnitudes.
    above : int
        How many powers in a row, from 1 on, divide every value.
    below : int
        Bit d - 1 is set where 10**-d divides every value.
    n_values : int
        How many values are not 0.
    of_powers : tuple of int
        For how many of these each power, from 10**6 down to 10**-12, is the largest that divides the value. Decimals of
        more than nine digits are left out.
    """

    largest: float = 0.0
    above: int = 1000
    below: int = (1 << MOST_DECIMALS) - 1
    n_values: int = 0
    of_powers: tuple[int, ...] = (0,) * (_HIGHEST + MOST_DECIMALS + 1)

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> "Steps":
        """Find out what divides some values."""
        if values.size == 0 or not values.any():
            return cls()
        largest = float(np.abs(values).max())
        counts = int(np.count_nonzero(values)), _count_powers(values)
        above = 0
        while (above == 0 or 10.0**above <= largest) and _is_multiple(values, above):
            above += 1
        if above > 0:
            return cls(largest, above, cls.below, *counts)
        below = 0
        for decimals in range(1, MOST_DECIMALS + 1):
            # More decimals of the same numbers are multiples as well, while products are exact enough to see that.
            if (below and largest * 10.0**decimals < 2.0**50) or _is_multiple(values, -decimals):
                below |= 1 << (decimals - 1)
        return cls(largest, above, below, *counts)

    def join(self, other: "Steps") -> "Steps":
        """Return what is known of both."""
        largest = max(self.largest, other.largest)
        of_powers = tuple(map(sum, zip(self.of_powers, other.of_powers, strict=True)))
        n_values = self.n_values + other.n_values
        return Steps(largest, min(self.above, other.above), self.below & other.below, n_values, of_powers)

    @property
    def usual(self) -> int | None:
        """The largest power that divides nine in ten values; None where half or more have too many digits to count.

        A value of 0 does not count, and among others neither does one with too many digits.
        """
        if self.largest > 0 and self.above - 1 > _HIGHEST:
            return self.above - 1
        counted = sum(self.of_powers)
        if 2 * counted <= self.n_values:
            return None
        reached = np.cumsum(self.of_powers)
        return _HIGHEST - int(np.argmax(10 * reached >= 9 * counted))

    def power(self, spread: Callable[[], float]) -> int:
        """Return the largest power that divides every value; else that of six digits of the standard deviation.

        A few values with more decimals do not make it finer than a thousandth of what nearly all are multiples of.
        """
        if self.largest == 0:
            return 0
        power, usual = self._common(spread), self.usual
        return power if usual is None else max(power, usual - FINEST)

    def _common(self, spread: Callable[[], float]) -> int:
        if self.above > 0:
            return self.above - 1
        for decimals in range(1, MOST_DECIMALS + 1):
            if self.largest * 10.0**decimals >= 2.0**53:
                break
            if self.below >> (decimals - 1) & 1:
                return -decimals
        deviation = spread()
        return math.floor(math.log10(deviation)) - (_DIGITS - 1) if 0 < deviation < math.inf else 0


def spread_of(scale: int, _: float, deviation: float) -> float:
    """Return the standard deviation that follows from moments."""
    return math.ldexp(deviation, scale)


def common_power_of_ten(values: NDArray[np.float64]) -> int:
    """Return the power of the largest power of ten that divides every value, as decimal numbers."""
    return Steps.of(values).power(lambda: spread_of(*moments(values)))


def _count_powers(values: NDArray[np.float64]) -> tuple[int, ...]:
    """Return how many values have each power of ten as the largest that divides them; see `Steps.of_powers`."""
    rest = values[values != 0]
    decimals = np.clip(np.floor(np.log10(_FEW_DIGITS) - np.log10(np.abs(rest))), 0, MOST_DECIMALS)
    factors = 10.0**decimals
    rest = rest[np.rint(rest * factors) / factors == rest]  # the others have too many digits
    found = []
    for power in range(_HIGHEST, -MOST_DECIMALS - 1, -1):
        divided = to_power_of_ten(rest, power) == rest
        found.append(int(np.count_nonzero(divided)))
        rest = rest[~divided]
    return tuple(found)


def _is_multiple(values: NDArray[np.float64], power: int) -> bool:
    few = values[:256]  # which mostly decide
    return bool((to_power_of_ten(few, power) == few).all() and (to_power_of_ten(values, power) == values).all())


def to_power_of_ten(values: NDArray[np.float64], power: int) -> NDArray[np.float64]:
    """Round values to multiples of 10**power, half to even: to the floats nearest to those decimal numbers."""
    if power >= 0:
        return np.asarray(np.rint(values / 10.0**power) * 10.0**power + 0.0)  # no negative zero, which texts show
    if power < -300:
        return values
    factor = 10.0**-power
    with np.errstate(over="ignore"):
        multiples = values * factor
    # Beyond 2**53 there is no digit left to round.
    return np.asarray(np.where(np.abs(multiples) < 2.0**53, np.rint(multiples) / factor + 0.0, values))
