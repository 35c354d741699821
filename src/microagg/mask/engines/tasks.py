"""What workers do with the parts of a file, one at a time.

A task gets a folder and a number. Everything else it reads from that folder, and it leaves there what it finds: nothing
of the data passes through a scheduler or its logs, and a task that is run again, because its worker died, leaves what
it left before.

A part is a run of row groups. What is done with regions, which one worker masks, is in `_regions`.
"""

import signal
from collections import Counter
from collections.abc import Iterator
from functools import reduce
from itertools import groupby, zip_longest
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microagg.algorithms.kernels.blocking import count_digits, key_of_bits, see_extremes, send_to_parts
from microagg.algorithms.kernels.sums import exact_digits
from microagg.algorithms.units import held_by
from microagg.columns import frames
from microagg.columns.kinds import Cells
from microagg.columns.patterns import PatternsSeen
from microagg.columns.weighing import WeightSeen, weights_in
from microagg.errors import InvalidData, StoreFailed
from microagg.files.batches import Batches, read_row_groups
from microagg.files.stores import Place, Where
from microagg.mask.engines.cuts import Extremes
from microagg.mask.engines.folder import (
    Folder,
    is_left,
    keep,
    keep_matrix,
    keep_object,
    kept,
    matrix_of,
    object_of,
    part_of,
    rows_of,
)
from microagg.mask.engines.plan import Plan, Tally, missing_in_strata, tally, weighed_by
from microagg.mask.engines.units import missing_units, spelling_keys, unit_keys

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


class Found(NamedTuple):
    """What a part says of the file: its columns and weights, which values are missing and where, missing units.

    `weighing` counts, of each number of `patterns`, the records that the first weight is above 0 of.
    """

    tallies: list[Tally]
    patterns: PatternsSeen
    lacking: Counter[str]
    without_unit: int
    weights: dict[str, WeightSeen]
    weighing: NDArray[np.int64]


def stored_tables_of(work: Task, part: int, columns: list[str] | None = None) -> Iterator[pa.Table]:
    """Return the row groups of a part, one after the other, as they are stored."""
    for path, groups in groupby(work.parts[part], key=lambda group: group[0]):
        yield from read_row_groups(path, [number for _, number in groups], columns)


def tables_of(work: Task, part: int, columns: list[str]) -> Iterator[pa.Table]:
    """Return the row groups of a part with numbers as numbers."""
    return map(work.file.typed, stored_tables_of(work, part, columns))


def cells_in(folder: Folder, name: str, number: int, rows: slice = slice(None)) -> list[Cells]:
    """Return the cells of some rows, in all columns, that were left for a part or region."""
    names = f"{name}-{number}", f"{name}-states-{number}"
    if rows == slice(None):
        values, states = (matrix_of(folder, own) for own in names)
    else:
        values, states = (part_of(folder, own, rows) for own in names)
    own = [np.array(column) for column in states] if len(states) else [None] * len(values)
    return [
        Cells(np.array(column), None if kinds is None or not kinds.any() else kinds)
        for column, kinds in zip(values, own, strict=True)
    ]


def keep_cells(folder: Folder, name: str, number: int, cells: list[Cells]) -> None:
    """Leave the cells of all columns of a part or region."""
    keep_matrix(folder, f"{name}-{number}", np.array([own.values for own in cells]), by_record=True)
    states = np.zeros((0, 0), dtype=np.uint8)
    if any(own.states is not None for own in cells):
        states = np.array([own.all_states for own in cells])
    keep_matrix(folder, f"{name}-states-{number}", states, by_record=True)


def look_part(folder: Folder, part: int) -> None:
    """Look at this part for how its columns are coded."""
    work = object_of(folder, "work")
    finders = work.plan.finders(work.file.schema)
    names = [name for name, finder in finders.items() if finder.needs_all]
    for table in tables_of(work, part, names):
        if table.num_rows:
            work.plan.look(finders, table)
    keep_object(folder, f"seen-{part}", finders)


def read_part(folder: Folder, part: int) -> None:
    """Copy the columns to mask; number the strata of this part and count what must be known of its columns."""
    work, plan = object_of(folder, "work"), object_of(folder, "coded")
    numbering, examples = frames.Numbering(plan.strata), []
    seen, lacking, known = PatternsSeen(plan.by_pattern), Counter[str](), 0
    tables, codes, keys, spelt, without_unit = [], [], [], [], 0
    weights: dict[str, list[NDArray[np.float64]]] = {name: [] for name in plan.weighing.used}
    for table in tables_of(work, part, plan.read):
        if table.num_rows == 0:
            continue
        tables.append(plan.coded(table))
        strata = np.zeros(table.num_rows, dtype=np.int64)
        if plan.strata:
            strata = numbering.codes(table)
            found, first = np.unique(strata, return_index=True)
            fresh = table.select(plan.strata).take(first[found >= known])
            examples.append(pa.table({name: _decoded(fresh[name].combine_chunks()) for name in plan.strata}))
            known = max(known, int(found[-1]) + 1)
        codes.append(seen.codes(tables[-1], strata).astype(np.int32))
        lacking.update(missing_in_strata(plan, table))
        for name, values in weights.items():
            values.append(weights_in(work.file.as_numbers(table[name], name), name))
        if plan.unit is not None:
            keys.append(unit_keys(plan, table))
            spelt.append(np.unique(spelling_keys(plan, table)))
            without_unit += missing_units(plan, table)
    if plan.unit is not None:
        keep_matrix(folder, f"units-{part}", np.concatenate(keys))
        keep_matrix(folder, f"spelt-{part}", np.unique(np.concatenate(spelt))[None])
    columns = [Cells.joined([column.cells for column in own]) for own in zip(*tables, strict=True)]
    weighing = {name: np.concatenate(values) for name, values in weights.items()}
    columns += [Cells(values) for values in weighing.values()] * (2 if plan.weighing.by_group else 1)
    keep_cells(folder, "columns", part, columns)
    numbers = np.concatenate(codes)
    keep_matrix(folder, f"codes-{part}", numbers)
    if plan.strata:
        keep_object(folder, f"strata-{part}", pa.concat_tables(examples))
    counted = [tally(plan, table, own) for table, own in zip_longest(tables, keys)]
    tallies = [reduce(Tally.join, own) for own in zip(*counted, strict=True)]
    seen_weights = {name: WeightSeen.of(values) for name, values in weighing.items()}
    some = numbers[next(iter(weighing.values())) > 0] if weighing else numbers
    counts = np.bincount(some, minlength=seen.sizes.size)
    keep_object(folder, f"found-{part}", Found(tallies, seen, lacking, without_unit, seen_weights, counts))


def _decoded(array: Any) -> Any:
    return array.cast(array.type.value_type) if pa.types.is_dictionary(array.type) else array


def count_units(folder: Folder, part: int, which: str) -> None:
    """Count the rows that units have of each stratum and pattern, in the order of the units' numbers.

    `which` rows: "all", or those that are "weighing" something.
    """
    codes = kept(folder, f"numbers-{part}")["numbers"][matrix_of(folder, f"codes-{part}")]
    keys = matrix_of(folder, f"units-{part}")
    if which == "weighing":
        some = object_of(folder, "coded").weights(cells_in(folder, "columns", part))[0] > 0
        codes, keys = codes[some], keys[some]
    order = np.lexsort((codes, keys))
    codes, keys = codes[order], keys[order]
    new = np.ones(keys.size, dtype=bool)
    new[1:] = (keys[1:] != keys[:-1]) | (codes[1:] != codes[:-1])
    starts = np.flatnonzero(new)
    rows = np.diff(starts, append=keys.size)
    keep_matrix(folder, f"pairs-{which}-{part}", np.array([keys[starts], codes[starts], rows], dtype=np.uint64))


def _of_range(folder: Folder, part: int, name: str) -> NDArray[np.uint64]:
    """Return what all parts have left of one range of numbers, by which they are in order."""
    n_parts = len(object_of(folder, "work").sizes)
    bounds = [(1 << 64) * number // n_parts for number in (part, part + 1)]
    own = []
    for other in range(n_parts):
        left = matrix_of(folder, f"{name}-{other}")
        first = int(np.searchsorted(left[0], np.uint64(bounds[0])))
        last = left.shape[1] if part + 1 == n_parts else int(np.searchsorted(left[0], np.uint64(bounds[1])))
        own.append(np.array(left[:, first:last]))
    return np.concatenate(own, axis=1)


def count_spellings(folder: Folder, part: int) -> None:
    """Count how many more spellings there are than units, of one range of the numbers of both, over all parts."""
    spellings, units = (np.unique(_of_range(folder, part, name)[0]).size for name in ("spelt", "pairs-all"))
    keep(folder, f"joined-{part}", joined=np.array(spellings - units))


def hold_units(folder: Folder, part: int, turn: int, which: str) -> None:
    """Count what pieces hold of one range of units, over all parts; `asked-TURN` has the piece of each number."""
    pieces = kept(folder, f"asked-{turn}")["pieces"]
    keys, numbers, rows = _of_range(folder, part, f"pairs-{which}")
    held = held_by(pieces[numbers.astype(np.int64)], keys, int(pieces.max()) + 1, rows.astype(np.int64))
    keep(folder, f"held-{turn}-{part}", **held._asdict())


def sum_part(folder: Folder, part: int, turn: int) -> None:
    """Sum what the columns ask for, exactly: `terms-TURN` has it by their numbers."""
    asked = object_of(folder, f"terms-{turn}")
    cells = cells_in(folder, "columns", part)
    sums = {str(j): exact_digits(terms(cells[j].known)) for j, terms in asked.items()}
    keep(folder, f"sums-{turn}-{part}", **sums)


def weighted_sum_part(folder: Folder, part: int, turn: int) -> None:
    """Sum what the columns ask for, weighted, exactly."""
    asked, plan = object_of(folder, f"terms-{turn}"), object_of(folder, "coded")
    cells = cells_in(folder, "columns", part)
    weights = plan.weights(cells)[0]
    sums = {str(j): exact_digits(terms(cells[j].known) * weights[cells[j].present]) for j, terms in asked.items()}
    keep(folder, f"sums-{turn}-{part}", **sums)


def weigh_part(folder: Folder, part: int) -> None:
    """Add up what the levels and categories of this part weigh."""
    plan, (facts, scales) = object_of(folder, "coded"), object_of(folder, "weighing")
    keep_object(folder, f"weighed-{part}", weighed_by(plan, facts, scales, cells_in(folder, "columns", part)))


def place_part(folder: Folder, part: int) -> None:
    """Place the records of this part in space."""
    plan, known = object_of(folder, "coded"), object_of(folder, "known")
    table = plan.table(cells_in(folder, "columns", part))
    keep_matrix(folder, f"entries-{part}", known.space.place(table).records.entries)


def cut_part(folder: Folder, part: int, level: int) -> None:
    """Send each record to its node on this level; give the extremes of the nodes that are to be cut.

    `cuts-LEVEL` holds, for each node of the level above, its slot among those that were cut (-1: none), and for
    each slot the entry, the key of the last record of the lower part, the number of the upper part, and how many
    records with just that key each part sends to the lower one; and the slots of the nodes of this level.
    """
    entries = matrix_of(folder, f"entries-{part}")
    if level == 0:
        nodes = kept(folder, f"pieces-{part}")["numbers"][matrix_of(folder, f"codes-{part}")]
    else:
        nodes = np.array(matrix_of(folder, f"nodes-{level - 1}-{part}"))
        cuts = kept(folder, f"cuts-{level}")
        keys, taken = key_of_bits(cuts["keys"]), cuts["taken"][part].copy()
        send_to_parts(entries, 0, nodes.size, cuts["slots"], cuts["columns"], keys, cuts["uppers"], taken, nodes)
    keep_matrix(folder, f"nodes-{level}-{part}", nodes)
    slots = kept(folder, f"open-{level}")["slots"]
    found = Extremes.none(entries.shape[0], int(slots.max(initial=-1)) + 1)
    if found.lowest.size:
        see_extremes(entries, 0, nodes.size, nodes, slots, *found)
    keep(folder, f"extremes-{level}-{part}", **found._asdict())


def count_part(folder: Folder, part: int, level: int, turn: int) -> None:
    """Count the records of each open node by the next bits of their keys, where the bits before are the cut's."""
    nodes = np.array(matrix_of(folder, f"nodes-{level}-{part}"))
    sought, row = kept(folder, f"sought-{level}-{turn}"), rows_of(folder, f"entries-{part}")
    cut, columns = np.unique(sought["columns"], return_inverse=True)
    entries = np.array([row(column) for column in cut]).view(np.uint64)
    shift = 64 - sum(WIDTHS[: turn + 1])
    counts = np.zeros((columns.size, 1 << WIDTHS[turn]), dtype=np.int64)
    count_digits(entries, nodes, sought["slots"], columns, sought["prefixes"], shift, WIDTHS[turn], counts)
    # Few of many bins hold anything, so only those are kept.
    places = np.flatnonzero(counts)
    keep(folder, f"counts-{level}-{turn}-{part}", places=places, counts=counts.ravel()[places])


def leave_interrupts() -> None:
    """Let Ctrl-C, which a terminal sends to all processes, be the client's to answer."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def look(folder: Folder) -> tuple[str, list[str]]:
    """Return which microagg this worker has, and which of the scratch, the source and the target it does not see."""
    from microagg import __version__

    try:
        if not is_left(folder, "work"):
            return __version__, ["scratch"]
        work = object_of(folder, "work")
        source, private = work.parts[0][0][0], work.target.parent
        seen = {"source": source.exists(), "target": isinstance(private, Place) or private.is_dir()}
        return __version__, [what for what, is_there in seen.items() if not is_there]
    except (StoreFailed, InvalidData):
        return __version__, ["store"]
