"""From a file to its groups: of rows, or of whole units."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.diversity.demand import Demand
from microagg.algorithms.equivalence import codes_of, distinct_of
from microagg.algorithms.selection import Selection, with_least_loss
from microagg.columns import frames
from microagg.columns.kinds import Number
from microagg.columns.patterns import Patterns, find_patterns
from microagg.columns.roles import Role
from microagg.columns.table import Ordered, Table, ordered_by_value
from microagg.errors import InvalidData
from microagg.mask.demands import check_strata_weigh, weighing_demand
from microagg.mask.facts import OnceFacts
from microagg.mask.groups import Groups, groups_of_rows
from microagg.mask.method import Grouping, select_forming
from microagg.mask.open import FileToMask
from microagg.mask.pieces import check_strata, numbered
from microagg.mask.unit_constants import (
    check_once,
    constant_columns,
    groups_of_units,
    loss_by_row,
    settled_constant,
)
from microagg.mask.whole_units import form_whole_groups, household_columns, lay_out, rank_within
from microagg.recipe import Recipe
from microagg.work import Work

Labels = NDArray[np.int64]


def form_groups(opened: FileToMask, work: Work) -> tuple[Table, Groups]:
    """Group a file as its recipe says; give the records that are released too, as whole units may be left out."""
    if opened.recipe.units.release == "pseudonym":
        return _of_whole_units(opened.table, opened.recipe, opened.method, work)
    return opened.table, _of_rows(opened, work)


def _of_rows(opened: FileToMask, work: Work) -> Groups:
    """Group rows; where groups are refined, in the order of their values, so that the file's order does not matter."""
    table, recipe, method = opened.table, opened.recipe, opened.method
    names, units = table.schema.names(Role.STRATUM), table.units
    check_strata(table.strata, recipe.k, names, units)
    selection = select_forming(opened.select, table.frame, table.names, table) if opened.select.said else None
    weighing = weighing_demand(table, recipe.k)
    if weighing is not None:
        check_strata_weigh(weighing.breach(table.strata) > 0, recipe.k, names, units is not None)
    patterns = _patterns(table, recipe, weighing)
    constant, once = _constant(table, recipe, method)
    given, pieces, order = _in_order(table, recipe, patterns.pieces, weighing, mixed=bool(once))
    if selection is not None and opened.select.choose == "lowest-loss" and selection.n_alternatives > 1:
        selection, work = _with_least_loss(selection, given, pieces, recipe, method, work)
    forming = table.names if selection is None else selection.columns
    if once:
        found = groups_of_units(given, once, forming, recipe, method, work)
        by_row = loss_by_row(given, pieces, forming, recipe, method, work.last)
        found = replace(found, once=OnceFacts(tuple(once), by_row, found.loss))
    else:
        found = groups_of_rows(given, pieces, forming, recipe, method, work)
        found = replace(found, n_moved=patterns.n_moved)
    found = found if order is None else found.back(order)
    cells = found.masked_once(table, once) if once else None
    return replace(found, cells=cells, n_patterns=patterns.n_patterns, selection=selection, constant=constant)


def _patterns(table: Table, recipe: Recipe, weighing: Demand | None) -> Patterns:
    """Return the records that may be grouped together: of one stratum, and with the same values missing."""
    if recipe.masking.missing != "pattern":
        return Patterns(table.strata, 0, 0)
    some = None if weighing is None else ~weighing.columns[0].missing
    by_value = recipe.refine.effort is not None
    return find_patterns(table, table.strata, recipe.k, table.units, some, by_value=by_value)


def _constant(table: Table, recipe: Recipe, method: Grouping) -> tuple[str, list[Any]]:
    """Return how columns that are constant in a unit are masked, and which of them once a unit."""
    if table.units is None:
        return recipe.units.constant, []
    once = constant_columns(table)
    constant = settled_constant(recipe.units.constant, table.n_records, table.units.n_units, table.named(once))
    once = once if constant == "once" else []
    if once:
        check_once(table, once, recipe, method)
    return constant, once


def _in_order(
    table: Table, recipe: Recipe, pieces: Labels, weighing: Demand | None, *, mixed: bool
) -> tuple[Table, Labels, Ordered | None]:
    """Return records and their pieces in the order in which they are grouped; where that is not the file's, it too.

    With `mixed`, groups of units may reach over pieces.
    """
    if recipe.refine.effort is None:
        return table, pieces, None
    # A demand can join pieces, so that a unit in two of them is one; so can what a unit has in common.
    joined = table.demand is not None or not (weighing is None or weighing.kept(pieces))
    apart = np.zeros_like(pieces) if mixed else table.strata if joined else pieces
    order = _by_value(table, apart)
    return replace(table, units=order.units).take(order.rows), numbered(pieces[order.rows]), order


def _by_value(table: Table, apart: Labels, waves: Labels | None = None) -> Ordered:
    """Return an order of the records of each piece that follows from their values, and from their waves in a panel.

    No group may reach over two of the pieces.
    """
    used = [table.weighed.values[name] for name in table.weighed.weighing.used]
    used += [] if waves is None else [waves.astype(np.float64)]
    return ordered_by_value(table, used, table.demand, table.units, apart)


def _with_least_loss(
    selection: Selection, table: Table, pieces: Labels, recipe: Recipe, method: Grouping, work: Work
) -> tuple[Selection, Work]:
    """Try each set of columns that a selection names, and return it with the best; and what is left of the work."""
    turns = len(selection.alternatives) + 1

    def losses(ways: Sequence[tuple[Any, ...]]) -> list[float]:
        own = [work.part(turn, turn + 1, turns) for turn in range(turns)]
        return [loss_by_row(table, pieces, way, recipe, method, one) for way, one in zip(ways, own, strict=False)]

    return with_least_loss(selection, losses), work.part(turns - 1, turns, turns)


def _of_whole_units(table: Table, recipe: Recipe, method: Grouping, work: Work) -> tuple[Table, Groups]:
    """Group whole units, all of whose rows are released identical."""
    assert table.units is not None
    choices = recipe.units
    _check_strata_of_units(table)
    shared = household_columns(table, table.units.codes, choices.household)
    waves = None if choices.wave is None else _waves(table, choices.wave)
    ties = []
    if recipe.refine.effort is not None:  # then the order of the file decides nothing, of units neither
        order = _by_value(table, table.strata, waves)
        table, ties = replace(table, units=order.units), [order.back(np.arange(table.n_records))]
    assert table.units is not None
    codes = table.units.codes
    slots = _ranks(table, codes, shared, choices.order, ties) if waves is None else waves
    rows = lay_out(
        codes, slots, table.strata, recipe.k, panel=choices.wave is not None, refuse=choices.small == "error"
    )
    kept = np.zeros(table.n_records, dtype=bool)
    kept[rows] = True
    units = table.units._replace(codes=codes_of(codes[rows]), slots=slots[rows])
    whole = None if kept.all() else replace(table, frame=table.frame.select(table.schema.released_with_units))
    table = replace(table.take(rows), frame=frames.keep_rows(table.frame, kept), units=units, whole=whole)
    return table, form_whole_groups(table, shared, method, recipe, work)


def _check_strata_of_units(table: Table) -> None:
    """Refuse strata that rows of one unit differ in."""
    assert table.units is not None
    pairs = distinct_of(table.units.codes * (int(table.strata.max()) + 1) + table.strata)
    apart = pairs.size - table.units.n_units
    if apart:
        listed = ", ".join(map(repr, table.schema.names(Role.STRATUM)))
        raise InvalidData(
            f"rows of one unit are in different strata ({apart} more than there are units), so that whole units "
            f"cannot be identical. Mask these columns instead: {listed}.",
            parameter="strata",
        )


def _waves(table: Table, wave: Any) -> Labels:
    """Return the wave of each row, numbered from 0."""
    assert table.units is not None
    codes = table.units.codes
    frames.check_complete(table.frame, [wave], remedy="Fill them in: only you can know the wave of such a record.")
    slots, _ = frames.ordered_codes(table.frame, wave)
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
