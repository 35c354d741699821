"""protect(): the only place that joins the stages."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, overload

import numpy as np
import pyarrow as pa
from narwhals.typing import IntoDataFrameT
from numpy.typing import NDArray

from microagg import __version__
from microagg.algorithms.diversity.demand import Demand
from microagg.algorithms.methods import METHODS, groups_each_column
from microagg.algorithms.selection import Selection
from microagg.checks import check_enough_records, check_jobs, refuse_missing
from microagg.columns import frames
from microagg.columns.coding import Coder, open_table, written_table
from microagg.columns.kinds import Rule
from microagg.columns.labels import Labels as FileLabels
from microagg.columns.ordering import order_of_units
from microagg.columns.recoding.recoding import Recoding
from microagg.columns.roles import Role, Schema
from microagg.columns.steps import Steps
from microagg.columns.table import Table
from microagg.columns.tags import Tags, with_tags_again, with_tags_as_numbers
from microagg.columns.weighing import weights_like
from microagg.errors import InvalidData, InvalidParameter, PromiseBroken, setting
from microagg.files.sources import Source
from microagg.judge.analyses import AllRecords
from microagg.mask.demands import check_demanded, check_weighing, demanded_columns, sensitive_table
from microagg.mask.digits import matter, undoable
from microagg.mask.facts import MissingFacts, WeightFacts
from microagg.mask.forming import Formed, check_whole_units, formed_of
from microagg.mask.grouping import Labels, check_kinds, resolve_method, select_forming, settle_selection
from microagg.mask.moments import Matched, MomentFacts, check_moments, match_moments, moment_facts
from microagg.mask.relations import check_numbers, keep_relations
from microagg.mask.representatives import Represented
from microagg.mask.rounding import Rounded, round_means
from microagg.mask.row_groups import Diverse
from microagg.mask.weights import (
    ReleasedWeights,
    Weighed,
    check_calibrated,
    check_dominance,
    released_weights,
    weighing_of,
    weight_facts,
)
from microagg.measures.anonymity import classes_sharing, fewest_sharing, fewest_whole_units
from microagg.measures.diversity import DiversityFacts
from microagg.measures.loss import loss_of_release, weighted_loss_of_release
from microagg.recipe import OF_PROTECT, DiversityChoices, Kinds, Masking, Missing, Recipe, Select
from microagg.recipe._signature import recipe_of, takes
from microagg.recipe.differences import compared
from microagg.recipe.joined import with_join
from microagg.recipe.wishes import asked_of, settled_kinds, with_declared_codes
from microagg.release import Release
from microagg.work import Progress, part, stage, tell

Values = NDArray[np.float64]

_OPENED, _FORMED = 5, 85  # percent of the progress: when the columns are coded, and when the groups are formed


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
        asked, jobs = with_join(asked, frame.joined if isinstance(frame, Source) else None), check_jobs(n_jobs)
        asked, found = compared(asked, frame)
        mask: Any = _protected_source if isinstance(frame, Source) else _protected
        release: Release[Any] = mask(frame, asked, jobs, progress)
    return replace(release, differences=found) if found else release


def _protected_source(source: Source, asked: Recipe, n_jobs: int, progress: Progress | None) -> Release[Any]:
    """Mask what was read from a file, with what the file says of its values."""
    asked, inner, typed, tags = _typed(source, asked)
    sensitive = _sensitive_of(source, asked)
    release = _protected(typed, inner, n_jobs, progress, source.labels, _numbers_of(source, asked), sensitive)
    data, released = with_tags_again(release.data, tags)
    recipe = replace(release.recipe, missing_codes=asked.missing_codes).replace(**source.options)
    return replace(release, data=data, recipe=recipe, source=source, _tags=released)


def _typed(source: Source, asked: Recipe) -> tuple[Recipe, Recipe, pa.Table, Tags]:
    """Return a file with the columns that are masked or recoded as their kinds say, and its tags as numbers.

    The recipe comes with the missing values that the file declares, and again with its tags as missing values too.
    """
    names = source.table.column_names
    wanted = {*asked.masked(names), *asked.recode.recode}
    turned = [name for name in names if name in wanted]
    asked = with_declared_codes(asked, source, turned)
    codes = asked.missing_codes.codes
    typed = source.typed_for(_kinds(asked), turned, codes)
    worded = Recoding.of(asked.recode.recode).text
    whole = [name for name in turned if name not in worded]  # text has no numbers for them
    typed, tags = with_tags_as_numbers(typed, source.labels, whole)
    coded = {**codes, **{name: (*codes.get(name, ()), *numbers) for name, numbers in tags.items()}}
    return asked, replace(asked, missing_codes=Missing(coded)), typed, tags


def _kinds(asked: Recipe) -> dict[Any, Any]:
    """Return the kinds that a recipe names, and of columns that are recoded as numbers."""
    return dict.fromkeys(Recoding.of(asked.recode.recode).numbers, "number") | dict(asked.kinds.kinds)


def selection_of(source: Source, asked: Recipe, progress: Progress | None = None) -> Selection:
    """Choose the columns that form groups, as `protect` would; groups are formed only where several are to be tried."""
    with asked.blamed():
        _, recipe, typed, _ = _typed(source, asked.spelt_out())
        frame = frames.open_frame(typed)
        schema = Schema.assign(frame.columns, **recipe.roles.lists)
        frame, recipe, _ = _recoded(frame, recipe)
        names = schema.names(Role.QUASI)
        table, coders = open_table(frame, asked_of(recipe, names, source.labels))
        frame, table, _ = _without_missing(frame, schema, table, coders, recipe.masking.missing)
        select = settle_selection(recipe.select, len(names))
        found = select_forming(select, frame, names, table)
    if select.choose == "lowest-loss" and found.n_alternatives > 1:
        tried = protect(source, recipe=asked, progress=progress).selection
        assert tried is not None
        return tried
    return found


def _numbers_of(source: Source, asked: Recipe) -> pa.Table:
    """Return the columns of weights of a file, and of relations, as numbers; what is released unchanged stays text."""
    related = [name for relation in asked.relations.relations for name in relation.columns]
    names, weighing = dict.fromkeys([*asked.roles.of(Role.WEIGHT.value), *related]), weighing_of(asked)
    known = [name for name in names if name in source.table.column_names]
    typed = source.typed_for({name: "number" for name in weighing.used if name in known}, known)
    return typed.select(known)


def _sensitive_of(source: Source, asked: Recipe) -> pa.Table:
    """Return the confidential columns of a file with its numbers as numbers, if l or t is demanded of them."""
    listed = asked.roles.confidential if asked.diversity.demanded else ()
    known = [name for name in listed if name in source.table.column_names and name not in asked.recode.recode]
    return source.typed_for(_kinds(asked), known).select(known)


def _protected(
    frame: Any,
    asked: Recipe,
    n_jobs: int,
    progress: Progress | None,
    labels: FileLabels | None = None,
    numbers: Any = None,
    typed: Any = None,
) -> Release[Any]:
    """Mask a frame by a recipe.

    `labels` are what the file says of its values; `numbers` its weights, and `typed` its confidential columns, where
    the frame has them as they are stored.
    """
    recipe, k = asked.spelt_out(), asked.k
    masking, weighing = recipe.masking, weighing_of(recipe)
    opened = frames.open_frame(frame)
    n = opened.shape[0]
    opening, forming, last = (
        part(progress, *ends, n) for ends in pairwise((0, _OPENED * n // 100, _FORMED * n // 100, n))
    )
    schema = Schema.assign(opened.columns, **recipe.roles.lists)
    recipe.check_named(opened.columns)
    opened, recipe, recoded = _recoded(opened, recipe)
    names = schema.names(Role.QUASI)
    method = resolve_method(recipe.method, k, names)
    select = settle_selection(recipe.select, len(names))
    _check_possible(method.name, method.options, select.said, masking.per_column, recipe.refine.effort, len(names))
    check_whole_units(recipe, schema, method.name)
    check_demanded(recipe, schema.names(Role.CONFIDENTIAL))
    wishes = asked_of(recipe, names, labels)
    original, coders = open_table(opened, wishes, opening)
    check_kinds(original, method, recipe)
    check_calibrated(weighing, original.columns)
    check_moments(original, masking.moments, masking.moments_clip, masking.per_column)
    numbers = opened if numbers is None else frames.open_frame(numbers)
    check_numbers(recipe.relations.relations, original, lambda name: numbers.get_column(name).dtype.is_numeric())
    weighed = Weighed.of(numbers, weighing)
    sensitive = _sensitive(opened, typed, recipe, schema, labels)
    everybody, of_everybody = original, weighed.first
    complete, original, kept = _without_missing(opened, schema, original, coders, masking.missing)
    weighed, sensitive = weighed.take(kept), sensitive.take(kept)
    check_enough_records(original.n_records, k)

    rule = Rule(k, masking.aggregate, masking.nominal, masking.spike_totals, masking.nominal_seed)
    formed = formed_of(complete, original, schema, recipe, method, select, rule, weighed, sensitive, n_jobs, forming)
    complete, original, strata, units, weighed, demand = formed.file
    groups, blocks = formed.groups, formed.blocks
    enough = formed.file.weighing(k)
    if enough is not None:
        light = max(int(np.count_nonzero(enough.breach(own))) for own in np.atleast_2d(formed.places.T))
        check_weighing(light, int(groups.max()) + 1, k, of_units=units is not None)
    check_dominance(formed.found.dominated, int(groups.max()) + 1, weighing, of_units=units is not None)
    weights = None if weighed.representing is None else weighed.representing.values
    matched = _matched(formed, masking, rule, weights)
    of_groups = formed.found.groups if matched is None else matched.groups
    rounding, laying, reading, counting, losing, weighing_loss, _ = (stage(last, number, 7) for number in range(7))
    released, rounded = round_means(original, of_groups, formed.labels, masking.rounding, weights, rounding)
    relations = recipe.relations.relations
    released, rounded, chosen = keep_relations(relations, original, released, formed.labels, rounded, weights)
    dropped = frames.shared_codes(complete, schema.names(Role.DROP) if weighing.by_group else ())
    own = released_weights(weighed, formed.places, groups, original, released, k, units, dropped)
    replaced = {name: weights_like(numbers.get_column(name), values) for name, values in own.values.items()}
    data = _released_frame(complete, schema.released, released, coders, rounded, replaced, laying)
    layout, of_source = formed.layout, kept
    if layout is not None:  # in an order, and by numbers, that follow from what is released
        rows, of_units = order_of_units(layout.units, frames.row_ranks(frames.open_frame(data)))
        complete = frames.with_numbers(frames.in_order(complete, rows), schema.names(Role.UNIT)[0], of_units + 1)
        original, released, groups, strata = original.take(rows), released.take(rows), groups[rows], strata[rows]
        assert units is not None
        units, weighed = units._replace(codes=of_units, slots=layout.slots[rows]), weighed.take(rows)
        of_source = kept[layout.rows][rows]
        replaced = {name: weights_like(numbers.get_column(name), own.values[name][rows]) for name in own.values}
        heard = part(reading, 0, 0, 1)
        data = _released_frame(complete, schema.released_with_units, released, coders, rounded, replaced, heard)
    data = frames.laid_out_like(frame, data)
    written = written_table(frames.open_frame(data), list(coders.values()), reading)
    counted = _with_weights(written, frames.open_frame(data), recipe.weights_by_group)
    if layout is None:
        each = groups.ndim == 2
        together = None if each else groups
        k_achieved = fewest_sharing(
            counted, strata, units=units, groups=together, per_column=each, n_jobs=n_jobs, progress=counting
        )
    else:
        k_achieved = fewest_whole_units(counted, strata, of_units)
    if k_achieved < k:
        whose = "record" if units is None else "unit"
        raise PromiseBroken(
            f"only {k_achieved} {whose}(s) would share a combination of released values, but k={k} is asked for."
        )
    enough = None if layout is not None or groups.ndim == 2 else enough
    classes = groups if demand is None and enough is None else classes_sharing(counted, strata)
    if enough is not None and not enough.kept(classes):
        raise PromiseBroken(f"fewer than k={k} records that share released values have a weight above 0.")
    if demand is not None and not demand.kept(classes):
        raise PromiseBroken(
            "records that look the same would disclose more of a confidential column than l or t allows."
        )
    release = Release(
        data=data,
        groups=groups,
        information=loss_of_release(original, written, n_jobs, losing),
        k_achieved=k_achieved,
        recipe=replace(
            recipe,
            roles=recipe.roles.settled(schema),
            kinds=settled_kinds(recipe, coders),
            method=formed.method.settled,
            weights=weighing.settled,
            units=replace(recipe.units, constant=formed.constant),
            diversity=_settled_way(recipe.diversity, formed.diverse),
            select=_settled(select, formed.selection, names),
            blocks=blocks.settled,
        ),
        selection=formed.selection,
        n_blocks=formed.n_blocks,
        moves=formed.moves,
        version=__version__,
        n_dropped=opened.shape[0] - complete.shape[0],
        index_dropped=frames.has_own_index(frame),
        missing=MissingFacts.between(original, written, formed.patterns),
        rounded=rounded,
        recoded=recoded,
        diversity=_diversity_facts(demand, formed.diverse, classes),
        moments=_moment_facts(matched, masking.moments, original, written, weighed),
        chosen=chosen,
        once=formed.once,
        weights=_weight_facts(weighed, own, formed.found, original, written, n_jobs, weighing_loss),
        _original=original,
        _written=written,
        _units=units,
        _demand=demand,
        _repeating=frames.shared_codes(complete, schema.names(Role.IDENTIFIER, Role.DROP)),
        _weights=weighed.first,
        _all_records=None
        if complete.shape[0] == opened.shape[0]
        else AllRecords(everybody, opened.select(schema.released_with_units), of_everybody),
        _rows=of_source,
        _undoable=_undoable(recipe, original),
        _weighing=enough,
    )
    tell(progress, n, n)
    return release


def _matched(formed: Formed, masking: Masking, rule: Rule, weights: Values | None) -> Matched | None:
    """Return what groups release with the moments of the records; None where these are not to be kept."""
    if masking.moments == "none":
        return None
    _, original, strata, units, *_ = formed.file
    rule = rule if units is None else replace(rule, units=units.codes)
    groups, labels = formed.found.groups, formed.labels
    return match_moments(original, groups, labels, strata, weights, masking.moments, masking.moments_clip, rule)


def _moment_facts(
    matched: Matched | None, which: str, original: Table, written: Table, weighed: Weighed
) -> MomentFacts | None:
    if matched is None:
        return None
    weights = weighed.representing
    return moment_facts(matched, which, original, written, None if weights is None else weights.values)


def _undoable(recipe: Recipe, original: Table) -> tuple[Any, ...]:
    """Return the columns whose digits would give members away in a file."""
    if not matter(recipe):
        return ()
    return undoable(recipe, ((one.name, one.kind, Steps.of(one.cells.known)) for one in original))


def _with_weights(written: Table, data: Any, names: tuple[Any, ...]) -> Table:
    """Return what is released with the weights that are released by group: k holds for both together."""
    return Table((*written, *Table.of_numbers(names, frames.to_columns(data, names)))) if names else written


def _weight_facts(
    weighed: Weighed,
    own: ReleasedWeights,
    found: Represented,
    original: Table,
    written: Table,
    n_jobs: int,
    progress: Progress | None,
) -> WeightFacts | None:
    """Return what weights did to a release; None where no weights are known."""
    weights = weighed.first
    if weights is None:
        return None
    lost = weighted_loss_of_release(original, written, weights, n_jobs, progress)
    return weight_facts(lost, found.dominated, found.moved, own.calibrated, own.rounded, own.revealing)


def _sensitive(opened: Any, typed: Any, recipe: Recipe, schema: Schema, labels: FileLabels | None) -> Table:
    """Code the confidential columns that anything is demanded of; `typed` has those that are not as they are stored."""
    better = None if typed is None else frames.open_frame(typed)
    names = list(demanded_columns(recipe, schema.names(Role.CONFIDENTIAL)))
    columns = {
        name: (opened if better is None or name not in better.columns else better).get_column(name) for name in names
    }
    return sensitive_table(columns, recipe, labels)


def _settled_way(said: DiversityChoices, diverse: Diverse | None) -> DiversityChoices:
    return said if diverse is None else replace(said, way=diverse.way)


def _diversity_facts(demand: Demand | None, diverse: Diverse | None, classes: Labels) -> DiversityFacts | None:
    if demand is None or diverse is None:
        return None
    return DiversityFacts.of(demand, diverse.before, classes, diverse.way, (diverse.loss_before, diverse.loss_after))


def _recoded(frame: Any, recipe: Recipe) -> tuple[Any, Recipe, Mapping[Any, int]]:
    """A frame recoded, the recipe with the levels that classes have, and how many cells of each column changed."""
    recoding = Recoding.of(recipe.recode.recode)
    if not recoding:
        return frame, recipe, {}
    recoded, tally = recoding.apply_to_part(frame, recipe.missing_codes.codes)
    recoding.check_joined(tally)
    levels = {name: own for name, own in recoding.levels(tally).items() if name not in recipe.kinds.kinds and own[1:]}
    return recoded, replace(recipe, kinds=Kinds({**recipe.kinds.kinds, **levels})), tally.changed


def _settled(select: Select, selection: Selection | None, names: list[Any]) -> Select:
    """Return the choice of columns as a recipe records it: columns that somebody named, in the file's order."""
    if selection is None or isinstance(select.by, str):
        return select
    return Select(columns=tuple(name for name in names if name in selection.columns))


def _released_frame(
    frame: Any,
    names: list[Any],
    released: Table,
    coders: Mapping[Any, Coder],
    rounded: Mapping[Any, Rounded],
    weights: Mapping[Any, Any],
    progress: Progress | None,
) -> Any:
    """Return the frame with what each group releases in the place of its members' values, and of their weights."""
    replaced = dict(weights)
    for done, column in enumerate(released):
        tell(progress, done, len(released))
        power = rounded[column.name].power if column.name in rounded else None
        like = frame.get_column(column.name)
        replaced[column.name] = coders[column.name].series(column.cells, like, power)
    return frames.with_columns(frame, names, replaced)


def _check_possible(method: str, options: Any, select: Any, per_column: bool, refine: Any, n_columns: int) -> None:
    """Refuse, before any work, choices that cannot be combined on this number of masked columns."""
    each_apart = groups_each_column(method) and n_columns > 1
    if select and (groups_each_column(method) or options.get("axis", "pca") not in ("pca", "zscores")):
        raise InvalidParameter(
            f"select cannot be combined with method {method!r}, which groups single columns. Leave it out.",
            parameter="select",
        )
    if each_apart and not per_column:
        raise InvalidParameter(
            f"method {method!r} groups each of {n_columns} columns by itself, so that whole records may stay unique. "
            f"Choose another method, or accept k for each column only: {setting('per_column', True)}.",
            parameter="method",
        )
    if per_column and not each_apart:
        apart = " or ".join(name for name in METHODS if groups_each_column(name))
        raise InvalidParameter(
            f"{setting('per_column', True)} works only with {apart} on several columns, not with {method!r} on "
            f"{n_columns}. Leave it out: {setting('per_column', False)}.",
            parameter="per_column",
        )
    if refine is not None and each_apart:
        raise InvalidParameter(
            "refine works only with groups of whole records. Leave out refine or per_column.", parameter="refine"
        )


def _without_missing(
    frame: Any, schema: Schema, table: Table, coders: Mapping[Any, Coder], missing: str
) -> tuple[Any, Table, Labels]:
    """Refuse or leave out records that lack a value, where that is asked for; units must be complete anyway.

    Give the frame, the table, and the rows that are left.
    """
    every = np.arange(table.n_records)
    frames.check_complete(frame, schema.names(Role.UNIT), remedy=frames.WHOSE)
    if missing in ("pattern", "state"):
        return frame, table, every
    names = [*table.names, *schema.names(Role.STRATUM)]
    lacking = {column.name: ~column.cells.present for column in table if column.cells.states is not None}
    lacking |= frames.missing_rows(frame, schema.names(Role.STRATUM))
    if not lacking:
        return frame, table, every
    if missing == "error":
        refuse_missing({name: int(np.count_nonzero(lacking[name])) for name in names if name in lacking})
    complete = ~np.logical_or.reduce(list(lacking.values()))
    if not complete.any():
        raise InvalidData(
            "every record has a missing value, so that missing='drop' leaves no record. Impute values, or drop "
            "columns instead.",
            parameter="missing",
        )
    kept = frames.keep_rows(frame, complete)
    return kept, written_table(kept, list(coders.values())), every[complete]
