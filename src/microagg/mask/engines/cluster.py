"""Many processes or machines: the same stages, scheduled by Dask.

Workers share a folder of scratch and hand each other files in it (see `tasks`). The tree of cuts is grown level by
level, from counts of keys, until a node is small enough for one worker, which cuts it further and masks its blocks.
Sums are exact and cuts are by rank, so the result does not depend on how many parts or workers there are.
"""

import os
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from microagg.errors import InvalidParameter
from microagg.files.batches import Batches
from microagg.files.formats.kinds import is_text_name
from microagg.files.publishing import private_place, publish
from microagg.files.stores import Where, listed
from microagg.mask.engines import regions
from microagg.mask.engines.client import connected, explained
from microagg.mask.engines.figures import Lost, Outcome
from microagg.mask.engines.folder import Folder, InStore, forgetting, keep_object
from microagg.mask.engines.plan import Known, Plan
from microagg.mask.engines.run import count_records, mask_file
from microagg.mask.engines.sample import Drawn
from microagg.mask.engines.stages import Stages
from microagg.mask.engines.targets import check_replaceable
from microagg.mask.engines.tasks import Task
from microagg.work import Progress, Work

_REGION = 1_000_000  # records that one worker masks at a time, at most, unless a block is larger
_PART = 1_000_000  # records of a part, about
_TASKS_EACH = 4  # parts and regions for each worker, at least, so that all are busy to the end


class Cluster(Stages):
    """The stages on a cluster; what workers have written becomes the target when the cluster has been let go."""

    def __init__(self, connection: ExitStack, target: "Target", writing: Progress | None, *stages: Any) -> None:
        super().__init__(*stages)
        self._connection, self._target, self._writing = connection, target, writing

    def write(self, plan: Plan, known: Known, share: float) -> tuple[int, Lost, Drawn]:
        """Let workers write their parts; bring these together, count k on them, and publish them."""
        keep_object(self.folder, "share", share)
        self.each_part(regions.write_part, done=2 * self.n)
        lost = self.lost()
        drawn = Drawn.joined(list(self.objects("drawn", len(self.sizes))))
        self.file.check_unchanged()
        self._connection.close()
        path, place, names, overwrite = self._target
        if is_text(path):
            parts = [place / name for name in names]
            return self.write_text(path, plan, known, parts, self._writing), lost, drawn
        k_achieved = self.count_alike(plan.in_part)
        plan.promise.check(k_achieved, path.name)
        for left, _ in listed(place):  # by a worker that was given up and went on
            if left.name not in names:
                left.unlink()
        check_replaceable(path)
        publish(place, path, overwrite=overwrite, check=check_replaceable)
        return k_achieved, lost, drawn


class Target(NamedTuple):
    """Where the masked file is to be, the folder in which workers write its parts, and what these are called."""

    path: Where
    place: Where
    names: list[str]
    overwrite: bool


def is_text(path: Where) -> bool:
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
) -> tuple[Outcome, Drawn]:
    """Mask a file on a cluster; the target is a folder of Parquet files, or a text file."""
    n, workers, in_text = count_records(file, plan.k), work.n_jobs, is_text(path)
    copying, masking, writing = _steps(work, n, copies=not file.is_parquet, in_text=in_text)
    with (
        explained(),
        forgetting(),
        private_place(scratch) as place,
        private_place(path.parent, "the target") as output,
        ExitStack() as connection,
    ):
        folder: Folder = place if isinstance(place, Path) else InStore(place)
        whole = (place if in_text else output) / "whole"
        if isinstance(whole, Path):
            whole.mkdir()
        source = file if file.is_parquet else file.as_parquet(place / "source.parquet", place, copying.progress)
        client = connection.enter_context(connected(scheduler, workers, folder))
        if scheduler is not None:
            workers = max(1, sum(client.nthreads().values()))
        wanted = max(_TASKS_EACH * workers, n // _PART) if partitions is None else partitions
        parts = _parts(source.row_groups(), n, wanted)
        sizes = [sum(records for _, _, records in part) for part in parts]
        runs = [[(own.resolve(), number) for own, number, _ in part] for part in parts]
        digits = max(5, len(str(len(parts))))
        names = [f"part-{number:0{digits}d}.parquet" for number in range(len(parts))]
        key = None if in_text else os.urandom(16)
        _keep_task(folder, Task(plan, file, runs, sizes, whole, names, key))
        most, target = min(_REGION, n // (_TASKS_EACH * workers)), Target(path, whole, names, overwrite)
        engine = Cluster(connection, target, writing.progress, client, folder, file, sizes, most, masking)
        engine.check_workers()
        return mask_file(engine, plan)


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
        keep_object(folder, "work", task)
    except Exception as error:  # noqa: BLE001 - pickle raises whatever the object does
        raise InvalidParameter(
            f"the method cannot be sent to workers ({type(error).__name__}). Pass one that can be pickled."
        ) from None
