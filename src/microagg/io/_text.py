"""Text files, such as CSV: read as text without loss, and written again as they were."""

import csv
import gzip
import io
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from microagg.errors import InvalidData, RoleError
from microagg.io._dialect import (
    DELIMITERS,
    SAMPLE,
    Dialect,
    find_dialect,
    has_nul,
    open_bytes,
    refind_encoding,
    wrong_encoding,
)
from microagg.io._numbers import is_text, to_text
from microagg.io.files import whole_file

_BLOCK = 1 << 23
_ROWS = 1 << 16  # written at a time
_RISKY = r"^[=+\-@\t\r]"


def read_text(
    path: Path, *, delimiter: str | None, encoding: str | None, decimal: str | None, thousands: str | None
) -> tuple[pa.Table, Dialect]:
    """Read a text file, every column as text: null where a field is empty, "" where it is empty within quotes."""
    try:
        dialect = find_dialect(path, delimiter=delimiter, encoding=encoding, decimal=decimal, thousands=thousands)
        table = _read(path, dialect)
        if table is None and encoding is None and not dialect.bom and dialect.codec == "utf-8":
            dialect = replace(dialect, codec=refind_encoding(path), guessed=True)
            table = _read(path, dialect)
        if table is None:
            raise wrong_encoding(path.name, dialect.codec)
        _check_end(path, dialect)
    except (pa.ArrowException, OSError):  # whose messages may show cells and folders
        raise InvalidData(
            f"{path.name!r} cannot be read to its end. It is cut off, or is not compressed as its name says, or a "
            f"field of it is longer than {_BLOCK >> 20} MB. Write it anew."
        ) from None
    names = [name or "" for name in (column[0].as_py() for column in table.columns)]
    _check_names(path.name, names)
    table = table.slice(1).rename_columns(names)
    if table.num_rows == 0:
        raise InvalidData(f"{path.name!r} has a header and no records. Pass a file with at least k records.")
    if any(pc.any(pc.match_substring(column, "\0")).as_py() for column in table.columns):
        raise has_nul(path.name)
    return table, dialect


def _read(path: Path, dialect: Dialect) -> pa.Table | None:
    """Read a file with the header as its first record, as values are; None if the encoding is another."""
    from pyarrow import csv as arrow_csv

    ragged: list[int] = []

    def note(row: Any) -> str:
        ragged.append(row.actual_columns)
        return "skip"

    def options(handler: Any) -> dict[str, Any]:
        return common | {
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
        }

    common = {
        "convert_options": arrow_csv.ConvertOptions(
            column_types={f"f{column}": pa.string() for column in range(dialect.fields)},
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    }
    for handler in (None, note):  # the second time, where rows are ragged, to count them
        with open_bytes(path) as file:
            file.read(len(dialect.bom))
            try:
                table = arrow_csv.read_csv(file, **options(handler))
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
            f"{path.name!r} has {len(ragged)} row(s) with more or fewer fields than its header's {dialect.fields} (the "
            f"first found has {ragged[0]}), between {dialect.shown()['delimiter']!r}. Mend them, or pass the delimiter."
        )
    return table


def _check_end(path: Path, dialect: Dialect) -> None:
    """Refuse a quote that is opened and never closed: it would swallow the records after it."""
    if not _odd_quotes(path, dialect):
        return
    with open_bytes(path) as file, io.TextIOWrapper(file, dialect.codec, newline="") as text:
        try:
            for _ in csv.reader(text, delimiter=dialect.delimiter, strict=True):
                pass
        except csv.Error:
            raise InvalidData(
                f"{path.name!r} has a quote that is opened and not closed. It may be cut off; mend it."
            ) from None


def _odd_quotes(path: Path, dialect: Dialect) -> bool:
    quotes = 0
    with open_bytes(path) as file:
        while chunk := file.read(SAMPLE):
            quotes += chunk.count('"'.encode(dialect.codec))
    return quotes % 2 == 1


def _check_names(file: str, names: list[str]) -> None:
    # Names may be a first record of data: they are not shown.
    if "" in names:
        raise RoleError(f"column {names.index('') + 1} of {len(names)} in {file!r} has no name. Name it in the header.")
    if max(Counter(names).values()) > 1:
        raise RoleError(f"{file!r} has two columns of one name. Give each its own, in a header.")
    if all(name.strip().lstrip("+-").replace(".", "", 1).replace(",", "", 1).isdigit() for name in names):
        raise InvalidData(f"the first row of {file!r} is all numbers, not names. Add a header, or rename the columns.")


def write_text(table: pa.Table, path: Path, dialect: Dialect, *, excel_safe: bool) -> None:
    """Write a table as text, with quotes where they are needed."""
    header = pa.table({str(position): [name] for position, name in enumerate(table.column_names)})
    if excel_safe:
        header = pa.table([_apostrophes(column) for column in header.columns], header.column_names)
    with whole_file(path) as fresh, _compressed(fresh, path.suffix.lower()) as file:
        try:
            file.write(dialect.bom)
            file.write(_lines(header, dialect))
            for start in range(0, table.num_rows, _ROWS):
                part = table.slice(start, _ROWS)
                file.write(_lines(_as_text(part, dialect.marks.decimal, excel_safe), dialect, _unquoted(part, dialect)))
        except UnicodeEncodeError:
            raise InvalidData(
                f"the table has characters that {dialect.codec} does not know, so {path.name!r} cannot be written. "
                f"Write Parquet instead, or convert the source to UTF-8."
            ) from None


@contextmanager
def _compressed(path: Path, suffix: str) -> Iterator[IO[bytes] | Any]:
    with path.open("wb") as plain:
        if suffix == ".gz":
            # Neither a name nor a time: the same table gives the same bytes.
            with gzip.GzipFile("", "wb", compresslevel=6, fileobj=plain, mtime=0) as file:
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
        if is_text(column.type):
            column = column.cast(pa.large_string())
            columns[name] = _apostrophes(column) if excel_safe else column
            continue
        try:
            columns[name] = to_text(column, decimal)
        except (pa.ArrowException, TypeError):
            raise InvalidData(
                f"column {name!r} is of a kind ({type(column.type).__name__}) that text cannot hold. "
                f"Write Parquet instead, or leave it out."
            ) from None
    return pa.table(columns)


def _apostrophes(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Put an apostrophe before what a spreadsheet would take for a formula; plain numbers stay as they are."""
    safe = pc.replace_substring_regex(column, pattern=f"({_RISKY})", replacement=r"'\1")
    return pc.if_else(pc.match_substring_regex(column, r"^-?[0-9][0-9.,]*$"), column, safe)


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
