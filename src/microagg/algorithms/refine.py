"""Refine: lower the error of any partition by moving records between neighbouring groups."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microagg.algorithms._annealing import Round, Search, errors_of
from microagg.algorithms._run import records_and_k
from microagg.algorithms.diversity.demand import Demand
from microagg.algorithms.kernels.groups import number_groups
from microagg.algorithms.kernels.records import Records
from microagg.algorithms.kernels.sums import exact_sum
from microagg.algorithms.units import Units, check_units, held_by
from microagg.checks import check_between, check_jobs, check_labels, check_option, check_whole
from microagg.errors import InvalidParameter
from microagg.work import Progress, Work, part, tell

EFFORTS = {"fast": (4000, 4_000_000, 16), "thorough": (80_000, 400_000_000, 2000)}
"""Moves offered to each record, as far as those do not exceed so many in all, and to each in any case."""

MOST_MOVES = 10**12
"""The most moves that can be asked for: some days of them."""

_STARTS, _ROUNDS, _REHEATS = 24, 16, 8  # runs of a thorough search: at first, and from the best in each later round
_LONG = 2000  # sweeps from which a search is worth dividing so
_ENOUGH_MOVES, _ENOUGH_SWEEPS = 1_000_000_000, 100_000  # from both on, another search finds more than a longer one
_HEATS = (0.1, 0.15, 0.2, 0.3) * (_REHEATS // 4)  # where reheats begin
_REHEAT = 0.3  # where one begins that is asked for: hotter ones take more apart than they mend
_LOOKING = 200  # moves that take as long as to look for a record's neighbours
_STEPS = 1000  # of the progress, in all
_MOST_ROUNDS = 10**6  # that a time limit can be filled with
_RESERVE = 0.4  # of a time limit that a schedule is made for; to recombine takes the rest, and what is left is filled


@dataclass(frozen=True, eq=False)
class Refinement:
    """A partition that was refined, and what it took.

    Attributes
    ----------
    labels : array of shape (n,)
        Numbered by lowest row; every group has at least k records.
    before, after : float
        The squared error of the partition that was given, and of this one.
    moves : int
        Moves that the schedule was made for: pass it as `effort`, with the same seed, to do the same again.
    stopped : tuple of int, or None
        Where a time limit ended the schedule early, in which round, and the moves that each run had done in it: pass it
        as `stop_after` too.
    seed : int

    Examples
    --------
    >>> import microagg as ma
    >>> X = ma.datasets.uniform(500, 3, seed=0)
    >>> better = ma.refine(X, ma.MDAV(k=3).fit_predict(X), k=3)
    >>> better.after < 0.95 * better.before
    True
    """

    labels: NDArray[np.int64]
    before: float
    after: float
    moves: int
    stopped: tuple[int, ...] | None
    seed: int

    def __repr__(self) -> str:
        less = 100.0 * (1.0 - self.after / self.before) if self.before > 0 else 0.0
        return f"Refinement: squared error {self.before:.6g} lowered to {self.after:.6g}, {less:.1f} % less"


def refine(
    X: ArrayLike | Records,
    labels: ArrayLike,
    k: int,
    *,
    effort: str | int = "fast",
    sizes: str = "variable",
    time_limit: float | None = None,
    seed: int = 0,
    stop_after: tuple[int, ...] | None = None,
    reheat: bool = False,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    units: Units | None = None,
    demand: Demand | None = None,
) -> Refinement:
    """Lower the squared error of a partition by annealing and recombining; never return a worse one.

    Parameters
    ----------
    X : array of shape (n, d)
        The records, scaled as they were when they were grouped.
    labels : array of shape (n,)
        Any partition into groups of at least k.
    k : int
    effort : {"fast", "thorough"} or int
        "fast" anneals once, in well under a second on a few thousand records, and its time grows with their number;
        "thorough" anneals 24 times and longer, goes on from the best, and puts the groups of all runs together anew.
        A number is one of moves to offer in all.
    sizes : {"variable", "fixed"}
        Whether groups may grow to 2k - 1 records, dissolve and be founded, or keep the sizes they have.
    time_limit : float, optional
        Seconds. With "thorough" they are filled; else it only stops early.
    seed : int
        The result is a function of it, of the data, in which the order of rows counts, and of the number of moves.
    stop_after : tuple of int, optional
        Stop in this round, each run after so many moves, as a time limit did before (see `Refinement.stopped`).
    reheat : bool
        Whether `labels` are good but for some places, such as borders between parts that were refined one by one: half
        the moves are offered, from low heat, and what they make better is taken place by place.
    n_jobs : int, optional
        Threads; by default one a core. The result does not depend on it.
    progress : callable, optional
        Called as progress(done, in all), often; what it raises stops the work.
    units : Units, optional
        The unit of each record. Every group keeps k of them, as every group of `labels` must.
    demand : Demand, optional
        What every group keeps of confidential columns, as every group of `labels` must. Groups may then grow as large
        as the largest that was given.

    Returns
    -------
    Refinement

    Examples
    --------
    >>> import microagg as ma
    >>> X = ma.datasets.normal(300, 4, seed=0)
    >>> labels = ma.MDAV(k=5).fit_predict(X)
    >>> ma.information_loss(X, ma.refine(X, labels, k=5).labels).percent < ma.information_loss(X, labels).percent
    True
    """
    records, k = records_and_k(X, k)
    d, n = records.entries.shape
    given = check_labels(labels, n, d)
    if given.ndim == 2 or np.bincount(given).min() < k:
        raise InvalidParameter(f"labels must put each record into one group of at least k={k}. Pass such a partition.")
    check_units(units, n, k)
    if units is not None and held_by(given, units.codes, int(given.max()) + 1).short(k, units.in_part).any():
        raise InvalidParameter(f"labels must keep k={k} units in each group. Pass such a partition.")
    if demand is not None and not demand.kept(given):
        raise InvalidParameter("labels must keep the demand on confidential columns. Pass such a partition.")
    check_option("sizes", sizes, ("variable", "fixed"))
    moves = check_effort(effort, n)
    if reheat:
        moves = max(moves // n // 2, 1) * n
    seed = check_whole("seed", seed, 0, 2**62)
    if time_limit is not None:
        time_limit = check_between("time_limit", time_limit, 0.0, 1e9, "It is a number of seconds.")
    threads = check_jobs(n_jobs)
    began = time.monotonic()
    hear = partial(tell, progress, 0, _STEPS)
    before = squared_error(records, given, hear)
    needed_whole = demand is not None and given.max() == 0  # nothing smaller kept the demand
    if n < 2 * k or before == 0.0 or needed_whole:  # one group, or nothing to gain
        number_groups(given)
        tell(progress, _STEPS, _STEPS)
        return Refinement(given, before, before, 0, None, seed)
    looked = _STEPS * _LOOKING * n // (_LOOKING * n + moves)
    looking = Work(threads, part(progress, 0, looked, _STEPS))
    search = Search(records, given, k, sizes == "variable", seed, looking, units, demand)
    if time_limit is not None and effort == "thorough":
        seconds = _RESERVE * (time_limit - (time.monotonic() - began))
        moves = max(n, int(seconds * search.speed() * min(threads, _REHEATS)) // n * n)
    deadline = None if time_limit is None else began + time_limit
    rounds = [Round(moves // n, (_REHEAT,))] if reheat else _rounds(moves, n, once=effort == "fast")
    filling = _filling(rounds) if time_limit is not None and effort == "thorough" and len(rounds) > 1 else None
    if stop_after is not None:
        rounds, filling = _until(rounds, stop_after), None
    best, stopped = search.run(rounds, filling, deadline, stop_after, part(progress, looked, _STEPS - 1, _STEPS))
    after = squared_error(records, best, partial(tell, progress, _STEPS - 1, _STEPS))
    if after >= before:
        best, after = given, before
    number_groups(best)
    tell(progress, _STEPS, _STEPS)
    return Refinement(best, before, after, moves, stopped, seed)


def check_effort(effort: Any, n: int) -> int:
    """Return the number of moves to offer, a multiple of the number of records."""
    if isinstance(effort, str):
        check_option("effort", effort, EFFORTS)
        each, most, least = EFFORTS[effort]
        return max(min(each, most // n), least) * n
    return max(check_whole("effort", effort, 1, MOST_MOVES, "Or pass 'fast' or 'thorough'.") // n, 1) * n


def squared_error(records: Records, labels: NDArray[np.int64], hear: Callable[[], None] = lambda: None) -> float:
    """Return the squared error of a partition, summed exactly; `hear` is called often."""
    return exact_sum(errors_of(records, labels, hear))


def _rounds(moves: int, n: int, *, once: bool) -> list[Round]:
    """Divide so many moves into rounds: a third into long runs from the start, the rest into reheats of the best.

    The more sweeps, the hotter a start pays. Very many moves are divided among several searches first.
    """
    sweeps = moves // n
    if once or sweeps < _LONG:
        return [Round(sweeps, (_heat(sweeps),), anew=True)]
    searches = max(1, min(moves // _ENOUGH_MOVES, sweeps // _ENOUGH_SWEEPS))
    first = sweeps // (3 * _STARTS * searches)
    later = (sweeps // searches - _STARTS * first) // (_ROUNDS * _REHEATS)
    search = [Round(first, (_heat(first),) * _STARTS, anew=True)] + [Round(later, _HEATS)] * _ROUNDS
    return search * searches


def _filling(rounds: list[Round]) -> Round:
    """Return the round that follows the last one of a schedule, again and again, until the time is over."""
    return rounds[-1]._replace(joined=True)


def _heat(sweeps: int) -> float:
    return float(min(0.12 * sweeps**0.4, 1.2))


def _until(rounds: list[Round], stop_after: tuple[int, ...]) -> list[Round]:
    """Return the rounds up to the one that a time limit ended."""
    last = stop_after[0] if stop_after else -1
    if len(rounds) > 1:  # rounds like the last one filled the time
        rounds = rounds + [_filling(rounds)] * (min(last, _MOST_ROUNDS) + 1 - len(rounds))
    if not 0 <= last < len(rounds) or len(stop_after) != 1 + len(rounds[last].heats):
        raise InvalidParameter(
            "stop_after does not fit this effort. Pass what `stopped` was, with `moves` of the same result as effort."
        )
    return rounds[: last + 1]
