"""What refining brings: information loss and seconds on the CASC files, and on a million records in blocks.

python benchmarks/refine.py                            the three files, k = 3, 5, 10, effort "fast"
python benchmarks/refine.py --seconds 60               the same, thorough, with a time limit
python benchmarks/refine.py --seconds 600 census:3     one file and k
python benchmarks/refine.py --moves 720000000 eia:5    a run of before again
python benchmarks/refine.py --records                  the lowest losses that were found, again: some half an hour
python benchmarks/refine.py --bound census:3           what no partition can be below, and how far the record is from it
python benchmarks/refine.py --starts                   from other partitions than MDAV's
python benchmarks/refine.py --risk                     loss beside risk, plain and refined
python benchmarks/refine.py --borders                  blocks refined alone, and across their borders
python benchmarks/refine.py --large                    100 000 and 1 000 000 uniform records of 5 columns
"""

import argparse
import itertools
import math
import time

import numpy as np
import pyarrow as pa

import microagg as ma
from microagg.algorithms.kernels.records import plain_records, take
from microagg.algorithms.median_tree import median_pieces
from microagg.algorithms.methods import METHODS
from microagg.algorithms.refine import check_effort
from microagg.algorithms.scores import standard_scores
from microagg.algorithms.tight_bound import tight_bound
from microagg.mask.pieces import Placed, refine_groups
from microagg.recipe import Refine
from microagg.work import ALONE

BEST_KNOWN = {
    "tarragona": {3: 14.4686, 4: 17.1098, 5: 20.1704, 6: 23.4928, 10: 30.1211},
    "census": {3: 4.6754, 4: 6.0964, 5: 7.3029, 6: 8.2750, 10: 11.3933},
    "eia": {3: 0.3489, 4: 0.4847, 5: 0.7313, 6: 0.9023, 10: 1.9370},
}
"""Upper bounds that were known before, in percent."""

MOVES = 400_000_000
RECORDS = {
    **{(name, k): (MOVES, 0) for name in BEST_KNOWN for k in (3, 4, 5, 6, 10)},
    ("tarragona", 6): (MOVES, 1),
    ("census", 3): (188_165_160, 0),
}
"""Moves and seed of the run that found the lowest loss."""

STARTS = {
    "MDAV": ma.MDAV,
    "CBFS": ma.CBFS,
    "IAMAT": ma.IAMAT,
    "IAMAT, sizes vary": lambda k: ma.IAMAT(k, sizes="variable"),
    "V-MDAV": ma.VMDAV,
    "MDAV of k + 1": lambda k: ma.MDAV(k + 1),
    "first axis": lambda k: ma.Projection(k, axis="pca"),
}


def scores(name: str) -> np.ndarray:
    """Return the z-scores (n, d) of a reference file."""
    table = ma.datasets.load(name)
    columns = np.array([table[column].to_numpy() for column in table.column_names], dtype=float)
    return np.ascontiguousarray(standard_scores(columns).T)


def percent(X: np.ndarray, labels: np.ndarray) -> float:
    """Return the information loss of a partition."""
    return ma.information_loss(X, labels).percent


def files(cases: list[tuple[str, int]], options: argparse.Namespace) -> None:
    """Refine MDAV's partition of each file and k."""
    effort = options.moves or ("fast" if options.seconds is None else "thorough")
    print("file       k   MDAV       refined    less     of the best known  seconds  processor  moves, seed")
    for name, k in cases:
        seed = options.seed
        if options.records:
            effort, seed = RECORDS[name, k]
        X = scores(name)
        labels = ma.MDAV(k).fit_predict(X)
        ma.refine(X[:100], ma.MDAV(k).fit_predict(X[:100]), k, effort=1)  # compiles
        began, worked = time.perf_counter(), time.process_time()
        found = ma.refine(X, labels, k, effort=effort, time_limit=options.seconds, seed=seed)
        seconds, processor = time.perf_counter() - began, time.process_time() - worked
        before, after = percent(X, labels), percent(X, found.labels)
        best = BEST_KNOWN[name].get(k, math.nan)
        stopped = f", stopped at {found.stopped}" if found.stopped else ""
        print(
            f"{name:<10} {k:<3} {before:<10.5f} {after:<10.5f} {100 * (1 - after / before):4.1f} %   "
            f"{100 * (after / best - 1):+7.3f} %          {seconds:6.2f}   {processor:6.2f}     "
            f"{found.moves}, {seed}{stopped}",
            flush=True,
        )


def bounds(cases: list[tuple[str, int]], seconds: float | None) -> None:
    """Bound the loss of any partition of each file and k."""
    print("file       k   bound      of the best known  programmes  processor")
    for name, k in cases:
        X = scores(name)
        tight_bound(X[:100], k, rounds=1)  # compiles
        worked = time.process_time()
        found = tight_bound(X, k, time_limit=seconds)
        print(
            f"{name:<10} {k:<3} {found.percent:<10.5f} {100 * found.percent / BEST_KNOWN[name][k]:8.3f} %         "
            f"{found.rounds:<10}  {time.process_time() - worked:6.2f}",
            flush=True,
        )


def starts(cases: list[tuple[str, int]]) -> None:
    """Refine several partitions of each file and k."""
    print("file       k   start              before    fast      thorough")
    for name, k in cases:
        X = scores(name)
        for title, start in STARTS.items():
            labels = start(k).fit_predict(X)
            found = [
                np.mean([percent(X, ma.refine(X, labels, k, effort=effort, seed=seed).labels) for seed in range(runs)])
                for effort, runs in (("fast", 4), (50_000_000, 1))
            ]
            print(
                f"{name:<10} {k:<3} {title:<18} {percent(X, labels):<9.4f} {found[0]:<9.4f} {found[1]:.4f}", flush=True
            )


def risk() -> None:
    """Compare plain and refined releases of two files, every masked column known to the intruder."""
    survey = ma.datasets.survey(5000, seed=0)
    roles = {"identifiers": ["person"], "weight": "weight", "strata": ["region"]}
    for name, table, options in (("Census", ma.datasets.load("census"), {}), ("survey", survey, roles)):
        methods = {"plain": "mdav", "refined": {"refine": "fast"}}
        found = ma.compare(table, methods, (3, 5, 10), **options).candidates
        for plain, refined in zip(found[:3], found[3:], strict=True):
            pairs = [
                (getattr(plain, of), getattr(refined, of)) for of in ("il", "rld", "right_group", "interval", "score")
            ]
            print(f"| {name} | {plain.k} | " + " | ".join(f"{a:.2f} → {b:.2f}" for a, b in pairs) + " |", flush=True)


def large(seed: int) -> None:
    """Mask whole, in median blocks, and in blocks and refined."""
    runs = {
        "whole": {"blocks": "none"},
        "blocks": {"blocks": "median"},
        "refined": {"blocks": "median", "refine": "fast"},
    }
    seconds: dict[tuple[str, int], float] = {}
    for n in (1000, 100_000, 1_000_000):  # the first compiles
        X = ma.datasets.uniform(n, 5, seed=0)
        table = pa.table({f"c{j}": np.ascontiguousarray(X[:, j]) for j in range(5)})
        for name, options in runs.items():
            began = time.perf_counter()
            release = ma.protect(table, k=3, seed=seed, **options)
            seconds[name, n] = time.perf_counter() - began
            print(f"{n} x 5, {name}: {release.information.percent:.4f} % in {seconds[name, n]:.2f} s", flush=True)
    ratio = seconds["refined", 1_000_000] / seconds["whole", 1_000_000]
    growth = [seconds["refined", n] - seconds["blocks", n] for n in (100_000, 1_000_000)]
    print(f"1 000 000: blocks and refining take {ratio:.2f} times as long as MDAV of the whole file")
    print(f"refining grows from 100 000 to 1 000 000 with exponent {math.log10(growth[1] / growth[0]):.2f}")


def borders(seed: int, n: int, name: str, max_block: int) -> None:
    """Refine the groups of blocks alone, then across their borders, and those of the whole file at once."""
    how = Refine("fast", seed)
    table = ma.datasets.survey(n, seed=0)
    columns = [table[column].to_numpy() for column in table.column_names[3:12]]
    X = ma.datasets.uniform(n, 5, seed=0).T if name == "uniform" else np.array(columns, dtype=float)
    records, one_piece = plain_records(standard_scores(X)), np.zeros(n, dtype=np.int64)
    blocks = median_pieces(records.entries, np.ones(X.shape[0]), min(max_block, n // 3), 3, rows=np.arange(n))
    rows = np.concatenate(blocks)
    formed = np.concatenate([METHODS["mdav"].function(take(records, own), 3) + own[0] * n for own in blocks])
    groups, block_of = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    groups[rows] = np.unique(formed, return_inverse=True)[1]
    block_of[rows] = np.repeat(np.arange(len(blocks)), [own.size for own in blocks])
    moves = sum(check_effort("fast", own.size) for own in blocks)

    def refined(pieces: np.ndarray) -> np.ndarray:
        return refine_groups(Placed(records), blocks, pieces, groups, 3, how, ALONE)[0]

    ways = {
        "blocks": lambda: groups,
        "refined alone": lambda: refined(block_of),  # as if each block were a stratum
        "across borders": lambda: refined(one_piece),
        "whole": lambda: ma.refine(records, groups, 3, seed=seed, n_jobs=1).labels,
        "whole, moves of blocks": lambda: ma.refine(records, groups, 3, effort=moves, seed=seed, n_jobs=1).labels,
    }
    for way, work in ways.items():
        began = time.process_time()
        labels = work()
        seconds = time.process_time() - began
        lost = percent(records.entries.T, labels)
        print(f"{n:>9} x {X.shape[0]} {name:<8}  {way:<22} {lost:9.4f} {seconds:9.1f}", flush=True)


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", help="file:k, such as census:3")
    parser.add_argument("--seconds", type=float, help="time limit of a thorough search")
    parser.add_argument("--moves", type=int, help="moves to offer in all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--records", action="store_true", help="the runs that found the lowest losses")
    parser.add_argument("--bound", action="store_true", help="what no partition can be below")
    parser.add_argument("--risk", action="store_true", help="loss beside risk")
    parser.add_argument("--starts", action="store_true", help="compare starts")
    parser.add_argument("--borders", action="store_true", help="blocks refined alone, and across their borders")
    parser.add_argument("--sizes", default="200000,1000000", help="of files for --borders, with commas between")
    parser.add_argument("--max-block", type=int, default=50_000, help="the most records of a block for --borders")
    parser.add_argument("--large", action="store_true", help="a million records in blocks")
    options = parser.parse_args()
    cases = [(name, int(k)) for name, k in (case.split(":") for case in options.cases)]
    cases = cases or [(name, k) for name in BEST_KNOWN for k in ((3, 4, 5, 6, 10) if options.records else (3, 5, 10))]
    if options.bound:
        bounds(cases, options.seconds)
    elif options.large:
        large(options.seed)
    elif options.borders:
        print("file                    groups                    loss %   processor seconds; the first file compiles")
        for size, name in itertools.product((1000, *map(int, options.sizes.split(","))), ("uniform", "survey")):
            borders(options.seed, size, name, options.max_block)
    elif options.risk:
        risk()
    elif options.starts:
        starts(cases)
    else:
        files(cases, options)


if __name__ == "__main__":
    main()
