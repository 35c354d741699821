"""Records as points: each column gets a block of coordinates, and squared distances add up over the columns."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from microagg._kernels.records import Records, coordinates
from microagg.checks import check_option
from microagg.kinds import Block
from microagg.parallel import in_parallel
from microagg.table import Table

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
    entry_owners: NDArray[np.int64]

    @cached_property
    def coordinates(self) -> NDArray[np.float64]:
        """All coordinates, (D, n): made when they are first asked for."""
        return coordinates(self.records)

    @cached_property
    def owners(self) -> NDArray[np.int64]:
        """The column, by number, that each coordinate belongs to, (D,)."""
        widths = np.ones(self.entry_owners.size, dtype=np.int64)
        widths[self.records.starts[0] :] = np.diff(self.records.starts)
        return np.repeat(self.entry_owners, widths)


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
    before = _placed(original, blocks, n_jobs)
    return before, before if other is original else _placed(other, blocks, n_jobs)


def _placed(table: Table, blocks: list[Block], n_jobs: int) -> Points:
    """Place the records of a table by its columns' blocks: those of numbers first, then those of codes."""
    order = sorted(range(len(blocks)), key=lambda j: bool(blocks[j].corners))
    padded = all(block.corners for block in blocks)  # records have at least one number
    widths = [blocks[j].width for j in order]
    ends = np.cumsum(widths) + padded
    entries = np.zeros((int(ends[-1]), table.n_records))

    def place(turn: int, check: Callable[[], None]) -> None:
        check()
        j = order[turn]
        blocks[j].place(table.columns[j].cells, entries[ends[turn] - widths[turn] : ends[turn]])

    in_parallel(place, range(len(order)), n_jobs)
    corners = [one for j in order for one in blocks[j].corners]
    starts = np.cumsum([entries.shape[0] - len(corners), *(one.categories for one in corners)], dtype=np.int64)
    owners = np.repeat(order, widths)
    return Points(
        Records(entries, np.array([one.height for one in corners], dtype=np.float64), starts),
        np.concatenate([[-1], owners]) if padded else owners,
    )
