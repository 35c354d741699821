"""Refine: lower the error of any partition by moving records between neighbouring groups."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microagg._kernels.diversity import nothing_asked
from microagg._kernels.groups import number_groups
from microagg._kernels.records import Records, take
from microagg._kernels.refine import NEXT, SWEEPS_DONE, MovableGroups, anneal, lay_out, movable, neighbours
from microagg._kernels.sums import exact_sum, group_means
from microagg._kernels.tree import rows_by_leaf, tree_of_records
from microagg.checks import check_between, check_jobs, check_labels, check_option, check_whole
from microagg.diversity import Demand
from microagg.errors import InvalidParameter
from microagg.parallel import in_parallel
from microagg.partition._run import records_and_k
from microagg.partition._units import check_units
from microagg.progress import Progress, Told, part, tell
from microagg.units import Units, held_by

EFFORTS = {"fast": (4000, 4_000_000, 16), "thorough": (80_000, 400_000_000, 2000)}
"""Moves offered to each record, as far as those do not exceed so many in all, and to each in any case."""

MOST_MOVES = 10**12
"""The most moves that can be asked for: some days of them."""

_STARTS, _ROUNDS, _REHEATS = 8, 16, 4  # runs of a thorough search: at first, and from the best in each later round
_LONG = 2000  # sweeps from which a search is worth dividing so
_ENOUGH_MOVES, _ENOUGH_SWEEPS = 1_000_000_000, 100_000  # from both on, another search finds more than a longer one
_HEATS = (0.1, 0.15, 0.2, 0.3)  # where reheats begin
_REHEAT = 0.3  # where one begins that is asked for: hotter ones take more apart than they mend
_COLD = 0.05  # where annealing ends
_NEAR = 12  # records a record may move towards
_SLICE = 200_000  # moves between two calls of progress: some 0.1 s
_LOOK = 200  # records whose neighbours are looked for between two: as long, or a little longer
_LOOKING = 200  # moves that take as long as to look for a record's neighbours
_SETTLING = 8  # sweeps that end a run
_STEPS = 1000  # of the progress, in all
_RESERVE = 0.85  # of a time limit that a schedule is made for


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
    """Lower the squared error of a partition by simulated annealing; never return a worse one.

    Parameters
    ----------
    X : array of shape (n, d)
        The records, scaled as they were when they were grouped.
    labels : array of shape (n,)
        Any partition into groups of at least k.
    k : int
    effort : {"fast", "thorough"} or int
        "fast" anneals once, in well under a second on a few thousand records, and its time grows with their number;
        "thorough" anneals eight times and longer, then goes on from the best. A number is one of moves to offer in
        all.
    sizes : {"variable", "fixed"}
        Whether groups may grow to 2k - 1 records, dissolve and be founded, or keep the sizes they have.
    time_limit : float, optional
        Seconds. With "thorough" the schedule is made to fill them; else it only stops early.
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
    looking = part(progress, 0, looked, _STEPS)
    search = _Search(records, given, k, sizes == "variable", seed, threads, units, demand, looking)
    if time_limit is not None and effort == "thorough":
        seconds = _RESERVE * (time_limit - (time.monotonic() - began))
        moves = max(n, int(seconds * search.speed() * min(threads, _REHEATS)) // n * n)
    deadline = None if time_limit is None else began + time_limit
    rounds = [_Round(moves // n, (_REHEAT,))] if reheat else _rounds(moves, n, once=effort == "fast")
    if stop_after is not None:
        rounds = _until(rounds, stop_after)
    best, stopped = search.run(rounds, deadline, stop_after, part(progress, looked, _STEPS - 1, _STEPS))
    after = squared_error(records, best, partial(tell, progress, _STEPS - 1, _STEPS))
    if after >= before:
        best, after = given, before
    number_groups(best)
    tell(progress, _STEPS, _STEPS)
    return Refinement(best, before, after, moves, stopped, seed)


def check_effort(effort: Any, n: int) -> int:
    """Give the number of moves to offer, a multiple of the number of records."""
    if isinstance(effort, str):
        check_option("effort", effort, EFFORTS)
        each, most, least = EFFORTS[effort]
        return max(min(each, most // n), least) * n
    return max(check_whole("effort", effort, 1, MOST_MOVES, "Or pass 'fast' or 'thorough'.") // n, 1) * n


def squared_error(records: Records, labels: NDArray[np.int64], hear: Callable[[], None] = lambda: None) -> float:
    """Give the squared error of a partition, summed exactly; `hear` is called often."""
    return exact_sum(_errors(records, labels, hear))


def _errors(
    records: Records, labels: NDArray[np.int64], hear: Callable[[], None] = lambda: None
) -> NDArray[np.float64]:
    """Give each record's squared distance from its group's mean."""
    sizes = np.bincount(labels)
    errors = np.zeros(labels.size)
    for column in records.entries[: records.starts[0]]:
        errors += (column - group_means(column[None, :], labels, sizes.size)[0][labels]) ** 2
        hear()
    for height, count, codes in zip(
        records.heights, np.diff(records.starts), records.entries[records.starts[0] :], strict=True
    ):
        of_pair, members = np.unique(labels * count + codes.astype(np.int64), return_inverse=True)
        counts = np.bincount(members)
        shares = counts / sizes[of_pair // count]
        alike = np.bincount(of_pair // count, weights=shares**2)
        errors += height**2 * ((1.0 - 2.0 * shares[members]) + alike[labels])
        hear()
    return errors


class _Round(NamedTuple):
    """Runs that start from the same partition; the best of what they find goes into the next round."""

    sweeps: int  # of each run
    heats: tuple[float, ...]  # the first temperature of each run
    anew: bool = False  # whether they start from the given partition


def _rounds(moves: int, n: int, *, once: bool) -> list[_Round]:
    """Divide so many moves into rounds: a third into long runs from the start, the rest into reheats of the best.

    The more sweeps, the hotter a start pays. Very many moves are divided among several searches first.
    """
    sweeps = moves // n
    if once or sweeps < _LONG:
        return [_Round(sweeps, (_heat(sweeps),), anew=True)]
    searches = max(1, min(moves // _ENOUGH_MOVES, sweeps // _ENOUGH_SWEEPS))
    first = sweeps // (3 * _STARTS * searches)
    later = (sweeps // searches - _STARTS * first) // (_ROUNDS * _REHEATS)
    search = [_Round(first, (_heat(first),) * _STARTS, anew=True)] + [_Round(later, _HEATS)] * _ROUNDS
    return search * searches


def _heat(sweeps: int) -> float:
    return float(min(0.12 * sweeps**0.4, 1.2))


def _until(rounds: list[_Round], stop_after: tuple[int, ...]) -> list[_Round]:
    """Give the rounds up to the one that a time limit ended."""
    last = stop_after[0] if stop_after else -1
    if not 0 <= last < len(rounds) or len(stop_after) != 1 + len(rounds[last].heats):
        raise InvalidParameter(
            "stop_after does not fit this effort. Pass what `stopped` was, with `moves` of the same result as effort."
        )
    return rounds[: last + 1]


def _slices(moves: int) -> list[int]:
    """Divide so many moves into slices."""
    return [_SLICE] * (moves // _SLICE) + [moves % _SLICE] * (moves % _SLICE > 0)


class _Search:
    """The records in an order in which neighbours in space are neighbours in memory, and who is near whom."""

    def __init__(
        self,
        records: Records,
        labels: NDArray[np.int64],
        k: int,
        variable: bool,
        seed: int,
        threads: int,
        units: Units | None,
        demand: Demand | None,
        progress: Progress | None,
    ) -> None:
        n = records.entries.shape[1]
        self.k, self.variable, self.seed, self.threads = k, variable, seed, threads
        pool = tree_of_records(records, partial(tell, progress, 0, 1))
        self.order = rows_by_leaf(pool)
        position = np.empty(n, dtype=np.int64)
        position[self.order] = np.arange(n)
        self.near = np.empty((n, min(_NEAR, n - 1)), dtype=np.int64)
        self.scale = np.empty(n)

        def look(start: int, check: Callable[[], None]) -> None:
            check()
            stop = min(start + _LOOK, n)
            neighbours(pool, records.entries, self.order, position, start, stop, self.near, self.scale)

        in_parallel(look, range(0, n, _LOOK), threads, progress)
        self.records = take(records, self.order)
        marks = np.empty(0, dtype=np.int64) if units is None else units.codes[self.order]
        self.movable = movable(self.records, marks, units is not None and units.in_part)
        self.labels = labels[self.order]
        self.asked = nothing_asked() if demand is None else demand.take(self.order).asked
        self.most = 2 * k - 1 if demand is None else max(2 * k - 1, int(np.bincount(labels).max()))

    def speed(self) -> float:
        """Give the moves offered in a second by one thread, from a trial whose result is thrown away."""
        groups = lay_out(self.movable, self.labels, self.k, self.most)
        counter = np.array(1, dtype=np.uint64)
        self._anneal(10**6, 1.0, 1000, counter, groups)  # compiles
        done, began = 0, time.monotonic()
        while time.monotonic() - began < 0.3:
            self._anneal(10**6, 1.0, 100_000, counter, groups)
            done += 100_000
        return done / (time.monotonic() - began)

    def run(
        self,
        rounds: list[_Round],
        deadline: float | None,
        stop_after: tuple[int, ...] | None,
        progress: Progress | None,
    ) -> tuple[NDArray[np.int64], tuple[int, ...] | None]:
        """Go through the rounds; give the labels in the records' own order, and where a deadline came between."""
        n = self.labels.size
        told = Told(progress, n * sum((one.sweeps + _SETTLING) * len(one.heats) for one in rounds))
        best, stopped = self.labels, None
        of_searches: list[NDArray[np.int64]] = []
        for number, one in enumerate(rounds):
            if one.anew:
                of_searches += [best] if number > 0 else []
                best = self.labels
            limits = [one.sweeps] * len(one.heats)
            if stop_after is not None and number == stop_after[0]:
                limits = [moves // n for moves in stop_after[1:]]
            done = np.zeros(len(one.heats), dtype=np.int64)
            run = partial(self._run, best, number, one, limits, deadline, done, told)
            outcomes = in_parallel(run, range(len(one.heats)), self.threads)
            best = self._best_of(outcomes if one.anew else [best, *outcomes], told)
            if done.min() < one.sweeps * n:
                stopped = (number, *done.tolist())
                break
        labels = np.empty(n, dtype=np.int64)
        labels[self.order] = self._best_of([*of_searches, best], told)
        return labels, stopped

    def _run(
        self,
        start: NDArray[np.int64],
        number: int,
        one: _Round,
        limits: list[int],
        deadline: float | None,
        done: NDArray[np.int64],
        told: Told,
        run: int,
        check: Callable[[], None],
    ) -> NDArray[np.int64]:
        """Anneal once, as far as the limit of this run and the deadline allow; enter the moves in `done`."""
        n = self.labels.size
        groups = lay_out(self.movable, start, self.k, self.most)
        search, number = divmod(number, _ROUNDS + 1)
        stream = ((self.seed * (_ROUNDS + 1) + number) * _STARTS + run + (search << 40)) * 0xD1342543DE82EF95
        counter = np.array(stream % 2**64, dtype=np.uint64)
        while groups.state[SWEEPS_DONE] < limits[run] and (deadline is None or time.monotonic() < deadline):
            sweeps = min(_SLICE // n + 1, limits[run] - int(groups.state[SWEEPS_DONE]))
            for budget in _slices(sweeps * n):  # a deadline ends whole sweeps, so that the same can be done again
                self._anneal(one.sweeps, one.heats[run], budget, counter, groups)
                check()
                told(budget)
            done[run] = groups.state[SWEEPS_DONE] * n
        groups.state[NEXT] = groups.state[SWEEPS_DONE] = 0
        for budget in _slices(_SETTLING * n):  # what moves lower the error is made at the end of any schedule
            self._anneal(_SETTLING, 0.0, budget, counter, groups, cold=0.0)
            check()
            told(budget)
        return groups.labels

    def _anneal(
        self,
        sweeps: int,
        hot: float,
        budget: int,
        counter: NDArray[np.uint64],
        groups: MovableGroups,
        cold: float = _COLD,
    ) -> None:
        moved = self.movable, self.asked, self.k, self.most, self.variable, self.near, self.scale
        anneal(*moved, hot, cold, sweeps, budget, counter, groups)

    def _best_of(self, partitions: list[NDArray[np.int64]], told: Told) -> NDArray[np.int64]:
        """Take the best partition, and from each of the others what is better there and can be taken by itself."""
        if len(partitions) == 1:
            return partitions[0]
        from scipy.sparse import coo_array  # no need of it for a fast search
        from scipy.sparse.csgraph import connected_components

        hear = partial(told, 0)
        errors = [_errors(self.records, labels, hear) for labels in partitions]
        by_error = sorted(range(len(partitions)), key=lambda number: (exact_sum(errors[number]), number))
        best, error = partitions[by_error[0]], errors[by_error[0]]
        for number in by_error[1:]:
            labels = partitions[number]
            n_best, n_labels = int(best.max()) + 1, int(labels.max()) + 1
            shared = coo_array((np.ones(best.size, dtype=np.int8), (best, n_best + labels)), (n_best + n_labels,) * 2)
            n_parts, part_of_group = connected_components(shared, directed=False)
            part = part_of_group[best]  # no group of either partition lies in two parts
            gain = np.bincount(part, error - errors[number], n_parts)
            taken = gain[part] > 1e-9 * np.bincount(part, error, n_parts)[part]
            if taken.any():
                best = np.unique(np.where(taken, n_best + labels, best), return_inverse=True)[1]
                error = _errors(self.records, best, hear)
        return best
