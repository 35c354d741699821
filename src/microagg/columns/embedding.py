"""Records, or whole units, as points: a block of coordinates a column, whose squared distances add up."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.equivalence import codes_of, distinct_of, split_classes
from microagg.algorithms.kernels.records import Records, coordinates
from microagg.checks import check_option
from microagg.columns.kinds import Block, Facts
from microagg.columns.table import Coded, Table
from microagg.columns.weights import Labels
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
    entry_owners: Labels

    @cached_property
    def coordinates(self) -> NDArray[np.float64]:
        """All coordinates, (D, n): made when they are first asked for."""
        return coordinates(self.records)

    @cached_property
    def owners(self) -> Labels:
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


_ODD = 0.05  # of the units of several rows


def shapes_of(codes: Labels, slots: Labels, strata: Labels) -> Labels:
    """Number the shapes of units: their stratum, and the set of their slots.

    `codes`, `slots` and `strata` are of rows: the unit, numbered from 0, the place in it, and the stratum.
    """
    order = np.lexsort((slots, codes))
    first = np.searchsorted(codes[order], np.arange(int(codes.max()) + 1))
    sizes = np.diff(first, append=codes.size)
    found = split_classes(codes_of(strata[order][first]), sizes)  # some strata may have lost all their rows
    for place in range(int(sizes.max())):
        having = np.minimum(first + place, codes.size - 1)
        found = split_classes(found, np.where(place < sizes, slots[order][having], -1))
    return found


def columns_alike_within(table: Table, codes: Labels) -> dict[Any, int]:
    """Count, for each column, the units whose rows differ in it."""
    return {column.name: differing_within(codes_of(column.cells.classes), codes) for column in table}


def is_constant_within(values: Labels, codes: Labels) -> bool:
    """Return whether a column has one value for all rows of a unit; both are numbered from 0.

    So it is if it differs in at most 5 % of the units of several rows: an odd cell protects nobody.
    """
    several = int(np.count_nonzero(np.bincount(codes) > 1))
    return differing_within(values, codes) <= _ODD * several


def differing_within(values: Labels, codes: Labels) -> int:
    """Count the units whose rows have different values; both are numbered from 0."""
    above = int(values.max()) + 1
    per_unit = np.bincount(distinct_of(codes * above + values) // above)
    return int(np.count_nonzero(per_unit > 1))


class Wide(NamedTuple):
    """The units of one shape as records: their numbers, and the row of each slot, (units, slots)."""

    units: Labels
    rows: Labels

    def take(self, places: Labels) -> "Wide":
        """Return some of the units."""
        return Wide(self.units[places], self.rows[places])

    def table(self, table: Table, shared: Sequence[Any]) -> Table:
        """Return a record a unit: what its rows share, then the rest slot by slot."""
        own = [column for column in table if column.name not in shared]
        columns = list(table.named(shared).take(self.rows[:, 0])) if shared else []
        for slot in range(self.rows.shape[1]):
            columns += [column.with_cells(column.cells.take(self.rows[:, slot])) for column in own]
        return Table(tuple(columns))

    def points(self, points: Points, shared: NDArray[np.bool_]) -> Points:
        """Return a point a unit; `shared` holds the entries of what its rows share. Slots count by their mean."""
        entries, heights, starts = points.records
        numbers, n_slots = int(starts[0]), self.rows.shape[1]
        scale = 1.0 / np.sqrt(n_slots)
        is_code = np.arange(entries.shape[0]) >= numbers
        found, owners, widths, tall = [], [], [], []
        for codes in (False, True):  # numbers come first
            for slot in range(-1, n_slots):
                for at in np.flatnonzero((is_code == codes) & (shared if slot < 0 else ~shared)):
                    values = entries[at, self.rows[:, max(slot, 0)]]
                    owners.append(points.entry_owners[at])
                    if codes:
                        widths.append(starts[at - numbers + 1] - starts[at - numbers])
                        tall.append(heights[at - numbers] * (1.0 if slot < 0 else scale))
                    found.append(values if codes or slot < 0 else values * scale)
        if len(found) == len(widths):  # records have at least one number
            found.insert(0, np.zeros(self.units.size))
            owners.insert(0, -1)
        begins = np.cumsum([len(found) - len(widths), *widths], dtype=np.int64)
        return Points(Records(np.array(found), np.array(tall, dtype=np.float64), begins), np.array(owners))


def wides_of(codes: Labels, slots: Labels, kinds: Labels) -> list[Wide]:
    """Return the units of each kind as records; units of one kind have the same number of rows.

    `codes` and `slots` are of rows, and `kinds`, numbered from 0, of units.
    """
    order = np.lexsort((slots, codes))
    first = np.searchsorted(codes[order], np.arange(kinds.size))
    found = []
    for kind in range(int(kinds.max()) + 1):
        units = np.flatnonzero(kinds == kind)
        size = int(np.count_nonzero(codes == units[0]))
        found.append(Wide(units, order[first[units][:, None] + np.arange(size)]))
    return found
