"""Scratch of one machine: arrays in files without names, which vanish with the process, where records are laid out."""

import mmap
import os
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.blockings import BLOCKINGS
from microagg.algorithms.equivalence import rows_of
from microagg.algorithms.kernels.blocking import places_of
from microagg.algorithms.units import Labels
from microagg.checks import EXACT_INTEGERS
from microagg.columns.embedding import Points
from microagg.columns.kinds import Cells
from microagg.errors import InvalidData, InvalidParameter
from microagg.mask.engines.blocks import Node, Region
from microagg.mask.engines.census import Keys, units_of
from microagg.mask.engines.cuts import CutTree
from microagg.mask.engines.plan import Plan
from microagg.mask.pieces import cut_by, holding_units

_CHUNK = 1 << 18  # records looked at in one go

Rows = NDArray[np.int64] | slice


class Scratch:
    """A folder in which arrays can lie, each in a file of its own that has no name."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._folder = folder

    def array(self, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
        """Return an array of zeros on disk; its room is free again when nobody holds it."""
        try:
            with tempfile.TemporaryFile(dir=self._folder) as file:
                _reserve(file, int(np.prod(shape)) * np.dtype(dtype).itemsize)
                return np.memmap(file, dtype=dtype, mode="r+", shape=shape)
        except OSError:
            raise InvalidParameter(
                "no file can be created in the folder for temporary files. Pass another folder as scratch=."
            ) from None


def let_go(array: NDArray[Any]) -> None:
    """Let pages of a scratch array go that this process has looked at: the system keeps or writes them as it likes."""
    mapped = getattr(array, "_mmap", None)
    if mapped is not None and hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED)


def _reserve(file: Any, size: int) -> None:
    """Take the room on disk at once: a mapped page that finds none would kill the process."""
    try:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)
        else:
            file.truncate(size)
    except OSError:
        raise InvalidData(
            f"there is no space for {size} bytes of temporary files, 8 for each value to mask, weight and "
            "coordinate. Free some space, or pass scratch=."
        ) from None


class Store:
    """The columns to mask, in scratch: numbers or codes, and where something is missing how."""

    def __init__(self, scratch: Scratch, n_columns: int, n_records: int) -> None:
        self.scratch, self.n_columns, self.n_records = scratch, n_columns, n_records
        self._values = scratch.array((n_columns, n_records), np.float64)
        self._states: dict[int, NDArray[np.uint8]] = {}
        self._making = threading.Lock()

    def cells(self, j: int, rows: Rows) -> Cells:
        """Return the cells of some rows."""
        states = self._states.get(j)
        own = None if states is None else np.array(states[rows])
        return Cells(np.array(self._values[j, rows]), own)

    def all_cells(self, rows: Rows) -> list[Cells]:
        """Return the cells of some rows in every column."""
        return [self.cells(j, rows) for j in range(self.n_columns)]

    def put(self, j: int, rows: Rows, cells: Cells) -> None:
        """Store cells in some rows."""
        self._values[j, rows] = cells.values
        if cells.states is not None and j not in self._states:
            with self._making:
                if j not in self._states:
                    self._states[j] = self.scratch.array((self.n_records,), np.uint8)
        if j in self._states:
            self._states[j][rows] = cells.all_states

    def let_go(self) -> None:
        """Keep no pages in this process's memory."""
        for array in (self._values, *list(self._states.values())):
            let_go(array)

    def chunks(self) -> Iterator[slice]:
        """Return the rows a part at a time; what was looked at of the part before is let go."""
        for start in range(0, self.n_records, _CHUNK):
            yield slice(start, min(start + _CHUNK, self.n_records))
            self.let_go()


def cut_pieces(
    plan: Plan, placed: Iterable[Points], pieces: Labels, keys: Keys | None, room: Scratch, n_jobs: int
) -> tuple[CutTree, NDArray[np.int32]]:
    """Cut each piece of a file into blocks in the way that the recipe names, as `protect` does.

    Coordinates lie in scratch. What is held in memory is a few numbers for each record.

    Parameters
    ----------
    placed : iterable of Points
        All records, part by part.
    pieces : array of shape (n,)
        Which records may be in one block.
    keys : array of shape (n,), optional
        Which unit each is of.

    Returns
    -------
    CutTree
        A node for each block.
    array of shape (n,)
        The node of each record.
    """
    choice, most, start = plan.recipe.blocks, min(plan.max_block, EXACT_INTEGERS), 0
    columns = np.empty((0, 0))
    for points in placed:
        own = points.coordinates[cut_by(choice, points, plan.names)]
        if not start:
            columns = room.array((own.shape[0], pieces.size), np.float64)
        columns[:, start : start + own.shape[1]] = own
        start += own.shape[1]
        let_go(columns)
    nodes, sizes, pieces_of_nodes = np.empty(pieces.size, dtype=np.int32), list[int](), list[int]()
    for piece, rows in enumerate(rows_of(pieces)):
        part = columns
        if rows.size < pieces.size:
            part = room.array((columns.shape[0], rows.size), np.float64)
            for own, column in zip(part, columns, strict=True):
                own[:] = column[rows]
        blocks = rows_of(BLOCKINGS[choice.by](np.asarray(part), most, plan.k, n_jobs=n_jobs, **choice.settings))
        units = None if keys is None else units_of(plan, keys[rows])
        for block in blocks if units is None else holding_units(blocks, plan.k, units):
            nodes[rows[block]] = len(sizes)
            sizes.append(block.size)
            pieces_of_nodes.append(piece)
    return CutTree(sizes, [1] * len(sizes), 0, pieces_of_nodes), nodes


class Laid:
    """The records of a file in scratch, node by node, each in the order of its rows; of one node they stay in place.

    Attributes
    ----------
    store : Store
        The cells.
    keys : array or None
        Which columns name units.
    bounds : list of int
        The first node of each region, which one thread masks, and the end.
    rows_in_file, leads : array
        The row of each record, and the lowest row of its group, or room for it.
    labels : array or None
        Room for the record's group within the region, where groups choose in turn or are laid out again.
    again : bool
        Whether this is a second layout, of records that are in groups: `led` has the lowest row of the group of each
        row in the file.
    """

    def __init__(
        self,
        plan: Plan,
        store: Store,
        keys: Keys | None,
        nodes: NDArray[np.int32],
        tree: CutTree,
        most: int,
        led: Labels | None = None,
    ) -> None:
        n, room = store.n_records, store.scratch
        self.tree, self.bounds, self.again = tree, tree.regions(most), led is not None
        self._node_of, self._starts = nodes, np.concatenate([[0], np.cumsum(tree.sizes)]).astype(np.int64)
        self.rows_in_file, self.leads = room.array((n,), np.int64), room.array((n,), np.int64)
        self.labels = room.array((n,), np.int32) if plan.by_turns or plan.refined else None
        self.store, self.keys = store, keys
        if len(tree.sizes) > 1:
            self.store = Store(room, store.n_columns, n)
            self.keys = None if keys is None else room.array((n,), np.uint64)
        places = self.places()
        for rows in store.chunks():
            own = places(rows)
            self.rows_in_file[own] = np.arange(rows.start, rows.stop)
            if led is not None:
                self.leads[own] = led[rows]
                let_go(led)
            if self.keys is not None and keys is not None and self.keys is not keys:
                self.keys[own] = keys[rows]
            for j in range(store.n_columns) if self.store is not store else ():
                self.store.put(j, own, store.cells(j, rows))
            self.let_go()

    def places(self) -> Callable[[slice], Labels | slice]:
        """Return a function that says where the next rows lie; it must be asked for all of them, in their order."""
        if self._starts.size == 2:
            return lambda rows: rows
        following = self._starts[:-1].copy()

        def find(rows: slice) -> Labels:
            places = np.empty(rows.stop - rows.start, dtype=np.int64)
            places_of(self._node_of[rows], following, places)
            return places

        return find

    def let_go(self) -> None:
        """Keep no pages in this process's memory."""
        self.store.let_go()
        let_go(self.rows_in_file)
        let_go(self.leads)

    @property
    def n_regions(self) -> int:
        """How many regions there are."""
        return len(self.bounds) - 1

    def rows(self, region: int) -> slice:
        """Return where the records of a region lie."""
        first, last = self.bounds[region], self.bounds[region + 1]
        return slice(int(self._starts[first]), int(self._starts[last]))

    def region(self, number: int) -> Region:
        """Return the records of a region; a copy of their cells."""
        own = self.rows(number)
        leads = np.array(self.leads[own]) if self.again else None
        keys = None if self.keys is None else self.keys[own]
        return Region(self.store.all_cells(own), self.rows_in_file[own], keys, self._nodes(number), leads)

    def _nodes(self, region: int) -> Iterator[Node]:
        first, last = self.bounds[region], self.bounds[region + 1]
        starts = self._starts[first : last + 1] - self._starts[first]
        told = zip(pairwise(starts), self.tree.blocks[first:last], self.tree.pieces[first:last], strict=True)
        for (begin, end), blocks, piece in told:
            yield Node(np.arange(begin, end), blocks, piece)
