"""What workers do with the parts and regions of a file, one at a time.

A task gets a folder and a number. Everything else it reads from that folder, and it leaves there what it finds: nothing
of the data passes through a scheduler or its logs, and a task that is run again, because its worker died, leaves what
it left before.

A part is a run of row groups. A region is a set of whole nodes of the tree of cuts, from all parts.
"""

import signal
from collections.abc import Callable, Iterator
from itertools import groupby, pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microagg.algorithms.equivalence import first_of_each
from microagg.algorithms.kernels.alike import NO_DIGESTS, in_order, with_units
from microagg.algorithms.kernels.blocking import count_digits, key_of_bits, see_extremes, send_to_parts
from microagg.algorithms.kernels.sums import exact_digits
from microagg.algorithms.units import Labels, held_by
from microagg.columns import frames
from microagg.columns.kinds import Cells
from microagg.errors import InvalidData, StoreFailed
from microagg.files.batches import Batches, parquet_writer, read_row_groups
from microagg.files.promise import digests_written
from microagg.files.sources import read_back
from microagg.files.stores import Place, Where
from microagg.mask.engines.blocks import Node, Region, fill_block, finish_weights, put, totals_found, turns_of, used_by
from microagg.mask.engines.census import Census, Keys, spelling_keys, units_of
from microagg.mask.engines.cuts import Extremes
from microagg.mask.engines.figures import Compared
from microagg.mask.engines.folder import Folder, object_of
from microagg.mask.engines.plan import Known, Plan, released_schema, weighed_by

WIDTHS = (13, 13, 13, 13, 12)
"""Bits of a key that are counted in each pass; 64 in all."""


class Task(NamedTuple):
    """What every task must know: written once, read by each worker."""

    plan: Plan
    file: Batches  # the source, as it was given
    parts: list[list[tuple[Where, int]]]  # the row groups of each part: the file, the number in it
    sizes: list[int]  # the records of each part
    target: Where  # the folder to write to
    names: list[str]  # of the files to write, one a part
    key: bytes | None  # of the digests of what is written; None where it is written once more, and counted then


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


def stored_tables_of(work: Task, part: int, columns: list[str] | None = None) -> Iterator[pa.Table]:
    """Return the row groups of a part, one after the other, as they are stored."""
    for path, groups in groupby(work.parts[part], key=lambda group: group[0]):
        yield from read_row_groups(path, [number for _, number in groups], columns)


def tables_of(work: Task, part: int, columns: list[str]) -> Iterator[pa.Table]:
    """Return the row groups of a part with numbers as numbers."""
    return map(work.file.typed, stored_tables_of(work, part, columns))


def look_part(folder: Folder, part: int) -> None:
    """Look at this part for how its columns are coded."""
    work = object_of(folder, "work")
    finders = work.plan.finders(work.file.schema)
    names = [name for name, finder in finders.items() if finder.needs_all]
    for table in tables_of(work, part, names):
        if table.num_rows:
            work.plan.look(finders, table)
    folder.keep_object(f"seen-{part}", finders)


def read_part(folder: Folder, part: int) -> None:
    """Copy the columns to mask; number the strata of this part and count what must be known of its records."""
    work, plan = object_of(folder, "work"), object_of(folder, "coded")
    numbering, examples, known = frames.Numbering(plan.strata), [], 0
    census, counted, spelt = Census(plan), [], []
    for table in tables_of(work, part, plan.read):
        if table.num_rows == 0:
            continue
        strata = np.zeros(table.num_rows, dtype=np.int64)
        if plan.strata:
            strata = numbering.codes(table)
            found, first = np.unique(strata, return_index=True)
            fresh = table.select(plan.strata).take(first[found >= known])
            examples.append(pa.table({name: _decoded(fresh[name].combine_chunks()) for name in plan.strata}))
            known = max(known, int(found[-1]) + 1)
        counted.append(census.count(plan, work.file, table, strata))
        if plan.unit is not None:
            spelt.append(np.unique(spelling_keys(plan, table)))
    cells, codes, keys = zip(*counted, strict=True)
    if plan.unit is not None:
        folder.keep_matrix(f"units-{part}", np.concatenate(keys))
        folder.keep_matrix(f"spelt-{part}", np.unique(np.concatenate(spelt))[None])
    columns = [Cells.joined(own) for own in zip(*cells, strict=True)]
    columns += columns[len(plan.names) :] if plan.weighing.by_group else []
    folder.keep_cells("columns", part, columns)
    folder.keep_matrix(f"codes-{part}", np.concatenate(codes))
    if plan.strata:
        folder.keep_object(f"strata-{part}", pa.concat_tables(examples))
    folder.keep_object(f"census-{part}", census)


def _decoded(array: Any) -> Any:
    return array.cast(array.type.value_type) if pa.types.is_dictionary(array.type) else array


def count_units(folder: Folder, part: int, which: str) -> None:
    """Count the rows that units have of each stratum and pattern, in the order of the units' numbers.

    `which` rows: "all", or those that are "weighing" something.
    """
    codes = folder.kept(f"numbers-{part}")["numbers"][folder.matrix(f"codes-{part}")]
    keys = folder.matrix(f"units-{part}")
    if which == "weighing":
        some = object_of(folder, "coded").weights(folder.cells("columns", part))[0] > 0
        codes, keys = codes[some], keys[some]
    order = np.lexsort((codes, keys))
    codes, keys = codes[order], keys[order]
    new = np.ones(keys.size, dtype=bool)
    new[1:] = (keys[1:] != keys[:-1]) | (codes[1:] != codes[:-1])
    starts = np.flatnonzero(new)
    rows = np.diff(starts, append=keys.size)
    folder.keep_matrix(f"pairs-{which}-{part}", np.array([keys[starts], codes[starts], rows], dtype=np.uint64))


def _of_range(folder: Folder, part: int, name: str) -> Keys:
    """Return what all parts have left of one range of numbers, by which they are in order."""
    n_parts = len(object_of(folder, "work").sizes)
    bounds = [(1 << 64) * number // n_parts for number in (part, part + 1)]
    own = []
    for other in range(n_parts):
        left = folder.matrix(f"{name}-{other}")
        first = int(np.searchsorted(left[0], np.uint64(bounds[0])))
        last = left.shape[1] if part + 1 == n_parts else int(np.searchsorted(left[0], np.uint64(bounds[1])))
        own.append(np.array(left[:, first:last]))
    return np.concatenate(own, axis=1)


def count_spellings(folder: Folder, part: int) -> None:
    """Count how many more spellings there are than units, of one range of the numbers of both, over all parts."""
    spellings, units = (np.unique(_of_range(folder, part, name)[0]).size for name in ("spelt", "pairs-all"))
    folder.keep(f"joined-{part}", joined=np.array(spellings - units))


def hold_units(folder: Folder, part: int, turn: int, which: str) -> None:
    """Count what pieces hold of one range of units, over all parts; `asked-TURN` has the piece of each number."""
    pieces = folder.kept(f"asked-{turn}")["pieces"]
    keys, numbers, rows = _of_range(folder, part, f"pairs-{which}")
    held = held_by(pieces[numbers.astype(np.int64)], keys, int(pieces.max()) + 1, rows.astype(np.int64))
    folder.keep(f"held-{turn}-{part}", **held._asdict())


def sum_part(folder: Folder, part: int, turn: int, weighted: bool) -> None:
    """Sum what the columns ask for, exactly, `weighted` or not: `terms-TURN` has it by their numbers."""
    asked, plan = object_of(folder, f"terms-{turn}"), object_of(folder, "coded")
    cells = folder.cells("columns", part)
    found = {j: terms(cells[j].known) for j, terms in asked.items()}
    if weighted:
        weights = plan.weights(cells)[0]
        found = {j: values * weights[cells[j].present] for j, values in found.items()}
    folder.keep(f"sums-{turn}-{part}", **{str(j): exact_digits(values) for j, values in found.items()})


def weigh_part(folder: Folder, part: int) -> None:
    """Add up what the levels and categories of this part weigh."""
    plan, (facts, scales) = object_of(folder, "coded"), object_of(folder, "weighing")
    folder.keep_object(f"weighed-{part}", weighed_by(plan, facts, scales, folder.cells("columns", part)))


def place_part(folder: Folder, part: int) -> None:
    """Place the records of this part in space."""
    plan, known = object_of(folder, "coded"), object_of(folder, "known")
    table = plan.table(folder.cells("columns", part))
    folder.keep_matrix(f"entries-{part}", known.space.place(table).records.entries)


def cut_part(folder: Folder, part: int, level: int) -> None:
    """Send each record to its node on this level; give the extremes of the nodes that are to be cut.

    `cuts-LEVEL` holds, for each node of the level above, its slot among those that were cut (-1: none), and for
    each slot the entry, the key of the last record of the lower part, the number of the upper part, and how many
    records with just that key each part sends to the lower one; and the slots of the nodes of this level.
    """
    entries = folder.matrix(f"entries-{part}")
    if level == 0:
        nodes = folder.kept(f"pieces-{part}")["numbers"][folder.matrix(f"codes-{part}")]
    else:
        nodes = np.array(folder.matrix(f"nodes-{level - 1}-{part}"))
        cuts = folder.kept(f"cuts-{level}")
        keys, taken = key_of_bits(cuts["keys"]), cuts["taken"][part].copy()
        send_to_parts(entries, 0, nodes.size, cuts["slots"], cuts["columns"], keys, cuts["uppers"], taken, nodes)
    folder.keep_matrix(f"nodes-{level}-{part}", nodes)
    slots = folder.kept(f"open-{level}")["slots"]
    found = Extremes.none(entries.shape[0], int(slots.max(initial=-1)) + 1)
    if found.lowest.size:
        see_extremes(entries, 0, nodes.size, nodes, slots, *found)
    folder.keep(f"extremes-{level}-{part}", **found._asdict())


def count_part(folder: Folder, part: int, level: int, turn: int) -> None:
    """Count the records of each open node by the next bits of their keys, where the bits before are the cut's."""
    nodes = np.array(folder.matrix(f"nodes-{level}-{part}"))
    sought, row = folder.kept(f"sought-{level}-{turn}"), folder.rows(f"entries-{part}")
    cut, columns = np.unique(sought["columns"], return_inverse=True)
    entries = np.array([row(column) for column in cut]).view(np.uint64)
    shift = 64 - sum(WIDTHS[: turn + 1])
    counts = np.zeros((columns.size, 1 << WIDTHS[turn]), dtype=np.int64)
    count_digits(entries, nodes, sought["slots"], columns, sought["prefixes"], shift, WIDTHS[turn], counts)
    # Few of many bins hold anything, so only those are kept.
    places = np.flatnonzero(counts)
    folder.keep(f"counts-{level}-{turn}-{part}", places=places, counts=counts.ravel()[places])


def scatter_part(folder: Folder, part: int, level: int) -> None:
    """Lay this part's records node by node, in the order of rows within each."""
    _scatter(folder, FIRST, part, folder.matrix(f"nodes-{level}-{part}"))


def scatter_again(folder: Folder, part: int) -> None:
    """Lay this part's records by districts, and return the lowest row of each one's group."""
    n = object_of(folder, "work").sizes[part]
    nodes, leads = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)

    def fill(region: int, own: slice, rows: Labels) -> None:
        groups = folder.part(f"grouped-{region}", own)
        nodes[rows] = folder.matrix(f"district-{region}")[groups]
        leads[rows] = folder.matrix(f"led-{region}")[groups]

    _from_regions(folder, FIRST, part, fill)
    order = _scatter(folder, SECOND, part, nodes)
    folder.keep_matrix(f"leads-{part}", leads[order])


def _scatter(folder: Folder, layout: str, part: int, nodes: NDArray[np.integer[Any]]) -> Labels:
    """Lay this part's records node by node; give their order."""
    order = np.argsort(nodes, kind="stable")
    n_nodes = folder.kept(f"{layout}-regions")["sizes"].size
    folder.keep_cells(f"{layout}-scattered", part, [own.take(order) for own in folder.cells("columns", part)])
    if object_of(folder, "settled").plan.unit is not None:
        folder.keep_matrix(f"{layout}-scattered-units-{part}", folder.matrix(f"units-{part}")[order])
    folder.keep_matrix(f"{layout}-order-{part}", order)
    ends = np.concatenate([[0], np.cumsum(np.bincount(nodes, minlength=n_nodes))])
    folder.keep_matrix(f"{layout}-ends-{part}", ends)
    return order


def group_region(folder: Folder, region: int) -> None:
    """Cut the nodes of a region into blocks and group them, to refine the groups across the borders of blocks."""
    settled, share = object_of(folder, "settled"), object_of(folder, "share-of-corners")
    gathered = _gathered(folder, FIRST, region)
    labels, moves, corners = gathered.group(settled.plan, settled.known)
    folder.keep_matrix(f"grouped-{region}", labels.astype(np.int32))
    folder.keep_matrix(f"led-{region}", gathered.rows[first_of_each(labels)])
    folder.keep_object(f"corners-{region}", corners)
    folder.keep_object(f"drawn-corners-{region}", (moves, corners.drawn(share)))


def find_districts(folder: Folder, region: int) -> None:
    """Return the districts of a region's groups, and their sizes."""
    corners = folder.object(f"corners-{region}")
    found = object_of(folder, "districts").find(corners)
    folder.keep(f"found-districts-{region}", districts=found, sizes=corners.sizes)


def mask_region(folder: Folder, region: int) -> None:
    """Group the records of a region, or refine their groups once more, and mask all but what groups choose in turn."""
    settled = object_of(folder, "settled")
    plan, known = settled.plan, settled.known
    gathered = _gathered(folder, settled.layout, region)
    cells, rows, keys = gathered.cells, gathered.rows, gathered.keys
    labels, figures = gathered.mask(plan, known)
    folder.keep_cells("masked", region, cells)
    folder.keep_object(f"figures-{region}", figures)
    folder.keep_matrix(f"labels-{region}", labels.astype(np.int32))
    folder.keep_matrix(f"lowest-{region}", rows[first_of_each(labels)])
    if keys is not None:
        folder.keep_matrix(f"masked-units-{region}", keys)
    weights = known.representing(plan, cells, units_of(plan, keys))
    for j in plan.by_turns if plan.rule.nominal != "draw" else ():
        folder.keep_object(f"turns-{j}-{region}", turns_of(plan, known, j, cells[j], labels, rows, weights))


def _gathered(folder: Folder, layout: str, region: int) -> Region:
    """Bring the records of a region together, part by part."""
    work, regions = object_of(folder, "work"), folder.kept(f"{layout}-regions")
    first, last = int(regions["bounds"][region]), int(regions["bounds"][region + 1])
    starts = np.cumsum([0, *work.sizes])

    def gathered(part: int) -> tuple[Any, ...]:
        ends = folder.matrix(f"{layout}-ends-{part}")[first : last + 1]
        own = slice(int(ends[0]), int(ends[-1]))
        keys, leads = np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64)
        if work.plan.unit is not None:
            keys = folder.part(f"{layout}-scattered-units-{part}", own)
        if layout == SECOND:
            leads = folder.part(f"leads-{part}", own)
        rows = starts[part] + folder.part(f"{layout}-order-{part}", own)
        nodes = np.repeat(np.arange(last - first), np.diff(ends))
        return folder.cells(f"{layout}-scattered", part, own), rows, keys, nodes, leads

    cells, *others = zip(*folder.several(gathered, range(len(work.sizes))), strict=True)
    whole = [Cells.joined(own) for own in zip(*cells, strict=True)]
    rows, keys, numbers, leads = map(np.concatenate, others)
    order = np.argsort(numbers, kind="stable")
    bounds = np.concatenate([[0], np.cumsum(regions["sizes"][first:last])])
    own = [order[begin:end] for begin, end in pairwise(bounds)]
    nodes = map(Node, own, regions["blocks"][first:last].tolist(), regions["pieces"][first:last].tolist())
    return Region(
        whole, rows, None if work.plan.unit is None else keys, list(nodes), leads if layout == SECOND else None
    )


def fill_region(folder: Folder, region: int) -> None:
    """Put in place what groups have chosen in turn, or what was drawn; return which categories are released."""
    settled = object_of(folder, "settled")
    plan, known = settled.plan, settled.known
    cells = folder.cells("masked", region)
    labels = folder.matrix(f"labels-{region}").astype(np.int64)
    keys = None if plan.unit is None else folder.matrix(f"masked-units-{region}")
    weights = known.representing(plan, cells, units_of(plan, keys))
    for j in plan.by_turns:
        cells[j] = fill_block(plan, known, j, cells[j], labels, folder.matrix(f"chosen-{j}-{region}"), weights)
    folder.keep_cells("filled", region, cells)
    folder.keep(f"used-{region}", **{str(j): used_by(plan, j, cells[j]) for j in settled.with_dictionaries})
    if plan.weighing.calibrate:
        folder.keep_object(f"totals-{region}", totals_found(plan, known, cells))


def finish_region(folder: Folder, region: int) -> None:
    """Calibrate the weights of groups, where that is asked for, and round them; leave what that did."""
    settled, margins = object_of(folder, "settled"), object_of(folder, "margins")
    plan, cells = settled.plan, folder.cells(settled.filled, region)
    values, finished = finish_weights(plan, settled.known, cells, margins)
    cells[len(plan.names) + len(plan.weighing.used) :] = map(Cells, values)
    folder.keep_cells("finished", region, cells)
    folder.keep_object(f"finished-weights-{region}", finished)


def write_part(folder: Folder, part: int) -> None:
    """Write the released columns of a part, row group by row group; leave the digests of what was written."""
    work, settled = object_of(folder, "work"), object_of(folder, "settled")
    plan, known = settled.plan, object_of(folder, "released")
    masked, leads = _masked(folder, part, work.sizes[part], settled)

    def count(fresh: Where) -> None:
        promise = plan.promise
        tables = read_back(fresh, target, schema, promise.columns)
        assert work.key is not None
        found = digests_written(promise, tables, work.sizes[part], target.name, work.key)
        digests = np.concatenate([NO_DIGESTS, *(one for (one,) in found)], axis=1)
        if plan.unit is not None:
            digests = with_units(digests, folder.matrix(f"units-{part}"))
        folder.keep_matrix(f"digests-{part}", in_order(digests))

    target, schema = work.target / work.names[part], released_schema(plan, known, work.file.schema)
    compared = Compared(plan, known, work.file, object_of(folder, "share"))
    first = sum(work.sizes[:part])
    check = None if work.key is None else count
    with parquet_writer(target, schema, work.target.parent, check) as writer:
        start = 0
        for stored in stored_tables_of(work, part):
            stop = start + stored.num_rows
            cells = [own.take(np.arange(start, stop)) for own in masked]
            fresh = compared.release(stored, first + start, cells, leads[start:stop])
            writer.write_table(fresh, row_group_size=max(1, stored.num_rows))
            start = stop
    folder.keep_object(f"compared-{part}", compared.found)


def _masked(folder: Folder, part: int, n: int, settled: Settled) -> tuple[list[Cells], Labels]:
    """Bring the masked cells of a part together from all regions, and the lowest row in the file of each one's group.

    Both are in the order of the part's rows.
    """
    cells = [Cells(np.empty(n), np.zeros(n, dtype=np.uint8)) for _ in range(settled.plan.n_stored)]
    leads = np.empty(n, dtype=np.int64)

    def fill(region: int, own: slice, rows: Labels) -> None:
        for place, fresh in zip(cells, folder.cells(settled.masked, region, own), strict=True):
            put(place, rows, fresh)
        leads[rows] = folder.matrix(f"lowest-{region}")[folder.part(f"labels-{region}", own)]

    _from_regions(folder, settled.layout, part, fill)
    return [own if own.states is not None and own.states.any() else Cells(own.values) for own in cells], leads


def _from_regions(folder: Folder, layout: str, part: int, fill: Callable[[int, slice, Labels], None]) -> None:
    """Call fill(region, where, rows) for the regions of a layout that hold records of a part.

    These lie `where` in the region, and `rows` are theirs in the part.
    """
    bounds = folder.kept(f"{layout}-regions")["bounds"]
    ends = folder.matrix(f"{layout}-ends-{part}")[bounds]
    before = folder.kept(f"{layout}-before")["records"][part]  # of earlier parts, in each region
    order = np.array(folder.matrix(f"{layout}-order-{part}"))

    def fill_from(region: int) -> None:
        begin, end, first = int(ends[region]), int(ends[region + 1]), int(before[region])
        fill(region, slice(first, first + end - begin), order[begin:end])

    folder.several(fill_from, np.flatnonzero(np.diff(ends)).tolist())


def leave_interrupts() -> None:
    """Let Ctrl-C, which a terminal sends to all processes, be the client's to answer."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def look(folder: Folder) -> tuple[str, list[str]]:
    """Return which microagg this worker has, and which of the scratch, the source and the target it does not see."""
    from microagg import __version__

    try:
        if not folder.file("work", ".pickle").exists():
            return __version__, ["scratch"]
        work = object_of(folder, "work")
        source, private = work.parts[0][0][0], work.target.parent
        seen = {"source": source.exists(), "target": isinstance(private, Place) or private.is_dir()}
        return __version__, [what for what, is_there in seen.items() if not is_there]
    except (StoreFailed, InvalidData):
        return __version__, ["store"]
