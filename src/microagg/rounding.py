"""Released means without digits that the data never had."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg._kernels.sums import exact_sum
from microagg.kinds import Cells, Semi
from microagg.moments import moments
from microagg.table import Coded, Table

_MOST_DECIMALS = 12
_DIGITS = 6  # significant digits of the standard deviation, where values have no common step


@dataclass(frozen=True)
class Rounded:
    """How a column was rounded: to multiples of 10**power, and by how much of itself its total moved."""

    power: int
    moved: float

    @property
    def step(self) -> float:
        """What released values are multiples of."""
        return 10.0**self.power


def round_means(
    original: Table, of_groups: Table, labels: NDArray[np.int64], rounding: str | Mapping[Any, float]
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
    """
    asked = rounding if isinstance(rounding, Mapping) else {}
    columns, found = [], {}
    for j, (before, column) in enumerate(zip(original, of_groups, strict=True)):
        own = labels if labels.ndim == 1 else np.ascontiguousarray(labels[:, j])
        cells = column.cells
        if rounding != "none" and column.kind.is_quantity:
            step = asked.get(column.name)
            power = common_power_of_ten(before.cells.known) if step is None else round(math.log10(step))
            cells = Cells(to_power_of_ten(cells.values, power), cells.states)
            cells = _off_reserved(column, cells, power)
            found[column.name] = Rounded(power, _moved(column.cells, cells, np.bincount(own)))
        elif column.reserved:
            cells = _off_reserved(column, cells, common_power_of_ten(before.cells.known))
        columns.append(column.with_cells(cells.take(own)))
    return Table(tuple(columns)), found


def common_power_of_ten(values: NDArray[np.float64]) -> int:
    """Give the power of the largest power of ten that divides every value, as decimal numbers."""
    if values.size == 0 or not values.any():
        return 0
    largest = float(np.abs(values).max())
    if _is_multiple(values, 0):
        power = 0
        while 10.0 ** (power + 1) <= largest and _is_multiple(values, power + 1):
            power += 1
        return power
    for decimals in range(1, _MOST_DECIMALS + 1):
        if largest * 10.0**decimals >= 2.0**53:
            break
        if _is_multiple(values, -decimals):
            return -decimals
    scale, _, deviation = moments(values)
    spread = math.ldexp(deviation, scale)
    return math.floor(math.log10(spread)) - (_DIGITS - 1) if 0 < spread < math.inf else 0


def _is_multiple(values: NDArray[np.float64], power: int) -> bool:
    return bool((to_power_of_ten(values, power) == values).all())


def to_power_of_ten(values: NDArray[np.float64], power: int) -> NDArray[np.float64]:
    """Round values to multiples of 10**power, half to even: to the floats nearest to those decimal numbers."""
    if power >= 0:
        return np.asarray(np.rint(values / 10.0**power) * 10.0**power)
    if power < -300:
        return values
    factor = 10.0**-power
    with np.errstate(over="ignore"):
        multiples = values * factor
    # Beyond 2**53 there is no digit left to round.
    return np.asarray(np.where(np.abs(multiples) < 2.0**53, np.rint(multiples) / factor, values))


def _off_reserved(column: Coded, cells: Cells, power: int) -> Cells:
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
    """Give the first multiple of 10**power below or above a value that is in no range; infinity where there is none."""
    while math.isfinite(value):
        edges = [low if side < 0 else high for low, high in taken if low <= value <= high]
        if not edges:
            return value
        edge = side * max(side * one for one in edges)
        multiple = float(to_power_of_ten(np.array([edge + side * 10.0**power]), power)[0])
        value = side * max(side * multiple, side * math.nextafter(edge, side * math.inf))
    return value


def _moved(before: Cells, after: Cells, sizes: NDArray[np.int64]) -> float:
    """Give how far the total moved, as a share of itself."""
    present = before.present
    known = before.values[present]
    power = -int(np.frexp(np.abs(known).max(initial=0.0))[1])  # no sum overflows
    was, now = np.ldexp(known, power), np.ldexp(after.values[present], power)
    total = exact_sum(was * sizes[present])
    change = exact_sum((now - was) * sizes[present])
    return change / total if total else 0.0
