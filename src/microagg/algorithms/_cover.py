"""Covering records by groups: the linear programme under recombining, and under the tight bound."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

WHOLE = 1e-6
"""As far from 0 or 1 a share may be, by rounding."""


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
