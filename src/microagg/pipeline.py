"""protect(): the only place that joins the stages."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, overload

import numpy as np
import pyarrow as pa
from narwhals.typing import IntoDataFrameT

from microagg import __version__
from microagg.aggregate import represent
from microagg.checks import check_enough_records, check_jobs, refuse_missing
from microagg.errors import InvalidData, InvalidParameter, PromiseBroken, setting
from microagg.evaluate.anonymity import fewest_sharing
from microagg.evaluate.loss import loss_of_release
from microagg.grouping import (
    Labels,
    check_kinds,
    check_strata,
    cut_into_pieces,
    form_groups,
    refine_groups,
    resolve_method,
    select_forming,
    settle_blocks,
    settle_selection,
)
from microagg.io import frames
from microagg.io.coding import Coder, open_table, written_table
from microagg.io.labels import Labels as FileLabels
from microagg.io.sources import Source
from microagg.io.tags import with_tags_again, with_tags_as_numbers
from microagg.kinds import Rule
from microagg.partition import METHODS, groups_each_column
from microagg.prepare.embedding import embed
from microagg.prepare.patterns import Patterns, find_patterns
from microagg.prepare.recoding import Recoding
from microagg.prepare.selection import Selection
from microagg.progress import Progress
from microagg.recipe import OF_PROTECT, Kinds, Missing, Recipe, Roles, Select
from microagg.recipe._signature import recipe_of, takes
from microagg.recipe.wishes import asked_of, settled_kinds, with_declared_codes
from microagg.release import MissingFacts, Release
from microagg.rounding import Rounded, round_means
from microagg.schema import Role, Schema
from microagg.table import Table


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
        One row a record. It is not changed. A pandas index other than 0, 1, 2, ... counts as an identifier. What
        `read` gives will do too.
    k : int
        The least number of records that may share one combination of released values.
    recipe : Recipe, optional
        All choices in one value; keywords beside it change single ones.
    n_jobs : int, optional
        Threads for strata and blocks; by default one a core. The result does not depend on it.
    progress : callable, optional
        Called as progress(records done, records in all), often; what it raises stops the work.
    {choices}
    **options
        The method's own options.

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
    asked = recipe_of(k, recipe, choices)
    with asked.blamed():
        if not isinstance(frame, Source):
            return _protected(frame, asked, check_jobs(n_jobs), progress)
        return _protected_source(frame, asked, check_jobs(n_jobs), progress)


def _protected_source(source: Source, asked: Recipe, n_jobs: int, progress: Progress | None) -> Release[Any]:
    """Mask what was read from a file, with what the file says of its values."""
    names = source.table.column_names
    kinds = dict.fromkeys(Recoding.of(asked.recode.recode).numbers, "number") | dict(asked.kinds.kinds)
    wanted = {*asked.masked(names), *asked.recode.recode}
    turned = [name for name in names if name in wanted]
    asked = with_declared_codes(asked, source, turned)
    codes = asked.missing_codes.codes
    typed = source.typed_for(kinds, turned, codes)
    worded = Recoding.of(asked.recode.recode).text
    whole = [name for name in turned if name not in worded]  # text has no numbers for them
    typed, tags = with_tags_as_numbers(typed, source.labels, whole)
    coded = {**codes, **{name: (*codes.get(name, ()), *numbers) for name, numbers in tags.items()}}
    inner = replace(asked, missing_codes=Missing(coded))
    release = _protected(typed, inner, n_jobs, progress, source.labels)
    data, released = with_tags_again(release.data, tags)
    found = {} if source.dialect is None else source.dialect.options()
    recipe = replace(release.recipe, missing_codes=asked.missing_codes).replace(**found)
    return replace(release, data=data, recipe=recipe, source=source, _tags=released)


def _protected(
    frame: Any, asked: Recipe, n_jobs: int, progress: Progress | None, labels: FileLabels | None = None
) -> Release[Any]:
    """Mask a frame by a recipe; `labels` are what the file says of its values."""
    recipe, k = asked.spelt_out(), asked.k
    masking = recipe.masking
    opened = frames.open_frame(frame)
    schema = Schema.assign(opened.columns, **recipe.roles.lists)
    recipe.check_named(opened.columns)
    opened, recipe, recoded = _recoded(opened, recipe)
    names = schema.names(Role.QUASI)
    method = resolve_method(recipe.method, k, names)
    select = settle_selection(recipe.select, len(names))
    _check_possible(method.name, method.options, select.said, masking.per_column, recipe.refine.effort, len(names))
    wishes = asked_of(recipe, names, labels)
    original, coders = open_table(opened, wishes)
    check_kinds(original, method, recipe)
    complete, original = _without_missing(opened, schema, original, coders, masking.missing)
    check_enough_records(original.n_records, k)

    strata = frames.category_codes(complete, schema.names(Role.STRATUM))
    check_strata(strata, k, schema.names(Role.STRATUM))
    selection = select_forming(select, complete, names, original) if select.said else None
    chosen = names if selection is None else selection.columns
    forming = original.named([name for name in names if name in chosen])  # in file order, whatever the choice's
    points = embed(forming, masking.scale, masking.spike, n_jobs)
    patterns = find_patterns(original, strata, k) if masking.missing == "pattern" else Patterns(strata, 0, 0)
    largest = int(np.bincount(patterns.pieces).max())
    blocks = settle_blocks(recipe.blocks, k, largest, whole=groups_each_column(method.name))
    pieces = cut_into_pieces(points, forming.names, patterns.pieces, blocks, k, n_jobs)
    entries, heights, _ = points.records
    method = method.searching(max(rows.size for rows in pieces), entries.shape[0], heights.size)
    partition = method.on(points, forming.names)
    groups = form_groups(partition, points, pieces, k, masking.per_column, n_jobs, progress)
    moves = 0
    if recipe.refine.effort is not None:
        groups, moves = refine_groups(points, patterns.pieces, groups, k, recipe.refine, n_jobs, progress)
    _check_units(complete, schema.names(Role.UNIT), groups, k)

    rule = Rule(k, masking.aggregate, masking.nominal, masking.spike_totals, masking.nominal_seed)
    of_groups, _ = represent(original, groups, rule, n_jobs)
    released, rounded = round_means(original, of_groups, groups, masking.rounding)
    data = frames.laid_out_like(frame, _released_frame(complete, schema, released, coders, rounded))
    written = written_table(frames.open_frame(data), list(coders.values()))
    k_achieved = fewest_sharing(written, strata, per_column=groups.ndim == 2, n_jobs=n_jobs)
    if k_achieved < k:
        raise PromiseBroken(
            f"only {k_achieved} record(s) would share a combination of released values; k={k} was asked."
        )
    return Release(
        data=data,
        groups=groups,
        information=loss_of_release(original, written, n_jobs),
        k_achieved=k_achieved,
        recipe=replace(
            recipe,
            roles=Roles.of_schema(schema),
            kinds=settled_kinds(recipe, coders),
            method=method.settled,
            select=_settled(select, selection, names),
            blocks=blocks.settled,
        ),
        selection=selection,
        n_blocks=len(pieces) if blocks.by != "none" else 0,
        moves=moves,
        version=__version__,
        n_dropped=opened.shape[0] - complete.shape[0],
        index_dropped=frames.has_own_index(frame),
        missing=MissingFacts.between(original, written, patterns),
        rounded=rounded,
        recoded=recoded,
        _original=original,
        _written=written,
    )


def _recoded(frame: Any, recipe: Recipe) -> tuple[Any, Recipe, Mapping[Any, int]]:
    """Give a frame recoded, the recipe with the levels that classes have, and how many cells of each column changed."""
    recoding = Recoding.of(recipe.recode.recode)
    if not recoding:
        return frame, recipe, {}
    recoded, tally = recoding.apply_to_part(frame, recipe.missing_codes.codes)
    recoding.check_joined(tally)
    levels = {name: own for name, own in recoding.levels(tally).items() if name not in recipe.kinds.kinds and own[1:]}
    return recoded, replace(recipe, kinds=Kinds({**recipe.kinds.kinds, **levels})), tally.changed


def _settled(select: Select, selection: Selection | None, names: list[Any]) -> Select:
    """Give the choice of columns as a recipe records it: columns that somebody named, in the file's order."""
    if selection is None or isinstance(select.by, str):
        return select
    return Select(columns=tuple(name for name in names if name in selection.columns))


def _released_frame(
    frame: Any, schema: Schema, released: Table, coders: Mapping[Any, Coder], rounded: Mapping[Any, Rounded]
) -> Any:
    """Give the frame with what each group releases in the place of its members' values."""
    replaced = {}
    for column in released:
        power = rounded[column.name].power if column.name in rounded else None
        like = frame.get_column(column.name)
        replaced[column.name] = coders[column.name].series(column.cells, like, power)
    return frames.with_columns(frame, schema.released, replaced)


def _check_possible(method: str, options: Any, select: Any, per_column: bool, refine: Any, n_columns: int) -> None:
    """Refuse, before any work, choices that do not go together on so many masked columns."""
    each_apart = groups_each_column(method) and n_columns > 1
    if select and (groups_each_column(method) or options.get("axis", "pca") not in ("pca", "zscores")):
        raise InvalidParameter(
            f"select does not go with method {method!r} by single columns. Leave it out.", parameter="select"
        )
    if each_apart and not per_column:
        raise InvalidParameter(
            f"method {method!r} groups each of {n_columns} columns on its own, so whole records may stay unique. "
            f"Choose another method, or accept k for each column only: {setting('per_column', True)}.",
            parameter="method",
        )
    if per_column and not each_apart:
        apart = " or ".join(name for name in METHODS if groups_each_column(name))
        raise InvalidParameter(
            f"per_column=True goes with {apart} on several columns, not with {method!r} on {n_columns}.",
            parameter="per_column",
        )
    if refine is not None and each_apart:
        raise InvalidParameter(
            "refine goes with groups of whole records. Leave it or per_column out.", parameter="refine"
        )


def _without_missing(
    frame: Any, schema: Schema, table: Table, coders: Mapping[Any, Coder], missing: str
) -> tuple[Any, Table]:
    """Refuse or leave out records that lack a value, where that is asked for; units must be complete anyway."""
    frames.check_complete(
        frame, schema.names(Role.UNIT), remedy="Complete them: nobody else knows whom such a record belongs to."
    )
    if missing in ("pattern", "state"):
        return frame, table
    names = [*table.names, *schema.names(Role.STRATUM)]
    lacking = {column.name: ~column.cells.present for column in table if column.cells.states is not None}
    lacking |= frames.missing_rows(frame, schema.names(Role.STRATUM))
    if not lacking:
        return frame, table
    if missing == "error":
        refuse_missing({name: int(np.count_nonzero(lacking[name])) for name in names if name in lacking})
    complete = ~np.logical_or.reduce(list(lacking.values()))
    if not complete.any():
        raise InvalidData(
            "every record lacks a value, so missing='drop' leaves none. Impute or drop columns instead.",
            parameter="missing",
        )
    kept = frames.keep_rows(frame, complete)
    return kept, written_table(kept, list(coders.values()))


def _check_units(frame: Any, names: list[Any], groups: Labels, k: int) -> None:
    """Refuse groups that hold fewer than k different persons or firms."""
    if not names:
        return
    units = frames.category_codes(frame, names)
    for labels in np.atleast_2d(groups.T):
        pairs = np.unique(labels * (units.max() + 1) + units)
        distinct = np.bincount(pairs // (units.max() + 1))
        short = np.count_nonzero(distinct < k)
        if short:
            raise PromiseBroken(
                f"{short} of {distinct.size} groups hold fewer than k={k} different units (the fewest: "
                f"{distinct.min()}). Combine the rows of each unit into one, or lower k."
            )
