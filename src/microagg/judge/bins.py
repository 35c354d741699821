"""Columns in bins: few numbers, however many records."""

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

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
