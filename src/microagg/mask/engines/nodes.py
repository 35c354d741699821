"""The tree of cuts on one machine: records stay in the order of their rows, and each knows its node."""

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.kernels.blocking import gather_keys, places_of, see_extremes, send_to_parts
from microagg.base.frozen import frozen
from microagg.columns.kinds import Cells
from microagg.mask.engines.blocks import Node
from microagg.mask.engines.cuts import Cut, Extremes, Labels, Tree, grow
from microagg.mask.engines.plan import Known, Plan
from microagg.mask.engines.store import Scratch, Store, let_go
from microagg.mask.engines.units import Keys
from microagg.work import in_parallel


def grow_here(
    plan: Plan, known: Known, store: Store, room: Scratch, nodes: NDArray[np.int32], most: int, n_jobs: int
) -> Tree:
    """Cut the nodes of all records, by the cells in scratch, which `nodes` then has the numbers of."""
    n_nodes = int(nodes.max()) + 1
    sizes = sum(np.bincount(nodes[rows], minlength=n_nodes) for rows in store.chunks())
    entries = np.empty((0, 0))

    def place(rows: slice, check: Callable[[], None]) -> None:
        check()
        entries[:, rows] = known.space.place(plan.table(store.all_cells(rows))).records.entries
        let_go(entries)
        store.let_go()

    def look(_: int, slots: Labels) -> Extremes | None:
        nonlocal entries
        n_open = int(slots.max(initial=-1)) + 1
        if n_open == 0:
            return None
        if not entries.size:
            entries = room.array((known.space.n_entries, store.n_records), np.float64)
            in_parallel(place, list(store.chunks()), n_jobs)

        def see(rows: slice, check: Callable[[], None]) -> Extremes:
            check()
            found = Extremes.none(entries.shape[0], n_open)
            see_extremes(entries, rows.start, rows.stop, nodes[rows], slots, *found)
            let_go(entries)
            return found

        return Extremes.joined(in_parallel(see, list(store.chunks()), n_jobs))

    def cut(_: int, how: Cut) -> None:
        keys, taken = _select(entries, store, nodes, how, n_jobs)
        for rows in store.chunks():
            send_to_parts(entries, rows.start, rows.stop, how.slots, how.columns, keys, how.uppers, taken, nodes[rows])
            let_go(entries)

    return grow(np.asarray(sizes).tolist(), plan.k, plan.max_block, most, known.space.cut_scales, look, cut)


def _select(
    entries: NDArray[np.float64], store: Store, nodes: NDArray[np.int32], how: Cut, n_jobs: int
) -> tuple[NDArray[np.float64], Labels]:
    """Return for each slot the key of the last record of its lower part, and how many with just that go there."""
    sizes, ends = how.sizes, np.cumsum(how.sizes)
    keys, places = np.empty(int(ends[-1])), ends - sizes
    for rows in store.chunks():
        gather_keys(entries, rows.start, rows.stop, nodes[rows], how.slots, how.columns, places, keys)
        let_go(entries)

    def find(slot: int, check: Callable[[], None]) -> tuple[float, int]:
        check()
        own, last = keys[ends[slot] - sizes[slot] : ends[slot]], int(how.lower[slot]) - 1
        own.partition(last)
        return own[last], last + 1 - int(np.count_nonzero(own[: last + 1] < own[last]))

    found = in_parallel(find, range(ends.size), n_jobs)
    return np.array([key for key, _ in found]), np.array([taken for _, taken in found], dtype=np.int64)


class Layout:
    """Where records lie when the nodes of a file follow each other, each in the order of its rows."""

    def __init__(self, tree: Tree, nodes: NDArray[np.int32]) -> None:
        self._nodes = nodes
        self.starts = np.concatenate([[0], np.cumsum(tree.sizes)]).astype(np.int64)

    def places(self) -> Callable[[slice], Labels | slice]:
        """Return a function that says where the next rows lie; it must be asked for all of them, in their order."""
        if self.starts.size == 2:
            return lambda rows: rows
        following = self.starts[:-1].copy()

        def find(rows: slice) -> Labels:
            places = np.empty(rows.stop - rows.start, dtype=np.int64)
            places_of(self._nodes[rows], following, places)
            return places

        return find


@frozen()
class Laid:
    """The records of a file in scratch, node by node.

    Attributes
    ----------
    store : Store
        The cells.
    layout : Layout
    tree : Tree
    bounds : list of int
        The first node of each region, which one thread masks, and the end.
    keys : array or None
        Which columns name units.
    rows_in_file, leads : array
        The row of each record, and the lowest row of its group, or room for it.
    labels : array or None
        Room for the record's group within the region, where groups choose in turn or are laid out again.
    again : bool
        Whether this is a second layout, of records that are in groups.
    """

    store: Store
    layout: Layout
    tree: Tree
    bounds: list[int]
    keys: Keys | None
    rows_in_file: Labels
    leads: Labels
    labels: NDArray[np.int32] | None
    again: bool

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
        return slice(int(self.layout.starts[first]), int(self.layout.starts[last]))

    def cells(self, region: int) -> list[Cells]:
        """Return the cells of a region."""
        return self.store.all_cells(self.rows(region))

    def nodes(self, region: int) -> Iterator[Node]:
        """Return the nodes of a region, and where each lies in it."""
        first, last = self.bounds[region], self.bounds[region + 1]
        starts = self.layout.starts[first : last + 1] - self.layout.starts[first]
        told = zip(pairwise(starts), self.tree.blocks[first:last], self.tree.pieces[first:last], strict=True)
        for (begin, end), blocks, piece in told:
            yield Node(np.arange(begin, end), blocks, piece)


def lay(
    plan: Plan,
    store: Store,
    keys: Keys | None,
    room: Scratch,
    tree: Tree,
    most: int,
    nodes: NDArray[np.int32],
    led: Labels | None = None,
) -> Laid:
    """Lay the records of a file node by node; where there is one node, they stay in their order.

    In a second layout, `led` has the lowest row of the group of each row in the file.
    """
    n, layout, bounds = store.n_records, Layout(tree, nodes), tree.regions(most)
    in_file, leads = room.array((n,), np.int64), room.array((n,), np.int64)
    labels = room.array((n,), np.int32) if plan.by_turns or plan.refined else None
    moved, units = store, keys
    if len(tree.sizes) > 1:
        moved = Store(room, store.n_columns, n)
        units = None if keys is None else room.array((n,), np.uint64)
    places = layout.places()
    for rows in store.chunks():
        own = places(rows)
        in_file[own] = np.arange(rows.start, rows.stop)
        if led is not None:
            leads[own] = led[rows]
            let_go(leads)
            let_go(led)
        if units is not None and keys is not None and units is not keys:
            units[own] = keys[rows]
        for j in range(store.n_columns) if moved is not store else ():
            moved.put(j, own, store.cells(j, rows))
        moved.let_go()
        let_go(in_file)
    return Laid(moved, layout, tree, bounds, units, in_file, leads, labels, again=led is not None)
