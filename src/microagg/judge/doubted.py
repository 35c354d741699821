"""What `inspect` says of columns, whoever chose their roles: which are no quantities, and which repeat."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microagg.algorithms.equivalence import codes_of
from microagg.columns import frames
from microagg.columns.kinds import Nominal
from microagg.columns.roles import Role
from microagg.columns.table import Coded
from microagg.guess import names
from microagg.guess.evidence import may_number_units
from microagg.guess.facts import ColumnValues, facts_of_table, read_facts
from microagg.guess.roles import File, guess_column, may_be_a_weight, why_no_quantity
from microagg.judge.run import columns_of
from microagg.judge.text import shown
from microagg.work import Progress, stage, tell

if TYPE_CHECKING:
    from microagg.release import Release


def doubted_columns(release: "Release[Any]", facts: Mapping[str, ColumnValues]) -> dict[str, str]:
    """Why columns that were averaged are probably no quantities, by name; without those that a recipe says are."""
    recipe = release.recipe
    said = {name for name, kind in recipe.kinds.kinds.items() if kind == "number"}
    asked = [
        column.name
        for column in release.pair.original
        if column.kind.is_quantity and column.name not in said and column.name not in recipe.recode.recode
    ]
    if not asked:
        return {}
    file = File(list(facts.values()))
    found = {name: why_no_quantity(facts[str(name)], file, whole=release.source is not None) for name in asked}
    return {shown(name): why for name, why in found.items() if why}


def codes_in_order(release: "Release[Any]", facts: Mapping[str, ColumnValues]) -> dict[str, str]:
    """Return why confidential columns are probably codes, by name, whose order t was measured by."""
    demand, recipe = release.pair.demand, release.recipe
    if demand is None:
        return {}
    said = {*recipe.kinds.kinds, *recipe.recode.recode}
    names = [
        column.name
        for column, limits in zip(demand.columns, demand.limits, strict=True)
        if column.ordered and limits.t is not None and column.name not in said
    ]
    released = frames.open_frame(release.data)
    found = {}
    for name in names:
        own = facts.get(str(name)) or read_facts(pa.chunked_array([released.get_column(name).to_arrow()]), str(name))
        found[shown(name)] = why_no_quantity(own, File([*facts.values(), own]), whole=release.source is not None)
    return {name: why for name, why in found.items() if why}


def repeating_columns(release: "Release[Any]", facts: Mapping[str, ColumnValues]) -> dict[Any, NDArray[np.int64]]:
    """Return the columns that say which rows belong to one person or household, each with the number of its values.

    These are the identifiers that repeat, and of columns that are dropped for other reasons, or masked as categories,
    those that look like a unit. Of masked ones a doubt is enough: their values are released.
    """
    roles, repeating = release.recipe.roles, release.pair.repeating
    found = {name: repeating[name] for name in roles.identifiers if name in repeating}
    file = File(list(facts.values()), facts.get(str(roles.unit)))
    # Of a frame, columns that are dropped for other reasons are not at hand.
    others = {name: repeating[name] for name in roles.drop if name in repeating and release.source is not None}
    found |= {name: own for name, own in others.items() if _looks_like_a_unit(facts[str(name)], file)}
    return found | {
        column.name: codes_of(column.cells.classes)
        for column in release.pair.original
        if isinstance(column.kind, Nominal)
        and column.name not in release.recipe.recode.recode
        and (may_number_units(facts[str(column.name)]) or _looks_like_a_unit(facts[str(column.name)], file))
    }


def _looks_like_a_unit(own: ColumnValues, file: File) -> bool:
    return not own.missing and own.distinct < own.present and guess_column(own, file).role is Role.IDENTIFIER


def unused_weights(release: "Release[Any]", facts: Mapping[str, ColumnValues]) -> tuple[str, ...]:
    """Return the columns that may be sampling weights, where none is named; of a frame, by their names alone."""
    if columns_of(release, Role.WEIGHT):
        return ()
    found = []
    for name in columns_of(release, Role.DROP, Role.IDENTIFIER, Role.KEEP, Role.CONFIDENTIAL):
        own = facts.get(str(name))
        if names.may_be_a_weight(names.words_of(str(name))) if own is None else may_be_a_weight(own):
            found.append(shown(name))
    return tuple(found)


def facts_of(release: "Release[Any]", progress: Progress | None = None) -> dict[str, ColumnValues]:
    """Return the facts of those columns of the original that are at hand."""
    table, labels = _table_of(release, stage(progress, 0, 2))
    measures, values = (labels.measures, labels.values) if labels else ({}, {})
    return {one.name: one for one in facts_of_table(table, values, measures, stage(progress, 1, 2))}


def _table_of(release: "Release[Any]", progress: Progress | None) -> tuple[pa.Table, Any]:
    """Return the original with what its file says of it; of a frame the masked columns alone are at hand."""
    if release.source is not None:
        return release.source.typed(), release.source.labels
    columns: dict[str, Any] = {}
    original = release.pair.original
    for column in original:
        columns[str(column.name)] = _array(column)
        tell(progress, len(columns), len(original))
    return pa.table(columns), None


def _array(column: Coded) -> Any:
    """Return the cells of a column as an Arrow array: categories by what they stand for."""
    missing = ~column.cells.present
    if not column.shown:
        return pa.array(column.values, mask=missing)
    return pa.array(column.shown).take(pa.array(column.values, mask=missing).cast(pa.int64()))
