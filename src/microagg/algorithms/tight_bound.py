"""A tight lower bound of the squared error of any partition, for small files, by column generation."""

import time
from dataclasses import dataclass
from functools import partial
from math import fsum
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microagg.algorithms._annealing import Search, errors_of
from microagg.algorithms._cover import Columns, GroupPool, broken_cuts, relax
from microagg.algorithms._run import records_and_k
from microagg.algorithms.kernels.bounds import CutLists, dearest_groups, empty_lists
from microagg.algorithms.kernels.records import Records, coordinates
from microagg.algorithms.mdav import mdav
from microagg.checks import check_between, check_whole
from microagg.errors import InvalidParameter
from microagg.work import ALONE, Progress, tell

MOST_RECORDS = 5000
"""The most records that a bound is computed for: all distances are kept in memory."""

_RUNS, _SWEEPS = 24, 1000  # of annealing, for the first groups
_SLICE = 50  # records that groups are looked for between two calls of progress
_LEAST = 1e-7  # of the mean price: an excess that is not looked for
_ROUNDING = 1e-9  # of all prices, that the bound is lowered by
_NEAR = 2e-4  # of the bound: when a programme can add so little, it is tightened by cuts
_DONE = 1e-5  # of the bound: when it can add so little, and there are no more cuts, that is the end
_STAY = 0.6  # as far prices stay at the best so far


@dataclass(frozen=True, eq=False)
class TightBound:
    """A squared error that no partition into groups of at least k can be below, and why.

    Attributes
    ----------
    squared_error : float
    percent : float
        The same, in percent of the squared distances from the mean of all records.
    rounds : int
        Linear programmes that were solved.
    prices : array of shape (n,)
        Of each record; their sum and that of `penalties` is the bound.
    triples, penalties : arrays of shape (cuts, 3) and (cuts,)
        What a group that has two or more of three records is charged, which at most one group of a partition has. No
        group of k to 2k - 1 records has a squared error below the sum of its members' prices and its penalties, which
        are negative; that proves the bound.

    Examples
    --------
    >>> import microagg as ma
    >>> from microagg.algorithms.tight_bound import tight_bound
    >>> X = ma.datasets.normal(100, 3, seed=0)
    >>> bound = tight_bound(X, k=3)
    >>> found = ma.refine(X, ma.MDAV(k=3).fit_predict(X), k=3, effort="thorough")
    >>> 0.97 * found.after < bound.squared_error <= found.after
    True
    """

    squared_error: float
    percent: float
    rounds: int
    prices: NDArray[np.float64]
    triples: NDArray[np.int64]
    penalties: NDArray[np.float64]

    def __repr__(self) -> str:
        return f"TightBound: no partition has a squared error below {self.squared_error:.6g}, {self.percent:.4f} %"


def tight_bound(
    X: ArrayLike | Records,
    k: int,
    *,
    rounds: int = 200,
    steps: int = 20_000,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> TightBound:
    """Return a squared error that no partition into groups of at least k can be below, by linear programming.

    Parameters
    ----------
    X : array of shape (n, d)
        At most 5000 records, with the scaling with which they are grouped.
    k : int
    rounds : int
        Linear programmes to solve at most. The bound holds after each.
    steps : int
        How long to look in each round, at most, for the group of each record that is worth most.
    time_limit : float, optional
        Seconds, after which no further round begins.
    progress : callable, optional
        Called as progress(done, in all), often; what it raises stops the work.

    Returns
    -------
    TightBound

    Examples
    --------
    >>> import numpy as np
    >>> from microagg.algorithms.tight_bound import tight_bound
    >>> tight_bound(np.array([[0.0], [1.0], [5.0], [6.0]]), k=2)
    TightBound: no partition has a squared error below 1, 3.8462 %
    """
    records, k = records_and_k(X, k)
    n = records.entries.shape[1]
    if n > MOST_RECORDS:
        raise InvalidParameter(
            f"there are {n} records, and linear programming bounds the loss of at most {MOST_RECORDS}. "
            "Pass fewer, or call `loss_bound` with method='neighbours'."
        )
    rounds = check_whole("rounds", rounds, 1, 10**6)
    steps = check_whole("steps", steps, 1, 10**12)
    if time_limit is not None:
        time_limit = check_between("time_limit", time_limit, 0.0, 1e9, "It is a number of seconds.")
    points = coordinates(records).T
    total = float(((points - points.mean(axis=0)) ** 2).sum())
    scale = total / n if total > 0 else 1.0  # tolerances of programmes are absolute
    deadline = None if time_limit is None else time.monotonic() + time_limit
    if n < 2 * k or total == 0.0:
        return TightBound(
            total, 100.0 * (total > 0.0), 0, np.full(n, total / n), np.empty((0, 3), dtype=np.int64), np.empty(0)
        )
    pool = GroupPool(n)
    search = Search(records, mdav(records, k), k, True, 0, ALONE, None, None)
    for found in search.starts(_RUNS, _SWEEPS, partial(tell, progress, 0, rounds)):
        pool.add(found, errors_of(records, found))
    columns = pool.groups._replace(errors=pool.groups.errors / scale)
    best, done = _generate(_Pricing(points, scale, k, steps), columns, rounds, deadline, progress)
    tell(progress, rounds, rounds)
    bound = max(0.0, best.sum()) * scale
    return TightBound(bound, 100.0 * bound / total, done, best.prices * scale, best.triples, best.penalties * scale)


class _Prices(NamedTuple):
    """Prices of records, and of the triples of cuts the penalties, which are negative or 0."""

    prices: NDArray[np.float64]
    triples: NDArray[np.int64]
    penalties: NDArray[np.float64]

    def sum(self) -> float:
        return fsum(self.prices) + fsum(self.penalties)

    def towards(self, other: "_Prices", share: float) -> "_Prices":
        """Go this share of the way to other prices, whose first cuts are the same."""
        before = np.zeros(len(other.penalties))
        before[: len(self.penalties)] = self.penalties
        return _Prices(
            self.prices + share * (other.prices - self.prices),
            other.triples,
            before + share * (other.penalties - before),
        )


def _generate(
    pricing: "_Pricing",
    columns: Columns,
    rounds: int,
    deadline: float | None,
    progress: Progress | None,
) -> tuple[_Prices, int]:
    """Solve programmes, each with the groups that are worth more than they cost by the prices of the last."""
    triples = np.empty((0, 3), dtype=np.int64)
    best: _Prices | None = None
    done = 0
    while done < rounds and (best is None or deadline is None or time.monotonic() < deadline):
        found = relax(columns, list(triples))
        if found is None:  # the solver gave up: what is proved stays proved
            break
        done += 1
        wanted = _Prices(found.prices, triples, np.minimum(found.penalties, 0.0))
        tried = wanted if best is None else best.towards(wanted, 1.0 - _STAY)
        repaired, new = pricing.repair(tried, partial(tell, progress, done - 1, rounds))
        if best is None or repaired.sum() > best.sum():
            best = repaired
        rise = found.error - best.sum()
        columns = columns.join(new)
        if rise < _NEAR * found.error:
            more = np.array(broken_cuts(columns.first(found.shares.size), found.shares), dtype=np.int64).reshape(-1, 3)
            if len(more) == 0 and rise < _DONE * found.error:
                break
            triples = np.concatenate((triples, more))
    if best is None:
        best = _Prices(np.zeros(columns.n), triples, np.zeros(len(triples)))
    return best, done


class _Pricing:
    """Looks for groups that are worth more than their squared error."""

    def __init__(self, points: NDArray[np.float64], scale: float, k: int, steps: int) -> None:
        from scipy.spatial.distance import cdist  # it takes long to import

        # Differences first: to shift or scale records before would round away what two neighbours differ by.
        self._squared = cdist(points, points, "sqeuclidean") / scale
        others = self._squared + np.diag(np.full(len(points), np.inf))
        smallest = np.sort(np.partition(others, min(2 * k, len(points)) - 1, axis=1)[:, : 2 * k - 1], axis=1)
        self._nearest = np.concatenate((np.zeros((len(points), 1)), np.cumsum(smallest, axis=1)), axis=1)
        self._k, self._steps = k, steps
        self._lists = empty_lists(len(points), k)

    def repair(self, prices: _Prices, hear: "partial[None]") -> tuple[_Prices, Columns]:
        """Lower prices until no group is worth more than its squared error; give the groups that were.

        The most expensive record comes first. A group's excess is taken off the price of its first record.
        """
        n, k = self._squared.shape[0], self._k
        order = np.argsort(-prices.prices, kind="stable")
        position = np.empty(n, dtype=np.int64)
        position[order] = np.arange(n)
        squared = np.ascontiguousarray(self._squared[np.ix_(order, order)])
        nearest = np.ascontiguousarray(self._nearest[order])
        cuts = _laid_out(position[prices.triples], -prices.penalties, n)
        least = _LEAST * float(np.abs(prices.prices).mean())
        groups, sizes = np.zeros((n, 2 * k - 1), dtype=np.int64), np.zeros(n, dtype=np.int64)
        excesses, bounds = np.zeros(n), np.zeros(n)
        given = squared, nearest, prices.prices[order], cuts, k, least, self._steps
        for start in range(0, n, _SLICE):
            stop = min(start + _SLICE, n)
            dearest_groups(*given, start, stop, self._lists, groups, sizes, excesses, bounds)
            hear()
        lowered = prices.prices.copy()
        lowered[order] -= bounds
        lowered -= _ROUNDING * np.abs(prices.prices).mean()
        found = [np.sort(order[groups[i, : sizes[i]]]) for i in np.flatnonzero(sizes)]
        errors = [float(self._squared[np.ix_(rows, rows)].sum()) / (2.0 * rows.size) for rows in found]
        members = np.concatenate(found) if found else np.empty(0, dtype=np.int64)
        return prices._replace(prices=lowered), Columns(members, sizes[sizes > 0], np.array(errors), n)


def _laid_out(triples: NDArray[np.int64], penalties: NDArray[np.float64], n: int) -> CutLists:
    """List the cuts at each of their records."""
    some = penalties > 0.0
    triples, penalties = triples[some], penalties[some]
    ones = triples.T.ravel()
    others = np.concatenate((triples[:, [1, 2]], triples[:, [0, 2]], triples[:, [0, 1]]))
    order = np.argsort(ones, kind="stable")
    starts = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(np.bincount(ones, minlength=n))))
    return CutLists(starts, np.ascontiguousarray(others[order]), np.tile(penalties, 3)[order])
