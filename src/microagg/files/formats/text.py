"""Text files, such as CSV: read as text without loss, and written again as they were.

A quoted cell that holds line breaks may contain records by mistake, which would be released unchanged: it is refused.
"""

import gzip
import io
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from microagg.columns.numbers import is_text, to_text
from microagg.errors import InvalidData
from microagg.files.files import Check, whole_file
from microagg.files.formats.dialect import (
    DELIMITERS,
    SAMPLE,
    Content,
    Dialect,
    FirstRow,
    Readable,
    find_dialect,
    has_nul,
    open_bytes,
    refind_encoding,
    text_details,
    wrong_encoding,
)
from microagg.files.formats.kinds import COMPRESSED, Stored, Writing, to_path
from microagg.work import Progress

_BLOCK = 1 << 23
_ROWS = 1 << 16  # written at a time
_UNPACKED = 5  # bytes of text for each one that is compressed: a guess
# Signs of full width too: some spreadsheets take them for plain ones. Some pass over what is not seen before a sign.
_RISKY = r"^(?:[\t\r\n]|[\p{Z}\p{Cc}\p{Cf}]*[=+\-@＝＋－＠])"


def read(address: Any, reading: Mapping[str, Any], progress: Progress | None) -> Stored:
    """Return what a text file holds, every column as text, and how it is written."""
    path = to_path(address)
    content = Content(path)
    table, dialect = read_text(content, **{name: said for name, said in reading.items() if name != "sheet"})
    return Stored(table, text_details(path, dialect), None, dialect, content.sha256)


def read_text(path: Readable, most: int | None = None, **options: Any) -> tuple[pa.Table, Dialect]:
    """Read a text file, every column as text: null where a field is empty, "" where it is empty within quotes.

    `most` is how many records are read, from the first on; all by default. `options` are those of `find_dialect`: what
    is known of how the file is written.
    """
    from pyarrow import csv as arrow_csv

    def beginning(file: Any, dialect: Dialect, **how: Any) -> pa.Table:
        batches, rows = [], -_rows_above(dialect)
        for batch in arrow_csv.open_csv(file, **how):
            batches.append(batch)
            rows += batch.num_rows
            if rows >= (most or 0):
                break
        return pa.Table.from_batches(batches).slice(0, (most or 0) + _rows_above(dialect))

    def all_of_it(file: Any, _: Dialect, **how: Any) -> pa.Table:
        return arrow_csv.read_csv(file, **how)

    table, dialect = _read_to_end(path, options, all_of_it if most is None else beginning, whole=most is None)
    first = FirstRow(path.name, _first_cells(table), dialect)
    records = table.slice(_rows_above(dialect))
    _check_part(path, table)
    _check_records(path, records.num_rows)
    first.compare(records)
    return records.rename_columns(first.names()), dialect


def scan_text(path: Path, **options: Any) -> tuple[list[str], int, Dialect]:
    """Read a text file that need not fit into memory, to know that all of it can be read.

    Returns the names of its columns, the number of its records, and how it is written, which `read_text_parts` needs.
    """
    from pyarrow import csv as arrow_csv

    def scan(file: Any, dialect: Dialect, **how: Any) -> tuple[FirstRow, int]:
        first, rows = None, 0
        for batch in arrow_csv.open_csv(file, **how):
            records = batch
            if first is None:
                first = FirstRow(path.name, _first_cells(batch), dialect)
                records = batch.slice(_rows_above(dialect))
            _check_part(path, batch)
            first.compare(records)
            rows += records.num_rows
        assert first is not None  # a file without any row was refused before
        return first, rows

    (first, rows), dialect = _read_to_end(path, options, scan)
    _check_records(path, rows)
    return first.names(), rows, dialect


def read_text_parts(path: Path, dialect: Dialect, names: list[str], columns: list[str]) -> Iterator[pa.Table]:
    """Return some columns of a text file that was scanned, a part at a time, every one as text."""
    from pyarrow import csv as arrow_csv

    how = _how(dialect)
    how["convert_options"].include_columns = [f"f{names.index(name)}" for name in columns]
    is_first = True
    try:
        with open_bytes(path) as file:
            file.read(len(dialect.bom))
            for batch in arrow_csv.open_csv(file, **how):
                table = pa.Table.from_batches([batch]).rename_columns(columns)
                yield table.slice(_rows_above(dialect)) if is_first else table
                is_first = False
    except (pa.ArrowException, OSError, UnicodeError):  # whose messages may show cells
        raise InvalidData(f"{path.name!r} changed while it was read. Run again when nobody writes to it.") from None


def read_back(
    path: Path, target: Path, schema: pa.Schema, names: list[str], dialect: Dialect | None
) -> Iterator[pa.Table]:
    """Return some columns of a text file that was just written, by their places, a part at a time.

    The name of `target` says how it is compressed, and `schema` is that of the table that was written.
    """
    from pyarrow import csv as arrow_csv

    dialect, compression = dialect or Dialect(), COMPRESSED.get(target.suffix.lower())

    how = _how(replace(dialect, fields=len(schema)))
    how["read_options"].skip_rows_after_names = _rows_above(dialect)
    types = {f"f{schema.get_field_index(name)}": _type_in_text(schema.field(name).type) for name in names}
    how["convert_options"].include_columns = list(types)
    how["convert_options"].column_types = types
    how["convert_options"].decimal_point = dialect.marks.decimal
    with pa.input_stream(str(path), compression=compression) as file:
        file.read(len(dialect.bom))
        for batch in arrow_csv.open_csv(file, **how):
            yield pa.Table.from_batches([batch])


def _type_in_text(kind: pa.DataType) -> pa.DataType:
    """Numbers are compared as such: 0 and -0 are one. Whole ones are not made floats, which hold fewer of them."""
    if pa.types.is_integer(kind):
        return pa.uint64() if pa.types.is_uint64(kind) else pa.int64()
    return pa.float64() if pa.types.is_floating(kind) else pa.string()


def size(path: Path, reading: Mapping[str, Any]) -> tuple[int, int]:
    """Estimate from the length of the first lines how many records there are; return the number of fields too."""
    with open_bytes(path) as file:
        start = file.read(SAMPLE)
    length = path.stat().st_size * (_UNPACKED if path.suffix.lower() in COMPRESSED else 1)
    lines = max(2, start.count(b"\n"))
    rows = lines if len(start) < SAMPLE else length * lines // len(start)
    return rows - 1, find_dialect(path, **reading).fields


def _read_to_end(
    path: Readable, options: dict[str, Any], read: Callable[..., Any], *, whole: bool = True
) -> tuple[Any, Dialect]:
    """Find out how a file is written and read it by one of Arrow's ways."""
    try:
        dialect = find_dialect(path, **options)
        found = _read(path, dialect, read)
        if found is None and options.get("encoding") is None and not dialect.bom and dialect.codec == "utf-8":
            dialect = replace(dialect, codec=refind_encoding(path), guessed=True)
            found = _read(path, dialect, read)
        if found is None:
            raise wrong_encoding(path.name, dialect.codec)
        if whole:
            check_quoted_cells(path, dialect)
    except (pa.ArrowException, OSError):  # whose messages may show cells and folders
        raise InvalidData(
            f"{path.name!r} cannot be read completely. It is incomplete, or is not compressed as its name says, or "
            f"one of its fields is longer than {_BLOCK >> 20} MB. Write it again."
        ) from None
    return found, dialect


def _how(dialect: Dialect, handler: Any = None) -> dict[str, Any]:
    """Return Arrow's options for reading a file with the header as its first record, like values."""
    from pyarrow import csv as arrow_csv

    return {
        "read_options": arrow_csv.ReadOptions(
            autogenerate_column_names=True,
            encoding=dialect.codec,
            block_size=_BLOCK,
            use_threads=handler is None,  # Arrow's threads may drop a handler while Python is ending, and abort it
        ),
        "parse_options": arrow_csv.ParseOptions(
            delimiter=dialect.delimiter,
            newlines_in_values=True,
            # An empty line of a file of one column is a missing value.
            ignore_empty_lines=dialect.fields > 1,
            invalid_row_handler=handler,
        ),
        "convert_options": arrow_csv.ConvertOptions(
            column_types={f"f{column}": pa.string() for column in range(dialect.fields)},
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    }


def _read(path: Readable, dialect: Dialect, read: Callable[..., Any]) -> Any:
    """Read a file; None if the encoding is another."""
    ragged: list[int] = []

    def note(row: Any) -> str:
        ragged.append(row.actual_columns)
        return "skip"

    for handler in (None, note):  # the second time, where rows are ragged, to count them
        with open_bytes(path) as file:
            file.read(len(dialect.bom))
            try:
                found = read(file, dialect, **_how(dialect, handler))
                break
            except UnicodeError:
                return None
            except pa.ArrowInvalid as error:
                if "UTF8" in str(error):
                    return None
                if handler is note or "columns, got" not in str(error):
                    raise
    if ragged:
        raise InvalidData(
            f"{path.name!r} has {len(ragged)} row(s) with more or fewer fields than its header's {dialect.fields} "
            f"(the first found has {ragged[0]}), between {dialect.shown()['delimiter']!r}. Correct them, or pass the "
            "delimiter."
        )
    return found


def _first_cells(table: Any) -> list[str | None]:
    return [column[0].as_py() for column in table.columns]


def _rows_above(dialect: Dialect) -> int:
    """Return the number of rows over the first record."""
    return 0 if dialect.header is False else 1


def _check_records(path: Readable, records: int) -> None:
    if records == 0:
        raise InvalidData(f"{path.name!r} has a header and no records. Pass a file with at least k records.")


def _check_part(path: Readable, table: Any) -> None:
    if any(pc.any(pc.match_substring(column, "\0")).as_py() for column in table.columns):
        raise has_nul(path.name)


def write(table: pa.Table, path: Path, how: Writing) -> None:
    """Write a table as text, with quotes where they are needed."""
    with text_writer(path, table.column_names, how.dialect, excel_safe=how.excel_safe, check=how.check) as add:
        add(table)


@contextmanager
def text_writer(
    path: Path, names: list[str], dialect: Dialect, *, excel_safe: bool = False, check: Check | None = None
) -> Iterator[Callable[[pa.Table], None]]:
    """Return a function that writes a table with these columns below those written before."""
    header = pa.table({str(position): [name] for position, name in enumerate(names)})
    if excel_safe:
        header = pa.table([_apostrophes(column) for column in header.columns], header.column_names)
    with whole_file(path, check=check) as fresh, _compressed(fresh, path.suffix.lower()) as file:

        def write(table: pa.Table) -> None:
            for start in range(0, table.num_rows, _ROWS):
                part = table.slice(start, _ROWS)
                file.write(_lines(_as_text(part, dialect.marks.decimal, excel_safe), dialect, _unquoted(part, dialect)))

        try:
            file.write(dialect.bom)
            if dialect.header is not False:
                file.write(_lines(header, dialect))
            yield write
        except UnicodeEncodeError:
            raise InvalidData(
                f"the table has characters that {dialect.codec} does not have, so that {path.name!r} cannot be "
                "written. Write Parquet instead, or convert the source to UTF-8."
            ) from None


@contextmanager
def _compressed(path: Path, suffix: str) -> Iterator[IO[bytes] | Any]:
    with path.open("wb") as plain:
        if suffix == ".gz":
            # Neither a name nor a time: the same table gives the same bytes. Level 6 would take twice as long, for some
            # 7 % fewer bytes.
            with gzip.GzipFile("", "wb", compresslevel=4, fileobj=plain, mtime=0) as file:
                yield file
        elif suffix == ".zst":
            with pa.CompressedOutputStream(pa.PythonFile(plain), "zstd") as file:
                yield file
        else:
            yield plain


def _as_text(table: pa.Table, decimal: str, excel_safe: bool) -> pa.Table:
    columns = {}
    for name in table.column_names:
        column = table[name]
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        try:
            text = column.cast(pa.large_string()) if is_text(column.type) else to_text(column, decimal)
        except (pa.ArrowException, TypeError):
            raise InvalidData(
                f"column {name!r} is of a kind ({type(column.type).__name__}) that text cannot hold. "
                f"Write Parquet instead, or leave it out."
            ) from None
        # Bytes and JSON become text as well.
        columns[name] = text if not excel_safe or _is_number(column.type) else _apostrophes(text)
    return pa.table(columns)


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _apostrophes(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Put an apostrophe before what a spreadsheet would take for a formula; plain numbers stay unchanged."""
    safe = pc.replace_substring_regex(column, pattern=f"({_RISKY})", replacement=r"'\1")
    return pc.if_else(pc.match_substring_regex(column, r"^ *-?[0-9][0-9.,]*$"), column, safe)


def _unquoted(table: pa.Table, dialect: Dialect) -> set[str]:
    """Name the columns that never need quotes: numbers, unless their decimal mark is the delimiter."""
    if dialect.delimiter not in DELIMITERS or dialect.delimiter == dialect.marks.decimal:
        return set()
    return {field.name for field in table.schema if pa.types.is_integer(field.type) or pa.types.is_floating(field.type)}


def _lines(table: pa.Table, dialect: Dialect, unquoted: Collection[str] = ()) -> bytes:
    """Join the columns of text into lines; the joined column's own buffer is what goes into the file."""
    special = f'["\r\n\\x{ord(dialect.delimiter):02x}]'
    fields = []
    for name in table.column_names:
        field = table[name].combine_chunks().cast(pa.large_string())
        fields.append(field if name in unquoted else _quoted(field, special))
    between, end, nothing = (pa.scalar(text, pa.large_string()) for text in (dialect.delimiter, dialect.line_end, ""))
    lines = pc.binary_join_element_wise(*fields, between, null_handling="replace", null_replacement="")
    lines = pc.binary_join_element_wise(lines, nothing, end)
    length = np.frombuffer(lines.buffers()[1], np.int64)[len(lines)]
    text: bytes = lines.buffers()[2].slice(0, length).to_pybytes()
    return text if dialect.codec == "utf-8" else text.decode("utf-8").encode(dialect.codec)


def _quoted(column: pa.Array, special: str) -> pa.Array:
    """Put quotes around the values that need them, among them the empty one, which is not a missing one."""
    needs = pc.or_(pc.match_substring_regex(column, special), pc.equal(column, ""))
    if not pc.any(needs).as_py():
        return column
    doubled = pc.replace_substring(column, '"', '""')
    quote = pa.scalar('"', pa.large_string())
    wrapped = pc.binary_join_element_wise(quote, doubled, quote, pa.scalar("", pa.large_string()))
    return pc.if_else(needs, wrapped, column)


_TO_QUOTE = re.compile('(?:[^"]|"")*')


def check_quoted_cells(path: Readable, dialect: Dialect) -> None:
    """Refuse a quoted cell that runs over lines and may be records behind a stray quote.

    A cell within quotes may hold line breaks. Two stray quotes make one cell of all the records between them, so such
    a cell must close before a delimiter or a line's end, and must not look as if it held records: a line of it with as
    many delimiters as a record has, or a beginning and an end that complete the records in which its quotes stand.
    """
    if not _has_quotes(path, dialect):
        return
    tidy = _tidy_line(dialect.delimiter)
    cell: _Cell | None = None
    with open_bytes(path) as file:
        file.read(len(dialect.bom))
        with io.TextIOWrapper(file, dialect.codec, newline="") as text:
            for number, line in enumerate(text, 1):
                if cell is None and ('"' not in line or tidy.fullmatch(line)):
                    continue
                cell = _after_line(path.name, line, number, cell, dialect)
    if cell is not None:
        raise InvalidData(
            f"{path.name!r} has a quote in line {cell.number} that is opened and not closed. Close it; the file may "
            "be incomplete."
        )


def _tidy_line(delimiter: str) -> re.Pattern[str]:
    """Return the pattern of a line whose quoted cells all end within it, as those of most lines do."""
    mark = re.escape(delimiter)
    field = rf'(?:"[^"\r\n]*+(?:""[^"\r\n]*+)*+"|[^"{mark}\r\n][^{mark}\r\n]*+|)'
    return re.compile(rf"{field}(?:{mark}{field})*+\r?\n?")


@dataclass
class _Cell:
    """A quoted cell that is still open: where it began, and the delimiters in each of its lines so far."""

    number: int  # of the line
    field: int  # of the record, from 0
    delimiters: list[int]


def _after_line(name: str, line: str, number: int, cell: _Cell | None, dialect: Dialect) -> _Cell | None:
    """Go through a line; return the cell that is open at its end."""
    delimiter = dialect.delimiter
    position, field = 0, 0 if cell is None else cell.field
    if cell is None:
        cell = _Cell(number, 0, []) if line[0] == '"' else None
        position = 0 if cell is None else 1
    while True:
        if cell is not None:
            end = _TO_QUOTE.match(line, position).end()  # type: ignore[union-attr]
            cell.delimiters.append(line.count(delimiter, position, end))
            if end == len(line):
                return cell
            _check_closed(name, cell, line[end + 1 : end + 2], dialect)
            position, cell = end + 1, None
        position = line.find(delimiter, position) + 1
        if position == 0:
            return None
        field += 1
        if line[position : position + 1] == '"':
            cell = _Cell(number, field, [])
            position += 1


def _check_closed(name: str, cell: _Cell, after: str, dialect: Dialect) -> None:
    if len(cell.delimiters) == 1:
        return
    where = f"{name!r} has a cell within quotes that begins in line {cell.number} and runs over {len(cell.delimiters)}"
    if after not in (dialect.delimiter, "\r", "\n", ""):
        raise InvalidData(
            f"{where} lines, and more text follows its closing quote: a quote may be missing, and the cell may "
            "contain whole records. Close the quote in that line, or double it if it is part of the text."
        )
    last = dialect.fields - 1
    completes = cell.delimiters[0] >= last - cell.field and cell.delimiters[-1] >= cell.field
    if last > 0 and (completes or max(cell.delimiters[1:]) >= last):
        raise InvalidData(
            f"{where} lines that look like records: as many {dialect.shown()['delimiter']!r} as a record has. Close "
            "the quote in that line; if it is one text, remove the line breaks or the delimiters from it."
        )


def _has_quotes(path: Readable, dialect: Dialect) -> bool:
    if dialect.codec not in ("utf-8", "cp1252"):  # a quote need not be that byte, nor that byte a quote
        return True
    with open_bytes(path) as file:
        while chunk := file.read(SAMPLE):
            if b'"' in chunk:
                return True
    return False
