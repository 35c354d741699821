"""Estimates before and after: each original interval as a bar, the masked estimate as a mark in or beside it."""

from typing import Any

from markupsafe import Markup

from microagg.judge.text import counted
from microagg.judge.topics.results import JudgedResults, ResultLine, word_of
from microagg.report.pictures.scales import FONT, Scale, cut_short
from microagg.report.templates import drawn

_WIDTH, _ROW, _HEAD, _THICK = 510.0, 18.0, 20.0, 10.0
_NAMES, _INDENT = 196.0, 12.0  # room for what is estimated, and how far figures of one analysis are indented
_START, _END = 206.0, 398.0  # of what is drawn; the interval has the middle half
_LOW, _HIGH = 254.0, 350.0
_GAP = 6.0  # between analyses


def estimates(found: JudgedResults) -> Markup:
    """Draw for each estimate the interval of the original, scaled to itself, and where the masked estimate lies."""
    heads: list[dict[str, Any]] = []
    rows: list[dict[str, Any]] = []
    y = 0.0
    for block in found.blocks:
        y += _GAP if y else 0.0
        if not block.single:
            heads.append({"y": y + _HEAD / 2, "name": cut_short(block.analysis, _WIDTH * 0.92, FONT)})
            y += _HEAD
        for line in block.lines:
            rows.append(_row(line, y, block.single))
            y += _ROW
    within = sum(one.within for one in found.lines)
    return drawn(
        "results",
        label=f"{counted(len(found.lines), 'estimate')}, of which {within} are within the interval of the original. "
        f"The table that follows has the figures.",
        width=_WIDTH,
        height=y,
        start=_START,
        end=_END,
        low=_LOW,
        high=_HIGH,
        thick=_THICK,
        row=_ROW,
        heads=heads,
        rows=rows,
    )


def _row(line: ResultLine, y: float, single: bool) -> dict[str, Any]:
    left = 0.0 if single else _INDENT
    has = line.low is not None and line.high is not None
    flat = has and line.low == line.high
    return {
        "y": y + _ROW / 2,
        "x": left,
        "strong": single,
        "name": cut_short(line.what, 0.92 * _NAMES, FONT)
        if single
        else cut_short(_values_of(line.part), _NAMES - left, FONT),
        "bar": has and not flat,
        "at": _place(line, line.before),
        "mark": _place(line, line.after),
        "within": line.within,
        "word": word_of(line),
        "words": line.sentence,
    }


def _values_of(part: str) -> str:
    """Return the values of a domain without the names of its columns, which the heading has."""
    return ", ".join(one.partition(" = ")[2] or one for one in part.split(", "))


def _place(line: ResultLine, value: float | None) -> float | None:
    """Return where a value lies on the scale of its own interval, beyond what is drawn where it is farther away."""
    if value is None or line.low is None or line.high is None:
        return None
    if line.low == line.high:
        middle = (_LOW + _HIGH) / 2
        return middle if value == line.low else _START - 1.0 if value < line.low else _END + 1.0
    return Scale(line.low, line.high, _LOW, _HIGH)(value)
