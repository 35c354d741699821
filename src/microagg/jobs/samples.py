"""Files to try things on: reference files and synthetic ones, and the whole job on one of them."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import pyarrow as pa

from microagg import datasets
from microagg.algorithms.kernels._jit import is_cold
from microagg.base.frozen import frozen
from microagg.checks import check_absent, check_option
from microagg.datasets.casc import REFERENCES as REFERENCES
from microagg.errors import InvalidParameter, setting
from microagg.files.addresses import check_target
from microagg.files.files import narrow_to_folder
from microagg.files.sources import Source, write_target
from microagg.jobs.tables import write_release
from microagg.judge.comparison import Comparison
from microagg.pipeline import protect
from microagg.recipe import Recipe
from microagg.release import Release
from microagg.study.comparison import compare_each, comparison_of
from microagg.study.variants import recipes_to_compare


@frozen()
class Made:
    """A synthetic file: what it is, how many columns it has (None: as many as you ask for), and how it is made."""

    what: str
    columns: int | None
    make: Callable[[int, int, int], pa.Table]


def _matrix(draw: Callable[..., Any], records: int, columns: int, seed: int) -> pa.Table:
    return pa.table({f"v{j + 1}": column for j, column in enumerate(draw(records, columns, seed=seed).T)})


MADE = {
    "survey": Made(
        "a realistic household survey, with identifiers, weights and regions",
        13,
        lambda records, _, seed: datasets.survey(records, seed=seed),
    ),
    "households": Made(
        "persons in households, with categories, dates, zeros and missing values",
        19,
        lambda records, _, seed: datasets.households(records, seed=seed),
    ),
    "panel": Made(
        "the same persons in seven years, with columns that stay the same for a person",
        10,
        lambda records, _, seed: datasets.panel(-(-records // 7), seed=seed).slice(0, records),
    ),
    "uniform": Made(
        "independent columns, each value as likely as any other",
        None,
        lambda records, columns, seed: _matrix(datasets.uniform, records, columns, seed),
    ),
    "normal": Made(
        "independent columns, normally distributed",
        None,
        lambda records, columns, seed: _matrix(datasets.normal, records, columns, seed),
    ),
}
"""The files that can be made, by name."""

DEMO_FILE = "households"
"""The file of the demonstration: one of those that can be made, with a fixed number of columns."""

DEMO = Recipe.of(
    5,
    quasi=["sex", "age", "education", "status", "wage", "income"],
    kinds={"wage": "semi"},
    strata=["region"],
    identifiers=["household", "person"],
    confidential=["diagnosis"],
    rest="drop",  # the weight as well: there is one for each region and size, so that it would disclose the size
    methods=["mdav", "iamat", "emad", "ama"],
    ks=[3, 5, 10],
)
"""What the demonstration does to it."""


def demo_columns() -> int:
    """Count the columns that the demonstration masks."""
    return len(DEMO.roles.quasi or ())


def check_sample(name: str, known: Any, address: str, *, overwrite: bool) -> None:
    """Refuse a file that is not known, or cannot be written, before any work is done."""
    check_option("name", name, known)
    check_target(address, overwrite=overwrite)


def made_table(name: str, records: int, columns: int, seed: int) -> pa.Table:
    """Make a file of this name."""
    return MADE[name].make(records, columns, seed)


def reference_table(name: str) -> pa.Table:
    """Fetch a reference file, or find it where it was put."""
    return datasets.load(name)


def write_sample(table: pa.Table, address: str, *, overwrite: bool) -> None:
    """Write such a file."""
    write_target(table, address, Source(table, "made", "parquet"), overwrite=overwrite)


@frozen()
class Demonstrated:
    """What the demonstration has made."""

    masked: Path
    report: Path
    release: Release[Any]
    comparison: Comparison


def check_demonstration(folder: Path, *, overwrite: bool) -> tuple[Path, Path]:
    """Refuse, before any work, a folder that the demonstration cannot write to; return the files it will write."""
    made = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    if not made.is_dir():
        raise InvalidParameter(
            f"{made.name!r} is a file, but the output must be a folder. Name a folder: {setting('output')}.",
            parameter="output",
        )
    masked, report = folder / f"{DEMO_FILE}_masked.csv", folder / "report.html"
    for path in (masked, report):
        check_absent(path, "the output", overwrite=overwrite)
    return masked, report


def demonstrate(
    folder: Path,
    records: int,
    seed: int,
    *,
    overwrite: bool = False,
    waiting: Callable[[str], AbstractContextManager[Any]] = nullcontext,
    barred: Callable[[str], AbstractContextManager[Any]] = nullcontext,
) -> Demonstrated:
    """Mask a synthetic file by each method at each k; write one masked file and its report.

    `waiting` and `barred` show a person that something goes on.
    """
    cold = is_cold()  # asked before anything is compiled and kept, by this process or by one that compiles ahead
    masked, report = check_demonstration(folder, overwrite=overwrite)
    table = made_table(DEMO_FILE, records, 0, seed)
    recipes = recipes_to_compare(None, None, DEMO, {})
    if cold:
        with waiting("compiling"):
            # The whole file: a part of it may hold categories that too few have.
            for recipe in {recipe.method.name: recipe for _, recipe in recipes}.values():
                protect(table, recipe=recipe)
    with barred("masking and judging") as tell:
        judged = list(compare_each(table, recipes, progress=tell if callable(tell) else None))
    comparison = comparison_of([candidate for candidate, _ in judged], recipes)
    release = next(one for candidate, one in judged if (candidate.line, candidate.k) == ("mdav", DEMO.k))
    with waiting("writing"):
        folder.mkdir(parents=True, exist_ok=True)
        new = [path for path in (masked, report) if not path.exists()]
        write_release(release, masked, None, overwrite=overwrite)
        release.report(report, comparison=comparison, overwrite=overwrite)
        for path in new:
            narrow_to_folder(path)
    return Demonstrated(masked, report, release, comparison)
