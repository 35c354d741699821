"""Which cells of a record are missing: records that lack the same are grouped among themselves."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from microagg.equivalence import first_of_each, split_classes
from microagg.table import Table

_SLICE = 4_000_000  # comparisons of two patterns in one column, done together


@dataclass(frozen=True, eq=False)
class Patterns:
    """The pieces that a file is cut into by what its records lack.

    Attributes
    ----------
    pieces : array of shape (n,)
        Each record's piece, numbered from 0: no group reaches over two.
    n_patterns : int
        How many different sets of missing columns there are.
    n_moved : int
        Records whose pattern is rarer than k, and that joined another.
    """

    pieces: NDArray[np.int64]
    n_patterns: int
    n_moved: int


def find_patterns(table: Table, strata: NDArray[np.int64], k: int) -> Patterns:
    """Cut each stratum by the patterns of missing values.

    A pattern with fewer than k records joins, whole, that one with at least k that differs from it in the fewest
    columns (of several the one with more records, then with the lower first row). Where none has k, the stratum is
    one piece.
    """
    lacking = [column.cells.states for column in table if column.cells.states is not None]
    if not lacking:
        return Patterns(strata, 1, 0)
    states = np.array(lacking)  # (columns that lack something, n)
    patterns = np.zeros(strata.size, dtype=np.int64)
    for own in states:
        patterns = split_classes(patterns, own.astype(np.int64))
    both = split_classes(strata, patterns, patterns)
    first, sizes = first_of_each(both), np.bincount(both)
    target, moved = join_rare(states[:, first], strata[first], sizes, first, k)
    pieces = np.unique(target[both], return_inverse=True)[1]
    return Patterns(np.asarray(pieces, dtype=np.int64), int(patterns.max()) + 1, moved)


def join_rare(
    states: NDArray[np.uint8],
    strata: NDArray[np.int64],
    sizes: NDArray[np.int64],
    first: NDArray[np.int64],
    k: int,
) -> tuple[NDArray[np.int64], int]:
    """Let patterns with fewer than k records join others of their stratum; see `find_patterns`.

    For each pattern of a stratum `states` (columns, patterns) tells what is missing, and how; `strata`, `sizes` and
    `first` its stratum, its records and its first row. Gives the pattern that each one joins, itself perhaps, and how
    many records move.
    """
    target = np.arange(first.size)
    order = np.argsort(strata, kind="stable")
    for members in np.split(order, np.flatnonzero(np.diff(strata[order])) + 1):
        large, small = members[sizes[members] >= k], members[sizes[members] < k]
        if large.size == 0:
            target[members] = members[first[members].argmin()]
        elif small.size:
            target[small] = large[_nearest(states[:, small], states[:, large], sizes[large], first[large])]
    return target, int(sizes[target != np.arange(first.size)].sum())


def _nearest(
    small: NDArray[np.uint8], large: NDArray[np.uint8], sizes: NDArray[np.int64], first: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Give for each small pattern (columns, patterns) the large one that differs in the fewest columns."""
    preferred = np.lexsort((first, -sizes))
    large = large[:, preferred]
    found = np.empty(small.shape[1], dtype=np.int64)
    step = max(1, _SLICE // large.shape[1])
    for start in range(0, found.size, step):
        differing = np.zeros((small[:, start : start + step].shape[1], large.shape[1]), dtype=np.int64)
        for own, others in zip(small[:, start : start + step], large, strict=True):
            differing += own[:, None] != others[None, :]
        found[start : start + step] = preferred[differing.argmin(axis=1)]  # the first of equals is preferred
    return found
