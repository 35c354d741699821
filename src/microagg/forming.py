"""From a file to its groups, and what each of them releases: by rows, or by whole units."""

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.aggregate import Represented, represent
from microagg.checks import nearest, shown_name
from microagg.demands import demand_of, demanded_columns, joined_pieces, keep_demand, ways_of
from microagg.diversity import Demand
from microagg.errors import InvalidData, InvalidParameter, RoleError, setting
from microagg.evaluate.loss import loss_of_release
from microagg.grouping import (
    Grouping,
    check_strata,
    cut_into_pieces,
    form_groups,
    refine_groups,
    select_forming,
    settle_blocks,
)
from microagg.io import frames
from microagg.kinds import Number, Rule
from microagg.partition import groups_each_column
from microagg.prepare.embedding import embed
from microagg.prepare.patterns import Patterns, find_patterns
from microagg.prepare.selection import Selection
from microagg.progress import Progress, part, stage
from microagg.recipe import Blocks, Recipe, Select
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
        """Give some of the records, in their order."""
        kept = np.zeros(self.strata.size, dtype=bool)
        kept[rows] = True
        units = None if self.units is None else self.units.take(rows)
        frame = frames.keep_rows(self.frame, kept)
        return File(frame, self.table.take(rows), self.strata[rows], units, self.weighed.take(rows))


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

    `file` has the records that are released. `labels` tell which group's value a cell gets: of shape (n,), or
    (n, columns); `places` which records are released alike. `layout` tells the units of rows, and their places in
    them, where units are released alike as a whole.
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
    units = Units(frames.category_codes(frame, named), recipe.units.share == "limited") if named else None
    demand = demand_of(sensitive, demanded_columns(recipe, schema.names(Role.CONFIDENTIAL)), strata)
    file = File(frame, table, strata, units, weighed, demand)
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
    """Group rows."""
    frame, table, strata, units, weighed, demand = file
    k, masking, names = recipe.k, recipe.masking, table.names
    rule = rule if units is None else replace(rule, units=units.codes)
    check_strata(strata, k, schema.names(Role.STRATUM), units)
    ways = () if demand is None else ways_of(strata.size, demand, recipe.diversity.way, units)
    selection = select_forming(select, frame, names, table) if select.said else None
    chosen = names if selection is None else selection.columns
    forming = table.named([name for name in names if name in chosen])  # in file order, whatever the choice's
    heard = part(progress, 0, 0, 1)
    points = embed(forming, masking.scale, masking.spike, n_jobs, heard)
    patterns = find_patterns(table, strata, k, units) if masking.missing == "pattern" else Patterns(strata, 0, 0)
    largest = int(np.bincount(patterns.pieces).max())
    blocks = settle_blocks(recipe.blocks, k, largest, whole=groups_each_column(method.name))
    pieces = cut_into_pieces(points, forming.names, patterns.pieces, blocks, k, n_jobs, units, heard)
    entries, heights, _ = points.records
    method = method.searching(max(rows.size for rows in pieces), entries.shape[0], heights.size)
    partition = method.on(points, forming.names)
    refined = recipe.refine.effort is not None
    stages = 1 + (demand is not None) + refined
    first, second, last = (stage(progress, number, stages) for number in (0, 1, stages - 1))
    groups = form_groups(partition, points, pieces, k, masking.per_column, n_jobs, first, units)
    weights = weighed.representing
    if weights is not None and units is not None:
        weights = weights._replace(units=units.codes)
    moves, diverse, searched = 0, None, patterns.pieces
    if demand is not None:
        heard = part(second, 1, 1, 1)
        lost = partial(_loss, table, rule=rule, n_jobs=n_jobs, weights=weights, progress=heard)
        kept = keep_demand(points, groups, pieces, strata, k, demand, ways, lost, n_jobs, second, units)
        diverse = Diverse(kept.way, groups, lost(groups), kept.loss)
        groups, searched = kept.groups, joined_pieces(patterns.pieces, kept.pieces)
    if refined:
        groups, moves = refine_groups(points, searched, groups, k, recipe.refine, n_jobs, last, units, demand)
    found = represent(table, groups, rule, n_jobs, weights, part(progress, 1, 1, 1))
    n_blocks = len(pieces) if blocks.by != "none" else 0
    return Formed(
        file, groups, found, groups, groups, method, blocks, patterns, n_blocks, moves, selection, diverse=diverse
    )


def _loss(
    table: Table, labels: Labels, *, rule: Rule, n_jobs: int, weights: Weights | None, progress: Progress | None
) -> float:
    """Give the information loss of groups, in percent, before anything is rounded."""
    released = represent(table, labels, rule, n_jobs, weights, progress).records
    return loss_of_release(table, released, n_jobs, progress).percent


def check_whole_units(recipe: Recipe, schema: Schema, method: str) -> None:
    """Refuse, before any work, what does not go with whole units that are released alike."""
    if recipe.units.release != "pseudonym":
        return
    pseudonym = setting("unit_release", "pseudonym")
    if not schema.names(Role.UNIT):
        raise InvalidParameter(f"{pseudonym} goes with a unit. Name its column: {setting('unit')}.", parameter="unit")
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
                f"column {shown_name(name)} in unit_order is not masked. Name columns that are.{nearest(name, masked)}",
                parameter="unit_order",
            )
    if recipe.masking.moments == "covariance":
        raise InvalidParameter(
            f"{setting('moments', 'covariance')} does not go with {pseudonym}: what the rows of a unit share would "
            f"differ by row. Choose {setting('moments', 'variance')}.",
            parameter="moments",
        )
    refused = {
        "select": bool(recipe.select.said),
        "method": groups_each_column(method),
        "unit_share": recipe.units.share != "limited",
    }
    if recipe.masking.missing == "drop":
        raise InvalidParameter(
            f"{setting('missing', 'drop')} would leave single rows of a unit out, so that it does not go with "
            f"{pseudonym}. Choose {setting('missing', 'pattern')} or {setting('missing', 'state')}.",
            parameter="missing",
        )
    for choice, said in refused.items():
        if said:
            raise InvalidParameter(
                f"{setting(choice)} does not go with {pseudonym}, which groups whole units by all masked columns. "
                f"Leave it out.",
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
    """Group whole units, whose rows are all released alike."""
    assert file.units is not None
    codes, choices = file.units.codes, recipe.units
    _check_strata_of_units(file, schema)
    shared = household_columns(file.table, codes, choices.household)
    slots = _slots(file, shared, recipe)
    layout = lay_out(
        codes, slots, file.strata, recipe.k, panel=choices.wave is not None, refuse=choices.small == "error"
    )
    file = file.take(layout.rows)
    formed = form_whole_groups(file.table, layout, shared, method, recipe, n_jobs, progress)
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
    pairs = np.unique(codes * (int(file.strata.max()) + 1) + file.strata)
    apart = pairs.size - file.units.n_units
    if apart:
        raise InvalidData(
            f"rows of one unit are in different strata ({apart} more than there are units), so that whole units cannot "
            f"be alike. Mask these columns instead: {', '.join(map(repr, schema.names(Role.STRATUM)))}.",
            parameter="strata",
        )


def _slots(file: File, shared: list[Any], recipe: Recipe) -> Labels:
    """Give the place of each row in its unit: its wave, or its rank."""
    assert file.units is not None
    codes, wave = file.units.codes, recipe.units.wave
    if wave is not None:
        frames.check_complete(file.frame, [wave], remedy="Complete them: nobody else knows the wave of such a record.")
        slots, _ = frames.ordered_codes(file.frame, wave)
        twice = codes.size - np.unique(codes * (int(slots.max()) + 1) + slots).size
        if twice:
            raise InvalidData(
                f"{twice} rows have the wave of another row of their unit, by column {wave!r}. Name one that tells the "
                f"rows of a unit apart.",
                parameter="wave",
                columns=(wave,),
            )
        return slots
    own = [column for column in file.table if column.name not in shared]
    first = next((column for column in own if type(column.kind) is Number), None)
    named = recipe.units.order
    listed = [*([] if first is None else [first]), *(column for column in own if column is not first)]
    chosen = file.table.named(named) if named else listed
    return rank_within(codes, [-one.cells.classes for one in chosen])  # falling, so that the oldest comes first
