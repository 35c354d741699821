"""protect(): the stages from a file to a release, joined."""

from dataclasses import replace
from typing import Any, overload

import pyarrow as pa
from narwhals.typing import IntoDataFrameT

from microagg import __version__
from microagg.algorithms.selection import Selection
from microagg.checks import check_jobs
from microagg.columns import frames
from microagg.columns.labels import with_tags_again
from microagg.columns.roles import Role
from microagg.columns.rounding import Steps
from microagg.columns.table import Table
from microagg.files.sources import Source
from microagg.mask.digits import matter, undoable
from microagg.mask.engines.memory import Counted, Memory
from microagg.mask.facts import MissingFacts, WeightFacts
from microagg.mask.groups import Labels
from microagg.mask.masked import Masked
from microagg.mask.moments import MomentFacts, moments_of_written
from microagg.mask.open import Given, forming_columns, given_by
from microagg.mask.represent import Values
from microagg.mask.weights import weight_facts
from microagg.measures.diversity import DiversityFacts
from microagg.measures.loss import loss_of_release, weighted_loss_of_release
from microagg.recipe import OF_PROTECT, Recipe
from microagg.recipe._recipe import recipe_of
from microagg.recipe._tables import takes
from microagg.recipe.data import with_join
from microagg.recipe.profile import compared
from microagg.release import Release
from microagg.work import Progress, Work


@overload
def protect(frame: Source, k: int | None = None, **choices: Any) -> Release[pa.Table]: ...


@overload
def protect(frame: IntoDataFrameT, k: int | None = None, **choices: Any) -> Release[IntoDataFrameT]: ...


@takes(*OF_PROTECT)
def protect(
    frame: Any,
    k: int | None = None,
    *,
    recipe: Recipe | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    **choices: Any,
) -> Release[Any]:
    """Mask a dataframe so that every record shares its released values with at least k - 1 others.

    Parameters
    ----------
    frame : pandas, polars or PyArrow dataframe, or Source
        One row for each record. It is not changed. A pandas index other than 0, 1, 2, ... counts as an identifier. You
        can also pass what `read` returns.
    k : int
        The least number of records that may share one combination of released values.
    recipe : Recipe, optional
        All choices in one value; keywords change single choices of it.
    n_jobs : int, optional
        Threads for strata and blocks; by default one for each core. The result does not depend on it.
    progress : callable, optional
        Called as progress(records done, records in all), often; what it raises stops the work.
    {choices}
    **options
        The options of the method.

    Returns
    -------
    Release

    Examples
    --------
    >>> import microagg as ma
    >>> survey = ma.datasets.survey(2000, seed=0)
    >>> release = ma.protect(survey, k=5, quasi=["age", "income", "tax"], strata=["region"],
    ...                      identifiers=["person"], weight="weight", rest="drop")
    >>> release.k_achieved
    5
    >>> release.data.column_names
    ['region', 'weight', 'age', 'income', 'tax']
    """
    asked = recipe_of(k, recipe, choices, *OF_PROTECT)
    with asked.blamed():
        source = frame if isinstance(frame, Source) else None
        asked, work = with_join(asked, None if source is None else source.joined), Work(check_jobs(n_jobs), progress)
        asked, differences = compared(asked, frame)
        if source is None:
            release = _protected(Given(frame, asked), work)
        else:
            asked, given = given_by(source, asked)
            release = _protected(given, work)
            data, tags = with_tags_again(release.data, given.tags)
            settled = replace(release.recipe, missing_codes=asked.missing_codes).replace(**source.options)
            release = replace(release, data=data, recipe=settled, source=source, _tags=tags)
    return replace(release, differences=differences) if differences else release


def _protected(given: Given, work: Work) -> Release[Any]:
    """Mask a frame, and measure what that did."""
    engine = Memory(given, work)
    counted = engine.run()
    release = _release(counted, engine.measuring)
    work.tell(engine.n, engine.n)
    n_dropped = engine.n - len(release.groups)
    return replace(release, n_dropped=n_dropped, index_dropped=frames.has_own_index(given.frame))


def _release(counted: Counted, measuring: list[Work]) -> Release[Any]:
    """Measure what masking did, and wrap it all."""
    opened, values, masked, k_achieved, classes = counted
    table, groups, written, recipe = masked
    losing, weighing = measuring
    dropped = frames.shared_codes(table.frame, table.schema.names(Role.IDENTIFIER, Role.DROP))
    kept = masked._replace(table=replace(table, frame=None, dropped=dropped), written=replace(written, frame=None))
    return Release(
        data=written.frame,
        groups=groups.labels,
        information=loss_of_release(table, written, losing),
        k_achieved=k_achieved,
        recipe=recipe,
        selection=groups.selection,
        n_blocks=groups.n_blocks,
        moves=groups.moves,
        version=__version__,
        missing=MissingFacts.between(table, written, groups.n_patterns, groups.n_moved),
        rounded=values.rounded,
        recoded=opened.recoded,
        diversity=_diversity_facts(masked, classes),
        moments=_moment_facts(values, masked),
        chosen=values.chosen,
        once=groups.once,
        weights=_weight_facts(values, masked, weighing),
        _masked=kept,
        _undoable=_undoable(recipe, table),
    )


def selection_of(source: Source, asked: Recipe, progress: Progress | None = None) -> Selection:
    """Choose the columns that form groups, as `protect` would; groups are formed only where several are to be tried."""
    with asked.blamed():
        select, found = forming_columns(source, asked)
    if select.choose == "lowest-loss" and found.n_alternatives > 1:
        tried = protect(source, recipe=asked, progress=progress).selection
        assert tried is not None
        return tried
    return found


def _moment_facts(values: Values, masked: Masked) -> MomentFacts | None:
    if values.moments is None:
        return None
    weights = masked.table.weighed.representing
    known = None if weights is None else weights.values
    return moments_of_written(values.moments, masked.table, masked.written, known)


def _undoable(recipe: Recipe, original: Table) -> tuple[Any, ...]:
    """Return the columns whose digits would give members away in a file."""
    if not matter(recipe):
        return ()
    return undoable(recipe, ((one.name, one.kind, Steps.of(one.cells.known)) for one in original))


def _weight_facts(values: Values, masked: Masked, work: Work) -> WeightFacts | None:
    """Return what weights did to a release; None where no weights are known."""
    weights, own, found = masked.table.weighed.first, values.weights, values.represented
    if weights is None:
        return None
    lost = weighted_loss_of_release(masked.table, masked.written, weights, work)
    return weight_facts(lost, found.dominated, found.moved, own.calibrated, own.rounded, own.revealing)


def _diversity_facts(masked: Masked, classes: Labels) -> DiversityFacts | None:
    demand, diverse = masked.table.demand, masked.groups.diverse
    if demand is None or diverse is None:
        return None
    return DiversityFacts.of(demand, diverse.before, classes, diverse.way, (diverse.loss_before, diverse.loss_after))
