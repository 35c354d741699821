"""Approximate microaggregation (AMA) against MDAV on all columns, at the size its paper used.

`make ama-figures` prints the table of docs/algorithms/ama.md and draws its figure; it takes some minutes.
The file is made: nine columns of whole numbers with the distinct values of the paper's census extract.
"""

import time
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from microagg import DependenceTree, information_loss, select_variables
from microagg.algorithms.mdav import mdav
from microagg.algorithms.scores import standard_scores

mpl.rcParams["svg.hashsalt"] = "microagg"  # the same figure gives the same file

NAMES = ("age", "gender", "education", "marital", "race", "work-class", "country", "occupation", "salary-class")
DISTINCT = (78, 2, 17, 6, 9, 8, 83, 50, 50)
LINES = {
    ("AMA", "brute"): {"color": "#c1662f", "linestyle": "--", "marker": "o"},
    ("MDAV", "brute"): {"color": "#1f6f8b", "linestyle": "--", "marker": "o"},
    ("AMA", "tree"): {"color": "#c1662f", "marker": "s"},
    ("MDAV", "tree"): {"color": "#1f6f8b", "marker": "s"},
}


def census(n: int, seed: int = 0) -> np.ndarray:
    """Draw persons (n, 9): age, schooling and pay hang together, origin and race do, the rest follows."""
    rng = np.random.default_rng(seed)
    age = rng.beta(1.5, 2.2, n)
    talent, origin, sex = rng.standard_normal(n), rng.standard_normal(n), (rng.random(n) < 0.5).astype(float)
    skill = talent + 0.4 * origin - 0.6 * np.abs(age - 0.45)
    pay = 0.8 * skill + 1.4 * np.sqrt(age) + 0.3 * sex + 0.5 * rng.standard_normal(n)
    continuous = (
        age,
        sex,
        skill + 0.5 * rng.standard_normal(n),
        age + 0.25 * rng.standard_normal(n),
        np.exp(origin + 0.6 * rng.standard_normal(n)),
        np.exp(0.5 * skill + rng.standard_normal(n)),
        np.exp(1.5 * origin),
        -skill + 0.7 * rng.standard_normal(n),
        np.exp(0.6 * pay),
    )
    columns = []
    for values, distinct in zip(continuous, DISTINCT, strict=True):
        low, high = np.quantile(values, [0.001, 0.999])
        shares = np.clip((values - low) / (high - low), 0, 1 - 1e-9)
        columns.append(np.floor(shares * distinct))
    return np.array(columns).T


def run(X: np.ndarray, k: int, name: str, search: str) -> tuple[float, float, int]:
    """Return the seconds and the information loss of one method, and how many columns it grouped on."""
    Z = standard_scores(np.ascontiguousarray(X.T)).T
    began = time.perf_counter()
    if name == "AMA":
        tree = DependenceTree("vi", width=1).fit(X)
        keys = sorted(select_variables(tree, rule="cover").columns)
        labels = mdav(Z[:, keys], k, tail="2k", search=search)
    else:
        keys = list(range(X.shape[1]))
        labels = mdav(Z, k, search=search)
    seconds = time.perf_counter() - began
    return seconds, information_loss(Z, labels).percent, len(keys)


def series(cases: list[tuple[int, int, int]]) -> dict[tuple[str, str], list[tuple[float, float, int]]]:
    """Run every method on cases of (records, k, columns)."""
    found: dict[tuple[str, str], list[tuple[float, float, int]]] = {line: [] for line in LINES}
    for n, k, m in cases:
        X = census(n)[:, :m]
        for name, search in LINES:
            result = run(X, k, name, search)
            found[name, search].append(result)
            print(
                f"| {n} | {k} | {m} | {name} | {search} | {result[2]} | {result[0]:.1f} | {result[1]:.2f} |", flush=True
            )
    return found


def main() -> None:
    """Measure and draw."""
    run(census(2000), 20, "AMA", "brute"), run(census(2000), 20, "MDAV", "tree")  # compile
    sizes, levels, widths = (100_000, 200_000, 300_000, 400_000, 500_000), (10, 20, 40, 80), (5, 6, 7, 8, 9)
    print("| records | k | columns | method | search | grouped on | seconds | IL % |")
    by_size = series([(n, 20, 9) for n in sizes])
    by_level = series([(200_000, k, 9) for k in levels])
    by_width = series([(500_000, 20, m) for m in widths])

    figure = Figure(figsize=(11, 6.4), layout="constrained")
    axes = figure.subplots(2, 3)
    panels = (
        (axes[0, 0], sizes, by_size, 0, "records (k = 20, 9 columns)", "seconds"),
        (axes[0, 1], levels, by_level, 0, "k (200 000 records)", "seconds"),
        (axes[0, 2], widths, by_width, 0, "columns (500 000 records)", "seconds"),
        (axes[1, 0], sizes, by_size, 1, "records (k = 20, 9 columns)", "information loss (%)"),
        (axes[1, 1], levels, by_level, 1, "k (200 000 records)", "information loss (%)"),
        (axes[1, 2], widths, by_width, 2, "columns (500 000 records)", "columns that form groups"),
    )
    for ax, places, found, figure_of, xlabel, ylabel in panels:
        for line, style in LINES.items():
            if figure_of == 0 or line[1] == "tree":  # the search changes neither loss nor columns
                label = f"{line[0]}, {line[1]}" if figure_of == 0 else line[0]
                ax.plot(places, [result[figure_of] for result in found[line]], label=label, **style)
        if figure_of == 0:
            ax.set_yscale("log")
        else:
            ax.set_ylim(bottom=0)
        ax.set(xlabel=xlabel, ylabel=ylabel)
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(alpha=0.25)
    axes[0, 0].legend(fontsize=7.5, frameon=False)
    axes[1, 0].legend(fontsize=7.5, frameon=False)
    path = Path(__file__).parent.parent / "docs" / "algorithms" / "ama.svg"
    figure.savefig(path, metadata={"Date": None})
    print(f"drawn to {path}")


if __name__ == "__main__":
    main()
