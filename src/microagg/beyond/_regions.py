"""What workers do with regions of a file: sets of whole nodes of the tree of cuts that one worker masks.

As in `_tasks`, a task is told a folder and a number.
"""

from functools import reduce
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg._kernels.alike import NO_DIGESTS, in_order, with_units
from microagg.beyond._blocks import (
    factors_for,
    fill_block,
    mask_nodes,
    put,
    totals_found,
    turns_of,
    used_by,
)
from microagg.beyond._figures import Lost, lost_between
from microagg.beyond._folder import Folder, keep, keep_matrix, keep_object, kept, matrix_of, object_of, part_of, several
from microagg.beyond._plan import Known, Plan, released, released_schema
from microagg.beyond._sample import Drawn
from microagg.beyond._tasks import cells_in, keep_cells, stored_tables_of
from microagg.beyond._units import units_of
from microagg.equivalence import first_of_each
from microagg.io.batches import parquet_writer
from microagg.io.promise import digests_written
from microagg.io.read_back import read_back
from microagg.io.stores import Where
from microagg.kinds import Cells
from microagg.weighting import Calibrated


class Settled(NamedTuple):
    """What is known when the cuts are done."""

    plan: Plan
    known: Known
    with_dictionaries: list[int]  # columns, by number

    @property
    def masked(self) -> str:
        """The name under which masked cells lie when they are all in place."""
        if self.plan.weighing.calibrate:
            return "calibrated"
        return "filled" if self.plan.by_turns or self.with_dictionaries else "masked"


def scatter_part(folder: Folder, part: int, level: int) -> None:
    """Lay this part's records node by node, in the order of rows within each."""
    nodes = matrix_of(folder, f"nodes-{level}-{part}")
    order = np.argsort(nodes, kind="stable")
    n_nodes = kept(folder, "regions")["sizes"].size
    keep_cells(folder, "scattered", part, [own.take(order) for own in cells_in(folder, "columns", part)])
    if object_of(folder, "settled").plan.unit is not None:
        keep_matrix(folder, f"scattered-units-{part}", matrix_of(folder, f"units-{part}")[order])
    keep_matrix(folder, f"order-{part}", order)
    keep_matrix(folder, f"ends-{part}", np.concatenate([[0], np.cumsum(np.bincount(nodes, minlength=n_nodes))]))


def mask_region(folder: Folder, region: int) -> None:
    """Cut the nodes of a region into blocks and mask them, but for columns whose groups choose in turn."""
    settled, regions = object_of(folder, "settled"), kept(folder, "regions")
    plan, known = settled.plan, settled.known
    first, last = int(regions["bounds"][region]), int(regions["bounds"][region + 1])
    cells, rows, nodes, keys = _gathered(folder, first, last)
    order = np.argsort(nodes, kind="stable")
    starts = np.concatenate([[0], np.cumsum(regions["sizes"][first:last])])
    own = [order[begin:end] for begin, end in pairwise(starts)]
    wanted = zip(own, regions["blocks"][first:last].tolist(), strict=True)
    units = None if plan.unit is None else keys
    labels, figures = mask_nodes(plan, known, cells, wanted, units, lambda: None, lambda _: None)
    keep_cells(folder, "masked", region, cells)
    keep_object(folder, f"figures-{region}", figures)
    keep_matrix(folder, f"labels-{region}", labels.astype(np.int32))
    keep_matrix(folder, f"lowest-{region}", rows[first_of_each(labels)])
    if plan.unit is not None:
        keep_matrix(folder, f"masked-units-{region}", keys)
    weights = known.representing(plan, cells, None if plan.unit is None else units_of(plan, keys))
    for j in plan.by_turns if plan.rule.nominal != "draw" else ():
        keep_object(folder, f"turns-{j}-{region}", turns_of(plan, known, j, cells[j], labels, rows, weights))


def _gathered(
    folder: Folder, first: int, last: int
) -> tuple[list[Cells], NDArray[np.int64], NDArray[np.int64], NDArray[np.uint64]]:
    """Bring the records of some nodes together, part by part: their cells, rows in the file, nodes and units."""
    work = object_of(folder, "work")
    starts = np.cumsum([0, *work.sizes])

    def gathered(part: int) -> tuple[list[Cells], NDArray[np.int64], NDArray[np.int64], NDArray[np.uint64]]:
        ends = matrix_of(folder, f"ends-{part}")[first : last + 1]
        own = slice(int(ends[0]), int(ends[-1]))
        keys = np.empty(0, dtype=np.uint64)
        if work.plan.unit is not None:
            keys = part_of(folder, f"scattered-units-{part}", own)
        rows = starts[part] + part_of(folder, f"order-{part}", own)
        nodes = np.repeat(np.arange(last - first), np.diff(ends))
        return cells_in(folder, "scattered", part, own), rows, nodes, keys

    cells, rows, nodes, keys = zip(*several(folder, gathered, range(len(work.sizes))), strict=True)
    whole = [Cells.joined(own) for own in zip(*cells, strict=True)]
    return whole, np.concatenate(rows), np.concatenate(nodes), np.concatenate(keys)


def fill_region(folder: Folder, region: int) -> None:
    """Put in place what groups have chosen in turn, or what was drawn; tell which categories are released."""
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


def calibrate_region(folder: Folder, region: int) -> None:
    """Multiply the weights of groups such that totals of categories are kept; tell by what."""
    settled, margins = object_of(folder, "settled"), object_of(folder, "margins")
    plan, known = settled.plan, settled.known
    cells = cells_in(folder, "filled", region)
    factors = factors_for(plan, known, cells, [own.effects for own in margins])
    for j, own in enumerate(factors, len(plan.names) + len(plan.weighing.used)):
        cells[j] = Cells(cells[j].values * own)
    keep_cells(folder, "calibrated", region, cells)
    done = [Calibrated.of(own, one.missed) for own, one in zip(factors, margins, strict=True)]
    keep_object(folder, f"calibration-{region}", done)


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
    places = _places_of(folder, part)

    def fill(number: int) -> None:
        region, own, rows = places[number]
        for place, fresh in zip(cells, cells_in(folder, settled.masked, region, own), strict=True):
            put(place, rows, fresh)

    several(folder, fill, range(len(places)))
    return [own if own.states is not None and own.states.any() else Cells(own.values) for own in cells]


def _leads(folder: Folder, part: int, n: int) -> NDArray[np.int64]:
    """Give the lowest row in the file of each record's group, in the order of a part's rows."""
    leads = np.empty(n, dtype=np.int64)
    places = _places_of(folder, part)

    def fill(number: int) -> None:
        region, own, rows = places[number]
        lowest = matrix_of(folder, f"lowest-{region}")
        leads[rows] = lowest[part_of(folder, f"labels-{region}", own)]

    several(folder, fill, range(len(places)))
    return leads


def _places_of(folder: Folder, part: int) -> list[tuple[int, slice, NDArray[np.int64]]]:
    """Give the regions that hold records of a part: where those lie in it, and their rows in the part."""
    bounds = kept(folder, "regions")["bounds"]
    ends = matrix_of(folder, f"ends-{part}")[bounds]
    before = kept(folder, "before")["records"][part]  # of earlier parts, in each region
    order = np.array(matrix_of(folder, f"order-{part}"))
    found = []
    for region in range(bounds.size - 1):
        begin, end = ends[region], ends[region + 1]
        if begin < end:
            found.append((region, slice(int(before[region]), int(before[region] + end - begin)), order[begin:end]))
    return found
