"""The pictures of a report: SVG by Matplotlib, in the page's colours, light or dark."""

import io
import re
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Callable
from typing import Any

import numpy as np

from microagg.plots import ACCENT, INK, LINES, OVER, PALE, draw_map, draw_tree
from microagg.report.parts import Correlations, Distribution, Map, RecordRisk, Tree
from microagg.report.text import percent

_FAINT = "#8a97a3"
# What Matplotlib is told, and what the page paints instead: one drawing serves both themes.
_PAINTS = {
    INK: "var(--ink)",
    ACCENT: "var(--accent)",
    PALE: "var(--pale)",
    OVER: "var(--warm)",
    _FAINT: "var(--faint)",
    "#ffffff": "var(--paper)",
    "#b0b0b0": "var(--faint)",  # Matplotlib's grid
    "#000000": "var(--ink)",
    **{colour: f"var(--line-{number})" for number, colour in enumerate(LINES) if colour not in (ACCENT, OVER)},
}
_COLOUR = re.compile("|".join(_PAINTS), re.IGNORECASE)
_FONT = re.compile(r"font-family: [^;]*;? ?")
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_SETTINGS = {
    "svg.fonttype": "none",  # text stays text: to be found, read aloud, and set in the page's fonts
    "font.size": 8.0,
    "text.color": INK,
    "axes.edgecolor": _FAINT,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.linewidth": 0.6,
    "text.parse_math": False,
}


def distribution(one: Distribution, name: str) -> str:
    """Draw a column's bins: before as an area, after as a line; in public the masked file as an area."""

    def draw(figure: Any) -> None:
        ax = figure.add_axes((0.03, 0.2, 0.94, 0.76))
        edges = np.array(one.edges)
        widths = np.diff(edges) / np.diff(edges).min()
        before, after = np.array(one.before) / widths[: len(one.before)], np.array(one.after) / widths
        every = np.concatenate([before, after])
        ax.set_ylim(0, _ceiling(before, after))
        if one.before:
            ax.stairs(before, edges, fill=True, color=_FAINT, alpha=0.45, lw=0)
            ax.stairs(after, edges, color=ACCENT, lw=1.3, baseline=None)
        else:
            ax.stairs(after[1:-1], edges[1:-1], fill=True, color=ACCENT, alpha=0.55, lw=0)
            for end in (slice(0, 1), slice(-1, None)):  # open: their width says nothing
                ax.stairs(
                    after[end], edges[:2] if end.start == 0 else edges[-2:], fill=True, color=ACCENT, alpha=0.25, lw=0
                )
        if every.max() > ax.get_ylim()[1]:
            _tell_cut_off(ax, before, after, edges)
        ax.set_xlim(edges[0], edges[-1])
        ax.set_yticks([])
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.locator_params(axis="x", nbins=4)
        if not one.before:  # where an open bin is drawn there is no scale
            ax.set_xticks([tick for tick in ax.get_xticks() if edges[1] <= tick <= edges[-2]])
        ax.xaxis.set_major_formatter(lambda value, _: compact(value))
        ax.tick_params(axis="x", length=2, width=0.6, pad=2, labelsize=7.5)

    what = f"{one.column}, before and after masking" if one.before else f"{one.column}, masked"
    return _svg(draw, (2.9, 1.25), name, what, 340)


def _ceiling(before: Any, after: Any) -> float:
    """Give the height of a plot: where one bar is far above all others, theirs."""
    tops = np.sort(np.maximum(before, after) if before.size else after)
    top, next_one = float(tops[-1]), float(tops[-2])
    return 2.0 * next_one if top > 4.0 * next_one > 0 else 1.08 * max(top, 1e-9)


def _tell_cut_off(ax: Any, before: Any, after: Any, edges: Any) -> None:
    """Write the height of a bar that ends above the plot."""
    place = int(np.argmax(np.maximum(before, after) if before.size else after))
    left = place < edges.size / 2
    told = f"↑ {percent(float(before[place]))} → {percent(float(after[place]))}" if before.size else "↑"
    x = edges[place + 1] if left else edges[place]
    ax.annotate(
        told, (x, ax.get_ylim()[1]), xytext=(4 if left else -4, -1), textcoords="offset points",
        ha="left" if left else "right", va="top", fontsize=7.5,
    )  # fmt: skip


def compact(value: float) -> str:
    """Give a number on an axis: 20 000 as 20k."""
    for limit, unit in ((1e12, ""), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= limit:
            return f"{value:.3g}" if not unit else f"{value / limit:.4g}{unit}".replace("-", "−")
    return f"{value:.4g}".replace("-", "−")


def correlations(found: Correlations, name: str) -> str:
    """Draw the change of each correlation: the stronger the colour, the larger; both colours read on either theme."""
    from matplotlib.patches import Rectangle

    d = len(found.columns)
    change = np.array(found.change)
    top = max(0.1, float(np.abs(change).max()))
    names = [_cut_short(one) for one in found.columns]
    longest = max(map(len, names))
    cell = 0.34 if d <= 16 else 0.24
    room = 0.12 + 0.062 * longest
    width, height = room + cell * d + 0.05, room + cell * d + 0.05

    def draw(figure: Any) -> None:
        ax = figure.add_axes((room / width, 0.05 / height, cell * d / width, cell * d / height))
        for i in range(d):
            for j in range(d):
                if i == j:
                    continue
                value = float(change[i, j])
                strength = min(1.0, abs(value) / top)  # never opaque: the figure in the cell must read
                colour = ACCENT if value < 0 else OVER
                ax.add_patch(
                    Rectangle(
                        (j + 0.04, i + 0.04), 0.92, 0.92, color=colour, alpha=round(0.06 + 0.6 * strength, 3), lw=0
                    )
                )
                if d <= 16 and abs(value) >= 0.005:
                    text = f"{value:+.2f}".replace("-", "−").replace("0.", ".")
                    ax.text(j + 0.5, i + 0.5, text, ha="center", va="center", fontsize=6)
        ax.set(xlim=(0, d), ylim=(d, 0))
        size = 7.5 if d <= 16 else 6.5
        ax.set_xticks(np.arange(d) + 0.5, names, rotation=90, fontsize=size)
        ax.set_yticks(np.arange(d) + 0.5, names, fontsize=size)
        ax.xaxis.tick_top()
        ax.tick_params(length=0, pad=2)
        ax.spines[:].set_visible(False)

    return _svg(draw, (width, height), name, "change of each correlation", int(width * 110))


def record_risk(found: RecordRisk, name: str) -> str:
    """Draw how the chance of being linked is spread over the records."""

    def draw(figure: Any) -> None:
        ax = figure.add_axes((0.085, 0.2, 0.9, 0.68))
        edges = np.array(found.edges)
        ax.stairs(found.shares, edges, fill=True, color=ACCENT, alpha=0.55, lw=0)
        top = max(found.shares)
        ax.set_xlim(0, edges[-1] * 1.04)
        ax.set_ylim(0, top * 1.15)
        if found.bound is not None:
            ax.axvline(found.bound, color=OVER, lw=1.2, ls=(0, (4, 2)))
            ax.annotate(
                f"the most that k allows: {percent(found.bound)}", (found.bound, top * 1.15), xytext=(-5, -2),
                textcoords="offset points", ha="right", va="top", fontsize=8, color=INK,
            )  # fmt: skip
        ax.set_xlabel("chance of being linked rightly (%)", labelpad=2)
        ax.set_ylabel("records (%)", labelpad=3)
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(length=2, width=0.6, pad=2)
        ax.locator_params(nbins=6)

    return _svg(draw, (5.8, 2.0), name, "spread of the records' risk", 680)


def tree(found: Tree, name: str) -> str:
    """Draw the dependence tree."""
    d = len(found.names)
    side = 5.0 + 0.1 * d
    edges = [(a, b, float("inf") if weight is None else weight) for a, b, weight in found.edges]

    def draw(figure: Any) -> None:
        draw_tree(found.names, edges, found.chosen, figure.add_axes((0.06, 0.02, 0.88, 0.96)))

    return _svg(draw, (side, 0.85 * side), name, "dependence tree", int(100 * side))


def risk_map(found: Map, name: str) -> str:
    """Draw the compared releases by risk and loss."""
    lines: dict[str, list[tuple[int, float, float]]] = {}
    for one in found.candidates:
        if one.g_il is not None and one.g_dr is not None:
            lines.setdefault(one.method.lstrip("_") or "?", []).append((one.k, one.g_il, one.g_dr))

    def draw(figure: Any) -> None:
        draw_map(lines, found.frontier, figure.add_axes((0.09, 0.12, 0.89, 0.86)))

    return _svg(draw, (6.4, 4.2), name, "risk against loss", 680) if lines else ""


def _cut_short(name: str, most: int = 18) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"


def _svg(draw: Callable[[Any], None], size: tuple[float, float], name: str, label: str, width: int) -> str:
    """Draw, and give the picture as an element of a page."""
    import matplotlib as mpl
    from matplotlib.figure import Figure
    from matplotlib.text import Text

    written = io.StringIO()
    with mpl.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # the page's fonts may have it
        mpl.rcdefaults()  # the same bytes, whatever the user's style
        mpl.rcParams.update(_SETTINGS | {"svg.hashsalt": name})
        figure = Figure(figsize=size)
        draw(figure)
        for text in figure.findobj(Text):
            text.set_parse_math(False)  # a name is not a formula
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(written, format="svg", transparent=True, metadata=nothing)
    return _for_the_page(written.getvalue(), name, label, width)


def _for_the_page(svg: str, name: str, label: str, width: int) -> str:
    """Take out what a page does not need (namespaces, styles for all, ids), and put the page's colours in."""
    root = ET.fromstring(svg)  # Matplotlib's own output, names escaped
    root.remove(next(child for child in root if any(own.tag.endswith("}style") for own in child)))
    used = {
        match for element in root.iter() for value in element.attrib.values() for match in _REFERENCE.findall(value)
    }
    used |= {value[1:] for element in root.iter() for key, value in element.attrib.items() if key.endswith("href")}
    for element in root.iter():
        element.tag = element.tag.split("}")[-1]
        kept = {}
        for key, value in element.attrib.items():
            plain = key.split("}")[-1]
            if plain == "id":
                if value not in used:
                    continue
                value = f"{name}-{value}"
            elif plain == "href":
                value = f"#{name}-{value[1:]}"
            elif plain == "style":
                value = _FONT.sub("", _COLOUR.sub(lambda found: _PAINTS[found[0].lower()], value))
            if plain == "d":
                value = " ".join(value.split())
            kept[plain] = _REFERENCE.sub(rf"url(#{name}-\1)", value)
        element.attrib.clear()
        element.attrib.update(kept)
        if element.tag != "text":
            element.text = None
        element.tail = None
    box = root.attrib["viewBox"]
    root.attrib.clear()
    root.attrib.update(viewBox=box, role="img", style=f"max-width: {width}px")
    root.attrib["aria-label"] = label
    return ET.tostring(root, encoding="unicode")
