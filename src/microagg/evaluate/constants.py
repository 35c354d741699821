"""Values that all rows of a unit have in common, computed from the means of the groups that its rows are in.

A unit of many rows is in many groups. If a column is constant in units, each unit is one unknown, and the mean of each
group an equation: with more rows in a unit than records in a group there are more equations than unknowns.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from microagg.equivalence import codes_of
from microagg.evaluate.joint import TooManyUnknowns, solved_unknowns
from microagg.frozen import frozen
from microagg.kinds import Number
from microagg.prepare.wide import differing_within
from microagg.progress import Progress, stage
from microagg.rounding import Steps
from microagg.table import Coded, Table

Labels = NDArray[np.int64]
Values = NDArray[np.float64]

_MOST = 50_000  # units that are solved together
_AGREES = 0.05  # standard deviations: a released value so near to the mean of its records counts as that mean


@frozen()
class UnitConstants:
    """How many units have a value that follows from the means of groups, in columns that are constant in units.

    Attributes
    ----------
    columns : tuple
        The masked columns of numbers or dates that have one value for all rows of a unit.
    n_units : int
    solved : int or None
        Units whose value in one of these columns follows, by an intruder who knows which rows are in which group. None
        where that was not computed, as the values of more than 50 000 units depend on each other.
    converged : bool
        Whether the solver came to its end; otherwise more units than `solved` may follow.

    Examples
    --------
    >>> from microagg.evaluate.constants import UnitConstants
    >>> UnitConstants(("birth",), n_units=200, solved=50).percent
    25.0
    """

    columns: tuple[Any, ...]
    n_units: int
    solved: int | None
    converged: bool = True

    @property
    def percent(self) -> float | None:
        """The share of units whose value follows; None where that was not computed, or no column is constant."""
        return None if self.solved is None or not self.columns else 100.0 * self.solved / self.n_units


class Seen(NamedTuple):
    """A release as an intruder sees it: its masked columns, and the records that share their released values."""

    masked: Table
    classes: Labels


def measure_constants(
    original: Table,
    releases: Sequence[Seen],
    units: Labels,
    weights: Values | None = None,
    progress: Progress | None = None,
) -> UnitConstants:
    """Count the units with a value that follows from the means of one release, or of several together.

    `units` (n,) are numbered from 0. With `weights` (n,) means may be weighted: whichever fits better is taken.
    """
    n_units = int(units.max()) + 1
    constant = [column for column in original if isinstance(column.kind, Number) and _is_shared(column, units)]
    constant = constant if n_units < units.size else []
    names = tuple(column.name for column in constant)
    solved, converged, known = np.zeros(n_units, dtype=bool), True, dict[bytes, NDArray[np.bool_]]()
    for number, column in enumerate(constant):
        sums = _equations(column, releases, units, weights)
        key = b"".join(part.tobytes() for part in (sums.indptr, sums.indices, sums.data))
        if key not in known:  # most columns have the same equations
            try:
                known[key], ended = solved_unknowns(sums, stage(progress, number, len(constant)), _MOST)
            except TooManyUnknowns:
                return UnitConstants(names, n_units, None, converged=False)
            converged &= ended
        solved |= known[key]
    return UnitConstants(names, n_units, int(np.count_nonzero(solved)), converged)


def _is_shared(column: Coded, units: Labels) -> bool:
    return not differing_within(codes_of(column.cells.classes), units)


def _equations(column: Coded, releases: Sequence[Seen], units: Labels, weights: Values | None) -> sparse.csr_matrix:
    """Return what groups show of a column: a row for each mean, with what each unit counts in it, (means, units)."""
    known, n_units, found = column.cells.present, int(units.max()) + 1, []
    spread = float(column.cells.known.std()) if known.any() else 0.0
    for masked, classes in releases:
        after = next((one for one in masked if one.name == column.name), None)
        if after is None or not spread:
            continue
        labels = classes
        if _is_shared(after, units):  # masked once a unit: groups are of whole units
            graph = sparse.coo_matrix((np.ones(units.size), (units, classes)), shape=(n_units, int(classes.max()) + 1))
            labels = connected_components(sparse.bmat([[None, graph], [graph.T, None]]))[1][:n_units][units]
        both = known & after.cells.present
        own, of, values, shown = codes_of(labels[both]), units[both], column.values[both], after.values[both]
        step = 0.5 * 10.0 ** Steps.of(np.unique(shown)).power(lambda: spread)
        tried = []
        for counts in [np.ones(own.size), *([] if weights is None else [weights[both]])]:
            total = np.bincount(own, weights=counts)
            mean = np.bincount(own, weights=counts * values) / np.where(total > 0.0, total, 1.0)
            off = np.abs(mean[own] - shown) > max(_AGREES * spread, step)
            agrees = np.bincount(own, weights=off) == 0.0
            tried.append((int(np.count_nonzero(agrees)), agrees, counts))
        _, agrees, counts = max(tried, key=lambda one: one[0])
        rows = agrees[own]
        shape = (agrees.size, n_units)
        found.append(sparse.csr_matrix((counts[rows], (own[rows], of[rows])), shape=shape)[np.flatnonzero(agrees)])
    sums = sparse.vstack(found, format="csr") if found else sparse.csr_matrix((0, n_units))
    lengths = np.sqrt(np.asarray(sums.multiply(sums).sum(axis=1))).ravel()
    return sparse.diags(1.0 / np.where(lengths > 0.0, lengths, 1.0)) @ sums  # whatever counts weigh
