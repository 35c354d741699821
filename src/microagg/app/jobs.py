"""Work on the worker's thread that pages share: each calls the desk and hands what it finds to the session."""

import time
from collections.abc import Callable
from typing import Any

from microagg.app.worker import LOOK, TRY, Job
from microagg.desk import inspecting, masking
from microagg.desk import trying as figures
from microagg.desk.opening import Opened
from microagg.desk.trying import Tried
from microagg.desk.words import Told
from microagg.release import Release
from microagg.study.inspection import Exposure


def counting(opened: Opened, found: Callable[[Exposure], None]) -> Job:
    """Count how exposed the records of a file are by its recipe's roles."""

    def work(_: Job) -> None:
        found(inspecting.exposure_of(opened))

    return Job(LOOK, "counting who is alone", work)


def trying(
    opened: Opened,
    publish: Callable[[Tried], None],
    timed: Callable[[int, float], None],
    done: Callable[[Release[Any]], None],
    failed: Callable[[Told, BaseException], None],
) -> Job:
    """Mask a file, then measure the risk; `publish` gets what is known after each."""

    def work(job: Job) -> None:
        begun = time.monotonic()
        release = masking.mask(opened, job.progress)
        seconds = time.monotonic() - begun
        timed(len(release.groups) * len(release.recipe.roles.of("quasi")), seconds)
        first = figures.first_figures(release, seconds)
        publish(first)
        job.phase("measuring linkage")
        release = masking.judge(release, job.progress)
        job.phase("wording the verdict")
        publish(figures.full_figures(release, first))
        done(release)

    return Job(TRY, "masking", work, failed)
