"""The compared releases by risk and loss."""

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from microagg.base.frozen import frozen
from microagg.judge.text import number as plain
from microagg.judge.text import percent
from microagg.measures.criterion import Criterion
from microagg.report.alternatives import MapSection
from microagg.report.pictures.scales import Scale, around, cut_short, text_width, ticks
from microagg.report.templates import drawn, px

_LEFT, _RIGHT, _TALL = 50.0, 668.0, 330.0
_FONT = 12.0
_ROW = 20.0
_LINES = 8  # colours
_ASIDE = ((7, -7, "start"), (-7, 15, "end"), (-7, -7, "end"), (7, 15, "start"))  # where a point's k may stand
_FURTHER = ((0, -14, "middle"), (0, 23, "middle"), (14, 4, "start"), (-14, 4, "end"))  # and where that is taken
_SHARED = 22.0  # as near as this, points of one k share its number
_SMALL = 11.0
_MARKERS = (
    "M0-4.5A4.5 4.5 0 1 1 0 4.5A4.5 4.5 0 1 1 0-4.5Z",
    "M-4-4H4V4H-4Z",
    "M0-5.6L5.6 0L0 5.6L-5.6 0Z",
    "M0-5.2L5 4H-5Z",
    "M0 5.2L5-4H-5Z",
    "M-1.7-5H1.7V-1.7H5V1.7H1.7V5H-1.7V1.7H-5V-1.7H-1.7Z",
    "M-4.6-2.3L-2.3-4.6L0-2.3L2.3-4.6L4.6-2.3L2.3 0L4.6 2.3L2.3 4.6L0 2.3L-2.3 4.6L-4.6 2.3L-2.3 0Z",
)


@frozen()
class Link:
    """Where a point leads on a page that has more to say of it.

    Attributes
    ----------
    address : str
    chosen : bool
        Whether it is the one that the reader has chosen.
    more : tuple of str
        What is said of the point after its figures.
    """

    address: str
    chosen: bool = False
    more: tuple[str, ...] = ()


_Point = tuple[int, float, float, Link | None]


def risk_map(found: MapSection, links: Sequence[Link] = ()) -> Markup:
    """Draw risk against loss: a line and a mark for each method through its k, the efficient ones ringed.

    With a link for each candidate, in their order, each point is one, with a name that can be spoken.
    """
    methods: dict[str, list[_Point]] = {}
    for place, one in enumerate(found.candidates):
        loss, risk = one.figures[found.axis.name], one.figures["G_DR"]
        if loss is not None and risk is not None:
            methods.setdefault(one.method, []).append((one.k, loss, risk, links[place] if links else None))
    if not methods:
        return Markup("")
    entries, rows = _legend(list(methods))
    top = 8.0 + rows * _ROW
    floor = top + _TALL
    judged = [point for points in methods.values() for point in points]
    ends = (_RIGHT, _LEFT) if found.axis.higher else (_LEFT, _RIGHT)  # the better ones are on the left
    across = Scale(*around([loss for _, loss, _, _ in judged]), *ends)
    up = Scale(*around([risk for _, _, risk, _ in judged]), floor, top)
    efficient = {(loss, risk): (across(loss), up(risk)) for loss, risk in sorted(found.frontier)}
    lines = [
        _line(number, name, points, across, up, efficient, found.axis)
        for number, (name, points) in enumerate(methods.items())
    ]
    return drawn(
        "risk_map",
        loss=found.axis.label,
        label=_label(found),
        linked=bool(links),
        left=_LEFT,
        right=_RIGHT,
        top=top,
        floor=floor,
        across=ticks(across, across.low, across.high, 9),
        up=ticks(up, up.low, up.high, 7),
        legend=entries,
        frontier=_through(list(efficient.values())),
        rings=list(efficient.values()),
        lines=lines,
        numbers=_numbers(
            [(mark["x"], mark["y"], mark["k"]) for line in lines for mark in line["marks"]], list(efficient.values())
        ),
    )


def _line(
    number: int,
    name: str,
    points: list[_Point],
    across: Scale,
    up: Scale,
    efficient: dict[tuple[float, float], tuple[float, float]],
    axis: Criterion,
) -> dict[str, Any]:
    """Place a method's points in the order of k."""
    points = sorted(points, key=lambda point: point[:3])
    marks = [
        {
            "x": across(loss),
            "y": up(risk),
            "k": k,
            "link": link,
            "words": f"{name}, k {'= ' if link is None else ''}{k}: {_said(axis, loss)}, risk {percent(risk)}"
            + (", efficient" if (loss, risk) in efficient else "")
            + "".join(f", {words}" for words in (link.more if link else ())),
        }
        for k, loss, risk, link in points
    ]
    return {
        "colour": number % _LINES,
        "marker": _MARKERS[number % len(_MARKERS)],
        "path": _through([(across(loss), up(risk)) for _, loss, risk, _ in points]),
        "marks": marks,
    }


def _numbers(points: Sequence[tuple[float, float, int]], rings: Sequence[tuple[float, float]]) -> list[dict[str, Any]]:
    """Set the k of each point where it hides no point, ring or other number; points close by share one."""
    labelled: list[tuple[float, float, int]] = []
    taken = [(x - 5.0, y - 5.0, x + 5.0, y + 5.0) for x, y, _ in points]
    taken += [(x - 10.0, y - 10.0, x + 10.0, y + 10.0) for x, y in rings]
    found = []
    for x, y, k in points:
        if any(k == other and abs(x - at) + abs(y - high) < _SHARED for at, high, other in labelled):
            continue
        boxes = [(_box(x + dx, y + dy, str(k), anchor), (dx, dy, anchor)) for dx, dy, anchor in (*_ASIDE, *_FURTHER)]
        box, (dx, dy, anchor) = min(boxes, key=lambda one: sum(_overlap(one[0], other) for other in taken))
        taken.append(box)
        labelled.append((x, y, k))
        found.append({"x": x + dx, "y": y + dy, "anchor": anchor, "k": k})
    return found


def _box(x: float, y: float, text: str, anchor: str) -> tuple[float, float, float, float]:
    """Return the left, upper, right and lower end of a text that stands at a place."""
    wide = text_width(text, _SMALL)
    left = x - {"start": 0.0, "middle": wide / 2, "end": wide}[anchor]
    return left, y - 9.0, left + wide, y + 1.0


def _overlap(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    wide = min(one[2], other[2]) - max(one[0], other[0])
    tall = min(one[3], other[3]) - max(one[1], other[1])
    return wide * tall if wide > 0 and tall > 0 else 0.0


def _through(places: Sequence[tuple[float, float]]) -> str:
    """Return the path through some places; none through one."""
    return "M" + "L".join(f"{px(x)} {px(y)}" for x, y in places) if len(places) > 1 else ""


def _legend(names: Sequence[str]) -> tuple[list[dict[str, object]], int]:
    """Set the methods' names in rows above the plot, after what the ring means."""
    x, row = _LEFT, 0
    entries: list[dict[str, object]] = []
    for number, name in enumerate(["", *names]):
        shown = cut_short(name, 220.0, _FONT) if number else "efficient"
        wide = 30.0 + text_width(shown, _FONT) + 18.0
        if x > _LEFT and x + wide > _RIGHT:
            x, row = _LEFT, row + 1
        own = {"colour": (number - 1) % _LINES, "marker": _MARKERS[(number - 1) % len(_MARKERS)]} if number else {}
        entries.append({"x": x, "y": 12.0 + _ROW * row, "name": shown, "whole": name, "ring": not number, **own})
        x += wide
    return entries, row + 1


def _said(axis: Criterion, loss: float) -> str:
    name = "loss" if axis.name in ("IL", "G_IL") else axis.name
    return f"{name} {percent(loss) if axis.unit else plain(loss)}"


def _label(found: MapSection) -> str:
    best = next((one for one in found.candidates if one.best), None)
    told = f" {found.head}: {best.method}, k = {best.k}." if best else ""
    what = "loss" if found.axis.name in ("IL", "G_IL") else found.axis.name
    return f"risk against {what} of {len(found.candidates)} releases.{told}"
