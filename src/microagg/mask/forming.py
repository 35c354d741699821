"""From a file to its groups, and what each of them releases: by rows, or by whole units."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.equivalence import distinct_of
from microagg.algorithms.methods import groups_each_column
from microagg.algorithms.selection import Selection, with_least_loss
from microagg.checks import nearest, shown_name
from microagg.columns import frames
from microagg.columns.kinds import Number, Rule, Semi
from microagg.columns.patterns import Patterns, find_patterns
from microagg.columns.roles import Role, Schema
from microagg.columns.table import Table
from microagg.errors import InvalidData, InvalidParameter, RoleError, setting
from microagg.mask.demands import check_strata_weigh, demand_of, demanded_columns
from microagg.mask.facts import OnceFacts
from microagg.mask.grouping import Grouping, check_strata, select_forming
from microagg.mask.representatives import Represented, represent
from microagg.mask.row_groups import Diverse, File, groups_of_rows, numbered
from microagg.mask.unit_constants import (
    check_once,
    constant_columns,
    groups_of_units,
    labels_of_columns,
    loss_by_row,
    settled_constant,
)
from microagg.mask.weights import Weighed
from microagg.mask.whole_units import (
    Layout,
    form_whole_groups,
    household_columns,
    lay_out,
    rank_within,
    represent_whole,
)
from microagg.recipe import Blocks, Recipe, Select
from microagg.work import Progress, part

Labels = NDArray[np.int64]


class Formed(NamedTuple):
    """Groups and what they release.

    `file` has the records that are released. `labels` say which group's value a cell gets: of shape (n,), or
    (n, columns); `places` which records are released with the same values. `layout` says the units of rows, and their
    places in them, if whole units are released identical. `constant` is how columns with one value a unit are masked.
    """

    file: File
    groups: Labels
    found: Represented
    labels: Labels
    places: Labels
    method: Grouping
    blocks: Blocks
    patterns: Patterns
    n_blocks: int
    moves: int
    selection: Selection | None = None
    layout: Layout | None = None
    diverse: Diverse | None = None
    constant: str = "auto"
    once: OnceFacts | None = None


def formed_of(
    frame: Any,
    table: Table,
    schema: Schema,
    recipe: Recipe,
    method: Grouping,
    select: Select,
    rule: Rule,
    weighed: Weighed,
    sensitive: Table,
    n_jobs: int,
    progress: Progress | None,
) -> Formed:
    """Group a file as a recipe says; `sensitive` has the confidential columns that anything is demanded of."""
    strata = frames.category_codes(frame, schema.names(Role.STRATUM))
    named = schema.names(Role.UNIT)
    units = frames.units_of(frame, named[0], recipe.units.share == "limited") if named else None
    demand = demand_of(sensitive, demanded_columns(recipe, schema.names(Role.CONFIDENTIAL)), strata)
    file = File(frame, table, strata, units, weighed, demand)
    for column in table:
        if isinstance(column.kind, Semi):
            facts = column.kind.count(column.cells, None if units is None else units.codes)
            column.kind.check_spike(facts, rule.of_column(column.name))
    if recipe.units.release == "pseudonym":
        return _of_whole_units(file, schema, recipe, method, rule, n_jobs, progress)
    return _of_rows(file, schema, recipe, method, select, rule, n_jobs, progress)


def _of_rows(
    file: File,
    schema: Schema,
    recipe: Recipe,
    method: Grouping,
    select: Select,
    rule: Rule,
    n_jobs: int,
    progress: Progress | None,
) -> Formed:
    """Group rows; where groups are refined, in the order of their values, so that the file's order does not matter."""
    table, units = file.table, file.units
    rule = rule if units is None else replace(rule, units=units.codes)
    check_strata(file.strata, recipe.k, schema.names(Role.STRATUM), units)
    selection = select_forming(select, file.frame, table.names, table) if select.said else None
    forming = table.names if selection is None else selection.columns
    refined = recipe.refine.effort is not None
    patterns, weighing = Patterns(file.strata, 0, 0), file.weighing(recipe.k)
    if weighing is not None:
        check_strata_weigh(weighing.breach(file.strata) > 0, recipe.k, schema.names(Role.STRATUM), units is not None)
    if recipe.masking.missing == "pattern":
        some = None if weighing is None else ~weighing.columns[0].missing
        patterns = find_patterns(table, file.strata, recipe.k, units, some, by_value=refined)
    constant, once = recipe.units.constant, []
    if units is not None:
        once = constant_columns(file)
        constant = settled_constant(constant, table.n_records, units.n_units, table.named(once))
        once = once if constant == "once" else []
        if once:
            check_once(file, once, recipe, method)
    given, pieces, order = file, patterns.pieces, None
    if refined:
        # A demand can join pieces, so that a unit in two of them is one; so can what a unit has in common.
        joined = file.demand is not None or not (weighing is None or weighing.kept(pieces))
        apart = file.strata if joined else pieces
        order = file.ordered(np.zeros_like(pieces) if once else apart)
        given, pieces = file.sorted_by(order), numbered(pieces[order.rows])
    if selection is not None and select.choose == "lowest-loss" and selection.n_alternatives > 1:
        turns = len(selection.alternatives) + 1

        def losses(ways: Sequence[tuple[Any, ...]]) -> list[float]:
            told = [part(progress, turn, turn + 1, turns) for turn in range(turns)]
            return [
                loss_by_row(given, pieces, way, recipe, method, rule, n_jobs, own)
                for way, own in zip(ways, told, strict=False)
            ]

        selection = with_least_loss(selection, losses)
        forming, progress = selection.columns, part(progress, turns - 1, turns, turns)
    by_unit, facts = np.zeros(0, dtype=np.int64), None
    if once:
        own, by_unit, moved, loss = groups_of_units(given, once, forming, recipe, method, rule, n_jobs, progress)
        patterns = replace(patterns, n_moved=moved)
        by_row = loss_by_row(given, pieces, forming, recipe, method, rule, n_jobs, part(progress, 1, 1, 1))
        facts = OnceFacts(tuple(once), by_row, loss)
    else:
        needed = None if recipe.masking.per_column else given.weighing(recipe.k)
        own = groups_of_rows(given, pieces, forming, recipe, method, rule, n_jobs, progress, weighing=needed)
    own = own if order is None else own.back(order)
    groups, method, blocks, n_blocks, moves, diverse = own
    labels = groups
    if once:
        by_unit = by_unit if order is None else numbered(order.back(by_unit))
        labels = labels_of_columns(table, once, by_unit, groups)
    found = represent(table, labels, rule, n_jobs, file.representing, part(progress, 1, 1, 1))
    formed = Formed(file, groups, found, labels, groups, method, blocks, patterns, n_blocks, moves, selection)
    return formed._replace(diverse=diverse, constant=constant, once=facts)


def check_whole_units(recipe: Recipe, schema: Schema, method: str) -> None:
    """Refuse, before any work, what cannot be combined with whole units that are released identical."""
    if recipe.units.release != "pseudonym":
        return
    pseudonym = setting("unit_release", "pseudonym")
    if not schema.names(Role.UNIT):
        raise InvalidParameter(
            f"{pseudonym} works only with a unit. Name its column: {setting('unit')}.", parameter="unit"
        )
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
    if recipe.masking.moments == "covariance":
        raise InvalidParameter(
            f"{setting('moments', 'covariance')} cannot be combined with {pseudonym}: values that all rows of a unit "
            f"share would differ from row to row. Choose {setting('moments', 'variance')}.",
            parameter="moments",
        )
    refused = {
        "select": bool(recipe.select.said),
        "method": groups_each_column(method),
        "block_columns": bool(recipe.blocks.columns),
        "unit_share": recipe.units.share != "limited",
    }
    if recipe.masking.missing == "drop":
        raise InvalidParameter(
            f"{setting('missing', 'drop')} would leave out single rows of a unit, so that it cannot be combined with "
            f"{pseudonym}. Choose {setting('missing', 'pattern')} or {setting('missing', 'state')}.",
            parameter="missing",
        )
    for choice, said in refused.items():
        if said:
            raise InvalidParameter(
                f"{setting(choice)} cannot be combined with {pseudonym}, which groups whole units by all masked "
                "columns. Leave it out.",
                parameter=choice,
            )


def _of_whole_units(
    file: File,
    schema: Schema,
    recipe: Recipe,
    method: Grouping,
    rule: Rule,
    n_jobs: int,
    progress: Progress | None,
) -> Formed:
    """Group whole units, all of whose rows are released identical."""
    _check_strata_of_units(file, schema)
    assert file.units is not None
    choices = recipe.units
    shared = household_columns(file.table, file.units.codes, choices.household)
    waves = None if choices.wave is None else _waves(file, choices.wave)
    ties = []
    if recipe.refine.effort is not None:  # then the order of the file decides nothing, of units neither
        order = file.ordered(file.strata, waves)
        file, ties = file._replace(units=order.units), [order.back(np.arange(file.strata.size))]
    assert file.units is not None
    codes = file.units.codes
    slots = _ranks(file.table, codes, shared, choices.order, ties) if waves is None else waves
    layout = lay_out(
        codes, slots, file.strata, recipe.k, panel=choices.wave is not None, refuse=choices.small == "error"
    )
    file = file.take(layout.rows)
    formed = form_whole_groups(file.table, layout, shared, method, recipe, n_jobs, progress)
    rule = replace(rule, units=layout.units)
    found, labels = represent_whole(file.table, layout, formed, shared, rule, file.weighed.representing, n_jobs)
    patterns = Patterns(formed.groups, formed.n_patterns, formed.n_moved)
    return Formed(
        file,
        formed.groups,
        found,
        labels,
        formed.places,
        formed.method,
        formed.blocks,
        patterns,
        formed.n_blocks,
        formed.moves,
        layout=layout,
        constant=recipe.units.constant,
    )


def _check_strata_of_units(file: File, schema: Schema) -> None:
    """Refuse strata that rows of one unit differ in."""
    assert file.units is not None
    codes = file.units.codes
    pairs = distinct_of(codes * (int(file.strata.max()) + 1) + file.strata)
    apart = pairs.size - file.units.n_units
    if apart:
        raise InvalidData(
            f"rows of one unit are in different strata ({apart} more than there are units), so that whole units "
            f"cannot be identical. Mask these columns instead: {', '.join(map(repr, schema.names(Role.STRATUM)))}.",
            parameter="strata",
        )


def _waves(file: File, wave: Any) -> Labels:
    """Return the wave of each row, numbered from 0."""
    assert file.units is not None
    codes = file.units.codes
    frames.check_complete(file.frame, [wave], remedy="Fill them in: only you can know the wave of such a record.")
    slots, _ = frames.ordered_codes(file.frame, wave)
    twice = codes.size - distinct_of(codes * (int(slots.max()) + 1) + slots).size
    if twice:
        raise InvalidData(
            f"{twice} rows have the same wave, in column {wave!r}, as another row of their unit. Name a column that "
            "differs between the rows of a unit.",
            parameter="wave",
            columns=(wave,),
        )
    return slots


def _ranks(table: Table, codes: Labels, shared: list[Any], named: Sequence[Any], ties: list[Labels]) -> Labels:
    """Return the rank of each row in its unit, by columns that are named or all; among equals by `ties`, or by row."""
    own = [column for column in table if column.name not in shared]
    first = next((column for column in own if type(column.kind) is Number), None)
    listed = [*([] if first is None else [first]), *(column for column in own if column is not first)]
    chosen = table.named(named) if named else listed
    falling = [-one.cells.classes for one in chosen]  # so that the oldest comes first
    return rank_within(codes, [*falling, *ties])
