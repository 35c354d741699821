"""Which records a released group consists of, found by nearness and by sums: for rows in another order.

Each record goes to the nearest group, each group taking as many as it has rows, so that squared distances add up to the
least. The mean of a group then shows whether it has the right ones. Where it has not, near records are tried in the
place of its own, until the mean is the released one.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.spatial import KDTree

from microagg.algorithms.equivalence import first_of_each
from microagg.algorithms.kernels.linkage import give_nearest, settle
from microagg.columns.weights import Labels
from microagg.work import Progress, one_thread_for_matrices, part, tell

Numbers = NDArray[np.float64]

_DENSE = 1200  # records that are matched at the least cost; of more, the nearest pairs go first
_NEAR_GROUPS = 12
_NEAR_RECORDS = (0, 60, 60, 30)  # that may take the place of a group's own, by how many do at once
_MOST_EXCHANGES = 1_000_000  # to try for a group at once
_AT_ONCE = 100  # between two words of progress
_EXACT = 1e-9  # of a column's greatest value: what sums of rounded numbers differ by


@dataclass(frozen=True, eq=False)
class Files:
    """An original and a release whose rows are in any order.

    Attributes
    ----------
    points, released : arrays of shape (n, D)
        Both in one space of the masked columns.
    groups : array of shape (n,)
        The group of each released row, numbered from 0.
    values, means : arrays of shape (n, c)
        Columns of numbers before and after, those of which groups are said to give the mean.
    rounding : array of shape (c,)
        How far a released mean may be from the true one.
    kept, kept_after : arrays of shape (n,)
        What is released as it was, as a code; each as often before as after.
    """

    points: Numbers
    released: Numbers
    groups: Labels
    values: Numbers
    means: Numbers
    rounding: Numbers
    kept: Labels
    kept_after: Labels


@dataclass(frozen=True, eq=False)
class Matching:
    """Records given to groups.

    Attributes
    ----------
    groups : array of shape (n,)
        The group of each record of the original.
    agree : array of bool
        For each group, whether its records give the released means.
    cost : float
        The mean squared distance between a record and its group.
    """

    groups: Labels
    agree: NDArray[np.bool_]
    cost: float


def by_position(files: Files) -> Matching:
    """Match each record to the row that took its place."""
    cost = float(((files.points - files.released) ** 2).sum(axis=1).mean())
    return Matching(files.groups, _agreeing(files, files.groups), cost)


def by_nearest(files: Files, progress: Progress | None = None) -> Matching:
    """Match each record to the nearest group, and mend groups whose means are not the released ones."""
    with one_thread_for_matrices():
        return _mended(files, progress)


def _mended(files: Files, progress: Progress | None) -> Matching:
    state = _State(files)
    for depth, near in enumerate(_NEAR_RECORDS):
        told = part(progress, depth, depth + 1, len(_NEAR_RECORDS))
        while True:
            before = int(np.count_nonzero(state.settled))
            state.transport(told)
            state.sweep(depth, near, told)
            settled = int(np.count_nonzero(state.settled))
            if depth == 0 or settled == state.settled.size or settled - before <= state.settled.size // 200:
                break
    state.transport(progress)
    cost = float(((files.points - state.centers[state.given]) ** 2).sum(axis=1).mean())
    return Matching(state.given, _agreeing(files, state.given), cost)


def _agreeing(files: Files, given: Labels) -> NDArray[np.bool_]:
    """Return for each group whether its records give the released means; without columns of numbers none does."""
    sizes = np.bincount(files.groups).astype(np.float64)
    if not files.values.shape[1]:
        return np.zeros(sizes.size, dtype=np.bool_)
    means = files.means[first_of_each(files.groups)]
    sums = [np.bincount(given, column, minlength=sizes.size) for column in files.values.T]
    return np.asarray((np.abs(np.array(sums).T / sizes[:, np.newaxis] - means) <= _slack(files)).all(axis=1))


def _slack(files: Files) -> Numbers:
    return np.asarray(files.rounding + _EXACT * (1.0 + np.abs(files.values).max(axis=0)))


class _State:
    """Which records groups have, and which groups are settled."""

    def __init__(self, files: Files) -> None:
        self.files = files
        first = first_of_each(files.groups)
        self.sizes = np.bincount(files.groups)
        self.centers = files.released[first]
        self.settled = np.zeros(first.size, dtype=np.bool_)
        self.taken = np.zeros(files.groups.size, dtype=np.bool_)
        self.given = np.full(files.groups.size, -1, dtype=np.int64)
        self._values, self._targets, self._slack = self._sums(first)
        # Rows of a group that are the same in what was kept: so many records of that kind it has room for.
        pairs, self._room = np.unique(np.array([files.kept_after, files.groups]), axis=1, return_counts=True)
        self._room_kept, self._room_group = pairs

    def _sums(self, first: Labels) -> tuple[Numbers, Numbers, Numbers]:
        """Return what must add up: a mixture of all columns, which alone refuses most, what was kept, the columns."""
        files, rng = self.files, np.random.default_rng(0)
        scales = files.values.std(axis=0)
        scales = np.where(scales > 0.0, scales, 1.0)
        weights = rng.uniform(0.5, 1.0, scales.size) / scales
        kinds = rng.integers(0, 2**48, int(files.kept.max()) + 1).astype(np.float64)  # whose sums are exact
        slack = _slack(files)
        of_kinds = np.bincount(files.groups, kinds[files.kept_after])
        sizes = self.sizes[:, np.newaxis]
        means = files.means[first]
        values = np.column_stack([files.values @ weights, kinds[files.kept], files.values])
        targets = np.column_stack([sizes[:, 0] * (means @ weights), of_kinds, sizes * means])
        allowed = sizes * np.concatenate([[slack @ weights], [0.0], slack])
        return np.ascontiguousarray(values), targets, np.ascontiguousarray(allowed)

    def transport(self, progress: Progress | None) -> None:
        """Return the records of no settled group to the others."""
        records = np.flatnonzero(~self.taken)
        records = records[np.argsort(self.files.kept[records], kind="stable")]
        rooms = np.flatnonzero(~self.settled[self._room_group])
        kinds, starts = np.unique(self.files.kept[records], return_index=True)
        own = np.searchsorted(self._room_kept[rooms], kinds), np.searchsorted(self._room_kept[rooms], kinds, "right")
        ends = [*starts[1:], records.size]
        for kind in range(kinds.size):
            if kind % 100 == 0:
                tell(progress, 0, 1)
            some, theirs = records[starts[kind] : ends[kind]], rooms[own[0][kind] : own[1][kind]]
            self._match(some, self._room_group[theirs], self._room[theirs].copy(), progress)

    def _match(self, records: Labels, groups: Labels, room: Labels, progress: Progress | None) -> None:
        """Return some records to some groups with as much room."""
        points, centers = self.files.points[records], self.centers[groups]
        found = np.zeros(records.size, dtype=np.int64) if groups.size == 1 else np.full(records.size, -1)
        left = np.flatnonzero(found < 0)
        while left.size > _DENSE:
            open_yet = np.flatnonzero(room)
            tree, count = KDTree(centers[open_yet]), min(_NEAR_GROUPS, open_yet.size)
            far, near = _queried(tree, points[left], count, progress)
            order = np.argsort(far, axis=None, kind="stable")
            give_nearest(np.repeat(left, count)[order], open_yet[near.ravel()[order]], room, found)
            left = np.flatnonzero(found < 0)
        if left.size:
            places = np.repeat(np.arange(groups.size), room)
            far = (points[left] ** 2).sum(axis=1)[:, np.newaxis] - 2.0 * points[left] @ centers[places].T
            found[left] = places[linear_sum_assignment(far + (centers[places] ** 2).sum(axis=1))[1]]
        self.given[records] = groups[found]

    def sweep(self, depth: int, near: int, progress: Progress | None) -> None:
        """Settle groups that have the released sums after so many of their records are exchanged."""
        free, groups = np.flatnonzero(~self.taken), np.flatnonzero(~self.settled)
        if not free.size or not self.files.values.shape[1]:
            return
        order = free[np.argsort(self.given[free], kind="stable")]
        tree, count = KDTree(self.files.points[free]), min(near, free.size)
        starts = np.concatenate([[0], np.cumsum(self.sizes[groups])])
        for some in _pieces(groups.size):
            tell(progress, int(some[0]), groups.size)
            own, now = groups[some], np.zeros(some.size, dtype=np.bool_)
            close = np.full((some.size, 0), -1)
            if count:
                close = free[_queried(tree, self.centers[own], count, None)[1]]
            first, last = starts[some[0]], starts[some[-1] + 1]
            settle(
                self._values,
                self.files.points,
                self.centers[own],
                self._targets[own],
                self._slack[own],
                starts[some[0] : some[-1] + 2] - first,
                order[first:last],
                close,
                depth,
                _MOST_EXCHANGES,
                self.taken,
                now,
            )
            self._keep(order[first:last], np.repeat(own, self.sizes[own]), np.repeat(now, self.sizes[own]))
            self.settled[own] = now

    def _keep(self, records: Labels, groups: Labels, now: NDArray[np.bool_]) -> None:
        self.given[records[now]] = groups[now]


def _pieces(n: int) -> Iterator[Labels]:
    for start in range(0, n, _AT_ONCE):
        yield np.arange(start, min(n, start + _AT_ONCE))


def _queried(tree: KDTree, points: Numbers, count: int, progress: Progress | None) -> tuple[Numbers, Labels]:
    """Return the nearest of a tree to each point, with their distances, (n, count)."""
    far, near = np.empty((len(points), count)), np.empty((len(points), count), dtype=np.int64)
    for some in _pieces(len(points)):
        tell(progress, 0, 1)
        one, other = tree.query(points[some], count)
        far[some], near[some] = one.reshape(-1, count), other.reshape(-1, count)
    return far, near
