"""Units whose rows come together again by columns that are constant in them, though their numbers are not released."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.equivalence import codes_of, split_classes
from microagg.algorithms.units import held_by
from microagg.base.frozen import ReadOnly, frozen

Labels = NDArray[np.int64]

_MOST_SETS = 64  # of columns that are constant in a unit: the commonest are looked at


@frozen()
class RebuiltUnits(ReadOnly):
    """How many units come together again.

    Attributes
    ----------
    units : int
        Units of two rows or more that share a combination of released values which fewer than k units have.
    of : int
        Units of two rows or more.
    by_column : mapping
        For each column that does so by itself, how many.
    """

    units: int
    of: int
    by_column: Mapping[Any, int]

    @property
    def percent(self) -> float:
        """The share of the units of two rows or more."""
        return 100.0 * self.units / self.of if self.of else 0.0


def rebuilt_units(columns: Mapping[Any, Labels], units: Labels, k: int) -> RebuiltUnits:
    """Count the units that an intruder brings together again.

    The columns that are constant in a unit are taken together. If fewer than k units have a row with the same values
    there, the rows of the unit are known to belong together, or to one of very few. Of units that differ in which
    columns are constant, the 64 commonest sets of columns are looked at.

    Parameters
    ----------
    columns : mapping of arrays of shape (n,)
        The codes of the released values.
    units : array of shape (n,)
        The unit of each row, numbered from 0.
    k : int
    """
    sizes = np.bincount(units)
    several, names = sizes > 1, list(columns)
    alone = {name: _rebuilt(_constant(columns[name], units) & several, [columns[name]], units, k) for name in names}
    constant = np.array([_constant(columns[name], units) for name in names]).reshape(len(names), sizes.size)
    sets, counts = np.unique(constant[:, several], axis=1, return_counts=True)
    found = np.zeros(sizes.size, dtype=bool)
    for place in np.argsort(-counts, kind="stable")[:_MOST_SETS]:
        own = sets[:, place]
        if own.any():
            whose = constant[own].all(axis=0) & several
            found |= _rebuilt(whose, [columns[name] for name, used in zip(names, own, strict=True) if used], units, k)
    by_column = {name: int(np.count_nonzero(rows)) for name, rows in alone.items() if rows.any()}
    return RebuiltUnits(int(np.count_nonzero(found)), int(np.count_nonzero(several)), by_column)


def _constant(codes: Labels, units: Labels) -> NDArray[np.bool_]:
    """Return in which units a column has one value."""
    one = np.zeros(int(units.max()) + 1, dtype=np.int64)
    one[units] = codes
    changes = np.zeros(one.size, dtype=bool)
    changes[units[codes != one[units]]] = True
    return ~changes


def _rebuilt(whose: NDArray[np.bool_], columns: Sequence[Labels], units: Labels, k: int) -> NDArray[np.bool_]:
    """Return which of some units, in which the columns are constant, share their values with fewer than k units."""
    classes = np.zeros(units.size, dtype=np.int64)
    for codes in columns:
        classes = split_classes(classes, codes, codes_of(codes))
    few = held_by(classes, units, int(classes.max()) + 1).units < k
    found = np.zeros(whose.size, dtype=bool)
    found[units[few[classes]]] = True
    return found & whose
