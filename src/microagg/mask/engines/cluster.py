"""Many processes or machines: the same stages, scheduled by Dask.

Workers share a folder of scratch and hand each other files in it (see `tasks`). The tree of cuts is grown level by
level, from counts of keys, until a node is small enough for one worker, which cuts it further and masks its blocks.
Sums are exact and cuts are by rank, so the result does not depend on how many parts or workers there are.
"""

import os
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from microagg.checks import check_enough_records
from microagg.errors import InvalidData, InvalidParameter
from microagg.files.batches import Batches
from microagg.files.formats.kinds import is_text_name
from microagg.files.publishing import private_place, publish
from microagg.files.stores import Where, listed
from microagg.mask.engines import regions, tasks
from microagg.mask.engines.client import connected, explained
from microagg.mask.engines.figures import Outcome
from microagg.mask.engines.folder import Folder, InStore, forgetting, keep_object
from microagg.mask.engines.plan import Plan
from microagg.mask.engines.regions import Settled
from microagg.mask.engines.sample import Drawn, share_drawn
from microagg.mask.engines.stages import Stages
from microagg.mask.engines.targets import check_replaceable
from microagg.mask.engines.tasks import Work
from microagg.work import Progress
from microagg.work import part as step_of

_REGION = 1_000_000  # records that one worker masks at a time, at most, unless a block is larger
_PART = 1_000_000  # records of a part, about
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
            stages = Stages(client, folder, sizes, n, masking)
            stages.check_workers()
            plan = stages.look(plan, file.schema)
            stages.each_part(tasks.read_part, done=0)
            file.check_unchanged()
            plan, tallies, node_sizes, patterns, scales = stages.number_pieces(plan)
            known = stages.find_constants(plan, tallies, scales)
            most = max(plan.max_block, min(_REGION, n // (_TASKS_EACH * workers)))
            tree = stages.grow(plan, known.space, node_sizes, most)
            largest = tree.largest_block(plan.k, plan.max_block)
            plan = replace(plan, grouping=plan.grouping.searching(largest, known.space.n_entries, known.space.n_codes))
            across = plan.refined and bool(tree.bordered.any())
            settled = Settled(plan, known, plan.with_dictionaries(file.schema), across)
            figures, n_regions = stages.mask(settled, tree, most)
            figures.check(plan)
            known = stages.take_turns(settled, n_regions)
            finished = stages.finish_weights(settled, n_regions) if plan.weighing.by_group else (None, None)
            keep_object(folder, "share", share_drawn(n, figures.n_groups))
            stages.each_part(regions.write_part, done=2 * n)
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
    return Outcome(plan, known, n, sum(tree.blocks), k_achieved, figures, lost, patterns, *finished), drawn


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
