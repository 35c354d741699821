"""How a text file is written is found out, and its numbers are numbers where that is wanted."""

import pyarrow as pa
import pytest

from microagg.errors import InvalidData, RoleError
from microagg.files.sources import Source, read_source
from tests.io.tables import rewrite, write_bytes


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


@pytest.mark.parametrize("cells", [["Inf", "-inf"], ["1e999", "+Infinity"], ["INF", "-1e400"]])
def test_infinite_numbers_are_told_and_counted(cells):
    source = csv_source(x=["1.5", "NA", "2"] * 700 + cells)
    with pytest.raises(InvalidData, match=r"column 'x' of 'd\.csv' has 2 infinite value\(s\)\. Drop") as caught:
        source.typed(["x"])
    assert caught.value.columns == ("x",)
    assert not any(cell in str(caught.value) for cell in cells)
    with pytest.raises(InvalidData, match="is not all numbers"):
        csv_source(x=["1", "information", *cells]).typed(["x"])


def test_words_for_missing_values_are_known_far_down():
    source = csv_source(whole=["1"] * 2000 + ["NA"], real=["1.5"] * 2000 + ["."], mixed=["1"] * 2000 + ["1.5"])
    table = source.typed()
    assert [str(kind) for kind in table.schema.types] == ["int64", "double", "double"]
    assert [table[name].null_count for name in table.column_names] == [1, 1, 0]


@pytest.mark.parametrize("above", range(4))
def test_numbers_below_other_rows_are_read_as_they_stand(above):
    """A part of a column starts within what Arrow keeps of all of it."""
    whole = pa.chunked_array([["x"] * above + [str(10**row) for row in range(8)] + ["NA", None, "12.5"]])
    source = Source(pa.table({"x": whole.slice(above)}), "d.csv", "csv")
    assert source.typed(["x"])["x"].to_pylist() == [*(10.0**row for row in range(8)), None, None, 12.5]


def test_a_file_of_one_column_has_missing_values_too(tmp_path):
    path = write_bytes(tmp_path / "d.csv", b'x\n1\n\n""\n2\n')
    assert read_source(path).table["x"].to_pylist() == ["1", None, "", "2"]
    assert rewrite(path, tmp_path / "out.csv").table["x"].to_pylist() == ["1", None, "", "2"]
    assert (tmp_path / "out.csv").read_bytes() == path.read_bytes()


def test_a_long_field_is_read(tmp_path):
    path = write_bytes(tmp_path / "d.csv", b"a,b\n" + b"x" * 3_000_000 + b",1\n")
    assert len(read_source(path).table["a"][0].as_py()) == 3_000_000
