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

from microagg.algorithms.equivalence import codes_of
from microagg.base.frozen import frozen
from microagg.columns.embedding import differing_within, is_constant_within
from microagg.columns.kinds import Number
from microagg.columns.rounding import Steps
from microagg.columns.table import Coded, Table
from microagg.columns.weights import Labels
from microagg.measures.joint import TooManyUnknowns, solved_unknowns
from microagg.work import Progress, stage

Values = NDArray[np.float64]

_MOST = 50_000  # units that are solved together
_AGREES = 0.05  # standard deviations: a released value so near to the mean of its records counts as that mean


@frozen()
class UnitConstants:
    """How many units have a value that follows from the means of groups, in columns that are constant in units.

    Attributes
    ----------
    columns : tuple
        The masked columns of numbers or dates that have one value for all rows of a unit, in 95 % of the units at
        least.
    n_units : int
    solved : int or None
        Units whose value in one of these columns follows, by an intruder who knows which rows are in which group. None
        where that was not computed, as the values of more than 50 000 units depend on each other.
    converged : bool
        Whether the solver came to its end; otherwise more units than `solved` may follow.

    Examples
    --------
    >>> from microagg.measures.constants import UnitConstants
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
    constant = [
        column
        for column in original
        if isinstance(column.kind, Number) and is_constant_within(codes_of(column.cells.classes), units)
    ]
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
    n_units, found = int(units.max()) + 1, []
    for masked, classes in releases:
        after = next((one for one in masked if one.name == column.name), None)
        if after is None or not column.cells.present.any():
            continue
        own = codes_of(after.cells.classes)  # where each column has groups of its own
        ways = [_of_whole_units(classes, units)] if _is_shared(after, units) else [classes, own]
        counts = [np.ones(units.size), *([] if weights is None else [weights])]
        tried = [_means(column, after, labels, units, one) for labels in ways for one in counts]
        found.append(max(tried, key=lambda one: one.rows).sums)
    sums = sparse.vstack(found, format="csr") if found else sparse.csr_matrix((0, n_units))
    lengths = np.sqrt(np.asarray(sums.multiply(sums).sum(axis=1))).ravel()
    return sparse.diags(1.0 / np.where(lengths > 0.0, lengths, 1.0)) @ sums  # whatever counts weigh


def _of_whole_units(classes: Labels, units: Labels) -> Labels:
    """Return the groups of units that a column which is masked once a unit was masked by: whose rows share classes."""
    shape = (int(units.max()) + 1, int(classes.max()) + 1)
    graph = sparse.coo_matrix((np.ones(units.size), (units, classes)), shape=shape)
    return np.asarray(connected_components(sparse.bmat([[None, graph], [graph.T, None]]))[1][: shape[0]][units])


class _Means(NamedTuple):
    """Groups whose released value is the mean of their records: how many rows they have, and what is in each."""

    rows: int
    sums: sparse.csr_matrix


def _means(before: Coded, after: Coded, labels: Labels, units: Labels, counts: Values) -> _Means:
    """Find the groups that release the mean of their records, by how much each row counts."""
    known = before.cells.present & after.cells.present
    own, values, shown, counts = codes_of(labels[known]), before.values[known], after.values[known], counts[known]
    if not own.size:
        return _Means(0, sparse.csr_matrix((0, int(units.max()) + 1)))
    spread = float(before.cells.known.std())
    step = 0.5 * 10.0 ** Steps.of(np.unique(shown)).power(lambda: spread)
    total = np.bincount(own, weights=counts)
    mean = np.bincount(own, weights=counts * values) / np.where(total > 0.0, total, 1.0)
    agrees = np.bincount(own, weights=np.abs(mean[own] - shown) > max(_AGREES * spread, step)) == 0.0
    rows, shape = agrees[own], (agrees.size, int(units.max()) + 1)
    sums = sparse.csr_matrix((counts[rows], (own[rows], units[known][rows])), shape=shape)
    return _Means(int(np.count_nonzero(rows)), sums[np.flatnonzero(agrees)])
