"""Masking a file that was opened: in memory, or beyond it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from microagg.checks import check_option
from microagg.files.databases import is_database
from microagg.jobs.memory import give_back
from microagg.jobs.opening import Opened
from microagg.pipeline import protect
from microagg.recipe import Recipe
from microagg.recipe.combine import Combination, refuse
from microagg.release import Release
from microagg.work import Progress, stage

ENGINES = ("memory", "disk", "dask")


def mask(opened: Opened, progress: Progress | None = None) -> Release[Any]:
    """Mask a file by its recipe."""
    release = protect(opened.source, recipe=opened.recipe, progress=progress)
    give_back()
    return replace(release, differences=opened.differences) if opened.differences else release


def written_by(release: Release[Any], recipe: Recipe) -> Release[Any]:
    """Return a release as another recipe writes it, with its comments; it must mask in the same way."""
    return replace(release, recipe=replace(release.recipe, output=recipe.output, comments=recipe.comments))


def judge(release: Release[Any], progress: Progress | None = None) -> Release[Any]:
    """Measure the risk that the recipe asks for, what researchers would find, the loss, and how low it could be."""
    with release.recipe.blamed():
        judged = release.judged(progress=stage(progress, 0, 3))
    give_back()
    judged = judged.with_results(stage(progress, 1, 3))
    give_back()
    judged = judged.with_loss(stage(progress, 2, 3))
    give_back()
    return judged


def check_engine(engine: str, scheduler: str | None, scratch: str | None) -> None:
    """Refuse an engine that there is not, and what goes with another one."""
    check_option("engine", engine, ENGINES)
    refuse("engine", Combination(engine=engine, scheduler=scheduler, scratch=scratch))


def check_beyond_memory(address: str, to: str | None, recipe: Recipe, engine: str) -> None:
    """Refuse, before any work, what does not go with a file that is not read into memory."""
    database = is_database(address) or (to is not None and is_database(to))
    refuse("beyond memory", Combination(recipe=recipe, engine=engine, database=database))


def mask_beyond_memory(
    address: str,
    target: str | Path,
    recipe: Recipe,
    *,
    engine: str,
    scheduler: str | None = None,
    scratch: str | Path | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Any:
    """Mask a Parquet or text file on disk or on a cluster, and give the `FileRelease`."""
    from microagg.file_release import protect_file

    return protect_file(
        address,
        target,
        recipe=recipe,
        engine=engine,
        scheduler=scheduler,
        scratch=scratch,
        overwrite=overwrite,
        progress=progress,
    )
