"""Work on the worker's thread for the page Release: what a release would say, and writing it."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from microagg.app.edits import recipe_line
from microagg.app.releasing import ChosenRelease, Done, Prepared
from microagg.app.session import Session
from microagg.app.worker import EXPORT, PREPARE, Cancelled, Job
from microagg.files.addresses import file_digest
from microagg.jobs import masking, writing
from microagg.jobs.facts import to_tick
from microagg.jobs.messages import Told
from microagg.jobs.opening import Opened, open_file
from microagg.jobs.writing import with_remarks
from microagg.recipe import Recipe
from microagg.release import Release
from microagg.report import render


def remarked(recipe: Recipe, session: Session, chosen: ChosenRelease, reason: str) -> Recipe:
    """Return a recipe that remarks among how many candidates it was chosen, and why this is not the first release."""
    keys = {session.key(one.recipe) for one in session.candidates} | {chosen.key}
    return with_remarks(recipe, date.today(), among=len(keys), reason=reason)


def _opening(session: Session, recipe: Recipe) -> Callable[[], Opened]:
    """Return what gives the file as a recipe reads it, which may be otherwise than it is read now."""
    opened = session.opened
    assert opened is not None
    if session.is_read_for(recipe):
        return lambda: replace(opened, recipe=recipe)
    return lambda: open_file(opened.address, recipe)


def _made(session: Session, key: str, opened: Opened, job: Job) -> Release[Any]:
    """Return the release of a recipe: the one in memory if it is of this recipe, else it is made again."""
    if session.release is not None and session.release[0] == key:
        release = session.release[1]
    else:
        job.phase("masking")
        release = masking.mask(opened, job.progress)
        job.phase("measuring linkage")
        release = masking.judge(release, job.progress)
        session.release = (key, release)
    return replace(masking.written_by(release, opened.recipe), differences=opened.differences)


def preparing(session: Session, chosen: ChosenRelease) -> Job:
    """Find out what the reports of a release would say."""
    releasing, opening = session.releasing, _opening(session, chosen.recipe)
    releasing.stopped = ""

    def work(job: Job) -> None:
        try:
            opened = opening()
            writing.check_fits(opened)
            release = _made(session, chosen.key, opened, job)
            job.phase("making the checklist")
            model = writing.report_model(release, opened, progress=job.progress)
            listed, rest = to_tick(model)
            whole = writing.recipe_to_write(release, opened)
            public = None
            if chosen.recipe.output.public:
                job.phase("making the public report")
                public = render(writing.report_model(release, opened, public=True, progress=job.progress))
        except Cancelled:
            releasing.stopped = chosen.place
            raise
        verdict = model.verdict
        releasing.store(chosen, Prepared(verdict.headline, verdict.state, tuple(listed), tuple(rest), whole, public))

    def failed(told: Told, _: BaseException) -> None:
        releasing.failed[chosen.place] = told

    releasing.failed.pop(chosen.place, None)
    return Job(PREPARE, "making the checklist", work, failed)


def exporting(session: Session, chosen: ChosenRelease, folder: Path, *, overwrite: bool, reason: str) -> Job:
    """Write a release with all that belongs to it, or nothing."""
    releasing, columns = session.releasing, session.columns
    opening = _opening(session, remarked(chosen.recipe, session, chosen, reason))
    releasing.refused = None

    def work(job: Job) -> None:
        opened = opening()
        job.phase("checking that the file has not changed")
        writing.check_unchanged(opened)
        release = _made(session, chosen.key, opened, job)
        job.phase("writing")
        written = writing.write(release, opened, folder, overwrite=overwrite, again=True, progress=job.progress)
        session.written = (chosen.recipe, session.candidates)
        releasing.take(
            Done(
                len(releasing.done) + 1,
                chosen.key,
                recipe_line(chosen.recipe, columns),
                (opened.address, opened.source.sha256),
                str(folder),
                written,
                file_digest(written.places["masked"]),
            )
        )

    def failed(told: Told, _: BaseException) -> None:
        releasing.refused = (chosen.path, told)

    return Job(EXPORT, "writing", work, failed)
