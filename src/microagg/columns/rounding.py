"""Released means without digits that the data never had."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.kernels.sums import exact_digits
from microagg.algorithms.scores import MovedTotal
from microagg.base.frozen import frozen
from microagg.columns.kinds import Cells, Semi
from microagg.columns.steps import MOST_DECIMALS, common_power_of_ten, to_power_of_ten
from microagg.columns.table import Coded, Table
from microagg.work import Progress, tell


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
