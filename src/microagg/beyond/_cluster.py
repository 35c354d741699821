"""Many processes or machines: the same stages, scheduled by Dask.

Workers share a folder of scratch and hand each other files in it (see `_tasks`). The tree of cuts is grown level by
level, from counts of keys, until a node is small enough for one worker, which cuts it further and masks its blocks.
Sums are exact and cuts are by rank, so the result does not depend on how many parts or workers there are.
"""

import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microagg import __version__
from microagg._kernels.alike import fewest_alike
from microagg._kernels.sums import round_digits
from microagg.beyond import _regions, _tasks
from microagg.beyond._blocks import draws_of_blocks, margins_of, settle_turns
from microagg.beyond._client import connected, explained
from microagg.beyond._cuts import Cut, Extremes, Tree, grow
from microagg.beyond._figures import Figures, Lost, Outcome
from microagg.beyond._folder import (
    Folder,
    InStore,
    forget,
    forgetting,
    in_turn,
    keep,
    keep_matrix,
    keep_object,
    kept,
    object_in,
    part_of,
)
from microagg.beyond._plan import (
    Known,
    Plan,
    Tally,
    added,
    check_columns,
    check_missing,
    constants,
    powers_of,
    released_schema,
)
from microagg.beyond._regions import Settled
from microagg.beyond._sample import Drawn, share_drawn
from microagg.beyond._store import Scratch
from microagg.beyond._targets import check_replaceable
from microagg.beyond._tasks import WIDTHS, Work
from microagg.beyond._units import check_units_known, pieces_with_units
from microagg.beyond._written import write_counted
from microagg.checks import check_enough_records
from microagg.errors import ClusterFailed, InvalidData, InvalidParameter
from microagg.grouping import check_stratum_sizes
from microagg.io import frames
from microagg.io._kinds import is_text_name
from microagg.io.batches import Batches, read_row_groups
from microagg.io.publishing import private_place, publish
from microagg.io.stores import Where, listed
from microagg.moments import Sums
from microagg.prepare.embedding import Space
from microagg.prepare.patterns import Patterns, PatternsSeen
from microagg.progress import Progress, tell
from microagg.progress import part as step_of
from microagg.units import Held
from microagg.weighting import Calibrated, calibration_of, check_dominance

_REGION = 1_000_000  # records that one worker masks at a time, at most, unless a block is larger
_PART = 1_000_000  # records of a part, about
_LOOK_EVERY, _PATIENCE = 2.0, 60.0  # seconds: between two looks at the workers, and without any before giving up
_WEIGHTED = 100  # turns of sums from here on are of weighted ones
_UNSEEN = {
    "scratch": "does not see the folder for scratch. Pass as scratch= one that all machines share under the same path, "
    "or a place in a store, such as s3://bucket/scratch.",
    "source": "does not see the source. Put it where all machines see it under the same path, or into a store.",
    "target": "does not see the folder of the target. Name one that all machines see under the same path, or a store.",
    "store": "cannot reach the store. Give it the key or the role, and the endpoint if there is one, that you have.",
}
_TASKS_EACH = 4  # parts and regions for each worker, at least, so that all are busy to the end


def run(
    file: Batches,
    path: Where,
    plan: Plan,
    scratch: Where,
    scheduler: str | None,
    workers: int,
    partitions: int | None,
    overwrite: bool,
    progress: Progress | None,
) -> tuple[Outcome, Drawn]:
    """Mask a file on a cluster; the target is a folder of Parquet files, or a text file."""
    n = file.count()
    if n == 0:
        raise InvalidData("the file has no records. Pass at least k of them.")
    check_enough_records(n, plan.k)
    in_text, beside = isinstance(path, Path) and is_text_name(path), path.parent
    copying, masking, writing = _steps(progress, n, copies=not file.is_parquet, in_text=in_text)
    with explained(), forgetting(), private_place(scratch) as place, private_place(beside, "the target") as output:
        folder: Folder = place if isinstance(place, Path) else InStore(place)
        target = (place if in_text else output) / "whole"
        if isinstance(target, Path):
            target.mkdir()
        source = file if file.is_parquet else file.as_parquet(place / "source.parquet", place, copying)
        with connected(scheduler, workers, folder) as client:
            if scheduler is not None:
                workers = max(1, sum(client.nthreads().values()))
            wanted = max(_TASKS_EACH * workers, n // _PART) if partitions is None else partitions
            parts = _parts(source.row_groups(), n, wanted)
            sizes = [sum(records for _, _, records in part) for part in parts]
            runs = [[(own.resolve(), number) for own, number, _ in part] for part in parts]
            digits = max(5, len(str(len(parts))))
            names = [f"part-{number:0{digits}d}.parquet" for number in range(len(parts))]
            key = None if in_text else os.urandom(16)
            _keep_work(folder, Work(plan, file, runs, sizes, target, names, key))
            stages = _Stages(client, folder, sizes, n, masking)
            stages.check_workers()
            plan = stages.look(plan, file.schema)
            stages.each_part(_tasks.read_part, done=0)
            file.check_unchanged()
            plan, tallies, node_sizes, patterns, powers = stages.number_pieces(plan)
            known = stages.find_constants(plan, tallies, powers)
            most = max(plan.max_block, min(_REGION, n // (_TASKS_EACH * workers)))
            tree = stages.grow(plan, known.space, node_sizes, most)
            largest = tree.largest_block(plan.k, plan.max_block)
            plan = replace(plan, grouping=plan.grouping.searching(largest, known.space.n_entries, known.space.n_codes))
            settled = Settled(plan, known, plan.with_dictionaries(file.schema))
            figures, n_regions = stages.mask(settled, tree, most)
            check_dominance(figures.dominated, figures.n_groups, plan.weighing, of_units=plan.unit is not None)
            known = stages.take_turns(settled, n_regions)
            calibrated = stages.calibrate(settled, n_regions) if plan.weighing.calibrate else None
            keep_object(folder, "share", share_drawn(n, figures.n_groups))
            stages.each_part(_regions.write_part, done=2 * n)
            lost = stages.lost()
            drawn = Drawn.joined(list(stages.objects("drawn", len(parts))))
            file.check_unchanged()
        if in_text:
            k_achieved = stages.write_text(file, path, settled, known, [target / name for name in names], writing)
        else:
            k_achieved = stages.count_alike(plan.in_part)
            plan.promise.check(k_achieved, path.name)
            for left, _ in listed(target):  # by a worker that was given up and went on
                if left.name not in names:
                    left.unlink()
            check_replaceable(path)
            publish(target, path, overwrite=overwrite, check=check_replaceable)
    return Outcome(plan, known, n, sum(tree.blocks), k_achieved, figures, lost, patterns, calibrated), drawn


def _steps(progress: Progress | None, n: int, *, copies: bool, in_text: bool) -> list[Progress | None]:
    """Divide the progress: what the client copies at first, what workers do, what the client writes at last."""
    ends = [0, n * copies, n * (copies + 3), n * (copies + 3 + in_text)]
    return [step_of(progress, *own, ends[-1]) for own in pairwise(ends)]


def _parts(groups: list[tuple[Where, int, int]], n: int, wanted: int) -> list[list[tuple[Where, int, int]]]:
    """Divide the row groups into at most so many runs of about as many records each."""
    parts: dict[int, list[tuple[Where, int, int]]] = {}
    wanted = min(wanted, len(groups))
    before = 0
    empty = []  # row groups without records go with the next that has some, or the last
    for group in groups:
        empty.append(group)
        if group[2]:
            number = (before + group[2] // 2) * wanted // n
            parts.setdefault(number, []).extend(empty)
            empty = []
            before += group[2]
    parts[max(parts)].extend(empty)
    return [parts[number] for number in sorted(parts)]


def _keep_work(folder: Folder, work: Work) -> None:
    try:
        keep_object(folder, "work", work)
    except Exception as error:  # noqa: BLE001 - pickle raises whatever the object does
        raise InvalidParameter(
            f"the method cannot be sent to workers ({type(error).__name__}). Pass one that can be pickled."
        ) from None


class _Stages:
    """The stages of a run, each a set of independent tasks and what the client makes of their findings."""

    def __init__(self, client: Any, folder: Folder, sizes: list[int], n: int, progress: Progress | None) -> None:
        self.client, self.folder, self.sizes, self.n, self.progress = client, folder, sizes, n, progress

    def check_workers(self) -> None:
        """Refuse a cluster whose workers do not see the scratch, or have another microagg."""
        try:
            found = self.client.run(_tasks.look, self.folder)
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
        """Run a task for each number of a part or region; tell progress from `done` on, by their sizes."""
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
                        tell(self.progress, done, 3 * self.n)
                waiting -= finished
        except KilledWorker:
            raise ClusterFailed(
                "a worker died time and again at the same task, mostly for want of memory. Give workers more, or "
                "lower max_block and write the file in smaller row groups."
            ) from None
        finally:
            self.client.cancel(list(futures))

    def _homes(self) -> list[dict[str, Any]]:
        """Tell where tasks are best done: by a store, each part by the worker that may have read it before."""
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

    def look(self, plan: Plan, source: pa.Schema) -> Plan:
        """Find out how columns are coded, reading those whose types do not say it."""
        finders = plan.finders(source)
        if any(finder.needs_all for finder in finders.values()):
            self.each_part(_tasks.look_part)
            for found in self.objects("seen", len(self.sizes)):
                for name, finder in finders.items():
                    finder.join(found[name])
        plan = plan.with_coders(finders)
        keep_object(self.folder, "coded", plan)
        return plan

    def number_pieces(self, plan: Plan) -> tuple[Plan, list[Tally], list[int], Patterns, list[int]]:
        """Give each part its pieces' numbers in the whole file; return what all parts know, and the pieces' sizes."""
        weights: dict[str, list[Any]] = {name: [] for name in plan.weighing.used}
        numbering, seen, lacking = frames.Numbering(plan.strata), PatternsSeen(plan.by_pattern), Counter[str]()
        tallies: list[Tally] = []
        numbers, without_unit = [], 0
        for part, found in enumerate(self.objects("found", len(self.sizes))):
            strata = np.zeros(1, dtype=np.int64)
            if plan.strata:
                strata = numbering.codes(object_in(self.folder, f"strata-{part}"))
            numbers.append(seen.join(found.patterns, strata))
            tallies = list(map(Tally.join, tallies, found.tallies)) if tallies else found.tallies
            lacking.update(found.lacking)
            without_unit += found.without_unit
            for name, seen_weights in weights.items():
                seen_weights.append(found.weights[name])
        check_units_known(plan, without_unit)
        check_missing(plan, tallies, lacking)
        check_stratum_sizes(seen.strata_sizes, plan.k, plan.strata)
        check_columns(plan, tallies)
        if plan.unit is None:
            patterns = seen.pieces(plan.k, by_value=plan.refined)
        else:
            plan, patterns = self._pieces_with_units(plan, seen, numbers)
        for part, own in enumerate(numbers):
            keep(self.folder, f"pieces-{part}", numbers=patterns.pieces[own].astype(np.int32))
        sizes = np.bincount(patterns.pieces, weights=seen.sizes)
        return plan, tallies, [int(size) for size in sizes], patterns, powers_of(weights)

    def _pieces_with_units(
        self, plan: Plan, seen: PatternsSeen, numbers: list[NDArray[np.int64]]
    ) -> tuple[Plan, Patterns]:
        """Cut strata into pieces that can hold k units; `numbers` are those of the whole file that each part's have."""
        for part, own in enumerate(numbers):
            keep(self.folder, f"numbers-{part}", numbers=own)
        self.each_part(_tasks.count_units)
        turns = count()

        def held(pieces: NDArray[np.int64]) -> Held:
            turn = next(turns)
            keep(self.folder, f"asked-{turn}", pieces=pieces)
            self.each_part(_tasks.hold_units, turn)
            return reduce(Held.join, (Held(**own) for own in self.found(f"held-{turn}")))

        return pieces_with_units(plan, seen, held)

    def find_constants(self, plan: Plan, tallies: Sequence[Tally], powers: Sequence[int]) -> Known:
        """Find the constants of all columns, and what they weigh, and place all records by them."""
        running = {j: constants(plan.columns[j].kind, own.facts) for j, own in enumerate(tallies)}
        known = Known.of(plan, tallies, self._summed(_tasks.sum_part, running))
        if powers:
            known = self._weighed(plan, known, powers)
        keep_object(self.folder, "known", known)
        self.each_part(_tasks.place_part)
        return known

    def _weighed(self, plan: Plan, known: Known, powers: Sequence[int]) -> Known:
        """Find what levels and categories weigh, and what one value for all would lose by weight."""
        keep_object(self.folder, "weighing", (known.facts, powers))
        self.each_part(_tasks.weigh_part)
        weighed = reduce(added, self.objects("weighed", len(self.sizes)))
        running = {
            j: column.kind.weighted_base(known.facts[j], weighed[0][j], powers[0])
            for j, column in enumerate(plan.columns)
        }
        return known.with_weights(powers, weighed, self._summed(_tasks.weighted_sum_part, running, _WEIGHTED))

    def _summed(self, task: Callable[..., None], running: Mapping[int, Sums[Any]], first: int = 0) -> list[Any]:
        """Give what follows from sums over each column, a sum of each at a time; turns are numbered from `first` on."""
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

    def grow(self, plan: Plan, space: Space, sizes: list[int], most: int) -> Tree:
        """Cut nodes until none that is to be several blocks has more than `most` records."""

        def look(level: int, slots: NDArray[np.int64]) -> Extremes | None:
            keep(self.folder, f"open-{level}", slots=slots)
            self.each_part(_tasks.cut_part, level)
            self.forget(f"nodes-{level - 1}-*")
            if slots.max(initial=-1) < 0:
                return None
            return Extremes.joined([Extremes(**part) for part in self.found(f"extremes-{level}")])

        def cut(level: int, how: Cut) -> None:
            keys, taken = self._select(level, how.slots, how.columns, how.lower)
            own = {"slots": how.slots, "columns": how.columns, "uppers": how.uppers}
            keep(self.folder, f"cuts-{level + 1}", keys=keys, taken=taken, **own)

        return grow(sizes, plan.k, plan.max_block, most, space.cut_scales, look, cut)

    def _select(
        self, level: int, slots: NDArray[np.int64], columns: NDArray[np.int64], ranks: NDArray[np.int64]
    ) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """Give for each open node the key of that rank, and how many records with just it each part sends below.

        Keys are settled from their highest bits down: a pass counts the next ones, and the bin in which the rank
        falls says what they are.
        """
        n_open = columns.size
        prefixes = np.zeros(n_open, dtype=np.uint64)
        chosen = np.zeros(n_open, dtype=np.int64)
        for turn, width in enumerate(WIDTHS):
            self.forget(f"counts-{level}-*")
            keep(self.folder, f"sought-{level}-{turn}", slots=slots, columns=columns, prefixes=prefixes)
            self.each_part(_tasks.count_part, level, turn)
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

    def mask(self, settled: Settled, tree: Tree, most: int) -> tuple[Figures, int]:
        """Bring each region's records together and mask them; give what is known of all, and how many there are."""
        sizes, bounds = tree.sizes, tree.regions(most)
        region_sizes = np.add.reduceat(sizes, bounds[:-1])
        keep_object(self.folder, "settled", settled)
        keep(self.folder, "regions", bounds=bounds, sizes=sizes, blocks=tree.blocks)
        self.forget("entries-*")
        self.each_part(_regions.scatter_part, tree.level)
        self.forget("columns-*")
        ends = list(in_turn(self.folder, lambda part: self._array(f"ends-{part}")[bounds], len(self.sizes)))
        counts = np.diff(ends, axis=1)
        keep(self.folder, "before", records=np.cumsum(counts, axis=0) - counts)
        self.each(_regions.mask_region, [int(size) for size in region_sizes], done=self.n)
        self.forget("scattered-*")
        return reduce(Figures.join, self.objects("figures", len(region_sizes))), len(region_sizes)

    def take_turns(self, settled: Settled, n_regions: int) -> Known:
        """Let groups choose in turn what they release, and put it in place; tell which categories are released."""
        plan, known = settled.plan, settled.known
        if plan.by_turns and plan.rule.nominal == "draw":
            lowest = list(in_turn(self.folder, lambda region: np.array(self._array(f"lowest-{region}")), n_regions))
            for j in plan.by_turns:
                for region, drawn in enumerate(draws_of_blocks(plan, known, j, lowest)):
                    keep_matrix(self.folder, f"chosen-{j}-{region}", drawn)
        for j in plan.by_turns if plan.rule.nominal != "draw" else ():
            for region, chosen in enumerate(settle_turns(plan, known, j, list(self.objects(f"turns-{j}", n_regions)))):
                keep_matrix(self.folder, f"chosen-{j}-{region}", chosen)
        if settled.masked != "masked":
            self.each(_regions.fill_region, [1] * n_regions)
            self.forget("masked-*")
            found = list(in_turn(self.folder, lambda region: kept(self.folder, f"used-{region}"), n_regions))
            used = {j: np.any([own[str(j)] for own in found], axis=0) for j in settled.with_dictionaries}
            known = replace(known, used=used)
        keep_object(self.folder, "released", known)
        return known

    def calibrate(self, settled: Settled, n_regions: int) -> Calibrated:
        """Adjust the weights of groups such that totals of categories are kept; tell by how much."""
        found = reduce(added, self.objects("totals", n_regions))
        keep_object(self.folder, "margins", margins_of(settled.plan, settled.known, found))
        self.each(_regions.calibrate_region, [1] * n_regions)
        return calibration_of(settled.plan.weighing, list(self.objects("calibration", n_regions)))

    def lost(self) -> Lost:
        """Give what is lost in what the workers have written."""
        lost: Lost = reduce(Lost.join, self.objects("lost", len(self.sizes)))
        return lost

    def write_text(
        self, file: Batches, path: Where, settled: Settled, known: Known, parts: list[Where], progress: Progress | None
    ) -> int:
        """Write what the workers have written to one text file; give the fewest records, or units, alike in it."""
        plan = settled.plan
        promise = plan.promise
        if plan.unit is not None:
            keys = list(in_turn(self.folder, lambda part: self._array(f"units-{part}"), len(parts)))
            promise = promise.of_units(np.concatenate(keys), plan.in_part)
        schema = released_schema(plan, known, file.schema)
        tables = (table for part in parts for table in read_row_groups(part, None, None))
        room = self.folder if isinstance(self.folder, Path) else tempfile.gettempdir()
        return write_counted(file, path, schema, promise, self.n, tables, Scratch(room), progress)

    def count_alike(self, in_part: bool) -> int:
        """Give the fewest records, or units, that are alike in what the workers have written."""
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
