"""What workers do, one part or region of a file at a time.

A task is told a folder and a number. All else it reads from that folder, and what it finds it leaves there, written
under another name and renamed when whole: nothing of the data passes through a scheduler or its logs, and a task
that is run again, because its worker died, leaves what it left before.

A part is a run of row groups. A region is a set of whole nodes of the tree of cuts that one worker masks.
"""

import functools
import os
import pickle
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from microagg._kernels.alike import NO_DIGESTS, in_order
from microagg._kernels.sums import exact_digits
from microagg.beyond._plan import NO_SUM, Figures, Moments, Plan, mask_block
from microagg.blocking.median import median_pieces
from microagg.io import frames
from microagg.io.batches import parquet_writer, read_row_groups
from microagg.io.promise import digests_written
from microagg.io.read_back import read_back

WIDTHS = (13, 13, 13, 13, 12)
"""Bits of a key that are counted in each pass; 64 in all."""


class Work(NamedTuple):
    """What every task must know: written once, read by each worker."""

    plan: Plan
    source: pa.Schema
    parts: list[list[tuple[Path, int]]]  # the row groups of each part: the file, the number in it
    sizes: list[int]  # the records of each part
    target: Path  # the folder to write to
    names: list[str]  # of the files to write, one a part
    key: bytes  # of the digests of what is written


class _Plain:
    """A file that NumPy does not know for one: it then writes in a way that tells when the disk is full."""

    def __init__(self, file: BinaryIO) -> None:
        self.write = file.write


@contextmanager
def _whole(path: Path) -> Iterator[BinaryIO]:
    """Open a file that appears when it is whole."""
    handle, temporary = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def keep(folder: Path, name: str, **arrays: Any) -> None:
    """Leave arrays in the folder under a name."""
    with _whole(folder / f"{name}.npz") as file:
        np.savez(file, **arrays)


def kept(folder: Path, name: str) -> dict[str, NDArray[Any]]:
    """Give arrays that were left in the folder."""
    with np.load(folder / f"{name}.npz") as found:
        return dict(found)


def keep_matrix(folder: Path, name: str, matrix: NDArray[Any]) -> None:
    """Leave one array such that parts of it can be read."""
    with _whole(folder / f"{name}.npy") as file:
        np.save(_Plain(file), matrix)


def matrix_of(folder: Path, name: str) -> NDArray[Any]:
    """Give an array that was left in the folder, to be read where it is looked at."""
    return np.asanyarray(np.load(folder / f"{name}.npy", mmap_mode="r"))


def keep_object(folder: Path, name: str, thing: Any) -> None:
    """Leave an object."""
    import cloudpickle  # comes with Dask; it also takes what a session at the prompt defines

    with _whole(folder / f"{name}.pickle") as file:
        cloudpickle.dump(thing, file)


@functools.lru_cache(maxsize=4)
def object_of(folder: Path, name: str) -> Any:
    """Give an object that was left in the folder, to which only its owner can write."""
    return pickle.loads((folder / f"{name}.pickle").read_bytes())


def moments_in(folder: Path) -> Moments:
    """Give the columns' moments, once they are known."""
    found = kept(folder, "moments")
    return Moments(found["offsets"], found["units"])


def tables_of(work: Work, part: int, columns: list[str]) -> Iterator[pa.Table]:
    """Give the row groups of a part, one after the other."""
    for path, groups in groupby(work.parts[part], key=lambda group: group[0]):
        yield from read_row_groups(path, [number for _, number in groups], columns)


def read_part(folder: Path, part: int) -> None:
    """Copy the columns to mask; number the strata of this part and sum its columns."""
    work = object_of(folder, "work")
    plan, n = work.plan, work.sizes[part]
    columns = np.empty((len(plan.names), n))
    codes = np.zeros(n, dtype=np.int32)
    numbering, examples = frames.Numbering(plan.strata), []
    start, known = 0, 0
    for table in tables_of(work, part, [*plan.names, *plan.strata]):
        stop = start + table.num_rows
        if table.num_rows:
            columns[:, start:stop] = plan.numbers(table)
        if table.num_rows and plan.strata:
            codes[start:stop] = numbering.codes(table)
            found, first = np.unique(codes[start:stop], return_index=True)
            fresh = table.select(plan.strata).take(first[found >= known])
            examples.append(pa.table({name: _decoded(fresh[name].combine_chunks()) for name in plan.strata}))
            known = max(known, int(found[-1]) + 1)
        start = stop
    keep_matrix(folder, f"columns-{part}", columns)
    keep_matrix(folder, f"codes-{part}", codes)
    if plan.strata:
        with _whole(folder / f"strata-{part}.parquet") as file:
            pq.write_table(pa.concat_tables(examples), file)
    sums = np.array([exact_digits(column) for column in columns]) if n else np.tile(NO_SUM, (len(columns), 1))
    lowest, highest = columns.min(axis=1, initial=np.inf), columns.max(axis=1, initial=-np.inf)
    keep(folder, f"sums-{part}", sums=sums, lowest=lowest, highest=highest, strata=np.bincount(codes))


def _decoded(array: Any) -> Any:
    return array.cast(array.type.value_type) if pa.types.is_dictionary(array.type) else array


def sum_part(folder: Path, part: int, what: str) -> None:
    """Sum this part's squared distances to the mean, its scores, or their squared distances to theirs."""
    columns = matrix_of(folder, f"columns-{part}")
    known = kept(folder, "moments")
    if what == "squares":
        values = (columns - known["offsets"][:, None]) ** 2
    else:
        values = Moments(known["offsets"], known["units"]).scores(columns)
        if what == "score squares":
            values = (values - known["score_means"][:, None]) ** 2
    keep(folder, f"{what}-{part}", sums=np.array([exact_digits(column) for column in values]))


def cut_part(folder: Path, part: int, level: int) -> None:
    """Send each record to its node on this level; give the extremes of the nodes that are to be cut.

    `cuts-LEVEL` holds, for each node of the level above, its slot among those that were cut (-1: none), and for
    each slot the column, the key of the last record of the lower part, the number of the upper part, and how many
    records with just that key each part sends to the lower one; and the slots of the nodes of this level.
    """
    columns = matrix_of(folder, f"columns-{part}")
    if level == 0:
        nodes = kept(folder, f"stratum-numbers-{part}")["numbers"][matrix_of(folder, f"codes-{part}")]
    else:
        nodes = np.array(matrix_of(folder, f"nodes-{level - 1}-{part}"))
        cuts = kept(folder, f"cuts-{level}")
        rows, slots, keys = _keys(columns, nodes, cuts["slots"], cuts["columns"], moments_in(folder))
        cut = cuts["keys"][slots]
        upper = keys > cut
        equal = np.flatnonzero(keys == cut)
        upper[equal] = _places_within(slots[equal]) >= cuts["taken"][part][slots[equal]]
        nodes[rows[upper]] = cuts["uppers"][slots[upper]]
    keep_matrix(folder, f"nodes-{level}-{part}", nodes)
    slots = kept(folder, f"open-{level}")["slots"]
    n_open = int(slots.max(initial=-1)) + 1
    rows = np.flatnonzero(slots[nodes] >= 0)
    order = rows[np.argsort(slots[nodes[rows]], kind="stable")]
    present, starts = np.unique(slots[nodes[order]], return_index=True)
    lowest, highest = np.full((len(columns), n_open), np.inf), np.full((len(columns), n_open), -np.inf)
    if order.size:
        for j, column in enumerate(columns):
            values = column[order]
            lowest[j, present] = np.minimum.reduceat(values, starts)
            highest[j, present] = np.maximum.reduceat(values, starts)
    keep(folder, f"extremes-{level}-{part}", lowest=lowest, highest=highest)


def count_part(folder: Path, part: int, level: int, turn: int) -> None:
    """Count the records of each open node by the next bits of their keys, where the bits before are the cut's."""
    columns = matrix_of(folder, f"columns-{part}")
    nodes = matrix_of(folder, f"nodes-{level}-{part}")
    sought = kept(folder, f"sought-{level}-{turn}")
    _, slots, keys = _keys(columns, nodes, sought["slots"], sought["columns"], moments_in(folder))
    below = 64 - sum(WIDTHS[: turn + 1])
    digits = keys >> np.uint64(below)
    if turn > 0:
        fits = digits >> np.uint64(WIDTHS[turn]) == sought["prefixes"][slots]
        slots, digits = slots[fits], digits[fits]
    bins = 1 << WIDTHS[turn]
    digits = (digits & np.uint64(bins - 1)).astype(np.int64)
    # Few of many bins hold anything, so only those are kept.
    places, counts = np.unique(slots * bins + digits, return_counts=True)
    keep(folder, f"counts-{level}-{turn}-{part}", places=places, counts=counts)


def _keys(
    columns: NDArray[np.float64],
    nodes: NDArray[np.int32],
    slots_of_nodes: NDArray[np.int64],
    columns_of_slots: NDArray[np.int64],
    moments: Moments,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint64]]:
    """Give the rows in open nodes, their slots, and their scores in the node's column as integers of the same order."""
    slots = slots_of_nodes[nodes]
    rows = np.flatnonzero(slots >= 0)
    slots = slots[rows]
    keys = np.empty(rows.size)
    for j in np.unique(columns_of_slots):
        mine = columns_of_slots[slots] == j
        own = Moments(moments.offsets[j : j + 1], moments.units[j : j + 1])
        keys[mine] = own.scores(columns[j, rows[mine]][None])[0]
    bits = (keys + 0.0).view(np.uint64)  # + 0.0: no negative zero
    sign = np.uint64(1 << 63)
    return rows, slots, np.where(bits & sign, ~bits, bits | sign)


def _places_within(slots: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give how many earlier entries have the same slot."""
    order = np.argsort(slots, kind="stable")
    _, starts, sizes = np.unique(slots[order], return_index=True, return_counts=True)
    places = np.empty(slots.size, dtype=np.int64)
    places[order] = np.arange(slots.size) - np.repeat(starts, sizes)
    return places


def scatter_part(folder: Path, part: int, level: int) -> None:
    """Lay this part's records node by node, in the order of rows within each."""
    columns = matrix_of(folder, f"columns-{part}")
    nodes = matrix_of(folder, f"nodes-{level}-{part}")
    order = np.argsort(nodes, kind="stable")
    n_nodes = kept(folder, "regions")["sizes"].size
    keep_matrix(folder, f"scattered-{part}", np.asarray(columns[:, order]))
    keep_matrix(folder, f"order-{part}", order)
    keep_matrix(folder, f"ends-{part}", np.concatenate([[0], np.cumsum(np.bincount(nodes, minlength=n_nodes))]))


def mask_region(folder: Path, region: int) -> None:
    """Cut the nodes of a region into blocks and mask them."""
    plan, moments, regions = object_of(folder, "settled"), moments_in(folder), kept(folder, "regions")
    first, last = regions["bounds"][region], regions["bounds"][region + 1]
    found, nodes = [], []
    for part in range(int(regions["parts"])):
        ends = matrix_of(folder, f"ends-{part}")[first : last + 1]
        found.append(np.asarray(matrix_of(folder, f"scattered-{part}")[:, ends[0] : ends[-1]]))
        nodes.append(np.repeat(np.arange(last - first), np.diff(ends)))
    columns = np.concatenate(found, axis=1)
    order = np.argsort(np.concatenate(nodes), kind="stable")
    figures = []
    start = 0
    for node in range(first, last):
        rows = order[start : start + regions["sizes"][node]]
        start += rows.size
        pieces = median_pieces(
            columns, *moments, plan.max_block, plan.k, rows=rows, blocks=int(regions["blocks"][node])
        )
        for piece in pieces:
            columns[:, piece], own = mask_block(plan, moments, np.ascontiguousarray(columns[:, piece]), lambda: None)
            figures.append(own)
    keep_matrix(folder, f"masked-{region}", columns)
    joined = functools.reduce(Figures.join, figures)
    keep(folder, f"figures-{region}", n_groups=joined.n_groups, errors=joined.errors)


def write_part(folder: Path, part: int) -> None:
    """Write the released columns of a part, row group by row group; leave the digests of what was written."""
    work = object_of(folder, "work")
    bounds = kept(folder, "regions")["bounds"]
    ends = matrix_of(folder, f"ends-{part}")[bounds]
    before = kept(folder, "before")["records"][part]  # of earlier parts, in each region
    masked = np.empty((len(work.plan.names), work.sizes[part]))
    order = matrix_of(folder, f"order-{part}")
    for region in range(bounds.size - 1):
        begin, end = ends[region], ends[region + 1]
        if begin < end:
            values = matrix_of(folder, f"masked-{region}")[:, before[region] : before[region] + end - begin]
            masked[:, order[begin:end]] = values

    def count(fresh: Path) -> None:
        promise = work.plan.promise
        tables = read_back(fresh, target, schema, promise.columns)
        found = digests_written(promise, tables, work.sizes[part], target.name, work.key)
        digests = np.concatenate([NO_DIGESTS, *(one for (one,) in found)], axis=1)
        keep_matrix(folder, f"digests-{part}", in_order(digests))

    target, schema = work.target / work.names[part], work.plan.released_schema(work.source)
    with parquet_writer(target, schema, work.target.parent, count) as writer:
        start = 0
        for table in tables_of(work, part, work.plan.schema.released):
            stop = start + table.num_rows
            writer.write_table(work.plan.released(table, masked[:, start:stop]), row_group_size=max(1, table.num_rows))
            start = stop


def leave_interrupts() -> None:
    """Let Ctrl-C, which a terminal sends to all processes, be the client's to answer."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def look(folder: Path) -> str:
    """Tell which microagg this worker has, if it sees the folder."""
    from microagg import __version__

    return __version__ if (folder / "work.pickle").exists() else ""
