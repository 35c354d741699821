"""The order of records by their values: what follows from it does not depend on how a file's rows are ordered."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.diversity.demand import Demand
from microagg.algorithms.equivalence import codes_of
from microagg.algorithms.units import Units
from microagg.columns.table import Table

Labels = NDArray[np.int64]
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
