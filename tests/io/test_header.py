"""A first row that may be a record is not published as names."""

import pytest

from microagg.errors import InvalidData, InvalidParameter
from microagg.files.batches import Batches
from microagg.files.sources import read_source, write_target
from tests.io.tables import check_message, write_bytes

WITHOUT = {
    "a number over numbers": b"secret,34,1200\nb,35,1300\nc,36,1400\n",
    "a number over mostly numbers": b"secret,34\nb,35\nc,36\nd,refused\n",
    "a decimal comma": b"secret;34,5\nb;35,5\nc;36,5\n",
    "a value that stands below": b"secret,female\nb,male\nc,female\n",
    "a value that stands below, beside a word over few numbers": b"secret,female,refused\nb,male,3\nc,female,4\n",
    "words over numbers, and a number over numbers": b"no,refused,female,7\n1,2,male,3\n3,4,female,5\n",
    "a date over dates": b"secret,2020-01-05\nb,2021-12-31\nc,1950-07-01\n",
    "a code over codes": b"secret,A12/3\nb,B7/10\nc,C99/1\n",
    "a missing number": b"secret,NA,x\nb,35,y\nc,36,z\n",
    "an empty name": b"secret,,x\nb,35,y\n",
    "a name twice": b"secret,yes,yes\nb,no,maybe\n",
    "one row alone": b"34,35\n36,37\n",
}


@pytest.mark.parametrize("name", WITHOUT)
def test_a_first_row_in_doubt_is_asked_about(tmp_path, name):
    path = write_bytes(tmp_path / "d.csv", WITHOUT[name])
    for read in (read_source, lambda path: Batches(path).count()):
        with pytest.raises(InvalidData, match="--no-header") as caught:
            read(path)
        check_message(caught, tmp_path)
        for cell in ("34", "1200", "female", "2020", "A12", "yes"):
            assert cell not in str(caught.value)


@pytest.mark.parametrize("name", WITHOUT)
def test_without_a_header_every_row_is_a_record(tmp_path, name):
    path = write_bytes(tmp_path / "d.csv", WITHOUT[name])
    source, parts = read_source(path, header=False), Batches(path, {"header": False})
    rows = WITHOUT[name].count(b"\n")
    assert source.table.num_rows == parts.count() == rows == sum(part.num_rows for part in parts.tables())
    names = [f"column_{number + 1}" for number in range(source.table.num_columns)]
    assert source.table.column_names == parts.names == names
    assert source.details["header"] == "none"
    write_target(source.table, tmp_path / "out.csv", source)
    assert (tmp_path / "out.csv").read_bytes() == WITHOUT[name]


@pytest.mark.parametrize("data", [b"person,2019,2020\na,1,2\nb,3,4\n", b"sex,person\nm,a\nsex,b\n"])
def test_whoever_says_that_there_is_a_header_is_believed(tmp_path, data):
    path = write_bytes(tmp_path / "d.csv", data)
    with pytest.raises(InvalidData, match="--header"):
        read_source(path)
    source = read_source(path, header=True)
    assert source.table.column_names == data.decode().split("\n")[0].split(",")
    assert Batches(path, {"header": True}).names == source.table.column_names
    assert source.dialect.options()["header"] is True


@pytest.mark.parametrize(
    ("data", "words"), [(b"a,a\n1,2\n", "two columns with the same name"), (b"a,\n1,2\n", "no name")]
)
def test_names_that_cannot_be_told_apart_are_refused_all_the_same(tmp_path, data, words):
    with pytest.raises(InvalidData, match=words):
        read_source(write_bytes(tmp_path / "d.csv", data), header=True)


@pytest.mark.parametrize(
    "data",
    [
        b"person,q1,income_2020,icd10\na,3,1000,A12\nb,4,2000,B7\n",
        b"v1,v2\n1,2\n3,4\n",
        b"age,sex\nNA,m\n34,f\n",
        b"age,height,hispanic\n14,170,not\n15,NA,hispanic\n",
    ],
)
def test_names_are_names(tmp_path, data):
    source = read_source(write_bytes(tmp_path / "d.csv", data))
    assert source.table.num_rows == 2
    assert "header" not in source.dialect.options()  # another file is looked at again


def test_a_header_is_true_or_false(tmp_path):
    path = write_bytes(tmp_path / "d.csv", b"a,b\n1,2\n")
    with pytest.raises(InvalidParameter, match="header is a str"):
        read_source(path, header="yes")


def test_a_name_that_is_a_value_too_is_a_name_above_a_long_column_of_numbers(tmp_path):
    rows = [f"{'c' if i == 50 else 'd'},{i}.5" for i in range(100)]
    path = write_bytes(tmp_path / "d.csv", "\n".join(["c,x", *rows, ""]).encode())
    source = read_source(path)
    assert source.table.column_names == Batches(path).names == ["c", "x"]
    write_target(source.table, tmp_path / "again.csv", source)
    assert read_source(tmp_path / "again.csv").table.equals(source.table)
    short = write_bytes(tmp_path / "short.csv", "\n".join(["c,x", *rows[:99], ""]).encode())
    with pytest.raises(InvalidData, match="--no-header"):
        read_source(short)
