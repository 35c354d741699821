"""How a text file is written, found out from its beginning: encoding, delimiter, marks of numbers, the first row.

The first row holds names of columns, or a record that must not become public as names.
"""

import codecs
import csv
import hashlib
import io
import re
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from microagg.base.frozen import frozen
from microagg.checks import check_jobs
from microagg.columns.numbers import MISSING, THOUSANDS, Marks, guess_marks
from microagg.errors import InvalidData, InvalidParameter, a_type
from microagg.files.formats.kinds import COMPRESSED, Named, base_suffix
from microagg.work import in_parallel


class Content:
    """The bytes of a file, and its checksum, which is taken while they are parsed.

    Where a path is opened for reading, a content is too; the file may change or go in the meantime.
    """

    def __init__(self, path: Path) -> None:
        self.name, self.suffix, self.suffixes = path.name, path.suffix, path.suffixes
        try:
            self._data = path.read_bytes()
        except OSError:
            raise InvalidData(f"{path.name!r} cannot be read. Check the path, and whether you may read it.") from None
        beside = ThreadPoolExecutor(1)
        self._summed: Future[str] = beside.submit(lambda: hashlib.sha256(self._data).hexdigest())
        beside.shutdown(wait=False)

    def open(self) -> pa.NativeFile:
        """Open the bytes for reading, removing the compression that the name says."""
        return pa.input_stream(pa.BufferReader(self._data), compression=COMPRESSED.get(self.suffix.lower()))

    @cached_property
    def sha256(self) -> str:
        """The checksum of the bytes."""
        return self._summed.result()


Readable = Path | Content
"""What text is read from: a file that is read in parts, or one that was read as a whole."""


def open_bytes(path: Readable) -> pa.NativeFile:
    """Open a file for reading, removing the compression that its name says."""
    if isinstance(path, Content):
        return path.open()
    return pa.input_stream(str(path), compression=COMPRESSED.get(path.suffix.lower()))


DELIMITERS = ("\t", ";", "|", ",")
SAMPLE = 1 << 20
_RECORDS = 100
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark begins in the same way
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROLS = frozenset(map(chr, (*range(9), 11, *range(14, 32), *range(127, 160))))
_SHOWN = {"\t": "tab", " ": "space", "\u00a0": "no-break space", "\u202f": "narrow no-break space", None: "none"}


@frozen()
class Dialect:
    """How a text file is written."""

    delimiter: str = ","
    codec: str = "utf-8"
    bom: bytes = b""
    marks: Marks = field(default_factory=Marks)
    line_end: str = "\n"
    fields: int = 0
    guessed: bool = False  # no better encoding was found
    unsure: bool = False  # the decimal mark could as well separate thousands, or the other way round
    header: bool | None = None  # whether the first row holds names, where that was said

    def options(self) -> dict[str, Any]:
        """Return what `find_dialect` must be passed to find the same.

        That there is a header is part of it only where somebody said so: another file is looked at again.
        """
        said = {} if self.header is None else {"header": self.header}
        return {
            "delimiter": self.delimiter,
            "encoding": self.codec,
            "decimal": self.marks.decimal,
            "thousands": self.marks.thousands or "",
            **said,
        }

    def shown(self) -> dict[str, str]:
        """Say what was found or asked for."""
        encoding = self.codec + (" with BOM" if self.bom else "") + (" (a guess: it is not UTF-8)" * self.guessed)
        decimal, thousands = self.marks.decimal, _SHOWN.get(self.marks.thousands, self.marks.thousands or "none")
        if self.unsure and self.marks.thousands:
            thousands += " (a guess: it could be the decimal mark; pass decimal)"
        elif self.unsure:
            decimal += " (a guess: it could separate thousands; pass decimal)"
        return {
            "delimiter": _SHOWN.get(self.delimiter, self.delimiter),
            "encoding": encoding,
            "decimal": decimal,
            "thousands": thousands,
            **({"header": "none"} if self.header is False else {}),
        }


def text_details(path: Readable, dialect: Dialect) -> dict[str, str]:
    """Say how a file is written."""
    details = dialect.shown()
    if path.suffix.lower() in COMPRESSED:
        details["compression"] = COMPRESSED[path.suffix.lower()]
    return details


def dialect_for(path: Named, source: Named | None, dialect: Dialect | None) -> Dialect:
    """Choose how to write a file: in the source's ways, with its delimiter unless the name says another."""
    base = base_suffix(path)
    if dialect is None:
        return Dialect(delimiter="," if base == ".csv" else "\t")
    if source is not None and base_suffix(source) == base:
        return dialect
    usual = "\t" if base != ".csv" else ";" if dialect.marks.decimal == "," else ","
    return replace(dialect, delimiter=usual)


def find_dialect(
    path: Readable,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    header: bool | None = None,
) -> Dialect:
    """Find out how a file is written; what is passed is not questioned."""
    _check_options(delimiter, decimal, thousands, header)
    with open_bytes(path) as file:
        start = file.read(SAMPLE)
        is_whole = len(start) < SAMPLE
    codec, bom, guessed = _find_encoding(start, encoding, path.name)
    try:
        text = codecs.getincrementaldecoder(codec)().decode(start[len(bom) :], final=is_whole)
    except UnicodeError:
        raise wrong_encoding(path.name, codec) from None
    if "\0" in text:
        raise has_nul(path.name)
    if not text.strip("\r\n"):
        raise InvalidData(f"{path.name!r} is empty. Pass a file with a header and records.")
    if delimiter is None:
        delimiter = _find_delimiter(text, is_whole, ".tsv" in path.suffixes)
    records = _records(text, delimiter, is_whole, 2000)
    above = 0 if header is False else 1
    if len(records) <= above and is_whole:
        raise InvalidData(f"{path.name!r} has a header and no records. Pass a file with at least k records.")
    if not records:
        raise InvalidData(f"{path.name!r} has a first row of more than {SAMPLE} bytes. Check its quotes and line ends.")
    newline = text.find("\n")
    line_end = "\r\n" if newline > 0 and text[newline - 1] == "\r" else "\n"
    marks, unsure = guess_marks(records[above:], delimiter, decimal, thousands)
    return Dialect(delimiter, codec, bom, marks, line_end, len(records[0]), guessed, unsure, header)


def wrong_encoding(name: str, codec: str) -> InvalidData:
    """Make the error of a file that has bytes which its encoding does not know."""
    return InvalidData(f"{name!r} is not written in {codec}. Pass its encoding, such as 'utf-8', 'cp1252' or 'cp1250'.")


def has_nul(name: str) -> InvalidData:
    """Make the error of a file with characters that no text has."""
    return InvalidData(
        f"{name!r} contains NUL characters: it is not text, is damaged, or is UTF-16 without a byte-order mark. Pass "
        "its encoding, such as 'utf-16-le', or write the file again."
    )


def _check_options(delimiter: str | None, decimal: str | None, thousands: str | None, header: Any) -> None:
    if delimiter is not None and (len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0'):
        raise InvalidParameter(
            f"delimiter={delimiter!r} is not one ASCII character. Pass one such as ',' or ';'.", parameter="delimiter"
        )
    if decimal is not None and decimal not in (".", ","):
        raise InvalidParameter(f"decimal={decimal!r} is not a decimal mark. Pass '.' or ','.", parameter="decimal")
    if thousands and thousands not in THOUSANDS:
        known = ", ".join(map(repr, THOUSANDS))
        raise InvalidParameter(
            f"thousands={thousands!r} does not separate thousands. Pass one of {known}, or ''.", parameter="thousands"
        )
    if thousands and thousands == decimal:
        raise InvalidParameter(
            f"decimal and thousands are both {decimal!r}. Pass two different marks.", parameter="thousands"
        )
    if header is not None and not isinstance(header, bool):
        raise InvalidParameter(f"header is {a_type(header)}. Pass True or False, or leave it out.", parameter="header")


def _find_encoding(start: bytes, encoding: str | None, name: str) -> tuple[str, bytes, bool]:
    """Return the codec, the mark that the file starts with, and whether the codec is a mere guess."""
    marked = next(((codec, bom) for bom, codec in _BOMS if start.startswith(bom)), None)
    if encoding is not None:
        codec = _known_codec(encoding)
        if codec == "utf-8-sig":
            codec = "utf-8"
        if codec in ("utf-16", "utf-32"):
            # Written in parts, each would get a mark of its own: the byte order must be known.
            if marked is None or not marked[0].startswith(codec):
                raise InvalidData(f"{name!r} has no byte-order mark. Pass encoding='{codec}-le' or '{codec}-be'.")
            codec = marked[0]
        return codec, marked[1] if marked and marked[0] == codec else b"", False
    if marked is not None:
        return *marked, False
    if _is_utf8(start):
        return "utf-8", b"", False
    return _fallback(start, name), b"", True


def _is_utf8(start: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start, final=False)  # the last character may be cut
    except UnicodeDecodeError:
        return False
    return True


def _known_codec(encoding: str) -> str:
    try:
        codec = codecs.lookup(encoding).name
        line = 'a,"1"\n'
        known = line.encode(codec).decode(codec) == line  # which also refuses codecs that are not of text
    except (LookupError, TypeError, ValueError):
        known = False
    if not known:
        raise InvalidParameter(
            f"encoding={encoding!r} is not known. Pass one such as 'utf-8', 'utf-16' or 'cp1252'.", parameter="encoding"
        )
    return codec


def _fallback(data: bytes, name: str) -> str:
    """Take cp1252 where it makes sense of the bytes; latin-1 differs from it by control characters alone."""
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError:
        text = "\0"
    if _CONTROLS.intersection(text):
        if b"\0" in data:
            raise has_nul(name)
        raise InvalidData(
            f"{name!r} is neither UTF-8, UTF-16 with a mark, nor Windows-1252. Pass its encoding, such as 'cp1250'."
        )
    return "cp1252"


def refind_encoding(path: Readable) -> str:
    """Find the encoding of a file whose beginning is UTF-8 and whose rest is not."""
    with open_bytes(path) as file:
        while chunk := file.read(SAMPLE):
            codec = _fallback(chunk, path.name)
    return codec


def _records(text: str, delimiter: str, is_whole: bool, limit: int) -> list[list[str]]:
    """Split the first records into fields, without blank lines and without a last record that may be cut."""
    found: list[list[str]] = []
    try:
        for record in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
            # A blank line is a missing value where there is but one column.
            if record or (found and len(found[0]) == 1):
                found.append(record or [""])
            if len(found) > limit:
                break
    except csv.Error:  # a field beyond the reader's limit, whose record is not among those found
        return found
    return found if is_whole and len(found) <= limit else found[:-1]


def _find_delimiter(text: str, is_whole: bool, is_tsv: bool) -> str:
    """Take the delimiter that cuts most records into as many fields as the header, then the one that gives most."""
    usual = "\t" if is_tsv else ","
    best, best_score = None, (0.0, 0)
    for delimiter in DELIMITERS:
        counts = [len(record) for record in _records(text, delimiter, is_whole, _RECORDS)]
        if counts and counts[0] > 1:
            score = (_share(counts), counts[0])
            if score > best_score:
                best, best_score = delimiter, score
    if best is not None:
        return best
    for delimiter in (usual, *DELIMITERS):
        # One column: what its values hold, such as a decimal comma, cannot be the delimiter.
        if all(len(record) == 1 for record in _records(text, delimiter, is_whole, _RECORDS)):
            return delimiter
    return usual


def _share(counts: Sequence[int]) -> float:
    return sum(count == counts[0] for count in counts) / len(counts)


_MANY = 100


class FirstRow:
    """The first row of a text file, and what the rows below it show about it.

    Pass every part of the file to `compare`, then ask for the `names`.
    """

    def __init__(self, file: str, cells: list[str | None], dialect: Dialect) -> None:
        self._file, self._said, self._number = file, dialect.header, re.compile(dialect.marks.pattern)
        self._cells = [cell or "" for cell in cells]
        self._shapes = [self._shape(cell.strip()) for cell in self._cells]
        self._present, self._alike = [0] * len(cells), [0] * len(cells)
        self._repeated = [False] * len(cells)
        # How many numbers stand below a cell that is none; -1 where something else does too.
        self._numbers = [-1 if self._is_number(cell) else 0 for cell in self._cells]

    def _is_number(self, cell: str) -> bool:
        return bool(self._number.match(cell.strip())) or cell.strip() in MISSING

    def _shape(self, cell: str) -> str | None:
        """Return the pattern of values of a cell's kind; None for plain words, which show nothing."""
        if self._is_number(cell):
            return rf"^\s*(?:{self._number.pattern[1:-1]})\s*$"
        if not re.search("[0-9]", cell):
            return None
        # A date, a code: as many letters, small and capital, and the same marks between runs of digits.
        parts = re.findall(r"[0-9]+|.", cell, re.DOTALL)
        return rf"^\s*{''.join(map(_kind_of, parts))}\s*$"

    def compare(self, table: Any) -> None:
        """Look at rows below the first: a table of text, its columns in the file's order."""
        if self._said is not None:
            return

        def look(j: int, check: Callable[[], None]) -> None:
            check()
            column, shape = table.column(j), self._shapes[j]
            self._repeated[j] |= pc.any(pc.equal(column, self._cells[j])).as_py() is True
            if self._numbers[j] >= 0:
                self._count_numbers(j, column)
            if shape is not None:
                self._present[j] += len(column) - column.null_count
                self._alike[j] += pc.sum(pc.match_substring_regex(column, shape)).as_py() or 0

        in_parallel(look, range(len(self._cells)), check_jobs(None))

    def _count_numbers(self, j: int, column: Any) -> None:
        present = column.drop_null()
        trimmed = pc.utf8_trim_whitespace(present)
        found = pc.sum(pc.match_substring_regex(trimmed, self._number.pattern)).as_py() or 0
        marks = pc.sum(pc.is_in(trimmed, value_set=pa.array(sorted(MISSING), trimmed.type))).as_py() or 0
        self._numbers[j] = self._numbers[j] + found if found + marks >= len(present) else -1

    @property
    def _is_above_numbers(self) -> bool:
        """Whether words stand above columns that hold nothing but numbers, as names do.

        A record may lack a number, and say so in a word; hardly in two columns of which all other records have one, or
        in one of a hundred records.
        """
        found = [number for number in self._numbers if number > 0]
        return len(found) > 1 or max(found, default=0) >= _MANY

    def names(self) -> list[str]:
        """Return the columns' names, made up where the file has none, or refuse a row that may be a record."""
        if self._said is False:
            return [f"column_{number}" for number in range(1, len(self._cells) + 1)]
        reason = self._reason()
        if reason is None:
            return self._cells
        if self._said:
            raise InvalidData(f"{self._file!r}: {reason}. Give each column in the header a different name.")
        # The row may be a person's: nothing of it is shown.
        raise InvalidData(
            f"the first row of {self._file!r} may be a record and not the names of its columns: {reason}. Choose "
            "--header for names, --no-header for a record (header = true or false in [read] of a recipe)."
        )

    def _reason(self) -> str | None:
        count = len(self._cells)
        if "" in self._cells:
            return f"column {self._cells.index('') + 1} of {count} has no name"
        if max(Counter(self._cells).values()) > 1:
            return "it has two columns with the same name"
        if self._said:
            return None
        for j, shape in enumerate(self._shapes):
            where = f"in column {j + 1} of {count} it"
            if self._repeated[j] and not self._is_above_numbers:
                return f"{where} has a value that occurs again below"
            if shape is not None and 2 * self._alike[j] >= self._present[j]:
                return f"{where} has a value of the same kind as those below, such as a number over numbers"
        return None


def _kind_of(part: str) -> str:
    if part[0].isdigit():
        return "[0-9]+"
    if part.isalpha():
        return r"\p{Lu}" if part.isupper() else r"\p{Ll}" if part.islower() else r"\pL"
    return re.escape(part)
