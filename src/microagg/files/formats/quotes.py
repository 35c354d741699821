"""Quoted cells that hold line breaks: one that contains records by mistake would release them unchanged."""

import io
import re
from dataclasses import dataclass

from microagg.errors import InvalidData
from microagg.files.formats.content import Readable, open_bytes
from microagg.files.formats.dialect import SAMPLE, Dialect

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
