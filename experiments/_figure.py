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


MARKERS, STYLES = "osD^vP", ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)))


def grid_figure(path: Path, panels: dict[str, dict[str, Line]], x: str, *, columns: int = 4) -> Path:
    """Draw small panels, a measure each, with the same lines in all: told by marker and dashes too, not colour alone.

    The legend stands in the place after the last panel.
    """
    rows = -(-(len(panels) + 1) // columns)
    with mpl.rc_context({"svg.hashsalt": "microagg", "svg.fonttype": "none"}):
        figure = Figure(figsize=(3.3 * columns, 2.9 * rows), layout="constrained")
        axes = list(figure.subplots(rows, columns, squeeze=False).flat)
        for ax, (title, lines) in zip(axes, panels.items(), strict=False):
            for place, (name, (xs, ys)) in enumerate(lines.items()):
                ax.plot(
                    *(xs, ys),
                    label=name,
                    color=COLOURS[place % len(COLOURS)],
                    linestyle=STYLES[place % len(STYLES)],
                    marker=MARKERS[place % len(MARKERS)],
                    markersize=8 - place,  # so that lines that lie on each other show as rings
                    markerfacecolor="none",
                    linewidth=1.3,
                    clip_on=False,
                )
            ax.set_title(title, fontsize=9, loc="left")
            ax.set_xlabel(x)
            ax.set_xticks(sorted({value for xs, _ in lines.values() for value in xs}))
            ax.set_ylim(bottom=0)
            ax.spines[["top", "right"]].set_visible(False)
            ax.grid(alpha=0.25)
        for ax in axes[len(panels) :]:
            ax.axis("off")
        handles, names = axes[0].get_legend_handles_labels()
        axes[len(panels)].legend(handles, names, loc="center", frameon=False, fontsize=9, handlelength=4)
        figure.savefig(path, metadata={"Date": None, "Creator": None} if path.suffix == ".svg" else None)
    return path
