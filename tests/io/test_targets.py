"""What is written is checked before any work, whole or not at all, and the same every time."""

import csv
import datetime as dt
import gzip
import os

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import microagg as ma
from microagg.columns.traces import without_views
from microagg.errors import InvalidData, InvalidParameter
from microagg.files import files
from microagg.files.addresses import check_target, file_digest
from microagg.files.sources import read_source, write_target
from microagg.study.inspection import inspect_table
from tests.io.tables import ARROW, AWKWARD, STATISTICS, STORED, TEXT, check_message, source_of, write_bytes


def test_targets_are_checked_before_any_work(tmp_path):
    source = write_bytes(tmp_path / "source.csv", b"a\n1\n")
    (tmp_path / "link.csv").symlink_to(source)
    os.link(source, tmp_path / "hard.csv")
    (tmp_path / "folder.csv").mkdir()
    write_bytes(tmp_path / "there.csv", b"")
    cases = [
        ("out.xls", False, "does not end in a known way"),
        ("out.parquet.gz", False, "does not end in a known way"),
        ("out.sas7bdat", False, "read but not written"),
        ("nowhere/out.csv", False, "does not exist"),
        ("there.csv", False, "exists. Name another"),
        ("source.csv", True, "source itself"),
        ("link.csv", True, "source itself"),
        ("hard.csv", True, "source itself"),
        ("folder.csv", True, "is a folder"),
    ]
    for name, overwrite, words in cases:
        with pytest.raises(InvalidParameter, match=words) as caught:
            check_target(tmp_path / name, source, overwrite=overwrite)
        check_message(caught, tmp_path)
        with pytest.raises(InvalidParameter, match=words):
            write_target(AWKWARD, tmp_path / name, read_source(source), overwrite=overwrite)
    check_target(tmp_path / "there.csv", source, overwrite=True)
    check_target(tmp_path / "out.csv", source, overwrite=False)
    assert source.read_bytes() == b"a\n1\n"


def test_nothing_is_written_into_a_folder_that_is_read(tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    pq.write_table(STORED, folder / "0.parquet")
    os.link(folder / "0.parquet", tmp_path / "hard.parquet")
    for target in (folder / "1.parquet", tmp_path / "hard.parquet"):
        with pytest.raises(InvalidParameter, match="part of"):
            check_target(target, folder, overwrite=True)


@pytest.mark.parametrize("suffix", TEXT + ARROW + STATISTICS)
def test_nothing_is_left_behind_on_failure(tmp_path, suffix, monkeypatch):
    def fail(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", fail)
    with pytest.raises(InvalidData, match="No space left") as caught:
        write_target(STORED, tmp_path / f"out{suffix}", source_of(STORED))
    check_message(caught, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", [".csv", *STATISTICS])
def test_what_a_file_cannot_hold_is_refused(tmp_path, suffix):
    table = pa.table({"secret": [["secret"]], "x": [1]}).rename_columns(["lists", "x"])
    with pytest.raises(InvalidData, match="column 'lists' is of a kind"):
        write_target(table, tmp_path / f"out{suffix}", source_of(table))
    assert list(tmp_path.iterdir()) == []


def test_characters_that_an_encoding_lacks_are_refused(tmp_path):
    path = write_bytes(tmp_path / "d.csv", "a,b\né,1\n".encode("cp1252"))
    source = read_source(path)
    with pytest.raises(InvalidData, match="cp1252 does not have"):
        write_target(pa.table({"a": ["שם"]}), tmp_path / "out.csv", source)


@pytest.mark.parametrize("suffix", TEXT + ARROW + STATISTICS)
def test_the_same_table_gives_the_same_bytes_at_another_time(tmp_path, suffix, monkeypatch):
    digests = []
    for moment in (0.0, 1e9):
        monkeypatch.setattr("time.time", lambda moment=moment: moment)
        target = tmp_path / f"out{suffix}"
        write_target(STORED, target, source_of(STORED), overwrite=True)
        digests.append(file_digest(target))
    assert digests[0] == digests[1]
    if suffix == ".dta":
        assert b"<timestamp>\x1101 Jan 1970 00:00</timestamp>" in target.read_bytes()
    if suffix.endswith("sav"):
        assert target.read_bytes()[92:109] == b"01 Jan 7000:00:00"
    if suffix.endswith(".gz"):
        assert target.read_bytes()[3:8] == b"\0" * 5
        assert gzip.decompress(target.read_bytes())


def test_the_mode_follows_the_umask(tmp_path):
    write_target(AWKWARD, tmp_path / "out.csv", source_of(AWKWARD))
    plain = write_bytes(tmp_path / "plain", b"")
    assert (tmp_path / "out.csv").stat().st_mode == plain.stat().st_mode


def test_formulas_are_disarmed_where_asked(tmp_path):
    cells = ["=1", "+1", "-1+cmd()", "@x", "\tx", "\rx", "x=", "", None, "-1,5"]
    table = pa.table({"=name": cells, "number": [-1.5] * 10})
    target = tmp_path / "out.csv"
    write_target(table, target, source_of(table), excel_safe=True)
    read = read_source(target).table
    assert read.column_names == ["'=name", "number"]
    assert read["'=name"].to_pylist() == [*("'" + cell for cell in cells[:6]), "x=", "", None, "-1,5"]
    assert read["number"].to_pylist() == ["-1.5"] * 10
    write_target(table, target, source_of(table), overwrite=True)
    assert read_source(target).table["=name"].to_pylist() == cells


def test_formulas_are_disarmed_in_whatever_becomes_text(tmp_path):
    cells = ["=1", "\nx", "＝1", "＋1", "－1", "＠x", "x", None]
    kinds = {
        "text": pa.array(cells),
        "bytes": pa.array(cells, pa.binary()),
        "category": pa.array(cells, pa.binary()).dictionary_encode(),
        "json": pa.ExtensionArray.from_storage(pa.json_(), pa.array(cells))
        if hasattr(pa, "json_")
        else pa.array(cells),
    }
    table = pa.table({**kinds, "decimal": pa.array([-1] * 8).cast(pa.decimal128(20, 1)), "float": [-1e-9] * 8})
    write_target(table, tmp_path / "out.csv", source_of(table), excel_safe=True)
    read = read_source(tmp_path / "out.csv").table
    for name in kinds:
        assert read[name].to_pylist() == [*("'" + cell for cell in cells[:6]), "x", None]
    assert read["decimal"].to_pylist() == ["-1.0"] * 8
    assert read["float"].to_pylist() == ["-1e-9"] * 8


@pytest.mark.parametrize("before", [" ", "  ", "\u00a0", "\u200b", "\ufeff", "\x0b", " \t\u2009"])
def test_formulas_are_disarmed_behind_what_is_not_seen(tmp_path, before):
    cells = [f"{before}{sign}1+1" for sign in "=+-@＝"] + [f"{before}x=1", "a =1", " -1", " 1,5"]
    table = pa.table({f"{before}=name": cells, "x": [*range(9)]})
    write_target(table, tmp_path / "out.csv", source_of(table), excel_safe=True)
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == [f"'{before}=name", "x"]
    assert [row[0] for row in rows] == [*("'" + cell for cell in cells[:5]), *cells[5:]]


def test_missing_numbers_are_empty_fields(tmp_path):
    table = pa.table({"x": [1.0, float("nan"), None], "d": [dt.date(2020, 1, 5)] * 3, "b": [True, None, False]})
    write_target(table, tmp_path / "out.csv", source_of(table))
    assert (tmp_path / "out.csv").read_text() == "x,d,b\n1,2020-01-05,true\n,2020-01-05,\n,2020-01-05,false\n"


def test_text_is_text_however_it_lies_in_memory(tmp_path):
    plain = pa.array(["=1", None, "b"])
    table = pa.table({"a": plain.cast(pa.string_view()), "b": plain.cast(pa.large_string()), "c": pa.nulls(3)})
    table = table.append_column("d", plain.dictionary_encode())
    for suffix in (".csv", ".sav", ".dta"):
        write_target(table, tmp_path / f"out{suffix}", source_of(table), excel_safe=True)
        options = {"header": True} if suffix == ".csv" else {}  # "b" is a name and a value
        read = read_source(tmp_path / f"out{suffix}", **options).table
        first = "'=1" if suffix == ".csv" else "=1"
        assert [read[name].to_pylist() for name in "abd"] == [[first, None, "b"]] * 3
        assert read["c"].to_pylist() == [None] * 3


@pytest.mark.parametrize("suffix", ARROW)
def test_ordered_categories_stay_ordered(tmp_path, suffix):
    kind = pa.dictionary(pa.int8(), pa.string(), ordered=True)
    table = pa.table(
        {"level": pa.DictionaryArray.from_arrays(pa.array([1, 0, None], pa.int8()), ["low", "high"], ordered=True)}
    )
    assert table["level"].type == kind
    write_target(table, tmp_path / f"out{suffix}", source_of(table))
    read = read_source(tmp_path / f"out{suffix}").table
    assert read["level"].to_pylist() == ["high", "low", None]
    assert read["level"].type.ordered
    assert read["level"].type.value_type == kind.value_type  # how wide the codes are, older PyArrow does not keep
    assert read["level"].chunk(0).dictionary.to_pylist() == ["low", "high"]


@pytest.mark.parametrize("suffix", [".feather", ".arrow"])
def test_files_of_polars_are_masked_whose_text_and_bytes_lie_as_views(tmp_path, suffix):
    frame = pl.DataFrame(
        {
            "age": [1.0, 2.0, 3.0, 7.0, 8.0, 9.0],
            "job": ["a", "a", "a", "b", "b", None],
            "bytes": [b"x"] * 6,
            "listed": [["q"], None] * 3,
            "within": [{"text": "u", "more": [b"1"]}] * 6,
            "level": pl.Series(["low"] * 6, dtype=pl.Enum(["low", "high"])),
        }
    )
    frame.write_ipc(tmp_path / f"in{suffix}")
    stored = pa.ipc.open_file(tmp_path / f"in{suffix}").read_all()
    assert stored.schema.field("listed").type.value_type == pa.string_view()
    release = ma.protect(ma.read(tmp_path / f"in{suffix}"), 3, quasi=["age"], rest="keep", same_order=True)
    ma.write(release, tmp_path / f"out{suffix}")
    expected = frame.with_columns(age=pl.Series([2.0] * 3 + [8.0] * 3))
    assert pl.read_ipc(tmp_path / f"out{suffix}").to_dicts() == expected.to_dicts()
    assert inspect_table(ma.read(tmp_path / f"in{suffix}").table, 3).records == 6
    in_memory = ma.protect(stored, 3, quasi=["age"], rest="keep").data
    assert in_memory.schema.field("within").type == stored.schema.field("within").type


FOLDED = {
    "views of lists": pa.array([["a", "b"], None, [], ["c"], ["d"], ["e"]], pa.list_view(pa.string())),
    "large ones": pa.array([["a", "b"], None, [], ["c"], ["d"], ["e"]], pa.large_list_view(pa.string())),
    "within lists": pa.array([[["a"], ["b"]], None, [], [None], [["d"]], [[]]], pa.list_(pa.list_view(pa.string()))),
    "within structs": pa.StructArray.from_arrays(
        [pa.array([["a"], None, [], ["c"], ["d"], ["e"]], pa.list_view(pa.string()))],
        ["own"],
        mask=pa.array([False] * 5 + [True]),
    ),
    "a slice": pa.array([["x"], ["a", "b"], None, [], ["c"], ["d"], ["e"]], pa.list_view(pa.string())).slice(1),
    "runs": pc.run_end_encode(pa.array(["a", "a", None, "b", "b", "b"])),
    "runs of numbers": pc.run_end_encode(pa.array([1, 1, None, 2, 2, 2])),
    "a part of runs": pc.run_end_encode(pa.array(["x", "a", "a", None, "b", "b", "b"])).slice(1),
}


@pytest.mark.parametrize("name", FOLDED)
def test_views_of_lists_and_runs_of_values_are_released_with_their_rows(name, tmp_path):
    kept = FOLDED[name]
    table = pa.table({"age": [None, 1.0, 2.0, 3.0, 4.0, 5.0], "kept": kept})
    for missing, rows in (("state", kept.to_pylist()), ("drop", kept.to_pylist()[1:])):
        released = ma.protect(table, 2, quasi=["age"], rest="keep", missing=missing).data
        released.validate(full=True)
        assert released["kept"].to_pylist() == rows
    with pa.OSFile(str(tmp_path / "in.arrow"), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    source = ma.read(tmp_path / "in.arrow")
    ma.write(ma.protect(source, 2, quasi=["age"], rest="keep", same_order=True), tmp_path / "out.parquet")
    assert ma.read(tmp_path / "out.parquet").table["kept"].to_pylist() == kept.to_pylist()
    assert without_views(table.slice(0, 0)).num_rows == 0
