"""Bringing columns to a common scale, so that none outweighs the others in a distance."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from microagg.checks import check_option
from microagg.moments import moments, standardise
from microagg.parallel import in_parallel

SCALES = ("standard", "range", "none")


def scale_columns(columns: NDArray[np.float64], scale: str, n_jobs: int = 1) -> NDArray[np.float64]:
    """Scale each row of `columns` (d, n) over the whole file: z-scores, to [0, 1], or not at all."""
    check_option("scale", scale, SCALES)
    if scale == "none":
        return columns
    scaled = np.empty_like(columns)

    def one(j: int, _: Callable[[], None]) -> None:
        column = columns[j]
        scaled[j] = standardise(column, *moments(column)) if scale == "standard" else _to_unit_interval(column)

    in_parallel(one, range(len(columns)), n_jobs)
    return scaled


def _to_unit_interval(column: NDArray[np.float64]) -> NDArray[np.float64]:
    lowest, highest = column.min(), column.max()
    if lowest == highest:
        return np.zeros(column.shape[0])
    # Brought near 1 first, so that neither the width of ±1e308 overflows nor that of ±1e-308 loses digits.
    power = int(np.frexp(max(abs(lowest), abs(highest)))[1])
    scaled = np.ldexp(column, -power)
    return np.asarray((scaled - scaled.min()) / (scaled.max() - scaled.min()))
