"""A file as the stages see it: coded columns, whose records they are, and the order that follows from values."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.diversity.demand import Demand
from microagg.algorithms.equivalence import codes_of
from microagg.algorithms.units import Units
from microagg.columns.kinds import Cells, Facts, Kind, Number
from microagg.columns.roles import NO_COLUMNS, Schema
from microagg.columns.weights import NOT_WEIGHED, Labels, Weighed, Weights

if TYPE_CHECKING:
    from microagg.algorithms.diversity.demand import Demand

_UNKNOWN = np.empty(0, dtype=np.int64)


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

    @cached_property
    def facts(self) -> Facts:
        """All that is known of it as a whole: found once, for distances and for the loss."""
        return self.kind.facts(self.cells)

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
    """The columns to mask, or their masked versions, in the order of the file, and what parts the others play.

    Many figures need the columns alone; what is not known is left out.

    Attributes
    ----------
    columns : tuple of Coded
    frame : dataframe or None
        All columns of the records.
    schema : Schema
        The role of each of these.
    strata : array of shape (n,)
        Whose records are never mixed, numbered from 0.
    units : Units or None
        Whose rows they are, where somebody may have several.
    weighed : Weighed
        What records weigh.
    demand : Demand or None
        What is demanded of their confidential columns.
    rows : array of shape (n,)
        Which rows of the file they are.
    dropped : mapping
        Columns that are not released, numbered from 0, where rows share their values.
    whole : Table or None
        The same of all records, where some are left out.
    """

    columns: tuple[Coded, ...]
    frame: Any = None
    schema: Schema = NO_COLUMNS
    strata: Labels = field(default_factory=lambda: _UNKNOWN)
    units: Units | None = None
    weighed: Weighed = NOT_WEIGHED
    demand: "Demand | None" = None
    rows: Labels = field(default_factory=lambda: _UNKNOWN)
    dropped: Mapping[Any, Labels] = field(default_factory=dict)
    whole: "Table | None" = None

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

    def take(self, rows: Labels) -> "Table":
        """Return some of the records, in this order, without their frame."""
        return Table(
            tuple(column.with_cells(column.cells.take(rows)) for column in self.columns),
            None,
            self.schema,
            self.strata[rows] if self.strata.size else self.strata,
            None if self.units is None else self.units.take(rows),
            self.weighed.take(rows),
            None if self.demand is None else self.demand.take(rows),
            self.rows[rows] if self.rows.size else self.rows,
            {name: codes[rows] for name, codes in self.dropped.items()},
            self.whole,
        )

    @property
    def whose(self) -> Labels | None:
        """The unit of each record, numbered from 0; None where each is one."""
        return None if self.units is None else self.units.codes

    @property
    def representing(self) -> Weights | None:
        """The weights by which groups are represented; None if all records count the same."""
        weights = self.weighed.representing
        return weights if weights is None or self.units is None else weights._replace(units=self.units.codes)

    def matrix(self) -> NDArray[np.float64]:
        """Return the values of all columns, (d, n), NaN where missing."""
        return np.array([column.values for column in self.columns])

    @classmethod
    def of_numbers(cls, names: Sequence[Any], values: NDArray[np.float64]) -> "Table":
        """Make a table of a matrix (d, n) of numbers."""
        return cls(tuple(Coded(name, Number(), Cells(own)) for name, own in zip(names, values, strict=True)))


Column = NDArray[np.float64] | Labels


class Ordered(NamedTuple):
    """An order of records that follows from their values.

    Attributes
    ----------
    rows : array of shape (n,)
        The record that comes first, the next one, and so on.
    units : Units or None
        The units of the records as the file has them, numbered by what their rows hold.
    """

    rows: Labels
    units: Units | None

    def back(self, labels: Labels) -> Labels:
        """Return the labels of records in the order of the file, from those in this order."""
        found = np.empty_like(labels)
        found[self.rows] = labels
        return found


def ordered_by_value(
    table: Table,
    weights: Sequence[NDArray[np.float64]] = (),
    demand: Demand | None = None,
    units: Units | None = None,
    strata: Labels | None = None,
) -> Ordered:
    """Order records by all that groups, and what they release, follow from.

    Within a stratum the same records come in the same order, in whichever order the file has them. Those that are
    equal in every masked column, in weights and in what is demanded of are interchangeable, and so are units whose rows
    are. The order of strata does not matter: each is grouped by itself, and a unit in two of them counts as two.
    """
    columns: list[Column] = [column.cells.classes for column in table]
    columns += weights
    columns += [] if demand is None else [column.codes for column in demand.columns]
    rows, ranks = _ranked(columns)
    if units is None:
        return Ordered(rows, None)
    own = units.codes if strata is None else codes_of(strata * units.n_units + units.codes)
    listed, numbers = order_of_units(own, ranks)
    codes = np.empty_like(numbers)
    codes[listed] = numbers
    return Ordered(np.lexsort((codes, ranks)), units._replace(codes=codes))


def _ranked(columns: Sequence[Column]) -> tuple[Labels, Labels]:
    """The order of records by their first column, then by the next, and so on, and their ranks; equals share one.

    Most columns of numbers distinguish nearly all records: only the others need a further look.
    """
    order = np.argsort(columns[0], kind="stable")
    same = _as_before(columns[0][order])
    tied = np.flatnonzero(same | np.append(same[1:], False))
    rows = order[tied]
    order[tied] = rows[np.lexsort([column[rows] for column in reversed(columns)])]
    for column in columns[1:]:
        same &= _as_before(column[order])
    ranks = np.empty(order.size, dtype=np.int64)
    ranks[order] = np.cumsum(~same)
    return order, ranks


def _as_before(values: Column) -> NDArray[np.bool_]:
    """Return which values equal the one before them; they are not subtracted, as missing ones are infinite."""
    return np.concatenate([[False], values[1:] == values[:-1]])


def order_of_units(units: Labels, ranks: Labels) -> tuple[Labels, Labels]:
    """Return an order of rows that follows from their ranks alone, and the number of each row's unit in it.

    Equal rows have one rank. Units come by their number of rows, then by these, sorted.
    """
    order = np.lexsort((ranks, units))
    first = np.searchsorted(units[order], np.arange(int(units.max()) + 1))
    sizes = np.diff(first, append=units.size)
    listed: list[Labels] = []
    for size in np.unique(sizes):
        own = np.flatnonzero(sizes == size)
        rows = ranks[order[first[own][:, None] + np.arange(size)]]
        listed.append(own[np.lexsort(rows.T[::-1])])
    by_content = np.concatenate(listed)
    starts, counts = first[by_content], sizes[by_content]
    ends = np.cumsum(counts)
    places = np.repeat(starts - (ends - counts), counts) + np.arange(units.size)
    return order[places], np.repeat(np.arange(by_content.size), counts)
