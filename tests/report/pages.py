"""Pages that are kept: releases of every kind, reported inside and in public.

After a change of the page that is meant, look at the difference and keep the new pages:

    python -m tests.report.pages && git diff --word-diff tests/report/golden
"""

import itertools
import re
from pathlib import Path

import numpy as np
import pyarrow as pa

import microagg as ma
from microagg.report import SourceFacts, WrittenFacts, build, render

FOLDER = Path(__file__).parent / "golden"
_PICTURES = 12

_SURVEY = ma.datasets.survey(400, seed=0)
_SOURCE = SourceFacts("survey.csv", "CSV", {"separator": "comma"}, "c0ffee" * 10, 400, 13)


def _everything():
    """Strata, a weight, a confidential column, an identifier, records left out, columns chosen by a tree, a map."""
    names = ["person", "region", "weight", "age", "hours", "wage", "income", "tax", "capital"]
    table = _SURVEY.select(names)
    income = table["income"].to_pylist()
    income[:30] = [None] * 30
    table = table.set_column(table.column_names.index("income"), "income", pa.array(income))
    table = table.append_column("sick", pa.array(["no", "yes", "no", "no"] * 100))
    options = {
        "identifiers": ["person"],
        "weight": "weight",
        "strata": ["region"],
        "confidential": ["sick"],
        "missing": "drop",
    }
    release = ma.protect(table, 5, select="emad", count=2, **options)
    return {"source": _SOURCE, "comparison": ma.compare(table, ["mdav", "iamat"], [3, 5], **options)}, release


def _single_columns():
    table = _SURVEY.select(["age", "income", "tax"])
    return {}, ma.protect(table, 5, method="univariate", per_column=True)


def _few_keys():
    """An intruder of few keys and a sample; medians, rounded, refined, in blocks; columns kept, recoded, dropped."""
    table = _SURVEY.select(["person", "region", "age", "hours", "wage", "income"])
    release = ma.protect(
        table, 3, quasi=["age", "hours", "wage"], keep=["region"], drop=["person", "income"], aggregate="median",
        rounding="auto", refine="fast", seed=7, blocks="median", max_block=200,
        recode={"age": {"top": 80}, "region": {"join": {"other": ["North", "Delta"]}}},
    )  # fmt: skip
    release = release.with_risk(release.risk_for(["age", "hours"], sample=100, seed=42))
    return {"written": WrittenFacts(reordered=True, excel_safe=True)}, release


def _odd_names():
    """A constant, names of ill will, and more columns than are drawn."""
    values = np.random.default_rng(0).normal(size=(80, 32)).round(3)
    table = {f"c{j}": values[:, j] for j in range(30)}
    table |= {"<script>alert(1)</script>": values[:, 30], "long " * 20: values[:, 31], "one value": np.ones(80)}
    release = ma.protect(pa.table(table), 4)
    return {}, release.with_risk(release.risk_for(["c0", "c1"]))


def _mixed():
    """Categories, levels, dates, spikes, missing values, rare patterns; a weight that tells many apart."""
    table = ma.datasets.households(1200, seed=0)
    masked = ["region", "sex", "birth", "education", "status", "occupation", "hours", "wage", "income"]
    release = ma.protect(
        table, 3, quasi=masked, kinds={"wage": "semi"}, identifiers=["household", "person"], keep=["size"],
        confidential=["diagnosis"], weight="weight", rest="drop",
    )  # fmt: skip
    return {}, release.with_risk(release.risk_for(["sex", "birth", "region"]))


def _demanded():
    """l of one confidential column, t of another, nothing of a third."""
    table = ma.datasets.households(900, seed=1)
    release = ma.protect(
        table, 4, quasi=["region", "sex", "birth", "hours"], confidential=["diagnosis", "income", "status"],
        rest="drop", l=3, l_columns=["diagnosis"], t=0.4, t_columns=["income"], refine="fast",
    )  # fmt: skip
    return {}, release.with_risk(release.risk_for(["sex", "birth", "region"]))


KINDS = {
    "everything": _everything,
    "single_columns": _single_columns,
    "few_keys": _few_keys,
    "odd_names": _odd_names,
    "mixed": _mixed,
    "demanded": _demanded,
}


def pages(kind):
    """Give the two pages of a kind of release by their names."""
    options, release = KINDS[kind]()
    return {
        kind + ("_public" if public else ""): plain(render(build(release, public=public, **options)))
        for public in (False, True)
    }


def plain(page):
    """Leave out what is kept elsewhere (the style), what other versions change, and pictures after the first twelve."""
    page = re.sub(r"<style>.*?</style>", "<style></style>", page, count=1, flags=re.DOTALL)
    page = re.sub(r"microagg [\w.+]+, Python [\w.+]+, NumPy [\w.+]+\.", "microagg, Python, NumPy.", page, count=1)
    number = itertools.count(1)
    svg = re.compile(r"<svg.*?</svg>", re.DOTALL)
    return svg.sub(lambda found: found[0] if next(number) <= _PICTURES else "<svg></svg>", page)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for kind in KINDS:
        for name, page in pages(kind).items():
            (FOLDER / f"{name}.html").write_text(page, encoding="utf-8", newline="\n")
