"""The search behind `refine`: rounds of annealing, and after each the best of all groups that were found."""

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms._cover import GroupPool
from microagg.algorithms.diversity.demand import Demand
from microagg.algorithms.kernels.diversity import nothing_asked
from microagg.algorithms.kernels.records import Records, take
from microagg.algorithms.kernels.refine import NEXT, SWEEPS_DONE, MovableGroups, anneal, lay_out, movable, neighbours
from microagg.algorithms.kernels.sums import exact_sum, group_means
from microagg.algorithms.kernels.tree import rows_by_leaf, tree_of_records
from microagg.algorithms.units import Units
from microagg.work import Progress, SharedProgress, Work, in_parallel

_COLD = 0.05  # where annealing ends
_NEAR = 12  # records a record may move towards
_SLICE = 200_000  # moves between two calls of progress: some 0.1 s
_LOOK = 200  # records whose neighbours are looked for between two: as long, or a little longer
_SETTLING = 8  # sweeps that end a run
_STREAMS = 136  # apart from each other are the streams of two seeds
_RECOMBINED = 20_000  # the most records whose groups are recombined
_PROGRAMME = 50_000  # moves that take about as long as a linear programme


class Round(NamedTuple):
    """Runs that start from the same partition; the best of what they find goes into the next round."""

    sweeps: int  # of each run
    heats: tuple[float, ...]  # the first temperature of each run
    anew: bool = False  # whether they start from the given partition: another search
    joined: bool = False  # whether they start from the best of all searches


def errors_of(
    records: Records, labels: NDArray[np.int64], hear: Callable[[], None] = lambda: None
) -> NDArray[np.float64]:
    """Return each record's squared distance from its group's mean."""
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


def _same_sizes(one: NDArray[np.int64], other: NDArray[np.int64], part: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return whether two partitions have groups of the same sizes, for each part of the records that none crosses."""
    # Records, sorted by their part and by the size of their group, have the same sizes only where the parts' groups do.
    sizes = [np.bincount(labels)[labels] for labels in (one, other)]
    one_sorted, other_sorted = (own[np.lexsort((own, part))] for own in sizes)
    same = np.ones(int(part.max()) + 1, dtype=bool)
    same[np.sort(part)[one_sorted != other_sorted]] = False
    return same


class Search:
    """The records in an order in which neighbours in space are neighbours in memory, and who is near whom."""

    def __init__(
        self,
        records: Records,
        labels: NDArray[np.int64],
        k: int,
        variable: bool,
        seed: int,
        work: Work,
        units: Units | None,
        demand: Demand | None,
    ) -> None:
        n = records.entries.shape[1]
        self.k, self.variable, self.seed, self.threads = k, variable, seed, work.n_jobs
        pool = tree_of_records(records, partial(work.tell, 0, 1))
        self.order = rows_by_leaf(pool)
        position = np.empty(n, dtype=np.int64)
        position[self.order] = np.arange(n)
        self.near = np.empty((n, min(_NEAR, n - 1)), dtype=np.int64)
        self.scale = np.empty(n)

        def look(start: int, check: Callable[[], None]) -> None:
            check()
            stop = min(start + _LOOK, n)
            neighbours(pool, records.entries, self.order, position, start, stop, self.near, self.scale)

        work.each(look, range(0, n, _LOOK))
        self.records = take(records, self.order)
        marks = np.empty(0, dtype=np.int64) if units is None else units.codes[self.order]
        self.movable = movable(self.records, marks, units is not None and units.in_part)
        self.labels = labels[self.order]
        self.asked = nothing_asked() if demand is None else demand.take(self.order).asked
        self.most = 2 * k - 1 if demand is None else max(2 * k - 1, int(np.bincount(labels).max()))

    def speed(self) -> float:
        """Return the moves offered in a second by one thread, from a trial whose result is thrown away."""
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
        rounds: Sequence[Round],
        filling: Round | None,
        deadline: float | None,
        stop_after: tuple[int, ...] | None,
        progress: Progress | None,
    ) -> tuple[NDArray[np.int64], tuple[int, ...] | None]:
        """Go through the rounds; give the labels in the records' own order, and where a deadline came between.

        With a round for `filling`, that follows again and again until the deadline.
        """
        n = self.labels.size
        told = SharedProgress(progress, n * sum((one.sweeps + _SETTLING) * len(one.heats) for one in rounds))
        pool = GroupPool(n) if len(rounds) > 1 and n <= _RECOMBINED else None
        best, stopped = self.labels, None
        of_searches: list[NDArray[np.int64]] = []
        number = 0
        while True:
            one = rounds[number] if number < len(rounds) else filling
            if one is None:
                break
            if number > 0 and (one.anew or one.joined):
                of_searches.append(best)
            if one.anew:
                best = self.labels
            elif one.joined:
                best, of_searches = self._best_of(of_searches, told), []
            limits = [one.sweeps] * len(one.heats)
            is_last = stop_after is not None and number == stop_after[0]
            if is_last and stop_after is not None:
                limits = [moves // n for moves in stop_after[1:]]
            run = partial(self._run, best, number, one, limits, deadline, told)
            outcomes, done = zip(*in_parallel(run, range(len(one.heats)), self.threads), strict=True)
            best = self._best_of([*outcomes] if one.anew else [best, *outcomes], told)
            if is_last or min(done) < one.sweeps * n:
                stopped = (number, *done)
                break
            if pool is not None:
                recombined = self._recombine(pool, [best, *outcomes], number, sum(done), deadline, told)
                if recombined is None:
                    stopped = (number, *done)
                    break
                best = recombined
            number += 1
        labels = np.empty(n, dtype=np.int64)
        labels[self.order] = self._best_of([*of_searches, best], told)
        return labels, stopped

    def starts(self, runs: int, sweeps: int, hear: Callable[[], None]) -> Iterator[NDArray[np.int64]]:
        """Anneal so often from the given partition; give what comes out, in the records' own order."""
        for run in range(runs):
            one = Round(sweeps, (1.0,) * runs, anew=True)
            found, _ = self._run(self.labels, 0, one, [sweeps] * runs, None, SharedProgress(None, 0), run, hear)
            labels = np.empty_like(found)
            labels[self.order] = found
            yield labels

    def _recombine(
        self,
        pool: GroupPool,
        partitions: list[NDArray[np.int64]],
        number: int,
        moves: int,
        deadline: float | None,
        told: SharedProgress,
    ) -> NDArray[np.int64] | None:
        """Lower the error of the first of the partitions by groups of all that were ever found.

        About as much time is spent on it as on the moves that led to them; None if a deadline comes first.
        """
        errors = [errors_of(self.records, labels, partial(told, 0)) for labels in partitions]
        for labels, error in zip(partitions, errors, strict=True):
            pool.add(labels, error)

        def goes_on() -> bool:
            told(0)
            return deadline is None or time.monotonic() < deadline

        programmes = max(1, moves // _PROGRAMME)
        given = partitions[0], errors[0], self.near, self.k, number, programmes, goes_on
        return pool.recombine(*given, variable=self.variable)

    def _run(
        self,
        start: NDArray[np.int64],
        number: int,
        one: Round,
        limits: list[int],
        deadline: float | None,
        told: SharedProgress,
        run: int,
        check: Callable[[], None],
    ) -> tuple[NDArray[np.int64], int]:
        """Anneal once, as far as the limit of this run and the deadline allow; give the labels, and the moves done."""
        n, done = self.labels.size, 0

        def hear(moves: int) -> None:
            check()
            told(moves)

        groups = lay_out(self.movable, start, self.k, self.most)
        stream = (self.seed * _STREAMS + (((number << 6) + run) << 32)) * 0xD1342543DE82EF95
        counter = np.array(stream % 2**64, dtype=np.uint64)
        while groups.state[SWEEPS_DONE] < limits[run] and (deadline is None or time.monotonic() < deadline):
            sweeps = min(_SLICE // n + 1, limits[run] - int(groups.state[SWEEPS_DONE]))
            # A deadline ends whole sweeps, so that the same can be done again.
            self._anneal(one.sweeps, one.heats[run], sweeps * n, counter, groups, hear)
            done = int(groups.state[SWEEPS_DONE]) * n
        groups.state[NEXT] = groups.state[SWEEPS_DONE] = 0
        # What moves lower the error is made at the end of any schedule.
        self._anneal(_SETTLING, 0.0, _SETTLING * n, counter, groups, hear, cold=0.0)
        return groups.labels, done

    def _anneal(
        self,
        sweeps: int,
        hot: float,
        moves: int,
        counter: NDArray[np.uint64],
        groups: MovableGroups,
        hear: Callable[[int], None] = lambda _: None,
        cold: float = _COLD,
    ) -> None:
        moved = self.movable, self.asked, self.k, self.most, self.variable, self.near, self.scale
        for start in range(0, moves, _SLICE):
            budget = min(_SLICE, moves - start)
            anneal(*moved, hot, cold, sweeps, budget, counter, groups)
            hear(budget)

    def _best_of(self, partitions: list[NDArray[np.int64]], told: SharedProgress) -> NDArray[np.int64]:
        """Take the best partition, and from each of the others what is better there and can be taken by itself."""
        if len(partitions) == 1:
            return partitions[0]
        from scipy.sparse import coo_array  # no need of it for a fast search
        from scipy.sparse.csgraph import connected_components

        hear = partial(told, 0)
        errors = [errors_of(self.records, labels, hear) for labels in partitions]
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
            if not self.variable:
                taken &= _same_sizes(best, labels, part)[part]
            if taken.any():
                best = np.unique(np.where(taken, n_best + labels, best), return_inverse=True)[1]
                error = errors_of(self.records, best, hear)
        return best
