"""Guesses on whole files of several shapes: no numbering, code or weight is taken for a quantity."""

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from microagg.columns.roles import Role
from microagg.files.sources import read_source
from microagg.study.inspection import inspect_table

N = 3000


def drawn(rng, values, size=N):
    """Draw values of which some are frequent and some are rare."""
    shares = 1 / np.arange(1, len(values) + 1)
    return np.asarray(values)[rng.choice(len(values), size, p=rng.permutation(shares / shares.sum()))]


def labour_force(rng):
    household = np.repeat(np.arange(N), rng.integers(1, 5, N))[:N]
    isco = drawn(rng, [100 * a + 10 * b + c for a in range(1, 10) for b in range(1, 5) for c in range(1, 4 + a % 2)])
    wage = np.rint(np.exp(rng.normal(7.5, 0.6, N) - 0.0008 * isco))
    return {
        "hhnum": (1_000_000 + 10 * household, "identifier"),
        "place": (rng.integers(1, 17, N)[household], "code"),
        "isco3": (isco, "code"),
        "nace2": (
            drawn(rng, [i for i in range(1, 99) if i not in (4, 34, 40, 44, 48, 54, 57, 67, 76, 83)]),
            "code",
        ),
        "stat": (rng.integers(1, 7, N), "code"),
        "age": (np.clip(rng.normal(42, 20, N), 0, 95).astype(int), "quantity"),
        "wage": (np.where(rng.random(N) < 0.4, 0, wage), "quantity"),
        "hinc": (np.rint(np.exp(rng.normal(10, 0.7, N)))[household], "quantity"),
        "hours": (np.where(rng.random(N) < 0.3, 40, np.clip(rng.normal(35, 12, N), 1, 80).astype(int)), "quantity"),
        "w1": (rng.lognormal(6, 0.3, 40)[rng.integers(0, 40, N)[household]], "weight"),
        "wgt2": (rng.integers(20, 900, N), "weight"),
    }


def hospital(rng):
    patient = np.sort(rng.integers(0, N // 2, N))
    sex, born = rng.choice(["F", "M"], N)[patient], rng.integers(-15000, 18000, N)[patient]
    icd = [f"{letter}{i:02}.{j}" for letter in "ABCEIJKMN" for i in range(0, 40, 3) for j in range(3)]
    return {
        "v1": ((10**7 + rng.choice(9 * 10**7, N, replace=False))[patient], "identifier"),
        "case": (rng.permutation(N) + 2_024_000_000, "identifier"),
        "v2": (sex, "domain"),
        "born": (pa.array(born, pa.int32()).cast(pa.date32()), "date"),
        "entry": ([f"2023-{1 + day // 28:02}-{1 + day % 28:02}" for day in rng.integers(0, 330, N)], "date"),
        "main": (drawn(rng, icd), "code"),
        "drg": (drawn(rng, range(100, 999, 7)), "code"),
        "ward": (rng.choice([f"{i:03}" for i in range(1, 30)], N), "code"),
        "stay": (rng.geometric(0.2, N), "quantity"),
        "cost": (np.rint(rng.lognormal(8, 1, N)), "quantity"),
        "bmi": (rng.normal(26, 4, N).round(1), "quantity"),
        "smoker": (rng.choice([0, 1, 9], N), "code"),
    }


def firms(rng):
    turnover = np.exp(rng.normal(13, 2, N))
    return {
        "bn": (10**8 + rng.choice(9 * 10**8, N, replace=False), "identifier"),
        "entry": (np.sort(rng.choice(50 * N, N, replace=False)), "identifier"),
        "unit": (rng.choice(10**6, N, replace=False), "identifier"),
        "branch4": (drawn(rng, rng.choice(np.arange(1000, 9999), 250, replace=False)), "code"),
        "legal": (rng.choice([1, 2, 3, 5, 9], N), "code"),
        "turnover": (np.rint(turnover), "quantity"),
        "staff": (np.maximum(1, np.rint(turnover / 1e5 * rng.lognormal(0, 0.5, N))), "quantity"),
        "export": (np.where(rng.random(N) < 0.6, 0, np.rint(0.2 * turnover)), "quantity"),
        "profit": (np.rint(turnover * rng.normal(0.05, 0.1, N)), "quantity"),
        "founded": (2020 - rng.geometric(0.05, N), "quantity"),
        "invested": (np.rint(np.exp(rng.normal(11, 2, N)) / 1000) * 1000, "quantity"),
    }


def panel(rng):
    persons = N // 5
    who = np.repeat(3 * rng.permutation(persons) + 500, 5)
    order = rng.permutation(len(who))
    columns = {
        "who": (who, "identifier"),
        "tag": (np.array([f"P{number:06}" for number in who]), "identifier"),
        "mate": (np.where(rng.random(len(who)) < 0.4, 0, who + 3), "identifier"),
        "wave": (np.tile(np.arange(1, 6), persons), "code"),
        "flag": (np.repeat(rng.choice([True, False], persons), 5), "code"),
        "income": (np.rint(np.exp(rng.normal(10, 0.5, len(who)))), "quantity"),
        **{f"q{i}": (rng.choice([1, 2, 3, 4, 5, -8, -9], len(who)), "code") for i in range(3)},
    }
    return {name: (values[order], truth) for name, (values, truth) in columns.items()}


FITS = {
    "identifier": lambda one: one.role in (Role.IDENTIFIER, Role.UNIT),
    "code": lambda one: one.role is not Role.QUASI or one.kind == "nominal",
    "weight": lambda one: one.role is Role.DROP and "move it to weight" in one.reason,
    "quantity": lambda one: one.role is Role.QUASI and one.kind in ("number", "semi"),
    "date": lambda one: one.role is Role.QUASI and one.kind == "date",
    "domain": lambda one: one.role is Role.STRATUM,
}
REPEATS = {labour_force: "hhnum", hospital: "v1", firms: None, panel: "who"}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("make", REPEATS, ids=lambda make: make.__name__)
def test_a_file_of_this_shape(make, seed):
    made = make(np.random.default_rng(seed))
    found = inspect_table(pa.table({name: values for name, (values, _) in made.items()}), 5)
    wrong = [one for one in found.columns if not FITS[made[one.name][1]](one)]
    assert not wrong
    assert found.roles.get("unit") in (REPEATS[make], "tag" if make is panel else REPEATS[make])


def shared(name):
    path = Path(os.environ.get("MICROAGG_DATA", ".")) / f"{name}.csv"
    if not path.exists():
        pytest.skip(f"left out: {name}.csv is not in MICROAGG_DATA")
    return inspect_table(read_source(path, header=True).typed(), 5)


@pytest.mark.casc
def test_an_income_survey_under_coded_names():
    found = shared("eusilc")
    kinds = {one.name: one.kind for one in found.columns}
    assert found.roles["unit"] == "db030"
    assert found.roles["identifiers"] == ["rb030"]
    assert found.roles["drop"] == ["db090", "rb050"]
    assert found.roles["strata"] == ["rb090"]
    assert len(found.roles["quasi"]) == 23
    assert (kinds["age"], kinds["hsize"], kinds["pl030"], kinds["db040"]) == ("number", "ordinal", "nominal", "nominal")
    assert all(kinds[name] == "semi" for name in kinds if name.startswith(("py", "hy")))


@pytest.mark.casc
def test_a_survey_of_pupils_and_a_panel():
    pupils = shared("yrbss")
    assert pupils.roles["drop"] == ["race", "weight"]
    assert pupils.incomplete > 3000
    assert {one.kind for one in pupils.columns if one.role is Role.QUASI} == {"number", "ordinal", "nominal"}
    persons = shared("psid")
    assert persons.roles["unit"] == "id"
    assert persons.roles["strata"] == ["gender"]


@pytest.mark.casc
@pytest.mark.parametrize(
    ("name", "others"),
    [("census", {"drop": ["AFNLWGT"]}), ("tarragona", {}), ("eia", {"unit": "UTILITYID"})],
)
def test_files_of_amounts(name, others):
    found = shared(name)
    assert {role: names for role, names in found.roles.items() if role != "quasi"} == others
    assert {one.kind for one in found.columns if one.role is Role.QUASI} <= {"number", "semi"}
