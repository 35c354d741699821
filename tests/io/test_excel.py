"""Excel files: types are kept, text stays text, and a sheet that is not one table is refused."""

import datetime as dt
import json
import struct
import zipfile
import zlib
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import microagg as ma
from microagg.errors import InvalidData, InvalidParameter
from microagg.files.addresses import check_target, extent_of, file_digest
from microagg.files.formats import excel as _excel
from microagg.files.sources import read_source, write_target
from tests.cli import call, complaint
from tests.io.tables import check_message, rewrite, source_of, write_bytes

calamine = pytest.importorskip("python_calamine")
xlsxwriter = pytest.importorskip("xlsxwriter")

TABLE = pa.table(
    {
        "k": pa.array([1, None, 3], pa.int64()),
        "code": ["007", "010", "x"],
        "größe": [1.5, -0.1, None],
        "שם": ["דנה", "a", "b"],
        "day": pa.array([dt.date(2020, 1, 5), None, dt.date(1950, 12, 31)]),
        "moment": pa.array(
            [dt.datetime(2020, 1, 5, 3, 4, 5, 250000), None, dt.datetime(1950, 1, 1)], pa.timestamp("ms")
        ),
        "hour": pa.array([dt.time(3, 4, 5), None, dt.time(0)], pa.time32("ms")),
        "flag": [True, None, False],
        "exact": [0.1 + 0.2, 1e-7, 12345678.901234567],
        "odd": ["two\nlines", " padded ", "_x0041_\t<&>"],
        "first days": pa.array([dt.date(1900, 1, 1), dt.date(1900, 2, 28), dt.date(1900, 3, 1)]),
    }
)


def sheet(path, rows, merged=None, **more):
    """Write cells as they are to a sheet."""
    book = xlsxwriter.Workbook(str(path))
    for name in more.get("names", ["data"]):
        page = book.add_worksheet(name)
        for number, row in enumerate(rows, more.get("below", 0)):
            page.write_row(number, more.get("beside", 0), row)
        if merged:
            page.merge_range(*merged, "both")
    book.close()
    return path


def test_types_come_back_as_they_were(tmp_path):
    path = tmp_path / "data.xlsx"
    write_target(TABLE, path, source_of(TABLE))
    read = read_source(path)
    assert read.table.equals(TABLE)
    assert (read.kind, read.details, read.options) == ("excel", {"sheet": "data"}, {"sheet": "data"})
    again = rewrite(path, tmp_path / "again.xlsx")
    assert again.table.equals(TABLE)
    assert file_digest(path) == file_digest(tmp_path / "again.xlsx")


def test_text_that_begins_as_a_formula_is_text(tmp_path):
    texts = ["=1+1", "+1", "-1", "@SUM(A1)", "=cmd|' /C calc'!A0", "http://a.b", "\t=1"]
    table = pa.table({"=name": texts, "b": [1.0] * len(texts)})
    write_target(table, tmp_path / "d.xlsx", source_of(table))
    assert read_source(tmp_path / "d.xlsx").table.equals(pa.table({"=name": texts, "b": [1] * len(texts)}))
    with zipfile.ZipFile(tmp_path / "d.xlsx") as archive:
        pages = b"".join(archive.read(name) for name in archive.namelist())
    assert b"<f>" not in pages
    assert b"<hyperlink " not in pages.lower()


def test_other_types_are_written_as_what_they_hold(tmp_path):
    table = pa.table(
        {
            "category": pa.array(["a", "b", None]).dictionary_encode(),
            "amount": pa.array([1, 2, 3], pa.int8()).cast(pa.decimal128(5, 2)),
            "half": pa.array([0.5, None, 1.5], pa.float32()),
            "none": pa.array([float("nan"), 1.0, 2.5]),
            "us": pa.array([dt.datetime(2020, 1, 1, 1, 2, 3, 4000)] * 3, pa.timestamp("us")),
        }
    )
    write_target(table, tmp_path / "d.xlsx", source_of(table))
    found = read_source(tmp_path / "d.xlsx").table.to_pydict()
    assert found["category"] == ["a", "b", None]
    assert found["amount"] == [1, 2, 3]
    assert found["half"] == [0.5, None, 1.5]
    assert found["none"] == [None, 1.0, 2.5]
    assert found["us"] == [dt.datetime(2020, 1, 1, 1, 2, 3, 4000)] * 3


def test_formulas_are_read_as_the_values_that_are_stored(tmp_path):
    book = xlsxwriter.Workbook(str(tmp_path / "d.xlsx"))
    page = book.add_worksheet()
    page.write_row(0, 0, ["a", "b"])
    for row in (1, 2, 3):
        page.write_formula(row, 0, "=1+1", None, row + 0.5)
        page.write_formula(row, 1, "=NA()", None, "#N/A") if row == 1 else page.write(row, 1, row)
    book.close()
    assert read_source(tmp_path / "d.xlsx").table.to_pydict() == {"a": [1.5, 2.5, 3.5], "b": [None, 2, 3]}


def test_cells_of_several_types_are_text_and_that_is_said(tmp_path):
    day = dt.date(2020, 1, 5)
    book = xlsxwriter.Workbook(str(tmp_path / "d.xlsx"), {"default_date_format": "yyyy-mm-dd"})
    page = book.add_worksheet("Persons")
    for number, row in enumerate([["a", "b", "c"], [5, "x", 1], [2.5, True, 2], ["n/a", day, 3]]):
        page.write_row(number, 0, row)
    book.add_worksheet("Notes")
    book.close()
    source = read_source(tmp_path / "d.xlsx")
    assert source.table.to_pydict() == {"a": ["5", "2.5", "n/a"], "b": ["x", "TRUE", "2020-01-05"], "c": [1, 2, 3]}
    expected = {"sheet": "Persons", "other sheets": "1, not read", "read as text, as they mix types": "a, b"}
    assert source.details == expected


def test_a_sheet_is_read_by_its_name_and_kept(tmp_path):
    path = sheet(tmp_path / "d.xlsx", [["a", "b"], [1, 2], [3, 4]], names=["One", "Two"])
    assert read_source(path).details["sheet"] == "One"
    source = read_source(path, sheet="Two")
    assert source.options == {"sheet": "Two"}
    write_target(source.table, tmp_path / "out.xlsx", source)
    assert read_source(tmp_path / "out.xlsx").details == {"sheet": "Two"}
    with pytest.raises(InvalidParameter, match=r"has no sheet 'Tow'\. Did you mean 'Two'\? Name one of its 2 sheets"):
        read_source(path, sheet="Tow")
    with pytest.raises(InvalidParameter, match="delimiter is for text files, and this is Excel"):
        read_source(path, delimiter=";")
    with pytest.raises(InvalidParameter, match="sheet is for Excel files, and this is CSV, TSV"):
        read_source(write_bytes(tmp_path / "d.csv", b"a,b\nx,1\n"), sheet="One")
    pq.write_table(TABLE, tmp_path / "d.parquet")
    with pytest.raises(InvalidParameter, match="sheet is for Excel files, and this is Parquet"):
        read_source(tmp_path / "d.parquet", sheet="One")


def test_a_first_row_that_may_be_a_record_is_refused(tmp_path):
    path = sheet(tmp_path / "d.xlsx", [[1, 2], [3, 4], [5, 6]])
    with pytest.raises(InvalidData, match="may be a record and not the names of its columns"):
        read_source(path)
    source = read_source(path, header=False)
    assert source.table.to_pydict() == {"column_1": [1, 3, 5], "column_2": [2, 4, 6]}
    assert source.options == {"sheet": "data", "header": False}
    assert read_source(path, header=True).table.column_names == ["1", "2"]


SECRET = [["name", "x"], ["secret", 1], ["secret2", 2]]


@pytest.mark.parametrize(
    ("rows", "more", "words"),
    [
        ([], {}, "is empty"),
        ([["a", "b"]], {}, "no records"),
        (SECRET, {"merged": (0, 3, 0, 4)}, "1 range of merged cells"),
        ([["group", ""], *SECRET], {"merged": (0, 0, 0, 1)}, "1 range of merged cells"),
        (SECRET, {"below": 2}, "row 1 of the sheet 'data' of 'd.xlsx' is empty"),
        (SECRET, {"beside": 1}, "column 1 of the sheet 'data' of 'd.xlsx' is empty"),
        ([*SECRET, [None, None], ["total", 3]], {}, "row 4 of the sheet 'data' of 'd.xlsx' is empty, with more below"),
        ([[*row, None, *row] for row in SECRET], {}, "column 3 of the sheet 'data' of 'd.xlsx' is empty, with more"),
        ([["title", None], *SECRET], {}, "column 2 of 2 has no name"),
        ([["a", "a"], ["secret", 1]], {}, "two columns with the same name"),
    ],
)
def test_a_sheet_that_is_not_one_table_is_refused(tmp_path, rows, more, words):
    path = sheet(tmp_path / "d.xlsx", rows, **more)
    with pytest.raises(InvalidData) as caught:
        read_source(path)
    assert words in str(caught.value)
    check_message(caught, tmp_path)


def test_formats_below_and_beside_a_table_are_no_part_of_it(tmp_path):
    book = xlsxwriter.Workbook(str(tmp_path / "d.xlsx"))
    page, bold = book.add_worksheet(), book.add_format({"bold": True})
    for number, row in enumerate(SECRET):
        page.write_row(number, 0, row)
    for row in range(20):
        page.write_blank(row, 5, None, bold)
        page.write_blank(10 + row, 0, None, bold)
    book.close()
    assert read_source(tmp_path / "d.xlsx").table.to_pydict() == {"name": ["secret", "secret2"], "x": [1, 2]}


def damaged(path, place, data):
    """Put other bytes into a file of the archive."""
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, data if name == place else content)
    return path


PAGE = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
END = b"</sheetData></worksheet>"
FAR = b'<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>'


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "cannot be read as an Excel file"),
        (b"<secret", "cannot be read as an Excel file"),
        (PAGE + FAR + END, "lie far apart"),
        (PAGE + FAR.replace(b' r="XFD1048576"', b"").replace(b"A1", b"XFD1") + END, "lie far apart"),
        (PAGE + b'<row r="1"><c r="A1" t="s"><v>99999</v></c></row>' + END, "'d.xlsx'"),
    ],
)
def test_damaged_sheets_are_refused(tmp_path, data, words):
    path = damaged(sheet(tmp_path / "d.xlsx", SECRET), "xl/worksheets/sheet1.xml", data)
    with pytest.raises(InvalidData) as caught:
        read_source(path)
    assert words in str(caught.value)
    check_message(caught, tmp_path)


def test_files_of_another_kind_are_refused(tmp_path):
    with pytest.raises(InvalidData, match=r"has a password, or is an older \.xls file") as caught:
        read_source(write_bytes(tmp_path / "d.xlsx", bytes.fromhex("d0cf11e0a1b11ae1") + b"secret" * 1000))
    check_message(caught, tmp_path)
    with zipfile.ZipFile(tmp_path / "e.xlsx", "w") as archive:
        archive.writestr("secret.txt", b"secret")
    for path in (tmp_path / "e.xlsx", write_bytes(tmp_path / "f.xlsx", b"secret,1\n" * 100)):
        with pytest.raises(InvalidData, match="cannot be read as an Excel file") as caught:
            read_source(path)
        check_message(caught, tmp_path)


def test_a_file_that_unpacks_to_far_more_is_refused(tmp_path, monkeypatch):
    path = damaged(sheet(tmp_path / "d.xlsx", SECRET), "xl/worksheets/sheet1.xml", PAGE + b" " * (1 << 24) + END)
    monkeypatch.setattr(_excel, "MOST_BYTES", 1 << 20)
    with pytest.raises(InvalidData, match="GB when it is unpacked"):
        _excel.check_archive(path)


def test_a_file_that_hides_how_much_it_unpacks_to_is_refused(tmp_path):
    packing = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packing.compress(b" " * (1 << 26)) + packing.flush()
    name, said = b"xl/worksheets/sheet1.xml", 100
    sizes = struct.pack("<III", zlib.crc32(b" " * said), len(packed), said)
    head = b"PK\x03\x04" + struct.pack("<HHHHH", 20, 0, 8, 0, 33) + sizes + struct.pack("<HH", len(name), 0) + name
    middle = struct.pack("<HHHHHH", 20, 20, 0, 8, 0, 33) + sizes + struct.pack("<HHHHHII", len(name), 0, 0, 0, 0, 0, 0)
    listed = b"PK\x01\x02" + middle + name
    end = b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(listed), len(head) + len(packed), 0)
    path = write_bytes(tmp_path / "d.xlsx", head + packed + listed + end)
    assert zipfile.ZipFile(path).infolist()[0].file_size == said
    with pytest.raises(InvalidData, match="cannot be read as an Excel file"):
        read_source(path)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (pa.array([10**15, 1]), "whole numbers of more than 15 digits"),
        (pa.array([2**63, 1], pa.uint64()), "whole numbers of more than 15 digits"),
        (pa.array([1, 2], pa.int8()).cast(pa.decimal128(18, 2)), "decimals of more than 15 digits"),
        (pa.array(["a" * 32_768, "b"]), "text of more than 32767 characters"),
        (pa.array(["\U0001f600" * 16_384, "b"]), "text of more than 32767 characters"),
        (pa.array([dt.date(1899, 12, 31), None]), "dates before 1900"),
        (pa.array([dt.datetime(2020, 1, 1, 0, 0, 0, 1), None]), "instants finer than a millisecond"),
        (pa.array([dt.datetime(2020, 1, 1)] * 2, pa.timestamp("s", "UTC")), "is of a kind that Excel cannot hold"),
        (pa.array([float("inf"), 1.0]), "infinite numbers"),
        (pa.array([[1], [2]]), "is of a kind that Excel cannot hold"),
    ],
)
def test_what_a_sheet_cannot_hold_is_refused(tmp_path, column, words):
    table = pa.table({"x": column, "y": [1, 2]})
    with pytest.raises(InvalidData, match=words) as caught:
        write_target(table, tmp_path / "d.xlsx", source_of(table))
    assert "column 'x'" in str(caught.value)
    assert "Write .csv or .parquet instead" in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_the_largest_that_a_sheet_can_hold_is_written(tmp_path):
    table = pa.table({"a": [10**15 - 1, 1 - 10**15], "b": ["x" * 32_767, "y"], "c": ["", "z"]})
    write_target(table, tmp_path / "d.xlsx", source_of(table))
    assert read_source(tmp_path / "d.xlsx").table.to_pydict() == {**table.to_pydict(), "c": [None, "z"]}


def test_records_without_any_value_are_refused(tmp_path):
    table = pa.table({"a": [1, None, 2], "b": ["x", "", "y"]})
    with pytest.raises(InvalidData, match=r"1 record\(s\) have no value at all"):
        write_target(table, tmp_path / "d.xlsx", source_of(table))


def test_more_rows_or_columns_than_a_sheet_has_are_refused(tmp_path, monkeypatch):
    assert (_excel.MOST_ROWS, _excel.MOST_COLUMNS) == (1_048_576, 16_384)
    long, wide = pa.table({"a": pa.nulls(1_048_576, pa.int8())}), pa.table({str(j): [1] for j in range(16_385)})
    for table in (long, wide):
        with pytest.raises(InvalidData, match="a sheet of Excel has at most 1048576 and 16384"):
            write_target(table, tmp_path / "d.xlsx", source_of(table))
    # On the command line before anything is masked.
    monkeypatch.setattr(_excel, "MOST_ROWS", 100)
    monkeypatch.chdir(tmp_path)
    call("datasets", "make", "survey", "-n", 100, "-o", "survey.csv")
    for more in (("--file-kind", "excel"), ("--to", "masked.xlsx")):
        said = complaint("mask", "survey.csv", "-k", 3, "--yes", *more)
        assert "would have 101 rows" in said
        assert not list(tmp_path.glob("**/*.xlsx"))


def test_the_extra_is_asked_for_by_name(tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    path = write_bytes(tmp_path / "d.xlsx", b"")
    for work in (lambda: read_source(path), lambda: check_target(tmp_path / "out.xlsx", path, overwrite=False)):
        with pytest.raises(InvalidParameter, match=r"pip install 'microagg\[excel\]'"):
            work()


def test_the_size_of_a_file_is_estimated_by_its_sheets(tmp_path):
    table = ma.datasets.survey(500, seed=0)
    ma.write(table, tmp_path / "d.xlsx")
    found = extent_of(tmp_path / "d.xlsx")
    assert 0.5 < found.records * found.columns / (500 * table.num_columns) < 3


def test_a_sheet_is_masked_on_the_command_line_and_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = ma.datasets.survey(300, seed=0)
    sheet(
        "survey.xlsx",
        [table.column_names, *map(list, zip(*table.to_pydict().values(), strict=True))],
        names=["Wave 1", "Notes"],
    )
    call("inspect", "survey.xlsx", "-k", 3)
    assert 'sheet = "Wave 1"' not in Path("recipe.toml").read_text()
    found = json.loads(call("mask", "survey.xlsx", "--recipe", "recipe.toml", "--json").stdout)
    assert found["masked"] == "out/release/survey_masked.xlsx"
    assert 'sheet = "Wave 1"' in Path("out/internal/recipe.toml").read_text()
    call("mask", "survey.xlsx", "--recipe", "out/internal/recipe.toml", "-o", "again")
    assert Path("again/release/survey_masked.xlsx").read_bytes() == Path(found["masked"]).read_bytes()
    masked = ma.read(found["masked"])
    assert masked.details == {"sheet": "Wave 1"}
    assert masked.table.num_rows == 300
    call("assess", "survey.xlsx", found["masked"], "--recipe", "out/internal/recipe.toml")
    call("mask", "survey.xlsx", "--recipe", "recipe.toml", "--file-kind", "csv", "-o", "text")
    for engine in ("disk", "dask"):
        said = complaint(
            "mask", "survey.xlsx", "--recipe", "recipe.toml", "--engine", engine, "--same-order", "-o", "x"
        )
        assert "neither Parquet nor text, judged by its name. Convert it to Parquet" in said
    ma.write(table, "survey.parquet")
    with pytest.raises(InvalidParameter):
        ma.protect_file("survey.parquet", "masked.xlsx", 3, identifiers=["person"])
