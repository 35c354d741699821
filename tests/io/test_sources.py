"""Files of every kind come out as they went in; bad ones are refused in words that show no cell."""

import codecs
import datetime as dt
import gzip
import hashlib
import os
import re
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg.errors import InputError, InvalidData, InvalidParameter, RoleError
from microagg.io import databases, files
from microagg.io._dialect import Dialect
from microagg.io._numbers import Marks
from microagg.io.sources import Source, check_target, file_digest, read_source, write_target

TEXT = [".csv", ".tsv", ".txt", ".csv.gz", ".csv.zst"]
ARROW = [".parquet", ".pq", ".feather", ".arrow"]
STATISTICS = [".sav", ".zsav", ".dta"]

AWKWARD = pa.table(
    {
        "k": ["007", "010", "000"],
        "date": ["2020-01-05", "5.1.2020", "1/5/20"],
        "large": ["9007199254740993", "12345678901234567890123", "-1"],
        "שם": ["דנה", "=1+1", 'a "quoted", one'],
        "größe": ["", None, "two\nlines"],
        "x;y|z\tw,v": [" padded ", "NA", "."],
    }
)

STORED = pa.table(
    {
        "k": pa.array([1, None, 3], pa.int64()),
        "code": ["007", "010", "x"],
        "größe": [1.5, -0.1, None],
        "שם": ["דנה", "a", "b"],
        "day": pa.array([dt.date(2020, 1, 5), None, dt.date(1950, 12, 31)]),
        "moment": pa.array([dt.datetime(2020, 1, 5, 3, 4, 5, 250000), None, dt.datetime(1950, 1, 1)]),
    }
)


def source_of(table, **rest):
    return Source(table, "made", "parquet", **rest)


def write_bytes(path, data):
    path.write_bytes(data)
    return path


def rewrite(path, target, **rest):
    source = read_source(path)
    write_target(source.table, target, source, **rest)
    return read_source(target)


# Round trips


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


@pytest.mark.parametrize("suffix", STATISTICS)
def test_statistics_files_come_back_as_they_were(tmp_path, suffix):
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


@given(
    rows=st.integers(1, 3).flatmap(lambda width: st.lists(st.tuples(*[FIELD] * width), min_size=1, max_size=6)),
    delimiter=st.sampled_from(",;\t|"),
    line_end=st.sampled_from(["\n", "\r\n"]),
)
def test_any_text_comes_back(tmp_path_factory, rows, delimiter, line_end):
    table = pa.table({f"n{delimiter}{n}\n": pa.array(column, pa.string()) for n, column in enumerate(zip(*rows))})  # noqa: B905
    path = tmp_path_factory.mktemp("text") / "data.csv"
    like = Source(table, path.name, "csv", dialect=Dialect(delimiter, line_end=line_end), path=path)
    write_target(table, path, like, overwrite=True)
    read = read_source(path, delimiter=delimiter)
    # A record of nothing but missing values in more than one column is no blank line: it has its delimiters.
    assert read.table.equals(table)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1), st.sampled_from(".,"))
def test_any_number_comes_back(tmp_path_factory, numbers, decimal):
    table = pa.table({"x": numbers})
    path = tmp_path_factory.mktemp("numbers") / "data.csv"
    like = Source(table, path.name, "csv", dialect=Dialect(marks=Marks(decimal)), path=path)
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


# What is found out


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("a,b\n1,2\n", ","),
        ("a;b\n1,5;2,5\n", ";"),
        ("a\tb\n1\t2\n", "tab"),
        ("a|b\n1|2\n", "|"),
        ('a,b\n"x;y;z",2\n"x;y;z",3\n', ","),
        ('a;b\n"x,y\n,z";2\n', ";"),
        ('"a,b";c\n1;2\n', ";"),
        ("a\n1,5\n2,5\n", "tab"),
        ("a\nx\n", ","),
    ],
)
def test_the_delimiter_is_found(tmp_path, text, delimiter):
    assert read_source(write_bytes(tmp_path / "d.csv", text.encode())).details["delimiter"] == delimiter


@pytest.mark.parametrize(
    ("text", "decimal", "thousands", "expected"),
    [
        ("x;y\n1,5;1\n", ",", "none", 1.5),
        ("x;y\n1.5;1\n", ".", "none", 1.5),
        ("x;y\n1.234,5;1\n", ",", ".", 1234.5),
        ("x;y\n1,234;1\n", ", (a guess: it could separate thousands; pass decimal)", "none", 1.234),
        ('x,y\n"1,234",1\n', ".", ", (a guess: it could be the decimal mark; pass decimal)", 1234),
        ("x;y\n74.706;1\n", ",", ". (a guess: it could be the decimal mark; pass decimal)", 74706),
        ("x;y\n-74.706;950\n", ",", ". (a guess: it could be the decimal mark; pass decimal)", -74706),
        ("x,y\n74.706,1\n", ". (a guess: it could separate thousands; pass decimal)", "none", 74.706),
        ("x;y\n1.234.567;1\n", ",", ".", 1234567),
        ("x,y\n1.234.567,1.234\n", ",", ".", 1234567),
        ("x\ty\n1.234\t1.234.567\n", ",", ".", 1234),
        ("x;y\n74.706;0.123\n", ".", "none", 74.706),
        ("x;y\n74.706;1.5\n", ".", "none", 74.706),
        ("x;y\n74.706;1,5\n", ",", ".", 74706),
        ('x,y\n"1,23",1\n', ",", "none", 1.23),
        ('x,y\n"1,234.5",1\n', ".", ",", 1234.5),
        ("x\ty\n1,5\t1\n", ",", "none", 1.5),
        ("x\ty\n1 234,5\t1\n", ",", "space", 1234.5),
        ("x\ty\n1'234.5\t1\n", ".", "'", 1234.5),
        ("x\ty\n1\u202f234,5\t1\n", ",", "narrow no-break space", 1234.5),
        ("x,y\n0.123,1\n", ".", "none", 0.123),
        ("x,y\n7,1\n", ".", "none", 7),
        ("x;y\n1.234;2,5\n", ",", ".", 1234),
        ("x,y\n-1e3,1\n", ".", "none", -1000.0),
    ],
)
def test_the_marks_of_numbers_are_found(tmp_path, text, decimal, thousands, expected):
    source = read_source(write_bytes(tmp_path / "d.csv", text.encode()))
    assert (source.details["decimal"], source.details["thousands"]) == (decimal, thousands)
    assert source.typed()["x"].to_pylist() == [expected]


def test_numbers_without_separated_thousands_tell_of_decimals(tmp_path):
    source = read_source(write_bytes(tmp_path / "d.csv", b"x;y\n74.706;1\n12345;2\n"))
    assert (source.details["decimal"], source.details["thousands"]) == (".", "none")
    assert source.typed()["x"].to_pylist() == [74.706, 12345.0]


@pytest.mark.parametrize(
    ("options", "expected"),
    [({"decimal": "."}, 74.706), ({"decimal": ","}, 74706), ({"thousands": ""}, 74.706), ({"thousands": "."}, 74706)],
)
def test_a_doubt_is_settled_by_what_is_passed(tmp_path, options, expected):
    source = read_source(write_bytes(tmp_path / "d.csv", b"x;y\n74.706;1\n"), **options)
    assert "guess" not in str(source.details)
    assert source.typed()["x"].to_pylist() == [expected]


def test_what_is_passed_is_not_questioned(tmp_path):
    path = write_bytes(tmp_path / "d.csv", "x;y\n1,234;é\n".encode("latin-1"))
    source = read_source(path, delimiter=";", encoding="latin-1", decimal=".", thousands=",")
    assert source.typed(["x"])["x"].to_pylist() == [1234]
    assert source.table["y"].to_pylist() == ["é"]
    assert source.details == {"delimiter": ";", "encoding": "iso8859-1", "decimal": ".", "thousands": ","}
    assert read_source(path, thousands="").typed(["x"])["x"].to_pylist() == [1.234]


# Numbers


def csv_source(**columns):
    return Source(pa.table({name: pa.array(column, pa.string()) for name, column in columns.items()}), "d.csv", "csv")


def test_typed_turns_what_is_all_numbers():
    source = csv_source(
        whole=["1", "-2", None],
        real=["1.5", "NA", "."],
        padded=[" 1", "2 ", "NULL"],
        plus=["+1", "NaN", ""],
        late=["1.5"] * 3,
        code=["007", "1", "2"],
        real_code=["01.5", "1", "2"],
        long=["1" * 30, "1", "2"],
        text=["1", "x", "2"],
        hexadecimal=["0x1F", "1", "2"],
        infinite=["inf", "1", "2"],
        huge=["1e999", "1", "2"],
        empty=[None, None, ""],
        exact=["9007199254740993", "0", "9223372036854775807"],
    )
    table = source.typed()
    kinds = {name: str(table[name].type) for name in table.column_names}
    text = "code real_code long text hexadecimal infinite huge empty".split()
    assert {name for name, kind in kinds.items() if kind == "string"} == set(text)
    assert [kinds[name] for name in ("whole", "real", "padded", "plus", "exact")] == [
        "int64",
        "double",
        "int64",
        "int64",
        "int64",
    ]
    assert table["real"].to_pylist() == [1.5, None, None]
    assert table["padded"].to_pylist() == [1, 2, None]
    assert table["exact"].to_pylist() == [2**53 + 1, 0, 2**63 - 1]
    assert table.select(text).equals(source.table.select(text))


def test_typed_turns_the_columns_named_and_no_others():
    source = csv_source(code=["007", "1"], other=["1", "2"], long=["1" * 30, "-1"], empty=[None, "NA"])
    table = source.typed(["code", "long", "empty"])
    assert table["code"].to_pylist() == [7, 1]
    assert table["long"].type == table["empty"].type == pa.float64()
    assert table["other"].type == pa.string()


def test_typed_names_the_column_and_shows_no_cell():
    source = csv_source(x=["1"] * 2000 + ["secret"])
    with pytest.raises(InvalidData, match=r"column 'x' of 'd\.csv' is not all numbers") as caught:
        source.typed(["x"])
    assert "secret" not in str(caught.value)
    with pytest.raises(RoleError, match="no column 'y'"):
        source.typed(["y"])


def test_words_for_missing_values_are_known_far_down():
    source = csv_source(whole=["1"] * 2000 + ["NA"], real=["1.5"] * 2000 + ["."], mixed=["1"] * 2000 + ["1.5"])
    table = source.typed()
    assert [str(kind) for kind in table.schema.types] == ["int64", "double", "double"]
    assert [table[name].null_count for name in table.column_names] == [1, 1, 0]


def test_a_file_of_one_column_has_missing_values_too(tmp_path):
    path = write_bytes(tmp_path / "d.csv", b'x\n1\n\n""\n2\n')
    assert read_source(path).table["x"].to_pylist() == ["1", None, "", "2"]
    assert rewrite(path, tmp_path / "out.csv").table["x"].to_pylist() == ["1", None, "", "2"]
    assert (tmp_path / "out.csv").read_bytes() == path.read_bytes()


def test_a_long_field_is_read(tmp_path):
    path = write_bytes(tmp_path / "d.csv", b"a,b\n" + b"x" * 3_000_000 + b",1\n")
    assert len(read_source(path).table["a"][0].as_py()) == 3_000_000


# Files that cannot be read

BAD_TEXT = [
    (b"", "empty"),
    (b"\n\n", "empty"),
    (b"a,b\n", "no records"),
    (b"a,b", "no records"),
    (b"a,b\n1,secret\n1,2,secret\n", "fields than its header's 2"),
    (b"a,a\n1,secret\n", "two columns of one name"),
    (b"a,\n1,secret\n", "column 2 of 2"),
    (b"1,2\n3,4\n", "all numbers, not names"),
    (b"a,b\n1,sec\0ret\n", "NUL"),
    (b"a,b\n" + b"1,secret\n" * 200_000 + b"1,\0\n", "NUL"),
    (b'a,b\n1,"secret\n2,3\n', "not closed"),
    (b'a,b\n1,2\n2,"secret', "not closed"),
    (b"a,b\n1,\x81secret\n", "neither UTF-8"),
    (b"a,b\n1,\xe9\x02secret\n", "neither UTF-8"),
]


@pytest.mark.parametrize(("data", "words"), BAD_TEXT)
def test_bad_text_is_refused(tmp_path, data, words):
    path = write_bytes(tmp_path / "d.csv", data)
    with pytest.raises(InputError, match=words) as caught:
        read_source(path)
    check_message(caught, tmp_path)


def check_message(caught, folder):
    message = str(caught.value)
    assert "secret" not in message
    assert str(folder) not in message
    assert "\n" not in message
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_stray_quotes_within_fields_are_values(tmp_path):
    path = write_bytes(tmp_path / "d.csv", b'a,b\n5" pipe,1\n')
    assert read_source(path).table["a"].to_pylist() == ['5" pipe']


@pytest.mark.parametrize("suffix", [".csv.gz", ".csv.zst", *ARROW, *STATISTICS, ".sas7bdat"])
@pytest.mark.parametrize("share", [0.0, 0.5, 0.97])
def test_files_cut_off_are_refused(tmp_path, suffix, share):
    table = pa.table({"a": [f"secret{number * 7919 % 1000}" for number in range(1000)]})
    whole = tmp_path / f"whole{suffix if suffix != '.sas7bdat' else '.dta'}"
    write_target(table, whole, source_of(table))
    data = whole.read_bytes()
    path = write_bytes(tmp_path / f"d{suffix}", data[: int(len(data) * share)])
    with pytest.raises(InvalidData, match=re.escape(repr(path.name))) as caught:
        read_source(path)
    check_message(caught, tmp_path)


def test_text_that_only_says_it_is_compressed_is_refused(tmp_path):
    with pytest.raises(InvalidData, match="not compressed as its name says"):
        read_source(write_bytes(tmp_path / "d.csv.gz", b"a,b\n1,2\n"))


@pytest.mark.parametrize("encoding", ["ascii", "utf-16", "utf-8"])
def test_a_wrong_encoding_is_refused(tmp_path, encoding):
    path = write_bytes(tmp_path / "d.csv", "a,b\n1,sécret\n".encode("cp1252"))
    with pytest.raises(InvalidData, match="encoding") as caught:
        read_source(path, encoding=encoding)
    check_message(caught, tmp_path)


def test_a_wrong_encoding_is_refused_far_down(tmp_path):
    path = write_bytes(tmp_path / "d.csv", b"a,b\n" + b"1,2\n" * 400_000 + "1,é\n".encode("cp1252"))
    for encoding in ("ascii", "utf-8"):
        with pytest.raises(InvalidData, match="encoding"):
            read_source(path, encoding=encoding)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"delimiter": "ab"}, "delimiter='ab'"),
        ({"delimiter": ""}, "delimiter=''"),
        ({"encoding": "klingon"}, "encoding='klingon'"),
        ({"encoding": "rot13"}, "encoding='rot13'"),
        ({"decimal": ";"}, "decimal=';'"),
        ({"thousands": "x"}, "thousands='x'"),
        ({"thousands": ",", "decimal": ","}, "both ','"),
    ],
)
def test_bad_options_are_refused(tmp_path, options, words):
    path = write_bytes(tmp_path / "d.csv", b"a,b\n1,2\n")
    with pytest.raises(InvalidParameter, match=words):
        read_source(path, **options)


def test_addresses_of_no_use_are_refused(tmp_path):
    (tmp_path / "empty").mkdir()
    pq.write_table(STORED.slice(0, 0), tmp_path / "none.parquet")
    pq.write_table(STORED, tmp_path / "d.parquet")
    write_bytes(tmp_path / "d.xlsx", b"")
    cases = [
        (tmp_path / "absent.csv", InvalidData, "no file 'absent.csv'"),
        (tmp_path / "empty", InvalidData, "holds no .parquet"),
        (tmp_path / "none.parquet", InvalidData, "no records"),
        (tmp_path / "d.xlsx", InvalidParameter, "no kind"),
        ("mysql://user:secret@host/db", InvalidParameter, "mysql://"),
        (3, InvalidParameter, "int"),
    ]
    for address, error, words in cases:
        with pytest.raises(error, match=words) as caught:
            read_source(address)
        check_message(caught, tmp_path)
    with pytest.raises(InvalidParameter, match="delimiter is for text files"):
        read_source(tmp_path / "d.parquet", delimiter=";")
    with pytest.raises(InvalidData, match=r"'absent\.csv'"):
        file_digest(tmp_path / "absent.csv")


def test_the_extra_is_asked_for_by_name(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    path = write_bytes(tmp_path / "d.sav", b"")
    for call in (lambda: read_source(path), lambda: check_target(tmp_path / "out.dta", path, overwrite=False)):
        with pytest.raises(InvalidParameter, match=r"pip install 'microagg\[stats\]'"):
            call()


# Targets


def test_targets_are_checked_before_any_work(tmp_path):
    source = write_bytes(tmp_path / "source.csv", b"a\n1\n")
    (tmp_path / "link.csv").symlink_to(source)
    os.link(source, tmp_path / "hard.csv")
    (tmp_path / "folder.csv").mkdir()
    write_bytes(tmp_path / "there.csv", b"")
    cases = [
        ("out.xlsx", False, "no kind"),
        ("out.parquet.gz", False, "no kind"),
        ("out.sas7bdat", False, "read and not written"),
        ("nowhere/out.csv", False, "does not exist"),
        ("there.csv", False, "exists already"),
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
    with pytest.raises(InvalidData, match="cp1252 does not know"):
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
        read = read_source(tmp_path / f"out{suffix}").table
        first = "'=1" if suffix == ".csv" else "=1"
        missing = None if suffix == ".csv" else ""
        assert [read[name].to_pylist() for name in "abd"] == [[first, missing, "b"]] * 3
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
    assert read["level"].type == kind
    assert read["level"].chunk(0).dictionary.to_pylist() == ["low", "high"]


# Databases


def test_databases_are_left_to_their_module(monkeypatch):
    calls = []
    monkeypatch.setattr(databases, "read_table", lambda _: (STORED, "postgresql://host/db?table=t"))
    monkeypatch.setattr(databases, "check_table_target", lambda *a: calls.append(("check", *a)))
    monkeypatch.setattr(databases, "write_table", lambda _, *a: calls.append(("write", *a)))
    source = read_source("postgres://user:secret@host/db?table=t")
    assert (source.kind, source.name) == ("postgresql", "postgresql://host/db?table=t")
    assert "secret" not in repr(source)
    assert file_digest("duckdb://file.db?table=t") is None
    write_target(source.table, "duckdb://file.db?table=out", source, overwrite=True)
    assert [call[0] for call in calls] == ["check", "write"]
    with pytest.raises(InvalidParameter, match="source itself"):
        check_target("duckdb:///a.db?table=t", "duckdb:///./a.db?table=t", overwrite=True)
    with pytest.raises(InvalidParameter, match="encoding is for text files"):
        read_source("duckdb://a?table=t", encoding="utf-8")
