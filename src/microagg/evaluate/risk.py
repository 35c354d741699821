"""Disclosure risk: whether a record can be found again, or its values be guessed closely."""

import itertools
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg._kernels.linkage import count_as_near
from microagg._kernels.sums import exact_sum
from microagg._kernels.tree import rows_by_leaf, tree_of
from microagg.equivalence import codes_of, first_of_each, split_classes
from microagg.evaluate.definitions import computed, measures_of
from microagg.evaluate.intervals import Intervals, deviation_intervals, rank_intervals
from microagg.evaluate.measure import Measure, as_html, as_text
from microagg.evaluate.utility import numbers_of_both
from microagg.evaluate.weights import expected_links
from microagg.parallel import in_parallel
from microagg.prepare.embedding import embed_both
from microagg.progress import Progress
from microagg.readonly import ReadOnly
from microagg.table import Table

MOST_KEYS = 7
"""Up to here every subset of the keys is tried; of more, as many subsets as seven have are drawn."""

_SLICE = 50_000_000  # coordinates looked at before Python regains control: some 0.1 s
_FAR_APART = 1e9  # standard deviations between strata: no record is linked across


@dataclass(frozen=True, eq=False)
class DisclosureRisk(ReadOnly):
    """What an intruder could do with a masked file; lower is better throughout.

    Attributes
    ----------
    rld : float
        Distance-based record linkage: the share of records, in percent, that an intruder who knows their
        original keys links to the right masked record, expected over ties, averaged over sets of keys.
    right_group : float
        The share, in percent, linked to the right group of masked records that look alike.
    interval : float
        Rank intervals: the share of records, in percent, all of whose values lie within p percent of the ranks
        around the masked ones, averaged over p = 1 to 10.
    interval_tied : float
        The same with equal masked values ranked alike, so that the order of the rows cannot matter.
    interval_deviation : float
        The same with p percent of the column's standard deviation in place of ranks.
    g_dr : float
        (rld + interval) / 2.
    keys : tuple
        The columns the intruder knows, by name.
    columns : tuple
        The masked columns, which intervals and groups are about.
    per_record : array of shape (n,)
        Each record's chance of being linked, averaged over the sets of keys; NaN where it was not sampled.
    per_set : mapping
        From each set of keys to the linkage by it, in percent.
    drivers : mapping
        For each key, by how much it raises linkage when it joins others, in percentage points.
    full_keys : float
        Linkage by all keys at once, in percent.
    sampled : int or None
        How many records linkage was estimated on, where not all.
    seed : int or None
        What those records were drawn with.
    standard_error : float
        Of `rld`, from sampling records; 0 where all were used.
    n_sets : int
        How many sets the keys have; `per_set` has those that were tried.
    sets_error : float
        The standard error of `rld` from trying only some sets; 0 where all were tried.
    rank_intervals, rank_intervals_tied, deviation_intervals : Intervals
        The shares for each p.
    others : mapping
        Measures of yours that are computed from the columns, by name (see `microagg.evaluate.definitions`).
    expected_links : float or None
        Where weights tell of how many persons records stand: how many records an intruder links rightly who finds
        everybody's group, but cannot know who is in the sample; None without weights.

    References
    ----------
    B. J. Oommen, E. Fayyoumi: On utilizing association and interaction concepts for enhancing
    microaggregation in secure statistical databases. IEEE Trans. SMC-B 40(1), 2010, section III.

    R. Benedetti, L. Franconi: Statistical and technological solutions for controlled data dissemination. Proceedings
    of New Techniques and Technologies for Statistics 1, 1998.

    Examples
    --------
    >>> import microagg as ma
    >>> survey = ma.datasets.survey(300, seed=0).select(["age", "income", "tax"])
    >>> risk = ma.disclosure_risk(survey, ma.protect(survey, k=5).data, keys=["age", "income"])
    >>> risk.full_keys <= 100 / 5
    True
    """

    keys: tuple[Any, ...]
    columns: tuple[Any, ...]
    n_records: int
    rld: float
    right_group: float
    full_keys: float
    per_record: NDArray[np.float64]
    per_set: Mapping[tuple[Any, ...], float]
    drivers: Mapping[Any, float]
    sampled: int | None
    seed: int | None
    standard_error: float
    n_sets: int
    sets_error: float
    rank_intervals: Intervals
    rank_intervals_tied: Intervals
    deviation_intervals: Intervals
    others: Mapping[str, float] = field(default_factory=dict)
    expected_links: float | None = None

    @property
    def restricted(self) -> bool:
        """Whether the intruder is taken to know only some of the masked columns."""
        return len(self.keys) < len(self.columns)

    @property
    def interval(self) -> float:
        """Rank-interval disclosure, ties ranked by row."""
        return self.rank_intervals.mean

    @property
    def interval_tied(self) -> float:
        """Rank-interval disclosure, ties ranked alike."""
        return self.rank_intervals_tied.mean

    @property
    def interval_deviation(self) -> float:
        """Standard-deviation interval disclosure."""
        return self.deviation_intervals.mean

    @property
    def g_dr(self) -> float:
        """The mean of linkage and interval disclosure."""
        return (self.rld + self.interval) / 2.0

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The figures as objects that know how to be read."""
        return measures_of("risk", self)

    def __repr__(self) -> str:
        return as_text(f"Disclosure risk of {self.n_records} records (lower is better)", self.measures)

    def _repr_html_(self) -> str:
        return as_html(f"Disclosure risk of {self.n_records} records (lower is better)", self.measures)


def measure_risk(
    original: Table,
    masked: Table,
    keys: Sequence[Any],
    *,
    strata: NDArray[np.int64] | None = None,
    units: NDArray[np.int64] | None = None,
    sample: NDArray[np.int64] | None = None,
    seed: int = 0,
    weights: NDArray[np.float64] | None = None,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> DisclosureRisk:
    """Judge a masked table by the original, record against record.

    `keys` are some of the columns. With `strata` (n,), which the intruder knows, records are linked within them; with
    `units` (n,), any row of a record's unit is the right one; with `sample`, which were drawn with `seed`, linkage is
    estimated on those rows alone. `weights` (n,) tell of how many persons each record stands.
    """
    n, names = original.n_records, original.names
    keys = sorted(keys, key=str)  # so that the sets drawn of many do not depend on the file's order
    rows = np.arange(n) if sample is None else sample
    sets = key_sets(len(keys))
    linkage = _Linkage(original, masked, keys, strata, units, rows)
    everything = tuple(range(len(keys)))
    chances, in_group, full = np.zeros(rows.size), 0.0, 0.0  # of the rows in the order of the linkage
    per_set: dict[tuple[Any, ...], float] = {}
    tried = sets if everything in sets else [everything, *sets]
    tell = _Told(progress, rows.size * len(tried))
    # A few sets at a time, added in their order: the sums neither pile up nor depend on the threads.
    for start in range(0, len(tried), 4 * n_jobs):
        batch = tried[start : start + 4 * n_jobs]
        for of_set, found in zip(batch, in_parallel(partial(linkage.link, tell), batch, n_jobs), strict=True):
            right, right_group = found
            linked = 100.0 * exact_sum(right) / rows.size
            if of_set == everything:
                full = linked
                if everything not in sets:
                    continue
            chances += right
            in_group += exact_sum(right_group)
            per_set[tuple(keys[j] for j in of_set)] = linked
    per_record = np.full(n, np.nan)
    per_record[linkage.rows] = chances / len(sets)
    chances = per_record[rows]
    by_row, tied = rank_intervals(original, masked, n_jobs)
    n_sets = 2 ** len(keys) - 1
    return DisclosureRisk(
        keys=tuple(keys),
        columns=tuple(names),
        n_records=n,
        rld=100.0 * exact_sum(chances) / rows.size,
        right_group=100.0 * in_group / (len(sets) * rows.size),
        full_keys=full,
        per_record=per_record,
        per_set=per_set,
        drivers=_drivers(per_set, keys, n),
        sampled=None if sample is None else rows.size,
        seed=None if sample is None else int(seed),
        standard_error=0.0 if sample is None else _standard_error(chances, n),
        n_sets=n_sets,
        sets_error=0.0 if len(sets) == n_sets else _standard_error(np.array(list(per_set.values())) / 100, n_sets),
        rank_intervals=by_row,
        rank_intervals_tied=tied,
        deviation_intervals=deviation_intervals(original, masked),
        others=computed("risk", *numbers_of_both(original, masked)),
        expected_links=None if weights is None else expected_links(linkage.classes, weights),
    )


def key_sets(n_keys: int) -> list[tuple[int, ...]]:
    """List every non-empty subset of up to seven keys; of more keys 127 different ones, drawn with seed 0."""
    if n_keys <= MOST_KEYS:
        sizes = range(1, n_keys + 1)
        return [chosen for size in sizes for chosen in itertools.combinations(range(n_keys), size)]
    rng = np.random.default_rng(0)
    drawn: dict[tuple[int, ...], None] = {}
    while len(drawn) < 2**MOST_KEYS - 1:
        chosen = tuple(np.flatnonzero(rng.random(n_keys) < 0.5).tolist())
        if chosen:
            drawn[chosen] = None
    return list(drawn)


def _standard_error(values: NDArray[np.float64], population: int) -> float:
    """Give the standard error, in percent, of the mean of values drawn without replacement."""
    share_left = 1.0 - values.size / population
    return 100.0 * float(values.std(ddof=1)) / math.sqrt(values.size) * math.sqrt(share_left)


class _Told:
    """Adds up the progress of threads that link set after set."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress, self._total, self._done = progress, total, 0
        self._lock = threading.Lock()

    def __call__(self, linked: int) -> None:
        with self._lock:
            self._done += linked
            if self._progress is not None:
                self._progress(self._done, self._total)


class _Linkage:
    """The two files, standardised alike, and the masked records that differ from each other.

    These lie in the order of a tree by all keys, and `rows` in that of their masked versions: trees by some of
    the keys then find near in memory what is near.
    """

    def __init__(
        self,
        original: Table,
        masked: Table,
        keys: Sequence[Any],
        strata: NDArray[np.int64] | None,
        units: NDArray[np.int64] | None,
        rows: NDArray[np.int64],
    ) -> None:
        apart = np.zeros(masked.n_records, dtype=np.int64) if strata is None else strata
        groups = apart
        for column in masked:  # what is released, whether or not it is a key
            groups = split_classes(groups, column.cells.classes)
        self.classes = groups
        placed, placed_masked = embed_both(original.named(keys), masked.named(keys))
        z, z_masked = placed.coordinates, placed_masked.coordinates
        self.owners = placed.owners
        first = first_of_each(groups)
        order = rows_by_leaf(tree_of(z_masked[:, first]))
        number = np.empty_like(order)
        number[order] = np.arange(order.size)
        groups, first = number[groups], first[order]
        self.sizes = np.bincount(groups)
        self.rows = rows[np.argsort(groups[rows], kind="stable")]
        self.own = groups[self.rows]
        self.group_size = self.sizes[self.own]
        self.points = np.ascontiguousarray(z_masked[:, first])  # (keys, groups)
        self.codes = [codes_of(column) for column in self.points]
        self.queries = np.ascontiguousarray(z[:, self.rows])
        self.group_apart, self.query_apart = apart[first], apart[self.rows]
        self.of_units = None if units is None else _UnitGroups.of(groups, units, self.rows)

    def link(
        self, tell: _Told, of_set: tuple[int, ...], check: Callable[[], None]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Give each row's chance of being linked to itself, or its unit, by one set of keys, and to its group."""
        place = self.group_apart
        chosen = np.flatnonzero(np.isin(self.owners, of_set))
        for j in chosen:
            place = split_classes(place, self.points[j], self.codes[j])
            check()
        points, queries = self.points[chosen], self.queries[chosen]
        apart, weights, own = self.group_apart, self.sizes, self.own
        first = first_of_each(place)
        if first.size < place.size:
            points, apart = points[:, first], apart[first]
            weights, own = np.bincount(place, weights).astype(np.int64), place[own]
        else:
            place = np.arange(place.size)  # each group is a point of its own, in the order of their numbers
        if apart.any():
            points = np.vstack([_FAR_APART * apart, points])
            queries = np.vstack([_FAR_APART * self.query_apart, queries])
        queries = np.ascontiguousarray(queries.T)
        right, in_group = np.ones(own.size), self.group_size.astype(np.float64)
        if self.of_units is not None:
            own, right, in_group = self.of_units.nearest(place, self.sizes, points, queries)
        check()
        tree = tree_of(points)
        check()
        counts = np.empty(own.size, dtype=np.int64)
        done = 0
        while done < own.size:
            before = done
            done = count_as_near(tree, weights, queries, own, done, _SLICE, counts)
            check()
            tell(done - before)
        found = counts > 0
        return (
            np.divide(right, counts, out=np.zeros(own.size), where=found),
            np.divide(in_group, counts, out=np.zeros(own.size), where=found),
        )


class _UnitGroups(NamedTuple):
    """The groups that hold rows of each query's unit: pairs in the order of queries, which begin at `starts`."""

    starts: NDArray[np.int64]
    queries: NDArray[np.int64]
    groups: NDArray[np.int64]
    rows: NDArray[np.int64]  # of the unit in the group

    @classmethod
    def of(cls, groups: NDArray[np.int64], units: NDArray[np.int64], rows: NDArray[np.int64]) -> "_UnitGroups":
        """Count them; `groups` and `units` are of all records, `rows` are the queries."""
        n_groups = int(groups.max()) + 1
        pairs, counts = np.unique(units * n_groups + groups, return_counts=True)
        bounds = np.searchsorted(pairs // n_groups, np.arange(int(units.max()) + 2))
        sizes = np.diff(bounds)[units[rows]]
        starts = np.cumsum(sizes) - sizes
        at = np.repeat(bounds[units[rows]] - starts, sizes) + np.arange(sizes.sum())
        return cls(starts, np.repeat(np.arange(rows.size), sizes), pairs[at] % n_groups, counts[at])

    def nearest(
        self,
        place: NDArray[np.int64],
        sizes: NDArray[np.int64],
        points: NDArray[np.float64],
        queries: NDArray[np.float64],
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
        """Give the point nearest to each query that rows of its unit share, how many do, and how many all have.

        `place` is each group's point, and `sizes` its records; rows at several points as near as each other count.
        """
        at = place[self.groups]
        distances = np.zeros(at.size)
        for j in range(points.shape[0]):
            apart = points[j, at] - queries[self.queries, j]
            distances += apart * apart
        as_near = distances == np.minimum.reduceat(distances, self.starts)[self.queries]
        first = np.flatnonzero(as_near)
        first = first[np.searchsorted(self.queries[first], np.arange(self.starts.size))]
        right = np.add.reduceat(np.where(as_near, self.rows, 0), self.starts)
        in_group = np.add.reduceat(np.where(as_near, sizes[self.groups], 0), self.starts)
        return at[first], right.astype(np.float64), in_group.astype(np.float64)


def _drivers(per_set: Mapping[tuple[Any, ...], float], keys: Sequence[Any], n: int) -> dict[Any, float]:
    """Give, for each key, how much it adds to linkage: on average over the sets of the others it joins.

    Without any key one in n is linked. Where only some sets were drawn, the least-squares effect of having
    the key.
    """
    if len(per_set) == 2 ** len(keys) - 1:
        known = {frozenset(chosen): value for chosen, value in per_set.items()} | {frozenset(): 100.0 / n}
        return {
            key: float(np.mean([value - known[chosen - {key}] for chosen, value in known.items() if key in chosen]))
            for key in keys
        }
    having = np.array([[1.0, *(key in chosen for key in keys)] for chosen in per_set])
    effects = np.linalg.lstsq(having, np.array(list(per_set.values())), rcond=None)[0]
    return {key: float(effect) for key, effect in zip(keys, effects[1:], strict=True)}
