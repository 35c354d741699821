"""What the two papers say of their tables in words, of loss and risk. What they say of time is in `timing`."""

from itertools import pairwise

import numpy as np

import microagg as ma
from experiments._table import number
from experiments.iamat.base import METHODS, Rows, figures
from experiments.iamat.readings import FILES, RECORDS, errors, iamat, mdav, scores
from experiments.iamat.risk import FILES as JUDGED
from experiments.iamat.risk import scores as risk

WHERE = "IAMAT in words"
DRAWN = {"uniform": (4800, 16), "normal": (1560, 16)}
KS = (3, 4, 5)


def yes(holds: bool) -> str:
    """Write a claim's outcome."""
    return "yes" if holds else "no"


def improvements(kind: str) -> dict[int, float]:
    """Return IAMAT's improvement by k in table II, in the reading of the table."""
    if kind in FILES:
        return {k: 100 * (1 - iamat(kind, k)["last group left out"] / mdav(kind, k)["CBFS"]) for k in FILES[kind]}
    return {k: figures(k, kind, *DRAWN[kind])["improvement"] for k in (3, 4, 5, 6)}


def listed(values: dict[int, float]) -> str:
    """Write figures by k."""
    return ", ".join(f"k={k} {value:.2f}" for k, value in values.items())


def of_table_two(rows: Rows) -> None:
    """Add at which k the improvement is largest, whether it falls as k grows, and whether there is one at every k."""
    for kind, n in [*RECORDS.items(), *((kind, n) for kind, (n, _) in DRAWN.items())]:
        best = f"table II, {kind}: k of the largest improvement"
        if rows.skips(n):
            rows.skip(WHERE, [best])
            continue
        found = improvements(kind)
        tolerance = "" if kind in FILES else "1"
        rows.add(WHERE, best, max(found, key=lambda k: found[k]), tolerance, reason=listed(found))
    for kind in FILES:
        falls = f"table II, {kind}: the improvement falls as k grows"
        superior = f"table II, {kind}: IAMAT loses less than MDAV at every k, all groups counted"
        if rows.skips(RECORDS[kind]):
            rows.skip(WHERE, [falls, superior])
            continue
        found = improvements(kind)
        rows.add(WHERE, falls, yes(all(a > b for a, b in pairwise(found.values()))), reason=listed(found))
        whole = {k: 100 * (1 - iamat(kind, k)["all groups counted"] / mdav(kind, k)["CBFS"]) for k in FILES[kind]}
        rows.add(WHERE, superior, yes(min(whole.values()) > 0), reason=f"improvement {listed(whole)}")


def of_table_three(rows: Rows) -> None:
    """Add what is said of G_IL, RLD, G_DR and SI."""
    for kind, n in JUDGED.items():
        whats = {what: rows.expected.get((WHERE, f"table III, {kind}: {what}")) for what in CLAIMS}
        present = [what for what, expected in whats.items() if expected is not None]
        if rows.skips(n):
            rows.skip(WHERE, [f"table III, {kind}: {what}" for what in present])
            continue
        ours = {name: {k: risk(method, k, kind, n) for k in KS} for name, method in METHODS.items()}
        for what in present:
            figure, kind_of = CLAIMS[what]
            holds, text = outcome(kind_of, {name: {k: f[figure] for k, f in by.items()} for name, by in ours.items()})
            rows.add(WHERE, f"table III, {kind}: {what}", yes(holds), reason=text + own(rows, kind, figure, kind_of))


CLAIMS = {
    "G_IL grows with k": ("G_IL", "grows"),
    "RLD falls as k grows": ("RLD", "falls"),
    "G_IL of IAMAT is less than half of MDAV's": ("G_IL", "less than half"),
    "G_DR of IAMAT is below MDAV's": ("G_DR", "below"),
    "SI of IAMAT is below MDAV's": ("SI", "below"),
    "SI of IAMAT is almost half of MDAV's": ("SI", "almost half"),
}

MOST = {"below": 100, "less than half": 50, "almost half": 60}  # percent of MDAV's


def outcome(claim: str, by: dict[str, dict[int, float]]) -> tuple[bool, str]:
    """Tell whether a claim holds at every k, with the figures that decide it."""
    if claim in ("grows", "falls"):
        sign = 1 if claim == "grows" else -1
        holds = all(sign * (b - a) > 0 for values in by.values() for a, b in pairwise(values.values()))
        return holds, "; ".join(f"{name} {listed(values)}" for name, values in by.items())
    shares = {k: 100 * by["IAMAT"][k] / by["MDAV"][k] for k in KS}
    return max(shares.values()) < MOST[claim], "in percent of MDAV's: " + listed(shares)


def own(rows: Rows, kind: str, figure: str, claim: str) -> str:
    """Say whether the paper's own table bears its words out."""
    cells = {
        name: {
            k: float(number(rows.expected["IAMAT table III", f"{kind}, k={k}, {name}: {figure}"].expected) or 0)
            for k in KS
        }
        for name in METHODS
    }
    holds, text = outcome(claim, cells)
    return "; in the paper's table it is so" if holds else f"; in the paper's table it is not: {text}"


def of_figure_one(rows: Rows) -> None:
    """Add that risk of IAMAT is said not to fall while that of MDAV does."""
    where, what = "IAMAT figure 1", "as k grows, G_DR of IAMAT is not affected, that of MDAV is"
    if rows.skips(JUDGED["Census"]):
        return rows.skip(where, [what])
    ours, paper = {}, {}
    for name, method in METHODS.items():
        found = [risk(method, k, "Census", JUDGED["Census"])["G_DR"] for k in (3, 5)]
        printed = [float(rows.expected[where, f"Census, k={k}, {name}: G_DR"].expected) for k in (3, 5)]
        ours[name], paper[name] = (100 * (last / first - 1) for first, last in (found, printed))
    holds = abs(ours["IAMAT"]) < abs(ours["MDAV"]) / 2
    texts = [", ".join(f"{name} {value:.0f} %" for name, value in change.items()) for change in (ours, paper)]
    rows.add(where, what, yes(holds), reason=f"change from k=3 to 5: {texts[0]}; in the paper's table {texts[1]}")
    return None


def of_earlier_methods(rows: Rows) -> None:
    """Add what is said of MDAV and V-MDAV: six comparisons on the real files."""
    for what, better, worse in (
        ("MDAV by the centroid loses less than by the diameter", ma.MDAV, ma.MaximumDistance),
        ("V-MDAV loses less than MDAV", ma.VMDAV, ma.MDAV),
    ):
        if rows.skips(max(RECORDS.values())):
            rows.skip(WHERE, [what])
            continue
        found = {}
        for name in FILES:
            for k in KS:
                Z = scores(name)
                found[f"{name}, k={k}"] = [float(errors(Z, m(k).fit_predict(Z)).sum()) for m in (better, worse)]
        count = sum(a < b for a, b in found.values())
        text = "; ".join(f"{label} {a:.4f} and {b:.4f}" for label, (a, b) in found.items())
        rows.add(WHERE, what, yes(count == len(found)), reason=f"in {count} of {len(found)}: {text}")


def proportional(
    rows: Rows, where: str, what: str, points: list[tuple[int, int, int]], by: list[int], kind: str
) -> None:
    """Add whether loss is proportional to the number of columns, or to k: within a quarter, from end to end."""
    if any(rows.skips(n, d) for _, n, d in points):
        return rows.skip(where, [what])
    ends = [figures(*points[i][:1], kind, *points[i][1:]) for i in (0, -1)]
    ratios = {name: ends[1][name] / ends[0][name] for name in ("MDAV IL", "IAMAT IL")}
    wanted = by[-1] / by[0]
    holds = all(abs(ratio / wanted - 1) < 0.25 for ratio in ratios.values())
    text = ", ".join(f"{name} grows {ratio:.2f} times" for name, ratio in ratios.items())
    rows.add(where, what, yes(holds), reason=f"from {by[0]} to {by[-1]}, {wanted:.2f} times, {text}")
    return None


def of_figures_three_and_four(rows: Rows) -> None:
    """Add that loss is said to be proportional."""
    for kind in ("normal", "uniform"):
        columns, sizes = list(range(10, 81, 10)), list(range(3, 11))
        what = f"{kind}: IL is almost proportional to the number of columns"
        proportional(rows, "IAMAT figure 3", what, [(3, 10_000, d) for d in columns], columns, kind)
        what = f"{kind}: IL is proportional to k"
        proportional(rows, "IAMAT figure 4", what, [(k, 10_000, 10) for k in sizes], sizes, kind)


def largest(rows: Rows, points: dict[str, list[tuple[int, int, int]]]) -> None:
    """Add the largest improvement of all: 13 % is promised."""
    what = "largest improvement of all"
    if any(rows.skips(n, d) for block in points.values() for _, n, d in block):
        return rows.skip(WHERE, [what])
    found = [figures(k, kind, n, d)["improvement"] for block in points.values() for k, n, d in block for kind in DRAWN]
    found += [value for kind in DRAWN for value in improvements(kind).values()]
    printed = [
        float(e.expected) for (_, what_), e in rows.expected.items() if what_.endswith(": improvement") and e.expected
    ]
    text = f"of {len(found)} drawn files; the papers' own tables reach {np.max(printed):.2f}"
    rows.add(WHERE, what, max(found), "1.5", reason=text)
    return None


def add(rows: Rows, points: dict[str, list[tuple[int, int, int]]]) -> None:
    """Add all of them."""
    of_table_two(rows)
    of_table_three(rows)
    of_figure_one(rows)
    of_earlier_methods(rows)
    of_figures_three_and_four(rows)
    largest(rows, points)
