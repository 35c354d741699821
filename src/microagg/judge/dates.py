"""Where an axis of dates, times or durations is cut, and what the borders are called."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.columns.dates import DateForm, DatesSeen
from microagg.judge.bins import BinCut, nice_edges

_STEPS = (
    ("s", 1), ("s", 5), ("s", 15), ("m", 1), ("m", 5), ("m", 15), ("h", 1), ("h", 3), ("h", 6), ("D", 1), ("D", 2),
    ("D", 7), ("M", 1), ("M", 2), ("M", 3), ("M", 6), ("Y", 1), ("Y", 2), ("Y", 5), ("Y", 10), ("Y", 20), ("Y", 50),
    ("Y", 100), ("Y", 500), *(("Y", 10**power) for power in range(3, 12)),
)  # fmt: skip
"""Steps of a calendar, the finest first; seconds reach over hundreds of billions of years."""

_FARTHEST = 9.1e18  # of what int64 can count: nearer to its end, numpy loses the sign

_LENGTHS = (("d", 86_400.0), ("h", 3_600.0), ("min", 60.0), ("s", 1.0))
_PER_SECOND = {"s": 1.0, "ms": 1e3, "us": 1e6}


def cut_of_dates(series: Any, name: Any) -> BinCut:
    """Return how the axis of a column of dates is cut, by how its file stores them."""
    array = series.to_arrow()
    seen = DatesSeen(array.type, name)
    seen.see(array)
    form = seen.form()
    unit = _unit(form)
    if str(form.type).startswith("duration"):
        return _cut_of_lengths(_PER_SECOND[unit])
    is_time = str(form.type).startswith("time3") or str(form.type).startswith("time6")
    return _cut_of_calendar(unit, _clock if is_time else _day)


def _unit(form: DateForm) -> str:
    """The unit in which dates are counted: nanoseconds are by the microsecond, instants at midnight by the day."""
    if form.coarser > 1000:
        return "D"
    unit = str(getattr(form.type, "unit", "D"))
    return "us" if unit == "ns" else unit


def _cut_of_calendar(unit: str, called: Callable[[np.datetime64, str], str]) -> BinCut:
    """Cut at beginnings of years, months, days, hours, ..."""

    def cut(low: float, high: float, bins: int, *, whole: bool) -> tuple[NDArray[np.float64], tuple[str, ...]]:  # noqa: ARG001
        ends = (
            np.clip([np.floor(low), np.ceil(high)], -_FARTHEST, _FARTHEST)
            .astype(np.int64)
            .astype(f"datetime64[{unit}]")
        )
        for by, step in _STEPS:
            zero = 1970 if by == "Y" else 0  # years are round by their own number
            lowest, highest = ((ends.astype(f"datetime64[{by}]").astype(np.int64) + zero) // step).tolist()
            if highest - lowest < bins:
                break
        numbers = np.arange(lowest, max(highest + 1, lowest + 2) + 1) * step - zero  # one bin would show nothing
        if by == "Y" and unit != "D":  # a round year may be beyond what the unit can count
            farthest = np.array([-_FARTHEST, _FARTHEST]).astype(np.int64).astype(f"datetime64[{unit}]")
            first, last = farthest.astype("datetime64[Y]").astype(np.int64).tolist()
            numbers = numbers[(numbers > first) & (numbers <= last)]
        edges = numbers.astype(f"datetime64[{by}]")
        units = edges.astype(f"datetime64[{unit}]").astype(np.int64)
        return units.astype(np.float64), tuple(called(edge, by) for edge in edges)

    return cut


def _day(edge: np.datetime64, by: str) -> str:
    """Write a border as far as its step needs: 2026, 2026-01, 2026-01-31, 2026-01-31 12:00."""
    return str(edge.astype("datetime64[m]") if by == "h" else edge).replace("T", " ")


def _clock(edge: np.datetime64, by: str) -> str:
    """Write a time of day."""
    return _day(edge, by).partition(" ")[2] or "00:00"


def _cut_of_lengths(per_second: float) -> BinCut:
    """Cut durations at round numbers of days, hours, minutes or seconds."""

    def cut(low: float, high: float, bins: int, *, whole: bool) -> tuple[NDArray[np.float64], tuple[str, ...]]:  # noqa: ARG001
        wide = (high - low) / per_second
        unit, seconds = next((one for one in _LENGTHS if wide >= 4.0 * one[1]), _LENGTHS[-1])
        size = seconds * per_second
        edges = nice_edges(low / size, high / size, bins, whole=False)
        return edges * size, tuple(f"{edge:g}\u00a0{unit}" for edge in edges)

    return cut
