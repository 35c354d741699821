"""What is grouped, and groups of rows: formed, made to keep what is demanded of them, and refined."""

from collections.abc import Collection
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.diversity.demand import Demand
from microagg.algorithms.equivalence import rows_of
from microagg.algorithms.kernels.groups import number_groups
from microagg.algorithms.methods import groups_each_column
from microagg.algorithms.units import Units
from microagg.columns import frames
from microagg.columns.embedding import Points, embed
from microagg.columns.kinds import Rule
from microagg.columns.ordering import Ordered, ordered_by_value
from microagg.columns.table import Table
from microagg.columns.weights import Weights
from microagg.mask.demands import both_demands, enough_weighing, joined_pieces, keep_demand, ways_of
from microagg.mask.grouping import Grouping, cut_into_pieces, form_groups, settle_blocks
from microagg.mask.refining import Refined, refine_groups
from microagg.mask.representatives import represent
from microagg.mask.weights import Weighed
from microagg.measures.loss import loss_of_release
from microagg.recipe import Blocks, Recipe
from microagg.work import Progress, part, stage

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

    def weighing(self, k: int) -> Demand | None:
        """Return that k records, or units, of a group weigh something; None where all do, or it does not matter."""
        weights = self.weighed.representing
        if weights is None or weights.values.all():
            return None
        return enough_weighing(weights.values, None if self.units is None else self.units.codes, k)

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


class GroupsOfRows(NamedTuple):
    """Groups, and how they were found."""

    groups: Labels
    method: Grouping
    blocks: Blocks
    n_blocks: int
    moves: int
    diverse: Diverse | None

    def back(self, order: Ordered) -> "GroupsOfRows":
        """The same in the order of the file, from what was found in another; groups are numbered by lowest row."""
        diverse = self.diverse
        if diverse is not None:
            diverse = diverse._replace(before=numbered(order.back(diverse.before)))
        return self._replace(groups=numbered(order.back(self.groups)), diverse=diverse)


def numbered(labels: Labels) -> Labels:
    """Number groups by lowest row, in place, and return them."""
    number_groups(labels)
    return labels


def groups_of_rows(
    file: File,
    apart: Labels,
    names: Collection[Any],
    recipe: Recipe,
    method: Grouping,
    rule: Rule,
    n_jobs: int,
    progress: Progress | None,
    points: Points | None = None,
    weighing: Demand | None = None,
) -> GroupsOfRows:
    """Group rows by the columns that are named, in the order in which they come, those of the pieces `apart` apart.

    `points` say where they lie, where that does not follow from these columns. `weighing` is demanded too.
    """
    _, table, strata, units, _, demand = file
    k, masking = recipe.k, recipe.masking
    rule = replace(rule, units=None if units is None else units.codes)
    ways = ("merge",) if demand is None else ways_of(strata.size, demand, recipe.diversity.way, units)
    forming = table.named([name for name in table.names if name in names])  # in file order, whatever the choice's
    heard = part(progress, 0, 0, 1)
    points = embed(forming, masking.scale, masking.spike, n_jobs, heard) if points is None else points
    largest = int(np.bincount(apart).max())
    blocks = settle_blocks(recipe.blocks, k, largest, whole=groups_each_column(method.name))
    pieces = cut_into_pieces(points, forming.names, apart, blocks, k, n_jobs, units, heard)
    method = method.searching_in(points.records, pieces, k)
    partition = method.on(points, forming.names)
    refined = recipe.refine.effort is not None
    needed = both_demands(demand, weighing)
    stages = 1 + (needed is not None) + refined
    first, second, last = (stage(progress, number, stages) for number in (0, 1, stages - 1))
    groups = form_groups(partition, points, pieces, k, masking.per_column, n_jobs, first, units)
    moves, diverse, searched = 0, None, apart
    if needed is not None:
        heard = part(second, 1, 1, 1)
        lost = partial(loss_of, table, rule=rule, n_jobs=n_jobs, weights=file.representing, progress=heard)
        kept = keep_demand(points, groups, pieces, strata, k, needed, ways, lost, n_jobs, second, units)
        diverse = None if demand is None else Diverse(kept.way, groups, lost(groups), kept.loss)
        groups, searched = kept.groups, joined_pieces(apart, kept.pieces)
    n_blocks = len(pieces) if blocks.by != "none" else 0
    if refined:
        pieces = pieces if needed is None else rows_of(kept.pieces)
        own = Refined(points.records, units, needed)
        groups, moves = refine_groups(own, pieces, searched, groups, k, recipe.refine, n_jobs, last)
    return GroupsOfRows(groups, method, blocks, n_blocks, moves, diverse)


def loss_of(
    table: Table, labels: Labels, *, rule: Rule, n_jobs: int, weights: Weights | None, progress: Progress | None
) -> float:
    """Return the information loss of groups, in percent, before anything is rounded."""
    released = represent(table, labels, rule, n_jobs, weights, progress).records
    return loss_of_release(table, released, n_jobs, progress).percent
