"""Every type of column comes back from masking, and from every kind of file, as the type it was."""

import datetime as dt
import re

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import microagg as ma
from tests.io.kinds_of_columns import (
    AMOUNTS,
    DAYS,
    FLAGS,
    INSTANTS,
    LEVELS,
    WHOLE,
    WORDS,
    N,
    arrow_table,
    pandas_frame,
    polars_frame,
    some,
)

K = 4


def type_of(frame, name):
    column = frame[name]
    return column.type if isinstance(frame, pa.Table) else column.dtype


def names_of(frame):
    return frame.column_names if isinstance(frame, pa.Table) else list(frame.columns)


def missing_in(frame, name):
    column = frame[name]
    return column.null_count if isinstance(frame, pa.Table) else int(column.isna().sum())


def check_shared(table, names=None):
    """See that k records share each combination of values, those of text in any layout."""
    names = names or table.column_names
    rows = list(zip(*(table[name].to_pylist() for name in names), strict=True))
    assert min(rows.count(row) for row in set(rows)) >= K


def check_round_trip(source, target, **choices):
    """Mask what was read, write it, and give it read again: with the same types and kinds of values."""
    release = ma.protect(source, k=K, **choices)
    ma.write(release, target)
    again = ma.read(target)
    names = list(release.recipe.roles.quasi)
    assert again.table.select(names).schema == source.table.select(names).schema
    assert again.table.num_rows == source.table.num_rows
    check_shared(again.table, names)
    for name, kind in zip(names, (column.kind.name for column in release.pair.masked), strict=True):
        assert again.table[name].null_count > 0, name
        if kind in ("nominal", "ordinal"):
            assert set(again.table[name].to_pylist()) <= set(source.table[name].to_pylist())
    return release, again


@pytest.mark.parametrize("missing", [False, True], ids=["complete", "missing"])
@pytest.mark.parametrize("make", [arrow_table, polars_frame, pandas_frame])
def test_each_type_of_each_library_comes_back(make, missing):
    frame = make(missing)
    released = ma.protect(frame, k=K).data
    for name in names_of(frame):
        before, after = type_of(frame, name), type_of(released, name)
        assert after == before, name
    if missing and make is not polars_frame:
        assert {missing_in(released, name) for name in names_of(frame)} == {9}


@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".arrow"])
def test_types_of_arrow_outlive_files(tmp_path, suffix):
    ma.write(arrow_table(True), tmp_path / f"data{suffix}")
    source = ma.read(tmp_path / f"data{suffix}")
    release, _ = check_round_trip(source, tmp_path / f"out{suffix}")
    kinds = {column.name: column.kind.name for column in release.pair.masked}
    assert kinds["levels"] == "ordinal"
    assert kinds["category"] == kinds["flag"] == kinds["string_view"] == "nominal"
    assert {kinds[name] for name in ("date32", "time", "zoned_ns", "length_s")} == {"date"}
    assert {kinds[name] for name in ("amount", "wide", "half", "uint64")} == {"number"}


@pytest.mark.parametrize("missing", [False, True], ids=["complete", "missing"])
def test_types_of_arrow_come_out_of_the_disk_as_of_memory(tmp_path, missing):
    pq.write_table(arrow_table(missing), tmp_path / "data.parquet")
    ma.protect_file(tmp_path / "data.parquet", tmp_path / "out.parquet", K, engine="disk", max_block=16)
    expected = ma.protect(ma.read(tmp_path / "data.parquet"), K, blocks="median", max_block=16).data
    found = ma.read(tmp_path / "out.parquet").table
    assert found.schema == expected.schema
    assert found.to_pydict() == expected.to_pydict()


def test_files_that_polars_wrote_are_masked(tmp_path):
    polars = pytest.importorskip("polars")
    frame = polars_frame(True).select("category", "text", "fixed", "amount")
    frame.write_ipc(tmp_path / "data.feather")
    frame.write_parquet(tmp_path / "data.parquet")
    for suffix in (".feather", ".parquet"):
        check_round_trip(ma.read(tmp_path / f"data{suffix}"), tmp_path / f"out{suffix}")
    assert polars.read_ipc(tmp_path / "out.feather")["text"].dtype == polars.String


def test_text_files_keep_the_form_of_every_column(tmp_path):
    columns = {
        "birth": [None if day is None else day.strftime("%d.%m.%Y") for day in some(DAYS, True)],
        "seen": ["NA" if day is None else day.isoformat() for day in some(DAYS, True)],
        "flag": [None if flag is None else str(flag).upper() for flag in some(FLAGS, True)],
        "level": some(WORDS, True),
        "wage": [None if one is None else f"{one:.2f}".replace(".", ",") for one in some(AMOUNTS, True)],
        "code": [None if number is None else f"{number % 3:03}" for number in some(WHOLE, True)],
        "age": [None if number is None else str(number) for number in some(WHOLE, True)],
    }
    lines = [";".join(columns)]
    lines += [";".join(cell or "" for cell in row) for row in zip(*columns.values(), strict=True)]
    path = tmp_path / "data.csv"
    path.write_text("\n".join(lines) + "\n")
    kinds = {"birth": "date", "seen": "date", "level": LEVELS}
    release, again = check_round_trip(ma.read(path), tmp_path / "out.csv", kinds=kinds)
    forms = {
        "birth": r"\d\d\.\d\d\.\d{4}",
        "seen": r"\d{4}-\d\d-\d\d",
        "wage": r"\d+(,\d\d?)?",
        "code": r"00\d",
        "age": r"\d+",
    }
    for name, form in forms.items():
        assert again.table[name].drop_null().to_pylist()
        for value in again.table[name].drop_null().to_pylist():
            assert re.fullmatch(form, value), name
    found = {column.name: column.kind.name for column in release.pair.masked}
    assert found == {
        "birth": "date",
        "seen": "date",
        "flag": "nominal",
        "level": "ordinal",
        "wage": "number",
        "code": "nominal",
        "age": "number",
    }


@pytest.mark.parametrize("suffix", [".sav", ".dta"])
def test_kinds_outlive_files_of_statistics_packages(tmp_path, suffix):
    pytest.importorskip("pyreadstat")
    table = pa.table(
        {
            "age": pa.array(some(WHOLE, True), pa.int64()),
            "wage": pa.array([None if one is None else float(one) for one in some(AMOUNTS, True)]),
            "level": pa.array([None if word is None else LEVELS.index(word) for word in some(WORDS, True)]),
            "flag": pa.array(some(FLAGS, True)),
            "town": pa.array(some(WORDS, True)),
            "born": pa.array(some(DAYS, True)),
            "seen": pa.array(some(INSTANTS, True), pa.timestamp("us")),
        }
    )
    ma.write(table, tmp_path / f"data{suffix}")
    kinds = {"level": "ordinal", "flag": "nominal"}
    source = ma.read(tmp_path / f"data{suffix}")
    _, again = check_round_trip(source, tmp_path / f"out{suffix}", kinds=kinds)
    assert again.labels.formats == source.labels.formats
    assert again.table["born"].type == pa.date32()
    assert again.table["seen"].type == pa.timestamp("us")


def test_kinds_outlive_a_database(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    address = f"duckdb:///{tmp_path / 'data.db'}?table="
    with duckdb.connect(str(tmp_path / "data.db")) as connection:
        connection.execute("CREATE TYPE level AS ENUM ('low', 'mid', 'high')")
        connection.execute(
            "CREATE TABLE t (level level, born DATE, seen TIMESTAMP WITH TIME ZONE, moment TIMESTAMP, flag BOOLEAN, "
            "wage DECIMAL(10, 2), age TINYINT, share FLOAT, clock TIME)"
        )
        seen = [instant and instant.replace(tzinfo=dt.UTC) for instant in some(INSTANTS, True)]
        clock = [instant and instant.time() for instant in some(INSTANTS, True)]
        columns = [some(WORDS, True), some(DAYS, True), seen, some(INSTANTS, True), some(FLAGS, True)]
        columns += [some(AMOUNTS, True), some(WHOLE, True), some(WHOLE, True), clock]
        for row in zip(*columns, strict=True):
            connection.execute(f"INSERT INTO t VALUES ({', '.join('?' * len(row))})", row)
    release, again = check_round_trip(ma.read(f"{address}t"), f"{address}masked", kinds={"level": LEVELS})
    assert again.table["seen"].type.tz is not None
    assert pa.types.is_decimal(again.table["wage"].type)
    assert release.recipe.kinds.kinds == {"level": tuple(LEVELS)}


def test_levels_that_nobody_has_are_not_written(tmp_path):
    codes = pa.array([0, 2] * (N // 2), pa.int8())
    table = pa.table({"level": pa.DictionaryArray.from_arrays(codes, pa.array(LEVELS), ordered=True)})
    ma.write(ma.protect(table, k=K), tmp_path / "out.parquet")
    again = ma.read(tmp_path / "out.parquet").table["level"]
    assert again.type.ordered
    assert again.chunk(0).dictionary.to_pylist() == ["low", "high"]


def test_text_of_pandas_that_was_joined_of_two_frames_is_one_column():
    part = pd.DataFrame({"sex": ["f", "m"] * 3, "age": [20, 21, 22, 23, 24, 25]})
    joined = pd.concat([part, part], ignore_index=True)
    assert ma.loss_measures(joined, joined).percent == 0.0
