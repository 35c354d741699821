"""One machine: the columns to mask lie in scratch files without names, and blocks are masked there in place."""

import os
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microagg._kernels.sums import exact_sum_of_parts
from microagg.beyond._blocks import (
    Labels,
    Turns,
    draws_of_blocks,
    fill_block,
    group_block,
    represent_block,
    settle_turns,
    turns_of,
    used_by,
)
from microagg.beyond._figures import Figures, Lost, Outcome, lost_between
from microagg.beyond._plan import (
    Known,
    Plan,
    Tally,
    check_magnitudes,
    check_missing,
    constants,
    missing_in_strata,
    released,
    released_schema,
    tally,
)
from microagg.beyond._store import Scratch, Store
from microagg.blocking.median import median_pieces
from microagg.checks import check_enough_records
from microagg.equivalence import first_of_each
from microagg.errors import InvalidData
from microagg.grouping import check_stratum_sizes, rows_of
from microagg.io import frames
from microagg.io.batches import Batches
from microagg.io.promise import check_written
from microagg.io.read_back import read_back
from microagg.kinds import Facts
from microagg.moments import Terms, summed
from microagg.parallel import in_parallel
from microagg.prepare.patterns import Patterns, PatternsSeen
from microagg.progress import Progress, tell

Pieces = Sequence[NDArray[np.int64]]


def run(
    file: Batches,
    path: Path,
    plan: Plan,
    scratch: str | os.PathLike[str],
    n_jobs: int,
    progress: Progress | None,
) -> Outcome:
    """Mask a file on this machine."""
    n = file.count()
    if n == 0:
        raise InvalidData("the file has no records. Pass at least k of them.")
    check_enough_records(n, plan.k)
    plan, looked = _looked(file, plan, n, progress)
    room = Scratch(scratch)
    store = Store(room, len(plan.names), n)
    tallies, pieces, patterns = _ingest(file, plan, store, looked, progress)
    known = _known(plan, store, tallies)
    blocks = _blocks(plan, known, store, room, pieces, n_jobs)
    largest = max(rows.size for rows in blocks)
    plan = replace(plan, grouping=plan.grouping.searching(largest, known.space.n_entries, known.space.n_codes))
    labels = room.array((n,), np.int32) if plan.by_turns else None
    figures = _group(plan, known, store, blocks, labels, n_jobs, progress)
    if labels is not None:
        _take_turns(plan, known, store, blocks, labels, n_jobs)
    known = replace(known, used=_used(plan, store, file.schema))
    k_achieved, lost = _write(file, path, plan, known, store, room, progress)
    return Outcome(plan, known, n, len(blocks), k_achieved, figures, lost, patterns)


def _looked(file: Batches, plan: Plan, n: int, progress: Progress | None) -> tuple[Plan, bool]:
    """Find out how columns are coded, reading those whose types do not say it; tell whether there were any."""
    finders = plan.finders(file.schema)
    names = [name for name, finder in finders.items() if finder.needs_all]
    start = 0
    for table in file.tables(names) if names else ():
        if table.num_rows:
            plan.look(finders, table)
        start += table.num_rows
        tell(progress, min(start, n) // 2, 3 * n)
    return plan.with_coders(finders), bool(names)


def _ingest(
    file: Batches, plan: Plan, store: Store, looked: bool, progress: Progress | None
) -> tuple[list[Tally], Labels, Patterns]:
    """Copy the columns to mask into scratch; count what must be known of them; give each record's piece."""
    n = store.n_records
    tallies: list[Tally] = []
    codes = np.zeros(n, dtype=np.int64)
    numbering, seen = frames.Numbering(plan.strata), PatternsSeen(plan.by_pattern)
    lacking: Counter[str] = Counter()
    start = 0
    for table in file.tables([*plan.names, *plan.strata]):
        stop = start + table.num_rows
        if table.num_rows == 0:
            continue
        if stop > n:
            break
        coded = plan.coded(table)
        for j, column in enumerate(coded):
            store.put(j, slice(start, stop), column.cells)
        found = tally(plan, coded)
        tallies = [one.join(other) for one, other in zip(tallies, found, strict=True)] if tallies else found
        strata = numbering.codes(table) if plan.strata else np.zeros(table.num_rows, dtype=np.int64)
        codes[start:stop] = seen.codes(coded, strata)
        lacking.update(missing_in_strata(plan, table))
        start = stop
        tell(progress, (n + start) // 2 if looked else start, 3 * n)
    file.check_unchanged()
    check_missing(plan, tallies, lacking)
    check_stratum_sizes(seen.strata_sizes, plan.k, plan.strata)
    check_magnitudes(plan, tallies)
    patterns = seen.pieces(plan.k)
    return tallies, patterns.pieces[codes], patterns


def _known(plan: Plan, store: Store, tallies: Sequence[Tally]) -> Known:
    """Find the constants of all columns, as protect() has them to the last bit."""

    def found(j: int) -> tuple[Facts, float]:
        def add(terms: Terms) -> float:
            return exact_sum_of_parts(terms(store.cells(j, rows).known) for rows in store.chunks())

        return summed(constants(plan.columns[j].kind, tallies[j].facts), add)

    return Known.of(plan, tallies, [found(j) for j in range(store.n_columns)])


def _blocks(
    plan: Plan, known: Known, store: Store, room: Scratch, pieces: Labels, n_jobs: int
) -> list[NDArray[np.int64]]:
    """List the rows of each block."""
    entries = room.array((known.space.n_entries, store.n_records), np.float64)

    def place(rows: slice, check: Callable[[], None]) -> None:
        check()
        entries[:, rows] = known.space.place(plan.table(store.all_cells(rows))).records.entries

    in_parallel(place, list(store.chunks()), n_jobs)
    blocks, scales = [], known.space.cut_scales
    for rows in rows_of(pieces):
        blocks += median_pieces(entries, scales, plan.max_block, plan.k, rows=rows, n_jobs=n_jobs)
    return blocks


def _group(
    plan: Plan,
    known: Known,
    store: Store,
    blocks: Pieces,
    labels: NDArray[np.int32] | None,
    n_jobs: int,
    progress: Progress | None,
) -> Figures:
    """Group the records of each block, and put in place what groups release by themselves."""
    n, done, lock = store.n_records, 0, threading.Lock()

    def mask(rows: NDArray[np.int64], check: Callable[[], None]) -> Figures:
        nonlocal done
        table = plan.table(store.all_cells(rows))
        own = group_block(plan, known, table, check)
        masked, figures = represent_block(plan, known, table, own)
        for j, cells in masked.items():
            store.put(j, rows, cells)
        if labels is not None:
            labels[rows] = own
        with lock:
            done += rows.size
            tell(progress, n + done, 3 * n)
        return figures

    return reduce(Figures.join, in_parallel(mask, blocks, n_jobs))


def _take_turns(plan: Plan, known: Known, store: Store, blocks: Pieces, labels: NDArray[np.int32], n_jobs: int) -> None:
    """Put in place what groups release that must choose in turn; one column after the other, for the sake of memory."""

    def lowest(rows: NDArray[np.int64], check: Callable[[], None]) -> Labels:
        check()
        return np.asarray(rows[first_of_each(labels[rows].astype(np.int64))])

    first_rows = in_parallel(lowest, blocks, n_jobs) if plan.rule.nominal == "draw" else []
    for j in plan.by_turns:

        def turns(rows: NDArray[np.int64], check: Callable[[], None], j: int = j) -> Turns:
            check()
            return turns_of(plan, known, j, store.cells(j, rows), labels[rows].astype(np.int64), rows)

        if plan.rule.nominal == "draw":
            choices: list[Any] = list(draws_of_blocks(plan, known, j, first_rows))
        else:
            choices = list(settle_turns(known, j, in_parallel(turns, blocks, n_jobs)))

        def fill(block: int, check: Callable[[], None], j: int = j, choices: list[Any] = choices) -> None:
            check()
            rows = blocks[block]
            own = labels[rows].astype(np.int64)
            store.put(j, rows, fill_block(plan, known, j, store.cells(j, rows), own, choices[block]))

        in_parallel(fill, range(len(blocks)), n_jobs)


def _used(plan: Plan, store: Store, source: pa.Schema) -> dict[int, NDArray[np.bool_]]:
    """Tell which categories are released, of columns that are kept with a dictionary."""
    return {
        j: reduce(np.logical_or, (used_by(plan, j, store.cells(j, rows)) for rows in store.chunks()))
        for j in plan.with_dictionaries(source)
    }


def _write(
    file: Batches,
    path: Path,
    plan: Plan,
    known: Known,
    store: Store,
    scratch: Scratch,
    progress: Progress | None,
) -> tuple[int, Lost]:
    """Write the released columns, part by part, the masked ones from scratch; count what was written and lost."""
    n = store.n_records
    schema, promise = released_schema(plan, known, file.schema), plan.promise
    fewest, lost = 0, []

    def count(fresh: Path) -> None:
        nonlocal fewest
        room = scratch.array((2, n), np.uint64)
        tables = read_back(fresh, path, schema, promise.columns, file.dialect_of(path))
        fewest = check_written(
            promise, tables, n, path.name, room=room, tell=lambda read: tell(progress, 2 * n + (n + read) // 2, 3 * n)
        )

    with file.writer(path, schema, count) as write:
        start = 0
        for table in file.tables(plan.schema.released):
            stop = start + table.num_rows
            if stop > n:
                break
            fresh = released(plan, known, table, plan.table(store.all_cells(slice(start, stop))))
            if table.num_rows:
                lost.append(lost_between(known, plan.coded(table), plan.coded(fresh)))
            write(fresh)
            start = stop
            tell(progress, 2 * n + start // 2, 3 * n)
        file.check_unchanged()
    return fewest, reduce(Lost.join, lost)
