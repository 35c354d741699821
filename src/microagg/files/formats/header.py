"""The first row of a text file: names of columns, or a record that must not become public as names."""

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from microagg.checks import check_jobs
from microagg.columns.numbers import MISSING
from microagg.errors import InvalidData
from microagg.files.formats.dialect import Dialect
from microagg.work import in_parallel

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
