"""Loss and time against the size of blocks, for both trees, and which columns to cut by: the figures of docs/blocks.md.

`make blocks-figure` prints the tables and draws the figure; it takes some minutes. `--paper` also runs the
2 500 000 records of the 2^d-tree paper.
"""

import argparse
import time
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pyarrow as pa
from matplotlib.figure import Figure

from microagg import DependenceTree, MedianTree, OrthantTree, datasets, protect, select_variables

mpl.rcParams["svg.hashsalt"] = "microagg"  # the same figure gives the same file

SIZES = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
STYLES = {"median": {"color": "#1f6f8b", "marker": "o"}, "orthants": {"color": "#c1662f", "marker": "s"}}


def uniform(n: int, d: int, seed: int = 0) -> pa.Table:
    """Draw a table of uniform columns."""
    X = datasets.uniform(n, d, seed=seed)
    return pa.table({f"c{j}": np.ascontiguousarray(X[:, j]) for j in range(d)})


def run(table: pa.Table, **options: object) -> tuple[float, float, float]:
    """Mask a table at k = 3; give seconds, information loss in percent, and SSE."""
    began = time.perf_counter()
    release = protect(table, k=3, **options)
    return time.perf_counter() - began, release.information.percent, release.information.sse


def paper() -> None:
    """Run the paper's table 4: 2 500 000 uniform records, blocks of 10 000."""
    print("\n| columns | 2^d-tree SSE | seconds | univariate SSE | median SSE | seconds |")
    for d in (2, 3, 4, 5, 10):
        table = uniform(2_500_000, d)
        tree = run(table, blocks="orthants", max_block=10_000)
        intervals = run(table, blocks="univariate", max_block=10_000)
        ranks = run(table, blocks="median", max_block=10_000)
        cells = (f"{tree[2]:.6g}", f"{tree[0]:.1f}", f"{intervals[2]:.6g}", f"{ranks[2]:.6g}", f"{ranks[0]:.1f}")
        print(f"| {d} | " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    """Measure and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--paper", action="store_true", help="also run the paper's largest case")
    arguments = parser.parse_args()
    run(uniform(5000, 5), blocks="median", max_block=1000)  # compile
    run(uniform(5000, 5), blocks="orthants", max_block=1000)
    if arguments.paper:
        paper()

    figure = Figure(figsize=(9.5, 7), layout="constrained")
    axes = figure.subplots(2, 2)
    survey = datasets.survey(500_000, seed=0)
    files = {
        "uniform, 1 000 000 × 5": uniform(1_000_000, 5),
        "survey, 500 000 × 10": survey.select(survey.column_names[3:]),
    }
    for (name, table), (above, below) in zip(files.items(), axes.T, strict=True):
        whole = run(table, blocks="none")
        print(f"\n{name}: as a whole {whole[0]:.1f} s, IL {whole[1]:.4f}")
        print("| most | median: IL | seconds | orthants: IL | seconds |")
        found = {by: [run(table, blocks=by, max_block=most) for most in SIZES] for by in STYLES}
        for i, most in enumerate(SIZES):
            cells = [f"{found[by][i][1]:.4f} | {found[by][i][0]:.1f}" for by in STYLES]
            print(f"| {most} | " + " | ".join(cells) + " |", flush=True)
        for by, style in STYLES.items():
            above.plot(SIZES, [100 * (loss / whole[1] - 1) for _, loss, _ in found[by]], label=by, **style)
            below.plot(SIZES, [seconds for seconds, _, _ in found[by]], label=by, **style)
        below.axhline(whole[0], color="#4a5a6a", linestyle="--", label="as a whole")
        above.set(xscale="log", title=name, ylabel="more loss than as a whole (%)")
        below.set(xscale="log", yscale="log", xlabel="most records of a block", ylabel="seconds")
        for ax in (above, below):
            ax.spines[["top", "right"]].set_visible(False)
            ax.grid(alpha=0.25)
            ax.legend(fontsize=8, frameon=False)

    table = files["survey, 500 000 × 10"]
    print("\nwhich columns to cut by (survey, 20 000 a block)")
    tree = DependenceTree().fit(table)
    names = table.column_names
    choices = {"all ten": None} | {
        f"the tree's first {c}": [names.index(name) for name in select_variables(tree, c).columns] for c in (1, 2, 3, 5)
    }
    for label, columns in choices.items():
        for kind in (MedianTree, OrthantTree):
            seconds, loss, _ = run(table, blocks=kind(max_block=20_000, k=3, columns=columns))
            print(f"| {label} | {kind.__name__} | {loss:.4f} | {seconds:.1f} |", flush=True)

    path = Path(__file__).parent.parent / "docs" / "blocks.svg"
    figure.savefig(path, metadata={"Date": None})
    print(f"drawn to {path}")


if __name__ == "__main__":
    main()
