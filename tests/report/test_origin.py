"""The report, the terminal and JSON tell what was recoded, and where the file's codes for missing values are lost."""

import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import microagg as ma
from microagg.judge import judge
from microagg.report import WrittenFacts, build, render, to_json
from tests.cli import call

polars = pytest.importorskip("polars")
pyreadstat = pytest.importorskip("pyreadstat")

N = 60
PEOPLE = ma.datasets.survey(300, seed=0).select(["person", "region", "age", "hours", "income"])
RULES = {
    "age": {"width": 5, "top": 80},
    "region": {"join": {"other": ["North", "Delta"]}},
    "income": {"bottom": 0},
}


def protected(**choices):
    roles = {"quasi": ["age", "hours", "income"], "keep": ["region"], "identifiers": ["person"]}
    return ma.protect(PEOPLE, 5, **{**roles, **choices})


def test_every_recoded_column_is_told_with_its_rule_and_the_cells_that_changed():
    release = protected(recode=RULES)
    found = build(release)
    assert [(one.column, one.rule, one.changed) for one in found.recoded] == [
        ("age", "at most 80; in classes of 5 from 0, released as the lower bound", release.recoded["age"]),
        ("region", "2 values joined to 'other'", release.recoded["region"]),
        ("income", "at least 0", 0),
    ]
    joined = sum(one in ("North", "Delta") for one in PEOPLE["region"].to_pylist())
    assert release.recoded["region"] == joined > 0
    page = render(found)
    assert "<h3>Recoded before masking</h3>" in page
    assert "do not include what recoding lost" in page
    (note,) = (one for one in found.verdict.findings if one.topic == "recoded")
    assert note.state == "note"
    assert f"“region” ({joined} cells)" in note.short
    assert "Recoded before masking" not in render(build(protected()))


def test_the_public_page_tells_the_rules_and_counts_nothing():
    release = protected(recode=RULES)
    found = build(release, public=True)
    assert [one.column for one in found.recoded] == list(RULES)
    assert {one.changed for one in found.recoded} == {None}
    page = render(found)
    section = page[page.index("Recoded before masking") :].partition("</table>")[0]
    assert re.findall(r"<td class=\"m\">(.*?)</td>", section) == [
        one.rule.replace("'", "&#39;") for one in found.recoded
    ]
    assert "cells changed" not in page
    assert json.loads(to_json(found))["recoded"][0]["changed"] is None


def test_columns_that_are_not_released_are_not_told_in_public():
    table = PEOPLE.append_column("secret", pa.array(np.arange(300)))
    release = ma.protect(
        table, 5, quasi=["age", "hours"], rest="drop", recode={"secret": {"width": 7}, "age": {"top": 80}}
    )
    assert [one.column for one in build(release, public=True).recoded] == ["age"]
    assert "secret" not in render(build(release, public=True))


def test_a_table_of_categories_is_not_read_again(tmp_path):
    path = tmp_path / "join.csv"
    path.write_text("old,new\nNorth,other\nDelta,other\n")
    release = protected(recode={"region": {"join": str(path)}})
    path.unlink()
    assert [one.rule for one in build(release).recoded] == ["values joined by a table"]


def test_the_terminal_and_json_tell_what_was_recoded(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pa.csv.write_csv(PEOPLE, "people.csv")
    recipe = "k = 5\n[roles]\nquasi = ['age', 'hours']\nkeep = ['region']\nrest = 'drop'\n[recode]\nage = {top = 80}\n"
    Path("recipe.toml").write_text(recipe)
    above = sum(age > 80 for age in PEOPLE["age"].to_pylist())
    shown = call("mask", "people.csv", "--recipe", "recipe.toml").stdout
    assert f"Recoded before masking: age: at most 80 ({above} cells changed)" in shown
    found = json.loads(call("mask", "people.csv", "--recipe", "recipe.toml", "--json", "--force").stdout)
    assert found["recoded"] == [{"column": "age", "rule": "at most 80", "cells_changed": above}]
    assert any(one["topic"] == "recoded" and one["level"] == "note" for one in found["findings"])


@pytest.fixture
def stata(tmp_path):
    """A wage and a kept column with .a and .b, and a day with .c."""
    draw = np.random.default_rng(0)
    columns = {
        "wage": polars.Series(
            [*["a"] * 8, *["b"] * 6, *map(float, draw.integers(10, 90, N - 14))], dtype=polars.Object
        ),
        "day": polars.Series([*["c"] * 8, *map(int, draw.integers(9000, 9900, N - 8))], dtype=polars.Object),
        "age": draw.integers(20, 60, N).astype(float),
        "kept": polars.Series([*["b"] * 3, *range(N - 3)], dtype=polars.Object),
    }
    codes = {"wage": ["a", "b"], "day": ["c"], "kept": ["b"]}
    path = tmp_path / "data.dta"
    pyreadstat.write_dta(polars.DataFrame(columns), path, missing_user_values=codes, variable_format={"day": "%td"})
    return ma.read(path)


def codes_of(release, **written):
    found = build(release, written=WrittenFacts(**written)).verdict
    told = [one for one in found.findings if one.topic == "missing codes"]
    assert [one.text for one in told] == [text for text in found.look_first if "missing" in text and "cells): " in text]
    return told


def test_the_kinds_of_missing_values_that_a_recoded_column_and_a_date_lose_are_told(stata):
    roles = {"quasi": ["wage", "day", "age"], "keep": ["kept"]}
    found = judge(ma.protect(stata, 3, **roles)).missing_codes
    assert {one.column: (one.lost, one.kept) for one in found} == {"wage": (0, 14), "day": (8, 0), "kept": (0, 3)}
    release = ma.protect(stata, 3, recode={"wage": {"top": 80}}, **roles)
    (told,) = codes_of(release)
    assert told.state == "look"
    assert told.short.endswith("(number of cells): “day” (8).")  # numbers keep theirs when they are recoded
    assert "Stata" not in told.text
    assert judge(release, public=True).missing_codes == ()


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ({"kind": "csv"}, "Only a Stata file that is written from a Stata file"),
        ({"kind": "csv", "reordered": True}, "Only a Stata file that is written from a Stata file"),
    ],
)
def test_codes_that_the_written_file_cannot_hold_are_told(stata, written, why):
    release = ma.protect(stata, 3, quasi=["age", "wage"], keep=["kept"], rest="drop")
    (told,) = codes_of(release, **written)
    assert why in told.text
    lost = re.search(r"“kept” \((\d+)\)", told.short)
    assert int(lost[1]) == 3


@pytest.mark.parametrize("choices", [{}, {"same_order": True}, {"missing": "drop"}])
def test_nothing_is_told_where_the_codes_are_kept(stata, tmp_path, choices):
    release = ma.protect(stata, 3, quasi=["age", "wage"], keep=["kept"], rest="drop", **choices)
    assert codes_of(release, kind="stata") == codes_of(release, kind="stata", reordered=True) == codes_of(release) == []
    ma.write(release, tmp_path / "out.dta")
    tags = ma.read(tmp_path / "out.dta").labels.tags.get("kept", pa.array([], pa.string()))
    expected = stata.labels.tags["kept"].take(pa.array(release.rows))
    assert Counter(tags.drop_null().to_pylist()) == Counter(expected.drop_null().to_pylist())
    assert len(expected.drop_null()) == (0 if "missing" in choices else 3)


@pytest.mark.usefixtures("stata")
def test_the_terminal_warns_of_codes_that_are_lost(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ("mask", "data.dta", "-k", 3, "--quasi", "age,wage", "--keep", "kept", "--rest", "drop", "--force")
    warned = "codes for missing values became simple missing values (number of cells): “wage” (14), “kept” (3)."
    assert warned not in json.loads(call(*words, "--json").stdout)["warnings"]
    assert warned in json.loads(call(*words, "--json", "--to", "masked.csv").stdout)["warnings"]
    assert f"Warning: {warned}" in call(*words, "--to", "masked.csv").stdout


@pytest.fixture
def spss(tmp_path):
    draw = np.random.default_rng(1)
    wage = [*[-9.0] * 8, *[-8.0] * 5, *map(float, draw.integers(10, 90, N - 13))]
    columns = {"wage": wage, "age": draw.integers(20, 60, N).astype(float), "kept": [9.0] * 4 + [1.0, 2.0] * 28}
    path = tmp_path / "data.sav"
    pyreadstat.write_sav(
        polars.DataFrame(columns), path, missing_ranges={"wage": [{"lo": -9.0, "hi": -1.0}], "kept": [9.0]}
    )
    return ma.read(path)


def test_values_that_spss_declares_missing_are_told_where_they_are_lost_or_no_longer_declared(spss):
    roles = {"quasi": ["wage", "age"], "keep": ["kept"]}
    release = ma.protect(spss, 3, **roles)
    assert codes_of(release, kind="spss", reordered=True) == codes_of(release) == []
    (told,) = codes_of(release, kind="csv")
    assert told.short.endswith("are released as normal values (number of cells): “wage” (13), “kept” (4).")
    (told,) = codes_of(ma.protect(spss, 3, missing_codes={"wage": [-9]}, **roles), kind="spss")
    assert told.short.endswith("became simple missing values (number of cells): “wage” (5).")
    recoded = ma.protect(spss, 3, recode={"wage": {"width": 10}}, **roles)
    (stand,) = codes_of(recoded, kind="parquet")
    assert stand.short.endswith("are released as normal values (number of cells): “wage” (13), “kept” (4).")


def test_a_weight_that_is_missing_in_some_records_is_told(tmp_path, monkeypatch):
    table = ma.datasets.survey(200, seed=0).select(["age", "income", "weight"])
    weights = table["weight"].to_pylist()
    weights[3:10] = [None] * 7
    table = table.set_column(2, "weight", pa.array(weights)).append_column("other", pa.array(np.ones(200)))
    release = ma.protect(table, 5, weight=["weight", "other"], weighted=False)
    assert judge(release).missing_weights == {"weight": 7}
    found = build(release).verdict
    (told,) = (one for one in found.findings if one.topic == "weights" and "missing" in one.text)
    assert told.state == "look"
    assert told.text in found.look_first
    assert told.short == "the weight “weight” is missing in 7 released records."
    assert judge(release, public=True).missing_weights == {}
    frame = table.to_pandas()  # where it is NaN
    assert judge(ma.protect(frame, 5, weight=["weight", "other"], weighted=False)).missing_weights == {"weight": 7}
    monkeypatch.chdir(tmp_path)
    frame.to_csv("people.csv", index=False, na_rep="NA")
    words = ("mask", "people.csv", "-k", 5, "--quasi", "age,income", "--weight", "weight,other", "--no-weighted")
    assert told.short in json.loads(call(*words, "--json").stdout)["warnings"]
    whole = ma.protect(table.drop_columns(["weight"]), 5, weight="other")
    assert not any("missing" in one.text for one in build(whole).verdict.findings if one.topic == "weights")


def test_a_weight_that_spss_declares_missing_is_missing(spss):
    release = ma.protect(spss, 3, quasi=["wage", "age"], weight="kept", weighted=False)
    assert judge(release).missing_weights == {"kept": 4}
