"""The stages of a run on a cluster: independent tasks, and what the client makes of what they find."""

import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg import __version__
from microagg.algorithms.districts import share_of_corners
from microagg.algorithms.kernels.alike import fewest_alike
from microagg.algorithms.kernels.sums import round_digits
from microagg.algorithms.scores import Sums
from microagg.algorithms.units import Held
from microagg.columns import frames
from microagg.columns.patterns import Patterns, PatternsSeen
from microagg.columns.weights import WeightScale
from microagg.errors import ClusterFailed
from microagg.files.batches import Batches, read_row_groups
from microagg.files.stores import Where
from microagg.mask.engines import regions, tasks
from microagg.mask.engines.blocks import draws_of_blocks, finished_by, margins_of, settle_turns
from microagg.mask.engines.cuts import Cut, Extremes, Tree, grow
from microagg.mask.engines.districts import districts_by, second_layout
from microagg.mask.engines.figures import Figures, Lost
from microagg.mask.engines.folder import (
    Folder,
    forget,
    in_turn,
    keep,
    keep_matrix,
    keep_object,
    kept,
    object_in,
    part_of,
)
from microagg.mask.engines.plan import (
    Known,
    Plan,
    Tally,
    added,
    check_columns,
    check_missing,
    constants,
    released_schema,
    scales_of,
)
from microagg.mask.engines.regions import Settled
from microagg.mask.engines.run import Seen
from microagg.mask.engines.store import Scratch
from microagg.mask.engines.tasks import WIDTHS
from microagg.mask.engines.units import check_units_known, find_pieces
from microagg.mask.engines.written import write_counted
from microagg.mask.pieces import check_stratum_sizes
from microagg.mask.weights import Calibrated, Margins, RoundedFacts
from microagg.work import Progress, Work

_LOOK_EVERY, _PATIENCE = 2.0, 60.0  # seconds: between two looks at the workers, and without any before giving up
_WEIGHTED = 100  # turns of sums from here on are of weighted ones
_UNSEEN = {
    "scratch": "cannot reach the folder for temporary files. Pass as scratch= a folder that all machines share under "
    "the same path, or a place in a store, such as s3://bucket/scratch.",
    "source": "cannot reach the source. Put it where all machines reach it under the same path, or into a store.",
    "target": "cannot reach the folder of the target. Name one that all machines reach under the same path, or a "
    "store.",
    "store": "cannot reach the store. Give it the same key or role that you have, and the endpoint if there is one.",
}


class Stages:
    """The stages of a run, each a set of independent tasks and what the client makes of their findings."""

    _pieces: list[int]  # their sizes
    _settled: Settled
    _n_regions: int

    def __init__(self, client: Any, folder: Folder, file: Batches, sizes: list[int], most: int, work: Work) -> None:
        self.client, self.folder, self.file, self.work = client, folder, file, work
        self.sizes, self.n = sizes, sum(sizes)
        self._most = most  # records of a region, unless a block is larger

    def check_workers(self) -> None:
        """Refuse a cluster whose workers do not see the scratch, or have another microagg."""
        try:
            found = self.client.run(tasks.look, self.folder)
        except Exception as error:  # noqa: BLE001 - whatever a worker without microagg says
            raise ClusterFailed(
                f"the workers cannot run microagg ({type(error).__name__}). Install it on each of them."
            ) from None
        if not found:
            raise ClusterFailed("the cluster has no workers. Start some, then run again.")
        for address, (version, unseen) in found.items():
            if unseen:
                raise ClusterFailed(f"the worker at {address} {_UNSEEN[unseen[0]]}")
            if version != __version__:
                raise ClusterFailed(
                    f"the worker at {address} has microagg {version}, not {__version__}. Install the same everywhere."
                )

    def each(self, task: Callable[..., None], sizes: Sequence[int], *more: Any, done: int | None = None) -> None:
        """Run a task for each number of a part or region; report progress from `done` on, by their sizes."""
        from distributed import KilledWorker, wait

        homes = self._homes()
        futures = {
            self.client.submit(task, self.folder, number, *more, pure=False, **homes[number % len(homes)]): size
            for number, size in enumerate(sizes)
        }
        waiting = set(futures)
        idle_since = time.monotonic()
        try:
            while waiting:
                try:
                    with self.client.as_current():
                        finished = wait(waiting, timeout=_LOOK_EVERY, return_when="FIRST_COMPLETED").done
                except TimeoutError:
                    if self.client.nthreads():
                        idle_since = time.monotonic()
                    elif time.monotonic() - idle_since > _PATIENCE:
                        raise ClusterFailed(
                            "the cluster has lost all its workers. Start some, then run again."
                        ) from None
                    continue
                for future in finished:
                    future.result()
                    if done is not None:
                        done += futures[future]
                        self.work.tell(done, 3 * self.n)
                waiting -= finished
        except KilledWorker:
            raise ClusterFailed(
                "a worker died several times at the same task, most likely because it had too little memory. Give "
                "workers more memory, or lower max_block and write the file in smaller row groups."
            ) from None
        finally:
            self.client.cancel(list(futures))

    def _homes(self) -> list[dict[str, Any]]:
        """Return where tasks are best done: by a store, each part by the worker that may have read it before."""
        if isinstance(self.folder, Path) or not (workers := sorted(self.client.nthreads())):
            return [{}]
        return [{"workers": [one], "allow_other_workers": True} for one in workers]

    def each_part(self, task: Callable[..., None], *more: Any, done: int | None = None) -> None:
        """Run a task for each part."""
        self.each(task, self.sizes, *more, done=done)

    def found(self, name: str) -> Iterator[dict[str, NDArray[Any]]]:
        """Read what a task has left for each part, one after the other."""
        return in_turn(self.folder, lambda part: kept(self.folder, f"{name}-{part}"), len(self.sizes))

    def forget(self, pattern: str) -> None:
        """Remove files that no later stage needs."""
        forget(self.folder, pattern)

    def objects(self, name: str, count: int) -> Iterator[Any]:
        """Read objects that tasks have left, one after the other."""
        return in_turn(self.folder, lambda number: object_in(self.folder, f"{name}-{number}"), count)

    def look(self, plan: Plan) -> Plan:
        """Find out how columns are coded, reading those whose types do not say it."""
        finders = plan.finders(self.file.schema)
        if any(finder.needs_all for finder in finders.values()):
            self.each_part(tasks.look_part)
            for found in self.objects("seen", len(self.sizes)):
                for name, finder in finders.items():
                    finder.join(found[name])
        plan = plan.with_coders(finders)
        keep_object(self.folder, "coded", plan)
        return plan

    def read(self, plan: Plan) -> Seen:
        """Let each part be read, and pass its pieces' numbers in the whole file to it; return what all know."""
        self.each_part(tasks.read_part, done=0)
        self.file.check_unchanged()
        weights: dict[str, list[Any]] = {name: [] for name in plan.weighing.used}
        numbering, seen, lacking = frames.Numbering(plan.strata), PatternsSeen(plan.by_pattern), Counter[str]()
        tallies: list[Tally] = []
        numbers, weighing, without_unit = [], [], 0
        for part, found in enumerate(self.objects("found", len(self.sizes))):
            strata = np.zeros(1, dtype=np.int64)
            if plan.strata:
                strata = numbering.codes(object_in(self.folder, f"strata-{part}"))
            numbers.append(seen.join(found.patterns, strata))
            weighing.append(found.weighing)
            tallies = list(map(Tally.join, tallies, found.tallies)) if tallies else found.tallies
            lacking.update(found.lacking)
            without_unit += found.without_unit
            for name, seen_weights in weights.items():
                seen_weights.append(found.weights[name])
        check_units_known(plan, without_unit)
        check_missing(plan, tallies, lacking)
        check_stratum_sizes(seen.strata_sizes, plan.k, plan.strata)
        check_columns(plan, tallies)
        scales = scales_of(weights)
        light = plan.weighing.weighted and scales[0].zeros
        if plan.unit is None:
            heavy = np.zeros(seen.sizes.size, dtype=np.int64)
            for own, counts in zip(numbers, weighing, strict=True):
                heavy[own] += counts
            of_records = lambda pieces: np.bincount(pieces, weights=heavy).astype(np.int64)  # noqa: E731
            plan, patterns = find_pieces(plan, seen, None, of_records if light else None)
        else:
            plan, patterns = self._pieces_with_units(plan, seen, numbers, light)
        for part, own in enumerate(numbers):
            keep(self.folder, f"pieces-{part}", numbers=patterns.pieces[own].astype(np.int32))
        sizes = np.bincount(patterns.pieces, weights=seen.sizes)
        self._pieces = [int(size) for size in sizes]
        return Seen(plan, tallies, patterns, scales)

    def _pieces_with_units(
        self, plan: Plan, seen: PatternsSeen, numbers: list[NDArray[np.int64]], light: bool
    ) -> tuple[Plan, Patterns]:
        """Cut strata into pieces that can hold k units; `numbers` are those of the whole file that each part's have.

        If it is `light`, some records weigh nothing, and k units of a piece must weigh something.
        """
        for part, own in enumerate(numbers):
            keep(self.folder, f"numbers-{part}", numbers=own)
        for which in ("all", "weighing") if light else ("all",):
            self.each_part(tasks.count_units, which)
        self.each_part(tasks.count_spellings)
        plan = replace(plan, joined_spellings=sum(int(own["joined"]) for own in self.found("joined")))
        turns = count()

        def held(pieces: NDArray[np.int64], which: str = "all") -> Held:
            turn = next(turns)
            keep(self.folder, f"asked-{turn}", pieces=pieces)
            self.each_part(tasks.hold_units, turn, which)
            return reduce(Held.join, (Held(**own) for own in self.found(f"held-{turn}")))

        return find_pieces(plan, seen, held, (lambda pieces: held(pieces, "weighing").units) if light else None)

    def constants(self, seen: Seen) -> Known:
        """Find the constants of all columns, and what they weigh, and place all records by them."""
        plan, tallies, _, scales = seen
        running = {j: constants(plan.columns[j].kind, own.facts) for j, own in enumerate(tallies)}
        known = Known.of(plan, tallies, self._summed(tasks.sum_part, running))
        if scales:
            known = self._weighed(plan, known, scales)
        keep_object(self.folder, "known", known)
        self.each_part(tasks.place_part)
        return known

    def _weighed(self, plan: Plan, known: Known, scales: Sequence[WeightScale]) -> Known:
        """Find what levels and categories weigh, and what one value for all would lose by weight."""
        keep_object(self.folder, "weighing", (known.facts, scales))
        self.each_part(tasks.weigh_part)
        weighed = reduce(added, self.objects("weighed", len(self.sizes)))
        running = {
            j: column.kind.weighted_base(known.facts[j], weighed[0][j], scales[0].power)
            for j, column in enumerate(plan.columns)
        }
        return known.with_weights(scales, weighed, self._summed(tasks.weighted_sum_part, running, _WEIGHTED))

    def _summed(self, task: Callable[..., None], running: Mapping[int, Sums[Any]], first: int = 0) -> list[Any]:
        """What follows from sums over each column, a sum of each at a time; turns are numbered from `first` on."""
        sums: dict[int, Any] = dict.fromkeys(running)
        found: dict[int, Any] = {}
        for turn in count(first):
            asked = {}
            for j, steps in running.items():
                if j not in found:
                    try:
                        asked[j] = steps.send(sums[j])
                    except StopIteration as end:
                        found[j] = end.value
            if not asked:
                break
            keep_object(self.folder, f"terms-{turn}", asked)
            self.each_part(task, turn)
            parts = list(self.found(f"sums-{turn}"))
            sums |= {j: round_digits(np.sum([part[str(j)] for part in parts], axis=0)) for j in asked}
        return [found[j] for j in sorted(found)]

    def grow(self, plan: Plan, known: Known) -> Tree:
        """Cut nodes until none that is to be several blocks has more records than a region."""
        most = max(plan.max_block, self._most)

        def look(level: int, slots: NDArray[np.int64]) -> Extremes | None:
            keep(self.folder, f"open-{level}", slots=slots)
            self.each_part(tasks.cut_part, level)
            self.forget(f"nodes-{level - 1}-*")
            if slots.max(initial=-1) < 0:
                return None
            return Extremes.joined([Extremes(**part) for part in self.found(f"extremes-{level}")])

        def cut(level: int, how: Cut) -> None:
            keys, taken = self._select(level, how.slots, how.columns, how.lower)
            own = {"slots": how.slots, "columns": how.columns, "uppers": how.uppers}
            keep(self.folder, f"cuts-{level + 1}", keys=keys, taken=taken, **own)

        return grow(self._pieces, plan.k, plan.max_block, most, known.space.cut_scales, look, cut)

    def _select(
        self, level: int, slots: NDArray[np.int64], columns: NDArray[np.int64], ranks: NDArray[np.int64]
    ) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """Return for each open node the key of that rank, and how many records with just it each part sends below.

        Keys are settled from their highest bits down: a pass counts the next ones, and the bin in which the rank
        falls says what they are.
        """
        n_open = columns.size
        prefixes = np.zeros(n_open, dtype=np.uint64)
        chosen = np.zeros(n_open, dtype=np.int64)
        for turn, width in enumerate(WIDTHS):
            self.forget(f"counts-{level}-*")
            keep(self.folder, f"sought-{level}-{turn}", slots=slots, columns=columns, prefixes=prefixes)
            self.each_part(tasks.count_part, level, turn)
            counts = np.zeros(n_open << width, dtype=np.int64)
            for part in self.found(f"counts-{level}-{turn}"):
                counts[part["places"]] += part["counts"]
            reached = np.cumsum(counts.reshape(n_open, -1), axis=1)
            bins = np.argmax(reached >= ranks[:, None], axis=1)
            chosen = (np.arange(n_open) << width) + bins
            ranks = ranks - (reached.ravel()[chosen] - counts[chosen])
            prefixes = prefixes << np.uint64(width) | bins.astype(np.uint64)
        equal = np.zeros((len(self.sizes), n_open), dtype=np.int64)
        for number, part in enumerate(self.found(f"counts-{level}-{len(WIDTHS) - 1}")):
            _, mine, theirs = np.intersect1d(chosen, part["places"], return_indices=True)
            equal[number, mine] = part["counts"][theirs]
        self.forget(f"counts-{level}-*")
        before = np.cumsum(equal, axis=0) - equal
        return prefixes, np.clip(ranks - before, 0, equal)

    def mask(self, plan: Plan, known: Known, tree: Tree) -> Figures:
        """Bring each region's records together and mask them; give what is known of all."""
        across, most = plan.refined and bool(tree.bordered.any()), max(plan.max_block, self._most)
        settled = self._settled = Settled(plan, known, plan.with_dictionaries(self.file.schema), across)
        keep_object(self.folder, "settled", settled)
        self.forget("entries-*")
        sizes = self._lay(regions.FIRST, tree, most, regions.scatter_part, tree.level)
        moves = 0
        if settled.across:
            moves, second = self._group(settled, tree, sizes)
            sizes = self._lay(regions.SECOND, second, most, regions.scatter_again)
        self.forget("columns-*")
        told = [size // 2 if settled.across else size for size in sizes]
        self.each(regions.mask_region, told, done=self.n + (self.n // 2 if settled.across else 0))
        self.forget(f"{settled.layout}-scattered-*")
        figures: Figures = reduce(Figures.join, self.objects("figures", len(sizes)))
        self._n_regions = len(sizes)
        return figures._replace(moves=figures.moves + moves)

    def _lay(self, layout: str, tree: Tree, most: int, scatter: Callable[..., None], *more: Any) -> list[int]:
        """Lay the records of all parts node by node; give the sizes of the regions, which one worker masks each."""
        bounds = tree.regions(most)
        keep(self.folder, f"{layout}-regions", bounds=bounds, **tree.arrays)
        self.each_part(scatter, *more)
        ends = in_turn(self.folder, lambda part: self._array(f"{layout}-ends-{part}")[bounds], len(self.sizes))
        counts = np.diff(list(ends), axis=1)
        keep(self.folder, f"{layout}-before", records=np.cumsum(counts, axis=0) - counts)
        return [int(size) for size in np.add.reduceat(tree.sizes, bounds[:-1])]

    def _group(self, settled: Settled, tree: Tree, sizes: list[int]) -> tuple[int, Tree]:
        """Group the records of each region; give the moves that were tried, and the nodes of the second layout."""
        plan, share = settled.plan, share_of_corners(self.n, settled.plan.k)
        keep_object(self.folder, "share-of-corners", share)
        self.each(regions.group_region, [size // 2 for size in sizes], done=self.n)
        self.forget(f"{regions.FIRST}-scattered-*")
        moves, drawn = zip(*self.objects("drawn-corners", len(sizes)), strict=True)
        districts = districts_by(plan, settled.known, tree, drawn, share)
        keep_object(self.folder, "districts", districts)
        self.each(regions.find_districts, sizes)
        self.forget("corners-*")
        found = list(in_turn(self.folder, lambda region: kept(self.folder, f"found-districts-{region}"), len(sizes)))
        second = second_layout(
            plan, tree, districts, [own["districts"] for own in found], [own["sizes"] for own in found]
        )
        for region, own in enumerate(second.nodes):
            keep_matrix(self.folder, f"district-{region}", own.astype(np.int32))
        return sum(moves), second.tree

    def take_turns(self, plan: Plan, known: Known) -> Known:
        """Let groups choose in turn what they release, and put it in place; return which categories are released."""
        settled, n_regions = self._settled, self._n_regions
        if plan.by_turns and plan.rule.nominal == "draw":
            lowest = list(in_turn(self.folder, lambda region: np.array(self._array(f"lowest-{region}")), n_regions))
            for j in plan.by_turns:
                for region, drawn in enumerate(draws_of_blocks(plan, known, j, lowest)):
                    keep_matrix(self.folder, f"chosen-{j}-{region}", drawn)
        for j in plan.by_turns if plan.rule.nominal != "draw" else ():
            for region, chosen in enumerate(settle_turns(plan, known, j, list(self.objects(f"turns-{j}", n_regions)))):
                keep_matrix(self.folder, f"chosen-{j}-{region}", chosen)
        if settled.filled != "masked":
            self.each(regions.fill_region, [1] * n_regions)
            self.forget("masked-*")
            found = list(in_turn(self.folder, lambda region: kept(self.folder, f"used-{region}"), n_regions))
            used = {j: np.any([own[str(j)] for own in found], axis=0) for j in settled.with_dictionaries}
            known = replace(known, used=used)
        keep_object(self.folder, "released", known)
        return known

    def finish_weights(self, plan: Plan, known: Known) -> tuple[Calibrated | None, RoundedFacts]:
        """Calibrate the weights of groups, where that is asked for, and round them; return what that did."""
        n_regions = self._n_regions
        margins: list[Margins] = []
        if plan.weighing.calibrate:
            margins = margins_of(plan, known, reduce(added, self.objects("totals", n_regions)))
        keep_object(self.folder, "margins", margins)
        self.each(regions.finish_region, [1] * n_regions)
        return finished_by(plan, known, list(self.objects("finished-weights", n_regions)))

    def lost(self) -> Lost:
        """Return what is lost in what the workers have written."""
        lost: Lost = reduce(Lost.join, self.objects("lost", len(self.sizes)))
        return lost

    def write_text(self, path: Where, plan: Plan, known: Known, parts: list[Where], progress: Progress | None) -> int:
        """Write what the workers have written to one text file; return the least number that are identical."""
        promise = plan.promise
        if plan.unit is not None:
            keys = list(in_turn(self.folder, lambda part: self._array(f"units-{part}"), len(parts)))
            promise = promise.of_units(np.concatenate(keys), plan.in_part)
        schema = released_schema(plan, known, self.file.schema)
        tables = (table for part in parts for table in read_row_groups(part, None, None))
        room = self.folder if isinstance(self.folder, Path) else tempfile.gettempdir()
        return write_counted(self.file, path, schema, promise, self.n, tables, Scratch(room), progress)

    def count_alike(self, in_part: bool) -> int:
        """Return the smallest number of identical records, or units, in what the workers have written."""
        digests = in_turn(self.folder, lambda part: self._array(f"digests-{part}"), len(self.sizes))
        if isinstance(self.folder, Path):
            return fewest_alike(list(digests), in_part)
        room, parts = Scratch(tempfile.gettempdir()), []  # they may be too many for memory
        for found in digests:
            parts.append(room.array(found.shape, found.dtype))
            parts[-1][:] = found
        return fewest_alike(parts, in_part)

    def _array(self, name: str) -> NDArray[Any]:
        """Read an array that tasks have left, once."""
        return part_of(self.folder, name, slice(None))
