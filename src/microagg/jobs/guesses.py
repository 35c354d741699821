"""What reading a text file had to guess, and the other way to read it."""

import pyarrow as pa
import pyarrow.compute as pc

from microagg.base.frozen import frozen
from microagg.columns.numbers import is_text
from microagg.files.sources import Source

_MARKS = {".": "point", ",": "comma"}


@frozen()
class ReadingGuess:
    """A guess of how a file is written.

    Attributes
    ----------
    text : str
        What was guessed: no cell is in it.
    now, other : str
        The decimal mark as it was read, and as it would be; empty where the guess is of something else.
    words : str
        What the other reading would be.
    """

    text: str
    now: str = ""
    other: str = ""
    words: str = ""


def reading_guesses(source: Source) -> list[ReadingGuess]:
    """Say what was guessed when a file was read; of two that were joined, of either."""
    files = [source] if source.joined is None else [source.joined.persons, source.joined.households]
    found = (guess for file in files for guess in _guesses_of(file))
    return list(dict.fromkeys(found))


def _guesses_of(source: Source) -> list[ReadingGuess]:
    dialect, found = source.dialect, []
    if dialect is None:
        return []
    if dialect.unsure:
        decimal, thousands = dialect.marks.decimal, dialect.marks.thousands
        mark = thousands or decimal
        count = sum(_has(source.table[name], mark) for name in _numbers(source))
        where = f"in {count} {'column' if count == 1 else 'columns'}"
        as_thousands, as_decimal = "the mark of thousands", "the decimal mark"
        read, would = (as_thousands, as_decimal) if thousands else (as_decimal, as_thousands)
        other = mark if thousands else "," if decimal == "." else "."
        text = f"A {_MARKS[mark]} was read as {read} {where}: a guess. It could be {would}."
        found.append(ReadingGuess(text, decimal, other, f"Read the {_MARKS[mark]} as {would}"))
    if dialect.guessed:
        found.append(ReadingGuess(f"The encoding was taken for {dialect.codec}: a guess, since it is not UTF-8."))
    return found


def _numbers(source: Source) -> list[str]:
    """Name the columns that are text in the file and numbers as they are read."""
    read = source.typed().schema
    return [name for name in source.table.column_names if not is_text(read.field(name).type)]


def _has(column: pa.ChunkedArray, mark: str) -> bool:
    return is_text(column.type) and pc.any(pc.match_substring(column, mark)).as_py() is True
