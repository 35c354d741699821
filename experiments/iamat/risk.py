"""Table III and figure 1: loss and risk scored, on Census and on drawn files.

Census is the papers' own file. Their G_IL comes out to the last digit when M1 to M5 are rounded to a hundredth of a
percent before they are averaged, so ours are too. Their linkage (RLD) is not defined; `linkage` gives every reading
that was tried.
"""

import itertools
from functools import cache

import numpy as np
import pyarrow as pa

import microagg as ma
from experiments.iamat.base import CENSUS_KEYS, METHODS, Rows, as_table

WHERE, FIGURE = "IAMAT table III", "IAMAT figure 1"
FIGURES = ("G_IL", "RLD", "ID", "G_DR", "SI")
FILES = {"Census": 1080, "uniform": 4800, "normal": 1560}


@cache
def judged(kind: str, n: int, seed: int) -> pa.Table:
    """Return the file that table III judges: raw values, in the ranges that the paper states."""
    if kind == "uniform":
        return as_table(40_000 * ma.datasets.uniform(n, 16, seed=seed))
    if kind == "normal":
        return as_table(500 + 150 * ma.datasets.normal(n, 16, seed=seed))
    return ma.datasets.load("census")


@cache
def masked(method: str, k: int, kind: str, n: int, seed: int = 0) -> pa.Table:
    """Mask a file."""
    return ma.protect(judged(kind, n, seed), k=k, method=method, rounding="none").data


def overall_loss(measures: "ma.LossMeasures") -> float:
    """Return G_IL from M1 to M5 in percent, each rounded to two digits as the paper did."""
    return sum(round(100 * m, 2) for m in (measures.m1, measures.m2, measures.m3, measures.m4, measures.m5)) / 5


def keys_of(kind: str, n: int) -> list[str]:
    """Return the key columns: the paper's seven, or its number of them."""
    return CENSUS_KEYS if kind == "Census" else judged(kind, n, 0).column_names[: 3 if kind == "uniform" else 5]


@cache
def scores(method: str, k: int, kind: str, n: int, seed: int = 0, shuffled: bool = False) -> dict[str, float]:
    """Give G_IL, RLD, ID, G_DR and SI, and other readings of RLD and ID."""
    original, keys = judged(kind, n, seed), keys_of(kind, n)
    released = masked(method, k, kind, n, seed)
    if shuffled:
        released = released.take(np.random.default_rng(seed).permutation(len(released)))
    measures = ma.loss_measures(original, released)
    g_il = overall_loss(measures) if kind == "Census" else measures.g_il
    risk = ma.disclosure_risk(original, released, keys=keys)
    return {
        "G_IL": g_il,
        "G_IL as it is": measures.g_il,
        "RLD": risk.rld,
        "ID": risk.interval,
        "G_DR": risk.g_dr,
        "SI": ma.scoring_index(g_il, risk.g_dr),
        "right record by all keys": risk.full_keys,
        "right group over all sets": risk.right_group,
        "right group by all keys": risk.full_group,
        "ID of keys": ma.disclosure_risk(original, released, keys=keys, columns=keys).interval,
    }


@cache
def linkage(method: str, k: int) -> dict[str, float]:
    """Give, for Census, the shares linked to the right record and to the right group in every reading tried."""
    found = scores(method, k, "Census", 1080)
    original, released = judged("Census", 1080, 0), masked(method, k, "Census", 1080)
    six = [
        ma.disclosure_risk(original, released, keys=list(keys)).full_group
        for keys in itertools.combinations(CENSUS_KEYS, 6)
    ]
    whole = found["right group by all keys"]
    return {
        "right record over all sets": found["RLD"],
        "right record by all keys": found["right record by all keys"],
        "right group over all sets": found["right group over all sets"],
        "right group by all keys": whole,
        "right group over sets of at least six keys": float(np.mean([*six, whole])),
    }


def reproduced(rows: Rows) -> list[str]:
    """Return the readings of RLD that give all six printed figures of Census, to within a point."""
    cells = [(name, method, k) for name, method in METHODS.items() for k in (3, 4, 5)]
    printed = [float(rows.expected[WHERE, f"Census, k={k}, {name}: RLD"].expected) for name, _, k in cells]
    found = [linkage(method, k) for _, method, k in cells]
    return [
        reading
        for reading in found[0]
        if all(abs(f[reading] - paper) < 1 for f, paper in zip(found, printed, strict=True))
    ]


def table_three(rows: Rows, seeds: int) -> None:
    """Add table III, and figure 1, whose points are printed in it."""
    for kind, n in FILES.items():
        for k in (3, 4, 5):
            for name, method in METHODS.items():
                cell(rows, kind, n, k, name, method, seeds)


def cell(rows: Rows, kind: str, n: int, k: int, name: str, method: str, seeds: int) -> None:
    """Add the five figures of a method at a k."""
    label = f"{kind}, k={k}, {name}"
    places = [(WHERE, figure) for figure in FIGURES]
    places += [(FIGURE, figure) for figure in ("G_IL", "G_DR")] if kind == "Census" else []
    if rows.skips(n):
        for where, figure in places:
            rows.skip(where, [f"{label}: {figure}"])
        return
    found = scores(method, k, kind, n)
    paper = {figure: float(rows.expected[WHERE, f"{label}: {figure}"].expected) for figure in FIGURES}
    for where, figure in places:

        def why(figure: str = figure) -> str:
            if figure == "RLD" and kind == "Census":
                return reason_of_linkage(rows, method, k)
            return reason(figure, kind, n, k, method, found, paper, seeds)

        if kind == "Census" and figure == "G_IL":
            text = f"M1 to M5 rounded to 0.01 %, then averaged; not rounded {found['G_IL as it is']:.4f}"
            rows.add(where, f"{label}: {figure}", found[figure], reason=text)
        else:
            rows.add(where, f"{label}: {figure}", found[figure], "" if kind == "Census" else "2 %", why)


def reason_of_linkage(rows: Rows, method: str, k: int) -> str:
    """Say what the printed linkage of Census can and cannot be."""
    most = 100 / k
    others = ", ".join(f"{name} {value:.2f}" for name, value in linkage(method, k).items())
    hits = reproduced(rows)
    text = f"the paper does not define its linkage; the right record: at most {most:.1f}, for k records are identical"
    return f"{text}; readings: {others}; " + (f"all six figures by {hits[0]}" if hits else "none gives all six figures")


def reason(
    figure: str, kind: str, n: int, k: int, method: str, found: dict[str, float], paper: dict[str, float], seeds: int
) -> str:
    """Say why a figure of table III differs, from what other readings give."""
    if figure == "RLD":
        names = ("right record by all keys", "right group over all sets", "right group by all keys")
        others = ", ".join(f"{name} {found[name]:.2f}" for name in names)
        return f"the paper does not define its linkage; other readings: {others}"
    if figure == "G_DR":
        own = (paper["RLD"] + paper["ID"]) / 2
        return f"follows RLD and ID; from the paper's own RLD and ID {own:.4f}"
    if figure == "SI":
        own = (paper["G_IL"] + paper["G_DR"]) / 2
        text = f"follows G_IL and RLD; from the paper's own G_IL and G_DR {own:.4f}"
        shift = paper["G_IL"] / 2 + 19.5
        return text + (f", but it prints ½·G_IL + 19.5 = {shift:.4f}" if abs(shift - paper["SI"]) < 1e-3 else "")
    if figure == "ID":
        return f"a record is close in all 16 columns or not counted; in the key columns alone {found['ID of keys']:.4f}"
    drawn = [scores(method, k, kind, n, seed)["G_IL"] for seed in range(seeds)]
    mixed = [scores(method, k, kind, n, seed, True)["G_IL"] for seed in range(seeds)]
    others_ = [scores(method, k, "uniform", n, seed)["G_IL"] for seed in range(seeds)] if kind == "normal" else []
    text = f"covariances near 0 make it swing: {seeds} files give {min(drawn):.0f} to {max(drawn):.0f}"
    if others_:
        return text + f", uniform ones {min(others_):.0f} to {max(others_):.0f}"
    return text + f"; with masked rows out of order {min(mixed):.0f} to {max(mixed):.0f}"
