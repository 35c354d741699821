"""Groups of records: formed, made to keep what is demanded of them, and refined."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.equivalence import rows_of
from microagg.algorithms.methods import groups_each_column
from microagg.algorithms.selection import Selection
from microagg.columns.embedding import Points, embed
from microagg.columns.kinds import Rule
from microagg.columns.representatives import represent
from microagg.columns.table import Ordered, Table
from microagg.mask.demands import both_demands, joined_pieces, keep_demand, ways_of, weighing_demand
from microagg.mask.facts import OnceFacts
from microagg.mask.method import Grouping
from microagg.mask.pieces import Placed, cut_into_pieces, group_pieces, numbered, refine_groups, settle_blocks
from microagg.measures.loss import loss_of_release
from microagg.recipe import BlockChoices, Recipe
from microagg.recipe.combine import Combination, refuse
from microagg.work import Work

Labels = NDArray[np.int64]


class Diverse(NamedTuple):
    """How groups came to keep a demand.

    The way, the groups before that, and the loss of those, in percent, and of those after it; neither are refined.
    """

    way: str
    before: Labels
    loss_before: float
    loss_after: float


@dataclass(frozen=True, eq=False)
class Groups:
    """Which record is in which group, and how that was found.

    Attributes
    ----------
    labels : array of shape (n,), or (n, columns) where each column has groups of its own
        The group of each record, numbered by lowest row.
    method : Grouping
    blocks : BlockChoices
    n_blocks, moves : int
        Into how many blocks the file was cut, and the moves that were tried to refine groups.
    diverse : Diverse or None
        How they came to keep what is demanded of confidential columns.
    n_patterns, n_moved : int
        Sets of missing columns, and records of a rare one, which joined another.
    selection : Selection or None
        The columns that form groups, where not all do.
    cells : array of shape (n, columns) or None
        Which group's value a cell gets, where that is not the group of its record.
    places : array of shape (n,) or None
        Which records are released with the same values, where whole units are: a place in a group.
    by_unit : array of shape (n,) or None
        The group of units that each row is in, where columns are masked once a unit.
    once : OnceFacts or None
        These columns, and what that cost.
    shared : tuple or None
        Where whole units are released, the columns that all rows of one share.
    constant : str
        How columns with one value a unit are masked.
    loss : float
        In percent, before groups are refined, where it was needed.
    """

    labels: Labels
    method: Grouping
    blocks: BlockChoices
    n_blocks: int = 0
    moves: int = 0
    diverse: Diverse | None = None
    n_patterns: int = 0
    n_moved: int = 0
    selection: Selection | None = None
    cells: Labels | None = None
    places: Labels | None = None
    by_unit: Labels | None = None
    once: OnceFacts | None = None
    shared: tuple[Any, ...] | None = None
    constant: str = "auto"
    loss: float = np.nan

    @property
    def of_cells(self) -> Labels:
        """Which group's value a cell gets: of shape (n,), or (n, columns)."""
        return self.labels if self.cells is None else self.cells

    @property
    def released_together(self) -> Labels:
        """Which records are released with the same values."""
        return self.labels if self.places is None else self.places

    @property
    def number(self) -> int:
        """How many groups there are; where each column has its own, of the column with the most."""
        return int(self.labels.max()) + 1

    def back(self, order: Ordered) -> "Groups":
        """The same in the order of the file, from what was found in another; groups are numbered by lowest row."""
        diverse = self.diverse
        if diverse is not None:
            diverse = diverse._replace(before=numbered(order.back(diverse.before)))
        by_unit = None if self.by_unit is None else numbered(order.back(self.by_unit))
        return replace(self, labels=numbered(order.back(self.labels)), diverse=diverse, by_unit=by_unit)

    def masked_once(self, table: Table, once: Collection[Any]) -> Labels:
        """Return which group's value a cell gets, (n, columns), where some columns are masked once a unit."""
        assert self.by_unit is not None
        return np.stack([self.by_unit if name in once else self.labels for name in table.names], axis=1)


def rule_of(recipe: Recipe, table: Table) -> Rule:
    """Return how groups of these records are represented."""
    chosen = recipe.masking
    rule = Rule(recipe.k, chosen.aggregate, chosen.nominal, chosen.spike_totals, chosen.nominal_seed)
    return replace(rule, units=table.whose)


def groups_of_rows(
    table: Table,
    apart: Labels,
    names: Collection[Any],
    recipe: Recipe,
    method: Grouping,
    work: Work,
    points: Points | None = None,
) -> Groups:
    """Group rows by the columns that are named, in the order in which they come, those of the pieces `apart` apart.

    `points` say where they lie, where that does not follow from these columns.
    """
    strata, units, demand = table.strata, table.units, table.demand
    k, masking = recipe.k, recipe.masking
    ways = ("merge",) if demand is None else ways_of(strata.size, demand, recipe.diversity.way, units)
    forming = table.named([name for name in table.names if name in names])  # in file order, whatever the choice's
    points = embed(forming, masking.scale, masking.spike, work.unseen) if points is None else points
    refuse("blocks", Combination(recipe=recipe, method=method.name))
    largest = int(np.bincount(apart).max())
    blocks = settle_blocks(recipe.blocks, k, largest, whole=groups_each_column(method.name))
    pieces = cut_into_pieces(points, forming.names, apart, blocks, k, work.unseen, units)
    method = method.searching_in(points.records, pieces, k)
    needed = both_demands(demand, None if masking.per_column else weighing_demand(table, k))
    refined = recipe.refine.effort is not None
    stages = work.stages(1 + (needed is not None) + refined)
    placed = Placed(points.records, units, needed)
    labels = group_pieces(method.on(points, forming.names), placed, pieces, k, masking.per_column, stages[0])
    found = Groups(labels, method, blocks, len(pieces) if blocks.by != "none" else 0)
    searched = apart
    if needed is not None:
        lost = partial(loss_of, table, recipe=recipe, work=stages[1].last)
        kept, joined, way, loss = keep_demand(placed, labels, pieces, strata, k, ways, lost, stages[1])
        diverse = None if demand is None else Diverse(way, labels, lost(labels), loss)
        found = replace(found, labels=kept, diverse=diverse)
        pieces, searched = rows_of(joined), joined_pieces(apart, joined)
    if refined:
        labels, moves = refine_groups(placed, pieces, searched, found.labels, k, recipe.refine, stages[-1])
        found = replace(found, labels=labels, moves=moves)
    return found


def loss_of(table: Table, labels: Labels, *, recipe: Recipe, work: Work) -> float:
    """Return the information loss of groups, in percent, before anything is rounded."""
    released = represent(table, labels, rule_of(recipe, table), work, table.representing).records
    return loss_of_release(table, released, work).percent
