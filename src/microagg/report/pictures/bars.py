"""Shares as bars: the categories of a column, or the spike and the missing cells beside its bins."""

from collections.abc import Callable, Sequence
from typing import Any

from markupsafe import Markup

from microagg.judge.parts import Bar, Distribution
from microagg.judge.text import THIN, percent
from microagg.judge.topics.confidential import WorstGroup
from microagg.report.pictures.scales import FONT, Scale, cut_short, text_width
from microagg.report.templates import drawn

_WIDTH, _ROW, _THICK = 300.0, 18.0, 11.0
_BROAD = 360.0  # of a picture whose names are those of classes
_MOST_NAME, _FIGURES = 104.0, 66.0  # room for a category, and for its shares
_SLOT, _BAR, _GAP = 58.0, 30.0, 10.0  # of a bar that stands beside bins


def bars(one: Distribution) -> Markup:
    """Draw the share of each category, one below the other: before as an area, after as an outline."""
    what = "masked" if one.bars[0].before is None else "before and after masking"
    return _drawn(one.bars, f"{one.column}, {what}", bar_words)


def worst_group(one: WorstGroup) -> Markup:
    """Draw the shares of a confidential column's values: in the file as an area, in the worst group as an outline."""
    return _drawn(one.bars, f"{one.column}, in the file and in {one.text}", _words_of_group, _BROAD)


def _drawn(shares: Sequence[Bar], what: str, words: Callable[[Bar], str], width: float = _WIDTH) -> Markup:
    names = [cut_short(bar_name(bar), _MOST_NAME + width - _WIDTH, FONT) for bar in shares]
    left = 8.0 + max(text_width(name, FONT) for name in names)
    longest = max(max(bar.before or 0.0, bar.after) for bar in shares)
    across = Scale(0.0, max(longest, 1e-9), 0.0, width - left - _FIGURES)
    rows = [
        {
            "name": name,
            "y": _ROW * number + (_ROW - _THICK) / 2,
            "before": None if bar.before is None else across(bar.before),
            "after": across(bar.after),
            "figures": _figures(bar),
            "words": words(bar),
        }
        for number, (bar, name) in enumerate(zip(shares, names, strict=True))
    ]
    label = f"{what}. {'. '.join(map(words, shares))}."
    height = _ROW * len(rows)
    return drawn("bars", label=label, width=width, height=height, left=left, thick=_THICK, rows=rows)


def apart(one: Distribution, top: float, floor: float) -> tuple[list[dict[str, Any]], float]:
    """Return the bars that stand beside a column's bins, as high as all records together, and where the bins begin."""
    up = Scale(0.0, 100.0, floor, top)
    found = [
        {
            "x": _SLOT * number + (_SLOT - _BAR) / 2,
            "wide": _BAR,
            "middle": _SLOT * (number + 0.5),
            "before": None if bar.before is None else up(bar.before),
            "after": up(bar.after),
            "name": cut_short(bar_name(bar), _SLOT, FONT),
            "figures": _figures(bar),
            "words": bar_words(bar),
        }
        for number, bar in enumerate(one.bars)
    ]
    return found, _SLOT * len(found) + _GAP if found else 0.0


def bar_name(bar: Bar) -> str:
    """Return what a bar is of."""
    if bar.of == "missing":
        return "missing"
    if bar.of == "others":
        return f"{bar.label} others" if bar.label else "others"
    return "zero" if bar.of == "spike" and bar.label == "0" else bar.label


def _figures(bar: Bar) -> str:
    """Write the shares as short as can be: before and after, or what is released."""
    if bar.before is None:
        return percent(bar.after)
    return f"{_share(bar.before)}{THIN}→{THIN}{_share(bar.after)}"


def _share(value: float) -> str:
    return f"{value:.1f}" if 0.05 <= value < 99.95 or value in (0.0, 100.0) else f"{value:.2f}"


def _words_of_group(bar: Bar) -> str:
    return f"{bar_name(bar)}: {percent(bar.before)} of the file, {percent(bar.after)} of the group"


def bar_words(bar: Bar) -> str:
    """Return in words what a bar shows."""
    shares = percent(bar.after)
    if bar.before is not None:
        shares = f"{percent(bar.before)} before, {percent(bar.after)} after"
    return f"{bar_name(bar)}: {shares}"
