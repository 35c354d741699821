"""The 2^d-tree paper: tables 3 to 5, figures 4 to 8, and its words.

`real` has table 5 and section 3.3, `timing` what is said of time: RESULTS.md has a word for it, decided with a wide
margin, and TIMES.md the ratio.
"""

import time
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import microagg as ma
from experiments._claims import Claim
from experiments._figure import lines_figure
from experiments._table import HERE, Row, Time, read_expected
from experiments.orthants import real, timing
from experiments.orthants.base import Rows

TITLE = "2^d-trees: blocks for very large files"
NOTES = [
    "Paper: A. Solanas, A. Martínez-Ballesté, J. Domingo-Ferrer, J. M. Mateo-Sanz, ARES 2006. Pages are counted from "
    "its first.",
    "Uniform files are drawn with seed 0, and standardised; theirs were not published, so 2 % of SSE is what can be "
    "asked where L is stated. EIA is the paper's own file (it says 4096 records; there are 4092), so no tolerance is "
    "allowed for it.",
    "Section 3 of the paper cuts the range of a column into equal intervals, its introduction sorts a column and "
    "divides it. For uniform data that is nearly the same, and ours are equal intervals. Table 5 was made by sorting, "
    "it seems: column 2 of EIA, blocks of L records, gives its figures with L = 200 to 0.1 %; with L = 100 the first "
    "cut falls among the 132 records with a zero there, and their order, which is not known, decides.",
    "What is said of time was measured within one run. A row has a word only where the ratio is far from the limit; "
    "the ratios are in TIMES.md, for they change with the machine. The limits are ours, and were set after the first "
    "measurements: another limit may give another word.",
    "Table 4 states no L; ours is with L = 10 000, which figure 8 states. Figure 8's caption says 250 000 records, the "
    "text beside it refers to table 4's 2 500 000: figure 8 is run as its caption says.",
]
LEAVES = (500, 1000, 2000, 5000, 10_000)
LARGEST = 2_500_000
BY = {"univariate": "univariate", "2^d-tree": "orthants"}
TABLE3, TABLE4 = "2^d-tree table 3", "2^d-tree table 4"
FIGURE4, FIGURE5, FIGURE6, FIGURE7, FIGURE8 = (f"2^d-tree figure {i}" for i in (4, 5, 6, 7, 8))
_seconds: dict[tuple[str, str], float] = {}
claims: list[Claim] = []  # about time, of the last run


def matrix(n: int, d: int) -> NDArray[np.float64]:
    """Draw the paper's data: uniform in [-10000, 10000]."""
    return 20_000 * ma.datasets.uniform(n, d, seed=0) - 10_000


def table(n: int, d: int) -> pa.Table:
    """Draw a file; not kept, for the largest take 200 MB. Scores do not change with the unit, so none is applied."""
    X = ma.datasets.uniform(n, d, seed=0)
    return pa.table({f"c{j}": np.ascontiguousarray(X[:, j]) for j in range(d)})


@cache
def error(n: int, d: int, blocks: str, most: int) -> tuple[float, float]:
    """Return the SSE at k=3, on z-scores, and seconds."""
    file = table(n, d)
    began = time.perf_counter()
    release = ma.protect(file, k=3, blocks=blocks, max_block=most, rounding="none")
    return release.information.sse, time.perf_counter() - began


@cache
def block_counts(most: int) -> dict[str, int]:
    """Count useful blocks of 2 500 000 records in two columns, and the cells of the deepest level of the tree."""
    X = matrix(LARGEST, 2)
    level = 0
    counts = np.array([LARGEST])
    while counts.max() > most:
        level += 1
        counts = np.histogram2d(X[:, 0], X[:, 1], bins=2**level)[0]
    return {
        "univariate": int(ma.UnivariateBlocks(max_block=most, k=3).fit_predict(X).max()) + 1,
        "2^d-tree": int(ma.OrthantTree(max_block=most, k=3).fit_predict(X).max()) + 1,
        "cells": 4**level,
    }


def block_numbers(rows: Rows) -> None:
    """Add table 3 and figure 4."""
    for most in LEAVES:
        for by in BY:

            def why(most: int = most) -> str:
                return f"the paper counts empty cells of the deepest level, which has {block_counts(most)['cells']}"

            rows.add(
                TABLE3,
                f"L={most}: {by} blocks",
                lambda most=most, by=by: block_counts(most)[by],
                n=LARGEST,
                reason=why,
            )
    for most in LEAVES:
        for by in BY:
            rows.add(FIGURE4, f"L={most}: useful {by} blocks", lambda m=most, b=by: block_counts(m)[b], n=LARGEST)
    rows.add(
        FIGURE4,
        "more useful blocks than n/L at every L",
        lambda: "yes" if all(block_counts(most)["2^d-tree"] > LARGEST / most for most in LEAVES) else "no",
        n=LARGEST,
    )


def by_records(rows: Rows) -> None:
    """Add figures 5 to 7: two columns, k=3, four sizes of files and five of blocks."""
    sizes = [n for n in (500, 1000, 1500, 2000) if not rows.skips(1000 * n)]
    for n in (500, 1000, 1500, 2000):
        for most in LEAVES:
            for by, blocks in BY.items():
                what = f"n={n} 000, L={most}: {by} SSE"
                rows.add(FIGURE5, what, lambda a=(1000 * n, 2, blocks, most): f"{error(*a)[0]:.4f}", n=1000 * n)
                if n in sizes:
                    _seconds[FIGURE5, what] = error(1000 * n, 2, blocks, most)[1]
    whole = 2_000_000

    def ratio(blocks: str, most: int) -> float:
        found = [error(1000 * n, 2, blocks, most)[0] for n in sizes]
        return max(found) / min(found)

    def lower() -> str:
        pairs = [(1000 * n, most) for n in sizes for most in LEAVES]
        return "yes" if all(error(n, 2, "orthants", m)[0] < error(n, 2, "univariate", m)[0] for n, m in pairs) else "no"

    rows.add(FIGURE5, "2^d-tree below univariate at every point", lower, n=whole)

    def shares(n: int) -> list[float]:
        return [error(1000 * n, 2, "orthants", m)[0] / error(1000 * n, 2, "univariate", m)[0] for m in LEAVES]

    def much_lower() -> str:
        return "yes" if all(share <= 0.5 for n in sizes for share in shares(n)) else "no"

    def by_leaf() -> str:
        count = sum(share <= 0.5 for n in sizes for share in shares(n))
        listed = ", ".join(f"{100 * share:.0f} %" for share in shares(2000))
        return (
            f"at {count} of {len(sizes) * len(LEAVES)} points; of univariate SSE at 2 000 000 records, by L: {listed}"
        )

    what = "2^d-tree SSE is much lower: at most half, at every point"
    rows.add(FIGURE5, what, much_lower, n=whole, reason=by_leaf)
    named = () if rows.skips(whole) else tuple(BY.values())
    ratios = {blocks: [ratio(blocks, most) for most in LEAVES] for blocks in named}
    texts = {
        b: "largest over least SSE, L = 500 to 10 000: " + ", ".join(f"{r:.2f}" for r in ratios.get(b, ()))
        for b in BY.values()
    }
    what = "2^d-tree: SSE of one L hardly depends on n"
    rows.add(FIGURE6, what, lambda: "yes" if max(ratios["orthants"]) < 1.1 else "no", n=whole, reason=texts["orthants"])
    what = "univariate: SSE grows with n at L=500"

    def grows() -> str:
        curve = [error(1000 * n, 2, "univariate", LEAVES[0])[0] for n in sizes]
        return "yes" if all(a < b for a, b in pairwise(curve)) else "no"

    rows.add(FIGURE7, what, grows, n=whole, reason=texts["univariate"])
    what = "univariate: SSE grows with n, most at the smallest L"

    def most_at_least() -> str:
        return "yes" if max(ratios["univariate"]) == ratios["univariate"][0] else "no"

    rows.add(FIGURE7, what, most_at_least, n=whole, reason=texts["univariate"])


def by_columns(rows: Rows) -> None:
    """Add table 4: 2 500 000 records; and figure 8: 250 000."""
    for d in (2, 3, 4, 5, 10):
        for by, blocks in BY.items():
            what = f"d={d}: {by} SSE"

            def why(d: int = d, blocks: str = blocks) -> str:
                tried = {most: error(LARGEST, d, blocks, most)[0] for most in (1000, 2000, 5000)}
                return "L is not stated; " + ", ".join(f"L={m}: {sse:.6g}" for m, sse in tried.items())

            sse = lambda a=(LARGEST, d, blocks, 10_000): error(*a)[0]  # noqa: E731
            rows.add(TABLE4, what, sse, n=LARGEST, tolerance="2 %", reason=why)
            if not rows.skips(LARGEST):
                _seconds[TABLE4, what] = error(LARGEST, d, blocks, 10_000)[1]
    advantage(rows)
    size = 250_000
    for d in range(2, 11):
        for by, blocks in BY.items():
            rows.add(FIGURE8, f"d={d}: {by} SSE", lambda a=(size, d, blocks, 10_000): f"{error(*a)[0]:.6g}", n=size)
            if not rows.skips(size):
                _seconds[FIGURE8, f"d={d}: {by} SSE"] = error(size, d, blocks, 10_000)[1]

    def curve(blocks: str) -> list[float]:
        return [error(size, d, blocks, 10_000)[0] for d in range(2, 11)]

    def lower() -> str:
        pairs = zip(curve("orthants"), curve("univariate"), strict=True)
        return "yes" if all(tree < intervals for tree, intervals in pairs) else "no"

    def grow() -> str:
        return "yes" if all(a < b for blocks in BY.values() for a, b in pairwise(curve(blocks))) else "no"

    rows.add(FIGURE8, "2^d-tree below univariate at every d", lower, n=size)
    rows.add(FIGURE8, "both grow with d", grow, n=size)

    @cache
    def blocks() -> list[int]:
        files = (ma.datasets.uniform(size, d, seed=0) for d in range(2, 11))
        return [int(ma.OrthantTree(max_block=10_000, k=3).fit_predict(X).max()) + 1 for X in files]

    def more() -> str:
        return "yes" if all(a < b for a, b in pairwise(blocks())) else "no"

    def counted() -> str:
        text = "a level multiplies them by 2^d, but the more there are of it, the fewer levels are needed; d = 2 to 10"
        return f"{text}: {', '.join(map(str, blocks()))}"

    rows.add(FIGURE8, "the number of blocks grows with every d", more, n=size, reason=counted)


def advantage(rows: Rows) -> None:
    """Add what section 3.2 says of table 4: the tree is better at every d, and the more so the larger d is."""
    ds = (2, 3, 4, 5, 10)

    def ratios() -> list[float]:
        errors = [[error(LARGEST, d, blocks, 10_000)[0] for blocks in BY.values()] for d in ds]
        return [univariate / tree for univariate, tree in errors]

    def printed() -> list[float]:
        cells = [[float(rows.expected[TABLE4, f"d={d}: {by} SSE"].expected) for by in BY] for d in ds]
        return [univariate / tree for univariate, tree in cells]

    def growing(found: list[float]) -> str:
        return "yes" if all(a < b for a, b in pairwise(found)) else "no"

    def why() -> str:
        texts = [", ".join(f"{ratio:.2f}" for ratio in found) for found in (ratios(), printed())]
        return f"univariate over tree, d = 2, 3, 4, 5, 10: {texts[0]}; in the paper's table {texts[1]}"

    below = lambda: "yes" if min(ratios()) > 1 else "no"  # noqa: E731
    rows.add(TABLE4, "2^d-tree below univariate at every d", below, n=LARGEST, reason=why)
    what = "the advantage over univariate blocks grows with every d"
    rows.add(TABLE4, what, lambda: growing(ratios()), n=LARGEST, reason=why)


def run(quick: bool, most: int | None = None) -> list[Row]:
    """Run the paper; `quick` leaves out files of more than 600 000 records, `most` others, and all times."""
    _seconds.clear()
    claims.clear()
    rows = Rows(most or (600_000 if quick else None))
    block_numbers(rows)
    by_records(rows)
    by_columns(rows)
    real.table_five(rows)
    real.section(rows)
    claims.extend(timing.add(rows, most is None))
    order = {(e.where, e.what): i for i, e in enumerate(read_expected("orthants"))}
    return sorted(rows.rows, key=lambda row: order[row.where, row.what])


def times() -> list[Time]:
    """Return the seconds of the last run; the paper prints none."""
    return [Time(where, what, None, seconds) for (where, what), seconds in _seconds.items()]


def draw(rows: list[Row]) -> list[Path]:
    """Draw figures 4 to 8 from the rows."""
    value = {(row.where, row.what): row.shown for row in rows}
    folder = HERE / "orthants"
    leaves = [float(most) for most in LEAVES]

    def sse(n: int, by: str) -> list[float]:
        return [float(value[FIGURE5, f"n={n} 000, L={most}: {by} SSE"]) for most in LEAVES]

    sizes = (500, 1000, 1500, 2000)
    useful = {by: (leaves, [float(value[FIGURE4, f"L={most}: useful {by} blocks"]) for most in LEAVES]) for by in BY}
    records = {f"{n} 000 records": {by: (leaves, sse(n, by)) for by in BY} for n in sizes}
    columns = [float(d) for d in range(2, 11)]
    wide = {by: (columns, [float(value[FIGURE8, f"d={d:.0f}: {by} SSE"]) for d in columns]) for by in BY}
    both = ("x", "y")
    written = [
        lines_figure(folder / "figure4.svg", {"2 500 000 × 2": useful}, "L", "useful blocks", logarithmic=both),
        lines_figure(folder / "figure5.svg", records, "L", "SSE", logarithmic=both),
    ]
    for i, by in ((6, "2^d-tree"), (7, "univariate")):
        panel = {by: {f"{n} 000 records": (leaves, sse(n, by)) for n in sizes}}
        written.append(lines_figure(folder / f"figure{i}.svg", panel, "L", "SSE", logarithmic=both))
    written.append(
        lines_figure(folder / "figure8.svg", {"250 000 records, L = 10 000": wide}, "d", "SSE", logarithmic=("y",))
    )
    return written
