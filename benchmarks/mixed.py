"""Time the grouping of mixed records: by codes, and by one coordinate for each category.

`python benchmarks/mixed.py` prints seconds of processor time, the least of several runs (ten minutes);
`--million` adds 1 000 000 records of five numbers and five columns of ten categories, in blocks of several sizes;
`--eusilc FILE` adds the nine keys of such a file. Only `--million` and `--eusilc` where `--quick` is given. All
coordinates are left out where they would take many minutes.
"""

import argparse
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from microagg import protect
from microagg.algorithms.kernels.records import Records, coordinates
from microagg.algorithms.methods import METHODS
from microagg.algorithms.refine import refine, squared_error
from microagg.columns.embedding import Points
from microagg.mask.pieces import Placed, cut_into_pieces, group_pieces
from microagg.recipe import BlockChoices
from microagg.work import ALONE

SEARCHED = ("mdav", "cbfs", "vmdav", "iamat")
MOST = 4_000_000  # records times coordinates up to which all coordinates are timed


def mixed(n: int, categories: int, numbers: int = 5, codes: int = 5, seed: int = 0) -> Records:
    """Make records that hang together: three common factors, of which each column follows one."""
    rng = np.random.default_rng(seed)
    factors = rng.standard_normal((3, n))
    entries = [0.7 * factors[j % 3] + 0.7 * rng.standard_normal(n) for j in range(numbers)]
    heights, starts = [], [numbers]
    shares = 1.0 / np.arange(1, categories + 1) ** 0.7
    cuts = norm.ppf(np.cumsum(shares / shares.sum())[:-1])
    for j in range(codes):
        found = np.searchsorted(cuts, 0.8 * factors[j % 3] + 0.6 * rng.standard_normal(n))
        found = np.unique(rng.permutation(categories)[found], return_inverse=True)[1]
        entries.append(found.astype(float))
        spread = 1.0 - ((np.bincount(found) / n) ** 2).sum()
        heights.append(1.0 / np.sqrt(spread))
        starts.append(starts[-1] + int(found.max()) + 1)
    return Records(np.array(entries), np.array(heights), np.array(starts))


def least(work: Callable[[], Any], times: int = 3) -> float:
    """Return the least processor time of several runs."""
    found = []
    for _ in range(times):
        began = time.process_time()
        work()
        found.append(time.process_time() - began)
        if found[-1] > 10:
            break
    return min(found)


def time_methods(n: int, categories: int) -> None:
    """Print a line for each method and way to search."""
    records = mixed(n, categories)
    n_coordinates = int(records.starts[-1])
    dense = coordinates(records).T if n * n_coordinates <= MOST else None
    for name in SEARCHED:
        for search in ("brute", "tree"):
            group = partial(METHODS[name].function, k=5, search=search)
            by_codes = least(partial(group, records))
            line(name, n, n_coordinates, search, by_codes, None if dense is None else least(partial(group, dense), 1))
    labels = METHODS["mdav"].function(records, 5)
    better = partial(refine, labels=labels, k=5, n_jobs=1)
    by_codes = least(partial(better, records), 1)
    line("refine", n, n_coordinates, "-", by_codes, None if dense is None else least(partial(better, dense), 1))


def line(name: str, n: int, n_coordinates: int, search: str, by_codes: float, in_full: float | None) -> None:
    """Print one line of the table."""
    full = f"{in_full:14.2f}" if in_full is not None else f"{'':14}"
    print(f"{name:>10}{n:>10}{n_coordinates:>13}{search:>8}{by_codes:>10.2f}{full}", flush=True)


def time_a_million(n: int = 1_000_000) -> None:
    """Print what blocks of several sizes cost in time and loss, and the time of `protect` by default."""
    records = mixed(n, 10)
    owners = np.arange(records.entries.shape[0])
    points, whole = Points(records, owners), np.zeros(n, dtype=np.int64)
    names = [f"c{j}" for j in owners]
    total = squared_error(records, whole)
    for most in (5_000, 10_000, 20_000, 50_000, 100_000):
        began = time.process_time()
        pieces = cut_into_pieces(points, names, whole, BlockChoices("median", most), 5, ALONE)
        cut = time.process_time()
        labels = group_pieces(METHODS["mdav"].function, Placed(records), pieces, 5, False, ALONE)
        grouped = time.process_time()
        loss = 100 * squared_error(records, labels) / total
        times = f"cut {cut - began:5.1f} s, group {grouped - cut:5.1f} s"
        print(f"blocks of {most:>7}: {times} of processor time, loss {loss:.3f} %", flush=True)
    frame = pd.DataFrame(dict(zip(names, records.entries, strict=True))).astype(dict.fromkeys(names[5:], "category"))
    began, busy = time.perf_counter(), time.process_time()
    release = protect(frame, k=5)
    times = f"{time.perf_counter() - began:.1f} s on the clock, {time.process_time() - busy:.1f} s of processor time"
    print(f"protect: {times}, loss {release.information.percent:.3f} %, {release.n_blocks} blocks")


def time_eusilc(path: Path) -> None:
    """Print the time of `protect` on nine keys."""
    keys = ["age", "eqIncome", "hsize", "rb090", "db040", "pl030", "pb220a", "py010n", "hy090n"]
    frame = pd.read_csv(path)[keys].astype({"pl030": "string"})
    kinds = {"hsize": "ordinal", "pl030": "nominal", "py010n": "semi", "hy090n": "semi"}
    for missing in ("state", "pattern"):
        seconds = least(partial(protect, frame, k=3, kinds=kinds, missing=missing, n_jobs=1))
        print(f"eusilc, nine keys, k = 3, missing={missing!r}: protect {seconds:.2f} s on one thread")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--million", action="store_true", help="add a file of a million records")
    parser.add_argument("--eusilc", type=Path, help="add the nine keys of this file")
    parser.add_argument("--quick", action="store_true", help="leave out the table of methods")
    arguments = parser.parse_args()
    warm = mixed(300, 10)
    for name in SEARCHED:
        for search in ("brute", "tree"):
            METHODS[name].function(warm, 5, search=search)
            METHODS[name].function(coordinates(warm).T, 5, search=search)
    for X in (warm, coordinates(warm).T):
        refine(X, METHODS["mdav"].function(warm, 5), 5)
    print(f"{'method':>10}{'records':>10}{'coordinates':>13}{'search':>8}{'by codes':>10}{'in full':>14}")
    for n, categories in [] if arguments.quick else [(n, c) for n in (15_000, 60_000) for c in (10, 50, 226)]:
        time_methods(n, categories)
    records = mixed(
        61_697, 10, numbers=14, codes=3
    )  # as many coordinates as a survey's, once missing states are counted
    line("mdav", 61_697, int(records.starts[-1]), "auto", least(partial(METHODS["mdav"].function, records, 3)), None)
    if arguments.eusilc:
        time_eusilc(arguments.eusilc)
    if arguments.million:
        time_a_million()


if __name__ == "__main__":
    main()
