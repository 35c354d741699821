"""What a group may disclose of confidential columns: l-diversity, p-sensitivity and t-closeness."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.kernels.diversity import (
    CLOSENESS,
    DISTINCT,
    ENTROPY,
    FACTOR,
    NOMINAL,
    ORDERED,
    RANK,
    SLACK,
    Tracks,
    group_breaches,
    group_figures,
    nothing_asked,
)
from microagg.algorithms.units import Labels
from microagg.checks import check_whole
from microagg.errors import InvalidParameter, a_type

_MOST = 1e9  # of anything like a number of values


@dataclass(frozen=True, eq=False)
class Confidential:
    """A confidential column: the values of some records, and how often each occurs in the whole file.

    Attributes
    ----------
    codes : array of shape (n,)
        Each record's value, numbered in order from 0; a missing one has the number of values.
    counts : array of shape (values + 1,)
        The records of the whole file that have each value, then those that lack one.
    ordered : bool
        Whether the order of the values means anything.
    kin : array of shape (levels, values), or None
        The taxonomy: each value itself, then its ancestors below the root, as `kinds.Taxonomy` has them.
    name : any
        What messages call it.
    """

    codes: Labels
    counts: Labels
    ordered: bool = False
    kin: Labels | None = None
    name: Any = None

    @classmethod
    def of(
        cls,
        codes: Any,
        *,
        missing: Any = None,
        ordered: bool = False,
        kin: Any = None,
        name: Any = None,
    ) -> "Confidential":
        """Take the column of a whole file by the codes of its values; what they are where `missing` does not matter.

        Values that do not occur are left out, and the others numbered anew.
        """
        given = np.asarray(codes, dtype=np.int64)
        lacking = np.zeros(given.size, dtype=np.bool_) if missing is None else np.asarray(missing, dtype=np.bool_)
        occurring, own = np.unique(given[~lacking], return_inverse=True)
        numbered = np.full(given.size, occurring.size, dtype=np.int64)
        numbered[~lacking] = own.ravel()
        counts = np.bincount(numbered, minlength=occurring.size + 1)
        tree = None if kin is None else np.asarray(kin, dtype=np.int64)[:, occurring]
        return cls(numbered, counts, ordered and tree is None, tree, name)

    @property
    def n_values(self) -> int:
        """How many different values the whole file has."""
        return self.counts.size - 1

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which records lack a value."""
        return np.asarray(self.codes == self.n_values)

    @property
    def nearly_all_differ(self) -> bool:
        """Whether more than half of the records have a value of their own, by a column that has an order."""
        present = self.counts[:-1]
        return self.ordered and 2 * int(np.count_nonzero(present == 1)) > int(present.sum())

    def take(self, rows: Labels) -> "Confidential":
        """Return the column of some records; the counts stay those of the whole file."""
        return replace(self, codes=self.codes[rows])

    def levels(self) -> tuple[Labels, NDArray[np.float64], Labels]:
        """Return the records' codes at each level of the taxonomy, or of the values alone, (levels, n).

        Then the file's counts of these, level after level, and where each begins; a missing value is the last of each.
        """
        levels = [np.arange(self.n_values)]
        if self.kin is not None:
            levels += [np.unique(level, return_inverse=True)[1].ravel() for level in self.kin[1:]]
        tracks = [_track(self, level) for level in levels]
        starts = np.cumsum([0, *(counts.size for _, counts in tracks)])
        return np.stack([codes for codes, _ in tracks]), np.concatenate([own for _, own in tracks]) + 0.0, starts


class Limits(NamedTuple):
    """What is demanded of the values that each group holds of one column.

    Attributes
    ----------
    l : int, optional
        At least so many different values (distinct l-diversity, p-sensitivity).
    entropy : float, optional
        exp(entropy) is at least this (entropy l-diversity).
    recursive : tuple of (c, l), optional
        The most frequent value has fewer records than c times those of the l-th most frequent and all rarer ones.
    t : float, optional
        The distance from the whole file's distribution is at most this (t-closeness): the earth mover's distance over
        the values of an ordered column; half the sum of absolute differences otherwise, or its mean over the levels
        of a taxonomy, which is the earth mover's distance in the tree.
    """

    l: int | None = None  # noqa: E741 (its name in the literature)
    entropy: float | None = None
    recursive: tuple[float, int] | None = None
    t: float | None = None

    def check(self) -> None:
        """Return what a limit must be, where it is not; by the keywords of a recipe."""
        if self.l is not None:
            check_whole("l", self.l, 2, remedy="A group of one value discloses it.")
        if self.entropy is not None and not 1 < self.entropy <= _MOST:
            raise InvalidParameter(
                f"entropy_l={self.entropy:g} must be above 1, and a number: it is like a number of values.",
                parameter="entropy_l",
            )
        if self.recursive is not None:
            _check_recursive(self.recursive)
        if self.t is not None and not 0 < self.t < 1:
            raise InvalidParameter(
                f"t={self.t:g} must be above 0 and below 1: it is a distance of two distributions. Leave it out to ask "
                f"for nothing.",
                parameter="t",
            )

    @property
    def counts_values(self) -> bool:
        """Whether anything but closeness is demanded."""
        return (self.l, self.entropy, self.recursive) != (None, None, None)


def _check_recursive(said: Any) -> None:
    pair = said if isinstance(said, tuple) else (said,)
    right = len(pair) == 2 and all(isinstance(one, (int, float)) for one in pair)
    if not right or not (0 < pair[0] <= _MOST and 2 <= pair[1] <= _MOST and float(pair[1]).is_integer()):
        given = ", ".join(str(one) if isinstance(one, (int, float)) else a_type(one) for one in pair)
        raise InvalidParameter(
            f"recursive_l={given} must be two numbers: c above 0, and a whole l of 2 or more, as in [3, 2].",
            parameter="recursive_l",
        )


class HeldValues(NamedTuple):
    """What groups hold of a column, each of shape (groups,).

    Different values, exp(entropy), the records of the commonest value, those from the l-th commonest on, and t. A
    missing value is none of the different ones, and t counts it as one of its own; t of an ordered column is that of
    the others, or the difference in missing ones where that is greater.
    """

    distinct: Labels
    entropy: NDArray[np.float64]
    most: Labels
    tail: Labels
    t: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Demand:
    """What each group must keep, of one confidential column or several."""

    columns: tuple[Confidential, ...]
    limits: tuple[Limits, ...]

    @classmethod
    def of(
        cls,
        columns: Iterable[Confidential],
        *,
        l: int | None = None,  # noqa: E741
        entropy: float | None = None,
        recursive: tuple[float, int] | None = None,
        t: float | None = None,
    ) -> "Demand":
        """Demand the same of every column."""
        taken = tuple(columns)
        return cls(taken, (Limits(l, entropy, recursive, t),) * len(taken))

    def take(self, rows: Labels) -> "Demand":
        """Return the demand on some records; their distance is still that from the whole file."""
        return replace(self, columns=tuple(column.take(rows) for column in self.columns))

    @cached_property
    def asked(self) -> Tracks:
        """What kernels are asked to keep."""
        return _joined([_asked(*pair) for pair in zip(self.columns, self.limits, strict=True)])

    def breach(self, labels: Labels) -> NDArray[np.float64]:
        """Return how badly groups, numbered from 0 without gaps, break it: 0 where one keeps it, else up to 1.

        That is t of the group where t is too great, or by what part of l it falls short of l; the worst over columns.
        """
        rows, starts = _by_group(labels)
        return np.asarray(group_breaches(self.asked, rows, starts))

    def kept(self, labels: Labels) -> bool:
        """Return whether every group keeps it."""
        return not self.breach(labels).any()

    def figures(self, labels: Labels) -> tuple[HeldValues, ...]:
        """Return what groups, numbered from 0 without gaps, hold of each column."""
        rows, starts = _by_group(labels)
        found = []
        for column, limits in zip(self.columns, self.limits, strict=True):
            rank = limits.recursive[1] if limits.recursive is not None else 2
            values, t = group_figures(_asked(column, limits._replace(t=0.0)), rows, starts, rank)
            distinct, most, tail = values[:, [0, 2, 3]].astype(np.int64).T
            found.append(HeldValues(distinct, values[:, 1], most, tail, t))
        return tuple(found)


def max_groups(counts: Any, p: int) -> int:
    """Return how many groups of p different values there can be at most; `counts` are the records of each value.

    Truta and Vinay (2006): a group needs at least i records of other values than the p - i commonest ones.
    """
    falling = np.sort(np.asarray(counts))[::-1]
    n = int(falling.sum())
    if np.count_nonzero(falling) < p:
        return 0
    commonest = np.cumsum(falling)
    return min([n // p, *((n - int(commonest[p - i - 1])) // i for i in range(1, p))])


def check_possible(demand: Demand, strata: Labels | None = None) -> None:
    """Refuse what no grouping can keep, with the most that one can; groups never lie across `strata` (n,).

    The columns of the demand are those of the whole file.
    """
    for column, limits in zip(demand.columns, demand.limits, strict=True):
        _check_has_meaning(column, limits)
        whole = Demand((column,), (limits,))
        pieces = np.zeros(column.codes.size, dtype=np.int64) if strata is None else strata
        labels = np.unique(pieces, return_inverse=True)[1].ravel()
        _check_pieces(column, limits, whole.figures(labels)[0], int(labels.max()) + 1)


def _check_has_meaning(column: Confidential, limits: Limits) -> None:
    if limits.counts_values and column.nearly_all_differ:
        alone = int(np.count_nonzero(column.counts[:-1] == 1))
        raise InvalidParameter(
            f"nearly all values of column {column.name!r} differ ({alone} of {int(column.counts[:-1].sum())} records "
            f"have a unique value), so different values in a group do not protect: they may be nearly equal. Recode "
            f"the column into classes, or ask for closeness (t).",
            parameter=_first(limits),
            columns=(column.name,),
        )


def _check_pieces(column: Confidential, limits: Limits, figures: HeldValues, pieces: int) -> None:
    where = "the file" if pieces == 1 else "one stratum"
    remedy = "" if pieces == 1 else " or merge strata"
    of = f"of column {column.name!r}"
    if limits.l is not None and figures.distinct.min() < limits.l:
        most = int(figures.distinct.min())
        can = f"Ask for l={most} at most{remedy}." if most >= 2 else f"Leave l out{remedy}."
        raise InvalidParameter(
            f"l={limits.l} cannot be kept: {where} has {most} different value(s) {of}. {can}",
            parameter="l",
            columns=(column.name,),
        )
    if limits.entropy is not None and figures.entropy.min() < limits.entropy * (1 - SLACK):
        most_entropy = np.floor(1e4 * figures.entropy.min()) / 1e4
        raise InvalidParameter(
            f"entropy_l={limits.entropy:g} cannot be kept: exp(entropy) {of} in {where} is {most_entropy:g}. Ask for "
            f"that at most{remedy}.",
            parameter="entropy_l",
            columns=(column.name,),
        )
    if limits.recursive is not None:
        c, rank = limits.recursive
        broken = figures.most >= c * figures.tail * (1.0 - SLACK)
        if broken.any():
            least = np.inf if (figures.tail == 0).any() else float((figures.most / np.maximum(figures.tail, 1)).max())
            can = (
                f"c must be above {np.ceil(1e4 * least) / 1e4:g}"
                if least < np.inf
                else f"{where} has fewer than {rank} values"
            )
            raise InvalidParameter(
                f"recursive_l=({c:g}, {rank}) cannot be kept {of}: {can}. Change it{remedy}.",
                parameter="recursive_l",
                columns=(column.name,),
            )
    if limits.t is not None and figures.t.max() > limits.t + SLACK:
        least_t = np.ceil(1e4 * figures.t.max()) / 1e4
        raise InvalidParameter(
            f"t={limits.t:g} cannot be kept: the values of one stratum {of} are {least_t:g} away from the file's. Ask "
            f"for t={least_t:g} or more, or merge strata.",
            parameter="t",
            columns=(column.name,),
        )


def _first(limits: Limits) -> str:
    """Name the first choice, as a recipe calls it, that counts values."""
    said = {"l": limits.l, "entropy_l": limits.entropy, "recursive_l": limits.recursive}
    return next(keyword for keyword, value in said.items() if value is not None)


def _by_group(labels: Labels) -> tuple[Labels, Labels]:
    """List the rows group by group, and where each group begins."""
    sizes = np.bincount(labels)
    return np.argsort(labels, kind="stable"), np.concatenate([[0], np.cumsum(sizes)])


def _asked(column: Confidential, limits: Limits) -> Tracks:
    """Return the tracks of one column: itself, and each further level of its taxonomy where closeness is asked."""
    row = np.zeros(5)
    row[DISTINCT], row[ENTROPY] = limits.l or 0, limits.entropy or 0.0
    row[FACTOR], row[RANK] = limits.recursive or (0.0, 0)
    row[CLOSENESS] = np.inf if limits.t is None else limits.t
    codes, counts, starts = column.levels()
    if limits.t is None:  # levels above the values matter for closeness alone
        codes, counts, starts = codes[:1], counts[: starts[1]], starts[:2]
    n_levels = codes.shape[0]
    only_t = np.array([0.0, 0.0, 0.0, 0.0, row[CLOSENESS]])
    closing = np.zeros(n_levels, dtype=np.int64)
    closing[-1] = n_levels
    below = [np.cumsum(np.append(own[:-1], 0.0)) for own in np.split(counts, starts[1:-1])]
    return Tracks(
        codes=codes,
        kinds=np.full(n_levels, ORDERED if column.ordered else NOMINAL),
        limits=np.stack([row] + [only_t] * (n_levels - 1)),
        levels=closing,
        values=np.diff(starts) - 1,
        starts=starts[:-1],
        counts=counts,
        below=np.concatenate(below),
        running=np.concatenate([np.cumsum(one) - one for one in below]),
    )


def _track(column: Confidential, level: Labels) -> tuple[Labels, Labels]:
    """Return the records' codes and the file's counts of one level; missing values come last."""
    nodes = int(level.max(initial=-1)) + 1
    numbers = np.append(level, nodes)
    return numbers[column.codes], np.bincount(numbers, weights=column.counts, minlength=nodes + 1).astype(np.int64)


def _joined(parts: Sequence[Tracks]) -> Tracks:
    """Put the tracks of several columns one after the other."""
    if not parts:
        return nothing_asked()
    before = np.cumsum([0, *(part.counts.size for part in parts[:-1])])
    shifted = [part._replace(starts=part.starts + shift) for part, shift in zip(parts, before, strict=True)]
    return Tracks(*(np.concatenate(fields) for fields in zip(*shifted, strict=True)))
