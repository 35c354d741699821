"""Coded columns: numbers or codes, and which cells are missing. It is what the stages work on."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.columns.kinds import Cells, Kind, Number


@dataclass(frozen=True, eq=False)
class Coded:
    """One column.

    Attributes
    ----------
    name : any
    kind : Kind
    cells : Cells
        Numbers; of ordinal columns the level's number, of nominal ones the category's.
    shown : tuple
        What each code stands for, as text to show; empty where cells are numbers.
    importance : float
        The column's weight in distances and in the loss.
    reserved : tuple of (low, high)
        Ranges that no released number may fall into, as it would be read as missing.
    """

    name: Any
    kind: Kind
    cells: Cells
    shown: tuple[str, ...] = ()
    importance: float = 1.0
    reserved: tuple[tuple[float, float], ...] = ()

    @property
    def values(self) -> NDArray[np.float64]:
        """Numbers or codes, NaN where missing."""
        return self.cells.values

    def with_cells(self, cells: Cells) -> "Coded":
        """Return the same column with other cells."""
        return replace(self, cells=cells)

    @property
    def is_constant(self) -> bool:
        """Whether every record has the same, a missing value being one of its own."""
        classes = self.cells.classes
        return bool((classes == classes[0]).all())

    @property
    def n_missing(self) -> int:
        """How many cells are missing."""
        return 0 if self.cells.states is None else int(np.count_nonzero(self.cells.states))


@dataclass(frozen=True, eq=False)
class Table:
    """The columns to mask, or their masked versions, in the order of the file."""

    columns: tuple[Coded, ...]

    def __iter__(self) -> Iterator[Coded]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def n_records(self) -> int:
        """How many records there are."""
        return int(self.columns[0].values.size)

    @property
    def names(self) -> list[Any]:
        """The names of the columns."""
        return [column.name for column in self.columns]

    @property
    def is_complete(self) -> bool:
        """Whether nothing is missing."""
        return all(one.cells.states is None for one in self.columns)

    def named(self, names: Sequence[Any]) -> "Table":
        """Return some of the columns, in this order."""
        by_name = {column.name: column for column in self.columns}
        return Table(tuple(by_name[name] for name in names))

    def take(self, rows: NDArray[np.int64]) -> "Table":
        """Return some of the records."""
        return Table(tuple(column.with_cells(column.cells.take(rows)) for column in self.columns))

    def matrix(self) -> NDArray[np.float64]:
        """Return the values of all columns, (d, n), NaN where missing."""
        return np.array([column.values for column in self.columns])

    @classmethod
    def of_numbers(cls, names: Sequence[Any], values: NDArray[np.float64]) -> "Table":
        """Make a table of a matrix (d, n) of numbers."""
        return cls(tuple(Coded(name, Number(), Cells(own)) for name, own in zip(names, values, strict=True)))
