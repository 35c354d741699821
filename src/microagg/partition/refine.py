"""Refine: lower the error of any partition by moving records between neighbouring groups."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microagg._kernels.groups import number_groups
from microagg._kernels.refine import Groups, anneal, lay_out, neighbours
from microagg._kernels.sums import exact_sum, exact_sums, group_means
from microagg._kernels.tree import make_tree
from microagg.checks import check_between, check_jobs, check_labels, check_option, check_whole, matrix_and_k
from microagg.errors import InvalidParameter
from microagg.parallel import in_parallel
from microagg.partition._run import Progress, tell

EFFORTS = {"fast": (2000, 2_000_000, 24), "thorough": (20_000, 200_000_000, 2000)}
"""Moves offered to each record, as far as those do not exceed so many in all, and to each in any case."""

_CHAINS = 4  # independent runs of a thorough search, of which the best is taken
_NEAR = 12  # records a record may move towards
_SLICE = 1_000_000  # moves between two looks at the clock: some 0.1 s
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
        Where a time limit ended the schedule early, the moves that each chain had done: pass it as `stop_after` too.
    seed : int

    Examples
    --------
    >>> import microagg as ma
    >>> X = ma.datasets.uniform(500, 3, seed=0)
    >>> found = ma.refine(X, ma.MDAV(k=3).fit_predict(X), k=3)
    >>> found.after < 0.95 * found.before
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
    X: ArrayLike,
    labels: ArrayLike,
    k: int,
    *,
    effort: str | int = "fast",
    sizes: str = "variable",
    time_limit: float | None = None,
    seed: int = 0,
    stop_after: tuple[int, ...] | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
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
        "fast" takes well under a second on a few thousand records and grows with their number; "thorough" anneals
        four times from different seeds, each some ten to a hundred times as long. A number is one of moves to offer
        in each of four runs.
    sizes : {"variable", "fixed"}
        Whether groups may grow to 2k - 1 records, dissolve and be founded, or keep the sizes they have.
    time_limit : float, optional
        Seconds. With "thorough" the schedule is made to fill them; else it only stops early.
    seed : int
        The result is a function of it, of the data and of the number of moves.
    stop_after : tuple of int, optional
        Stop each chain after so many moves, as a time limit did before (see `Refinement.stopped`).
    n_jobs : int, optional
        Threads; by default one a core. The result does not depend on it.
    progress : callable, optional
        Called as progress(moves done, moves in all).

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
    columns, k = matrix_and_k(X, k)
    d, n = columns.shape
    given = check_labels(labels, n, d)
    if given.ndim == 2 or np.bincount(given).min() < k:
        raise InvalidParameter(f"labels must put each record into one group of at least k={k}. Pass such a partition.")
    check_option("sizes", sizes, ("variable", "fixed"))
    moves = _check_effort(effort, n)
    seed = check_whole("seed", seed, 0, 2**62)
    if time_limit is not None:
        time_limit = check_between("time_limit", time_limit, 0.0, 1e9, "It is a number of seconds.")
    threads = check_jobs(n_jobs)
    began = time.monotonic()
    before = _error(columns, given)
    if n < 2 * k or before == 0.0:  # one group, or nothing to gain
        number_groups(given)
        return Refinement(given, before, before, 0, None, seed)
    search = _Search(columns, given, k, sizes == "variable", before / n, seed, threads)
    chains = 1 if effort == "fast" else _CHAINS
    if stop_after is not None and len(stop_after) != chains:
        raise InvalidParameter(f"stop_after must give the moves of each of {chains} chains. Pass what `stopped` was.")
    if time_limit is not None and effort == "thorough":
        speed = search.speed() * min(chains, threads) / chains
        moves = max(n, int(_RESERVE * (time_limit - (time.monotonic() - began)) * speed) // n * n)
    deadline = None if time_limit is None else began + time_limit
    found, stopped = search.run(max(1, moves // n), chains, deadline, stop_after, progress)
    labels_found, after = min(((labels, _error(columns, labels)) for labels in found), key=lambda pair: pair[1])
    if after >= before:
        labels_found, after = given, before
    number_groups(labels_found)
    return Refinement(labels_found, before, after, moves, stopped, seed)


def _check_effort(effort: Any, n: int) -> int:
    """Give the number of moves to offer, a multiple of the number of records."""
    if isinstance(effort, str):
        check_option("effort", effort, EFFORTS)
        each, most, least = EFFORTS[effort]
        return max(min(each, most // n), least) * n
    return max(check_whole("effort", effort, 1, None, "Or pass 'fast' or 'thorough'.") // n, 1) * n


def _error(columns: NDArray[np.float64], labels: NDArray[np.int64]) -> float:
    """Give the squared error of a partition, summed exactly."""
    means = group_means(columns, labels, int(labels.max()) + 1)
    return sum(exact_sum((column - mean[labels]) ** 2) for column, mean in zip(columns, means, strict=True))


class _Search:
    """The records in an order in which neighbours in space are neighbours in memory, and who is near whom."""

    def __init__(
        self,
        columns: NDArray[np.float64],
        labels: NDArray[np.int64],
        k: int,
        variable: bool,
        unit: float,
        seed: int,
        threads: int,
    ) -> None:
        n = columns.shape[1]
        self.k, self.variable, self.unit, self.seed, self.threads = k, variable, unit, seed, threads
        pool = make_tree(columns, np.arange(n), exact_sums(columns), np.empty(n, dtype=np.int64))
        self.order = np.argsort(pool.place)
        position = np.empty(n, dtype=np.int64)
        position[self.order] = np.arange(n)
        self.near = np.empty((n, min(_NEAR, n - 1)), dtype=np.int64)

        def look(start: int, check: Callable[[], None]) -> None:
            check()
            neighbours(pool, columns, self.order, position, start, min(start + 10_000, n), self.near)

        in_parallel(look, range(0, n, 10_000), threads)
        self.points = np.ascontiguousarray(columns.T[self.order])
        self.labels = labels[self.order]

    def _temperatures(self, sweeps: int) -> tuple[float, float]:
        """Give the first and last temperature: the more sweeps, the hotter a start pays."""
        hot = 0.05 * sweeps**0.4
        return min(hot, 2.0) * self.unit, 0.04 * self.unit

    def speed(self) -> float:
        """Give the moves offered in a second, from a trial whose result is thrown away."""
        groups = lay_out(self.points, self.labels, self.k)
        hot, cold = self._temperatures(10**6)
        counter = np.array([1], dtype=np.uint64)
        anneal(self.points, self.k, self.variable, self.near, hot, cold, 10**6, 1000, counter, groups)  # compiles
        done, began = 0, time.monotonic()
        while time.monotonic() - began < 0.3:
            anneal(self.points, self.k, self.variable, self.near, hot, cold, 10**6, 100_000, counter, groups)
            done += 100_000
        return done / (time.monotonic() - began)

    def run(
        self,
        sweeps: int,
        chains: int,
        deadline: float | None,
        stop_after: tuple[int, ...] | None,
        progress: Progress | None,
    ) -> tuple[list[NDArray[np.int64]], tuple[int, ...] | None]:
        """Anneal from each seed; give the labels of each, in the records' own order, and where it was stopped."""
        n = self.labels.size
        done = np.zeros(chains, dtype=np.int64)

        def chain(number: int, check: Callable[[], None]) -> NDArray[np.int64]:
            groups = lay_out(self.points, self.labels, self.k)
            counter = np.array([self.seed * _CHAINS + number], dtype=np.uint64) * np.uint64(0xD1342543DE82EF95)
            last = sweeps if stop_after is None else min(sweeps, stop_after[number] // n)
            while groups.state[2] < last:
                self._anneal(sweeps, min(_SLICE // n + 1, last - int(groups.state[2])) * n, counter, groups)
                check()
                done[number] = groups.state[2] * n
                tell(progress, int(done.sum()), chains * sweeps * n)
                if deadline is not None and time.monotonic() > deadline:
                    break
            self._settle(groups, counter)
            labels = np.empty(n, dtype=np.int64)
            labels[self.order] = groups.labels
            return labels

        found = in_parallel(chain, range(chains), self.threads)
        return found, tuple(done.tolist()) if done.min() < sweeps * n else None

    def _anneal(self, sweeps: int, budget: int, counter: NDArray[np.uint64], groups: Groups) -> None:
        hot, cold = self._temperatures(sweeps)
        anneal(self.points, self.k, self.variable, self.near, hot, cold, sweeps, budget, counter, groups)

    def _settle(self, groups: Groups, counter: NDArray[np.uint64]) -> None:
        """Make what moves lower the error, at the end of any schedule."""
        groups.state[1:3] = 0
        anneal(self.points, self.k, self.variable, self.near, 0.0, 0.0, 8, 1 << 62, counter, groups)
