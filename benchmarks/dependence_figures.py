"""How often the true tree is found: by number of records, by measure, and by the rule that makes categories.

`make dependence-figures` prints the tables of docs/algorithms/emad.md and draws its figures.
"""

from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from microagg import DependenceTree, datasets, select_variables
from microagg.algorithms import dependence

mpl.rcParams["svg.hashsalt"] = "microagg"  # the same figure gives the same file

SEEDS = 50
SIZES = (50, 150, 500, 5000, 20_000)
MEASURES = ("emim", "chi2")
BINARY = {(0, 1), (0, 2), (0, 3), (2, 4), (2, 5)}
DOCS = Path(__file__).parent.parent / "docs" / "algorithms"
RULES: dict[str, Callable[[np.ndarray], int]] = {
    "Freedman–Diaconis": lambda x: np.ptp(x) / (2 * np.subtract(*np.percentile(x, [75, 25])) * x.size ** (-1 / 3)),
    "Scott": lambda x: np.ptp(x) / (3.49 * x.std() * x.size ** (-1 / 3)),
    "√n": lambda x: np.sqrt(x.size),
    "Sturges": lambda x: np.log2(x.size) + 1,
}


def files() -> dict[str, tuple[set[tuple[int, int]], Callable]]:
    """Give each made set's true tree, and how to draw n records of it with a seed."""
    sets = {
        f"binary, {siblings}": (BINARY, lambda n, seed, s=siblings: datasets.binary_tree(n, siblings=s, seed=seed))
        for siblings in ("related", "unrelated")
    }
    for name, parents in datasets.TREES.items():
        tree = {tuple(sorted(link)) for link in enumerate(parents) if link[1] is not None}
        sets[f"{name} columns"] = tree, lambda n, seed, t=name: datasets.dependence_tree(t, n, seed=seed)
    return sets


def recovery() -> dict[tuple[str, str], list[tuple[float, float]]]:
    """Give, for each set and measure, the share of trees found and their mean weight at each size."""
    found = {}
    for name, (truth, draw) in files().items():
        width = None if name.startswith("binary") else 100
        for measure in MEASURES:
            cells = []
            for n in SIZES:
                trees = [DependenceTree(measure, width=width).fit(draw(n, seed)) for seed in range(SEEDS)]
                right = [{edge[:2] for edge in tree.edges_} == truth for tree in trees]
                cells.append((100 * np.mean(right), np.mean([tree.total_weight_ for tree in trees])))
            found[name, measure] = cells
            print(f"| {name} | {measure} | " + " | ".join(f"{share:.0f}" for share, _ in cells) + " |", flush=True)
    return found


def rules() -> None:
    """Print how often each rule for the number of categories finds the trees, by sizes and true categories."""
    sizes = (500, 2000, 5000, 20_000)
    original = dependence.automatic_bins
    for name, rule in RULES.items():
        dependence.automatic_bins = lambda column, rule=rule: max(2, int(np.ceil(rule(column))))
        cells = []
        for n in sizes:
            right = []
            for tree, parents in datasets.TREES.items():
                truth = {tuple(sorted(link)) for link in enumerate(parents) if link[1] is not None}
                for categories in (4, 7, 9, 13):
                    for seed in range(10):
                        table = datasets.dependence_tree(
                            tree, n, categories=categories, width=1000 // categories, seed=seed
                        )
                        right += [{edge[:2] for edge in DependenceTree(m).fit(table).edges_} == truth for m in MEASURES]
            cells.append(100 * np.mean(right))
        print(f"| {name} | " + " | ".join(f"{share:.0f}" for share in cells) + " |", flush=True)
    dependence.automatic_bins = original


def draw_convergence(found: dict[tuple[str, str], list[tuple[float, float]]]) -> None:
    """Draw shares and weights of the binary sets against the number of records."""
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    shares, weights = figure.subplots(1, 2)
    for (name, measure), cells in found.items():
        if not name.startswith("binary"):
            continue
        style = {"marker": "o", "linestyle": "-" if measure == "emim" else "--"}
        style["color"] = "#1f6f8b" if name.endswith(" related") else "#c1662f"
        label = f"{measure}, siblings {name.split(', ')[1]}"
        shares.plot(SIZES, [share for share, _ in cells], label=label, **style)
        weights.plot(SIZES, [weight for _, weight in cells], label=label, **style)
    shares.set(xscale="log", xlabel="records", ylabel="trees found (%)", ylim=(0, 104))
    weights.set(xscale="log", xlabel="records", ylabel="weight of the tree that was found")
    shares.legend(fontsize=7.5, frameon=False)
    for ax in (shares, weights):
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(alpha=0.25)
    figure.savefig(DOCS / "dependence_recovery.svg", metadata={"Date": None})


def draw_example() -> None:
    """Draw the tree of the made survey and its weights."""
    survey = datasets.survey(2000, seed=0)
    table = survey.select(survey.column_names[3:])
    tree = DependenceTree().fit(table)
    tree.plot(select_variables(tree, 3).columns).figure.savefig(DOCS / "dependence_tree.svg", metadata={"Date": None})
    tree.plot_weights().figure.savefig(DOCS / "dependence_weights.svg", metadata={"Date": None})


if __name__ == "__main__":
    print(f"share of {SEEDS} seeds in which the tree is the true one (%), at n = {SIZES}")
    draw_convergence(recovery())
    print("by rule, at n = 500, 2 000, 5 000, 20 000")
    rules()
    draw_example()
