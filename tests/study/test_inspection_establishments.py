"""The number of an establishment is the unit, whatever it looks like and however unequal establishments are."""

import json

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

import microagg as ma
from microagg.columns.roles import Role
from microagg.judge import judge
from microagg.judge.text import THIN
from microagg.study.inspection import inspect_table
from tests.cli import call

N = 400
NUMBERS = {
    "eight digits": lambda rng: rng.choice(89_999_999, N, replace=False) + 10_000_000,
    "up to eight digits": lambda rng: rng.choice(99_999_999, N, replace=False),
    "in tens": lambda rng: 10 * rng.choice(90_000, N, replace=False) + 100_000,
    "dense": lambda rng: rng.permutation(N) + 1,
    "skewed": lambda rng: np.unique(rng.lognormal(12, 2, 3 * N).astype(int))[:N],
    "nineteen digits": lambda rng: rng.choice(10**9, N, replace=False) + 9 * 10**17,
}
SPELLINGS = {
    "number": lambda number: number,
    "text": lambda number: [f"{one:020d}" for one in number],
    "letters": lambda number: [f"DE-{one:08d}-X" for one in number],
    "spaces": lambda number: [f"{one:,}".replace(",", " ") for one in number],
    "padded": lambda number: [f"{one:>12} " if place % 2 else f" {one}" for place, one in enumerate(number)],
}


def earnings_survey(rng, number):
    """Draw employees of establishments of very different sizes, in no order, with a number of each establishment."""
    sizes = np.clip(np.rint(rng.lognormal(2.0, 1.3, N)), 1, 250).astype(int)
    where, what = rng.choice(["north", "south", "east"], N), rng.choice([10, 25, 41, 47, 62, 85], N)
    of = rng.permutation(np.repeat(np.arange(N), sizes))
    age = rng.integers(18, 66, of.size)
    wage = rng.lognormal(2.8 + 0.005 * age + 0.2 * (what[of] == 62), 0.4).round(2)
    return pa.table(
        {
            "ESTNR": pa.array(number).take(pa.array(of)),
            "land": where[of],
            "branch": what[of],
            "bargained": rng.choice(["yes", "no"], N)[of],
            "age": age,
            "hours": rng.choice([20, 30, 35, 38, 40], of.size),
            "wage": wage,
        }
    )


@pytest.mark.parametrize("spelt", SPELLINGS)
@pytest.mark.parametrize("lies", NUMBERS)
@pytest.mark.parametrize("seed", range(2))
def test_the_number_of_an_establishment_is_the_unit(lies, spelt, seed):
    rng = np.random.default_rng(seed)
    number = NUMBERS[lies](rng)
    survey = earnings_survey(rng, SPELLINGS[spelt](rng.permutation(number)))
    assert survey.num_rows / 50 < N
    found = inspect_table(survey, 5)
    assert found.roles["unit"] == "ESTNR"
    roles = {one.name: one.role for one in found.columns}
    assert {roles[name] for name in ("age", "hours", "wage")} == {Role.QUASI}


@pytest.mark.parametrize("sizes", ["equal", "unequal"])
def test_a_unit_that_is_written_in_several_ways_is_one(sizes):
    rng = np.random.default_rng(8)
    rows = np.clip(rng.poisson(1.2, 1200) + 1 if sizes == "equal" else rng.zipf(1.9, 1200) + 1, 1, 60)
    of = rng.permutation(np.repeat(np.arange(1200), rows))
    forms = ("ab {}", "AB{}", " Ab  {}", "ab\u00a0{} ", "aB {}")
    table = pa.table(
        {
            "case": [forms[rng.integers(5)].format(10_000 + one) for one in of],
            "place": rng.choice(["north", "south", "east"], 1200)[of],
            "level": rng.integers(1, 6, 1200)[of],
            "age": rng.integers(18, 66, of.size),
            "wage": rng.lognormal(7, 0.5, of.size),
        }
    )
    assert inspect_table(table, 5).roles["unit"] == "case"


def test_groups_of_an_earnings_survey_hold_k_establishments():
    rng = np.random.default_rng(3)
    survey = earnings_survey(rng, NUMBERS["eight digits"](rng))
    found = inspect_table(survey, 5)
    release = ma.protect(survey, 5, **found.roles, kinds=found.kinds)
    assert "ESTNR" not in release.data.column_names
    held = {}
    for group, own in zip(release.groups.tolist(), survey["ESTNR"].to_pylist(), strict=True):
        held.setdefault(group, set()).add(own)
    assert min(map(len, held.values())) >= 5


def test_codes_of_which_one_other_column_is_a_class_are_masked():
    rng = np.random.default_rng(0)
    shares = 1 / np.arange(1, 201) ** 1.1
    codes = rng.choice(200, 4000, p=shares / shares.sum())
    table = pa.table(
        {
            "task": [f"task {code}" for code in codes],
            "level": rng.integers(1, 5, 200)[codes],
            "age": rng.integers(18, 66, 4000),
            "wage": rng.lognormal(7, 0.5, 4000),
        }
    )
    found = inspect_table(table, 5)
    assert next(one for one in found.columns if one.name == "task").role is Role.QUASI
    assert "unit" not in found.roles


def few_in_groups(release, numbers, k):
    held = {}
    for group, own in zip(release.groups.tolist(), numbers, strict=True):
        held.setdefault(group, set()).add(own)
    return sum(len(own) < k for own in held.values()), len(held)


@pytest.mark.parametrize("frame", ["source", "pandas", "arrow"])
def test_an_establishment_that_is_masked_as_a_category_is_counted(frame, tmp_path):
    rng = np.random.default_rng(4)
    survey = earnings_survey(rng, SPELLINGS["letters"](NUMBERS["eight digits"](rng)))
    csv.write_csv(survey, tmp_path / "pay.csv")
    given = {"source": ma.read(tmp_path / "pay.csv"), "pandas": survey.to_pandas(), "arrow": survey}[frame]
    release = ma.protect(given, 5, kinds={"branch": "nominal"})
    few, groups = few_in_groups(release, survey["ESTNR"].to_pylist(), 5)
    assert few > groups / 20
    assert judge(release).alone.few_units == {"ESTNR": few}
    verdict = release.report_model().verdict
    spaced = verdict.headline.replace(THIN, "")
    assert f"But k counts rows, not units: {few} of {groups} groups hold fewer than 5 different values of “ESTNR”" in (
        spaced
    )
    assert verdict.state == "look"
    found = [one for one in verdict.findings if one.topic == "units"]
    assert "original values of it are released" in found[0].text
    assert "It counts rows" in release.report_model(public=True).verdict.headline


def test_a_unit_that_is_named_is_what_k_counts():
    rng = np.random.default_rng(5)
    survey = earnings_survey(rng, NUMBERS["eight digits"](rng))
    person = pa.array(np.arange(survey.num_rows) // 2)
    release = ma.protect(
        survey.append_column("person", person), 5, unit="person", kinds={"branch": "nominal", "ESTNR": "nominal"}
    )
    few, _ = few_in_groups(release, survey["ESTNR"].to_pylist(), 5)
    assert few > 0
    headline = release.report_model().verdict.headline
    assert f"But k counts “person”, not “ESTNR”: {few} of " in headline.replace(THIN, "")


def test_categories_are_no_units():
    table = ma.datasets.households(2000, seed=1)
    release = ma.protect(table, 5, quasi=["region", "size", "sex", "income"], unit="household", rest="drop")
    assert judge(release).alone.few_units == {}


def test_an_establishment_that_is_masked_is_counted_beyond_memory_and_on_the_terminal(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(6)
    survey = earnings_survey(rng, NUMBERS["eight digits"](rng))
    csv.write_csv(survey, "pay.csv")
    masked = ma.protect_file("pay.csv", "masked.csv", 5, kinds={"branch": "nominal", "ESTNR": "nominal"})
    few, _ = few_in_groups(masked.sample, survey["ESTNR"].to_pylist(), 5)
    assert judge(masked.sample).alone.few_units == {"ESTNR": few}
    quasi = ",".join(survey.column_names)
    (tmp_path / "kinds.toml").write_text('k = 5\n\n[kinds]\nbranch = "nominal"\nESTNR = "nominal"\n')
    told = call("mask", "pay.csv", "--quasi", quasi, "-k", 5, "--recipe", "kinds.toml", "--json", "--same-order")
    found = json.loads(told.stdout)
    assert any("k counts rows, not units: " in line and "“ESTNR”" in line for line in found["warnings"])


@pytest.mark.parametrize(
    ("name", "spelt", "counted"), [("nr", "P-{}", True), ("isco", "P-{}", False), ("job", "{}", False)]
)
def test_numbers_in_which_nothing_is_constant_are_counted_if_they_are_masked(name, spelt, counted):
    rng = np.random.default_rng(7)
    shares = 1 / np.arange(1, 301) ** 1.1
    of = np.concatenate([np.repeat(np.arange(300), 2), rng.choice(300, 2400, p=shares / shares.sum())])
    letters = np.array([f"{chr(97 + i % 26)}{chr(97 + i // 26 % 26)}" for i in range(300)])
    words = [spelt.format(one if counted or name == "isco" else letters[one]) for one in of]
    table = pa.table({name: words, "age": rng.integers(18, 66, of.size), "wage": rng.lognormal(7, 0.5, of.size)})
    release = ma.protect(table, 5)
    few, _ = few_in_groups(release, words, 5)
    assert few > 0
    assert judge(release).alone.few_units == ({name: few} if counted else {})
