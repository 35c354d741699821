"""Many processes or machines: the same stages, scheduled by Dask.

Workers share a folder of scratch and hand each other files in it (see `tasks`). The tree of cuts is grown level by
level, from counts of keys, until a node is small enough for one worker, which cuts it further and masks its blocks.
Sums are exact and cuts are by rank, so the result does not depend on how many parts or workers there are.
"""

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import reduce
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.districts import share_of_corners
from microagg.algorithms.kernels.alike import fewest_alike
from microagg.algorithms.kernels.sums import round_digits
from microagg.algorithms.scores import Sums
from microagg.algorithms.units import Held, Labels
from microagg.columns import frames
from microagg.columns.weights import WeightScale
from microagg.errors import InvalidParameter
from microagg.files.batches import Batches, read_row_groups
from microagg.files.formats.kinds import is_text_name
from microagg.files.publishing import private_place, publish
from microagg.files.stores import Where, listed
from microagg.mask.engines import tasks
from microagg.mask.engines.beyond import BeyondMemory, count_records
from microagg.mask.engines.blocks import finished_by, margins_of, settle_turns
from microagg.mask.engines.census import Census
from microagg.mask.engines.client import Workers, connected, explained
from microagg.mask.engines.cuts import CutTree, Extremes, LevelCuts, districts_by, grow, second_layout
from microagg.mask.engines.figures import Drawn, Figures, Lost, Outcome
from microagg.mask.engines.folder import Folder, folder_at, forgetting
from microagg.mask.engines.plan import Known, Plan, added, constants, released_schema
from microagg.mask.engines.scratch import Scratch, cut_pieces
from microagg.mask.engines.targets import check_replaceable, write_counted
from microagg.mask.engines.tasks import WIDTHS, Settled, Task
from microagg.mask.weights import Calibrated, Margins, RoundedFacts
from microagg.work import Progress, Work

_REGION = 1_000_000  # records that one worker masks at a time, at most, unless a block is larger
_PART = 1_000_000  # records of a part, about
_TASKS_EACH = 4  # parts and regions for each worker, at least, so that all are busy to the end
_WEIGHTED = 100  # turns of sums from here on are of weighted ones


class Cluster(BeyondMemory):
    """The stages on a cluster: each is a set of independent tasks, and what the client makes of their findings.

    What workers have written becomes the target when the cluster has been let go.
    """

    _pieces: list[int]  # their sizes
    _settled: Settled
    _n_regions: int

    def __init__(
        self,
        connection: ExitStack,
        workers: Workers,
        task: Task,
        path: Where,
        overwrite: bool,
        most: int,
        writing: Progress | None,
    ) -> None:
        self.plan, self.workers, self.folder, self.file = task.plan, workers, workers.folder, task.file
        self.n, self.n_parts = sum(task.sizes), len(task.sizes)
        self._connection, self._task, self._path, self._overwrite = connection, task, path, overwrite
        self._most = most  # records of a region, unless a block is larger
        self._writing = writing

    def look(self, plan: Plan) -> Plan:
        """Find out how columns are coded, reading those whose types do not say it."""
        finders = plan.finders(self.file.schema)
        if any(finder.needs_all for finder in finders.values()):
            self.workers.each_part(tasks.look_part)
            for found in self.folder.objects("seen", self.n_parts):
                for name, finder in finders.items():
                    finder.join(found[name])
        plan = plan.with_coders(finders)
        self.folder.keep_object("coded", plan)
        return plan

    def read(self, plan: Plan) -> tuple[Plan, Census]:
        """Let each part be read, and pass its pieces' numbers in the whole file to it; return what all know."""
        self.workers.each_part(tasks.read_part, done=0)
        self.file.check_unchanged()
        numbering, census = frames.Numbering(plan.strata), Census(plan)
        numbers = []
        for part, found in enumerate(self.folder.objects("census", self.n_parts)):
            strata = np.zeros(1, dtype=np.int64)
            if plan.strata:
                strata = numbering.codes(self.folder.object(f"strata-{part}"))
            numbers.append(census.join(found, strata))
        census.check(plan)
        if plan.unit is not None:
            plan = self._count_units(plan, census, numbers)
        plan = census.cut(plan, None if plan.unit is None else self._holding())
        patterns = census.patterns
        for part, own in enumerate(numbers):
            self.folder.keep(f"pieces-{part}", numbers=patterns.pieces[own].astype(np.int32))
        sizes = np.bincount(patterns.pieces, weights=census.seen.sizes)
        self._pieces = [int(size) for size in sizes]
        return plan, census

    def _count_units(self, plan: Plan, census: Census, numbers: list[Labels]) -> Plan:
        """Let the rows of units be counted; `numbers` are those of the whole file that each part's have."""
        for part, own in enumerate(numbers):
            self.folder.keep(f"numbers-{part}", numbers=own)
        for which in ("all", "weighing") if census.is_light(plan) else ("all",):
            self.workers.each_part(tasks.count_units, which)
        self.workers.each_part(tasks.count_spellings)
        return replace(plan, joined_spellings=sum(int(own["joined"]) for own in self._found("joined")))

    def _holding(self) -> Callable[[Labels, bool], Held]:
        """Return what counts the units of pieces, as `Census.cut` asks for it."""
        turns = count()

        def held(pieces: Labels, light: bool) -> Held:
            turn = next(turns)
            self.folder.keep(f"asked-{turn}", pieces=pieces)
            self.workers.each_part(tasks.hold_units, turn, "weighing" if light else "all")
            return reduce(Held.join, (Held(**own) for own in self._found(f"held-{turn}")))

        return held

    def _found(self, name: str) -> Any:
        """Read what a task has left for each part, one after the other."""
        return self.folder.in_turn(lambda part: self.folder.kept(f"{name}-{part}"), self.n_parts)

    def constants(self, plan: Plan, census: Census) -> Known:
        """Find the constants of all columns, and what they weigh, and place all records by them."""
        running = {j: constants(plan.columns[j].kind, own.facts) for j, own in enumerate(census.tallies)}
        known = Known.of(plan, census.tallies, self._summed(running))
        if census.scales:
            known = self._weighed(plan, known, census.scales)
        self.folder.keep_object("known", known)
        self.workers.each_part(tasks.place_part)
        return known

    def _weighed(self, plan: Plan, known: Known, scales: Sequence[WeightScale]) -> Known:
        """Find what levels and categories weigh, and what one value for all would lose by weight."""
        self.folder.keep_object("weighing", (known.facts, scales))
        self.workers.each_part(tasks.weigh_part)
        weighed = reduce(added, self.folder.objects("weighed", self.n_parts))
        running = {
            j: column.kind.weighted_base(known.facts[j], weighed[0][j], scales[0].power)
            for j, column in enumerate(plan.columns)
        }
        return known.with_weights(scales, weighed, self._summed(running, _WEIGHTED))

    def _summed(self, running: Mapping[int, Sums[Any]], first: int = 0) -> list[Any]:
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
            self.folder.keep_object(f"terms-{turn}", asked)
            self.workers.each_part(tasks.sum_part, turn, first == _WEIGHTED)
            parts = list(self._found(f"sums-{turn}"))
            sums |= {j: round_digits(np.sum([part[str(j)] for part in parts], axis=0)) for j in asked}
        return [found[j] for j in sorted(found)]

    def grow(self, plan: Plan, known: Known) -> CutTree:
        """Cut nodes until none that is to be several blocks has more records than a region."""
        folder, workers = self.folder, self.workers
        if not plan.by_rank:
            return self._cut_pieces(plan, known)

        def look(level: int, slots: Labels) -> Extremes | None:
            folder.keep(f"open-{level}", slots=slots)
            workers.each_part(tasks.cut_part, level)
            folder.forget(f"nodes-{level - 1}-*")
            if slots.max(initial=-1) < 0:
                return None
            return Extremes.joined([Extremes(**part) for part in self._found(f"extremes-{level}")])

        def cut(level: int, how: LevelCuts) -> None:
            keys, taken = self._select(level, how)
            own = {"slots": how.slots, "columns": how.columns, "uppers": how.uppers}
            folder.keep(f"cuts-{level + 1}", keys=keys, taken=taken, **own)

        return grow(plan, known, self._pieces, max(plan.max_block, self._most), look, cut)

    def _cut_pieces(self, plan: Plan, known: Known) -> CutTree:
        """Cut each piece as a whole, in this process; say to each part which nodes its records are in."""
        folder, n_parts = self.folder, self.n_parts
        codes, units = folder.matrices("codes", n_parts), folder.matrices("units", n_parts)
        numbers = (own["numbers"] for own in self._found("pieces"))
        pieces = np.concatenate([own[code] for own, code in zip(numbers, codes, strict=True)])
        keys = None if plan.unit is None else np.concatenate(list(units))
        placed = (known.space.place(plan.table(folder.cells("columns", part))) for part in range(n_parts))
        tree, nodes = cut_pieces(plan, placed, pieces, keys, Scratch(folder.room or tempfile.gettempdir()), 1)
        for part, own in enumerate(np.split(nodes, np.cumsum(self._task.sizes)[:-1])):
            folder.keep_matrix(f"nodes-{tree.level}-{part}", own)
        return tree

    def _select(self, level: int, how: LevelCuts) -> tuple[NDArray[np.uint64], Labels]:
        """Return for each slot the key of the last record of its lower part, and how many with just that parts send.

        Keys are settled from their highest bits down: a pass counts the next ones, and the bin in which the rank
        falls says what they are.
        """
        n_open, ranks = how.columns.size, how.lower
        prefixes = np.zeros(n_open, dtype=np.uint64)
        chosen = np.zeros(n_open, dtype=np.int64)
        for turn, width in enumerate(WIDTHS):
            self.folder.forget(f"counts-{level}-*")
            self.folder.keep(f"sought-{level}-{turn}", slots=how.slots, columns=how.columns, prefixes=prefixes)
            self.workers.each_part(tasks.count_part, level, turn)
            counts = np.zeros(n_open << width, dtype=np.int64)
            for part in self._found(f"counts-{level}-{turn}"):
                counts[part["places"]] += part["counts"]
            reached = np.cumsum(counts.reshape(n_open, -1), axis=1)
            bins = np.argmax(reached >= ranks[:, None], axis=1)
            chosen = (np.arange(n_open) << width) + bins
            ranks = ranks - (reached.ravel()[chosen] - counts[chosen])
            prefixes = prefixes << np.uint64(width) | bins.astype(np.uint64)
        equal = np.zeros((self.n_parts, n_open), dtype=np.int64)
        for number, part in enumerate(self._found(f"counts-{level}-{len(WIDTHS) - 1}")):
            _, mine, theirs = np.intersect1d(chosen, part["places"], return_indices=True)
            equal[number, mine] = part["counts"][theirs]
        self.folder.forget(f"counts-{level}-*")
        before = np.cumsum(equal, axis=0) - equal
        return prefixes, np.clip(ranks - before, 0, equal)

    def mask(self, plan: Plan, known: Known, tree: CutTree) -> Figures:
        """Bring each region's records together and mask them; give what is known of all."""
        across, folder = plan.refined and bool(tree.bordered.any()), self.folder
        settled = self._settled = Settled(plan, known, plan.with_dictionaries(self.file.schema), across)
        folder.keep_object("settled", settled)
        folder.forget("entries-*")
        sizes = self._lay(plan, tasks.FIRST, tree, tasks.scatter_part, tree.level)
        moves = 0
        if across:
            moves, second = self._group(settled, tree, sizes)
            sizes = self._lay(plan, tasks.SECOND, second, tasks.scatter_again)
        folder.forget("columns-*")
        counted = [size // 2 if across else size for size in sizes]
        self.workers.each(tasks.mask_region, counted, done=self.n + (self.n // 2 if across else 0))
        folder.forget(f"{settled.layout}-scattered-*")
        figures: Figures = reduce(Figures.join, folder.objects("figures", len(sizes)))
        self._n_regions = len(sizes)
        return figures._replace(moves=figures.moves + moves)

    def _lay(self, plan: Plan, layout: str, tree: CutTree, scatter: Callable[..., None], *more: Any) -> list[int]:
        """Lay the records of all parts node by node; give the sizes of the regions, which one worker masks each."""
        bounds = tree.regions(max(plan.max_block, self._most))
        self.folder.keep(f"{layout}-regions", bounds=bounds, sizes=tree.sizes, blocks=tree.blocks, pieces=tree.pieces)
        self.workers.each_part(scatter, *more)
        ends = [own[bounds] for own in self.folder.matrices(f"{layout}-ends", self.n_parts)]
        counts = np.diff(ends, axis=1)
        self.folder.keep(f"{layout}-before", records=np.cumsum(counts, axis=0) - counts)
        return [int(size) for size in np.add.reduceat(tree.sizes, bounds[:-1])]

    def _group(self, settled: Settled, tree: CutTree, sizes: list[int]) -> tuple[int, CutTree]:
        """Group the records of each region; give the moves that were tried, and the nodes of the second layout."""
        plan, folder, share = settled.plan, self.folder, share_of_corners(self.n, settled.plan.k)
        folder.keep_object("share-of-corners", share)
        self.workers.each(tasks.group_region, [size // 2 for size in sizes], done=self.n)
        folder.forget(f"{tasks.FIRST}-scattered-*")
        moves, drawn = zip(*folder.objects("drawn-corners", len(sizes)), strict=True)
        districts = districts_by(plan, settled.known, tree, drawn, share)
        folder.keep_object("districts", districts)
        self.workers.each(tasks.find_districts, sizes)
        folder.forget("corners-*")
        kept = folder.in_turn(lambda region: folder.kept(f"found-districts-{region}"), len(sizes))
        found, counts = zip(*((own["districts"], own["sizes"]) for own in kept), strict=True)
        second, nodes = second_layout(plan, tree, districts, found, counts)
        for region, own in enumerate(nodes):
            folder.keep_matrix(f"district-{region}", own.astype(np.int32))
        return sum(moves), second

    def take_turns(self, plan: Plan, known: Known) -> Known:
        """Let groups choose in turn what they release, and put it in place; return which categories are released."""
        settled, n_regions, folder = self._settled, self._n_regions, self.folder
        drawn = plan.by_turns and plan.rule.nominal == "draw"
        lowest = list(map(np.array, folder.matrices("lowest", n_regions))) if drawn else []
        for j in plan.by_turns:
            found = lowest if drawn else list(folder.objects(f"turns-{j}", n_regions))
            for region, chosen in enumerate(settle_turns(plan, known, j, found)):
                folder.keep_matrix(f"chosen-{j}-{region}", chosen)
        if settled.filled != "masked":
            self.workers.each(tasks.fill_region, [1] * n_regions)
            folder.forget("masked-*")
            used = list(folder.in_turn(lambda region: folder.kept(f"used-{region}"), n_regions))
            known = replace(
                known, used={j: np.any([own[str(j)] for own in used], axis=0) for j in settled.with_dictionaries}
            )
        folder.keep_object("released", known)
        return known

    def finish_weights(self, plan: Plan, known: Known) -> tuple[Calibrated | None, RoundedFacts]:
        """Calibrate the weights of groups, where that is asked for, and round them; return what that did."""
        n_regions, margins = self._n_regions, list[Margins]()
        if plan.weighing.calibrate:
            margins = margins_of(plan, known, reduce(added, self.folder.objects("totals", n_regions)))
        self.folder.keep_object("margins", margins)
        self.workers.each(tasks.finish_region, [1] * n_regions)
        return finished_by(plan, known, list(self.folder.objects("finished-weights", n_regions)))

    def write(self, plan: Plan, known: Known, share: float) -> tuple[int, Lost, Drawn]:
        """Let workers write their parts; bring these together, count k on them, and publish them."""
        self.folder.keep_object("share", share)
        self.workers.each_part(tasks.write_part, done=2 * self.n)
        lost, drawn = zip(*self.folder.objects("compared", self.n_parts), strict=True)
        self.file.check_unchanged()
        self._connection.close()
        k_achieved = self._write_text(plan, known) if _is_text(self._path) else self._publish(plan)
        return k_achieved, reduce(Lost.join, lost), Drawn.joined(drawn)

    def _write_text(self, plan: Plan, known: Known) -> int:
        """Write what the workers have written to one text file; return the least number that are identical."""
        promise = plan.promise
        if plan.unit is not None:
            keys = np.concatenate(list(self.folder.matrices("units", self.n_parts)))
            promise = promise.of_units(keys, plan.in_part)
        schema, room = (
            released_schema(plan, known, self.file.schema),
            Scratch(self.folder.room or tempfile.gettempdir()),
        )
        parts = [self._task.target / name for name in self._task.names]
        tables = (table for part in parts for table in read_row_groups(part, None, None))
        return write_counted(self.file, self._path, schema, promise, self.n, tables, room, self._writing)

    def _publish(self, plan: Plan) -> int:
        """Count k on the files that workers have written, and make them the target."""
        path, written = self._path, self._task.target
        k_achieved = self._count_alike(plan.in_part)
        plan.promise.check(k_achieved, path.name, of_units=plan.unit is not None)
        for left, _ in listed(written):  # by a worker that was given up and went on
            if left.name not in self._task.names:
                left.unlink()
        check_replaceable(path)
        publish(written, path, overwrite=self._overwrite, check=check_replaceable)
        return k_achieved

    def _count_alike(self, in_part: bool) -> int:
        """Return the smallest number of identical records, or units, in what the workers have written."""
        digests = self.folder.matrices("digests", self.n_parts)
        if self.folder.room is not None:
            return fewest_alike(list(digests), in_part)
        room, parts = Scratch(tempfile.gettempdir()), []  # they may be too many for memory
        for found in digests:
            parts.append(room.array(found.shape, found.dtype))
            parts[-1][:] = found
        return fewest_alike(parts, in_part)


def _is_text(path: Where) -> bool:
    """Return whether a target is a text file."""
    return isinstance(path, Path) and is_text_name(path)


def run(
    file: Batches,
    path: Where,
    plan: Plan,
    scratch: Where,
    scheduler: str | None,
    partitions: int | None,
    overwrite: bool,
    work: Work,
) -> Outcome:
    """Mask a file on a cluster; the target is a folder of Parquet files, or a text file."""
    n, workers, in_text = count_records(file, plan.k), work.n_jobs, _is_text(path)
    copying, masking, writing = _steps(work, n, copies=not file.is_parquet, in_text=in_text)
    with (
        explained(),
        forgetting(),
        private_place(scratch) as place,
        private_place(path.parent, "the target") as output,
        ExitStack() as connection,
    ):
        folder = folder_at(place)
        whole = (place if in_text else output) / "whole"
        if isinstance(whole, Path):
            whole.mkdir()
        source = file if file.is_parquet else file.as_parquet(place / "source.parquet", place, copying.progress)
        client = connection.enter_context(connected(scheduler, workers, folder.room))
        if scheduler is not None:
            workers = max(1, sum(client.nthreads().values()))
        wanted = max(_TASKS_EACH * workers, n // _PART) if partitions is None else partitions
        parts = _parts(source.row_groups(), n, wanted)
        sizes = [sum(records for _, _, records in part) for part in parts]
        runs = [[(own.resolve(), number) for own, number, _ in part] for part in parts]
        digits = max(5, len(str(len(parts))))
        names = [f"part-{number:0{digits}d}.parquet" for number in range(len(parts))]
        task = Task(plan, file, runs, sizes, whole, names, None if in_text else os.urandom(16))
        _keep_task(folder, task)
        those, most = Workers(client, folder, sizes, masking), min(_REGION, n // (_TASKS_EACH * workers))
        those.check()
        return Cluster(connection, those, task, path, overwrite, most, writing.progress).run()


def _steps(work: Work, n: int, *, copies: bool, in_text: bool) -> list[Work]:
    """Divide the progress: what the client copies at first, what workers do, what the client writes at last."""
    ends = [0, n * copies, n * (copies + 3), n * (copies + 3 + in_text)]
    return [work.part(*own, ends[-1]) for own in pairwise(ends)]


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


def _keep_task(folder: Folder, task: Task) -> None:
    try:
        folder.keep_object("work", task)
    except Exception as error:  # noqa: BLE001 - pickle raises whatever the object does
        raise InvalidParameter(
            f"the method cannot be sent to workers ({type(error).__name__}). Pass one that can be pickled."
        ) from None
