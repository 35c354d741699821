"""Bad files and addresses are refused in words that show no cell."""

import re
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from microagg.errors import InputError, InvalidData, InvalidParameter
from microagg.files.addresses import check_target, file_digest
from microagg.files.sources import read_source, write_target
from tests.io.tables import ARROW, STATISTICS, STORED, check_message, source_of, write_bytes
from tests.lengths import first_few

BAD_TEXT = [
    (b"", "empty"),
    (b"\n\n", "empty"),
    (b"a,b\n", "no records"),
    (b"a,b", "no records"),
    (b"a,b\n1,secret\n1,2,secret\n", "fields than its header's 2"),
    (b"a,a\n1,secret\n", "two columns with the same name"),
    (b"a,\n1,secret\n", "column 2 of 2"),
    (b"1,2\n3,4\n", "a number over numbers"),
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
    assert isinstance(caught.value, InvalidData)  # the fault is in the file, not in how it was asked for
    check_message(caught, tmp_path)


def test_stray_quotes_within_fields_are_values(tmp_path):
    path = write_bytes(tmp_path / "d.csv", b'a,b\n5" pipe,1\n')
    assert read_source(path).table["a"].to_pylist() == ['5" pipe']


@pytest.mark.parametrize("suffix", [".csv.gz", ".csv.zst", *ARROW, *STATISTICS, ".sas7bdat", ".xlsx"])
@pytest.mark.parametrize("share", first_few(1, [0.97, 0.5, 0.0]))
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
    write_bytes(tmp_path / "d.xls", b"")
    cases = [
        (tmp_path / "absent.csv", InvalidData, "no file 'absent.csv'"),
        (tmp_path / "empty", InvalidData, "contains no .parquet"),
        (tmp_path / "none.parquet", InvalidData, "no records"),
        (tmp_path / "d.xls", InvalidParameter, "does not end in a known way"),
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
