"""Persons and households that come apart: masked together, written apart again, both or neither."""

import json
import pathlib
import pickle
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import microagg as ma
from microagg import jobs as desk
from microagg.errors import InvalidData, InvalidParameter, PromiseBroken
from tests.cli import call, complaint
from tests.reference import counted_units as slow

ASKED = ["--unit", "hid", "--unit-release", "pseudonym", "-k", 3, "--quasi", "age,sex,income", "--rest", "drop"]
CHOICES = {"k": 3, "quasi": ["age", "sex", "income"], "unit": "hid", "unit_release": "pseudonym", "rest": "drop"}


def tables(n=60, seed=0):
    rng = np.random.default_rng(seed)
    homes = pd.DataFrame(
        {
            "region": rng.choice(["N", "S"], n),
            "hid": 100 + rng.permutation(n),
            "income": rng.lognormal(10, 1, n).round(2),
            "weight": rng.uniform(1, 9, n).round(3),
        }
    )
    of_persons = np.repeat(homes["hid"].to_numpy()[:-3], rng.integers(1, 4, n - 3))
    people = pd.DataFrame(
        {
            "person": np.arange(of_persons.size),
            "age": rng.integers(0, 90, of_persons.size),
            "hid": of_persons,
            "sex": rng.choice(["f", "m"], of_persons.size),
        }
    )
    return people.sample(frac=1, random_state=seed), homes.sample(frac=1, random_state=seed)


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    """Give a folder to work in, with people.csv and homes.csv."""
    monkeypatch.chdir(tmp_path)
    people, homes = tables()
    people.to_csv("people.csv", index=False)
    homes.to_csv("homes.csv", index=False, sep=";", decimal=",")
    return tmp_path


def mask(*words):
    return call("mask", "people.csv", "--households", "homes.csv", *ASKED, *words)


def rows_of(frame, names):
    return list(map(tuple, frame[names].to_numpy(dtype=object).tolist()))


def counted(people, homes, of_people, of_homes):
    return slow.fewest_whole_units_apart(
        rows_of(people, of_people), people["hid"], rows_of(homes, of_homes), homes["hid"]
    )


def test_both_files_are_masked_together_and_written_apart():
    shown = mask("--strata", "region", "-o", "out", "--json")
    told = json.loads(shown.stdout)
    assert told["joined"]["without_persons"] == 3
    assert told["joined"]["on"] == "hid"
    assert (
        "With homes.csv: 60 households, 4 columns, joined by 'hid'; 3 have no persons and are left out" in shown.stderr
    )
    people = pd.read_csv(told["masked"])
    homes = pd.read_csv(told["households"], sep=";", decimal=",")
    assert people.columns.tolist() == ["age", "hid", "sex"]
    assert homes.columns.tolist() == ["region", "hid", "income"]
    assert homes["hid"].tolist() == list(range(1, len(homes) + 1))
    assert len(people) == told["records"]
    assert counted(people, homes, ["age", "sex"], ["region", "income"]) == told["k_reached"] >= 3
    page = Path("out/internal/report.html").read_text()
    assert "60 households" in page
    recipe = ma.Recipe.read(told["recipe"])
    assert (recipe.join.households, recipe.join.on, recipe.units.household) == ("homes.csv", "hid", ("income",))


def test_it_is_what_masking_the_joined_table_gives():
    people, homes = (pd.read_csv("people.csv"), pd.read_csv("homes.csv", sep=";", decimal=","))
    whole = people.merge(homes, on="hid")
    release = ma.protect(whole, **CHOICES, household=["income"])
    source = ma.read("people.csv", households="homes.csv")
    joined = ma.protect(source, **CHOICES)
    assert joined.k_achieved == release.k_achieved
    assert joined.information.percent == pytest.approx(release.information.percent)
    assert joined.data["income"].to_pylist() == release.data["income"].tolist()


@pytest.mark.parametrize("words", [["--same-order"], ["--excel-safe"]])
def test_every_way_gives_the_same_bytes(words):
    told = json.loads(mask("-o", "out", "--json", *words).stdout)
    both = [Path(told["masked"]), Path(told["households"])]
    first = [path.read_bytes() for path in both]
    call(*shlex.split(told["command"])[1:])
    assert [path.read_bytes() for path in both] == first
    for path in both:
        path.unlink()
    subprocess.run([sys.executable, "-c", told["script"]], check=True, capture_output=True)
    assert [path.read_bytes() for path in both] == first
    assert "people_masked.csv', households='out/release/homes_masked.csv'" in told["script"]


@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".sav", ".dta"])
def test_other_kinds_of_files_are_joined(tmp_path, suffix):
    for frame, name in zip(tables(), ("people", "homes"), strict=True):
        ma.write(pa.Table.from_pandas(frame, preserve_index=False), tmp_path / f"{name}{suffix}")
    opened = desk.open_file(str(tmp_path / f"people{suffix}"), households=str(tmp_path / f"homes{suffix}"), **CHOICES)
    release = desk.mask(opened)
    written = desk.write(release, opened, tmp_path / "out")
    people, homes = (ma.read(written.places[which]).table.to_pandas() for which in ("masked", "households"))
    assert counted(people, homes, ["age", "sex"], ["income"]) == release.k_achieved >= 3
    again = ma.protect(ma.read(opened.address, recipe=written.recipe), recipe=written.recipe)
    assert again.data.equals(release.data)


def test_a_household_weight_is_released_by_group_and_stays_the_households():
    release = ma.protect(
        ma.read("people.csv", households="homes.csv"), **CHOICES, weight="weight", weight_release="group"
    )
    people, homes = desk.apart(release)
    assert "weight" not in people.column_names
    assert homes.num_rows == len(set(people["hid"].to_pylist()))
    ma.write(release, "p.csv", households="h.csv")
    assert pd.read_csv("h.csv", sep=";", decimal=",")["weight"].notna().all()


def test_neither_file_is_left_where_the_promise_is_broken(files, monkeypatch):
    release = ma.protect(ma.read("people.csv", households="homes.csv"), **CHOICES)
    Path("h.csv").write_text("former")
    broken = release.promise.__class__(10_000, release.promise.masked, pseudonym="hid")
    monkeypatch.setattr("microagg.release.Release.promise", property(lambda _: broken))
    with pytest.raises(PromiseBroken, match=r"p\.csv with h\.csv"):
        ma.write(release, "p.csv", households="h.csv", overwrite=True)
    assert Path("h.csv").read_text() == "former"
    with pytest.raises(PromiseBroken):
        ma.write(release, "p.csv", households="g.csv")
    assert {path.name for path in files.iterdir()} == {"people.csv", "homes.csv", "h.csv"}


@pytest.mark.parametrize("former", [True, False])
def test_the_first_file_comes_back_if_the_second_cannot_get_its_name(files, monkeypatch, former):
    release = ma.protect(ma.read("people.csv", households="homes.csv"), **CHOICES)
    before = {"people.csv", "homes.csv"}
    if former:
        Path("h.csv").write_text("former")
        before.add("h.csv")
    rename = pathlib.Path.replace

    def refused(path, target):
        if Path(target).name == "p.csv":
            raise OSError(28, "full")
        return rename(path, target)

    monkeypatch.setattr(pathlib.Path, "replace", refused)
    with pytest.raises(InvalidData, match=r"'p\.csv' cannot be written"):
        ma.write(release, "p.csv", households="h.csv", overwrite=True)
    assert {path.name for path in files.iterdir()} == before
    assert not former or Path("h.csv").read_text() == "former"


def test_columns_that_differ_within_a_household_are_not_written():
    release = ma.protect(ma.read("people.csv", households="homes.csv"), **CHOICES, keep=["weight"])
    data = release.data
    spoilt = data.set_column(data.column_names.index("weight"), "weight", pa.array(map(str, range(data.num_rows))))
    object.__setattr__(release, "data", spoilt)
    with pytest.raises(InvalidData, match=r"column 'weight' of 'homes\.csv' would be released with several values in"):
        ma.write(release, "p.csv", households="h.csv")
    assert not Path("p.csv").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["--unit", "hid"],
            "--households works only with --unit-release pseudonym: without pseudonyms nothing shows which rows of the "
            "two files belong together. Choose it, so that k whole households are identical, or join the files "
            "yourself",
        ),
        (["--unit", "age", "--on", "hid", "--unit-release", "pseudonym"], "joined by 'hid' and the unit is 'age'"),
        ([*ASKED, "--to", "other.csv"], "--to names one place, but two files are written"),
        ([*ASKED, "--engine", "disk"], "cannot be combined with --engine disk"),
        ([*ASKED, "--on", "home"], "is 'hid', but whole households"),
        ([*ASKED, "--strata", "person"], "rows of one unit are in different strata"),
    ],
)
def test_what_does_not_go_with_two_files_is_refused(words, said):
    assert said in complaint("mask", "people.csv", "--households", "homes.csv", *words, "-o", "out")
    assert not Path("out").exists()


def test_on_needs_a_file_and_the_output_may_not_hold_it():
    assert "on works only with a file of households" in complaint("mask", "people.csv", "--on", "hid")
    mask("-o", "out")
    Path("homes.csv").rename("out/release/homes_masked.csv")
    said = complaint(
        "mask", "people.csv", "--households", "out/release/homes_masked.csv", *ASKED, "-o", "out", "--force"
    )
    assert (
        "contains files that are not from an earlier output" in said
        or "the output is the source, or contains it" in said
    )


def test_files_of_one_name_are_told_apart():
    Path("homes").mkdir()
    Path("homes.csv").rename("homes/people.csv")
    told = json.loads(call("mask", "people.csv", "--households", "homes/people.csv", *ASKED, "--json").stdout)
    assert told["households"] == str(Path("out/release/households_people_masked.csv"))
    assert json.loads(call(*shlex.split(told["command"])[1:], "--json").stdout)["k_reached"] >= 3


def test_a_recipe_that_joins_takes_no_single_table():
    release = ma.protect(ma.read("people.csv", households="homes.csv"), **CHOICES)
    frame = pd.read_csv("people.csv")
    for other in (frame, ma.read("people.csv")):
        with pytest.raises(InvalidParameter, match="and only one table is passed") as told:
            ma.protect(other, recipe=release.recipe)
        assert told.value.parameter == "households"
    with pytest.raises(InvalidParameter, match="Name a place for the second"):
        ma.write(release, "p.csv")
    with pytest.raises(InvalidParameter, match="have the same name"):
        ma.write(release, "p.csv", households="p.csv")
    with pytest.raises(InvalidParameter, match="is the source itself"):
        ma.write(release, "homes.csv", households="p.csv", overwrite=True)
    with pytest.raises(InvalidParameter, match="and not to a database"):
        ma.write(release, "p.csv", households="duckdb:///x.duckdb?table=t")
    with pytest.raises(InvalidParameter, match="is of one file"):
        ma.write(ma.protect(frame[["age"]], k=3), "p.csv", households="h.csv")
    with pytest.raises(InvalidParameter, match="a table has no separate households"):
        ma.write(release.data, "p.csv", households="h.csv")
    with pytest.raises(InvalidData, match="a stored release does not know"):
        ma.write(pickle.loads(pickle.dumps(release)), "p.csv", households="h.csv")
    recipe = release.recipe.write("recipe.toml")
    assert "Read the report of `mask`" in complaint("assess", "people.csv", "people.csv", "--recipe", recipe)
    with pytest.raises(InvalidParameter, match="the files were joined by 'hid'"):
        ma.protect(ma.read("people.csv", households="homes.csv"), recipe=release.recipe.replace(on="age", unit="age"))
    with pytest.raises(InvalidParameter, match="cannot be combined with files larger than memory"):
        ma.protect_file("people.csv", "x.csv", recipe=release.recipe)


def test_a_wrong_join_is_blamed_on_its_line():
    Path("mine.toml").write_text('k = 3\n[join]\nhouseholds = "homes.csv"\non = "hid"\n')
    assert "mine.toml, line 3: in [join], --households works only with" in complaint(
        "mask", "people.csv", "--recipe", "mine.toml"
    )
    Path("mine.toml").write_text(
        'k = 3\n[join]\nhouseholds = "homes.csv"\non = "home"\n[units]\nrelease = "pseudonym"\n'
    )
    said = complaint("mask", "people.csv", "--recipe", "mine.toml")
    assert said.startswith("RoleError: mine.toml, line 4: in [join], 'people.csv' has no column 'home'")


def test_inspect_tells_of_both_files():
    shown = call("inspect", "people.csv", "--households", "homes.csv", "-k", 3, "--json")
    told = json.loads(shown.stdout)
    roles = {column["name"]: column["role"] for column in told["columns"]}
    assert roles["hid"] == "unit"
    assert roles["sex"] == "quasi"  # the persons of a household differ in it
    assert told["joined"]["records"] == 60
    assert told["repeats"] is None
    assert set(told["costs"]["columns"]) >= {"age", "income"}
    recipe = ma.Recipe.read("recipe.toml")
    assert recipe.units.release == "pseudonym"
    assert "income" in recipe.units.household
    assert recipe.join.on == "hid"
    assert json.loads(call("mask", "people.csv", "--recipe", "recipe.toml", "--json").stdout)["k_reached"] >= 3
