"""A file opened to be masked: its columns coded, and what part each of them plays."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microagg.algorithms.selection import Selection
from microagg.checks import check_enough_records, nearest, refuse_missing, shown_name
from microagg.columns import frames
from microagg.columns.coders import Coder
from microagg.columns.finders import open_table, written_table
from microagg.columns.kinds import Semi
from microagg.columns.labels import Labels as FileLabels
from microagg.columns.labels import Tags, with_tags_as_numbers
from microagg.columns.recoding import Recoding
from microagg.columns.roles import Role, Schema
from microagg.columns.table import Table
from microagg.columns.weights import Weighed
from microagg.errors import InvalidData, RoleError
from microagg.files.sources import Source
from microagg.mask.demands import check_demanded, demand_of, demanded_columns, sensitive_table
from microagg.mask.groups import rule_of
from microagg.mask.method import Grouping, check_kinds, resolve_method, select_forming, settle_selection
from microagg.mask.moments import check_moments
from microagg.mask.relations import check_numbers
from microagg.mask.weights import check_calibrated, weighing_of
from microagg.recipe import Kinds, Missing, Recipe, Select
from microagg.recipe.combine import Combination, refuse
from microagg.recipe.data import asked_of, with_declared_codes
from microagg.work import Work

Labels = NDArray[np.int64]


class Given(NamedTuple):
    """What is to be masked, and by which recipe.

    Attributes
    ----------
    frame : dataframe
    recipe : Recipe
    labels : Labels or None
        What the file says of its values.
    numbers, confidential : dataframe or None
        Weights and the columns of relations, and confidential columns, as numbers, where the frame has them as stored.
    tags : Tags
        The numbers that stand for tags of missing values.
    """

    frame: Any
    recipe: Recipe
    labels: FileLabels | None = None
    numbers: Any = None
    confidential: Any = None
    tags: Tags = {}  # noqa: RUF012 - never changed


def given_by(source: Source, asked: Recipe) -> tuple[Recipe, Given]:
    """Return what was read, with what the file says of its values, and the recipe with its missing values."""
    asked, inner, typed, tags = _typed(source, asked)
    confidential = _sensitive_of(source, asked)
    return asked, Given(typed, inner, source.labels, _numbers_of(source, asked), confidential, tags)


class FileToMask(NamedTuple):
    """A file opened to be masked.

    Attributes
    ----------
    table : Table
    recipe : Recipe
        Spelt out, with the levels of columns that are recoded.
    method : Grouping
    select : Select
        How the columns that form groups are chosen, with every default.
    coders : mapping
        How each masked column is written.
    numbers : dataframe
        With the weights of all records as numbers.
    recoded : mapping
        How many cells of each column were recoded.
    """

    table: Table
    recipe: Recipe
    method: Grouping
    select: Select
    coders: Mapping[Any, Coder]
    numbers: Any
    recoded: Mapping[Any, int]


def open_given(given: Given, work: Work) -> FileToMask:
    """Open a file to be masked, or say why it cannot be: by its recipe, by its columns, and then by their cells."""
    recipe, k = given.recipe.spelt_out(), given.recipe.k
    masking, weighing = recipe.masking, weighing_of(recipe)
    frame = frames.open_frame(given.frame)
    schema = Schema.assign(frame.columns, **recipe.roles.lists)
    recipe.check_named(frame.columns)
    frame, recipe, recoded = _recoded(frame, recipe)
    names = schema.names(Role.QUASI)
    method, select = resolve_method(recipe.method, k, names), settle_selection(recipe.select, len(names))
    refuse("method", Combination(recipe=recipe, method=method.name, options=method.options, masked=names))
    check_whole_units(recipe, schema, method.name)
    check_demanded(recipe, schema.names(Role.CONFIDENTIAL))
    every, coders = open_table(frame, asked_of(recipe, names, given.labels), work.progress)
    check_kinds(every, method, recipe)
    check_calibrated(weighing, every.columns)
    check_moments(every, recipe)
    numbers = frame if given.numbers is None else frames.open_frame(given.numbers)
    check_numbers(recipe.relations.relations, every, lambda name: numbers.get_column(name).dtype.is_numeric())
    every = replace(every, frame=frame, schema=schema, weighed=Weighed.of(numbers, weighing))
    sensitive = _sensitive(frame, given, recipe, schema)
    table = _without_missing(every, coders, masking.missing)
    check_enough_records(table.n_records, k)
    table = _with_roles(table, recipe, sensitive.take(table.rows))
    return FileToMask(table, recipe, method, select, coders, numbers, recoded)


def _with_roles(table: Table, recipe: Recipe, sensitive: Table) -> Table:
    """Return records with their strata, their units, and what is demanded of them."""
    strata = frames.category_codes(table.frame, table.schema.names(Role.STRATUM))
    named = table.schema.names(Role.UNIT)
    units = frames.units_of(table.frame, named[0], recipe.units.share == "limited") if named else None
    demand = demand_of(sensitive, demanded_columns(recipe, table.schema.names(Role.CONFIDENTIAL)), strata)
    table = replace(table, strata=strata, units=units, demand=demand)
    for column in table:
        if isinstance(column.kind, Semi):
            facts = column.kind.count(column.cells, table.whose)
            column.kind.check_spike(facts, rule_of(recipe, table).of_column(column.name))
    return table


def forming_columns(source: Source, asked: Recipe) -> tuple[Select, Selection]:
    """Choose the columns that form groups; no group is formed."""
    _, recipe, typed, _ = _typed(source, asked.spelt_out())
    frame = frames.open_frame(typed)
    schema = Schema.assign(frame.columns, **recipe.roles.lists)
    frame, recipe, _ = _recoded(frame, recipe)
    names = schema.names(Role.QUASI)
    table, coders = open_table(frame, asked_of(recipe, names, source.labels))
    table = _without_missing(replace(table, frame=frame, schema=schema), coders, recipe.masking.missing)
    select = settle_selection(recipe.select, len(names))
    return select, select_forming(select, table.frame, names, table)


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


def _sensitive(frame: Any, given: Given, recipe: Recipe, schema: Schema) -> Table:
    """Code the confidential columns that anything is demanded of."""
    better = None if given.confidential is None else frames.open_frame(given.confidential)
    names = list(demanded_columns(recipe, schema.names(Role.CONFIDENTIAL)))
    columns = {
        name: (frame if better is None or name not in better.columns else better).get_column(name) for name in names
    }
    return sensitive_table(columns, recipe, given.labels)


def _recoded(frame: Any, recipe: Recipe) -> tuple[Any, Recipe, Mapping[Any, int]]:
    """A frame recoded, the recipe with the levels that classes have, and how many cells of each column changed."""
    recoding = Recoding.of(recipe.recode.recode)
    if not recoding:
        return frame, recipe, {}
    recoded, tally = recoding.apply_to_part(frame, recipe.missing_codes.codes)
    recoding.check_joined(tally)
    levels = {name: own for name, own in recoding.levels(tally).items() if name not in recipe.kinds.kinds and own[1:]}
    return recoded, replace(recipe, kinds=Kinds({**recipe.kinds.kinds, **levels})), tally.changed


def check_whole_units(recipe: Recipe, schema: Schema, method: str) -> None:
    """Refuse, before any work, what cannot be combined with whole units that are released identical."""
    if recipe.units.release != "pseudonym":
        return
    combined = Combination(recipe=recipe, method=method)
    refuse("unit", combined)
    known = [column.name for column in schema.columns]
    if recipe.units.wave is not None and recipe.units.wave not in known:
        raise RoleError(
            f"column {shown_name(recipe.units.wave)} in wave is not in the file.{nearest(recipe.units.wave, known)}",
            parameter="wave",
        )
    masked = schema.names(Role.QUASI)
    for name in recipe.units.order:
        if name not in masked:
            raise RoleError(
                f"column {shown_name(name)} in unit_order is not masked. Name masked columns.{nearest(name, masked)}",
                parameter="unit_order",
            )
    refuse("whole units", combined)


def _without_missing(every: Table, coders: Mapping[Any, Coder], missing: str) -> Table:
    """Refuse or leave out records that lack a value, where that is asked for; units must be complete anyway."""
    schema, frame = every.schema, every.frame
    table = replace(every, rows=np.arange(every.n_records))
    frames.check_complete(frame, schema.names(Role.UNIT), remedy=frames.WHOSE)
    if missing in ("pattern", "state"):
        return table
    names = [*every.names, *schema.names(Role.STRATUM)]
    lacking = {column.name: ~column.cells.present for column in every if column.cells.states is not None}
    lacking |= frames.missing_rows(frame, schema.names(Role.STRATUM))
    if not lacking:
        return table
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
    released = frame.select(schema.released_with_units)
    return replace(
        written_table(kept, list(coders.values())),
        frame=kept,
        schema=schema,
        weighed=every.weighed.take(complete),
        rows=np.flatnonzero(complete),
        whole=None if complete.all() else replace(every, frame=released),
    )
