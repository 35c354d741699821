"""One machine: the columns to mask lie in scratch files without names, and blocks are masked there in place."""

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microagg.algorithms.districts import GroupCorners, share_of_corners
from microagg.algorithms.equivalence import first_of_each
from microagg.algorithms.kernels.blocking import gather_keys, see_extremes, send_to_parts
from microagg.algorithms.kernels.sums import exact_sum_of_parts
from microagg.algorithms.scores import Terms, summed
from microagg.algorithms.units import Held, Labels
from microagg.columns import frames
from microagg.columns.kinds import Cells, Facts
from microagg.columns.weights import Weights
from microagg.files.batches import Batches
from microagg.files.stores import Where
from microagg.mask.engines.beyond import BeyondMemory, count_records
from microagg.mask.engines.blocks import (
    Check,
    Turns,
    fill_block,
    finish_weights,
    finished_by,
    margins_of,
    settle_turns,
    totals_found,
    turns_of,
    used_by,
)
from microagg.mask.engines.census import (
    Census,
    Keys,
    can_be_spelt,
    held_by_keys,
    n_distinct,
    spelling_keys,
    units_of,
)
from microagg.mask.engines.cuts import CutTree, Extremes, LevelCuts, districts_by, grow, second_layout
from microagg.mask.engines.figures import Compared, Drawn, Figures, Lost
from microagg.mask.engines.plan import Known, Plan, added, constants, released_schema, weighed_by
from microagg.mask.engines.scratch import Laid, Rows, Scratch, Store, cut_pieces, let_go
from microagg.mask.engines.targets import write_counted
from microagg.mask.weights import Calibrated, Margins, RoundedFacts
from microagg.work import SharedProgress, Work, in_parallel

_REGION = 1_000_000  # records that a thread masks at a time, at most, unless a block is larger
_AT_ONCE = 2_000_000  # records that all threads mask at a time, about
_REGIONS_EACH = 4  # for each thread, at least, so that all are busy to the end


class Disk(BeyondMemory):
    """The stages on this machine: the store has the columns to mask as they are read, and then as they are laid."""

    store: Store
    keys: Keys | None  # of units
    nodes: NDArray[np.int32]  # of each record
    laid: Laid

    def __init__(self, file: Batches, path: Where, plan: Plan, scratch: str | os.PathLike[str], work: Work) -> None:
        self.file, self.path, self.plan, self.work, self.n = file, path, plan, work, count_records(file, plan.k)
        self._room, self._looked = Scratch(scratch), False

    def look(self, plan: Plan) -> Plan:
        """Find out how columns are coded, reading those whose types do not say it."""
        finders = plan.finders(self.file.schema)
        names = [name for name, finder in finders.items() if finder.needs_all]
        self._looked, start = bool(names), 0
        for table in self.file.tables(names) if names else ():
            if table.num_rows:
                plan.look(finders, table)
            start += table.num_rows
            self.work.tell(min(start, self.n) // 2, 3 * self.n)
        return plan.with_coders(finders)

    def read(self, plan: Plan) -> tuple[Plan, Census]:
        """Copy columns to mask, weights and units into scratch; count what must be known; find each record's piece."""
        n, file, room = self.n, self.file, self._room
        store = self.store = Store(room, plan.n_stored, n)
        keys = self.keys = None if plan.unit is None else room.array((n,), np.uint64)
        spelt = room.array((n,), np.uint64) if can_be_spelt(plan, file.schema) else None
        codes = np.zeros(n, dtype=np.int32)
        numbering, census = frames.Numbering(plan.strata), Census(plan)
        start = 0
        for table in file.tables(plan.read):
            stop = start + table.num_rows
            if table.num_rows == 0:
                continue
            if stop > n:
                break
            rows = slice(start, stop)
            strata = numbering.codes(table) if plan.strata else np.zeros(table.num_rows, dtype=np.int64)
            cells, codes[rows], own = census.count(plan, file, table, strata)
            for j, fresh in enumerate(cells):
                store.put(j, rows, fresh)
            if keys is not None:
                keys[rows] = own
            if spelt is not None:
                spelt[rows] = spelling_keys(plan, table)
            store.let_go()
            start = stop
            self.work.tell((n + start) // 2 if self._looked else start, 3 * n)
        file.check_unchanged()
        census.check(plan)
        if spelt is not None and keys is not None:
            plan = replace(plan, joined_spellings=n_distinct(spelt, store.chunks) - n_distinct(keys, store.chunks))
        plan = census.cut(plan, None if keys is None else self._holding(plan, keys, codes))
        self.nodes = census.patterns.pieces.astype(np.int32)[codes]
        return plan, census

    def _holding(self, plan: Plan, keys: Keys, codes: NDArray[np.int32]) -> Callable[[Labels, bool], Held]:
        """Return what counts the units of pieces, as `Census.cut` asks for it; `codes` are the numbers of records."""

        def held(pieces: Labels, light: bool) -> Held:
            def parts() -> Iterator[tuple[Labels, Keys]]:
                for rows in self.store.chunks():
                    own: Any = self.store.cells(len(plan.names), rows).values > 0 if light else slice(None)
                    yield pieces[codes[rows]][own], keys[rows][own]

            return held_by_keys(parts, self.n, int(pieces.max()) + 1)

        return held

    def constants(self, plan: Plan, census: Census) -> Known:
        """Find the constants of all columns, and what they weigh, as protect() has them to the last bit."""
        store, first, scales = self.store, len(plan.names), census.scales

        def found(j: int) -> tuple[Facts, float]:
            def add(terms: Terms) -> float:
                return exact_sum_of_parts(terms(store.cells(j, rows).known) for rows in store.chunks())

            return summed(constants(plan.columns[j].kind, census.tallies[j].facts), add)

        known = Known.of(plan, census.tallies, [found(j) for j in range(first)])
        if not scales:
            return known
        parts = (weighed_by(plan, known.facts, scales, store.all_cells(rows)) for rows in store.chunks())
        weighed = reduce(added, parts)

        def base(j: int) -> tuple[float, float]:
            def terms_of(terms: Terms, rows: Rows) -> NDArray[np.float64]:
                cells = store.cells(j, rows)
                return np.asarray(terms(cells.known) * store.cells(first, rows).values[cells.present])

            def add(terms: Terms) -> float:
                return exact_sum_of_parts(terms_of(terms, rows) for rows in store.chunks())

            return summed(plan.columns[j].kind.weighted_base(known.facts[j], weighed[0][j], scales[0].power), add)

        return known.with_weights(scales, weighed, [base(j) for j in range(first)])

    def grow(self, plan: Plan, known: Known) -> CutTree:
        """Cut the file: `nodes` then has the node of each record, which stay in the order of their rows."""
        store, nodes, n_jobs = self.store, self.nodes, self.work.n_jobs
        if not plan.by_rank:
            placed = (known.space.place(plan.table(store.all_cells(rows))) for rows in store.chunks())
            tree, self.nodes = cut_pieces(plan, placed, nodes.astype(np.int64), self.keys, self._room, n_jobs)
            return tree
        n_nodes = int(nodes.max()) + 1
        sizes = sum(np.bincount(nodes[rows], minlength=n_nodes) for rows in store.chunks())
        entries = np.empty((0, 0))

        def place(rows: slice, check: Check) -> None:
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
                entries = self._room.array((known.space.n_entries, self.n), np.float64)
                in_parallel(place, list(store.chunks()), n_jobs)

            def see(rows: slice, check: Check) -> Extremes:
                check()
                found = Extremes.none(entries.shape[0], n_open)
                see_extremes(entries, rows.start, rows.stop, nodes[rows], slots, *found)
                let_go(entries)
                return found

            return Extremes.joined(in_parallel(see, list(store.chunks()), n_jobs))

        def cut(_: int, how: LevelCuts) -> None:
            keys, taken = self._select(entries, how)
            for rows in store.chunks():
                own = nodes[rows]
                send_to_parts(entries, rows.start, rows.stop, how.slots, how.columns, keys, how.uppers, taken, own)
                let_go(entries)

        return grow(plan, known, np.asarray(sizes).tolist(), self._most(plan), look, cut)

    def _select(self, entries: NDArray[np.float64], how: LevelCuts) -> tuple[NDArray[np.float64], Labels]:
        """Return for each slot the key of the last record of its lower part, and how many with just that go there."""
        sizes, ends = how.sizes, np.cumsum(how.sizes)
        keys, places = np.empty(int(ends[-1])), ends - sizes
        for rows in self.store.chunks():
            gather_keys(entries, rows.start, rows.stop, self.nodes[rows], how.slots, how.columns, places, keys)
            let_go(entries)

        def find(slot: int, check: Check) -> tuple[float, int]:
            check()
            own, last = keys[ends[slot] - sizes[slot] : ends[slot]], int(how.lower[slot]) - 1
            own.partition(last)
            return own[last], last + 1 - int(np.count_nonzero(own[: last + 1] < own[last]))

        found = in_parallel(find, range(ends.size), self.work.n_jobs)
        return np.array([key for key, _ in found]), np.array([taken for _, taken in found], dtype=np.int64)

    def _most(self, plan: Plan) -> int:
        """Return how many records a thread masks at a time."""
        n_jobs = self.work.n_jobs
        return max(plan.max_block, min(_REGION, _AT_ONCE // n_jobs, self.n // (_REGIONS_EACH * n_jobs)))

    def mask(self, plan: Plan, known: Known, tree: CutTree) -> Figures:
        """Lay records node by node, and mask them; where groups are refined across borders, lay them a second time."""
        n, most, tried = self.n, self._most(plan), 0
        laid = self.laid = Laid(plan, self.store, self.keys, self.nodes, tree, most)
        if plan.refined and tree.bordered.any():
            second, led, tried = self._across(plan, known)
            del self.laid, laid  # which takes as much room as what follows it
            laid = self.laid = Laid(plan, self.store, self.keys, self.nodes, second, most, led)
            del led
        del self.store
        told = SharedProgress(self.work.part(n + n // 2 if laid.again else n, 2 * n, 3 * n).progress, n)

        def mask(number: int, check: Check) -> Figures:
            own, region = laid.rows(number), laid.region(number)
            labels, figures = region.mask(plan, known, check, told)
            for j, fresh in enumerate(region.cells):
                if j not in plan.by_turns:
                    laid.store.put(j, own, fresh)
            laid.leads[own] = region.rows[first_of_each(labels)][labels]
            if laid.labels is not None:
                laid.labels[own] = labels
            laid.let_go()
            return figures

        figures = reduce(Figures.join, in_parallel(mask, range(laid.n_regions), self.work.n_jobs))
        return figures._replace(moves=figures.moves + tried)

    def _across(self, plan: Plan, known: Known) -> tuple[CutTree, Labels, int]:
        """Group the records of each region, to refine the groups across the borders of blocks.

        Gives the tree of the second layout, the lowest row of each row's group, and the moves that were tried; `nodes`
        then has those of the second layout.
        """
        laid, room, n = self.laid, self._room, self.n
        labels = laid.labels
        assert labels is not None
        told = SharedProgress(self.work.part(n, n + n // 2, 3 * n).progress, n)
        share = share_of_corners(n, plan.k)
        led = room.array((n,), np.int64)

        def group(number: int, check: Check) -> tuple[int, GroupCorners, GroupCorners]:
            region = laid.region(number)
            groups, moves, corners = region.group(plan, known, check, told)
            labels[laid.rows(number)] = groups
            led[region.rows] = region.rows[first_of_each(groups)][groups]
            kept = room.array(corners.entries.shape, np.float64)
            kept[:] = corners.entries
            laid.let_go()
            for array in (led, labels, kept):
                let_go(array)
            return moves, corners.drawn(share), corners._replace(entries=kept)

        moves, drawn, corners = zip(*in_parallel(group, range(laid.n_regions), self.work.n_jobs), strict=True)
        districts = districts_by(plan, known, laid.tree, drawn, share)
        found = [districts.find(own) for own in corners]
        second, nodes = second_layout(plan, laid.tree, districts, found, [own.sizes for own in corners])
        for region, own in enumerate(nodes):
            rows = laid.rows(region)
            self.nodes[laid.rows_in_file[rows]] = own[labels[rows]]
            laid.let_go()
        return second, led, sum(moves)

    def take_turns(self, plan: Plan, known: Known) -> Known:
        """Put in place what groups release that must choose in turn; return which categories are released.

        One column comes after the other, for the sake of memory.
        """
        laid, store = self.laid, self.laid.store
        regions, n_jobs, drawn = range(laid.n_regions), self.work.n_jobs, plan.rule.nominal == "draw"

        def groups_of(region: int) -> Labels:
            assert laid.labels is not None
            return np.asarray(laid.labels[laid.rows(region)].astype(np.int64))

        def weights(rows: slice) -> Weights | None:
            if not plan.weighing.weighted:
                return None
            units = units_of(plan, None if laid.keys is None else laid.keys[rows])
            values = store.cells(len(plan.names), rows).values
            return Weights(values, known.scales[0].power, None if units is None else units.codes)

        def lowest(region: int, check: Check) -> Labels:
            check()
            return np.asarray(laid.rows_in_file[laid.rows(region)][first_of_each(groups_of(region))])

        def turns(region: int, check: Check) -> Turns:
            check()
            own = laid.rows(region)
            in_file, cells = laid.rows_in_file[own], store.cells(j, own)
            return turns_of(plan, known, j, cells, groups_of(region), in_file, weights(own))

        def fill(region: int, check: Check) -> None:
            check()
            own = laid.rows(region)
            cells = store.cells(j, own)
            store.put(j, own, fill_block(plan, known, j, cells, groups_of(region), choices[region], weights(own)))
            store.let_go()

        first_rows = in_parallel(lowest, regions, n_jobs) if drawn and plan.by_turns else []
        for j in plan.by_turns:
            found: list[Any] = first_rows if drawn else in_parallel(turns, regions, n_jobs)
            choices = list(settle_turns(plan, known, j, found))
            in_parallel(fill, regions, n_jobs)
        used = {
            j: reduce(np.logical_or, (used_by(plan, j, store.cells(j, rows)) for rows in store.chunks()))
            for j in plan.with_dictionaries(self.file.schema)
        }
        return replace(known, used=used)

    def finish_weights(self, plan: Plan, known: Known) -> tuple[Calibrated | None, RoundedFacts]:
        """Calibrate the weights of groups, where that is asked for, and round them; return what that did."""
        store, margins = self.laid.store, list[Margins]()
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

    def write(self, plan: Plan, known: Known, share: float) -> tuple[int, Lost, Drawn]:
        """Write the released columns, part by part, the masked ones from scratch; count what was written and lost.

        Draw a share of the groups, to judge them.
        """
        n, file, laid = self.n, self.file, self.laid
        schema, promise = released_schema(plan, known, file.schema), plan.promise
        if self.keys is not None:
            promise = promise.of_units(self.keys, plan.in_part)
        compared = Compared(plan, known, file, share)

        def tables() -> Iterator[pa.Table]:
            start, places = 0, laid.places()
            for stored in file.stored():
                stop = start + stored.num_rows
                if stop > n:
                    break
                where = places(slice(start, stop))
                cells, leads = laid.store.all_cells(where), laid.leads[where]
                laid.let_go()
                yield compared.release(stored, start, cells, leads)
                start = stop
            file.check_unchanged()

        writing = self.work.part(2 * n, 3 * n, 3 * n).progress
        fewest = write_counted(file, self.path, schema, promise, n, tables(), self._room, writing)
        return fewest, *compared.found
