"""The figures of the paper on dependence trees, drawn again."""

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

import microagg as ma
from experiments._table import Row
from experiments.emad.losses import MADE, fit
from experiments.emad.trees import SNAPSHOTS, WIDTHS, mean_weight, seeds

HERE = Path(__file__).parent


def draw(rows: list[Row]) -> list[Path]:  # noqa: ARG001
    """Draw the trees and the convergence; the same data give the same files."""
    mpl.rcParams["svg.hashsalt"] = "microagg"
    drawn = []
    for figure, file, measure in (
        ("9", "Tarragona", "emim"),
        ("10", "Census", "emim"),
        ("15", "Tarragona", "chi2"),
        ("16", "Census", "chi2"),
    ):
        trees = {
            f"{file}, {measure}, width {width:,}".replace(",000", " 000"): fit(file, measure, width)
            for width in WIDTHS[file]
        }
        drawn.append(draw_trees(f"figure_{figure}", trees))
    normal = {file: fit(file, "normal", None) for file in (*WIDTHS, *MADE)}
    drawn.append(draw_trees("figure_17", {f"{file}, normal": normal[file] for file in WIDTHS}))
    drawn.append(draw_trees("figure_17_made", {f"{file} (made), normal": normal[file] for file in MADE}))
    for figure, siblings in (("12", "related"), ("13", "unrelated")):
        trees = {
            f"siblings {siblings}, {n} records": ma.DependenceTree("emim").fit(
                ma.datasets.binary_tree(n, siblings=siblings, seed=0)
            )
            for n in SNAPSHOTS
        }
        drawn.append(draw_trees(f"figure_{figure}", trees, 0))
    return [*drawn, draw_convergence()]


def draw_trees(name: str, trees: dict[str, object], count: int = 3) -> Path:
    """Draw trees side by side, the first choice of `count` columns filled."""
    figure = Figure(figsize=(5.2 * len(trees), 5.2), layout="constrained")
    axes = np.atleast_1d(figure.subplots(1, len(trees)))
    for ax, (title, tree) in zip(axes, trees.items(), strict=True):
        tree.plot(ma.select_variables(tree, count) if count else (), ax=ax)
        ax.set_title(title, fontsize=10)
    return save(figure, name)


def draw_convergence() -> Path:
    """Draw the mean weight of the trees against the number of records."""
    sizes = (50, 100, 150, 300, 500, 1000, 2000, 5000)
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    for ax, siblings in zip(figure.subplots(1, 2), ("related", "unrelated"), strict=True):
        for measure, style in (("emim", "-o"), ("chi2", "--s")):
            weights = [mean_weight(siblings, measure, n, seeds(False)) for n in sizes]
            ax.plot(sizes, weights, style, color="#1f6f8b" if measure == "emim" else "#c1662f", label=measure, ms=4)
        ax.set(xscale="log", xlabel="records", ylabel="weight of the tree", title=f"siblings {siblings}")
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(alpha=0.25)
        ax.legend(frameon=False)
    return save(figure, "figure_14")


def save(figure: Figure, name: str) -> Path:
    """Write a figure, without the date."""
    path = HERE / f"{name}.svg"
    figure.savefig(path, metadata={"Date": None})
    return path
