"""Excel files (.xlsx): one table on one sheet, names in its first row. Read by calamine, written by XlsxWriter.

calamine reads a sheet several times faster than openpyxl, distinguishes dates from numbers and knows which cells are
merged; XlsxWriter writes text as text, whatever it begins with, and the same bytes each time. The archive that a file
is gets looked through before a library reads it, so that none can fill the memory.
"""

import datetime as dt
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from microagg.checks import EXACT_INTEGERS, Extra, nearest
from microagg.columns.numbers import is_text
from microagg.errors import InvalidData, InvalidParameter, setting
from microagg.files.files import whole_file
from microagg.files.formats.dialect import Dialect, FirstRow
from microagg.files.formats.kinds import Stored, Writing, to_path
from microagg.work import Progress

MOST_ROWS, MOST_COLUMNS = 1_048_576, 16_384
"""Of a sheet, its first row of names counted."""

_MOST_DIGITS = 15  # that Excel keeps of a number
_MOST_LETTERS = 32_767  # of a cell, those beyond U+FFFF counting twice
_FIRST_DAY = dt.date(1900, 1, 1)
_FORMATS = {"date": "yyyy-mm-dd", "instant": "yyyy-mm-dd hh:mm:ss.000", "time": "hh:mm:ss.000"}
_WHEN = dt.datetime(1980, 1, 1)  # it was written, as the file says: the same table gives the same bytes
_OTHERWISE = "Write .csv or .parquet instead"
_WRITTEN = 20  # bytes of a cell in a sheet, its place and its marks counted
EXTRA = Extra(
    ("python_calamine", "xlsxwriter"),
    "Excel files need python-calamine and XlsxWriter. Run: pip install 'microagg[excel]'",
)


def read(address: Any, reading: Mapping[str, Any], progress: Progress | None) -> Stored:
    """Return what a sheet holds, read by a child process."""
    from microagg.files.formats.apart import read_excel_apart  # which calls what is below

    return Stored(*read_excel_apart(to_path(address), reading.get("sheet"), reading.get("header"), progress))


def read_excel(path: Path, sheet: str | None = None, header: bool | None = None) -> tuple[pa.Table, dict[str, str]]:
    """Read the table of a sheet, and how it was understood; of formulas the values that are stored.

    Parameters
    ----------
    path : Path
        Of others: a damaged file is read by a process of its own (`microagg.files.formats.apart`).
    sheet : str, optional
        Its name; by default the first that is not hidden.
    header : bool, optional
        Whether the first row holds names, as in text files.
    """
    check_archive(path)
    name, others, rows, merged = _cells(path, sheet)
    rows = _without_end(rows)
    where = f"the sheet {name!r} of {path.name!r}"
    _check_layout(rows, merged, where)
    names = rows[0] if header is not False else [None] * len(rows[0])
    columns = [_column(values) for values in zip(*(rows[1:] if header is not False else rows), strict=True)]
    if not columns or not len(columns[0][0]):
        raise InvalidData(f"{where} has no records. Pass at least k of them.")
    first = FirstRow(path.name, [None if cell == "" else _as_text(cell) for cell in names], Dialect(header=header))
    first.compare(pa.table([column.cast(pa.string()) for column, _ in columns], [str(j) for j in range(len(columns))]))
    table = pa.table([column for column, _ in columns], first.names())
    details = {"sheet": name}
    if others:
        details["other sheets"] = f"{others}, not read"
    mixed = [column for column, (_, is_mixed) in zip(table.column_names, columns, strict=True) if is_mixed]
    if mixed:
        details["read as text, as they mix types"] = ", ".join(mixed)
    return table, details | ({"header": "none"} if header is False else {})


def _cells(path: Path, sheet: str | None) -> tuple[str, int, list[list[Any]], int]:
    """Return the name of the sheet, how many others there are, its cells, and how many of them are merged."""
    package = EXTRA.load("python_calamine")
    try:
        book = package.CalamineWorkbook.from_path(str(path))
        of_table = [one for one in book.sheets_metadata if one.typ == package.SheetTypeEnum.WorkSheet]
        names = [one.name for one in of_table]
        shown = [one.name for one in of_table if one.visible == package.SheetVisibleEnum.Visible]
        if sheet is not None and sheet not in names:
            raise InvalidParameter(
                f"{path.name!r} has no sheet {sheet!r}.{nearest(sheet, names)} Name one of its {len(names)} sheets: "
                f"{setting('sheet')}.",
                parameter="sheet",
            )
        name = sheet if sheet is not None else (shown or names or [""])[0]
        if not name:
            raise InvalidData(f"{path.name!r} has no sheet with a table. Save the table as one.")
        found = book.get_sheet_by_name(name)
        return name, len(names) - 1, found.to_python(skip_empty_area=False), len(found.merged_cell_ranges or ())
    except (InvalidData, InvalidParameter, MemoryError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # noqa: BLE001 - a library in Rust panics past Exception, and its words may hold a cell
        raise cannot_be_read(path) from None


def _without_end(rows: list[list[Any]]) -> list[list[Any]]:
    """Leave out empty rows and columns at the end, which hold a format alone."""
    last = next((number for number in range(len(rows), 0, -1) if any(cell != "" for cell in rows[number - 1])), 0)
    rows = rows[:last]
    width = max((number + 1 for row in rows for number in (_last(row),)), default=0)
    return [row[:width] for row in rows]


def _last(row: Sequence[Any]) -> int:
    return next((number for number in range(len(row) - 1, -1, -1) if row[number] != ""), -1)


def _check_layout(rows: list[list[Any]], merged: int, where: str) -> None:
    """Refuse a sheet that holds anything but one table with one row of names, beginning at its corner."""
    alone = "A sheet must hold one table, which begins in cell A1 with one row of names."
    if not rows:
        raise InvalidData(f"{where} is empty. Name another: {setting('sheet')}.", parameter="sheet")
    if merged:
        cells = "1 range of merged cells" if merged == 1 else f"{merged} ranges of merged cells"
        raise InvalidData(f"{where} has {cells}. {alone} Take the merging back.")
    empty = next((number for number, row in enumerate(rows, 1) if all(cell == "" for cell in row)), None)
    if empty is not None:
        raise InvalidData(
            f"row {empty} of {where} is empty, with more below. {alone} Delete the row, or what is below."
        )
    for number, values in enumerate(zip(*rows, strict=True), 1):
        if all(cell == "" for cell in values):
            raise InvalidData(
                f"column {number} of {where} is empty, with more beside it. {alone} Delete the column, or what is "
                f"beside it."
            )


def _column(values: Sequence[Any]) -> tuple[pa.Array, bool]:
    """Return cells as a column of their type, and whether they are of several, and so became text."""
    cells = [None if cell == "" else cell for cell in values]
    types = {type(cell) for cell in cells if cell is not None}
    if types <= {str}:
        return pa.array(cells, pa.string()), False
    if types <= {float, int}:
        return _numbers(cells), False
    if types == {bool}:
        return pa.array(cells, pa.bool_()), False
    if types == {dt.date}:
        return pa.array(cells, pa.date32()), False
    if types <= {dt.date, dt.datetime}:  # midnight comes as a day
        midnight = dt.time()
        whole = [dt.datetime.combine(one, midnight) if type(one) is dt.date else one for one in cells]
        return pa.array(whole, pa.timestamp("ms")), False
    if types == {dt.time}:
        return pa.array(cells, pa.time32("ms")), False
    return pa.array([None if cell is None else _as_text(cell) for cell in cells], pa.string()), True


def _numbers(cells: Sequence[Any]) -> pa.Array:
    """Return numbers, whole ones as such: Excel stores no type that would say it."""
    found = pa.array(cells, pa.float64())
    values = found.drop_null().to_numpy()
    whole = bool(np.all(values == np.floor(values))) and bool(np.all(np.abs(values) <= EXACT_INTEGERS))
    return found.cast(pa.int64()) if whole else found


def _as_text(cell: Any) -> str:
    if isinstance(cell, bool):
        return "TRUE" if cell else "FALSE"
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) <= EXACT_INTEGERS else repr(cell)
    return cell.isoformat() if isinstance(cell, (dt.date, dt.time)) else str(cell)


def check_table(table: pa.Table, name: str, columns_in_all: Sequence[Any] | None = None) -> None:
    """Refuse a table that a sheet cannot hold unchanged; `name` is the file's.

    Where the table is only a part of what will be written, `columns_in_all` names all of it, and no record is empty.
    """
    rows, columns = table.num_rows + 1, table.num_columns if columns_in_all is None else len(columns_in_all)
    if rows > MOST_ROWS or columns > MOST_COLUMNS:
        raise InvalidData(
            f"{name!r} would have {rows} rows and {columns} columns, and a sheet of Excel has at most {MOST_ROWS} and "
            f"{MOST_COLUMNS}. {_OTHERWISE}.",
            parameter="to",
        )
    for column in table.column_names:
        reason = _reason(table[column])
        if reason:
            raise InvalidData(f"column {column!r} {reason}. {_OTHERWISE}, or leave it out.", columns=(column,))
    if columns_in_all is not None:
        return
    lacking = np.ones(table.num_rows, dtype=bool)
    for column in table.columns:
        lacking &= np.asarray(pc.fill_null(_is_empty(column), True))
    if lacking.any():
        raise InvalidData(
            f"{int(lacking.sum())} record(s) have no value at all, and would be empty rows of a sheet, at which a "
            f"table ends. {_OTHERWISE}, or leave them out."
        )


def _is_empty(column: Any) -> Any:
    plain = _plain(column)
    return pc.equal(plain, "") if is_text(plain.type) else pc.is_null(plain, nan_is_null=True)


def _reason(column: Any) -> str:
    """Say why a sheet cannot hold a column; empty where it can."""
    column = _plain(column)
    kind = column.type
    if is_text(kind):
        longest = pc.max(pc.binary_length(pc.cast(column, pa.large_string()))).as_py() or 0
        if longest > _MOST_LETTERS and any(_letters(one) > _MOST_LETTERS for one in column.to_pylist() if one):
            return f"has text of more than {_MOST_LETTERS} characters, which a cell of Excel cannot hold"
    elif pa.types.is_integer(kind):
        bounds = pc.min_max(column).as_py()
        if max(abs(bounds["min"] or 0), abs(bounds["max"] or 0)) >= 10**_MOST_DIGITS:
            return f"has whole numbers of more than {_MOST_DIGITS} digits, of which Excel keeps {_MOST_DIGITS}"
    elif pa.types.is_floating(kind):
        if pc.any(pc.is_inf(column)).as_py():
            return "has infinite numbers, which Excel cannot hold"
    elif pa.types.is_decimal(kind):
        if kind.precision > _MOST_DIGITS:
            return f"has decimals of more than {_MOST_DIGITS} digits, of which Excel keeps {_MOST_DIGITS}"
    elif pa.types.is_date(kind) or (pa.types.is_timestamp(kind) and kind.tz is None):
        return _reason_of_dates(column)
    elif not (pa.types.is_boolean(kind) or pa.types.is_time(kind) or pa.types.is_null(kind)):
        return "is of a kind that Excel cannot hold"
    return ""


def _reason_of_dates(column: Any) -> str:
    earliest = pc.min(column.cast(pa.timestamp("us"), safe=False)).as_py()
    if earliest is not None and earliest.date() < _FIRST_DAY:
        return "has dates before 1900, which Excel cannot hold"
    if pa.types.is_timestamp(column.type) and column.type.unit in ("us", "ns"):
        coarse = column.cast(pa.timestamp("ms"), safe=False).cast(column.type)
        if not pc.all(pc.equal(coarse, column)).as_py() and column.null_count < len(column):
            return "has instants finer than a millisecond, which Excel cannot hold"
    return ""


def _letters(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _plain(column: Any) -> Any:
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


class _Exact(float):
    """A number that XlsxWriter writes with all its digits, not with sixteen."""

    def __format__(self, _: str) -> str:
        return repr(float(self))


def write(table: pa.Table, path: Path, how: Writing) -> None:
    """Write a table to a file of one sheet; text stays text, also where a formula would begin like it."""
    sheet = how.like.details.get("sheet") if how.like.kind == "excel" else None
    check_table(table, path.name)
    package = EXTRA.load("xlsxwriter")
    with whole_file(path, check=how.check) as fresh:
        # In memory: no other file holds a row meanwhile.
        book = package.Workbook(str(fresh), {"in_memory": True})
        book.set_properties({"created": _WHEN})
        try:
            page = book.add_worksheet(sheet or "data")
            formats = {what: book.add_format({"num_format": form}) for what, form in _FORMATS.items()}
            for place, name in enumerate(table.column_names):
                page.write_string(0, place, name)
                _write_column(page, place, _plain(table[name]), formats)
            book.close()
        except (MemoryError, OSError):
            raise
        except Exception as error:  # noqa: BLE001 - whose words may hold a cell
            if isinstance(error.__cause__ or error.__context__, OSError):
                raise OSError from None
            raise InvalidData(
                f"{path.name!r} cannot be written: Excel cannot hold a name or a value of the table. {_OTHERWISE}."
            ) from None


def _write_column(page: Any, place: int, column: Any, formats: dict[str, Any]) -> None:
    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        for row, value in enumerate(column.to_pylist(), 1):
            if value is not None and value == value:
                page.write_number(row, place, _Exact(value))
        return
    if is_text(kind) or pa.types.is_boolean(kind):
        write = page.write_boolean if pa.types.is_boolean(kind) else page.write_string
        for row, value in enumerate(column.to_pylist(), 1):
            if value is not None and value != "":
                write(row, place, value)
        return
    what = "date" if pa.types.is_date(kind) else "instant" if pa.types.is_timestamp(kind) else "time"
    if pa.types.is_timestamp(kind):
        column = column.cast(pa.timestamp("us"))
    for row, value in enumerate(column.to_pylist(), 1):
        if value is not None:
            page.write_datetime(row, place, value, formats[what])


def read_back(path: Path, target: Any, schema: pa.Schema, names: list[str], _: Any) -> Iterator[pa.Table]:
    """Return some columns of a file that was just written, by their places; no value that is in it is changed."""
    _, _, rows, _ = _cells(path, None)  # in this process: the file is our own
    places = map(schema.get_field_index, names)
    yield pa.table([_column([row[place] for row in rows[1:]])[0] for place in places], names)


def size(path: Path, reading: Mapping[str, Any]) -> tuple[int, int]:
    """Return the cells, as if in one column: that is what counts."""
    return unpacked_size(path) // _WRITTEN, 1


MOST_BYTES = 4 << 30
"""Bytes of an unpacked file: a full sheet of ten columns has less."""

_MOST_APART = 20_000_000  # cells from the first to the last, empty ones too: as many are held at once
_SHARE = 20  # of which one at least must be there, beyond that
_OLD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # how .xls files begin, and all that have a password
_PART = 1 << 20
_SHEETS = "xl/worksheets/"
_PLACE = re.compile(rb"""\br\s*=\s*["']([A-Z]{0,3})([0-9]{1,7})["']""")
_OVERLAP = 64  # bytes: longer than any place of a cell


def check_archive(path: Path) -> None:
    """Refuse a file that is no archive, is damaged, has a password, or is far larger than it looks."""
    with path.open("rb") as file:
        if file.read(len(_OLD)) == _OLD:
            raise InvalidData(
                f"{path.name!r} has a password, or is an older .xls file. Save it as .xlsx, without a password."
            )
        try:
            listed = zipfile.ZipFile(file).infolist()
            if sum(one.file_size for one in listed) > MOST_BYTES:
                raise InvalidData(
                    f"{path.name!r} is larger than {MOST_BYTES >> 30} GB when it is unpacked. Save it as .csv instead."
                )
            for one in listed:
                _look_through(file, one, path)
        except InvalidData:
            raise
        except (zipfile.BadZipFile, zlib.error, struct.error, NotImplementedError, EOFError, ValueError):
            raise cannot_be_read(path) from None


def unpacked_size(path: Path) -> int:
    """Return how many bytes the sheets of a file say that they have."""
    try:
        return sum(one.file_size for one in zipfile.ZipFile(path).infolist() if one.filename.startswith(_SHEETS))
    except (zipfile.BadZipFile, NotImplementedError, ValueError):  # who reads it will say so
        return 0


def cannot_be_read(path: Path) -> InvalidData:
    """Return the error of a file that is damaged, or no Excel file."""
    return InvalidData(
        f"{path.name!r} cannot be read as an Excel file. It may be cut off, or of another kind; write it anew."
    )


def _look_through(file: BinaryIO, one: zipfile.ZipInfo, path: Path) -> None:
    """Unpack one file of the archive part by part: it must have the size that it says, and no cells far apart."""
    size, rows, columns, cells = 0, 0, set[bytes](), 0
    end = b""
    for part in _unpacked(file, one):
        size += len(part)
        if size > one.file_size:
            raise cannot_be_read(path)
        if one.filename.startswith(_SHEETS):
            places = _PLACE.findall(end + part)
            cells += len(places)
            rows = max([rows, *(int(row) for _, row in places)])
            columns |= {column for column, _ in places}
            end = part[-_OVERLAP:]
    if size != one.file_size:
        raise cannot_be_read(path)
    apart = rows * max(map(_number, columns), default=0)
    if apart > max(_MOST_APART, _SHARE * cells):
        raise InvalidData(
            f"the cells of a sheet of {path.name!r} lie far apart, with nothing between. Delete what lies below or "
            f"beside the table."
        )


def _unpacked(file: BinaryIO, one: zipfile.ZipInfo) -> Iterator[bytes]:
    """Return the bytes of a file of the archive, to the end that they have, whatever the archive says of it."""
    file.seek(one.header_offset)
    head = file.read(30)
    mark, name, extra = struct.unpack("<4s22xHH", head)
    if mark != b"PK\x03\x04" or one.flag_bits & 1 or one.compress_type not in (0, 8):
        raise zipfile.BadZipFile
    file.seek(one.header_offset + 30 + name + extra)
    left, unpacking = one.compress_size, zlib.decompressobj(-15) if one.compress_type else None
    while left:
        read = file.read(min(_PART, left))
        if not read:
            raise EOFError
        left -= len(read)
        while unpacking is not None and read:
            yield unpacking.decompress(read, 4 * _PART)
            read = unpacking.unconsumed_tail
        if unpacking is None:
            yield read
    if unpacking is not None:
        yield unpacking.flush()
        if not unpacking.eof:
            raise EOFError


def _number(letters: bytes) -> int:
    """Return the number of a column by its letters."""
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number
