"""Columns in bins: few numbers, however many records; where an axis of numbers, dates or durations is cut."""

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from microagg.columns.kinds.date import DateForm, DatesSeen
from microagg.judge.parts import Distribution

Values = NDArray[np.float64]

_BINS = 32
_INSIDE = (0.005, 0.995)  # of the original records: beyond, a few outliers would leave the rest one bar
_INSIDE_PUBLIC = (0.05, 0.95)  # of the masked ones: no extreme, not even a group's, can be read off an axis
_PUBLIC_BINS = 16
SMALL_CELL = 10
"""Times k: the fewest records of a bin in the public report.

A bin of k records is one group, and its place shows the group's mean; an outlier can be most of that mean. Of ten
groups no single one, still less a record, can be recognised.
"""


class BinCut(Protocol):
    """Cuts a range into about so many bins: gives the borders, and what they are called where they are no numbers."""

    def __call__(self, low: float, high: float, bins: int, *, whole: bool) -> tuple[Values, tuple[str, ...]]:
        """Return the borders of the bins; `whole`: all values are whole numbers."""


def cut_of_numbers(low: float, high: float, bins: int, *, whole: bool) -> tuple[Values, tuple[str, ...]]:
    """Cut at round numbers."""
    return nice_edges(low, high, bins, whole=whole), ()


def before_and_after(
    name: str, original: Values, masked: Values, cut: BinCut = cut_of_numbers, n_records: tuple[int, int] | None = None
) -> Distribution:
    """Bin a column before and after masking, for the internal report.

    Shares are of `n_records`, before and after, or of all values.
    """
    n, n_after = (original.size, original.size) if n_records is None else n_records
    if not original.size:
        return _undrawn(name, "constant")
    low, high = _quantiles(original, _INSIDE)
    if high <= low:
        low, high = original.min(), original.max()
    if high <= low:
        return _undrawn(name, "constant")
    edges, marks = cut(float(low), float(high), _BINS, whole=_is_whole(original))
    outside = np.count_nonzero((original < edges[0]) | (original > edges[-1]))
    return Distribution(
        column=name,
        edges=tuple(edges.tolist()),
        before=_shares(original, edges, n),
        after=_shares(masked, edges, n_after),
        beyond=round(100.0 * outside / n, 2),
        marks=marks,
    )


def masked_only(
    name: str, masked: Values, k: int, cut: BinCut = cut_of_numbers, n_records: int | None = None
) -> Distribution:
    """Bin a masked column, for the public: no bin of few records, open ends, shares in whole percent."""
    n = masked.size if n_records is None else n_records
    if not masked.size:
        return _undrawn(name, "few")
    low, high = _quantiles(masked, _INSIDE_PUBLIC)
    if high <= low:
        return _undrawn(name, "nearly constant")
    edges, marks = cut(float(low), float(high), _PUBLIC_BINS, whole=False)
    inner = edges[1:-1]
    counts = np.bincount(np.searchsorted(inner, masked, side="right"), minlength=inner.size + 1)
    kept = merge_small(counts.tolist(), SMALL_CELL * k)
    if len(kept) < 3:
        return _undrawn(name, "few")
    # Bin i ends where the next begins; the outer two are open, and drawn as wide as their neighbours.
    bounds = [float(inner[first - 1]) for first in kept[1:]]
    drawn = (2 * bounds[0] - bounds[1], *bounds, 2 * bounds[-1] - bounds[-2])
    totals = np.add.reduceat(counts, kept)
    shares = tuple(float(round(100.0 * total / n)) for total in totals)
    called = ("", *(marks[first] for first in kept[1:]), "") if marks else ()
    return Distribution(name, drawn, (), shares, None, marks=called)


def merge_small(counts: Sequence[int], least: int) -> list[int]:
    """Return the first bin of each run of bins to merge, so that every run holds at least `least` records.

    Empty if all together do not.
    """
    starts: list[int] = []
    total = 0
    for place, found in enumerate(counts):
        if not starts or total >= least:
            starts.append(place)
            total = 0
        total += found
    if total < least:  # the last run is too small: it joins the one before
        starts.pop()
    return starts


def _undrawn(name: str, why: str) -> Distribution:
    return Distribution(name, (), (), (), None, why)


def _quantiles(values: Values, shares: tuple[float, float]) -> Values:
    """Return two quantiles; the difference of two values may be beyond float64, that of halves of them is not."""
    return np.asarray(2.0 * np.quantile(values / 2.0, shares))


def _is_whole(values: Values) -> bool:
    return bool((values == np.rint(values)).all())


def nice_edges(low: float, high: float, bins: int, *, whole: bool) -> Values:
    """Cut a range at round numbers into about so many bins."""
    rough = (high - low) / bins
    power = 10.0 ** math.floor(math.log10(rough)) if rough > 0 and math.isfinite(rough) else 0.0
    if power == 0.0 or not math.isfinite(power) or math.ulp(max(abs(low), abs(high))) * 8 > rough:
        return np.array([low, low / 2 + high / 2, high])  # too narrow, or too wide, for float64 to cut further
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * 0.999)
    shift = 0.0
    if whole and step <= 1:
        step, shift = 1.0, 0.5  # a whole number in the middle of its bin
    first = math.floor(low / step + shift)
    last = max(math.ceil(high / step + shift), first + 2)  # one bin would show nothing
    with np.errstate(over="ignore"):
        edges = np.asarray((np.arange(first, last + 1) - shift) * step)  # multiples of the step: round numbers
    known = edges[np.isfinite(edges)]
    if known.size == edges.size:
        return edges
    return np.unique([low, *known, high])  # values as large as floats go have no rounder ones around them


def _shares(values: Values, edges: Values, n: int) -> tuple[float, ...]:
    """Return the percentage of n records in each bin, the outer two open."""
    places = np.searchsorted(edges[1:-1], values, side="right")
    counts = np.bincount(places, minlength=edges.size - 1)
    return tuple((100.0 * counts / n).round(3).tolist())


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
