"""Draw the time of MDAV against n, by tree and by brute force: the figure of docs/tree_search.md.

Run with `make search-figure`; takes some three minutes.
"""

from pathlib import Path

import matplotlib as mpl
from partitioners import Case, in_own_process

mpl.use("svg")
mpl.rcParams["svg.hashsalt"] = "microagg"  # the same figure gives the same file
from matplotlib import pyplot as plt  # noqa: E402

SIZES = {
    ("tree", 3): (2_000, 5_000, 20_000, 100_000, 500_000),
    ("tree", 10): (2_000, 5_000, 20_000, 100_000, 200_000),
    ("tree", 20): (2_000, 5_000, 20_000, 50_000),
    ("brute", 3): (2_000, 5_000, 20_000, 50_000, 100_000),
    ("brute", 10): (2_000, 5_000, 20_000, 50_000, 100_000),
    ("brute", 20): (2_000, 5_000, 20_000, 50_000),
}
COLOURS = {3: "#1b7837", 10: "#2166ac", 20: "#b2182b"}


def main() -> None:
    """Measure and draw."""
    figure, axes = plt.subplots(figsize=(7, 4.6))
    for (search, d), sizes in SIZES.items():
        seconds = [in_own_process(Case("mdav", "uniform", n, d), search)[0] for n in sizes]
        print(search, d, [f"{n}: {t:.3f}" for n, t in zip(sizes, seconds, strict=True)], flush=True)
        style = {"linestyle": "-", "marker": "o"} if search == "tree" else {"linestyle": "--", "marker": "s"}
        axes.plot(sizes, seconds, color=COLOURS[d], label=f"{search}, {d} columns", **style)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("records")
    axes.set_ylabel("seconds")
    axes.set_title("MDAV, k = 3, uniform data, one thread")
    axes.grid(visible=True, which="major", alpha=0.3)
    axes.legend()
    path = Path(__file__).parent.parent / "docs" / "tree_search.svg"
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
    print(f"drawn to {path}")


if __name__ == "__main__":
    main()
