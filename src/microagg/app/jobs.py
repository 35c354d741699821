"""Work on the worker's thread that pages share: each calls `microagg.jobs` and passes what it finds to the session."""

import time
from collections.abc import Callable, Sequence
from typing import Any

from microagg.app.words import said
from microagg.app.worker import COMPARE, DRAW, LOOK, TRY, Job
from microagg.errors import MicroaggError
from microagg.jobs import candidates, inspecting, masking, trial
from microagg.jobs.messages import Told
from microagg.jobs.opening import Opened
from microagg.jobs.trial import Tried
from microagg.judge.comparison import Candidate
from microagg.recipe import Recipe
from microagg.release import Release
from microagg.study.inspection import Exposure
from microagg.work import part, tell


def counting(opened: Opened, found: Callable[[Exposure], None]) -> Job:
    """Count how exposed the records of a file are by its recipe's roles."""

    def work(job: Job) -> None:
        found(inspecting.exposure_of(opened, job.progress))

    return Job(LOOK, "counting unique records", work)


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
        first = trial.first_figures(release, seconds)
        publish(first)
        job.phase("measuring linkage")
        release = masking.judge(release, job.progress)
        job.phase("writing the verdict")
        publish(trial.full_figures(release, first, job.progress))
        done(release)

    return Job(TRY, "masking", work, failed)


_SHARES = 1000  # of one release in the progress of all


def comparing(
    opened: Opened,
    recipes: Sequence[tuple[str, Recipe]],
    masked: Callable[[Recipe, Tried], None],
    found: Callable[[Recipe, Candidate, Tried], None],
    refused: Callable[[Recipe, Told], None],
) -> Job:
    """Mask a file by each recipe and measure loss and risk; `found` gets each as it comes, so that nothing is lost.

    `masked` gets the loss before that, while the risk is measured.
    """

    def work(job: Job) -> None:
        for place, (name, recipe) in enumerate(recipes):
            job.title = f"comparing {place + 1} of {len(recipes)}: {name}, k {recipe.k}"
            job.changed()
            own = part(job.progress, _SHARES * place, _SHARES * (place + 1), _SHARES * len(recipes))
            tell(own, 0, 1)

            def begun(release: Release[Any], seconds: float, recipe: Recipe = recipe) -> None:
                masked(recipe, trial.first_figures(release, seconds))

            try:
                for one, judged in candidates.each_candidate(opened, [(name, recipe)], own, masked=begun):
                    heard = part(own, 1, 1, 1)
                    release = judged.with_results(heard)
                    first = trial.first_figures(release, one.seconds)
                    found(recipe, one, trial.full_figures(release, first, heard))
            except MicroaggError as error:  # which one release alone may have, such as strata too small for its k
                refused(recipe, said(error))
                error.__traceback__ = None  # its frames hold the data

    return Job(COMPARE, "comparing", work, stopped="Cancelled. What was done until then is kept.")


def drawing(
    files: Sequence[tuple[Opened, Release[Any] | None]],
    done: Callable[[int, Release[Any], trial.Looked], None],
    refused: Callable[[int, Told], None],
) -> Job:
    """Draw what releases did to a file, one after the other; each is made again where it is not at hand."""

    def drawn(job: Job, opened: Opened, release: Release[Any] | None) -> Release[Any]:
        if release is not None:
            return release
        job.phase("masking")
        made = masking.mask(opened, job.progress)
        job.phase("measuring linkage")
        return masking.judge(made, job.progress)

    def work(job: Job) -> None:
        for place, (opened, release) in enumerate(files):
            try:
                made = drawn(job, opened, release)
                job.phase("drawing")
                done(place, made, trial.look_at(made, job.progress))
            except MicroaggError as error:
                refused(place, said(error))
                error.__traceback__ = None  # its frames hold the data

    return Job(DRAW, "drawing", work)


def peeking(opened: Opened, found: Callable[[tuple[list[str], list[list[str]]]], None]) -> Job:
    """Mask a file once more for a few of its rows."""

    def work(job: Job) -> None:
        found(trial.peek_at(masking.mask(opened, job.progress)))

    return Job(DRAW, "masking", work)
