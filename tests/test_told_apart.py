"""What a written file tells apart was counted apart, or is not told apart any more."""

import os
import pickle
from collections import Counter

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import microagg as ma
from microagg.errors import InvalidData, InvalidParameter
from microagg.jobs.outputs import read_origin
from microagg.jobs.tables import rows_written
from tests.cli import call

pyreadstat = pytest.importorskip("pyreadstat")
N = 60


def stata(path, **columns):
    """Write a Stata file; letters are its kinds of missing values."""
    frame = pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()})
    letters = {name: sorted({one for one in values if isinstance(one, str)}) for name, values in columns.items()}
    pyreadstat.write_dta(frame, path, missing_user_values={name: own for name, own in letters.items() if own})
    return ma.read(path)


def shown(path, *names):
    """Give the rows of a Stata file as anybody sees them, .a to .z included."""
    data, _ = pyreadstat.read_dta(path, output_format="dict", user_missing=True)
    return list(zip(*(map(str, data[name]) for name in names), strict=True))


def test_k_holds_with_the_kinds_of_missing_values_that_a_stratum_shows(tmp_path):
    strata = [{0: "a", 10: "b", 35: "c"}.get(i, float(1 + i % 3)) if i % 5 == 0 else float(1 + i % 3) for i in range(N)]
    strata = ["a" if i % 5 == 0 and isinstance(one, float) else one for i, one in enumerate(strata)]
    source = stata(tmp_path / "in.dta", age=[float(20 + i * 7 % 40) for i in range(N)], region=strata)
    ma.write(ma.protect(source, 4, quasi=["age"], strata=["region"]), tmp_path / "out.dta")
    assert min(Counter(shown(tmp_path / "out.dta", "age", "region")).values()) >= 4


def test_zeros_of_both_signs_are_one_value_wherever_they_are_written(tmp_path):
    strata = [-0.0 if i in (3, 7) else 0.0 for i in range(12)] + [1.0] * 12
    table = pa.table({"age": [float(i % 3) for i in range(24)], "s": strata, "kept": [-0.0, 0.0] * 12})
    pq.write_table(table, tmp_path / "in.parquet")
    ma.write(
        ma.protect(ma.read(tmp_path / "in.parquet"), 4, quasi=["age"], strata=["s"], keep=["kept"]), tmp_path / "o.csv"
    )
    ma.protect_file(tmp_path / "in.parquet", tmp_path / "o.parquet", 4, quasi=["age"], strata=["s"], keep=["kept"])
    assert "-0" not in (tmp_path / "o.csv").read_text()
    for name in ("s", "kept"):
        assert not np.signbit(pq.read_table(tmp_path / "o.parquet")[name].to_numpy()).any()


def test_rows_that_differ_in_what_stata_shows_alone_do_not_keep_their_order(tmp_path):
    letters = ["a" if one else "b" for one in np.random.default_rng(0).integers(0, 2, N)]
    for units in ({}, {"unit": "who", "unit_release": "pseudonym"}):
        source = stata(
            tmp_path / "in.dta", who=[float(i) for i in range(N)], age=[float(i % 5) for i in range(N)], x=letters
        )
        roles = {"quasi": ["age"], "keep": ["x"], "rest": "drop", **units}
        ma.write(ma.protect(source, 3, **roles), tmp_path / "out.dta", overwrite=True)
        rows = shown(tmp_path / "out.dta", "age", "x")
        assert rows == sorted(rows)


def test_rows_are_not_sorted_by_kinds_of_missing_values_that_are_not_released(tmp_path):
    letters = ["a" if one else "b" for one in np.random.default_rng(0).integers(0, 2, N)]
    age = [float(i % 5) for i in range(N)]
    orders = []
    for own in (letters, ["a"] * N):
        source = stata(tmp_path / "in.dta", age=age, left_out=own, region=own)
        orders.append(rows_written(ma.protect(source, 3, quasi=["age"], strata=["region"], drop=["left_out"])).tolist())
    assert orders[0] == orders[1]


def test_t_refuses_several_codes_and_a_stata_file_shows_one(tmp_path):
    kinds = [("a" if i < 30 else "b") if i % 3 else float(1 + i % 2) for i in range(N)]
    source = stata(tmp_path / "in.dta", age=[float(20 + i) for i in range(N)], d=kinds)
    demand = {"quasi": ["age"], "confidential": ["d"], "t": 0.2, "kinds": {"d": "nominal"}}
    ma.write(ma.protect(source, 6, **demand), tmp_path / "out.dta")
    assert {one for (one,) in shown(tmp_path / "out.dta", "d")} <= {"1.0", "2.0", "nan", "None"}
    coded = pd.DataFrame({"age": range(N), "d": [{"a": 98.0, "b": 99.0}.get(one, one) for one in kinds]})
    with pytest.raises(InvalidData, match="several codes for missing values"):
        ma.protect(coded, 6, **demand, missing_codes={"d": [98, 99]})


@pytest.mark.parametrize("kind", [str, "category"])
@pytest.mark.parametrize("word", ["NA", "", " NULL "])
def test_words_for_missing_values_are_no_values_to_l(kind, word):
    frame = pd.DataFrame({"age": [1.0] * 12 + [9.0] * 12, "diag": (["HIV", word] * 6 + ["flu", "cold"] * 6)})
    frame["diag"] = frame["diag"].astype(kind)
    release = ma.protect(frame, 3, quasi=["age"], confidential=["diag"], l=2)
    for _, own in release.data.groupby("age"):
        assert len({*own["diag"].astype(str)} - {word}) >= 2


def test_the_public_recipe_and_a_stored_release_hold_no_secret(tmp_path):
    frame = ma.datasets.survey(60, seed=0)
    recipe = ma.Recipe.of(
        3,
        quasi=["age", "education"],
        drop=["wage", "hours"],
        rest="drop",
        kinds={"hours": "number", "education": "nominal"},
        importance={"wage": 2.0},
        rounding={"wage": 100, "age": 1},
        nominal="draw",
        nominal_seed=4711,
    )
    text = recipe.write_public(tmp_path / "r.toml").read_text()
    assert not any(word in text for word in ("wage", "hours", "4711"))
    assert "education" in text
    release = ma.protect(frame, recipe=recipe.replace(importance={}, rounding={"age": 1}))
    stored = pickle.loads(pickle.dumps(release))
    assert release.recipe.masking.nominal_seed == 4711
    assert stored.recipe.masking.nominal_seed is None


@pytest.mark.parametrize("planted", ["pipe", "deep", "text"])
def test_what_somebody_plants_beside_an_output_neither_stops_nor_breaks_masking(tmp_path, monkeypatch, planted):
    monkeypatch.chdir(tmp_path)
    ma.write(ma.datasets.survey(60, seed=0).select(["age", "wage"]), "in.csv")
    place = tmp_path / "beside" / "internal"
    place.mkdir(parents=True)
    if planted == "pipe":
        os.mkfifo(place / "rows.parquet")
    else:
        told = (
            "[" * 100_000
            if planted == "deep"
            else '{"source": "in.csv", "sha256": null, "records": 1, "masked_sha256": null}'
        )
        table = pa.table({"original_row": ["x"]}).replace_schema_metadata({"microagg": told})
        pq.write_table(table, place / "rows.parquet")
    assert read_origin(place / "rows.parquet") is None
    assert "Release: 60 records" in call("mask", "in.csv", "-k", 3, "--yes").stdout


def test_a_code_that_the_type_of_a_column_does_not_have_is_refused():
    frame = pd.DataFrame({"a": np.arange(12, dtype=np.int64) % 3, "b": np.arange(12.0)})
    with pytest.raises(InvalidParameter, match="are not of its type"):
        ma.protect(frame, 3, kinds={"a": "nominal"}, missing_codes={"a": [2**63]})
    with pytest.raises(InvalidParameter, match="the levels of column 'a' are not of its type"):
        ma.protect(frame, 3, kinds={"a": [0, 1, 2, 2**64]})
    frame["a"] = frame["a"].astype("uint64") + 2**63
    released = ma.protect(frame, 3, kinds={"a": "nominal"}, missing_codes={"a": [2**63]}).data
    assert set(released["a"]) <= {2**63, 2**63 + 1, 2**63 + 2}
