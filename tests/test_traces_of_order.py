"""A release that is written tells nothing of the order in which the source had its rows."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import microagg as ma
from microagg.columns.traces import without_traces
from tests.cli import call

READERS = {"parquet": pyarrow.parquet.read_table, "feather": pyarrow.feather.read_table}


def names_in_some_order(n=60):
    return [f"v{i:03}" for i in np.random.default_rng(5).permutation(n)]


def frame_of(name):
    """A column of names that are all different, its categories in the order of the rows."""
    rng = np.random.default_rng(2)
    names = names_in_some_order()
    numbers = {"x": rng.normal(size=60), "y": rng.normal(size=60)}
    column = {
        "arrow": lambda: pa.array(names).dictionary_encode(),
        "pandas": lambda: pd.Categorical(names, categories=names),
        "polars": lambda: pl.Series(names, dtype=pl.Categorical),
    }[name]()
    made = {"arrow": pa.table, "pandas": pd.DataFrame, "polars": pl.DataFrame}[name]
    return made({**numbers, "illness": column})


@pytest.mark.parametrize("kind", READERS)
@pytest.mark.parametrize("name", ["arrow", "pandas", "polars"])
def test_categories_of_a_written_frame_are_sorted(tmp_path, name, kind):
    release = ma.protect(frame_of(name), k=3, quasi=["x", "y"], confidential=["illness"])
    ma.write(release, tmp_path / f"out.{kind}")
    written = READERS[kind](tmp_path / f"out.{kind}")["illness"].combine_chunks()
    assert written.dictionary.to_pylist() == sorted(names_in_some_order())
    assert sorted(written.to_pylist()) == sorted(names_in_some_order())
    assert written.to_pylist() != names_in_some_order()


@pytest.mark.parametrize("kind", READERS)
@pytest.mark.parametrize("role", ["keep", "confidential"])
def test_categories_of_a_masked_file_are_sorted(tmp_path, role, kind):
    pyarrow.parquet.write_table(frame_of("arrow"), tmp_path / "in.parquet")
    words = ("-k", 3, "--quasi", "x,y", f"--{role}", "illness", "--file-kind", kind, "-o", tmp_path / "out")
    call("mask", tmp_path / "in.parquet", *words)
    (path,) = (tmp_path / "out" / "release").glob(f"*.{kind}")
    assert READERS[kind](path)["illness"].combine_chunks().dictionary.to_pylist() == sorted(names_in_some_order())


def test_categories_of_strata_are_sorted(tmp_path):
    names = pa.array(["south"] * 5 + ["north"] * 5 + ["east"] * 5)
    table = pa.table({"x": np.arange(15.0), "region": names.dictionary_encode()})
    ma.write(ma.protect(table, k=5, quasi=["x"], strata=["region"]), tmp_path / "out.parquet")
    written = READERS["parquet"](tmp_path / "out.parquet")["region"].combine_chunks()
    assert written.dictionary.to_pylist() == ["east", "north", "south"]


def test_a_declared_order_of_categories_stays(tmp_path):
    levels = ["small", "medium", "large"]
    sizes = pd.Categorical([levels[i % 3] for i in range(12)], categories=levels, ordered=True)
    plain = pd.Categorical(sizes.astype(str), categories=levels)
    frame = pd.DataFrame({"x": np.arange(12.0), "size": sizes, "plain": plain})
    release = ma.protect(frame, k=3, quasi=["x"], keep=["size", "plain"])
    assert list(release.data["plain"].cat.categories) == levels  # in memory, rows keep their order as well
    ma.write(release, tmp_path / "out.parquet")
    written = READERS["parquet"](tmp_path / "out.parquet")
    assert written["size"].combine_chunks().dictionary.to_pylist() == levels
    assert written["plain"].combine_chunks().dictionary.to_pylist() == sorted(levels)
    listed = pl.DataFrame({"x": np.arange(12.0), "size": pl.Series(list(sizes), dtype=pl.Enum(levels))})
    ma.write(ma.protect(listed, k=3, quasi=["x"], keep=["size"]), tmp_path / "enum.parquet")
    assert READERS["parquet"](tmp_path / "enum.parquet")["size"].combine_chunks().dictionary.to_pylist() == levels


VALUES = {
    "text": pa.array(["b", "a", None]),
    "bytes": pa.array([b"b", b"a"]),
    "numbers": pa.array([2.5, 1.0]),
    "dates": pa.array([3, 1], pa.date32()),
    "decimals": pa.array([3, 1], pa.decimal128(5, 1)),
    "truth": pa.array([True, False]),
    "intervals": pa.array([(2, 0, 0), (1, 0, 0)], pa.month_day_nano_interval()),
}


@pytest.mark.parametrize("name", VALUES)
def test_categories_of_any_type_are_sorted_and_stay_the_rows(name):
    values = VALUES[name]
    column = pa.DictionaryArray.from_arrays(pa.array(range(len(values)), pa.int8()), values)
    turned = pa.DictionaryArray.from_arrays(
        pa.array(range(len(values)), pa.int8()), values.take([1, 0, *range(2, len(values))])
    )
    found = without_traces(column)
    assert found.to_pylist() == column.to_pylist()
    assert found.dictionary.equals(without_traces(turned).dictionary)


def test_categories_within_lists_and_structs_are_sorted():
    column = pa.array(["b", "c", "a"]).dictionary_encode()
    lists = pa.ListArray.from_arrays(pa.array([0, 2, 3]), column)
    structs = pa.StructArray.from_arrays([column], ["inner"])
    assert without_traces(lists).values.dictionary.to_pylist() == ["a", "b", "c"]
    assert without_traces(lists).to_pylist() == [["b", "c"], ["a"]]
    assert without_traces(structs).field("inner").dictionary.to_pylist() == ["a", "b", "c"]
    assert without_traces(structs).to_pylist() == structs.to_pylist()


def test_zeros_of_both_signs_are_one_category():
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), pa.array([0.0, -0.0]))
    found = without_traces(column)
    assert found.indices.to_pylist() == [0, 0]
    assert not np.signbit(found.dictionary.to_numpy()).any()
