"""Axes: where a value is drawn, where the ticks are, how they and long names are written."""

import math
import unicodedata
from collections.abc import Sequence
from itertools import pairwise

from microagg.base.frozen import frozen
from microagg.judge.text import THIN
from microagg.report.templates import px

FONT = 11.0
"""The size of a picture's letters, unless it says otherwise."""

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0, 20.0)
_UNITS = ((1e9, "G"), (1e6, "M"), (1e4, "k"))  # from where on an axis is written in thousands, and so on
_NARROW, _BROAD = frozenset("iljtfrI.,:;'|!()[]{} "), frozenset("mwMW@%&")


@frozen()
class Scale:
    """From the values of an axis to places on it."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Return the place of a value."""
        span = self.high / 2 - self.low / 2  # whose double may be beyond float64
        share = (value / 2 - self.low / 2) / span if span > 0 else 0.5
        return self.start + share * (self.end - self.start)


@frozen()
class Tick:
    """A mark on an axis."""

    place: float
    label: str


def around(values: Sequence[float], share: float = 0.06) -> tuple[float, float]:
    """Return the ends of an axis on which these values stand clear of the border."""
    low, high = min(values), max(values)
    room = share * (high - low) or max(1.0, 0.05 * abs(high))
    return low - room, high + room


def ticks(scale: Scale, low: float, high: float, most: int, least: float = 0.0) -> list[Tick]:
    """Mark at most so many round values between two on an axis, no closer than `least`, all with room for a label."""
    found: list[Tick] = []
    for number in range(most, 1, -1):
        values = round_values(low, high, number, least)
        found = [Tick(scale(value), label) for value, label in zip(values, labels(values), strict=True)]
        widest = max((text_width(tick.label, FONT) for tick in found), default=0.0)
        if widest + FONT <= min((abs(b.place - a.place) for a, b in pairwise(found)), default=math.inf):
            return found
    return found[:1]  # two labels would touch


def round_values(low: float, high: float, most: int, least: float = 0.0) -> list[float]:
    """List at most so many values between two, all multiples of one round step; one where float64 has no more."""
    rough = (high / 2 - low / 2) / most * 2
    if not (math.isfinite(rough) and rough > 8 * math.ulp(max(abs(low), abs(high))) and rough > 1e-300):
        return [low]
    power = 10.0 ** math.floor(math.log10(rough))
    for step in (power * factor for factor in _STEPS):
        if step < least or step in (2.5, 0.25):  # which puts decimals between whole numbers, or more than others
            continue
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first < most:
            return [number * step for number in range(first, last + 1)]
    return [low]


def labels(values: Sequence[float]) -> list[str]:
    """Write the values of an axis in one form: as few digits as distinguish them, 20 000 as 20k."""
    largest = max(map(abs, values), default=0.0)
    if largest and not 1e-4 <= largest < 1e15:
        return [_minus(f"{value:.3g}") if value else "0" for value in values]
    for least, unit in _UNITS:
        size = 1e3 if unit == "k" else least
        if largest >= least and _decimals(values, size) <= 1:
            return [_written(value / size, _decimals(values, size)) + (unit if value else "") for value in values]
    return [_written(value, _decimals(values, 1.0)) for value in values]


def exact(value: float) -> str:
    """Write one value in full, as a border of a bin is."""
    if value and not 1e-4 <= abs(value) < 1e15:
        return _minus(f"{value:.6g}")
    return _minus(f"{value + 0.0:,.10g}".replace(",", THIN if abs(value) >= 1e4 else ""))


def _decimals(values: Sequence[float], unit: float) -> int:
    """Count the decimals that it takes to write all of these."""
    return next(
        (n for n in range(8) if all(math.isclose(v / unit, round(v / unit, n), abs_tol=1e-9) for v in values)), 8
    )


def _written(value: float, decimals: int) -> str:
    if value == 0:
        return "0"
    written = f"{value:,.{decimals}f}"
    return _minus(written.replace(",", THIN if abs(value) >= 1e4 else ""))  # 2005 may be a year


def _minus(written: str) -> str:
    return written.replace("-", "−")


def text_width(text: str, size: float) -> float:
    """Estimate how wide a text is, whatever the font."""
    return size * sum(map(_share_of_size, text))


def _share_of_size(char: str) -> float:
    if unicodedata.combining(char) or char in "\u200c\u200d":
        return 0.0
    if unicodedata.east_asian_width(char) in "WF":
        return 1.0
    if char in _NARROW:
        return 0.38
    return 0.95 if char in _BROAD else 0.72 if char.isupper() else 0.62


def cut_short(name: str, widest: float, size: float) -> str:
    """Return a name, or as much of its beginning as fits."""
    if text_width(name, size) <= widest:
        return name
    kept = name
    while kept and text_width(kept + "…", size) > widest:
        kept = kept[:-1]
    return f"{kept.rstrip()}…"


def steps(places: Sequence[float], levels: Sequence[float], floor: float) -> str:
    """Return the outline of an area of bars from their borders and tops, as an SVG path."""
    path = [f"M{px(places[0])} {px(floor)}"]
    for right, level in zip(places[1:], levels, strict=True):
        path.append(f"V{px(level)}H{px(right)}")
    return "".join([*path, f"V{px(floor)}Z"])
