"""Which cells of a record are missing: records with missing values in the same columns are grouped together."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.equivalence import codes_of, first_of_each, split_classes
from microagg.algorithms.units import Units, held_by
from microagg.columns.kinds._kind import States
from microagg.columns.table import Table
from microagg.columns.weights import Labels
from microagg.errors import InvalidData, setting

_MOST_PATTERNS = 1 << 20  # that are distinguished beyond memory
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
    strata_sizes : array
        The records of each stratum, where a file is read in parts; empty otherwise.
    """

    pieces: Labels
    n_patterns: int
    n_moved: int
    strata_sizes: Labels = field(default_factory=lambda: np.zeros(0, dtype=np.int64))


Short = Callable[[Labels], NDArray[np.bool_]]
"""Returns, for the piece of each pattern, which pieces cannot stand by themselves."""


def find_patterns(
    table: Table,
    strata: Labels,
    k: int,
    units: Units | None = None,
    weighing: NDArray[np.bool_] | None = None,
    *,
    by_value: bool = False,
) -> Patterns:
    """Cut each stratum by the patterns of missing values.

    A pattern with fewer than k records joins, whole, that one with at least k that differs from it in the fewest
    columns (of several the one with more records, then with the lower first row, or `by_value` the one that lacks
    less of the first columns, whatever the order of rows). Where none has k, the stratum is one piece. With units, a
    pattern must be able to hold k of them. Where only some records are `weighing`, k of a pattern, or k units, must be.
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
    short = None if units is None and weighing is None else _short(both, first.size, k, units, weighing)
    states = states[:, first]
    target, moved = join_rare(states, strata[first], sizes, _ranks(states) if by_value else first, k, short)
    pieces = np.unique(target[both], return_inverse=True)[1]
    return Patterns(np.asarray(pieces, dtype=np.int64), int(patterns.max()) + 1, moved)


def _ranks(states: States) -> Labels:
    """Number patterns by what they lack of the first column, then of the next, and so on."""
    order = np.lexsort(states[::-1])
    ranks = np.empty_like(order)
    ranks[order] = np.arange(order.size)
    return ranks


def _short(patterns: Labels, n_patterns: int, k: int, units: Units | None, weighing: NDArray[np.bool_] | None) -> Short:
    codes = np.arange(patterns.size) if units is None else units.codes

    def short(target: Labels) -> NDArray[np.bool_]:
        own = target[patterns]
        found = np.zeros(n_patterns, dtype=np.bool_)
        if units is not None:
            found |= held_by(own, codes, n_patterns).short(k, units.in_part)
        if weighing is not None:
            found |= held_by(own[weighing], codes[weighing], n_patterns).units < k
        return found

    return short


class PatternsSeen:
    """Numbers what records lack, and in which stratum, over tables that come one after the other.

    Where patterns are not distinguished, a stratum is one number. `sizes` are the records of each number.
    """

    def __init__(self, apart: bool) -> None:
        self._apart = apart
        self._numbers: dict[tuple[int, bytes], int] = {}
        self._first: list[int] = []
        self.sizes = np.zeros(0, dtype=np.int64)
        self._records = 0

    def codes(self, table: Table, strata: Labels) -> Labels:
        """Return each record's number: one for all records of a stratum with the same missing columns, in any table."""
        lacking = {
            j: column.cells.states for j, column in enumerate(table) if self._apart and column.cells.states is not None
        }
        classes = codes_of(strata)
        for own in lacking.values():
            classes = split_classes(classes, own.astype(np.int64))
        first = first_of_each(classes)
        states = np.zeros((len(table), first.size), dtype=np.uint8)
        for j, own in lacking.items():
            states[j] = own[first]
        order = np.argsort(first)
        numbers = np.empty(first.size, dtype=np.int64)
        keys = [(int(strata[first[one]]), states[:, one].tobytes()) for one in order]
        numbers[order] = self._number(keys, first[order], np.bincount(classes)[order])
        self._records += classes.size
        return np.asarray(numbers[classes])

    def join(self, other: "PatternsSeen", strata: Labels) -> Labels:
        """Take what another one has seen, of later rows; `strata` are our numbers of its strata. Give ours of its own.

        It has numbered strata by itself, as one does who sees a part of a file.
        """
        keys = [(int(strata[stratum]), states) for stratum, states in other._numbers]
        numbers = self._number(keys, np.array(other._first, dtype=np.int64), other.sizes)
        self._records += other._records
        return numbers

    def _number(self, keys: list[tuple[int, bytes]], first: Labels, sizes: Labels) -> Labels:
        """Number combinations of strata and states, which come in order of their first rows, counted from here."""
        numbers = []
        for key, row in zip(keys, first.tolist(), strict=True):
            numbers.append(self._numbers.setdefault(key, len(self._numbers)))
            if numbers[-1] == len(self._first):
                self._first.append(self._records + row)
        if len(self._numbers) > _MOST_PATTERNS:
            raise InvalidData(
                f"values are missing in more than {_MOST_PATTERNS} different sets of columns. Group all records "
                f"together ({setting('missing', 'state')}).",
                parameter="missing",
            )
        self.sizes = np.pad(self.sizes, (0, len(self._numbers) - self.sizes.size))
        self.sizes[numbers] += sizes
        return np.array(numbers, dtype=np.int64)

    def pieces(self, k: int, short: Short | None = None, *, by_value: bool = False) -> Patterns:
        """Return the piece of each number, as `find_patterns` gives those of records."""
        strata = self.strata
        states = np.array([np.frombuffer(own, dtype=np.uint8) for _, own in self._numbers]).T
        if not states.any():
            return Patterns(strata, int(self._apart), 0, self.strata_sizes)
        first = _ranks(states) if by_value else np.array(self._first)
        target, moved = join_rare(states, strata, self.sizes, first, k, short)
        pieces = np.asarray(np.unique(target, return_inverse=True)[1], dtype=np.int64)
        return Patterns(pieces, np.unique(states, axis=1).shape[1], moved, self.strata_sizes)

    @property
    def strata(self) -> Labels:
        """The stratum of each number."""
        return np.array([stratum for stratum, _ in self._numbers], dtype=np.int64)

    @property
    def strata_sizes(self) -> Labels:
        """The records of each stratum."""
        return np.bincount(self.strata, weights=self.sizes).astype(np.int64)


def join_rare(
    states: States,
    strata: Labels,
    sizes: Labels,
    first: Labels,
    k: int,
    short: Short | None = None,
) -> tuple[Labels, int]:
    """Let patterns with fewer than k records join others of their stratum; see `find_patterns`.

    For each pattern of a stratum `states` (columns, patterns) holds what is missing, and how; `strata`, `sizes` and
    `first` its stratum, its records and its first row, or another rank by which the lower one is preferred. `short`
    shows which pieces hold too little, where their records do not say it. Returns the pattern that each one joins,
    itself perhaps, and how many records move.
    """
    target = np.arange(first.size)
    order = np.argsort(strata, kind="stable")
    lacking = sizes < k if short is None else short(target)
    for members in np.split(order, np.flatnonzero(np.diff(strata[order])) + 1):
        large, small = members[~lacking[members]], members[lacking[members]]
        if large.size == 0:
            target[members] = members[first[members].argmin()]
        elif small.size:
            target[small] = large[_nearest(states[:, small], states[:, large], sizes[large], first[large])]
    while short is not None and _join_short(states, strata, sizes, first, short(target), target):
        pass
    return target, int(sizes[target != np.arange(first.size)].sum())


def _join_short(
    states: States,
    strata: Labels,
    sizes: Labels,
    first: Labels,
    lacking: NDArray[np.bool_],
    target: Labels,
) -> bool:
    """Let one piece of each stratum that still holds too little join its nearest; return whether any did.

    A unit with rows of both can be too much for a pattern that took another in.
    """
    pieces = np.unique(target)
    joined = False
    for stratum in np.unique(strata[pieces[lacking[pieces]]]):
        own = pieces[strata[pieces] == stratum]
        if own.size > 1:
            candidates = own[lacking[own]]
            worst = candidates[first[candidates].argmin()]
            others = own[own != worst]
            nearest = others[_nearest(states[:, [worst]], states[:, others], sizes[others], first[others])[0]]
            target[target == worst] = nearest
            joined = True
    return joined


def _nearest(small: States, large: States, sizes: Labels, first: Labels) -> Labels:
    """Return for each small pattern (columns, patterns) the large one that differs in the fewest columns."""
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
