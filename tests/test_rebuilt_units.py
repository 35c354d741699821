"""Units whose rows come together again by columns that are released unchanged: counted, and said everywhere."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import strategies as st

import microagg as ma
from microagg.measures.anonymity import rebuilt_units
from tests.cli import call
from tests.lengths import given_few
from tests.reference import rebuilding as slow
from tests.report.test_verdict import build, findings


@st.composite
def unchanged(draw):
    n, d = draw(st.integers(2, 40)), draw(st.integers(1, 4))
    units = draw(st.lists(st.integers(0, 8), min_size=n, max_size=n))
    columns = [draw(st.lists(st.integers(0, 5), min_size=n, max_size=n)) for _ in range(d)]
    for column in columns:  # most are those of the unit
        if draw(st.booleans()):
            column[:] = [column[units.index(unit)] for unit in units]
    return units, columns, draw(st.integers(2, 5))


@given_few(100, 1000, unchanged())
def test_the_count_is_that_of_the_definition(case):
    units, columns, k = case
    found = rebuilt_units(
        {place: np.array(own) for place, own in enumerate(columns)}, np.unique(units, return_inverse=True)[1], k
    )
    assert found.units == len(slow.rebuilt(list(zip(*columns, strict=True)), units, k))
    assert found.of == sum(units.count(unit) > 1 for unit in {*units})
    for place, own in enumerate(columns):
        assert found.by_column.get(place, 0) == len(slow.rebuilt([(one,) for one in own], units, k))


def homes(n=200, seed=0, **more):
    """Households of three, with an income of the household, and a region that many share."""
    rng = np.random.default_rng(seed)
    columns = {
        "home": np.repeat(np.arange(n), 3),
        "age": rng.integers(0, 90, 3 * n),
        "wage": rng.lognormal(7, 1, 3 * n).round(),
        "income": np.repeat(rng.lognormal(9, 1, n).round(2), 3),
        "region": np.repeat(rng.integers(0, 4, n), 3),
    }
    return pa.table(columns | more)


CHOICES = {"k": 5, "unit": "home", "quasi": ["age", "wage"]}


@pytest.mark.parametrize("role", ["confidential", "keep"])
def test_a_households_income_that_is_released_unchanged_rebuilds_all(role):
    release = ma.protect(homes(), **CHOICES, **{role: ["income"]}, rest="drop")
    assert (release.rebuilt.units, release.rebuilt.of, release.rebuilt.by_column) == (200, 200, {"income": 200})
    assert release.rebuilt.percent == 100
    found = findings(release)["units rebuilt"]
    text = " ".join(found.text.split())
    assert found.state == "look"
    assert "The rows of 200 of 200 units with several rows (100 %)" in text
    assert "“income” (200 units)" in text
    assert "released unchanged" in build(release).verdict.headline
    assert build(release).verdict.state == "look"


def test_weights_count_where_they_are_released_unchanged_and_strata_do_with_others():
    weight = np.repeat(np.random.default_rng(1).uniform(1, 9, 200), 3)
    table = homes(weight=weight)
    asked = {**CHOICES, "weight": "weight", "rest": "drop"}
    assert ma.protect(table, **asked, weight_release="as it is").rebuilt.units == 200
    assert ma.protect(table, **asked, weight_release="group").rebuilt.units == 0
    both = homes(kind=np.repeat(np.random.default_rng(2).integers(0, 30, 200), 3))
    release = ma.protect(both, **CHOICES, strata=["region"], keep=["kind"], rest="drop")
    rows = list(zip(both["region"].to_pylist(), both["kind"].to_pylist(), strict=True))
    assert release.rebuilt.units == len(slow.rebuilt(rows, both["home"].to_pylist(), 5)) > 0


def test_remedies_leave_nothing_to_count():
    for more in ({"rest": "drop"}, {"keep": ["region"], "rest": "drop"}):
        release = ma.protect(homes(), **CHOICES, **more)
        assert release.rebuilt.units == 0
        assert "units rebuilt" not in findings(release)
    masked = ma.protect(homes(), k=5, unit="home", quasi=["age", "wage", "income"], rest="drop")
    assert masked.rebuilt.units == 0
    whole = ma.protect(homes(), **CHOICES, unit_release="pseudonym", keep=["income"], rest="drop")
    assert whole.rebuilt is None
    assert ma.protect(homes(), k=5, quasi=["age"], rest="drop").rebuilt is None


def test_the_terminal_json_and_the_public_page_say_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pyarrow.csv.write_csv(homes(), "in.csv")
    asked = ["--unit", "home", "-k", 5, "--quasi", "age,wage", "--confidential", "income", "--rest", "drop", "--public"]
    said = " ".join(call("mask", "in.csv", *asked, "-o", "out").output.split())
    assert "the rows of 200 of 200 units with several rows (100 %) can be put together again" in said
    told = json.loads(call("mask", "in.csv", *asked, "-o", "again", "--json").stdout)
    assert (told["units_rebuilt"], told["units_with_several_rows"]) == (200, 200)
    assert told["units_rebuilt_by_column"] == {"income": 200}
    assert any("can be put together again" in one for one in told["warnings"])
    public = (tmp_path / "out" / "release" / "report_public.html").read_text()
    assert "which records belong to one unit" in " ".join(public.split())
    assert "put together again" not in public


def test_beyond_memory_it_is_counted_where_all_groups_are_judged_and_else_said_why_not(tmp_path, monkeypatch):
    pq.write_table(homes(), tmp_path / "in.parquet")
    asked = {**CHOICES, "keep": ["income"], "rest": "drop"}
    release = ma.protect_file(tmp_path / "in.parquet", tmp_path / "out.parquet", **asked)
    assert release.sample.rebuilt.units == 200
    monkeypatch.setattr("microagg.mask.engines.figures.GROUPS", 20)
    drawn = ma.protect_file(tmp_path / "in.parquet", tmp_path / "more.parquet", **asked)
    assert drawn.sample.rebuilt is None
    found = findings(drawn.sample)["units rebuilt"]
    assert (found.state, "was not counted" in found.text) == ("note", True)
