"""What workers do with regions of a file: sets of whole nodes of the tree of cuts that one worker masks.

As in `_tasks`, a task gets a folder and a number.
"""

from functools import reduce
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.equivalence import first_of_each
from microagg.algorithms.kernels.alike import NO_DIGESTS, in_order, with_units
from microagg.columns.kinds import Cells
from microagg.files.batches import parquet_writer
from microagg.files.promise import digests_written
from microagg.files.sources import read_back
from microagg.files.stores import Where
from microagg.mask.engines.blocks import (
    Node,
    fill_block,
    finish_weights,
    mask_nodes,
    put,
    totals_found,
    turns_of,
    used_by,
)
from microagg.mask.engines.districts import group_nodes, mask_districts
from microagg.mask.engines.figures import Lost, lost_between
from microagg.mask.engines.folder import (
    Folder,
    keep,
    keep_matrix,
    keep_object,
    kept,
    matrix_of,
    object_in,
    object_of,
    part_of,
    several,
)
from microagg.mask.engines.plan import Known, Plan, released, released_schema
from microagg.mask.engines.sample import Drawn
from microagg.mask.engines.tasks import cells_in, keep_cells, stored_tables_of
from microagg.mask.engines.units import units_of

FIRST, SECOND = "first", "second"
"""The names under which the layouts of a file lie: by the tree of cuts, and by districts."""


class Settled(NamedTuple):
    """What is known when the cuts are done."""

    plan: Plan
    known: Known
    with_dictionaries: list[int]  # columns, by number
    across: bool  # whether groups are refined across the borders of blocks, and laid out a second time for that

    @property
    def layout(self) -> str:
        """The name of the layout that is masked."""
        return SECOND if self.across else FIRST

    @property
    def filled(self) -> str:
        """The name under which masked cells lie when groups have chosen in turn."""
        return "filled" if self.plan.by_turns or self.with_dictionaries else "masked"

    @property
    def masked(self) -> str:
        """The name under which masked cells lie when they are all in place."""
        return "finished" if self.plan.weighing.by_group else self.filled


def scatter_part(folder: Folder, part: int, level: int) -> None:
    """Lay this part's records node by node, in the order of rows within each."""
    _scatter(folder, FIRST, part, matrix_of(folder, f"nodes-{level}-{part}"))


def scatter_again(folder: Folder, part: int) -> None:
    """Lay this part's records by districts, and return the lowest row of each one's group."""
    n = object_of(folder, "work").sizes[part]
    nodes, leads = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    places = _places_of(folder, part, FIRST)

    def fill(number: int) -> None:
        region, own, rows = places[number]
        groups = part_of(folder, f"grouped-{region}", own)
        nodes[rows] = matrix_of(folder, f"district-{region}")[groups]
        leads[rows] = matrix_of(folder, f"led-{region}")[groups]

    several(folder, fill, range(len(places)))
    order = _scatter(folder, SECOND, part, nodes)
    keep_matrix(folder, f"leads-{part}", leads[order])


def _scatter(folder: Folder, layout: str, part: int, nodes: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Lay this part's records node by node; give their order."""
    order = np.argsort(nodes, kind="stable")
    n_nodes = kept(folder, f"{layout}-regions")["sizes"].size
    keep_cells(folder, f"{layout}-scattered", part, [own.take(order) for own in cells_in(folder, "columns", part)])
    if object_of(folder, "settled").plan.unit is not None:
        keep_matrix(folder, f"{layout}-scattered-units-{part}", matrix_of(folder, f"units-{part}")[order])
    keep_matrix(folder, f"{layout}-order-{part}", order)
    ends = np.concatenate([[0], np.cumsum(np.bincount(nodes, minlength=n_nodes))])
    keep_matrix(folder, f"{layout}-ends-{part}", ends)
    return order


class _Gathered(NamedTuple):
    """The records of a region: their cells, rows in the file and units, its nodes, and the leads of groups, if any."""

    cells: list[Cells]
    rows: NDArray[np.int64]
    keys: NDArray[np.uint64] | None
    nodes: list[Node]
    leads: NDArray[np.int64]


def group_region(folder: Folder, region: int) -> None:
    """Cut the nodes of a region into blocks and group them, to refine the groups across the borders of blocks."""
    settled, share = object_of(folder, "settled"), object_of(folder, "share-of-corners")
    cells, rows, keys, nodes, _ = _gathered(folder, FIRST, region)
    labels, moves, corners = group_nodes(settled.plan, settled.known, cells, nodes, keys, lambda: None, lambda _: None)
    keep_matrix(folder, f"grouped-{region}", labels.astype(np.int32))
    keep_matrix(folder, f"led-{region}", rows[first_of_each(labels)])
    keep_object(folder, f"corners-{region}", corners)
    keep_object(folder, f"drawn-corners-{region}", (moves, corners.drawn(share)))


def find_districts(folder: Folder, region: int) -> None:
    """Return the districts of a region's groups, and their sizes."""
    corners = object_in(folder, f"corners-{region}")
    found = object_of(folder, "districts").find(corners)
    keep(folder, f"found-districts-{region}", districts=found, sizes=corners.sizes)


def mask_region(folder: Folder, region: int) -> None:
    """Group the records of a region, or refine their groups once more, and mask all but what groups choose in turn."""
    settled = object_of(folder, "settled")
    plan, known = settled.plan, settled.known
    cells, rows, keys, nodes, leads = _gathered(folder, settled.layout, region)
    if settled.across:
        labels, figures = mask_districts(plan, known, cells, nodes, keys, leads, lambda: None, lambda _: None)
    else:
        labels, figures = mask_nodes(plan, known, cells, nodes, keys, lambda: None, lambda _: None)
    keep_cells(folder, "masked", region, cells)
    keep_object(folder, f"figures-{region}", figures)
    keep_matrix(folder, f"labels-{region}", labels.astype(np.int32))
    keep_matrix(folder, f"lowest-{region}", rows[first_of_each(labels)])
    if keys is not None:
        keep_matrix(folder, f"masked-units-{region}", keys)
    weights = known.representing(plan, cells, None if keys is None else units_of(plan, keys))
    for j in plan.by_turns if plan.rule.nominal != "draw" else ():
        keep_object(folder, f"turns-{j}-{region}", turns_of(plan, known, j, cells[j], labels, rows, weights))


def _gathered(folder: Folder, layout: str, region: int) -> _Gathered:
    """Bring the records of a region together, part by part."""
    work, regions = object_of(folder, "work"), kept(folder, f"{layout}-regions")
    first, last = int(regions["bounds"][region]), int(regions["bounds"][region + 1])
    starts = np.cumsum([0, *work.sizes])

    def gathered(part: int) -> tuple[Any, ...]:
        ends = matrix_of(folder, f"{layout}-ends-{part}")[first : last + 1]
        own = slice(int(ends[0]), int(ends[-1]))
        keys, leads = np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64)
        if work.plan.unit is not None:
            keys = part_of(folder, f"{layout}-scattered-units-{part}", own)
        if layout == SECOND:
            leads = part_of(folder, f"leads-{part}", own)
        rows = starts[part] + part_of(folder, f"{layout}-order-{part}", own)
        nodes = np.repeat(np.arange(last - first), np.diff(ends))
        return cells_in(folder, f"{layout}-scattered", part, own), rows, keys, nodes, leads

    cells, *others = zip(*several(folder, gathered, range(len(work.sizes))), strict=True)
    whole = [Cells.joined(own) for own in zip(*cells, strict=True)]
    rows, keys, numbers, leads = map(np.concatenate, others)
    order = np.argsort(numbers, kind="stable")
    bounds = np.concatenate([[0], np.cumsum(regions["sizes"][first:last])])
    own = [order[begin:end] for begin, end in pairwise(bounds)]
    nodes = map(Node, own, regions["blocks"][first:last].tolist(), regions["pieces"][first:last].tolist())
    return _Gathered(whole, rows, None if work.plan.unit is None else keys, list(nodes), leads)


def fill_region(folder: Folder, region: int) -> None:
    """Put in place what groups have chosen in turn, or what was drawn; return which categories are released."""
    settled = object_of(folder, "settled")
    plan, known = settled.plan, settled.known
    cells = cells_in(folder, "masked", region)
    labels = matrix_of(folder, f"labels-{region}").astype(np.int64)
    units = None if plan.unit is None else units_of(plan, matrix_of(folder, f"masked-units-{region}"))
    weights = known.representing(plan, cells, units)
    for j in plan.by_turns:
        cells[j] = fill_block(plan, known, j, cells[j], labels, matrix_of(folder, f"chosen-{j}-{region}"), weights)
    keep_cells(folder, "filled", region, cells)
    keep(folder, f"used-{region}", **{str(j): used_by(plan, j, cells[j]) for j in settled.with_dictionaries})
    if plan.weighing.calibrate:
        keep_object(folder, f"totals-{region}", totals_found(plan, known, cells))


def finish_region(folder: Folder, region: int) -> None:
    """Calibrate the weights of groups, where that is asked for, and round them; leave what that did."""
    settled, margins = object_of(folder, "settled"), object_of(folder, "margins")
    plan, cells = settled.plan, cells_in(folder, settled.filled, region)
    values, finished = finish_weights(plan, settled.known, cells, margins)
    cells[len(plan.names) + len(plan.weighing.used) :] = map(Cells, values)
    keep_cells(folder, "finished", region, cells)
    keep_object(folder, f"finished-weights-{region}", finished)


def write_part(folder: Folder, part: int) -> None:
    """Write the released columns of a part, row group by row group; leave the digests of what was written."""
    work, settled = object_of(folder, "work"), object_of(folder, "settled")
    plan, known = settled.plan, object_of(folder, "released")
    masked = _masked_cells(folder, part, work.sizes[part], settled)

    def count(fresh: Where) -> None:
        promise = plan.promise
        tables = read_back(fresh, target, schema, promise.columns)
        assert work.key is not None
        found = digests_written(promise, tables, work.sizes[part], target.name, work.key)
        digests = np.concatenate([NO_DIGESTS, *(one for (one,) in found)], axis=1)
        if plan.unit is not None:
            digests = with_units(digests, matrix_of(folder, f"units-{part}"))
        keep_matrix(folder, f"digests-{part}", in_order(digests))

    target, schema = work.target / work.names[part], released_schema(plan, known, work.file.schema)
    lost, drawn = [], []
    leads, share, first = _leads(folder, part, work.sizes[part]), object_of(folder, "share"), sum(work.sizes[:part])
    check = None if work.key is None else count
    with parquet_writer(target, schema, work.target.parent, check) as writer:
        start = 0
        for stored in stored_tables_of(work, part):
            table = work.file.typed(stored)
            stop = start + table.num_rows
            cells = [own.take(np.arange(start, stop)) for own in masked]
            fresh = released(plan, known, table, cells)
            if table.num_rows:
                drawn.append(Drawn.of(first + start, leads[start:stop], share, stored, fresh))
                lost.append(lost_between(known, plan.coded(table), plan.coded(fresh), plan.weights(cells)))
            writer.write_table(fresh, row_group_size=max(1, table.num_rows))
            start = stop
    keep_object(folder, f"lost-{part}", reduce(Lost.join, lost))
    keep_object(folder, f"drawn-{part}", Drawn.joined(drawn))


def _masked_cells(folder: Folder, part: int, n: int, settled: Settled) -> list[Cells]:
    """Bring the masked cells of a part together from all regions, in the order of its rows."""
    cells = [Cells(np.empty(n), np.zeros(n, dtype=np.uint8)) for _ in range(settled.plan.n_stored)]
    places = _places_of(folder, part, settled.layout)

    def fill(number: int) -> None:
        region, own, rows = places[number]
        for place, fresh in zip(cells, cells_in(folder, settled.masked, region, own), strict=True):
            put(place, rows, fresh)

    several(folder, fill, range(len(places)))
    return [own if own.states is not None and own.states.any() else Cells(own.values) for own in cells]


def _leads(folder: Folder, part: int, n: int) -> NDArray[np.int64]:
    """Return the lowest row in the file of each record's group, in the order of a part's rows."""
    leads = np.empty(n, dtype=np.int64)
    places = _places_of(folder, part, object_of(folder, "settled").layout)

    def fill(number: int) -> None:
        region, own, rows = places[number]
        lowest = matrix_of(folder, f"lowest-{region}")
        leads[rows] = lowest[part_of(folder, f"labels-{region}", own)]

    several(folder, fill, range(len(places)))
    return leads


def _places_of(folder: Folder, part: int, layout: str) -> list[tuple[int, slice, NDArray[np.int64]]]:
    """Return the regions of a layout that hold records of a part: where those lie in it, and their rows in the part."""
    bounds = kept(folder, f"{layout}-regions")["bounds"]
    ends = matrix_of(folder, f"{layout}-ends-{part}")[bounds]
    before = kept(folder, f"{layout}-before")["records"][part]  # of earlier parts, in each region
    order = np.array(matrix_of(folder, f"{layout}-order-{part}"))
    found = []
    for region in range(bounds.size - 1):
        begin, end = ends[region], ends[region + 1]
        if begin < end:
            found.append((region, slice(int(before[region]), int(before[region] + end - begin)), order[begin:end]))
    return found
