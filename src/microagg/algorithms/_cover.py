"""Covering records by groups: the linear programme under the tight bound, and recombining by it.

Of all groups that many searches found, those are chosen that together make the best partition. Each group is a column,
each record a row that exactly one chosen group must cover: set partitioning. It is solved region by region, some dozens
of neighbouring groups at a time, by branch and bound over linear programmes (HiGHS). Limits count programmes, not
seconds, so the result is a function of what comes in.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.kernels.bounds import broken_triples, share_together

WHOLE = 1e-6
"""As far from 0 or 1 a share may be, by rounding."""
_REGION, _GROUPS = 300, 12  # records that are grouped anew at a time, and groups, at least
_PROGRAMMES = 40  # that are solved for a region, at most
_CUTS, _MOST_CUTS = 40, 300  # that a programme is tightened by each time, and until it has so many
_BROKEN = 1000  # triples that are looked at for cuts
_GOLDEN = 618_034  # of a million: turns begin far from each other
_MOST = 4_000_000  # members of all groups that are remembered
_GAIN = 1e-9  # of a region's error: less is rounding


class Columns(NamedTuple):
    """Groups of n records: their members one after the other, their sizes and errors."""

    members: NDArray[np.int64]
    sizes: NDArray[np.int64]
    errors: NDArray[np.float64]
    n: int

    def take(self, chosen: NDArray[np.bool_]) -> "Columns":
        """Return some of the groups."""
        return Columns(self.members[np.repeat(chosen, self.sizes)], self.sizes[chosen], self.errors[chosen], self.n)

    def join(self, others: "Columns") -> "Columns":
        """Return these groups, then others of the same records."""
        return Columns(
            np.concatenate((self.members, others.members)),
            np.concatenate((self.sizes, others.sizes)),
            np.concatenate((self.errors, others.errors)),
            self.n,
        )

    def first(self, count: int) -> "Columns":
        """Return the first groups."""
        return self.take(np.arange(self.sizes.size) < count)

    def starts(self) -> NDArray[np.int64]:
        """Return where each group's members begin, and where the last one's end."""
        return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(self.sizes)))

    def held(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Count in each group how many of some records it has."""
        wanted = np.zeros(self.n, dtype=np.int64)
        wanted[rows] = 1
        return np.add.reduceat(wanted[self.members], self.starts()[:-1])

    def spread(self, of_groups: NDArray[Any]) -> NDArray[Any]:
        """Return each record what its group has, where each is in one group."""
        of_records = np.empty(self.n, dtype=of_groups.dtype)
        of_records[self.members] = np.repeat(of_groups, self.sizes)
        return of_records


class Relaxed(NamedTuple):
    """The optimum of a linear programme."""

    error: float
    shares: NDArray[np.float64]  # of each group
    prices: NDArray[np.float64]  # of each record: what the error would fall by without it
    penalties: NDArray[np.float64]  # of each cut: negative, or 0
    reduced: NDArray[np.float64]  # by how much the error rises at least, where a group is taken whole

    def is_whole(self) -> bool:
        """Return whether the cover is a partition."""
        return bool((np.minimum(self.shares, np.abs(1.0 - self.shares)) < WHOLE).all())


def relax(
    columns: Columns, cuts: Sequence[NDArray[np.int64]] = (), counts: NDArray[np.int64] | None = None
) -> Relaxed | None:
    """Cover each record by shares of groups that add up to 1, at the least error; None if that is impossible.

    Of the three records of a cut at most one group can have two or more. With `counts`, the shares of groups of size s
    add up to counts[s].
    """
    from scipy.optimize import linprog  # it takes long to import
    from scipy.sparse import csc_array, vstack

    n_groups = columns.sizes.size
    if n_groups == 0:
        return None
    covered = csc_array((np.ones(columns.members.size), columns.members, columns.starts()), (columns.n, n_groups))
    wanted = np.ones(columns.n)
    if counts is not None:
        sizes = np.flatnonzero(counts)
        covered = vstack((covered, csc_array((columns.sizes == sizes[:, None]).astype(float))), format="csc")
        wanted = np.concatenate((wanted, counts[sizes]))
    crossed = csc_array((len(cuts), n_groups))
    if cuts:
        crossed = csc_array(np.array([columns.held(cut) >= 2 for cut in cuts], dtype=float))
    found = linprog(columns.errors, A_ub=crossed, b_ub=np.ones(len(cuts)), A_eq=covered, b_eq=wanted, method="highs-ds")
    if found.status != 0:
        return None
    reduced = columns.errors - covered.T @ found.eqlin.marginals - crossed.T @ found.ineqlin.marginals
    return Relaxed(float(found.fun), found.x, found.eqlin.marginals[: columns.n], found.ineqlin.marginals, reduced)


class GroupPool:
    """The different groups of many partitions of n records, each with its error."""

    def __init__(self, n: int) -> None:
        # A group is known by the sum of its records' random numbers. That two groups have the same one is next to
        # impossible, and would only make one of them forgotten.
        self._marks = np.random.default_rng(0).integers(0, 2**63, n, dtype=np.uint64)
        self._known = np.empty(0, dtype=np.uint64)
        self.groups = Columns(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0), n)

    def add(self, labels: NDArray[np.int64], errors: NDArray[np.float64]) -> None:
        """Remember the groups of a partition, of which each record's error is given."""
        order = np.argsort(labels, kind="stable")
        sizes = np.bincount(labels)
        starts = np.cumsum(sizes) - sizes
        marks = np.add.reduceat(self._marks[order], starts)
        new = ~np.isin(marks, self._known)
        old, n = self.groups, labels.size
        members = np.concatenate((old.members, order[np.repeat(new, sizes)]))
        of_groups = np.concatenate((old.errors, np.add.reduceat(errors[order], starts)[new]))
        groups = Columns(members, np.concatenate((old.sizes, sizes[new])), of_groups, n)
        known = np.concatenate((self._known, marks[new]))
        if members.size > _MOST:  # the oldest are forgotten
            kept = np.cumsum(groups.sizes[::-1])[::-1] <= _MOST
            groups, known = groups.take(kept), known[kept]
        self.groups, self._known = groups, known

    def inside(self, region: NDArray[np.bool_]) -> Columns:
        """Return the groups of which all members are in a region, whose records are numbered from 0."""
        found = self.groups.take(self.groups.held(np.flatnonzero(region)) == self.groups.sizes)
        number = np.cumsum(region) - 1
        return Columns(number[found.members], found.sizes, found.errors, int(region.sum()))

    def recombine(
        self,
        labels: NDArray[np.int64],
        errors: NDArray[np.float64],
        near: NDArray[np.int64],
        k: int,
        turn: int,
        programmes: int,
        goes_on: Callable[[], bool],
        *,
        variable: bool = True,
    ) -> NDArray[np.int64] | None:
        """Return a partition of these groups that is as good as `labels` or better; None if it may not go on.

        `errors` are each record's under `labels`, and `near` (n, ...) its neighbours. Around each group a region of
        near groups is taken, and partitioned anew by groups that lie inside it, until all have been looked at or so
        many programmes are solved. Another `turn` begins elsewhere. Unless sizes are `variable`, each region keeps its
        own.
        """
        best, errors, n = labels.copy(), errors.copy(), labels.size
        size = max(_REGION, _GROUPS * k)
        centred = np.zeros(n, dtype=bool)
        for row in (np.arange(n) + turn * n * _GOLDEN // 10**6) % n:
            if centred[row]:
                continue
            if not goes_on():
                return None
            if programmes <= 0:
                break
            groups = _groups_around(best, near, int(row), size)
            members = [np.flatnonzero(best == group) for group in groups]
            for rows in members[: 1 + len(members) // 3] if sum(map(len, members)) < n else members:
                centred[rows] = True
            region = np.zeros(n, dtype=bool)
            region[np.concatenate(members)] = True
            error = float(errors[region].sum())
            if error == 0.0:
                continue
            given = min(programmes, _PROGRAMMES)
            counts = None if variable else np.bincount([rows.size for rows in members])
            found, left = best_cover(self.inside(region), error, given, counts)
            programmes -= given - left
            if found is not None:
                best[region] = found.spread(best.max() + 1 + np.arange(found.sizes.size))
                errors[region] = found.spread(found.errors / found.sizes)
                best = np.unique(best, return_inverse=True)[1]
        return best


def _together(columns: Columns, shares: NDArray[np.float64]) -> NDArray[np.float64]:
    together = np.zeros((columns.n, columns.n))
    share_together(columns.members, columns.starts(), shares, together)
    return together


def broken_cuts(columns: Columns, shares: NDArray[np.float64]) -> list[NDArray[np.int64]]:
    """Find cuts that a fractional cover breaks, the worst first."""
    some = (shares > WHOLE) & (shares < 1.0 - WHOLE)
    columns, shares = columns.take(some), shares[some]
    triples, excesses = np.empty((_BROKEN, 3), dtype=np.int64), np.empty(_BROKEN)
    together = _together(columns, shares)
    count = broken_triples(columns.members, columns.starts(), shares, together, 0.01, triples, excesses)
    worst = np.argsort(-excesses[:count], kind="stable")[:_CUTS]
    return list(triples[worst])


class _Programmes:
    """How many programmes may still be solved, and how many groups of each size they choose, if sizes are fixed."""

    def __init__(self, left: int, counts: NDArray[np.int64] | None) -> None:
        self.left, self._counts = left, counts

    def relax(self, columns: Columns, cuts: list[NDArray[np.int64]]) -> Relaxed | None:
        self.left -= 1
        return relax(columns, cuts, self._counts)


def best_cover(
    columns: Columns, limit: float, programmes: int, counts: NDArray[np.int64] | None = None
) -> tuple[Columns | None, int]:
    """Return groups that partition the records with an error below a limit, and how many programmes are left.

    They are the best, unless the programmes do not suffice; None where none are found. With `counts`, counts[s] of them
    have the size s.
    """
    if counts is not None:
        columns = columns.take(np.isin(columns.sizes, np.flatnonzero(counts)))
        counts = counts if np.count_nonzero(counts) > 1 else None  # of one size there can only be so many
    allowed = _Programmes(programmes, counts)
    found = _best_cover(columns._replace(errors=columns.errors / limit), allowed)  # tolerances are absolute
    return None if found is None else found._replace(errors=found.errors * limit), allowed.left


def _best_cover(columns: Columns, programmes: _Programmes) -> Columns | None:
    limit = 1.0 - _GAIN
    cuts: list[NDArray[np.int64]] = []
    while programmes.left > 0:
        found = programmes.relax(columns, cuts)
        if found is None or found.error >= limit:
            return None
        kept = found.reduced <= limit - found.error  # no better partition has the others
        columns, shares = columns.take(kept), found.shares[kept]
        if found.is_whole():
            return columns.take(shares > 0.5)
        broken = broken_cuts(columns, shares) if len(cuts) < _MOST_CUTS else []
        if not broken:
            return _branch(columns, cuts, limit, programmes)
        cuts += broken
    return None


def _branch(columns: Columns, cuts: list[NDArray[np.int64]], limit: float, programmes: _Programmes) -> Columns | None:
    """Search among covers by putting pairs of records together or apart (Ryan and Foster), depth first."""
    best = None
    open_nodes = [columns]
    while open_nodes and programmes.left > 0:
        node = open_nodes.pop()
        found = programmes.relax(node, cuts)
        if found is None or found.error >= limit:
            continue
        kept = found.reduced <= limit - found.error
        node, shares = node.take(kept), found.shares[kept]
        if found.is_whole():
            best, limit = node.take(shares > 0.5), found.error - _GAIN
            continue
        together = _together(node, shares)
        pair = np.array(np.unravel_index(np.argmin(np.abs(together - 0.5)), together.shape))
        held = node.held(pair)
        open_nodes += [node.take(held < 2), node.take(held != 1)]  # the latter comes first
    return best


def _groups_around(labels: NDArray[np.int64], near: NDArray[np.int64], row: int, size: int) -> list[int]:
    """List the group of a record and those around it, nearest first, until they have so many records."""
    listed = [int(labels[row])]
    seen = {listed[0]}
    count, at = 0, 0
    while at < len(listed) and count < size:
        rows = np.flatnonzero(labels == listed[at])
        count += rows.size
        at += 1
        for column in near[rows].T:
            for group in labels[column].tolist():
                if group not in seen:
                    seen.add(group)
                    listed.append(group)
    return listed[:at]
