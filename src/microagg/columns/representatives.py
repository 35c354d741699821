"""Groups to representatives, kind by kind."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.kernels.sums import exact_digits
from microagg.algorithms.scores import MovedTotal
from microagg.columns.kinds import Cells, Facts, Rule
from microagg.columns.table import Coded, Table
from microagg.columns.weights import Labels, Members, Weights
from microagg.work import ALONE, Work


class Represented(NamedTuple):
    """What groups release.

    Attributes
    ----------
    groups : Table
        A record a group.
    records : Table
        The same for each record.
    cut : list of arrays of bool
        Of each column, the groups in which one member, or unit, has more than 0.8 of the weight, which was cut to that
        share.
    moved : mapping
        Of quantities, how far the weighted total moved by that.
    """

    groups: Table
    records: Table
    cut: list[NDArray[np.bool_]]
    moved: dict[Any, MovedTotal]

    @property
    def dominated(self) -> int:
        """The groups in which a weight was cut in any column; of columns with groups of their own, the most."""
        if len({one.size for one in self.cut}) == 1:
            return int(np.count_nonzero(np.logical_or.reduce(self.cut)))
        return max(int(np.count_nonzero(one)) for one in self.cut)


class Released(NamedTuple):
    """What the groups release of one column; in which groups a weight was cut, and how far that moved the total."""

    cells: Cells
    cut: NDArray[np.bool_]
    moved: MovedTotal | None


def represent(
    table: Table,
    labels: Labels,
    rule: Rule,
    work: Work = ALONE,
    weights: Weights | None = None,
) -> Represented:
    """Return what each group releases.

    `labels` are numbered from 0; shape (n,) or, where each column has groups of its own, (n, d).
    """

    def one(j: int, _: Callable[[], None]) -> tuple[Labels, Released]:
        own = labels if labels.ndim == 1 else np.ascontiguousarray(labels[:, j])
        return own, released_by(table.columns[j], own, int(own.max()) + 1, rule, weights)

    found = work.each(one, range(len(table)))
    columns = [(column, own, part) for column, (own, part) in zip(table, found, strict=True)]
    return Represented(
        Table(tuple(column.with_cells(part.cells) for column, _, part in columns)),
        Table(tuple(column.with_cells(part.cells.take(own)) for column, own, part in columns)),
        [part.cut for _, _, part in columns],
        {column.name: part.moved for column, _, part in columns if part.moved is not None},
    )


def released_by(
    column: Coded, labels: Labels, n_groups: int, rule: Rule, weights: Weights | None, facts: Facts | None = None
) -> Released:
    """Return what each group releases of a column; `facts` are those of the whole one, where it is a part."""
    kind = column.kind
    facts = kind.count(column.cells, rule.units) if facts is None else facts
    cells = column.cells.with_common_states(facts.rare_states(rule.fewest))
    present = None if cells.states is None or not kind.needs_value else cells.present
    members = None if weights is None else Members.of(weights, labels, n_groups, present)
    rule = replace(rule.of_column(column.name), facts=facts.with_common_states(rule.fewest), members=members)
    found = kind.representatives(cells, labels, n_groups, rule)
    if weights is None or members is None:
        return Released(found, np.zeros(n_groups, dtype=bool), None)
    cut = members.cut & found.present
    return Released(found, cut, _moved(cells, found, labels, cut, weights) if kind.is_quantity else None)


def _moved(cells: Cells, found: Cells, labels: Labels, cut: NDArray[np.bool_], weights: Weights) -> MovedTotal:
    """Return how far a weighted total moved where weights were cut."""
    present = cells.present
    # As for rounding, only the share is reported.
    power = -100 if np.abs(cells.known).max(initial=0.0) > 2.0**900 else 0
    known, own = np.ldexp(weights.values[present], power) * cells.known, labels[present]
    changed = cut[own]
    fresh = np.ldexp(weights.values[present], power)[changed] * found.values[own[changed]]
    return MovedTotal(exact_digits(known), exact_digits(fresh - known[changed]))


def released_values(
    columns: NDArray[np.float64], labels: Labels, how: str = "mean", n_jobs: int = 1
) -> NDArray[np.float64]:
    """Replace each number of `columns` (d, n) by the mean or median of its group."""
    released = represent(Table.of_numbers(range(len(columns)), columns), labels, Rule(2, how), Work(n_jobs)).records
    return released.matrix()
