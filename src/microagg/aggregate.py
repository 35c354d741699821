"""From groups to released values: every member of a group gets the same."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from microagg.checks import check_option
from microagg.kinds import Rule
from microagg.parallel import in_parallel
from microagg.table import Coded, Table

AGGREGATES = ("mean", "median")


def represent(table: Table, labels: NDArray[np.int64], rule: Rule, n_jobs: int = 1) -> tuple[Table, Table]:
    """Give what each group releases, a record a group, and the same for each record.

    `labels` are numbered from 0; shape (n,) or, where each column has groups of its own, (n, d).
    """
    check_option("aggregate", rule.aggregate, AGGREGATES)

    def one(j: int, _: Callable[[], None]) -> tuple[Coded, Coded]:
        column = table.columns[j]
        own = labels if labels.ndim == 1 else np.ascontiguousarray(labels[:, j])
        of_groups = column.kind.representatives(column.cells, own, int(own.max()) + 1, rule.of_column(column.name))
        return column.with_cells(of_groups), column.with_cells(of_groups.take(own))

    found = in_parallel(one, range(len(table)), n_jobs)
    return Table(tuple(groups for groups, _ in found)), Table(tuple(records for _, records in found))


def released_values(
    columns: NDArray[np.float64], labels: NDArray[np.int64], how: str = "mean", n_jobs: int = 1
) -> NDArray[np.float64]:
    """Replace each number of `columns` (d, n) by the mean or median of its group."""
    released = represent(Table.of_numbers(range(len(columns)), columns), labels, Rule(2, how), n_jobs)[1]
    return released.matrix()
