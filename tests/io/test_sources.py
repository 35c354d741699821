"""Files of every kind come out as they went in."""

import codecs
import hashlib

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from microagg.columns.numbers import Marks
from microagg.errors import InvalidData, InvalidParameter
from microagg.files import databases, sources
from microagg.files.addresses import check_target, file_digest
from microagg.files.formats import apart, feather, parquet, text
from microagg.files.formats.dialect import Dialect
from microagg.files.sources import Source, read_source, write_target
from tests.io.tables import ARROW, AWKWARD, STATISTICS, STORED, TEXT, rewrite, source_of, write_bytes
from tests.lengths import given_few


@pytest.mark.parametrize("suffix", TEXT + ARROW)
def test_text_comes_back_as_it_was(tmp_path, suffix):
    path = tmp_path / f"data{suffix}"
    write_target(AWKWARD, path, source_of(AWKWARD))
    read = read_source(path)
    assert read.table.equals(AWKWARD)
    assert read.table.schema.metadata is None
    again = rewrite(path, tmp_path / f"again{suffix}")
    assert again.table.equals(AWKWARD)
    assert file_digest(path) == file_digest(tmp_path / f"again{suffix}")


@pytest.mark.parametrize("suffix", ARROW)
def test_types_come_back_as_they_were(tmp_path, suffix):
    table = STORED.append_column("big", pa.array([2**53 + 1, -(2**62), 0]))
    table = table.append_column("category", pa.array(["a", "b", "a"]).dictionary_encode())
    path = tmp_path / f"data{suffix}"
    write_target(table, path, source_of(table))
    assert read_source(path).table.equals(table)


@pytest.mark.parametrize("suffix", [*STATISTICS, ".xlsx"])
def test_statistics_and_excel_files_come_back_as_they_were(tmp_path, suffix):
    path = tmp_path / f"data{suffix}"
    write_target(STORED, path, source_of(STORED))
    read = read_source(path)
    for name in STORED.column_names:
        assert read.table[name].to_pylist() == STORED[name].to_pylist(), name
    again = rewrite(path, tmp_path / f"again{suffix}")
    assert again.table.equals(read.table)
    assert again.labels == read.labels
    assert file_digest(path) == file_digest(tmp_path / f"again{suffix}")


def test_a_folder_of_parquet_is_one_table(tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    for number in (0, 1):
        pq.write_table(STORED, folder / f"{number}.parquet")
    read = read_source(folder)
    assert read.table.equals(pa.concat_tables([STORED, STORED]).combine_chunks())
    assert (read.kind, read.name, read.details["files"]) == ("parquet", "parts", "2")
    parts = [hashlib.sha256((folder / f"{number}.parquet").read_bytes()).digest() for number in (0, 1)]
    assert file_digest(folder) == hashlib.sha256(b"".join(parts)).hexdigest()


def test_a_pandas_index_is_told_of_and_its_metadata_dropped(tmp_path):
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "data.parquet"
    pandas.DataFrame({"x": [1.0, 2.0]}, index=["ann", "bob"]).to_parquet(path)
    read = read_source(path)
    assert read.details["pandas index"] == "__index_level_0__"
    target = tmp_path / "out.parquet"
    write_target(read.table, target, read)
    assert b"pandas" not in target.read_bytes()


def test_arrow_streams_are_read_too(tmp_path):
    path = tmp_path / "data.arrow"
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, AWKWARD.schema) as writer:
        writer.write_table(AWKWARD)
    assert read_source(path).table.equals(AWKWARD)


@pytest.mark.parametrize("suffix", ARROW)
def test_values_that_no_row_has_are_not_written(tmp_path, suffix):
    table = pa.table({"name": pa.array(["kept", "left-out"]).dictionary_encode()}).slice(0, 1)
    table = table.replace_schema_metadata({"note": "left-out"})
    path = tmp_path / f"data{suffix}"
    write_target(table, path, source_of(table))
    assert b"left-out" not in path.read_bytes()
    assert read_source(path).table["name"].to_pylist() == ["kept"]


FIELD = st.none() | st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0") | st.sampled_from("\",;\t|\r\n' =.-1")
)


@given_few(
    60,
    200,
    rows=st.integers(1, 3).flatmap(lambda width: st.lists(st.tuples(*[FIELD] * width), min_size=1, max_size=6)),
    delimiter=st.sampled_from(",;\t|"),
    line_end=st.sampled_from(["\n", "\r\n"]),
)
def test_any_text_comes_back(tmp_path_factory, rows, delimiter, line_end):
    table = pa.table({f"n{delimiter}{n}\n": pa.array(column, pa.string()) for n, column in enumerate(zip(*rows))})  # noqa: B905
    path = tmp_path_factory.mktemp("text") / "data.csv"
    like = Source(table, path.name, "csv", dialect=Dialect(delimiter, line_end=line_end), address=path)
    write_target(table, path, like, overwrite=True)
    try:
        read = read_source(path, delimiter=delimiter, header=True)
    except InvalidData as error:
        assume("look like records" not in str(error))  # a text with lines and delimiters, which could be records
        raise
    # A record of nothing but missing values in more than one column is no blank line: it has its delimiters.
    assert read.table.equals(table)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1), st.sampled_from(".,"))
def test_any_number_comes_back(tmp_path_factory, numbers, decimal):
    table = pa.table({"x": numbers})
    path = tmp_path_factory.mktemp("numbers") / "data.csv"
    like = Source(table, path.name, "csv", dialect=Dialect(marks=Marks(decimal)), address=path)
    write_target(table, path, like)
    read = read_source(path, decimal=decimal, thousands="", delimiter=",").typed(["x"])
    assert read["x"].to_pylist() == numbers


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8 with BOM"),
        ("utf-16", "utf-16-le with BOM"),
        ("cp1252", "cp1252 (a guess: it is not UTF-8)"),
    ],
)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_text_file_keeps_its_ways(tmp_path, encoding, shown, line_end):
    text = "größe;preis\n007;1,5\n010;2,25\n".replace("\n", line_end)
    path = write_bytes(tmp_path / "data.csv", text.encode(encoding))
    source = read_source(path)
    assert source.details == {"delimiter": ";", "encoding": shown, "decimal": ",", "thousands": "none"}
    target = tmp_path / "out.csv"
    write_target(source.table, target, source)
    assert target.read_bytes() == path.read_bytes()
    masked = source.table.set_column(1, "preis", pa.array([0.1 + 0.2, 3.0]))
    write_target(masked, target, source, overwrite=True)
    assert target.read_bytes() == text.replace("1,5", "0,30000000000000004").replace("2,25", "3").encode(encoding)


def test_utf_16_of_either_order_is_read(tmp_path):
    text = "a,b\n" + "ü,1\n" * 5
    path = write_bytes(tmp_path / "data.csv", codecs.BOM_UTF16_BE + text.encode("utf-16-be"))
    assert read_source(path).table["a"].to_pylist() == ["ü"] * 5
    write_bytes(path, text.encode("utf-16-le"))
    with pytest.raises(InvalidData, match="NUL"):
        read_source(path)
    assert read_source(path, encoding="utf-16-le").table["a"].to_pylist() == ["ü"] * 5


def test_another_suffix_brings_its_own_delimiter(tmp_path):
    path = write_bytes(tmp_path / "data.csv", b"a;b\n1,5;x\n")
    source = read_source(path)
    for suffix, expected in ((".tsv", b"a\tb\n1,5\tx\n"), (".txt", b"a\tb\n1,5\tx\n")):
        write_target(source.table, tmp_path / f"out{suffix}", source)
        assert (tmp_path / f"out{suffix}").read_bytes() == expected
    source = read_source(tmp_path / "out.tsv")
    write_target(source.table, tmp_path / "back.csv", source)
    assert (tmp_path / "back.csv").read_bytes() == b"a;b\n1,5;x\n"


def test_an_encoding_found_late_is_still_found(tmp_path):
    data = b"name,x\n" + b"abc,1\n" * 300_000 + "é,2\n".encode("cp1252")
    source = read_source(write_bytes(tmp_path / "data.csv", data))
    assert source.table["name"][-1].as_py() == "é"
    assert "cp1252" in source.details["encoding"]


def test_databases_are_left_to_their_module(monkeypatch):
    calls = []
    monkeypatch.setattr(databases, "read_table", lambda _: (STORED, "postgresql://host/db?table=t"))
    monkeypatch.setattr(databases, "check_table_target", lambda *a: calls.append(("check", *a)))
    monkeypatch.setattr(databases, "write_table", lambda _, *a: calls.append(("write", *a)))
    secret = "postgres://user:secret@host/db?table=t"
    source = read_source(secret)
    assert (source.kind, source.name) == ("postgresql", "postgresql://host/db?table=t")
    assert "secret" not in repr(source)
    assert file_digest("duckdb://file.db?table=t") is None
    write_target(source.table, "duckdb://file.db?table=out", source, overwrite=True)
    target = "duckdb://file.db?table=out"
    assert calls == [("check", target, True, secret), ("write", target, True, secret, None)]
    monkeypatch.undo()
    with pytest.raises(InvalidParameter, match="source itself"):
        check_target("duckdb:///a.db?table=t", "duckdb:///./a.db?table=t", overwrite=True)
    with pytest.raises(InvalidParameter, match="encoding is for text files"):
        read_source("duckdb://a?table=t", encoding="utf-8")


@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".xlsx", ".csv"])
def test_the_checksum_is_of_the_bytes_that_were_read(tmp_path, monkeypatch, suffix):
    path, other = tmp_path / f"data{suffix}", tmp_path / f"other{suffix}"
    for target, value in ((path, 1.5), (other, 2.5)):
        write_target(pa.table({"pay": [value] * 3}), target, source_of(pa.table({"pay": [value]})))
    before = file_digest(path)
    home, name = {
        ".parquet": (parquet, "Batches"),
        ".feather": (feather, "read_feather"),
        ".xlsx": (apart, "read_excel_apart"),
        ".csv": (text, "text_details"),
    }[suffix]
    whole = getattr(home, name)

    def then_exchanged(*arguments):
        """Put another file in its place as soon as it has been read."""
        done = whole(*arguments)
        other.replace(path)
        return done

    monkeypatch.setattr(home, name, then_exchanged)
    if suffix == ".csv":  # which is read once
        assert sources.read_source(path).sha256 == before
    else:
        with pytest.raises(InvalidData, match="changed while it was read"):
            sources.read_source(path)
