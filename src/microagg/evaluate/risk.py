"""Disclosure risk: whether a record can be found again, or its values be guessed closely."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg._kernels._jit import announce_compiling
from microagg._kernels.linkage import count_as_near
from microagg._kernels.standard import moments, standard_scores_of_both, standardise
from microagg._kernels.sums import exact_sum
from microagg._kernels.tree import make_tree
from microagg.evaluate.measure import Measure, as_html, as_text
from microagg.parallel import in_parallel

Progress = Callable[[int, int], None]

MOST_KEYS = 7
"""Up to here every subset of the keys is tried; of more, as many subsets as seven have are drawn."""

PERCENTS = range(1, 11)

_SLICE = 50_000_000  # coordinates looked at before Python regains control: some 0.1 s


@dataclass(frozen=True)
class Intervals:
    """The share of records, in percent, all of whose values lie within p percent of the masked ones."""

    by_percent: tuple[float, ...]  # at p = 1 .. 10
    counts: tuple[int, ...]

    @property
    def mean(self) -> float:
        """The mean over p."""
        return sum(self.by_percent) / len(self.by_percent)


@dataclass(frozen=True, eq=False)
class DisclosureRisk:
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
        The columns the intruder knows.
    per_record : array of shape (n,)
        Each record's chance of being linked, averaged over the sets of keys; NaN where it was not sampled.
    per_set : mapping
        From each set of keys to the linkage by it, in percent.
    drivers : mapping
        For each key, by how much linkage is higher with it than without, in percentage points.
    full_keys : float
        Linkage by all keys at once, in percent (NaN where that set was not drawn).
    sampled : int or None
        How many records linkage was estimated on, where not all.
    standard_error : float
        Of `rld`, from sampling; 0 where all records were used.
    rank_intervals, rank_intervals_tied, deviation_intervals : Intervals
        The shares for each p.

    References
    ----------
    B. J. Oommen, E. Fayyoumi: On utilizing association and interaction concepts for enhancing
    microaggregation in secure statistical databases. IEEE Trans. SMC-B 40(1), 2010, section III.

    Examples
    --------
    >>> import microagg as ma
    >>> survey = ma.datasets.survey(300, seed=0).select(["age", "income", "tax"])
    >>> risk = ma.disclosure_risk(survey, ma.protect(survey, k=5).data, keys=["age", "income"])
    >>> risk.full_keys <= 100 / 5
    True
    """

    keys: tuple[Any, ...]
    n_records: int
    n_columns: int
    rld: float
    right_group: float
    full_keys: float
    per_record: NDArray[np.float64]
    per_set: Mapping[tuple[Any, ...], float]
    drivers: Mapping[Any, float]
    sampled: int | None
    standard_error: float
    rank_intervals: Intervals
    rank_intervals_tied: Intervals
    deviation_intervals: Intervals

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
        whole = (0.0, 100.0)
        error = f" Estimated on {self.sampled} records, ± {self.standard_error:.2g}." if self.sampled else ""
        known = f"{len(self.keys)} keys" if len(self.keys) > 1 else "one key"
        return (
            Measure(
                "RLD", self.rld, "lower", whole, f"Records linked rightly by an intruder who knows {known}.{error}", "%"
            ),
            Measure("right group", self.right_group, "lower", whole, "Records linked to their group.", "%"),
            Measure(
                "ID", self.interval, "lower", whole, "Records all of whose values are within 1 to 10 % of ranks.", "%"
            ),
            Measure("ID, ties alike", self.interval_tied, "lower", whole, "The same, whatever the order of rows.", "%"),
            Measure("ID, deviations", self.interval_deviation, "lower", whole, "Within 1 to 10 % of a deviation.", "%"),
            Measure("G_DR", self.g_dr, "lower", whole, "The mean of RLD and ID.", "%"),
        )

    def __repr__(self) -> str:
        return as_text(f"Disclosure risk of {self.n_records} records (lower is better)", self.measures)

    def _repr_html_(self) -> str:
        return as_html(f"Disclosure risk of {self.n_records} records (lower is better)", self.measures)


def measure_risk(
    original: NDArray[np.float64],
    masked: NDArray[np.float64],
    names: Sequence[Any],
    keys: Sequence[Any],
    sample: NDArray[np.int64] | None = None,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> DisclosureRisk:
    """Judge masked columns (d, n) by the originals, record against record.

    `keys` are some of the names; with `sample`, linkage is estimated on those rows alone.
    """
    d, n = original.shape
    of_keys = [list(names).index(key) for key in keys]
    rows = np.arange(n) if sample is None else sample
    linked = _link(original[of_keys], masked[of_keys], rows, n_jobs, progress)
    chances = sum((right for _, right, _ in linked), start=np.zeros(rows.size)) / len(linked)
    per_record = np.full(n, np.nan)
    per_record[rows] = chances
    per_set = {tuple(keys[j] for j in of_set): 100.0 * exact_sum(right) / rows.size for of_set, right, _ in linked}
    rld = 100.0 * exact_sum(chances) / rows.size
    error = (
        100.0 * float(chances.std(ddof=1)) / np.sqrt(rows.size) * np.sqrt(1 - rows.size / n)
        if sample is not None
        else 0.0
    )
    return DisclosureRisk(
        keys=tuple(keys),
        n_records=n,
        n_columns=d,
        rld=rld,
        right_group=100.0 * sum(exact_sum(group) for _, _, group in linked) / (len(linked) * rows.size),
        full_keys=per_set.get(tuple(keys), float("nan")),
        per_record=per_record,
        per_set=per_set,
        drivers=_drivers(per_set, keys),
        sampled=None if sample is None else rows.size,
        standard_error=error,
        rank_intervals=rank_intervals(original, masked, alike=False),
        rank_intervals_tied=rank_intervals(original, masked, alike=True),
        deviation_intervals=deviation_intervals(original, masked),
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


def _link(
    original: NDArray[np.float64],
    masked: NDArray[np.float64],
    rows: NDArray[np.int64],
    n_jobs: int,
    progress: Progress | None,
) -> list[tuple[tuple[int, ...], NDArray[np.float64], NDArray[np.float64]]]:
    """Give, for each set of keys, each row's chance of being linked to itself, and to its group."""
    announce_compiling()
    z, z_masked = standard_scores_of_both(original, masked)
    looks_alike = np.unique(z_masked, axis=1, return_inverse=True)[1].ravel()
    group_size = np.bincount(looks_alike)[looks_alike[rows]]
    sets = key_sets(z.shape[0])
    done = [0] * len(sets)

    def link(
        number: int, check: Callable[[], None]
    ) -> tuple[tuple[int, ...], NDArray[np.float64], NDArray[np.float64]]:
        of_set = list(sets[number])
        points, own, weights = np.unique(z_masked[of_set], axis=1, return_inverse=True, return_counts=True)
        points = np.ascontiguousarray(points)
        m = points.shape[1]
        tree = make_tree(points, np.arange(m), np.zeros(len(of_set)), np.empty(m, dtype=np.int64))
        queries = np.ascontiguousarray(z[of_set][:, rows].T)
        of_rows = np.ascontiguousarray(own.ravel()[rows])
        counts, state = np.empty(rows.size, dtype=np.int64), np.zeros(1, dtype=np.int64)
        while state[0] < rows.size:
            count_as_near(tree, weights, queries, of_rows, _SLICE, state, counts)
            check()
            done[number] = int(state[0])
            if progress is not None:
                progress(sum(done), rows.size * len(sets))
        right = np.divide(1.0, counts, out=np.zeros(rows.size), where=counts > 0)
        return tuple(of_set), right, right * group_size

    return in_parallel(link, range(len(sets)), n_jobs)


def _drivers(per_set: Mapping[tuple[Any, ...], float], keys: Sequence[Any]) -> dict[Any, float]:
    """Give, for each key, the mean linkage of sets with it less that of sets without."""
    drivers = {}
    for key in keys:
        having = [value for chosen, value in per_set.items() if key in chosen]
        lacking = [value for chosen, value in per_set.items() if key not in chosen]
        drivers[key] = float(np.mean(having) - (np.mean(lacking) if lacking else 0.0)) if having else float("nan")
    return drivers


def rank_intervals(original: NDArray[np.float64], masked: NDArray[np.float64], *, alike: bool) -> Intervals:
    """Count the records whose every value lies between the masked values p percent of ranks below and above.

    Equal masked values are ranked by row or, `alike`, share the mean of their ranks.
    """
    n = original.shape[1]
    inside = np.ones((len(PERCENTS), n), dtype=bool)
    for values, released in zip(original, masked, strict=True):
        order = np.argsort(released, kind="stable")
        ordered = released[order]
        lowest = highest = np.empty(n, dtype=np.int64)
        if alike:
            first, last = np.searchsorted(ordered, released, "left"), np.searchsorted(ordered, released, "right") - 1
            lowest, highest = (first + last) // 2, -(-(first + last) // 2)
        else:
            lowest[order] = np.arange(n)
        for row, percent in enumerate(PERCENTS):
            width = percent * n // 100
            below = ordered[np.maximum(lowest - width, 0)]
            above = ordered[np.minimum(highest + width, n - 1)]
            inside[row] &= (below <= values) & (values <= above)
    return _shares(inside)


def deviation_intervals(original: NDArray[np.float64], masked: NDArray[np.float64]) -> Intervals:
    """Count the records whose every value is within p percent of a standard deviation of the masked one."""
    n = original.shape[1]
    inside = np.ones((len(PERCENTS), n), dtype=bool)
    for values, released in zip(original, masked, strict=True):
        own = moments(values)
        # A constant column becomes zeros in both files; where it was changed all the same, that must show.
        gap = (
            np.abs(standardise(values, *own) - standardise(released, *own))
            if own[2] > 0
            else np.where(values == released, 0.0, np.inf)
        )
        for row, percent in enumerate(PERCENTS):
            inside[row] &= gap <= percent / 100
    return _shares(inside)


def _shares(inside: NDArray[np.bool_]) -> Intervals:
    counts = inside.sum(axis=1)
    return Intervals(tuple((100.0 * counts / inside.shape[1]).tolist()), tuple(counts.tolist()))
