"""One machine: the columns to mask lie in scratch files without names, and blocks are masked there in place."""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microagg.algorithms.districts import GroupCorners, share_of_corners
from microagg.algorithms.equivalence import first_of_each
from microagg.algorithms.kernels.sums import exact_sum_of_parts
from microagg.algorithms.scores import Terms, summed
from microagg.algorithms.units import Held
from microagg.columns import frames
from microagg.columns.kinds import Cells, Facts
from microagg.columns.patterns import PatternsSeen
from microagg.columns.weighing import WeightSeen, weights_in
from microagg.columns.weights import Weights, WeightScale
from microagg.files.batches import Batches
from microagg.files.stores import Where
from microagg.mask.engines.blocks import (
    Labels,
    Turns,
    draws_of_blocks,
    fill_block,
    finish_weights,
    finished_by,
    margins_of,
    mask_nodes,
    settle_turns,
    totals_found,
    turns_of,
    used_by,
)
from microagg.mask.engines.cuts import Tree
from microagg.mask.engines.districts import districts_by, group_nodes, mask_districts, second_layout
from microagg.mask.engines.figures import Figures, Lost, Outcome, lost_between
from microagg.mask.engines.nodes import Laid, grow_here, lay
from microagg.mask.engines.plan import (
    Known,
    Plan,
    Tally,
    added,
    check_columns,
    check_missing,
    constants,
    missing_in_strata,
    released,
    released_schema,
    scales_of,
    tally,
    weighed_by,
)
from microagg.mask.engines.run import Seen, count_records, mask_file
from microagg.mask.engines.sample import Drawn
from microagg.mask.engines.store import Rows, Scratch, Store, let_go
from microagg.mask.engines.units import (
    Keys,
    can_be_spelt,
    check_units_known,
    find_pieces,
    held_by_keys,
    missing_units,
    n_distinct,
    spelling_keys,
    unit_keys,
    units_of,
)
from microagg.mask.engines.written import write_counted
from microagg.mask.grouping import check_stratum_sizes
from microagg.mask.weights import Calibrated, Margins, RoundedFacts
from microagg.work import Progress, Told, Work, in_parallel, tell

_REGION = 1_000_000  # records that a thread masks at a time, at most, unless a block is larger
_AT_ONCE = 2_000_000  # records that all threads mask at a time, about
_REGIONS_EACH = 4  # for each thread, at least, so that all are busy to the end


class Disk:
    """The stages on this machine: the store has the columns to mask as they are read, and then as they are laid."""

    store: Store
    keys: Keys | None  # of units
    nodes: NDArray[np.int32]  # of each record
    laid: Laid

    def __init__(self, file: Batches, path: Where, scratch: str | os.PathLike[str], work: Work, n: int) -> None:
        self.file, self.path, self.work, self.n = file, path, work, n
        self._room, self._looked = Scratch(scratch), False

    def look(self, plan: Plan) -> Plan:
        """Find out how columns are coded, reading those whose types do not say it."""
        plan, self._looked = _looked(self.file, plan, self.n, self.work.progress)
        return plan

    def read(self, plan: Plan) -> Seen:
        """Copy columns to mask, weights and units into scratch; count what must be known."""
        n, room = self.n, self._room
        self.store = Store(room, plan.n_stored, n)
        self.keys = None if plan.unit is None else room.array((n,), np.uint64)
        can_be = plan.unit is not None and can_be_spelt(plan, self.file.schema)
        return self._ingest(plan, room.array((n,), np.uint64) if can_be else None)

    def constants(self, seen: Seen) -> Known:
        """Find the constants of all columns, and what they weigh."""
        plan, store, scales = seen.plan, self.store, seen.scales
        return _weighed(plan, store, _known(plan, store, seen.tallies), scales)

    def grow(self, plan: Plan, known: Known) -> Tree:
        """Cut the file by rank."""
        return grow_here(plan, known, self.store, self._room, self.nodes, self._most(plan), self.work.n_jobs)

    def _most(self, plan: Plan) -> int:
        """Return how many records a thread masks at a time."""
        n_jobs = self.work.n_jobs
        return max(plan.max_block, min(_REGION, _AT_ONCE // n_jobs, self.n // (_REGIONS_EACH * n_jobs)))

    def mask(self, plan: Plan, known: Known, tree: Tree) -> Figures:
        """Lay records node by node, and mask them; where groups are refined across borders, lay them a second time."""
        most, tried = self._most(plan), 0
        self.laid = lay(plan, self.store, self.keys, self._room, tree, most, self.nodes)
        if plan.refined and tree.bordered.any():
            second, led, tried = self._across(plan, known)
            del self.laid  # which takes as much room as what follows it
            self.laid = lay(plan, self.store, self.keys, self._room, second, most, self.nodes, led)
            del led
        del self.store
        return _mask(plan, known, self.laid, tried, self.work)

    def take_turns(self, plan: Plan, known: Known) -> Known:
        """Put in place what groups release that must choose in turn; return which categories are released."""
        if plan.by_turns:
            _take_turns(plan, known, self.laid, self.work.n_jobs)
        return replace(known, used=_used(plan, self.laid.store, self.file.schema))

    def finish_weights(self, plan: Plan, known: Known) -> tuple[Calibrated | None, RoundedFacts]:
        """Calibrate the weights of groups, where that is asked for, and round them; return what that did."""
        return _finish_weights(plan, known, self.laid.store)

    def write(self, plan: Plan, known: Known, share: float) -> tuple[int, Lost, Drawn]:
        """Write the released columns, part by part, the masked ones from scratch; count what was written and lost.

        Draw a share of the groups, to judge them.
        """
        n, file, laid, keys = self.n, self.file, self.laid, self.keys
        schema, promise = released_schema(plan, known, file.schema), plan.promise
        if keys is not None:
            promise = promise.of_units(keys, plan.in_part)
        lost, drawn = [], []

        def tables() -> Iterator[pa.Table]:
            start, places = 0, laid.layout.places()
            for stored in file.stored():
                table = file.typed(stored)
                stop = start + table.num_rows
                if stop > n:
                    break
                where = places(slice(start, stop))
                cells, leads = laid.store.all_cells(where), laid.leads[where]
                laid.let_go()
                fresh = released(plan, known, table, cells)
                if table.num_rows:
                    drawn.append(Drawn.of(start, leads, share, stored, fresh))
                    lost.append(lost_between(known, plan.coded(table), plan.coded(fresh), plan.weights(cells)))
                yield fresh
                start = stop
            file.check_unchanged()

        writing = self.work.part(2 * n, 3 * n, 3 * n).progress
        fewest = write_counted(file, self.path, schema, promise, n, tables(), self._room, writing)
        return fewest, reduce(Lost.join, lost), Drawn.joined(drawn)

    def _ingest(self, plan: Plan, spelt: Keys | None) -> Seen:
        """Copy columns to mask, weights and units into scratch; count what must be known; find each record's piece."""
        n, file, store, keys = self.n, self.file, self.store, self.keys
        tallies: list[Tally] = []
        codes = np.zeros(n, dtype=np.int32)
        numbering, seen = frames.Numbering(plan.strata), PatternsSeen(plan.by_pattern)
        lacking: Counter[str] = Counter()
        weights: dict[str, list[WeightSeen]] = {name: [] for name in plan.weighing.used}
        start, without_unit = 0, 0
        for table in file.tables(plan.read):
            stop = start + table.num_rows
            if table.num_rows == 0:
                continue
            if stop > n:
                break
            coded = plan.coded(table)
            for j, column in enumerate(coded):
                store.put(j, slice(start, stop), column.cells)
            for j, (name, seen_weights) in enumerate(weights.items(), len(plan.names)):
                values = weights_in(file.as_numbers(table[name], name), name)
                store.put(j, slice(start, stop), Cells(values))
                seen_weights.append(WeightSeen.of(values))
            if keys is not None:
                keys[start:stop] = unit_keys(plan, table)
                without_unit += missing_units(plan, table)
            if spelt is not None:
                spelt[start:stop] = spelling_keys(plan, table)
            found = tally(plan, coded, None if keys is None else keys[start:stop])
            tallies = [one.join(other) for one, other in zip(tallies, found, strict=True)] if tallies else found
            strata = numbering.codes(table) if plan.strata else np.zeros(table.num_rows, dtype=np.int64)
            codes[start:stop] = seen.codes(coded, strata)
            lacking.update(missing_in_strata(plan, table))
            store.let_go()
            start = stop
            self.work.tell((n + start) // 2 if self._looked else start, 3 * n)
        file.check_unchanged()
        check_units_known(plan, without_unit)
        check_missing(plan, tallies, lacking)
        check_stratum_sizes(seen.strata_sizes, plan.k, plan.strata)
        check_columns(plan, tallies)
        scales = scales_of(weights)

        def weigh(rows: slice) -> NDArray[np.bool_]:
            return store.cells(len(plan.names), rows).values > 0

        def held(pieces: Labels, some: Callable[[slice], Any] = lambda _: slice(None)) -> Held:
            def parts() -> Iterator[tuple[Labels, Keys]]:
                assert keys is not None
                for rows in store.chunks():
                    own = some(rows)
                    yield pieces[codes[rows]][own], keys[rows][own]

            return held_by_keys(parts, n, int(pieces.max()) + 1)

        def weighing(pieces: Labels) -> Labels:
            if keys is not None:
                return held(pieces, weigh).units
            counts = (np.bincount(pieces[codes[rows]], weigh(rows), int(pieces.max()) + 1) for rows in store.chunks())
            return np.asarray(sum(counts), dtype=np.int64)

        if spelt is not None and keys is not None:
            plan = replace(plan, joined_spellings=n_distinct(spelt, store.chunks) - n_distinct(keys, store.chunks))
        matters = plan.weighing.weighted and scales[0].zeros
        plan, patterns = find_pieces(plan, seen, None if keys is None else held, weighing if matters else None)
        self.nodes = patterns.pieces.astype(np.int32)[codes]
        return Seen(plan, tallies, patterns, scales)

    def _across(self, plan: Plan, known: Known) -> tuple[Tree, Labels, int]:
        """Group the records of each region, to refine the groups across the borders of blocks.

        Gives the tree of the second layout, the lowest row of each row's group, and the moves that were tried; `nodes`
        then has those of the second layout.
        """
        laid, room, n_jobs = self.laid, self._room, self.work.n_jobs
        n, labels = self.n, laid.labels
        assert labels is not None
        told = Told(self.work.part(n, n + n // 2, 3 * n).progress, n)
        share = share_of_corners(n, plan.k)
        led = room.array((n,), np.int64)

        def group(region: int, check: Callable[[], None]) -> tuple[int, GroupCorners, GroupCorners]:
            own, rows = laid.rows(region), np.array(laid.rows_in_file[laid.rows(region)])
            units = None if laid.keys is None else laid.keys[own]
            groups, moves, corners = group_nodes(
                plan, known, laid.cells(region), laid.nodes(region), units, check, told
            )
            labels[own] = groups
            led[rows] = rows[first_of_each(groups)][groups]
            kept = room.array(corners.entries.shape, np.float64)
            kept[:] = corners.entries
            laid.let_go()
            for array in (led, labels, kept):
                let_go(array)
            return moves, corners.drawn(share), corners._replace(entries=kept)

        moves, drawn, corners = zip(*in_parallel(group, range(laid.n_regions), n_jobs), strict=True)
        districts = districts_by(plan, known, laid.tree, drawn, share)
        found = [districts.find(own) for own in corners]
        second = second_layout(plan, laid.tree, districts, found, [own.sizes for own in corners])
        for region, own in enumerate(second.nodes):
            rows = laid.rows(region)
            self.nodes[laid.rows_in_file[rows]] = own[labels[rows]]
            laid.let_go()
        return second.tree, led, sum(moves)


def run(file: Batches, path: Where, plan: Plan, scratch: str | os.PathLike[str], work: Work) -> tuple[Outcome, Drawn]:
    """Mask a file on this machine; give what is known of it, and the records to judge it by."""
    return mask_file(Disk(file, path, scratch, work, count_records(file, plan.k)), plan)


def _looked(file: Batches, plan: Plan, n: int, progress: Progress | None) -> tuple[Plan, bool]:
    """Find out how columns are coded, reading those whose types do not say it; return whether there were any."""
    finders = plan.finders(file.schema)
    names = [name for name, finder in finders.items() if finder.needs_all]
    start = 0
    for table in file.tables(names) if names else ():
        if table.num_rows:
            plan.look(finders, table)
        start += table.num_rows
        tell(progress, min(start, n) // 2, 3 * n)
    return plan.with_coders(finders), bool(names)


def _known(plan: Plan, store: Store, tallies: Sequence[Tally]) -> Known:
    """Find the constants of all columns, as protect() has them to the last bit."""

    def found(j: int) -> tuple[Facts, float]:
        def add(terms: Terms) -> float:
            return exact_sum_of_parts(terms(store.cells(j, rows).known) for rows in store.chunks())

        return summed(constants(plan.columns[j].kind, tallies[j].facts), add)

    return Known.of(plan, tallies, [found(j) for j in range(len(plan.names))])


def _weighed(plan: Plan, store: Store, known: Known, scales: Sequence[WeightScale]) -> Known:
    """Find what levels and categories weigh, and what one value for all would lose by weight."""
    if not scales:
        return known
    parts = (weighed_by(plan, known.facts, scales, store.all_cells(rows)) for rows in store.chunks())
    weighed = reduce(added, parts)
    first = len(plan.names)

    def base(j: int) -> tuple[float, float]:
        def terms_of(terms: Terms, rows: Rows) -> NDArray[np.float64]:
            cells = store.cells(j, rows)
            return np.asarray(terms(cells.known) * store.cells(first, rows).values[cells.present])

        def add(terms: Terms) -> float:
            return exact_sum_of_parts(terms_of(terms, rows) for rows in store.chunks())

        return summed(plan.columns[j].kind.weighted_base(known.facts[j], weighed[0][j], scales[0].power), add)

    return known.with_weights(scales, weighed, [base(j) for j in range(first)])


def _mask(plan: Plan, known: Known, laid: Laid, tried: int, work: Work) -> Figures:
    """Group the records of each region, and put in place what groups release by themselves.

    In a second layout they are in groups already, which are refined once more; `tried` are the moves of the first.
    """
    n, store = laid.store.n_records, laid.store
    told = Told(work.part(n + n // 2 if laid.again else n, 2 * n, 3 * n).progress, n)

    def mask(region: int, check: Callable[[], None]) -> Figures:
        own, cells = laid.rows(region), laid.cells(region)
        units, nodes = None if laid.keys is None else laid.keys[own], laid.nodes(region)
        if laid.again:
            leads = np.array(laid.leads[own])
            labels, figures = mask_districts(plan, known, cells, nodes, units, leads, check, told)
        else:
            labels, figures = mask_nodes(plan, known, cells, nodes, units, check, told)
        for j, fresh in enumerate(cells):
            if j not in plan.by_turns:
                store.put(j, own, fresh)
        laid.leads[own] = laid.rows_in_file[own][first_of_each(labels)][labels]
        if laid.labels is not None:
            laid.labels[own] = labels
        laid.let_go()
        return figures

    figures = reduce(Figures.join, in_parallel(mask, range(laid.n_regions), work.n_jobs))
    return figures._replace(moves=figures.moves + tried)


def _take_turns(plan: Plan, known: Known, laid: Laid, n_jobs: int) -> None:
    """Put in place what groups release that must choose in turn; one column after the other, for the sake of memory."""
    regions, drawn = range(laid.n_regions), plan.rule.nominal == "draw"
    assert laid.labels is not None
    labels, in_file = laid.labels, laid.rows_in_file

    def lowest(region: int, check: Callable[[], None]) -> Labels:
        check()
        own = laid.rows(region)
        return np.asarray(in_file[own][first_of_each(labels[own].astype(np.int64))])

    def weights(rows: slice) -> Weights | None:
        if not plan.weighing.weighted:
            return None
        units = None if laid.keys is None else units_of(plan, laid.keys[rows]).codes
        return Weights(laid.store.cells(len(plan.names), rows).values, known.scales[0].power, units)

    first_rows = in_parallel(lowest, regions, n_jobs) if drawn else []
    for j in plan.by_turns:

        def turns(region: int, check: Callable[[], None], j: int = j) -> Turns:
            check()
            own = laid.rows(region)
            groups = labels[own].astype(np.int64)
            return turns_of(plan, known, j, laid.store.cells(j, own), groups, in_file[own], weights(own))

        choices: list[Any] = list(
            draws_of_blocks(plan, known, j, first_rows)
            if drawn
            else settle_turns(plan, known, j, in_parallel(turns, regions, n_jobs))
        )

        def fill(region: int, check: Callable[[], None], j: int = j, choices: list[Any] = choices) -> None:
            check()
            own = laid.rows(region)
            groups, cells = labels[own].astype(np.int64), laid.store.cells(j, own)
            laid.store.put(j, own, fill_block(plan, known, j, cells, groups, choices[region], weights(own)))
            laid.store.let_go()

        in_parallel(fill, regions, n_jobs)


def _finish_weights(plan: Plan, known: Known, store: Store) -> tuple[Calibrated | None, RoundedFacts]:
    """Calibrate the weights of groups, where that is asked for, and round them; return what that did."""
    margins: list[Margins] = []
    if plan.weighing.calibrate:
        found = reduce(added, (totals_found(plan, known, store.all_cells(rows)) for rows in store.chunks()))
        margins = margins_of(plan, known, found)
    first, done = len(plan.names) + len(plan.weighing.used), []
    for rows in store.chunks():
        values, finished = finish_weights(plan, known, store.all_cells(rows), margins)
        done.append(finished)
        for j, own in enumerate(values, first):
            store.put(j, rows, Cells(own))
    return finished_by(plan, known, done)


def _used(plan: Plan, store: Store, source: pa.Schema) -> dict[int, NDArray[np.bool_]]:
    """Return which categories are released, of columns that are kept with a dictionary."""
    return {
        j: reduce(np.logical_or, (used_by(plan, j, store.cells(j, rows)) for rows in store.chunks()))
        for j in plan.with_dictionaries(source)
    }
