"""What the two papers say of time in words. See `experiments._claims` for how a word is found.

Both methods partition z-scores with the search that is theirs by default; files are not read or released. The papers
programmed no search tree, so a ratio of ours is about the programs, as theirs is, not about the ideas alone. Only how
time grows with the number of columns is measured without a tree: a tree spares the less, the more columns there are.
With the default search the ratio for MDAV (80 columns over 10) came out between 4.0 and 7.6 in four runs, too unsteady
for a word.
"""

import csv
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

import microagg as ma
from experiments._claims import ALMOST_DOUBLE, ALMOST_TRIPLE, NO_END, Claim, least_seconds
from experiments._table import HERE
from experiments.iamat.base import COLUMNS, SIZE, Rows
from experiments.iamat.readings import FILES, scores

TABLE_TWO = "IAMAT table II"
WHERE = "IAMAT time in words"
DRAWN = {"uniform": 4800, "normal": 1560}
Point = tuple[str, int, int, int]  # kind, records, columns, k
REAL = [(name, 0, 0, k) for name, ks in FILES.items() for k in ks]
SIMULATED = [(kind, n, 16, k) for kind, n in DRAWN.items() for k in (3, 4, 5, 6)]


def matrix(kind: str, n: int, d: int) -> NDArray[np.float64]:
    """Return the z-scores of a file."""
    if kind in FILES:
        return scores(kind)
    X = getattr(ma.datasets, kind)(n, d, seed=0)
    return (X - X.mean(axis=0)) / X.std(axis=0)


def measured(point: Point, turns: int = 5, search: str = "auto") -> dict[str, float]:
    """Return the least seconds of MDAV (CBFS) and IAMAT at a point."""
    kind, n, d, k = point
    Z = matrix(kind, n, d)
    mdav, iamat = ma.CBFS(k, search=search), ma.IAMAT(k, search=search)
    return least_seconds({"MDAV": lambda: mdav.fit_predict(Z), "IAMAT": lambda: iamat.fit_predict(Z)}, turns)


def mean_ratio(pairs: Iterable[tuple[float, float]]) -> float:
    """Return the geometric mean of the ratios second over first."""
    return float(np.exp(np.mean([np.log(b / a) for a, b in pairs])))


def printed(where: str, chosen: Callable[[str], bool]) -> float:
    """Return the mean ratio IAMAT over MDAV of the papers' own seconds."""
    with (HERE / "iamat" / "paper_times.csv").open(encoding="utf-8", newline="") as file:
        found = {r["what"]: float(r["seconds"]) for r in csv.DictReader(file) if r["where"] == where}
    labels = [what.rpartition(":")[0] for what in found if what.endswith(": MDAV") and chosen(what)]
    return mean_ratio((found[f"{label}: MDAV"], found[f"{label}: IAMAT"]) for label in labels)


def other_methods() -> dict[str, float]:
    """Return how long maximum distance and V-MDAV take on the real files, over MDAV."""
    found: dict[str, list[tuple[float, float]]] = {"maximum distance": [], "V-MDAV": []}
    for name, _, _, k in REAL:
        Z = scores(name)
        jobs: dict[str, Callable[[], object]] = {
            "MDAV": lambda Z=Z, k=k: ma.MDAV(k).fit_predict(Z),
            "maximum distance": lambda Z=Z, k=k: ma.MaximumDistance(k).fit_predict(Z),
            "V-MDAV": lambda Z=Z, k=k: ma.VMDAV(k).fit_predict(Z),
        }
        took = least_seconds(jobs, 3)
        for method, pairs in found.items():
            pairs.append((took["MDAV"], took[method]))
    return {method: mean_ratio(pairs) for method, pairs in found.items()}


def claims() -> list[Claim]:
    """Measure every claim: some 20 seconds."""
    real, drawn = [measured(point) for point in REAL], [measured(point) for point in SIMULATED]
    size = [measured(("uniform", n, 10, 4), 3) for n in (4000, 10_000, 20_000, 32_000)]
    wide = {d: measured(("uniform", 10_000, d, 3), 3) for d in (10, 20, 40, 80)}

    def ratio(found: Iterable[dict[str, float]]) -> float:
        return mean_ratio((took["MDAV"], took["IAMAT"]) for took in found)

    plain = {d: measured(("uniform", 10_000, d, 3), 3, "brute") for d in (10, 80)}
    growth = ratio(size[-1:]) / ratio(size[:1])
    longest = max(seconds for took in real + drawn for seconds in took.values())
    others = other_methods()
    is_real = lambda what: what.startswith(tuple(FILES))  # noqa: E731
    double = f"{TABLE_TWO}, {{}}: IAMAT takes almost double the time of MDAV"
    with_paper = printed(TABLE_TWO, is_real), printed(TABLE_TWO, lambda what: not is_real(what))
    found = [
        (double.format("Tarragona and Census"), ratio(real), ALMOST_DOUBLE, with_paper[0]),
        (double.format("uniform and normal"), ratio(drawn), ALMOST_DOUBLE, with_paper[1]),
        (f"{TABLE_TWO}: every run takes less than 0.5 s", longest, (0.0, 0.5), 8.52),
        ("IAMAT's time grows with n as MDAV's does", growth, (0.5, 2.0), None),
        (f"{SIZE}: IAMAT takes almost triple", ratio(size[1:]), ALMOST_TRIPLE, printed(SIZE, lambda _: True)),
        (
            f"{COLUMNS}: IAMAT takes almost double",
            ratio(wide.values()),
            ALMOST_DOUBLE,
            printed(COLUMNS, lambda _: True),
        ),
    ]
    for name, own in (("MDAV", 97.10 / 13.75), ("IAMAT", 132.42 / 33.87)):
        what = f"{COLUMNS}: {name}'s time is proportional to the number of columns, 8 times for 80 instead of 10"
        found.append((what, plain[80][name] / plain[10][name], (4.0, 16.0), own))
    found += [
        ("MDAV by the centroid is faster than by the diameter", others["maximum distance"], (1.0, NO_END), None),
        ("V-MDAV takes as long as MDAV", others["V-MDAV"], (0.5, 2.0), None),
    ]
    return [Claim(WHERE, *parts) for parts in found]


def add(rows: Rows, wanted: bool) -> list[Claim]:
    """Add the rows of all claims, and return what was measured; a run of some files only measures nothing."""
    if not wanted:
        rows.skip(WHERE, [what for where, what in rows.expected if where == WHERE], "skipped: no times in this run")
        return []
    found = claims()
    for claim in found:
        rows.add(WHERE, claim.what, claim.word, reason=claim.reason)
    return found
