"""Released means without digits that the data never had."""

import math
from collections.abc import Mapping
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
            cells = _rounded(column, power)
            found[column.name] = Rounded(power, _moved(column.cells, cells, np.bincount(own)))
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


def _rounded(column: Coded, power: int) -> Cells:
    cells = column.cells
    values = to_power_of_ten(cells.values, power)
    if isinstance(column.kind, Semi):
        # A mean off the spike must not become one: the next multiple on its side.
        onto = (values == column.kind.spike) & (cells.values != column.kind.spike)
        side = np.sign(cells.values - column.kind.spike)
        values = np.where(onto, to_power_of_ten(column.kind.spike + side * 10.0**power, power), values)
    return Cells(values, cells.states)


def _moved(before: Cells, after: Cells, sizes: NDArray[np.int64]) -> float:
    """Give how far the total moved, as a share of itself."""
    present = before.present
    known = before.values[present]
    power = -int(np.frexp(np.abs(known).max(initial=0.0))[1])  # no sum overflows
    was, now = np.ldexp(known, power), np.ldexp(after.values[present], power)
    total = exact_sum(was * sizes[present])
    change = exact_sum((now - was) * sizes[present])
    return change / total if total else 0.0
