"""What l-diversity and t-closeness cost on Census and on the adults of EU-SILC, by every way."""

import os
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

import microagg as ma
from experiments._table import DIFFERS, HERE, Row, Time, read_expected

TITLE = "l-diversity and t-closeness: what they cost"
NOTES = [
    "Algorithms: J. Soria-Comas, J. Domingo-Ferrer, D. Sánchez, S. Martínez, t-closeness through "
    "microaggregation: strict privacy with enhanced utility preservation, IEEE TKDE 27(11), 2015; T. M. Truta, B. "
    "Vinay, Privacy protection: p-sensitive k-anonymity property, ICDE workshops, 2006.",
    "These papers draw their results and print hardly any. The figures under “paper” are therefore those of a "
    "slow program that does what the papers say, step by step. Its ties are its own, so 2 % is what can be asked "
    "of groups under a demand, and 0.3 % of plain MDAV.",
    "EU-SILC has many ties at k = 3: persons of one household differ in age and sex alone. The slow figures there "
    "(1 696 groups of one status, 1.069, 2.626 and 5.999 %) come out where squared distances are taken as "
    "x² − 2xy + y², with the columns in reverse order, and groups below l are merged in order of rows, whether "
    "they have one value or two. With sums of squared differences, and groups of one value merged before those of "
    "two, ours come out. Ties decide, and nothing else.",
    "Census has 1 080 records; TAXINC and POTHVAL are masked, FICA or FEDTAX is confidential. EU-SILC is the file "
    "eusilc of R's package laeken: its 12 107 persons with an employment status (pl030, confidential); age, "
    "rb090, db040, hsize and eqIncome are masked. Losses are in percent, and nothing is rounded.",
]
TS, LS = (0.05, 0.09, 0.13, 0.17, 0.21, 0.25), (2, 3)
KS = {"Census": (2, 5, 10), "EU-SILC": (3, 5, 10)}
BY_T, BY_L = ("auto", "merge", "swap", "closeness"), ("auto", "merge", "candidates")
KEYS = {"Census": ["TAXINC", "POTHVAL"], "EU-SILC": ["age", "rb090", "db040", "hsize", "eqIncome"]}
RANKS = "the slow program measures closeness over ranks, this one over values, which is what it reports"
TIES = "ties between groups that break l as badly; the slow program rounds tied distances another way"
_seconds: dict[tuple[str, str], float] = {}


@cache
def file_of(name: str) -> pa.Table | None:
    """Return a file, or None where it is not at hand."""
    if name == "Census":
        return ma.datasets.load("census")
    path = Path(os.environ.get("MICROAGG_DATA", ".")) / "eusilc.csv"
    if not path.exists():
        return None
    options = csv.ConvertOptions(column_types={"pl030": pa.string()}, strings_can_be_null=True)
    table = csv.read_csv(path, convert_options=options)
    return table.filter(pc.is_valid(table["pl030"]))


def release_of(name: str, confidential: str, k: int, **choices: Any) -> ma.Release[Any]:
    """Mask a file under a demand."""
    keys = KEYS[name]
    return ma.protect(
        file_of(name).select([*keys, confidential]),
        k,
        quasi=keys,
        confidential=[confidential],
        rounding="none",
        **choices,
    )


class Rows:
    """The rows so far; each takes its page and its figure from `expected.csv`."""

    def __init__(self) -> None:
        self.expected = {(e.where, e.what): e for e in read_expected("diversity")}
        self.rows: list[Row] = []

    def add(self, where: str, what: str, ours: float | str | None, tolerance: str = "2 %", reason: str = "") -> None:
        """Add a row; the reason is told where ours differs, or cannot be had."""
        e = self.expected.get((where, what))
        page, expected = ("–", "") if e is None else (e.page, e.expected)
        row = Row(where, page, what, expected, ours, tolerance if expected else "")
        self.rows.append(replace(row, reason=reason) if ours is None or row.verdict == DIFFERS else row)


def under(rows: Rows, where: str, demand: str, ways: tuple[str, ...], why: str, **choices: Any) -> None:
    """Add the losses of one demand by every way, and which way "auto" takes."""
    for way in ways:
        began = time.perf_counter()
        release = release_of(**choices, diversity=way)
        _seconds[where, f"{demand}: {way}"] = time.perf_counter() - began
        rows.add(where, f"{demand}: {way}, loss", _shown(release.information.percent), reason=why)
        if way == "auto":
            rows.add(where, f"{demand}: what auto takes", release.diversity.way)


def _shown(loss: float) -> float:
    return float(f"{loss:.3f}")


def close_on_census(rows: Rows, ks: tuple[int, ...]) -> None:
    """Add the losses by t."""
    for name in ("FICA", "FEDTAX"):
        for k in KS["Census"]:
            where = f"Census, {name}, k={k}"
            if k not in ks:
                for e in rows.expected.values():
                    if e.where == where:
                        rows.add(where, e.what, None, reason="skipped: a quick run has k=5 only")
                continue
            plain = release_of("Census", name, k)
            rows.add(where, "no demand: loss", _shown(plain.information.percent), "0.3 %")
            for t in TS:
                under(rows, where, f"t={t}", BY_T, RANKS, name="Census", confidential=name, k=k, t=t)


def diverse_on_eusilc(rows: Rows, quick: bool) -> None:
    """Add the losses by l."""
    missing = "skipped: a quick run leaves it out" if quick else "eusilc.csv is not in MICROAGG_DATA"
    if quick or file_of("EU-SILC") is None:
        for e in rows.expected.values():
            if e.where.startswith("EU-SILC"):
                rows.add(e.where, e.what, None, reason=missing)
        return
    status = file_of("EU-SILC")["pl030"].to_pandas()
    for k in KS["EU-SILC"]:
        where = f"EU-SILC, pl030, k={k}"
        began = time.perf_counter()
        plain = release_of("EU-SILC", "pl030", k)
        _seconds[where, "no demand"] = time.perf_counter() - began
        rows.add(where, "no demand: loss", _shown(plain.information.percent), "0.3 %", TIES)
        uniform = int((status.groupby(plain.groups).nunique() == 1).sum())
        rows.add(where, "no demand: groups of one status", uniform, "1 %", TIES)
        for n in LS:
            under(rows, where, f"l={n}", BY_L, TIES, name="EU-SILC", confidential="pl030", k=k, l=n)
    began = time.perf_counter()
    release = release_of("EU-SILC", "pl030", 3, l=2, refine="fast", seed=0)
    where = "EU-SILC, pl030, k=3"
    _seconds[where, "l=2: auto, refined"] = time.perf_counter() - began
    rows.add(where, "l=2: auto, refined, loss", _shown(release.information.percent))


def _warm_up() -> None:
    """Compile, so that no time holds it."""
    numbers = ma.datasets.survey(300, seed=0).select(["age", "income", "hours"])
    mixed = ma.datasets.households(300, seed=0).select(["age", "sex", "region", "diagnosis"])
    for choices in ({"t": 0.2}, {"l": 2}):
        ma.protect(numbers, 3, confidential=["hours"], refine="fast", **choices)
        ma.protect(mixed, 3, confidential=["diagnosis"], refine="fast", **choices)


def run(quick: bool) -> list[Row]:
    """Return all rows; in a quick run only Census at k=5."""
    _warm_up()
    rows = Rows()
    close_on_census(rows, (5,) if quick else KS["Census"])
    diverse_on_eusilc(rows, quick)
    return rows.rows


def times() -> list[Time]:
    """Return the seconds of the last run."""
    return [Time(where, what, None, seconds) for (where, what), seconds in _seconds.items()]


def draw(rows: list[Row]) -> list[Path]:
    """Write the table of costs that the documentation shows."""
    path = HERE / "diversity" / "COSTS.md"
    path.write_text(costs(rows, _seconds), encoding="utf-8")
    return [path]


def costs(rows: list[Row], seconds: Mapping[tuple[str, str], float]) -> str:
    """Lay the losses out as two tables: a row a demand, a column a way; the last has the seconds of each."""
    found = {(row.where, row.what): row.shown for row in rows}

    def line(first: str, where: str, demand: str, ways: tuple[str, ...]) -> str:
        losses = [f"{float(found[where, f'{demand}: {way}, loss']):.2f}" for way in ways]
        taken = found[where, f"{demand}: what auto takes"]
        took = ", ".join(f"{seconds[where, f'{demand}: {way}']:.2f}" for way in ways)
        return f"| {first} | {losses[0]} {taken} | {' | '.join(losses[1:])} | {took} |"

    heads = " | ".join(BY_T)
    lines = [f"| Census | k | t | {heads} | seconds |", "|---" * 8 + "|"]
    for name in ("FICA", "FEDTAX"):
        for k in KS["Census"]:
            where = f"Census, {name}, k={k}"
            lines.append(f"| {name} | {k} | none | {float(found[where, 'no demand: loss']):.2f} | | | | |")
            lines += [line(f"{name} | {k} | {t}", where, f"t={t}", BY_T) for t in TS]
    heads = " | ".join(BY_L)
    lines += ["", f"| EU-SILC | k | l | {heads} | seconds |", "|---" * 7 + "|"]
    for k in KS["EU-SILC"]:
        where = f"EU-SILC, pl030, k={k}"
        lines.append(f"| pl030 | {k} | none | {float(found[where, 'no demand: loss']):.2f} | | | |")
        lines += [line(f"pl030 | {k} | {n}", where, f"l={n}", BY_L) for n in LS]
    refined = float(found["EU-SILC, pl030, k=3", "l=2: auto, refined, loss"])
    return "\n".join([*lines, "", f'EU-SILC at k = 3 and l = 2 with `refine="fast"`: {refined:.2f} %.']) + "\n"
