"""Records as points: each column gets a block of coordinates, and squared distances add up over the columns."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from microagg.checks import check_option
from microagg.parallel import in_parallel
from microagg.table import Table

SCALES = ("standard", "range", "none")


@dataclass(frozen=True, eq=False)
class Points:
    """Records in space.

    Attributes
    ----------
    coordinates : array of shape (D, n)
    owners : array of shape (D,)
        The column, by number, that each coordinate belongs to.
    """

    coordinates: NDArray[np.float64]
    owners: NDArray[np.int64]

    def of_columns(self, columns: list[int]) -> NDArray[np.float64]:
        """Give the coordinates of some columns."""
        wanted = np.isin(self.owners, columns)
        return self.coordinates if wanted.all() else self.coordinates[wanted]


def embed(table: Table, scale: str = "standard", spike: float = 1.0, n_jobs: int = 1) -> Points:
    """Place the records of a table in space, each column by constants of the whole file."""
    return embed_both(table, table, scale, spike, n_jobs)[0]


def embed_both(
    original: Table, other: Table, scale: str = "standard", spike: float = 1.0, n_jobs: int = 1
) -> tuple[Points, Points]:
    """Place the records of two tables in one space: both by the constants of the original."""
    check_option("scale", scale, SCALES)
    blocks = in_parallel(
        lambda column, _: column.kind.block(column.cells, scale, column.importance, spike), original.columns, n_jobs
    )
    ends = np.cumsum([block.width for block in blocks])
    owners = np.repeat(np.arange(len(blocks)), [block.width for block in blocks])

    def placed(table: Table) -> Points:
        coordinates = np.zeros((int(ends[-1]), table.n_records))

        def place(j: int, check: Callable[[], None]) -> None:
            check()
            blocks[j].place(table.columns[j].cells, coordinates[ends[j] - blocks[j].width : ends[j]])

        in_parallel(place, range(len(blocks)), n_jobs)
        return Points(coordinates, owners)

    before = placed(original)
    return before, before if other is original else placed(other)
