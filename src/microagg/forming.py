"""From a file to its groups, and what each of them releases: by rows, or by whole units."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg._kernels.groups import number_groups
from microagg.aggregate import Represented, represent
from microagg.checks import nearest, shown_name
from microagg.demands import demand_of, demanded_columns, joined_pieces, keep_demand, ways_of
from microagg.diversity import Demand
from microagg.equivalence import distinct_of, rows_of
from microagg.errors import InvalidData, InvalidParameter, RoleError, setting
from microagg.evaluate.loss import loss_of_release
from microagg.grouping import (
    Grouping,
    check_strata,
    cut_into_pieces,
    form_groups,
    select_forming,
    settle_blocks,
)
from microagg.io import frames
from microagg.kinds import Number, Rule, Semi
from microagg.partition import groups_each_column
from microagg.prepare.embedding import embed
from microagg.prepare.ordering import Ordered, ordered_by_value
from microagg.prepare.patterns import Patterns, find_patterns
from microagg.prepare.selection import Selection
from microagg.progress import Progress, part, stage
from microagg.recipe import Blocks, Recipe, Select
from microagg.refining import Refined, refine_groups
from microagg.schema import Role, Schema
from microagg.table import Table
from microagg.units import Units
from microagg.weighting import Weighed
from microagg.weights import Weights
from microagg.whole_units import Layout, form_whole_groups, household_columns, lay_out, rank_within, represent_whole

Labels = NDArray[np.int64]


class File(NamedTuple):
    """What is grouped: the frame that is released in part, the columns to mask, strata, units, weights, a demand."""

    frame: Any
    table: Table
    strata: Labels
    units: Units | None
    weighed: Weighed
    demand: Demand | None = None

    def take(self, rows: Labels) -> "File":
        """Return some of the records, in their order."""
        kept = np.zeros(self.strata.size, dtype=bool)
        kept[rows] = True
        units = None if self.units is None else self.units.take(rows)
        frame = frames.keep_rows(self.frame, kept)
        return File(frame, self.table.take(rows), self.strata[rows], units, self.weighed.take(rows))

    def ordered(self, pieces: Labels, waves: Labels | None = None) -> Ordered:
        """Return an order of the records of each piece that follows from their values, and from their waves in a panel.

        No group may reach over two of the pieces.
        """
        used = [self.weighed.values[name] for name in self.weighed.weighing.used]
        used += [] if waves is None else [waves.astype(np.float64)]
        return ordered_by_value(self.table, used, self.demand, self.units, pieces)

    def sorted_by(self, order: Ordered) -> "File":
        """Return all records in an order, and the units that it has numbered; groups need nothing of the frame."""
        rows, units = order
        return File(
            None,
            self.table.take(rows),
            self.strata[rows],
            None if units is None else units.take(rows),
            self.weighed.take(rows),
            None if self.demand is None else self.demand.take(rows),
        )

    @property
    def representing(self) -> Weights | None:
        """The weights by which groups are represented; None if all records count the same."""
        weights = self.weighed.representing
        if weights is None or self.units is None:
            return weights
        return weights._replace(units=self.units.codes)


class Diverse(NamedTuple):
    """How groups came to keep a demand.

    The way, the groups before that, and the loss of those, in percent, and of those after it; neither are refined.
    """

    way: str
    before: Labels
    loss_before: float
    loss_after: float


class Formed(NamedTuple):
    """Groups and what they release.

    `file` has the records that are released. `labels` say which group's value a cell gets: of shape (n,), or
    (n, columns); `places` which records are released with the same values. `layout` says the units of rows, and their
    places in them, if whole units are released identical.
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
    patterns = Patterns(file.strata, 0, 0)
    if recipe.masking.missing == "pattern":
        patterns = find_patterns(table, file.strata, recipe.k, units, by_value=refined)
    given, pieces, order = file, patterns.pieces, None
    if refined:
        # A demand can join pieces, so that a unit in two of them is one.
        order = file.ordered(pieces if file.demand is None else file.strata)
        given, pieces = file.sorted_by(order), _numbered(pieces[order.rows])
    own = _groups_of_rows(given, pieces, forming, recipe, method, rule, n_jobs, progress)
    own = own if order is None else own.back(order)
    found = represent(table, own.groups, rule, n_jobs, file.representing, part(progress, 1, 1, 1))
    groups, method, blocks, n_blocks, moves, diverse = own
    return Formed(
        file, groups, found, groups, groups, method, blocks, patterns, n_blocks, moves, selection, diverse=diverse
    )


class _GroupsOfRows(NamedTuple):
    """Groups, and how they were found."""

    groups: Labels
    method: Grouping
    blocks: Blocks
    n_blocks: int
    moves: int
    diverse: Diverse | None

    def back(self, order: Ordered) -> "_GroupsOfRows":
        """The same in the order of the file, from what was found in another; groups are numbered by lowest row."""
        diverse = self.diverse
        if diverse is not None:
            diverse = diverse._replace(before=_numbered(order.back(diverse.before)))
        return self._replace(groups=_numbered(order.back(self.groups)), diverse=diverse)


def _numbered(labels: Labels) -> Labels:
    number_groups(labels)
    return labels


def _groups_of_rows(
    file: File,
    apart: Labels,
    names: Collection[Any],
    recipe: Recipe,
    method: Grouping,
    rule: Rule,
    n_jobs: int,
    progress: Progress | None,
) -> _GroupsOfRows:
    """Group rows by the columns that are named, in the order in which they come, those of the pieces `apart` apart."""
    _, table, strata, units, _, demand = file
    k, masking = recipe.k, recipe.masking
    rule = replace(rule, units=None if units is None else units.codes)
    ways = () if demand is None else ways_of(strata.size, demand, recipe.diversity.way, units)
    forming = table.named([name for name in table.names if name in names])  # in file order, whatever the choice's
    heard = part(progress, 0, 0, 1)
    points = embed(forming, masking.scale, masking.spike, n_jobs, heard)
    largest = int(np.bincount(apart).max())
    blocks = settle_blocks(recipe.blocks, k, largest, whole=groups_each_column(method.name))
    pieces = cut_into_pieces(points, forming.names, apart, blocks, k, n_jobs, units, heard)
    method = method.searching_in(points.records, pieces, k)
    partition = method.on(points, forming.names)
    refined = recipe.refine.effort is not None
    stages = 1 + (demand is not None) + refined
    first, second, last = (stage(progress, number, stages) for number in (0, 1, stages - 1))
    groups = form_groups(partition, points, pieces, k, masking.per_column, n_jobs, first, units)
    moves, diverse, searched = 0, None, apart
    if demand is not None:
        heard = part(second, 1, 1, 1)
        lost = partial(_loss, table, rule=rule, n_jobs=n_jobs, weights=file.representing, progress=heard)
        kept = keep_demand(points, groups, pieces, strata, k, demand, ways, lost, n_jobs, second, units)
        diverse = Diverse(kept.way, groups, lost(groups), kept.loss)
        groups, searched = kept.groups, joined_pieces(apart, kept.pieces)
    n_blocks = len(pieces) if blocks.by != "none" else 0
    if refined:
        pieces = pieces if demand is None else rows_of(kept.pieces)
        own = Refined(points.records, units, demand)
        groups, moves = refine_groups(own, pieces, searched, groups, k, recipe.refine, n_jobs, last)
    return _GroupsOfRows(groups, method, blocks, n_blocks, moves, diverse)


def _loss(
    table: Table, labels: Labels, *, rule: Rule, n_jobs: int, weights: Weights | None, progress: Progress | None
) -> float:
    """Return the information loss of groups, in percent, before anything is rounded."""
    released = represent(table, labels, rule, n_jobs, weights, progress).records
    return loss_of_release(table, released, n_jobs, progress).percent


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
