"""EU-SILC: five analyses before masking, and after it by every way."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
from pyarrow import csv

import microagg as ma

WHERE = "EU-SILC, k=5"
NINE = {
    "age": "number",
    "eqIncome": "number",
    "hsize": "ordinal",
    "rb090": "nominal",
    "db040": "nominal",
    "pl030": "nominal",
    "pb220a": "nominal",
    "py010n": "semi",
    "hy090n": "semi",
}
DOMAINS = ["rb090", "db040"]
ANALYSES = [
    ma.Analysis("gini", "eqIncome", weight="rb050"),
    ma.Analysis("poverty", "eqIncome", weight="rb050", fraction=0.6),
    ma.Analysis("mean", "eqIncome", by=DOMAINS, weight="rb050"),
    ma.Analysis("share", "py010n", value="= 0"),
    ma.Analysis("linear", ["log(py010n)", "age", "age^2", "rb090"]),
]
FIGURES = ("IL", "poverty", "Gini", "worst mean", "median mean", "zeros", "age", "age^2", "male", "within", "overlap")
IN_STRATA = {"strata": DOMAINS}
VARIANCE, COVARIANCE, FAST = {"moments": "variance"}, {"moments": "covariance"}, {"refine": "fast"}
SEEDS = range(10)


def _important(weight: float, *names: str) -> dict[str, Any]:
    return {"importance": dict.fromkeys(names, weight)}


ANALYSED = ("age", "eqIncome", "py010n")  # the numbers that the analyses are of
TWICE = _important(2, *ANALYSED)


class Way(NamedTuple):
    """A way to mask the file."""

    name: str
    choices: Mapping[str, Any]
    guessed: bool = False
    quick: bool = False  # whether it is in a quick run


WAYS = [
    Way("as guessed", {}, guessed=True),
    Way("as guessed, refined", FAST, guessed=True),
    Way("as guessed, blocks of 1000", {"max_block": 1000}, guessed=True),
    Way("as guessed, variance", VARIANCE, guessed=True),
    Way("as guessed, covariance", COVARIANCE, guessed=True),
    Way("as guessed, strata, refined, variance", IN_STRATA | FAST | VARIANCE, guessed=True),
    Way("nine keys", {}, quick=True),
    Way("nine keys, refined", FAST),
    Way("nine keys, blocks of 1000", {"max_block": 1000}),
    Way("nine keys, blocks of 1000, refined", FAST | {"max_block": 1000}),
    Way("nine keys, variance", VARIANCE),
    Way("nine keys, covariance", COVARIANCE),
    Way("nine keys, refined, variance", FAST | VARIANCE),
    Way("nine keys, blocks of 1000, refined, variance", FAST | VARIANCE | {"max_block": 1000}),
    Way("strata", IN_STRATA, quick=True),
    Way("strata, refined", IN_STRATA | FAST),
    Way("strata, variance", IN_STRATA | VARIANCE, quick=True),
    Way("strata, covariance", IN_STRATA | COVARIANCE),
    Way("strata, blocks of 200, variance", IN_STRATA | VARIANCE | {"max_block": 200}),
    Way("strata, refined, variance", IN_STRATA | FAST | VARIANCE),
    Way("strata, refined, covariance", IN_STRATA | FAST | COVARIANCE),
    Way("strata, refined, variance, spike 1", IN_STRATA | FAST | VARIANCE | {"spike": 1.0}),
    Way("strata, refined, variance, spike 2", IN_STRATA | FAST | VARIANCE | {"spike": 2.0}),
    Way("strata, refined, variance, spike 8", IN_STRATA | FAST | VARIANCE | {"spike": 8.0}),
    Way("strata, refined, variance, importance 2 of age", IN_STRATA | FAST | VARIANCE | _important(2, "age")),
    Way("strata, refined, variance, importance 2 of py010n", IN_STRATA | FAST | VARIANCE | _important(2, "py010n")),
    Way(
        "strata, refined, variance, importance 2 of age and eqIncome",
        IN_STRATA | FAST | VARIANCE | _important(2, "age", "eqIncome"),
    ),
    Way("strata, refined, variance, importance 4", IN_STRATA | FAST | VARIANCE | _important(4, *ANALYSED)),
    Way("strata, refined, importance 2", IN_STRATA | FAST | TWICE),
    Way("strata, refined, variance, importance 2", IN_STRATA | FAST | VARIANCE | TWICE),
    Way("strata, refined, covariance, importance 2", IN_STRATA | FAST | COVARIANCE | TWICE),
    Way("strata, refined thoroughly, variance", IN_STRATA | VARIANCE | {"refine": "thorough"}),
    Way("strata, refined thoroughly, variance, importance 2", IN_STRATA | VARIANCE | TWICE | {"refine": "thorough"}),
]
SEEDED = ("strata, refined, variance", "strata, refined, variance, importance 2")

seconds: dict[tuple[str, str], float] = {}
"""What the last run took."""
page: list[str] = []
"""What `release.utility()` tells of the file as guessed, once a run has come to it."""


def path() -> Path:
    """Say where the file should be."""
    return Path(os.environ.get("MICROAGG_DATA", ".")) / "eusilc.csv"


@cache
def original() -> pa.Table:
    """Return the file; codes of the employment status are text."""
    options = csv.ConvertOptions(column_types={"pl030": pa.string()}, strings_can_be_null=True)
    return csv.read_csv(path(), convert_options=options)


@cache
def guessed() -> ma.Recipe:
    """Return the recipe that `microagg inspect` writes."""
    with tempfile.TemporaryDirectory() as folder:
        recipe = Path(folder) / "recipe.toml"
        words = [sys.executable, "-m", "microagg", "inspect", str(path()), "-k", "5", "-o", str(recipe), "--quiet"]
        subprocess.run(words, check=True)
        return ma.Recipe.read(recipe)


def release_of(way: Way, frame: pa.Table | None = None, **more: Any) -> ma.Release[Any]:
    """Mask the file, or another with its nine keys, in a way."""
    choices = {**way.choices, **more}
    if way.guessed:
        recipe = guessed()
        strata = choices.get("strata", ())
        if strata:
            choices["quasi"] = [name for name in recipe.roles.quasi if name not in strata]
        recipe = recipe.replace(**choices)
        return ma.protect(ma.read(path(), recipe=recipe), recipe=recipe)
    keys = [name for name in NINE if name not in choices.get("strata", ())]
    frame = original() if frame is None else frame
    return ma.protect(frame.select(list(NINE)), 5, quasi=keys, kinds={name: NINE[name] for name in keys}, **choices)


def results_of(before: pa.Table, released: pa.Table, loss: float | None = None) -> dict[str, float | str]:
    """Do the five analyses on both files, and give their figures after masking."""
    if "rb050" not in released.column_names:
        released = released.append_column("rb050", before["rb050"])
    found = ma.utility(before, released, ANALYSES, kinds={"pl030": "nominal"})
    gini, poverty, means, zeros, wage = found.analyses
    errors = [100 * abs(one.difference) for one in means.estimates]
    slopes = {one.term: one.after for one in wage.estimates}
    with_value = 1 - zeros.left_out[1] / before.num_rows
    within, overlap, _ = found.measures
    figures: dict[str, float | str] = {} if loss is None else {"IL": f"{loss:.2f}"}
    return figures | {
        "poverty": f"{poverty.estimates[0].after:.2f}",
        "Gini": f"{gini.estimates[0].after:.2f}",
        "worst mean": f"{max(errors):.2f}",
        "median mean": f"{statistics.median(errors):.2f}",
        "zeros": f"{zeros.estimates[0].after * with_value:.2f}",
        "age": f"{slopes['age']:.4f}",
        "age^2": f"{slopes['age^2']:.5f}",
        "male": f"{slopes['rb090 = male']:.3f}",
        "within": f"{round(within.value * len(found) / 100)}",
        "overlap": f"{overlap.value:.3f}",
    }


def figures(quick: bool) -> Iterator[tuple[str, str, float | str]]:
    """Give where, what and how much, of the original and of every way; nothing where the file is not at hand."""
    if not path().exists():
        return
    before = original()
    for what, value in results_of(before, before).items():
        if what not in ("worst mean", "median mean", "within", "overlap"):
            yield f"{WHERE}: original", what, value
    for way in WAYS:
        if quick and not way.quick:
            continue
        began = time.perf_counter()
        release = release_of(way)
        seconds[WHERE, way.name] = time.perf_counter() - began
        print(f"  {way.name}: {seconds[WHERE, way.name]:.1f} s", flush=True)
        for what, value in results_of(before, release.data, release.information.percent).items():
            yield f"{WHERE}: {way.name}", what, value
        if way.name == "as guessed":
            page.append(str(release.utility()))
            print(page[-1])
    if not quick:
        yield from _over_seeds(before)


def _over_seeds(before: pa.Table) -> Iterator[tuple[str, str, float | str]]:
    """Return the range of each figure over ten seeds of refining: what chance does, and no choice."""
    for way in WAYS:
        if way.name in SEEDED:
            releases = [release_of(way, seed=seed) for seed in SEEDS]
            found = [results_of(before, one.data, one.information.percent) for one in releases]
            for what in FIGURES:
                values = sorted((one[what] for one in found), key=float)
                yield f"{WHERE}: {way.name}, ten seeds", what, f"{values[0]} to {values[-1]}"


def best(found: Mapping[tuple[str, str], str], guessed: bool = False) -> str:
    """Name the best way: most estimates within their intervals; of several, most overlap of intervals."""
    ways = [way.name for way in WAYS if way.guessed == guessed and (f"{WHERE}: {way.name}", "within") in found]
    return max(ways, key=lambda name: [float(found[f"{WHERE}: {name}", what]) for what in ("within", "overlap")])


def table(found: Mapping[tuple[str, str], str]) -> str:
    """Lay the figures out, a row a way."""
    heads = ["poverty %", "Gini", "worst and median error of a mean %", "zeros %", "age, age², male", "within, of 25"]
    lines = [f"| EU-SILC, k = 5 | IL % | {' | '.join(heads)} | overlap |", "|---" * 9 + "|"]
    leading = {best(found), best(found, guessed=True)}
    for name in ["original", *(way.name for way in WAYS), *(f"{name}, ten seeds" for name in SEEDED)]:
        own = {what: found.get((f"{WHERE}: {name}", what), "") for what in FIGURES}
        joined = [
            ", ".join(filter(None, (own[what] for what in group)))
            for group in (["worst mean", "median mean"], ["age", "age^2", "male"])
        ]
        shown = f"**{name}**" if name in leading else name
        cells = [shown, own["IL"], own["poverty"], own["Gini"], joined[0], own["zeros"], joined[1], own["within"]]
        lines.append(f"| {' | '.join([*cells, own['overlap']])} |".replace("-0.", "−0."))
    return "\n".join(lines) + "\n"
