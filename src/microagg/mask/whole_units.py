"""Identical whole units: households with all their members, persons in all their waves.

Where the number of a unit is released, its rows are known to belong together, so k units must have the same rows. A
unit then is one point: what its rows have in common once, and the rest slot by slot.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.equivalence import codes_of, first_of_each
from microagg.columns.embedding import columns_alike_within, embed, shapes_of, wides_of
from microagg.columns.kinds import Rule
from microagg.columns.patterns import find_patterns
from microagg.columns.representatives import Represented, represent
from microagg.columns.table import Table
from microagg.errors import InvalidData, InvalidParameter, TooFewRecords, setting
from microagg.mask.groups import Groups
from microagg.mask.method import Grouping
from microagg.mask.pieces import Placed, cut_into_pieces, group_pieces, numbered, refine_groups, settle_blocks
from microagg.recipe import Recipe
from microagg.work import Work

Labels = NDArray[np.int64]


def lay_out(codes: Labels, slots: Labels, strata: Labels, k: int, *, panel: bool, refuse: bool) -> Labels:
    """Find the shape of each unit, and return the rows that can be released, in the order of the file.

    A shape that fewer than k units of a stratum have is left out with its rows, or refused. In a panel, where slots are
    waves, a unit with a rare set of waves keeps those of the largest set that it has all of and k units of its stratum
    have.
    """
    kept = np.ones(codes.size, dtype=bool)
    shapes = shapes_of(codes, slots, strata)
    rare = np.bincount(shapes)[shapes] < k
    if rare.any() and refuse:
        raise TooFewRecords(
            f"{np.count_nonzero(rare)} of {rare.size} units have a {'set of waves' if panel else 'number of rows'} "
            f"that fewer than k={k} units share. Merge strata, lower k, or leave them out: "
            f"{setting('small_units', 'suppress')}.",
            parameter="small_units",
        )
    if rare.any():
        kept = _without_surplus(codes, slots, strata, shapes, rare) if panel else ~rare[codes]
    if not kept.any():
        raise TooFewRecords(
            f"for every number of rows or set of waves, fewer than k={k} units have it. Lower k.", parameter="k"
        )
    return np.flatnonzero(kept)


def _without_surplus(
    codes: Labels, slots: Labels, strata: Labels, shapes: Labels, rare: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return which rows of a panel stay: a unit with a rare set of waves keeps a set it has, common in its stratum."""
    n_slots = int(slots.max()) + 1
    having = np.zeros((shapes.size, n_slots), dtype=bool)
    having[codes, slots] = True
    first = first_of_each(shapes)
    common = first[~rare[first]]
    sizes, counts = having[common].sum(axis=1), np.bincount(shapes)[shapes[common]]
    preferred = common[np.lexsort((common, -counts, -sizes))]
    allowed, own = having.copy(), strata[first_of_each(codes)]
    for unit in np.flatnonzero(rare):
        within = np.flatnonzero((own[preferred] == own[unit]) & ~(having[preferred] & ~having[unit]).any(axis=1))
        allowed[unit] = having[preferred[within[0]]] if within.size else False
    return np.asarray(allowed[codes, slots])


def rank_within(codes: Labels, keys: Sequence[NDArray[Any]]) -> Labels:
    """Return the place of each row among those of its unit, by keys and then by row; the first key counts first."""
    order = np.lexsort((*reversed(keys), codes))
    first = np.searchsorted(codes[order], np.arange(int(codes.max()) + 1))
    slots = np.empty(codes.size, dtype=np.int64)
    slots[order] = np.arange(codes.size) - first[codes[order]]
    return slots


def household_columns(table: Table, codes: Labels, named: Sequence[Any]) -> list[Any]:
    """Return the columns that all rows of a unit share: those that are named, and those that are found to be so."""
    differing = columns_alike_within(table, codes)
    for name in named:
        if name not in differing:
            raise InvalidParameter(
                f"household names {name!r}, which is not masked. Name masked columns.", parameter="household"
            )
        if differing[name]:
            raise InvalidData(
                f"column {name!r} differs within {differing[name]} units, so that it is not a value of the whole "
                f"unit. Leave it out of {setting('household')}, or correct the file.",
                parameter="household",
                columns=(name,),
            )
    several = codes.size > int(codes.max()) + 1
    return [name for name in table.names if name in named or (several and not differing[name])]


def form_whole_groups(table: Table, shared: Sequence[Any], method: Grouping, recipe: Recipe, work: Work) -> Groups:
    """Group the units of each shape, whose rows and slots the table has."""
    codes, slots = rows_and_slots(table)
    k, masking, refined = recipe.k, recipe.masking, recipe.refine.effort is not None
    points = embed(table, masking.scale, masking.spike, work.unseen)
    of_shared = np.array([owner < 0 or table.names[owner] in shared for owner in points.entry_owners])
    shapes = shapes_of(codes, slots, table.strata)
    wides = wides_of(codes, slots, shapes)
    blocks = settle_blocks(recipe.blocks, k, max(wide.units.size for wide in wides), whole=False)
    of_units = np.empty(shapes.size, dtype=np.int64)
    n_blocks, moves, n_patterns, n_moved, n_groups, done = 0, 0, 0, 0, 0, 0
    for wide in wides:
        place = wide.points(points, of_shared)
        strata = np.zeros(wide.units.size, dtype=np.int64)
        if masking.missing == "pattern":
            patterns = find_patterns(wide.table(table, shared), strata, k, by_value=refined)
            n_patterns, n_moved, strata = n_patterns + patterns.n_patterns, n_moved + patterns.n_moved, patterns.pieces
        told = work.part(done, done + wide.units.size, shapes.size)
        pieces = cut_into_pieces(place, table.names, strata, blocks, k, told.unseen)
        own, placed = method.searching_in(place.records, pieces, k), Placed(place.records)
        stages = told.stages(1 + refined)
        labels = group_pieces(own.on(place, table.names), placed, pieces, k, False, stages[0])
        if refined:
            labels, tried = refine_groups(placed, pieces, strata, labels, k, recipe.refine, stages[1])
            moves += tried
        of_units[wide.units] = labels + n_groups
        n_groups += int(labels.max()) + 1
        n_blocks += len(pieces)
        done += wide.units.size
    groups = numbered(of_units[codes])
    places = codes_of(groups * (int(slots.max()) + 1) + slots)
    return Groups(
        groups,
        method,
        blocks,
        n_blocks if blocks.by != "none" else 0,
        moves,
        n_patterns=n_patterns,
        n_moved=n_moved,
        cells=np.stack([groups if name in shared else places for name in table.names], axis=1),
        places=places,
        shared=tuple(shared),
        constant=recipe.units.constant,
    )


def rows_and_slots(table: Table) -> tuple[Labels, Labels]:
    """Return the unit of each row, and its place in it."""
    assert table.units is not None
    assert table.units.slots is not None
    return table.units.codes, table.units.slots


def represent_whole(table: Table, groups: Groups, rule: Rule, work: Work) -> Represented:
    """Return what groups release of each column.

    What the rows of a unit share is one value a group, of its units and not of their rows; the rest is one value for
    each slot of a group. A unit weighs what its rows do.
    """
    codes, weights, shared, places = rows_and_slots(table)[0], table.weighed.representing, groups.shared, groups.places
    assert shared is not None
    assert places is not None
    first = first_of_each(codes)
    own = [name for name in table.names if name not in shared]
    found, cut = [], []
    if shared:
        of_units = None
        if weights is not None:
            sums = np.bincount(codes, weights=weights.values).astype(np.float64)
            of_units = weights._replace(values=sums)
        one_each = replace(rule, units=codes[first])
        found.append(represent(table.named(shared).take(first), groups.labels[first], one_each, work, of_units))
        cut += found[-1].cut
    if own:
        found.append(represent(table.named(own), places, rule, work, weights))
        groups_of_places = groups.labels[first_of_each(places)]
        for one in found[-1].cut:
            cut.append(np.bincount(groups_of_places[one], minlength=groups.number) > 0)
    columns = {column.name: column for part in found for column in part.groups}
    labels = {name: groups.labels if name in shared else places for name in table.names}
    return Represented(
        Table(tuple(columns[name] for name in table.names)),
        Table(tuple(columns[name].with_cells(columns[name].cells.take(labels[name])) for name in table.names)),
        cut,
        {name: moved for part in found for name, moved in part.moved.items()},
    )
