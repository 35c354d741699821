"""Whole units as single points: what all rows of a unit share once, and the rest row by row, side by side."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.equivalence import codes_of, distinct_of, split_classes
from microagg.algorithms.kernels.records import Records
from microagg.columns.embedding import Points
from microagg.columns.table import Table

Labels = NDArray[np.int64]

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
