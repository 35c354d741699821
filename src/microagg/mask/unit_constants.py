"""Masked columns that have one value for all rows of a unit, masked once for each unit.

Where each row is masked with the group that it is in, such a value is a part of as many means as its unit has rows, and
the means of all groups are equations from which it may follow. So units are grouped first, by these columns alone, and
their rows then by the others, inside of the groups of units.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.diversity.demand import Demand
from microagg.algorithms.equivalence import codes_of, first_of_each, rows_of
from microagg.algorithms.kernels.records import plain_records
from microagg.algorithms.units import Units, held_by
from microagg.columns.embedding import Points, differing_within, embed, is_constant_within
from microagg.columns.kinds import Number
from microagg.columns.patterns import Patterns, find_patterns
from microagg.columns.table import Coded, Table
from microagg.errors import PromiseBroken
from microagg.mask.demands import both_demands, weighing_demand
from microagg.mask.groups import Groups, groups_of_rows, loss_of
from microagg.mask.method import Grouping
from microagg.mask.pieces import numbered
from microagg.recipe import Masking, Recipe, Refine
from microagg.recipe.combine import Combination, refuse
from microagg.work import Work

Labels = NDArray[np.int64]

MANY_ROWS = 3.0
"""Rows of a unit, on average, above which "auto" masks columns once that are constant in a unit."""


def settled_constant(said: str, rows: int, units: int, columns: Iterable[Coded]) -> str:
    """Return how columns that are constant in a unit are masked, with what "auto" chose; `columns` may be constant.

    Categories and levels give no means, and so no equations.
    """
    if said != "auto":
        return said
    return "once" if rows > MANY_ROWS * units and any(isinstance(one.kind, Number) for one in columns) else "row"


def constant_columns(table: Table) -> list[Any]:
    """Return the columns with one value for all rows of nearly all units; none where no unit has two rows."""
    assert table.units is not None
    codes = table.units.codes
    if table.units.n_units == codes.size:
        return []
    return [one.name for one in table if is_constant_within(codes_of(one.cells.classes), codes)]


def check_once(table: Table, found: Sequence[Any], recipe: Recipe, method: Grouping) -> None:
    """Refuse what cannot be combined with masking these columns once for each unit."""
    assert table.units is not None
    known = Combination(
        recipe=recipe,
        method=method.name,
        options=method.options,
        masked=table.names,
        once=len(found),
        crossing=bool(differing_within(table.strata, table.units.codes)),
    )
    refuse("once", known)


def groups_of_units(
    table: Table, once: Sequence[Any], names: Collection[Any], recipe: Recipe, method: Grouping, work: Work
) -> Groups:
    """Group units by the columns that are constant in them, and their rows by the others, inside of these groups.

    Small groups of units lose little of the former columns and much of the latter. So groups of k units are tried, of
    twice as many, and so on, until the loss of all columns rises.
    """
    assert table.units is not None
    units = table.units._replace(codes=numbered(table.units.codes.copy()))
    table, plain = replace(table, units=units), replace(recipe, refine=Refine())
    lost = partial(loss_of, table, recipe=recipe, work=work.unseen)
    best, size, tries = None, recipe.k, 1 + (units.n_units // recipe.k).bit_length()
    while size <= max(recipe.k, units.n_units):
        stage = work.stage((size // recipe.k).bit_length() - 1, tries)
        tried = _groups_of_so_many_units(table, once, names, size, plain, method, stage)
        tried = _with_losses(tried, table, once, lost)
        if best is not None and tried.loss >= best.loss:
            break
        best, size = tried, 2 * size
    assert best is not None
    if recipe.refine.effort is None:
        return best
    last = work.stage(tries - 1, tries)
    refined = _groups_of_so_many_units(table, once, names, size // 2, recipe, method, last)
    return replace(refined, loss=best.loss, diverse=best.diverse)


def _with_losses(found: Groups, table: Table, once: Sequence[Any], lost: Callable[[Labels], float]) -> Groups:
    """Return groups with the loss of all columns, and with that of the groups before they kept a demand."""
    loss, diverse = lost(found.masked_once(table, once)), found.diverse
    if diverse is not None:
        before = lost(replace(found, labels=diverse.before).masked_once(table, once))
        diverse = diverse._replace(loss_before=before, loss_after=loss)
    return replace(found, loss=loss, diverse=diverse)


def loss_by_row(
    table: Table, pieces: Labels, names: Collection[Any], recipe: Recipe, method: Grouping, work: Work
) -> float:
    """Return the information loss, in percent, of groups of rows that are not refined."""
    plain = replace(recipe, refine=Refine())
    found = groups_of_rows(table, pieces, names, plain, method, work)
    return loss_of(table, found.labels, recipe=recipe, work=work)


def _groups_of_so_many_units(
    table: Table,
    once: Sequence[Any],
    names: Collection[Any],
    size: int,
    recipe: Recipe,
    method: Grouping,
    work: Work,
) -> Groups:
    """Group units, at least so many to a group where there are so many, and their rows inside of these groups."""
    units, k, refined = table.units, recipe.k, recipe.refine.effort is not None
    assert units is not None
    apart = np.zeros_like(table.strata) if differing_within(table.strata, units.codes) else table.strata
    weighing = weighing_demand(table, k)
    some = None if weighing is None else ~weighing.columns[0].missing
    lacking = Patterns(apart, 0, 0)
    if recipe.masking.missing == "pattern":
        lacking = find_patterns(table.named(once), apart, k, units, some, by_value=refined)
    first = first_of_each(units.codes)
    others = [name for name in table.names if name not in once]
    places = _places_of_units(table, once, others, names, recipe.masking, work._replace(progress=None))
    pieces = codes_of(lacking.pieces[first])
    labels, moves = pieces.copy(), 0
    large = np.flatnonzero(np.bincount(pieces)[pieces] >= 2 * size)
    if large.size:
        own = codes_of(pieces[large])
        whole = Table(table.take(first[large]).columns, strata=own)
        points = Points(plain_records(places[:, large]), np.full(places.shape[0], -1))
        sized = replace(recipe, k=size)
        found = groups_of_rows(whole, own, once, sized, method, work.part(0, 3, 10), points)
        labels[large], moves = found.labels + int(pieces.max()) + 1, found.moves
    asked = Needed(k, units, table.strata, both_demands(table.demand, weighing))
    by_unit = grow(places, numbered(codes_of(labels)), pieces, apart[first], asked)[units.codes]
    cells = codes_of(by_unit * (int(table.strata.max()) + 1) + table.strata)
    patterns = Patterns(cells, 0, 0)
    if others and recipe.masking.missing == "pattern":
        patterns = find_patterns(table.named(others), cells, k, units, some, by_value=refined)
    forming = _that_count(table.named(others or once), names)
    inside = replace(table, columns=forming.columns, strata=cells)
    found = groups_of_rows(inside, patterns.pieces, forming.names, recipe, method, work.part(3, 10, 10))
    return replace(
        found,
        labels=found.labels if others else numbered(cells),
        moves=found.moves + moves,
        by_unit=by_unit,
        n_moved=lacking.n_moved + patterns.n_moved,
    )


def _places_of_units(
    table: Table,
    once: Sequence[Any],
    others: Sequence[Any],
    names: Collection[Any],
    masking: Masking,
    work: Work,
) -> NDArray[np.float64]:
    """Return where units lie, (D, units): by what is constant in them, and by where their rows lie on average."""
    units = table.units
    assert units is not None
    constant = _that_count(table.named(once), names).take(first_of_each(units.codes))
    found = [embed(constant, masking.scale, masking.spike, work).coordinates]
    if others:
        of_rows = embed(_that_count(table.named(others), names), masking.scale, masking.spike, work).coordinates
        sums = np.array([np.bincount(units.codes, weights=own) for own in of_rows])
        found.append(sums / np.bincount(units.codes))
    return np.concatenate(found)


def _that_count(table: Table, names: Collection[Any]) -> Table:
    """Return the columns that form groups; where none of these does, all, so that there is something to go by."""
    counting = [column for column in table if column.importance]
    chosen = [column for column in counting if column.name in names] or counting
    return Table(tuple(chosen)) if chosen else Table(tuple(replace(column, importance=1.0) for column in table))


class Needed(NamedTuple):
    """What rows of a group of units must be able to keep, stratum by stratum: k units, and a demand."""

    k: int
    units: Units
    strata: Labels
    demand: Demand | None

    def short(self, rows: Labels, labels: Labels) -> NDArray[np.bool_]:
        """Return which groups, numbered from 0, cannot keep it; `labels` are the groups of the rows."""
        cells = codes_of(labels * (int(self.strata.max()) + 1) + self.strata[rows])
        n_cells = int(cells.max()) + 1
        broken = held_by(cells, self.units.codes[rows], n_cells).short(self.k, self.units.in_part)
        if self.demand is not None:
            broken = broken | (self.demand.take(rows).breach(cells) > 0.0)
        return np.asarray(np.bincount(labels, weights=broken[cells]) > 0.0)


def grow(places: NDArray[np.float64], labels: Labels, pieces: Labels, apart: Labels, asked: Needed) -> Labels:
    """Merge groups of units until the rows of each can be grouped; return the labels of units, by lowest unit.

    Parameters
    ----------
    places : array of shape (D, units)
        Where units lie.
    labels : array of shape (units,)
        Groups of at least k units, numbered from 0.
    pieces, apart : arrays of shape (units,)
        A group joins the one of its piece with the nearest centroid, the lowest on ties; where there is no other, the
        nearest of those with which it is not `apart`.
    asked : Needed
    """
    of_rows = labels[asked.units.codes]
    rows, n_groups = rows_of(of_rows), int(labels.max()) + 1
    waiting = asked.short(np.arange(of_rows.size), of_rows)
    sizes = np.bincount(labels).astype(np.float64)
    centroids = np.array([np.bincount(labels, weights=own) for own in places]) / sizes
    first = np.unique(labels, return_index=True)[1]
    of_group, sides = pieces[first], apart[first]
    alive, into = np.ones(n_groups, dtype=bool), np.arange(n_groups)
    while waiting.any():
        one = int(np.argmax(waiting))
        alive[one] = False  # it is not its own nearest
        near = np.flatnonzero(alive & (of_group == of_group[one]))
        if not near.size:
            near = np.flatnonzero(alive & (sides == sides[one]))
        if not near.size:
            raise PromiseBroken("groups of units were formed whose rows cannot be grouped as was promised.")
        distances = ((centroids[:, near] - centroids[:, [one]]) ** 2).sum(axis=0)
        other = int(near[distances.argmin()])
        kept, gone = min(one, other), max(one, other)
        alive[kept], alive[gone], waiting[gone] = True, False, False
        both = sizes[kept] + sizes[gone]
        centroids[:, kept] = (sizes[kept] * centroids[:, kept] + sizes[gone] * centroids[:, gone]) / both
        sizes[kept], into[gone] = both, kept
        of_group[kept] = of_group[other]
        rows[kept] = np.concatenate([rows[kept], rows[gone]])
        waiting[kept] = asked.short(rows[kept], np.zeros(rows[kept].size, dtype=np.int64))[0]
    for group in range(n_groups):
        into[group] = into[into[group]]  # a group joins one of a lower number, which has been followed already
    return numbered(into[labels])
