import builtins
import hashlib

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from microagg import datasets
from microagg.errors import InvalidParameter

COLUMNS = (
    "household person region size sex birth age education status occupation hours wage business pension capital rent "
    "income diagnosis weight"
).split()
OF_THE_HOUSEHOLD = ["region", "size", "capital", "rent", "income", "weight"]
INCOMES = ["wage", "business", "pension"]
LEVELS = ["none", "primary", "lower secondary", "upper secondary", "tertiary"]


@pytest.fixture(scope="module")
def people():
    return datasets.households(20_000, seed=0, frame="pandas")


def digest(table):
    return hashlib.sha256(repr(table.to_pydict()).encode()).hexdigest()


def test_the_same_seed_gives_the_same_data():
    assert digest(datasets.households(400, seed=4)) == (
        "e62c344387c3a8a0028411031b63a01f079ba00e7bea930256d9feedcd2509bf"
    )
    assert digest(datasets.households(400, seed=5)) == (
        "9f4131fcc173211fe563e4d765ff1aeaf5bb2fba3492b9b6487be8b4abb2f7d9"
    )


def test_every_type_is_that_of_its_column():
    table = datasets.households(500, seed=0)
    assert table.column_names == COLUMNS
    category = pa.dictionary(pa.int8(), pa.string())
    types = dict.fromkeys(COLUMNS, pa.int64()) | dict.fromkeys(["income", "weight"], pa.float64())
    types |= dict.fromkeys(["region", "sex", "status", "occupation", "diagnosis"], category)
    types |= {"birth": pa.date32(), "education": pa.dictionary(pa.int8(), pa.string(), ordered=True)}
    assert dict(zip(table.column_names, table.schema.types, strict=True)) == types
    table.validate(full=True)


def test_pandas_gets_categories_and_dates(people):
    assert people["education"].cat.ordered
    assert people["education"].cat.categories.tolist() == LEVELS
    assert not people["occupation"].cat.ordered
    assert pd.api.types.is_datetime64_dtype(people["birth"])
    assert people["wage"].dtype == float  # with missing values
    assert people["age"].dtype == np.int64


def test_polars_gets_categories_and_dates():
    frame = datasets.households(300, seed=0, frame="polars")
    assert frame.schema["education"] == pl.Enum(LEVELS)
    assert isinstance(frame.schema["occupation"], pl.Categorical)
    assert frame.schema["birth"] == pl.Date
    assert frame.schema["wage"] == pl.Int64


def test_the_frames_of_each_kind_hold_the_same():
    table = datasets.households(300, seed=0)
    assert datasets.households(300, seed=0, frame="polars").rows() == list(
        zip(*table.to_pydict().values(), strict=True)
    )
    from_pandas = pa.Table.from_pandas(datasets.households(300, seed=0, frame="pandas")).cast(table.schema)
    assert from_pandas.equals(table)


def test_the_persons_of_a_household_stand_together_and_share_its_columns(people):
    assert people["person"].is_unique
    assert people["household"].is_monotonic_increasing
    assert people["household"].astype(str).str.len().nunique() == 1
    within = people.groupby("household")
    assert (within[OF_THE_HOUSEHOLD].nunique(dropna=False) == 1).all().all()
    assert (within["size"].first() == within.size()).all()
    assert (within["age"].max() >= 18).all()
    assert 2 < len(people) / within.ngroups < 2.6
    assert people["size"].max() >= 7


@pytest.mark.parametrize("n", [1, 2, 3, 7, 100])
def test_there_are_exactly_as_many_persons_as_asked_for(n):
    for seed in range(10):
        table = datasets.households(n, seed=seed)
        assert table.num_rows == n
        last = table["household"][-1]
        assert table["size"][-1].as_py() == pc.sum(pc.equal(table["household"], last)).as_py()


def test_children_are_not_asked(people):
    child = people["age"] < 16
    assert 0.15 < child.mean() < 0.25
    assert people.loc[child, ["education", "status", "occupation", "hours", *INCOMES]].isna().all().all()
    assert people.loc[~child, ["education", "status"]].notna().all().all()


def test_only_those_who_work_have_an_occupation_and_hours(people):
    works = people["status"].isin(["employed", "self-employed"])
    assert (people["occupation"].notna() == works).all()
    assert people.loc[~works, "hours"].isna().all()
    assert 0.01 < people.loc[works, "hours"].isna().mean() < 0.03
    assert people["occupation"].nunique() == 40
    assert people["occupation"].dropna().str.fullmatch(r"\d{4}").all()
    assert people["occupation"].value_counts().min() >= 50
    assert (people["occupation"] == "0110").any()  # read as a number, it would lose its zero


def test_a_few_percent_of_the_incomes_are_refused(people):
    adults = people[people["age"] >= 16]
    refused = adults[[*INCOMES, "capital", "rent", "diagnosis"]].isna().mean()
    assert refused.between(0.015, 0.065).all()
    assert refused[["wage", "capital"]].between(0.03, 0.06).all()
    assert adults[INCOMES].isna().all(axis=1).mean() > 0.02  # some refuse all of them
    complete = ["household", "person", "region", "size", "sex", "birth", "age", "income", "weight"]
    assert people[complete].notna().all().all()


def test_ages_are_those_of_the_birth_dates(people):
    interviews = pd.Timestamp("2024-06-30")
    birthday_to_come = (people["birth"].dt.month * 100 + people["birth"].dt.day) > 630
    assert (interviews.year - people["birth"].dt.year - birthday_to_come == people["age"]).all()
    assert people["birth"].max() <= interviews


def test_amounts_have_spikes_heaps_skew_and_losses(people):
    adults = people[people["age"] >= 16]
    zeros = (adults[[*INCOMES, "capital", "rent"]] == 0).mean()
    assert (zeros > 0.15).all()
    assert 0.35 < zeros["wage"] < 0.55
    wages = adults["wage"][adults["wage"] > 0]
    assert (wages % 1000 == 0).mean() > 0.3
    assert wages.skew() > 1
    assert people["capital"].skew() > 5
    assert (people["business"] < 0).any()
    assert people["income"].min() > 0
    assert (adults.loc[adults["status"] == "retired", "wage"].dropna() == 0).all()


def test_wages_depend_on_age_sex_education_and_region(people):
    earners = people[(people["wage"] > 0) & (people["status"] == "employed")]
    age = earners["age"].to_numpy(float)
    male = (earners["sex"] == "male").to_numpy(float)
    level = earners["education"].cat.codes.to_numpy(float)
    coast = (earners["region"] == "Coast").to_numpy(float)
    design = np.column_stack([np.ones(age.size), age, age**2, male, level, coast])
    slopes = np.linalg.lstsq(design, np.log(earners["wage"].to_numpy()), rcond=None)[0]
    assert 0.03 < slopes[1] < 0.08
    assert -0.001 < slopes[2] < -0.0003
    assert (slopes[3:] > 0.05).all()
    by_occupation = earners.groupby("occupation", observed=True)["wage"].median()
    assert by_occupation["1120"] > 2 * by_occupation["9112"]


def test_every_domain_has_records_and_a_weight_tells_the_region(people):
    assert people.groupby(["region", "sex"], observed=True).size().min() > 100
    assert people["weight"].nunique() == 40
    assert (people.groupby("weight")["region"].nunique() == 1).all()
    assert 0.5 < (people["diagnosis"] == "none").mean() < 0.8
    assert (people["diagnosis"] == "rare disease").any()


def test_bad_calls_are_refused(monkeypatch):
    with pytest.raises(InvalidParameter, match="frame='excel'"):
        datasets.households(10, frame="excel")
    with pytest.raises(InvalidParameter, match="n=0"):
        datasets.households(0)
    real_import = builtins.__import__

    def without_polars(name, *rest, **more):
        if name == "polars":
            raise ModuleNotFoundError(name)
        return real_import(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without_polars)
    with pytest.raises(InvalidParameter, match="polars is not installed"):
        datasets.households(10, frame="polars")
