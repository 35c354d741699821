"""What a release, and the page that goes with it, must not give away."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import microagg as ma
from microagg.errors import InvalidData
from microagg.report import build, render


def categories(n=600, seed=0):
    rng = np.random.default_rng(seed)
    return pa.table(
        {"age": rng.integers(16, 90, n), "job": rng.choice(list("abcdef"), n), "area": rng.choice(list("xyz"), n)}
    )


def test_the_seed_of_a_draw_is_secret_and_stands_in_the_recipe_alone():
    table = categories()
    one, two = (ma.protect(table, 5, nominal="draw") for _ in range(2))
    assert not one.data.equals(two.data)  # nobody else can draw the same
    seed = one.recipe.masking.nominal_seed
    assert seed != two.recipe.masking.nominal_seed
    assert ma.protect(table, recipe=one.recipe).data.equals(one.data)
    for public in (True, False):
        assert str(seed) not in render(build(one, public=public))


def test_a_recipe_that_draws_nothing_has_no_seed():
    assert ma.protect(categories(), 5).recipe.masking.nominal_seed is None
    assert ma.Recipe.of(5, nominal_seed=3) == ma.Recipe.of(5)


@pytest.mark.parametrize("nominal", ["mode", "balanced", "draw"])
def test_a_column_of_names_is_refused(tmp_path, nominal):
    table = categories(200).append_column("name", pa.array([f"person {i}" for i in range(200)]))
    with pytest.raises(InvalidData, match="column 'name' holds categories that fewer than 3 records have") as caught:
        ma.protect(table, 5, nominal=nominal)
    assert caught.value.columns == ("name",)
    pq.write_table(table, tmp_path / "in.parquet")
    with pytest.raises(InvalidData) as again:
        ma.protect_file(tmp_path / "in.parquet", tmp_path / "out.parquet", 5, nominal=nominal)
    assert str(again.value) == str(caught.value)
    assert not (tmp_path / "out.parquet").exists()


@pytest.mark.parametrize("nominal", ["mode", "balanced", "draw"])
def test_a_category_of_two_records_is_not_released_where_the_group_has_another(nominal):
    rng = np.random.default_rng(0)
    job = np.where(rng.random(400) < 0.2, [f"rare {i // 2}" for i in range(400)], "common")
    table = pa.table({"age": rng.integers(16, 90, 400), "job": job})
    release = ma.protect(table, 5, nominal=nominal, importance={"job": 0})
    assert set(release.data["job"].to_pylist()) == {"common"}


def test_the_verdict_tells_of_rare_categories_that_are_released():
    rng = np.random.default_rng(0)
    age = np.sort(rng.integers(16, 90, 400))
    job = np.where(np.arange(400) < 4, "king", "farmer")
    found = build(ma.protect(pa.table({"age": age, "job": job}), 5)).verdict.findings
    assert [one.short for one in found if one.topic == "rare categories"] == [
        "categories that fewer than 5 records have are released: “job” (1 category)."
    ]
    common = np.where(np.arange(400) < 5, "king", "farmer")
    found = build(ma.protect(pa.table({"age": age, "job": common}), 5)).verdict.findings
    assert not [one for one in found if one.topic == "rare categories"]


def nested():
    """Give rows of which the last lacks an age, and alone has the word SECRET, in lists, structs and below nulls."""
    words = pa.DictionaryArray.from_arrays(pa.array([0, 0, 0, 0, 0, 0, 1], pa.int8()), ["plain", "SECRET"])
    texts = pa.array(["plain"] * 5 + ["SECRET"] * 2)
    offsets = pa.array(range(8), pa.int32())
    kept = {
        "listed": pa.ListArray.from_arrays(offsets, words),
        "within": pa.StructArray.from_arrays([words, pa.ListArray.from_arrays(offsets, words)], ["one", "more"]),
        "below": pa.StructArray.from_arrays([texts], ["one"], mask=pa.array([False] * 5 + [True] * 2)),
        "mapped": pa.MapArray.from_arrays(offsets, pa.array(["key"] * 7), words),
    }
    return pa.table({"age": [1.0, 1, 1, 2, 2, 2, None], **kept})


@pytest.mark.parametrize(
    "made",
    [
        lambda table: table,
        lambda table: pl.from_arrow(table.drop_columns("mapped")),
        lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
    ],
    ids=["pyarrow", "polars", "pandas"],
)
def test_rows_left_out_leave_nothing_within_lists_and_structs(made):
    release = ma.protect(made(nested()), 3, quasi=["age"], rest="keep", missing="drop")
    assert len(release.data) == 6
    assert b"SECRET" not in pickle.dumps(release.data)
    assert "SECRET" not in f"{getattr(release.data, 'schema', None)}{getattr(release.data, 'dtypes', None)}"


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_rows_left_out_leave_nothing_within_lists_and_structs_of_files(tmp_path, suffix):
    ma.write(nested().slice(0, 6), tmp_path / f"out{suffix}")
    assert b"SECRET" not in (tmp_path / f"out{suffix}").read_bytes()
    assert ma.read(tmp_path / f"out{suffix}").table["within"].to_pylist() == nested()["within"].to_pylist()[:6]
