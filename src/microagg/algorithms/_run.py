"""What the partitioners share: how they search, how they share time with their caller, where leftovers go.

Kernels work in slices; between them Python regains control, reports progress, can be interrupted, and
rebuilds a tree that has thinned.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microagg.algorithms.kernels.brute import make_pool
from microagg.algorithms.kernels.groups import (
    FREE,
    distances_to_groups,
    group_rest,
    number_groups,
    place_each_leftover,
    place_leftovers_together,
)
from microagg.algorithms.kernels.partitioners import groups_from_outside
from microagg.algorithms.kernels.pool import BUILT_WITH, DIFFERENT, REMAINING, Pool, tally_of, with_marks
from microagg.algorithms.kernels.records import (
    Records,
    coordinate_sums,
    coordinates,
    distances_to,
    full_distances,
    plain_records,
    rounding_of,
    take,
)
from microagg.algorithms.kernels.search import HOPELESS, WORTH, prunes
from microagg.algorithms.kernels.shell import WORN_OUT, make_shell, no_shell
from microagg.algorithms.kernels.tree import make_tree
from microagg.algorithms.method import SEARCHES
from microagg.algorithms.units import Units, check_units, merge_short
from microagg.checks import check_enough_records, check_k, check_option, matrix_and_k, safe_to_square, squares_are_safe
from microagg.work import Progress, tell

SLICE = 50_000_000
"""Coordinates a kernel may look at before it returns: some 0.1 s of work at most."""

_THINNED = 0.35  # a tree with fewer of its records left than this is built anew
_FEW = 6000  # records: with fewer, brute force is as fast
_SAMPLE = 2048  # records of more, by which a tree is tried first
_AT_ONCE = 4_000_000  # distances held at a time


def choose_search(search: str, n: int, d: int, codes: int = 0) -> str:
    """Return the way to search: as asked, or for "auto" the one that is faster by the size of the file alone.

    Of the d columns, `codes` are of categories: a tree prunes less by one of them than by three of numbers. Where it
    depends on the records which way is faster, "auto" stays "auto".
    """
    check_option("search", search, SEARCHES)
    if search != "auto":
        return search
    if n < _FEW:
        return "brute"
    d += 2 * codes
    # Where MDAV on uniform data broke even: 6 000 records up to 5 columns, 19 000 at 10, 270 000 at 15.
    doublings = max(0, d - 5) / 3 + max(0, d - 10) / 2.3
    # Compared as logarithms: of a thousand columns the power would overflow.
    return "tree" if math.log2(n / _FEW) >= doublings else "auto"


def settled_search(search: str, records: Records, k: int) -> str:
    """Return the way to search these records, "tree" or "brute", for groups of k."""
    d, n = records.entries.shape
    chosen = choose_search(search, n, d, records.heights.size)
    if chosen != "auto":
        return chosen
    return "brute" if _tree_if_worth(records, k) is None else "tree"


def _tree_of(records: Records) -> Pool:
    n = records.entries.shape[1]
    return make_tree(records, np.arange(n), coordinate_sums(records), np.empty(n, dtype=np.int64))


def _tree_if_worth(records: Records, k: int) -> Pool | None:
    """Return a tree of the records if searches in it spare enough; a few records show soon where they never will."""
    n = records.entries.shape[1]
    of_few = max(min(k, 3), k * _SAMPLE // n)  # so many of them lie where k of all do
    if not prunes(_tree_of(take(records, np.arange(_SAMPLE) * n // _SAMPLE)), of_few, HOPELESS):
        return None
    tree = _tree_of(records)
    return tree if prunes(tree, k, WORTH) else None


def records_and_k(X: ArrayLike | Records, k: Any) -> tuple[Records, int]:
    """Check what is to be grouped, a matrix (n, d) or records with codes, and k; give it safe to square."""
    if not isinstance(X, Records):
        columns, k = matrix_and_k(X, k)
        return plain_records(columns), k
    k = check_k(k)
    check_enough_records(X.entries.shape[1], k)
    extents = np.concatenate([np.abs(X.entries[: X.starts[0]]).max(axis=1), X.heights])
    if not squares_are_safe(extents):
        return plain_records(safe_to_square(coordinates(X))), k
    return X, k


class Run:
    """One partition in the making: the records that remain, and the labels given so far."""

    def __init__(
        self, records: Records, k: int, search: str, progress: Progress | None, units: Units | None = None
    ) -> None:
        d, self.n = records.entries.shape
        self.records, self.k, self.units = records, k, units
        self.labels = np.full(self.n, FREE)
        self.n_groups = 0
        self._progress = progress
        self._renewed_at = -1  # how many records remained when the shell was last made anew
        self._search = choose_search(search, self.n, d, records.heights.size)
        tree = None
        if self._search != "brute":
            tree = _tree_of(records) if self._search == "tree" else _tree_if_worth(records, k)
        self._search = "brute" if tree is None else "tree"
        self.pool = make_pool(records) if tree is None else tree
        if units is not None:
            marks = np.ascontiguousarray(units.codes, dtype=np.int64)
            self.pool = with_marks(self.pool, marks, tally_of(marks))
        self.shell = make_shell(records, np.arange(self.n), self.pool.sums / self.n)

    @classmethod
    def of(cls, X: ArrayLike | Records, k: Any, search: str, progress: Progress | None, units: Units | None) -> "Run":
        """Check what is to be grouped, and begin."""
        records, k = records_and_k(X, k)
        check_units(units, records.entries.shape[1], k)
        return cls(records, k, search, progress, units)

    @property
    def remaining(self) -> int:
        """The number of records in no group yet."""
        return int(self.pool.state[REMAINING])

    @property
    def different(self) -> int:
        """The number of units that have records in no group yet; without units, of such records."""
        return int(self.pool.state[DIFFERENT])

    def form_groups_from_outside(self, *, least: int, paired: bool) -> None:
        """Form groups around the records farthest from the centroid while `least` records, or units, remain."""
        while self.different >= least:
            self._form_some(least=least, paired=paired, repeated=False)

    def form_groups_while_units_repeat(self) -> None:
        """Form groups around the records farthest from the centroid until no unit has two, or fewer than k remain."""
        while self.different >= self.k and self.remaining > self.different:
            self._form_some(least=self.k, paired=False, repeated=True)

    def _form_some(self, *, least: int, paired: bool, repeated: bool) -> None:
        self.n_groups = groups_from_outside(
            self.pool, self.shell, self.k, least, paired, repeated, SLICE, self.n_groups, self.labels
        )
        self.pause()

    def pause(self) -> None:
        """Let the caller know between two slices, and renew what has worn out: the tree or the shell."""
        tell(self._progress, self.n - self.remaining, self.n)
        thinned = self._search == "tree" and self.remaining < _THINNED * self.pool.state[BUILT_WITH]
        worn_out = self.shell.state[WORN_OUT]
        if self.remaining == 0 or not (thinned or worn_out):
            return
        free = np.flatnonzero(self.labels == FREE)
        if worn_out:
            fresh = make_shell(self.records, free, self.pool.sums / free.size)
            # One that was of no use at all would be asked for again, for ever.
            useless = self._renewed_at == self.remaining
            self.shell = no_shell(self.records, 1 + free.size // 64) if useless else fresh
            self._renewed_at = self.remaining
        if thinned:
            sums, place, marks, tally = self.pool.sums, self.pool.place, self.pool.marks, self.pool.tally
            del self.pool  # before the new one is made: memory holds one tree at a time
            self.pool = make_tree(self.records, free, sums, place)
            if marks.size:
                self.pool = with_marks(self.pool, marks, tally)

    def group_rest(self) -> None:
        """Make a group of all free records if they are enough, or else place them together."""
        if self.different >= self.k:
            group_rest(self.n_groups, self.labels)
        else:
            self.place_together()

    def place_each(self) -> None:
        """Put each free record into the group with the nearest centroid, as the groups stood before.

        Where no unit may hold more than 1/k of a group, that is the nearest group without the record's unit, those
        placed before it counted. A record that fits nowhere joins the nearest, and groups are merged until all keep k
        units.
        """
        if self.units is None or not self.units.in_part:
            place_each_leftover(*self.records, self.labels)
        elif self.remaining:
            self._place_apart(self.units)

    def place_together(self) -> None:
        """Put all free records into the group whose centroid is nearest to theirs.

        They go each by itself where two are of one unit. Where no unit may hold more than 1/k of a group, it is the
        nearest that holds none of theirs, and they go each by itself where there is none such.
        """
        if self.remaining == 0:
            return
        centroid = self.pool.sums / self.remaining
        if self.remaining > self.different:
            self.place_each()
        elif self.units is None or not self.units.in_part:
            place_leftovers_together(*self.records, centroid, self.labels)
        else:
            n_groups = number_groups(self.labels)
            free = np.flatnonzero(self.labels == FREE)
            full = _held(self.labels, self.units.codes, free, n_groups).any(axis=1)
            if full.all():
                self.place_each()
            else:
                distances = distances_to_groups(*self.records, centroid[None], self.labels, n_groups)[0]
                self.labels[free] = np.where(full, np.inf, distances).argmin()

    def place_in(self, group: int) -> None:
        """Put all free records into a group, or each by itself where units forbid it: two of one, or one it holds."""
        if self.units is not None:
            own = self.units.codes[self.labels == FREE]
            twice = self.remaining > self.different
            if twice or (self.units.in_part and np.isin(own, self.units.codes[self.labels == group]).any()):
                self.place_each()
                return
        group_rest(group, self.labels)

    def _place_apart(self, units: Units) -> None:
        n_groups = number_groups(self.labels)
        free = np.flatnonzero(self.labels == FREE)
        held = _held(self.labels, units.codes, free, n_groups)
        own = np.unique(units.codes[free], return_inverse=True)[1]
        targets = np.empty(free.size, dtype=np.int64)
        fits = True
        step = max(1, _AT_ONCE // n_groups)
        for start in range(0, free.size, step):
            points = np.ascontiguousarray(coordinates(take(self.records, free[start : start + step])).T)
            distances = distances_to_groups(*self.records, points, self.labels, n_groups)
            for i, to_groups in enumerate(distances, start):
                full = held[:, own[i]]
                fits &= not full.all()
                targets[i] = to_groups.argmin() if full.all() else np.where(full, np.inf, to_groups).argmin()
                held[targets[i], own[i]] = True
        self.labels[free] = targets
        if not fits:
            self.labels = merge_short(self.records, self.labels, self.k, units)

    def finish(self) -> NDArray[np.int64]:
        """Number the groups by lowest row and give the labels."""
        number_groups(self.labels)
        tell(self._progress, self.n, self.n)
        return self.labels


def from_outside(records: Records) -> NDArray[np.int64]:
    """Order the rows by decreasing distance to the centroid of all, lowest row first on ties."""
    centroid = coordinate_sums(records) / records.entries.shape[1]
    distances = distances_to(records, centroid)
    order = np.argsort(-distances, kind="stable")
    if records.heights.size == 0:
        return order
    # Where two are so near each other that rounding could change places, all coordinates decide.
    slack = rounding_of.py_func(centroid.size) ** 2
    close = distances[order[:-1]] <= distances[order[1:]] * slack
    unsure = order[np.concatenate([close, [False]]) | np.concatenate([[False], close])]
    distances[unsure] = full_distances(records, unsure, centroid)
    return np.argsort(-distances, kind="stable")


def _held(
    labels: NDArray[np.int64], codes: NDArray[np.int64], free: NDArray[np.int64], n_groups: int
) -> NDArray[np.bool_]:
    """Return which groups hold which of the units of free records, (groups, such units in order)."""
    wanted = np.unique(codes[free])
    rows = np.flatnonzero((labels != FREE) & np.isin(codes, wanted))
    held = np.zeros((n_groups, wanted.size), dtype=np.bool_)
    held[labels[rows], np.searchsorted(wanted, codes[rows])] = True
    return held
