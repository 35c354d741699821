"""Lines in panels, as SVG: the same numbers give the same bytes."""

from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

Line = tuple[list[float], list[float]]
COLOURS = ("#1f6f8b", "#c1662f", "#4a5a6a", "#7a9a3a", "#8b5fa8", "#b03a5b")


def lines_figure(
    path: Path, panels: dict[str, dict[str, Line]], x: str, y: str, *, logarithmic: tuple[str, ...] = ()
) -> Path:
    """Draw each panel's lines, by name (x values, y values); a name that ends in "paper" is dashed."""
    with mpl.rc_context({"svg.hashsalt": "microagg", "svg.fonttype": "none"}):
        figure = Figure(figsize=(4.7 * len(panels), 3.6), layout="constrained")
        axes = figure.subplots(1, len(panels), squeeze=False)[0]
        for ax, (title, lines) in zip(axes, panels.items(), strict=True):
            families = list(dict.fromkeys(name.split(",")[0] for name in lines))
            for name, (xs, ys) in lines.items():
                dashed = name.endswith("paper")
                colour = COLOURS[families.index(name.split(",")[0]) % len(COLOURS)]
                style, marker = ("--", "s") if dashed else ("-", "o")
                ax.plot(xs, ys, label=name, color=colour, linestyle=style, marker=marker, markersize=3.5)
            ax.set(title=title, xlabel=x, ylabel=y)
            if "x" in logarithmic:
                ax.set_xscale("log")
            if "y" in logarithmic:
                ax.set_yscale("log")
            ax.spines[["top", "right"]].set_visible(False)
            ax.grid(alpha=0.25)
            ax.legend(fontsize=7, frameon=False)
        figure.savefig(path, metadata={"Date": None, "Creator": None})
    return path
