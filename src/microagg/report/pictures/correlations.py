"""The change of each correlation."""

from markupsafe import Markup

from microagg.judge.parts import Correlations
from microagg.judge.text import points, points_of
from microagg.report.pictures.scales import cut_short, text_width
from microagg.report.templates import drawn

_FEW = 16  # columns up to which a cell holds its figure
_STRONGEST = 0.1  # a change that is drawn in full where all are smaller


def correlations(found: Correlations) -> Markup:
    """Draw the change of each correlation, the stronger the larger: squares for those that rose, discs for the others.

    No cell is opaque, so that the figure in it reads on either theme.
    """
    d = len(found.columns)
    few = d <= _FEW
    cell, font = (34.0, 11.0) if few else (22.0, 10.0)
    top = max(_STRONGEST, *(abs(value) for row in found.change for value in row))
    names = [cut_short(name, 118.0, font) for name in found.columns]
    room = 8.0 + max(text_width(name, font) for name in names)
    said = points_of(found.change)
    cells = [
        {
            "x": room + cell * j,
            "y": room + cell * i,
            "rose": value >= 0,
            "strength": f"{0.06 + 0.6 * min(1.0, abs(value) / top):.2f}",
            "figure": _figure(value) if few else "",
            "words": f"{found.columns[i]} and {found.columns[j]}: {said[i][j]}",
        }
        for i, row in enumerate(found.change)
        for j, value in enumerate(row)
        if i != j
    ]
    return drawn(
        "correlations",
        label=_label(found),
        side=room + cell * d + 2.0,
        names=[(name, room + cell * (j + 0.5)) for j, name in enumerate(names)],
        room=room,
        cell=cell,
        font=font,
        cells=cells,
    )


def _figure(value: float) -> str:
    """Write a change as short as can be; nothing where it rounds to none."""
    return f"{value:+.2f}".replace("-", "−").replace("0.", ".") if abs(value) >= 0.005 else ""


def _label(found: Correlations) -> str:
    one, other, change = found.largest[0]
    return (
        f"change of each correlation of {len(found.columns)} columns. The largest: {one} and {other}, {points(change)}."
    )
