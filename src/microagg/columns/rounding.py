"""Released means without digits that the data never had: which powers of ten divide the values of a column."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.kernels.sums import exact_digits
from microagg.algorithms.scores import MovedTotal, moments
from microagg.base.frozen import frozen
from microagg.columns.kinds import Cells, Semi
from microagg.columns.table import Coded, Table
from microagg.work import Progress, tell

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


@frozen()
class Rounded:
    """How a column was rounded: to multiples of 10**power, and by how much of itself its total moved."""

    power: int
    moved: float

    @property
    def step(self) -> float:
        """What released values are multiples of."""
        return 10.0**self.power


def power_asked(name: Any, rounding: str | Mapping[Any, float]) -> int | None:
    """Return the power of ten that is asked for; None: what divides every value says it."""
    step = rounding.get(name) if isinstance(rounding, Mapping) else None
    return None if step is None else round(math.log10(step))


def is_rounded(column: Coded, rounding: str | Mapping[Any, float]) -> bool:
    """Return whether what groups release of a column is rounded."""
    return rounding != "none" and column.kind.is_quantity


def round_means(
    original: Table,
    of_groups: Table,
    labels: NDArray[np.int64],
    rounding: str | Mapping[Any, float],
    weights: NDArray[np.float64] | None = None,
    progress: Progress | None = None,
) -> tuple[Table, dict[Any, Rounded]]:
    """Round what groups release of quantities; give what each record gets, and how each column was rounded.

    Parameters
    ----------
    original : Table
    of_groups : Table
        What each group releases, a record a group.
    labels : array of shape (n,), or (n, d) where each column has groups of its own
    rounding : str or mapping
        "none"; "auto": to the largest power of ten that divides every value, else to six significant digits of the
        standard deviation; a mapping has powers of ten for some columns, and "auto" is for the others.
    weights : array of shape (n,), optional
        By which totals are taken, to know how far rounding moved them.
    progress : callable, optional
        Called as progress(columns done, columns in all).
    """
    columns, found = [], {}
    for j, (before, column) in enumerate(zip(original, of_groups, strict=True)):
        own = labels if labels.ndim == 1 else np.ascontiguousarray(labels[:, j])
        cells = column.cells
        if is_rounded(column, rounding):
            asked = power_asked(column.name, rounding)
            power = common_power_of_ten(before.cells.known) if asked is None else asked
            cells, moved = round_cells(column, power, np.bincount(own, weights))
            found[column.name] = Rounded(power, moved.share)
        elif column.reserved:
            cells = off_reserved(column, cells)
        columns.append(column.with_cells(cells.take(own)))
        tell(progress, len(columns), len(original))
    return Table(tuple(columns)), found


def round_cells(column: Coded, power: int, sizes: NDArray[Any]) -> tuple[Cells, MovedTotal]:
    """Round what groups of these sizes, or weights, release to multiples of 10**power; return how that moved totals."""
    cells = column.cells
    values = off_reserved(column, Cells(to_power_of_ten(cells.values, power), cells.states), power).values
    present = cells.present
    before, after, sizes = cells.values[present], values[present], sizes[present]
    # A total of values near the largest float overflows; only its share that moved is reported.
    power = -100 if np.abs(before).max(initial=0.0) > 2.0**900 else 0
    before, after = np.ldexp(before, power), np.ldexp(after, power)
    return Cells(values, cells.states), MovedTotal(exact_digits(before * sizes), exact_digits((after - before) * sizes))


def off_reserved(column: Coded, cells: Cells, power: int = -MOST_DECIMALS) -> Cells:
    """Move values that a reader would take for something else to the nearest multiple of 10**power that is free.

    These are means that would be read as missing, and means off the spike that were rounded onto it.
    """
    means, values, taken = column.cells.values, cells.values.copy(), list(column.reserved)
    hit = np.zeros(values.size, dtype=bool)
    for low, high in taken:
        hit |= (values >= low) & (values <= high)
    if isinstance(column.kind, Semi):
        spike = column.kind.spike
        hit |= (values == spike) & (means != spike)
        taken.append((spike, spike))
    for group in np.flatnonzero(hit & cells.present):
        free = [_beyond(values[group], side, taken, power) for side in (-1, 1)]
        values[group] = min(filter(math.isfinite, free), key=lambda value: abs(value - means[group]))
    return Cells(values, cells.states)


def _beyond(value: float, side: int, taken: Sequence[tuple[float, float]], power: int) -> float:
    """The first multiple of 10**power below or above a value that is in no range; infinity where there is none."""
    while math.isfinite(value):
        edges = [low if side < 0 else high for low, high in taken if low <= value <= high]
        if not edges:
            return value
        edge = side * max(side * one for one in edges)
        multiple = float(to_power_of_ten(np.array([edge + side * 10.0**power]), power)[0])
        value = side * max(side * multiple, side * math.nextafter(edge, side * math.inf))
    return value
