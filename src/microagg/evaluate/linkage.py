"""Linkage: how often the masked record, or unit, that lies nearest to an original one is the right one."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg._kernels.linkage import count_as_near
from microagg._kernels.records import coordinates, take
from microagg._kernels.tree import rows_by_leaf, tree_of
from microagg.equivalence import codes_of, first_of_each, split_classes
from microagg.prepare.embedding import Points, embed_both
from microagg.prepare.wide import columns_alike_within, shapes_of, wides_of
from microagg.progress import Progress, Told, stage, tell
from microagg.table import Table

Labels = NDArray[np.int64]
Chances = tuple[NDArray[np.float64], NDArray[np.float64]]

_SLICE = 50_000_000  # coordinates looked at before Python regains control: some 0.1 s
_APART = -2  # stands for what is apart where keys are told by their numbers; some entries have no owner, which is -1
_FAR_APART = 1e9  # standard deviations between strata: no record is linked across


class Linkage:
    """The two files, placed in one space, and the masked records that differ from each other.

    These lie in the order of a tree by all keys, and `queries`, the records to link, in that of their masked versions:
    trees by some of the keys then find near in memory what is near. `places` tells where each of them stood.

    `classes` tell which records are released alike, and `apart` which are never linked to each other: both are
    numbered from 0, and no class crosses what is apart. With `units`, any record of a query's unit is the right one.
    """

    def __init__(
        self,
        original: Points,
        masked: Points,
        classes: Labels,
        apart: Labels,
        queries: Labels,
        units: Labels | None = None,
        progress: Progress | None = None,
    ) -> None:
        heard = partial(tell, progress, 0, 1)
        self.owners, self.classes = original.owners, classes
        first = first_of_each(classes)
        points = coordinates(take(masked.records, first))
        heard()
        order = rows_by_leaf(tree_of(points, heard))
        number = np.empty_like(order)
        number[order] = np.arange(order.size)
        groups, first = number[classes], first[order]
        self.sizes = np.bincount(groups)
        self.places = np.argsort(groups[queries], kind="stable")
        rows = queries[self.places]
        self.own = groups[rows]
        self.group_size = self.sizes[self.own]
        self.points = np.take(points, order, axis=1)  # (keys, groups)
        self.group_apart, self.query_apart = apart[first], apart[rows]
        self._codes = {_APART: self.group_apart}
        for owner, column in zip(self.owners.tolist(), self.points, strict=True):
            self._codes[owner] = split_classes(self._codes.get(owner, np.zeros(order.size, dtype=np.int64)), column)
            heard()
        self._marks = {owner: _marks(codes, owner) for owner, codes in self._codes.items()}
        self.queries = coordinates(take(original.records, rows))
        self.of_units = None if units is None else _UnitGroups.of(groups, units, rows)

    def link(self, told: Told, of_set: tuple[int, ...], check: Callable[[], None]) -> Chances:
        """Give each row's chance of being linked to itself, or its unit, by one set of keys, and to its group."""

        def heard() -> None:
            check()
            told(0)

        chosen = np.flatnonzero(np.isin(self.owners, of_set))
        place = self._placed(of_set)
        heard()
        points, queries = self.points[chosen], self.queries[chosen]
        apart, weights, own = self.group_apart, self.sizes, self.own
        first = first_of_each(place)
        if first.size < place.size:
            points, apart = np.take(points, first, axis=1), apart[first]
            weights, own = np.bincount(place, weights).astype(np.int64), place[own]
        if apart.any():
            points = np.vstack([_FAR_APART * apart, points])
            queries = np.vstack([_FAR_APART * self.query_apart, queries])
        queries = np.ascontiguousarray(queries.T)
        right, in_group = np.ones(own.size), self.group_size.astype(np.float64)
        if self.of_units is not None:
            own, right, in_group = self.of_units.nearest(place, self.sizes, points, queries)
        tree = tree_of(points, heard)
        counts = np.empty(own.size, dtype=np.int64)
        done = 0
        while done < own.size:
            before = done
            done = count_as_near(tree, weights, queries, own, done, _SLICE, counts)
            check()
            told(done - before)
        found = counts > 0
        return (
            np.divide(right, counts, out=np.zeros(own.size), where=found),
            np.divide(in_group, counts, out=np.zeros(own.size), where=found),
        )

    def _placed(self, of_set: tuple[int, ...]) -> Labels:
        """Number the different points that groups have by one set of keys, in the order of their first groups.

        One sort of sums of random numbers, one for each value of a key, stands for a sort by each key. Two points may
        share a sum by a chance of 2**-64: then each key is looked at.
        """
        known = [owner for owner in (_APART, *of_set) if owner in self._codes]
        marks = np.zeros(self.sizes.size, dtype=np.uint64)
        for owner in known:
            marks += self._marks[owner]
        place = codes_of(marks)
        first = first_of_each(place)
        if not all(np.array_equal(self._codes[owner][first][place], self._codes[owner]) for owner in known):
            place = self.group_apart
            for owner in known:
                place = split_classes(place, self._codes[owner])
            first = first_of_each(place)
        ranks = np.empty(first.size, dtype=np.int64)
        ranks[np.argsort(first)] = np.arange(first.size)
        return ranks[place]


def _marks(codes: Labels, owner: int) -> NDArray[np.uint64]:
    """Give a random number for each code of a key, the same wherever it is."""
    rng = np.random.default_rng(owner - _APART)
    return rng.integers(0, 2**64, int(codes.max(initial=0)) + 1, dtype=np.uint64)[codes]


class _UnitGroups(NamedTuple):
    """The groups that hold rows of each query's unit: pairs in the order of queries, which begin at `starts`."""

    starts: Labels
    queries: Labels
    groups: Labels
    rows: Labels  # of the unit in the group

    @classmethod
    def of(cls, groups: Labels, units: Labels, rows: Labels) -> "_UnitGroups":
        """Count them; `groups` and `units` are of all records, `rows` are the queries."""
        n_groups = int(groups.max()) + 1
        pairs, counts = np.unique(units * n_groups + groups, return_counts=True)
        bounds = np.searchsorted(pairs // n_groups, np.arange(int(units.max()) + 2))
        sizes = np.diff(bounds)[units[rows]]
        starts = np.cumsum(sizes) - sizes
        at = np.repeat(bounds[units[rows]] - starts, sizes) + np.arange(sizes.sum())
        return cls(starts, np.repeat(np.arange(rows.size), sizes), pairs[at] % n_groups, counts[at])

    def nearest(
        self,
        place: Labels,
        sizes: Labels,
        points: NDArray[np.float64],
        queries: NDArray[np.float64],
    ) -> tuple[Labels, NDArray[np.float64], NDArray[np.float64]]:
        """Give the point nearest to each query that rows of its unit share, how many do, and how many all have.

        `place` is each group's point, and `sizes` its records; rows at several points as near as each other count.
        """
        at = place[self.groups]
        distances = np.zeros(at.size)
        for j in range(points.shape[0]):
            apart = points[j, at] - queries[self.queries, j]
            distances += apart * apart
        as_near = distances == np.minimum.reduceat(distances, self.starts)[self.queries]
        first = np.flatnonzero(as_near)
        first = first[np.searchsorted(self.queries[first], np.arange(self.starts.size))]
        right = np.add.reduceat(np.where(as_near, self.rows, 0), self.starts)
        in_group = np.add.reduceat(np.where(as_near, sizes[self.groups], 0), self.starts)
        return at[first], right.astype(np.float64), in_group.astype(np.float64)


class Linked(NamedTuple):
    """What is linked: records, or whole units.

    Attributes
    ----------
    parts : list of Linkage
        Within each of which it is done.
    places : list of arrays
        Where each part's queries stand among all that are linked.
    classes : array
        Of each record, or unit, of the file: those with the same number are released alike.
    """

    parts: list[Linkage]
    places: list[Labels]
    classes: Labels

    def link(self, told: Told, of_set: tuple[int, ...], check: Callable[[], None]) -> Chances:
        """Give the chance of each of being linked rightly by one set of keys, and to its group."""
        found = np.empty((2, sum(own.size for own in self.places)))
        for part, own in zip(self.parts, self.places, strict=True):
            found[:, own] = part.link(told, of_set, check)
        return found[0], found[1]


def linked_records(
    original: Table,
    masked: Table,
    keys: Sequence[Any],
    strata: Labels | None,
    units: Labels | None,
    rows: Labels,
    progress: Progress | None = None,
) -> Linked:
    """Prepare to link some rows, each by itself, within strata; with `units`, any row of its unit will do."""
    apart = np.zeros(masked.n_records, dtype=np.int64) if strata is None else strata
    first, second, third = (stage(progress, number, 3) for number in range(3))
    classes = _released_alike(masked, apart, first)
    both = embed_both(original.named(keys), masked.named(keys), progress=second)
    found = Linkage(*both, classes, apart, rows, units, third)
    return Linked([found], [found.places], classes)


def linked_units(
    original: Table,
    masked: Table,
    keys: Sequence[Any],
    strata: Labels | None,
    units: Labels,
    slots: Labels,
    chosen: Labels,
    progress: Progress | None = None,
) -> Linked:
    """Prepare to link whole units, those with the numbers `chosen`, by all their rows side by side.

    Rows are compared slot by slot. Units with other slots, or of other strata, are never linked to each other.
    """
    apart = np.zeros(units.size, dtype=np.int64) if strata is None else strata
    first, second, third = (stage(progress, number, 3) for number in range(3))
    shapes, alike = shapes_of(units, slots, apart), _released_alike(masked, np.zeros_like(apart), first)
    before, after = embed_both(original.named(keys), masked.named(keys), progress=second)
    shared = _shared_entries(original.named(keys), masked.named(keys), units, before)
    sizes = np.bincount(units)
    place = np.full(sizes.size, -1)
    place[chosen] = np.arange(chosen.size)
    parts, places, classes, n_classes = [], [], np.empty(sizes.size, dtype=np.int64), 0
    for wide in wides_of(units, slots, codes_of(sizes)):
        own = codes_of(shapes[wide.units])
        of_units = own
        for slot in range(wide.rows.shape[1]):
            of_units = split_classes(of_units, alike[wide.rows[:, slot]])
        classes[wide.units] = of_units + n_classes
        n_classes += int(of_units.max()) + 1
        queries = np.flatnonzero(place[wide.units] >= 0)
        if queries.size:
            points = wide.points(before, shared), wide.points(after, shared)
            part = Linkage(*points, of_units, own, queries, progress=third)
            parts.append(part)
            places.append(place[wide.units[queries[part.places]]])
    return Linked(parts, places, classes)


def _released_alike(masked: Table, apart: Labels, progress: Progress | None) -> Labels:
    """Number what is released, whether or not it is a key, within what is apart."""
    classes = apart
    for done, column in enumerate(masked):
        tell(progress, done, len(masked))
        classes = split_classes(classes, column.cells.classes)
    return classes


def _shared_entries(original: Table, masked: Table, units: Labels, points: Points) -> NDArray[np.bool_]:
    """Tell the entries that all rows of each unit share, in both files: they need to be compared only once."""
    differing = [columns_alike_within(table, units) for table in (original, masked)]
    shared = [not any(own[name] for own in differing) for name in original.names]
    return np.array([owner < 0 or shared[owner] for owner in points.entry_owners])
