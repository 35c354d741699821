"""Linkage: how often the masked record, or unit, that lies nearest to an original one is the right one."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.equivalence import classes_of, codes_of, first_of_each, split_classes
from microagg.algorithms.kernels.linkage import count_as_near, weigh_children
from microagg.algorithms.kernels.records import coordinates, take
from microagg.algorithms.kernels.tree import tree_of
from microagg.columns.embedding import Points, columns_alike_within, embed_both, shapes_of, space_of, wides_of
from microagg.columns.table import Table
from microagg.columns.weights import Labels
from microagg.work import Progress, SharedProgress, Work, tell

Chances = tuple[NDArray[np.float64], NDArray[np.float64]]

_SLICE = 50_000_000  # coordinates looked at before Python regains control: some 0.1 s
_APART = -2  # owns the coordinate that keeps apart; some entries have no owner, which is -1
_FAR_APART = 1e9  # standard deviations between strata: no record is linked across
_SCATTERED = np.uint64(0x9E3779B97F4A7C15)  # odd, so that no two radii become one by it


class Linkage:
    """The two files, placed in one space, and a tree by all keys of the masked records that differ from each other.

    `original` has a point for each of the `queries`, the records to link, and `masked` one for each class. In here the
    queries lie in the order of their masked versions in the tree: what is near is looked for one after the other.
    `places` holds where each of them was.

    `classes` number the records with the same released values, and `apart` those that are never linked to each other.
    Both are numbered from 0, and no class crosses what is apart. With `units`, any record of a query's unit is the
    right one.
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
        self.points = coordinates(masked.records)  # (keys, groups)
        heard()
        if apart.any():
            self.owners = np.concatenate([[_APART], self.owners])
            self.points = np.vstack([_FAR_APART * apart[first_of_each(classes)], self.points])
        self.tree = tree_of(self.points, heard)
        self.sizes = np.bincount(classes)
        self.below = np.empty(self.tree.children.size, dtype=np.int64)
        weigh_children(self.tree, self.sizes, self.below)
        self.places = np.argsort(self.tree.place[classes[queries]], kind="stable")
        rows = queries[self.places]
        self.own = classes[rows]
        found = coordinates(take(original.records, self.places))
        columns = np.vstack([_FAR_APART * apart[rows], found]) if apart.any() else found
        self.queries = columns.T.copy()  # (n, keys)
        # What coordinates of one column hold is known by one number.
        self._codes = {
            owner: classes_of(list(columns[self.owners == owner])) for owner in np.unique(self.owners).tolist()
        }
        self._marks = {owner: _marks(codes, number) for number, (owner, codes) in enumerate(self._codes.items())}
        self.of_units = None if units is None else _UnitGroups.of(classes, units, rows)
        pairs = (self.own, slice(None)) if self.of_units is None else (self.of_units.groups, self.of_units.queries)
        # Of each coordinate: the squared difference between a query and where it, or its unit, was released.
        self._squares = (self.points[:, pairs[0]] - columns[:, pairs[1]]) ** 2

    def link(self, told: SharedProgress, of_set: tuple[int, ...], check: Callable[[], None]) -> Chances:
        """Return each row's chance of being linked to itself, or its unit, by one set of keys, and to its group."""
        columns = np.flatnonzero(np.isin(self.owners, (_APART, *of_set)))
        radii = np.zeros(self._squares.shape[1])
        for j in columns:
            radii += self._squares[j]  # in the order of the columns, as kernels do
        if self.of_units is None:
            right, in_group = np.ones(self.own.size), self.sizes[self.own].astype(np.float64)
        else:
            radii, right, in_group = self.of_units.nearest(self.sizes, radii)
        first, place = self._different(np.unique(self.owners[columns]).tolist(), radii)
        queries, radii = self.queries[first], radii[first]
        counts = np.empty(first.size, dtype=np.int64)
        done = 0
        while done < first.size:
            done = count_as_near(self.tree, self.sizes, self.below, columns, queries, radii, done, _SLICE, counts)
            check()
            told(0)
        told(self.own.size)
        counts = counts[place]
        found = counts > 0
        return (
            np.divide(right, counts, out=np.zeros(counts.size), where=found),
            np.divide(in_group, counts, out=np.zeros(counts.size), where=found),
        )

    def _different(self, owners: Sequence[int], radii: NDArray[np.float64]) -> tuple[Labels, Labels]:
        """Return the first of the queries that agree in these columns and in their radius, and each one's among them.

        They are distinguished by sums of random numbers, one for each value of a column. Should two that differ share a
        sum, by a chance of 2**-64, each stands for itself.
        """
        sums = radii.view(np.uint64) * _SCATTERED
        for owner in owners:
            sums += self._marks[owner]
        first, place = np.unique(sums, return_index=True, return_inverse=True)[1:]
        order = np.argsort(first)  # as they lay: near in the tree
        ranks = np.empty_like(order)
        ranks[order] = np.arange(order.size)
        first, place = first[order], ranks[place]
        told_apart = np.array_equal(radii[first][place], radii) and all(
            np.array_equal(self._codes[owner][first][place], self._codes[owner]) for owner in owners
        )
        everyone = np.arange(radii.size)
        return (first, place) if told_apart else (everyone, everyone)


def _marks(codes: Labels, number: int) -> NDArray[np.uint64]:
    """Return a random number for each code of a column, the same wherever it is."""
    rng = np.random.default_rng(number)
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
        self, sizes: Labels, distances: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return each query's squared distance to its unit's nearest group, how many rows of it are there, and of all.

        `sizes` (groups,) count the records of each group, `distances` are those of the pairs. Rows in several groups as
        near as each other count.
        """
        radii = np.minimum.reduceat(distances, self.starts)
        as_near = distances == radii[self.queries]
        right = np.add.reduceat(np.where(as_near, self.rows, 0), self.starts)
        in_group = np.add.reduceat(np.where(as_near, sizes[self.groups], 0), self.starts)
        return radii, right.astype(np.float64), in_group.astype(np.float64)


class Linked(NamedTuple):
    """What is linked: records, or whole units.

    Attributes
    ----------
    parts : list of Linkage
        Within each of which it is done.
    places : list of arrays
        Where each part's queries stand among all that are linked.
    classes : array
        Of each record, or unit, of the file: those with the same number have the same released values.
    """

    parts: list[Linkage]
    places: list[Labels]
    classes: Labels

    def link(self, told: SharedProgress, of_set: tuple[int, ...], check: Callable[[], None]) -> Chances:
        """Return the chance of each of being linked rightly by one set of keys, and to its group."""
        found = np.empty((2, sum(own.size for own in self.places)))
        for part, own in zip(self.parts, self.places, strict=True):
            found[:, own] = part.link(told, of_set, check)
        return found[0], found[1]


def linked_records(
    original: Table,
    masked: Table,
    keys: Sequence[Any],
    rows: Labels,
    work: Work,
) -> Linked:
    """Prepare to link some rows, each by itself, within the original's strata; any row of its unit will do."""
    apart = strata_of(original)
    comparing, measuring, placing, placing_too, last = work.stages(5)
    classes = _released_alike(masked, apart, comparing)
    space = space_of(original.named(keys), work=measuring)
    before = space.place(original.named(keys).take(rows), placing)
    after = space.place(masked.named(keys).take(first_of_each(classes)), placing_too)
    found = Linkage(before, after, classes, apart, rows, original.whose, last.progress)
    return Linked([found], [found.places], classes)


def linked_units(
    original: Table,
    masked: Table,
    keys: Sequence[Any],
    chosen: Labels,
    work: Work,
) -> Linked:
    """Prepare to link the original's whole units, those with the numbers `chosen`, by all their rows side by side.

    Rows are compared slot by slot. Units with other slots, or of other strata, are never linked to each other.
    """
    assert original.units is not None
    assert original.units.slots is not None
    units, slots, apart = original.units.codes, original.units.slots, strata_of(original)
    first, second, third = work.stages(3)
    shapes, alike = shapes_of(units, slots, apart), _released_alike(masked, np.zeros_like(apart), first)
    before, after = embed_both(original.named(keys), masked.named(keys), work=second)
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
            queried = wide.take(queries).points(before, shared)
            released = wide.take(first_of_each(of_units)).points(after, shared)
            part = Linkage(queried, released, of_units, own, queries, progress=third.progress)
            parts.append(part)
            places.append(place[wide.units[queries[part.places]]])
    return Linked(parts, places, classes)


def strata_of(table: Table) -> Labels:
    """Return the stratum of each record of a table; where none are known, all are in one."""
    return table.strata if table.strata.size else np.zeros(table.n_records, dtype=np.int64)


def _released_alike(masked: Table, apart: Labels, work: Work) -> Labels:
    """Number what is released, whether or not it is a key, within what is apart."""
    return classes_of([apart, *work.each(lambda column, _: column.cells.classes, masked.columns)])


def _shared_entries(original: Table, masked: Table, units: Labels, points: Points) -> NDArray[np.bool_]:
    """Return the entries that all rows of each unit share, in both files: they need to be compared only once."""
    differing = [columns_alike_within(table, units) for table in (original, masked)]
    shared = [not any(own[name] for own in differing) for name in original.names]
    return np.array([owner < 0 or shared[owner] for owner in points.entry_owners])
