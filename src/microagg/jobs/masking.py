"""Masking a file that was opened: in memory, or beyond it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from microagg.checks import check_option
from microagg.errors import InvalidParameter, setting
from microagg.files.databases import is_database
from microagg.jobs.memory import give_back
from microagg.jobs.opening import Opened
from microagg.pipeline import protect
from microagg.recipe import Recipe
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
    if scheduler is not None and engine != "dask":
        raise InvalidParameter(
            f"{setting('scheduler')} works only with {setting('engine', 'dask')}. Leave it out, or add the engine.",
            parameter="scheduler",
        )
    if scratch is not None and engine == "memory":
        raise InvalidParameter(
            f"{setting('scratch')} works only with {setting('engine', 'disk')} or {setting('engine', 'dask')}. Leave "
            "it out.",
            parameter="scratch",
        )


def check_beyond_memory(address: str, to: str | None, recipe: Recipe, engine: str) -> None:
    """Refuse, before any work, what does not go with a file that is not read into memory."""
    if recipe.join.households is not None:
        raise InvalidParameter(
            f"{setting('households')} joins two files in memory, and cannot be combined with "
            f"{setting('engine', engine)}. Leave one of the two out.",
            parameter="households",
        )
    if recipe.roles.quasi is None and recipe.origin is None:
        raise InvalidParameter(
            "for a file larger than memory you need a recipe, since the file is not read to guess one "
            f"({setting('engine', engine)}). Inspect a part of it first.",
            parameter="recipe",
        )
    if is_database(address) or (to is not None and is_database(to)):
        raise InvalidParameter(
            f"{setting('engine', engine)} works on files, not on tables of databases. Leave it out.",
            parameter="engine",
        )
    if not recipe.output.same_order:
        raise InvalidParameter(
            "a file larger than memory is not sorted: its rows are written in the order of the source, which helps "
            f"anybody who has a list in that order ({setting('engine', engine)}). If nobody has one, accept that "
            f"order: {setting('same_order', True)}.",
            parameter="same_order",
        )


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
