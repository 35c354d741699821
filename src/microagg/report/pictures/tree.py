"""The dependence tree."""

import math
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from microagg.judge.parts import JudgedTree
from microagg.judge.text import counted, listed
from microagg.pictures.plots import tree_places
from microagg.report.pictures.scales import cut_short, text_width
from microagg.report.templates import drawn

_WIDEST = 460.0
_RING = 84.0  # between a column and its neighbours, where there is room
_WEIGHED = 25  # columns up to which a line has its weight beside it
_WIDEST_NAME = 125.0


def tree(found: JudgedTree) -> Markup:
    """Draw the dependence tree: chosen columns filled, names in bold; strong lines thick."""
    d = len(found.names)
    font = 12.0 if d <= 30 else 10.0
    edges = [(a, b, math.inf if weight is None else weight) for a, b, weight in found.edges]
    units = tree_places(d, edges)
    extent = max(float((units.max(axis=0) - units.min(axis=0)).max()), 1.0)
    ring = min(_RING, max(_WIDEST, 16.0 * d) / extent)
    places = [(ring * float(x), -ring * float(y)) for x, y in units]
    names = [cut_short(name, _WIDEST_NAME, font) for name in found.names]
    nodes = [_node(j, places, edges, names[j], found, font) for j in range(d)]
    left, right = min(one["span"][0] for one in nodes) - 6.0, max(one["span"][1] for one in nodes) + 6.0
    top, bottom = min(y for _, y in places) - 34.0, max(y for _, y in places) + 34.0
    return drawn(
        "tree",
        label=_label(found),
        box=(left, top, right - left, bottom - top),
        font=font,
        lines=[_line(rank, edge, places, found.names, len(edges)) for rank, edge in enumerate(edges)],
        weighed=d <= _WEIGHED,
        nodes=nodes,
    )


def _line(
    rank: int, edge: tuple[int, int, float], places: Sequence[tuple[float, float]], names: Sequence[str], n_edges: int
) -> dict[str, object]:
    """Place a line; the strongest come first, and the thickness follows that order, so it suits any measure."""
    a, b, weight = edge
    strength = 1.0 - rank / max(1, n_edges - 1)
    written = "∞" if math.isinf(weight) else f"{weight:.2g}"
    return {
        "ends": (*places[a], *places[b]),
        "middle": ((places[a][0] + places[b][0]) / 2, (places[a][1] + places[b][1]) / 2),
        "thick": 1.1 + 4.4 * strength,
        "opacity": f"{0.4 + 0.45 * strength:.2f}",
        "weight": written,
        "words": f"{names[a]} and {names[b]}: {written}",
    }


def _node(
    j: int,
    places: Sequence[tuple[float, float]],
    edges: Sequence[tuple[int, int, float]],
    name: str,
    found: JudgedTree,
    font: float,
) -> dict[str, Any]:
    """Place a column and its name, which stands where its lines leave most room."""
    x, y = places[j]
    others = [b if a == j else a for a, b, _ in edges if j in (a, b)]
    radius = 4.5 + 2.4 * math.sqrt(len(others))
    angle = _widest_gap([math.atan2(places[o][1] - y, places[o][0] - x) for o in others])
    aside, down = math.cos(angle), math.sin(angle)
    anchor = "middle" if abs(aside) < 0.4 else "start" if aside > 0 else "end"
    at = x + (radius + 5.0) * aside, y + (radius + 5.0) * down
    chosen = j in found.chosen
    wide = text_width(name, font) * (1.08 if chosen else 1.0)
    start = at[0] - {"middle": wide / 2, "start": 0.0, "end": wide}[anchor]
    return {
        "x": x,
        "y": y,
        "radius": radius,
        "chosen": chosen,
        "name": name,
        "at": at,
        "anchor": anchor,
        "shift": f"{0.35 + 0.42 * down:.2f}",
        "span": (min(start, x - radius), max(start + wide, x + radius)),
        "words": f"{found.names[j]}: {counted(len(others), 'line')}{', chosen' if chosen else ''}",
    }


def _widest_gap(angles: Sequence[float]) -> float:
    """Return the middle of the widest gap between directions; upwards where there are none."""
    if not angles:
        return -math.pi / 2
    turned = sorted(angles)
    gaps = [
        (after - before, before) for before, after in zip(turned, [*turned[1:], turned[0] + 2 * math.pi], strict=True)
    ]
    gap, before = max(gaps)
    return before + gap / 2


def _label(found: JudgedTree) -> str:
    chosen = f" Chosen: {listed([found.names[j] for j in found.chosen])}." if found.chosen else ""
    return f"dependence tree of {counted(len(found.names), 'column')}.{chosen}"
