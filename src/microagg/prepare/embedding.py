"""Records as points: each column gets a block of coordinates, and squared distances add up over the columns."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from microagg.checks import check_option
from microagg.kinds import Block, Facts
from microagg.parallel import in_parallel
from microagg.table import Coded, Table

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


@dataclass(frozen=True, eq=False)
class Space:
    """Where records lie, by constants of a whole file; `blocks` are those of its columns."""

    blocks: tuple[Block, ...]

    @classmethod
    def of(cls, columns: Sequence[Coded], facts: Sequence[Facts], scale: str, spike: float) -> "Space":
        """Make the space of some columns by what is known of them."""
        check_option("scale", scale, SCALES)
        pairs = zip(columns, facts, strict=True)
        return cls(tuple(column.kind.block(own, scale, column.importance, spike) for column, own in pairs))

    @property
    def widths(self) -> list[int]:
        """The number of coordinates of each column."""
        return [block.width for block in self.blocks]

    @property
    def width(self) -> int:
        """The number of coordinates."""
        return sum(self.widths)

    def place(self, table: Table, n_jobs: int = 1) -> Points:
        """Give the points of records."""
        ends = np.cumsum(self.widths)
        coordinates = np.zeros((self.width, table.n_records))

        def place(j: int, check: Callable[[], None]) -> None:
            check()
            block = self.blocks[j]
            block.place(table.columns[j].cells, coordinates[ends[j] - block.width : ends[j]])

        in_parallel(place, range(len(self.blocks)), n_jobs)
        return Points(coordinates, np.repeat(np.arange(len(self.blocks)), self.widths))


def embed(table: Table, scale: str = "standard", spike: float = 1.0, n_jobs: int = 1) -> Points:
    """Place the records of a table in space, each column by constants of the whole file."""
    return embed_both(table, table, scale, spike, n_jobs)[0]


def embed_both(
    original: Table, other: Table, scale: str = "standard", spike: float = 1.0, n_jobs: int = 1
) -> tuple[Points, Points]:
    """Place the records of two tables in one space: both by the constants of the original."""
    facts = in_parallel(lambda column, _: column.kind.facts(column.cells), original.columns, n_jobs)
    space = Space.of(original.columns, facts, scale, spike)
    before = space.place(original, n_jobs)
    return before, before if other is original else space.place(other, n_jobs)
