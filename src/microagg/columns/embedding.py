"""Records as points: each column gets a block of coordinates, and squared distances add up over the columns."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.kernels.records import Records, coordinates
from microagg.checks import check_option
from microagg.columns.kinds import Block, Facts
from microagg.columns.table import Coded, Table
from microagg.work import ALONE, Work

SCALES = ("standard", "range", "none")


@dataclass(frozen=True, eq=False)
class Points:
    """Records in space.

    Attributes
    ----------
    records : Records
        Numbers and codes: a category is one entry, however many coordinates it stands for.
    entry_owners : array
        The column, by number, that each entry belongs to; -1 for a 0 that belongs to none.
    """

    records: Records
    entry_owners: NDArray[np.int64]

    @cached_property
    def coordinates(self) -> NDArray[np.float64]:
        """All coordinates, (D, n): made when they are first asked for."""
        return coordinates(self.records)

    @cached_property
    def owners(self) -> NDArray[np.int64]:
        """The column, by number, that each coordinate belongs to, (D,)."""
        widths = np.ones(self.entry_owners.size, dtype=np.int64)
        widths[self.records.starts[0] :] = np.diff(self.records.starts)
        return np.repeat(self.entry_owners, widths)


@dataclass(frozen=True, eq=False)
class Space:
    """Where records lie, by constants of a whole file; `blocks` are those of its columns.

    A record's entries are the numbers of all columns, then their codes; at least one number, if only a 0.
    """

    blocks: tuple[Block, ...]

    @classmethod
    def of(cls, columns: Sequence[Coded], facts: Sequence[Facts], scale: str, spike: float) -> "Space":
        """Make the space of some columns by what is known of them."""
        check_option("scale", scale, SCALES)
        pairs = zip(columns, facts, strict=True)
        return cls(tuple(column.kind.block(own, scale, column.importance, spike) for column, own in pairs))

    @property
    def n_entries(self) -> int:
        """How many entries a record has."""
        return self._padding + sum(block.width for block in self.blocks)

    @property
    def n_codes(self) -> int:
        """How many of them are codes."""
        return sum(len(block.corners) for block in self.blocks)

    @property
    def cut_scales(self) -> NDArray[np.float64]:
        """What a step of each entry counts for where records are cut apart."""
        return self._records(np.empty((self.n_entries, 0))).cut_scales

    @property
    def _padding(self) -> int:
        return int(all(block.corners for block in self.blocks))

    @property
    def _order(self) -> list[int]:
        """The columns in the order of their entries."""
        return sorted(range(len(self.blocks)), key=lambda j: bool(self.blocks[j].corners))

    def place(self, table: Table, work: Work = ALONE) -> Points:
        """Return the points of records."""
        order = self._order
        widths = [self.blocks[j].width for j in order]
        ends = np.cumsum(widths) + self._padding
        entries = np.zeros((self.n_entries, table.n_records))

        def place(turn: int, check: Callable[[], None]) -> None:
            check()
            cells = table.columns[order[turn]].cells
            self.blocks[order[turn]].place(cells, entries[ends[turn] - widths[turn] : ends[turn]])

        work.each(place, range(len(order)))
        owners = np.concatenate([np.full(self._padding, -1), np.repeat(order, widths)])
        return Points(self._records(entries), owners.astype(np.int64))

    def _records(self, entries: NDArray[np.float64]) -> Records:
        corners = [one for j in self._order for one in self.blocks[j].corners]
        heights = np.array([one.height for one in corners], dtype=np.float64)
        numbers = entries.shape[0] - len(corners)
        return Records(entries, heights, np.cumsum([numbers, *(one.categories for one in corners)], dtype=np.int64))


def space_of(table: Table, scale: str = "standard", spike: float = 1.0, work: Work = ALONE) -> Space:
    """Return the space of a whole file, by its own constants."""
    facts = work.each(lambda column, _: column.facts, table.columns)
    return Space.of(table.columns, facts, scale, spike)


def embed(table: Table, scale: str = "standard", spike: float = 1.0, work: Work = ALONE) -> Points:
    """Place the records of a table in space, each column by constants of the whole file."""
    return embed_both(table, table, scale, spike, work)[0]


def embed_both(
    original: Table,
    other: Table,
    scale: str = "standard",
    spike: float = 1.0,
    work: Work = ALONE,
) -> tuple[Points, Points]:
    """Place the records of two tables in one space: both by the constants of the original."""
    first, second, third = work.stages(3)
    space = space_of(original, scale, spike, first)
    before = space.place(original, second)
    return before, before if other is original else space.place(other, third)
