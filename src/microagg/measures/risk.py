"""Disclosure risk: whether a record can be found again, or its values be guessed closely."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.kernels.sums import exact_sum
from microagg.base.frozen import ReadOnly
from microagg.columns.table import Table
from microagg.measures.anonymity import classes_sharing
from microagg.measures.definitions import computed, measures_of
from microagg.measures.intervals import Intervals, deviation_intervals, rank_intervals
from microagg.measures.linkage import linked_records, linked_units, strata_of
from microagg.measures.measure import Measure, as_html, as_text
from microagg.measures.utility import numbers_of_both
from microagg.measures.weights import expected_links, weights_to_link
from microagg.work import ALONE, SharedProgress, Work, in_parallel

if TYPE_CHECKING:
    from microagg.measures.constants import UnitConstants

_PLACED, _LINKED = 5, 95  # percent of the progress: when the files are placed, and when their records are linked
_FEW = 4000  # records of a file: with fewer, each set of keys is linked so soon that threads only wait for each other
MOST_KEYS = 7
"""Up to here every subset of the keys is tried; of more, as many subsets as seven have are drawn."""


@dataclass(frozen=True, eq=False)
class DisclosureRisk(ReadOnly):
    """What an intruder could do with a masked file; lower is better throughout.

    Attributes
    ----------
    rld : float
        Distance-based record linkage: the share of records, in percent, that an intruder who knows their
        original keys links to the right masked record, expected over ties, averaged over sets of keys.
    right_group : float
        The share, in percent, linked to the right group of masked records with the same values, averaged like `rld`.
    interval : float
        Rank intervals: the share of records, in percent, all of whose values lie within p percent of the ranks
        around the masked ones, averaged over p = 1 to 10.
    interval_tied : float
        The same with one rank for equal masked values, so that the order of the rows cannot matter.
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
    full_group : float
        The share, in percent, linked to the right group by all keys at once.
    sampled : int or None
        How many records linkage was estimated on, where not all.
    seed : int or None
        What those records were drawn with.
    standard_error : float
        Of `rld`, from sampling records; 0 where all were used.
    full_error : float
        The same of `full_keys`.
    n_sets : int
        How many sets the keys have; `per_set` has those that were tried.
    sets_error : float
        The standard error of `rld` from trying only some sets; 0 where all were tried.
    rank_intervals, rank_intervals_tied, deviation_intervals : Intervals
        The shares for each p.
    others : mapping
        Measures of yours that are computed from the columns, by name (see `microagg.measures.definitions`).
    expected_links : float or None
        Where weights say how many persons a record represents: how many records an intruder links rightly who finds
        everybody's group, but cannot know who is in the sample; None without weights.
    n_units : int or None
        Where whole units (persons, households, firms) are linked, by all their rows together: how many there are. All
        figures of linkage, `sampled` and `expected_links` are then of units, and a record has its unit's chance. None
        where records are linked one by one.
    constants : UnitConstants or None
        Where rows belong to units: how many units have a value, in a column that is constant in units, which follows
        from the means of groups. None without units, and where whole units are released identical.

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
    full_group: float
    per_record: NDArray[np.float64]
    per_set: Mapping[tuple[Any, ...], float]
    drivers: Mapping[Any, float]
    sampled: int | None
    seed: int | None
    standard_error: float
    full_error: float
    n_sets: int
    sets_error: float
    rank_intervals: Intervals
    rank_intervals_tied: Intervals
    deviation_intervals: Intervals
    others: Mapping[str, float] = field(default_factory=dict)
    expected_links: float | None = None
    n_units: int | None = None
    constants: "UnitConstants | None" = None

    @property
    def n_linked(self) -> int:
        """How many there are to link: whole units, or records."""
        return self.n_records if self.n_units is None else self.n_units

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
        """Rank-interval disclosure, with one rank for equal values."""
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
    sample: NDArray[np.int64] | None = None,
    seed: int = 0,
    weights: NDArray[np.float64] | None = None,
    complete: bool = True,
    work: Work = ALONE,
) -> DisclosureRisk:
    """Judge a masked table by the original, record against record.

    `keys` are some of the columns. Where the original has strata, which the intruder knows, records are linked within
    them; where it has units, any row of a record's unit is the right one. Where these have slots, whole units are
    linked, by all their rows. With `sample`, which were drawn with `seed`, linkage is estimated on those rows, or
    units, alone. `weights` (n,) say how many persons each record represents. Where the tables are not
    `complete`, and hold some records of a file, what means disclose of units is not measured.
    """
    n, names = original.n_records, original.names
    keys = sorted(keys, key=str)  # so that the sets drawn of many do not depend on the file's order
    whole = None if original.units is None or original.units.slots is None else original.units.codes
    n_linked = n if whole is None else int(whole.max()) + 1
    rows = np.arange(n_linked) if sample is None else sample
    sets, everything = key_sets(len(keys)), tuple(range(len(keys)))
    chances, in_group, full, full_error = np.zeros(rows.size), 0.0, (0.0, 0.0), 0.0
    per_set: dict[tuple[Any, ...], float] = {}
    tried = sets if everything in sets else [everything, *sets]
    in_all = rows.size * len(tried)
    ends = (0, _PLACED * in_all // 100, _LINKED * in_all // 100, in_all)
    placing, linking, last = (work.part(*pair, in_all) for pair in itertools.pairwise(ends))
    linkage = (linked_records if whole is None else linked_units)(original, masked, keys, rows, placing)
    for of_set, found in _linked_by(tried, linkage, linking if n >= _FEW else linking._replace(n_jobs=1), in_all):
        right, right_group = (100.0 * exact_sum(own) / rows.size for own in found)
        if of_set == everything:
            full, full_error = (right, right_group), 0.0 if sample is None else _standard_error(found[0], n_linked)
            if everything not in sets:
                continue
        chances += found[0]
        in_group += right_group
        per_set[tuple(keys[j] for j in of_set)] = right
    chances /= len(sets)
    per_linked = np.full(n_linked, np.nan)
    per_linked[rows] = chances
    beside = _beside_linkage(original, masked, weights, last, constants=whole is None and complete)
    work.tell(in_all, in_all)
    n_sets = 2 ** len(keys) - 1
    return DisclosureRisk(
        keys=tuple(keys),
        columns=tuple(names),
        n_records=n,
        rld=100.0 * exact_sum(chances) / rows.size,
        right_group=in_group / len(sets),
        full_keys=full[0],
        full_group=full[1],
        per_record=per_linked if whole is None else per_linked[whole],
        per_set=per_set,
        drivers=_drivers(per_set, keys, n_linked),
        sampled=None if sample is None else rows.size,
        seed=None if sample is None else int(seed),
        standard_error=0.0 if sample is None else _standard_error(chances, n_linked),
        full_error=full_error,
        n_sets=n_sets,
        sets_error=0.0 if len(sets) == n_sets else _standard_error(np.array(list(per_set.values())) / 100, n_sets),
        expected_links=None if weights is None else expected_links(linkage.classes, weights_to_link(weights, whole)),
        n_units=None if whole is None else n_linked,
        **beside,
    )


def _linked_by(
    sets: Sequence[tuple[int, ...]], linkage: Any, work: Work, in_all: int
) -> Iterator[tuple[tuple[int, ...], Any]]:
    """Link by each set of keys, a few sets at a time, in their order: sums do not depend on the threads."""
    told = SharedProgress(work.progress, in_all)
    for start in range(0, len(sets), 4 * work.n_jobs):
        batch = sets[start : start + 4 * work.n_jobs]
        yield from zip(batch, in_parallel(partial(linkage.link, told), batch, work.n_jobs), strict=True)


def _beside_linkage(
    original: Table, masked: Table, weights: NDArray[np.float64] | None, work: Work, *, constants: bool
) -> dict[str, Any]:
    """Measure what needs no linkage: intervals of ranks and deviations, other figures, and what means disclose."""
    by_row, tied = rank_intervals(original, masked, work.stage(0, 3))
    return {
        "rank_intervals": by_row,
        "rank_intervals_tied": tied,
        "deviation_intervals": deviation_intervals(original, masked, work.stage(1, 3)),
        "others": computed("risk", *numbers_of_both(original, masked)),
        "constants": _constants(original, masked, weights, work.stage(2, 3)) if constants else None,
    }


def _constants(
    original: Table, masked: Table, weights: NDArray[np.float64] | None, work: Work
) -> "UnitConstants | None":
    """Return how many units have a value that follows from the means of groups; None without units."""
    if original.whose is None:
        return None
    from microagg.measures.constants import Seen, measure_constants

    seen = Seen(masked, classes_sharing(masked, strata_of(original)))
    return measure_constants(original, [seen], original.whose, weights, work.progress)


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
    """Return the standard error, in percent, of the mean of values drawn without replacement."""
    share_left = 1.0 - values.size / population
    return 100.0 * float(values.std(ddof=1)) / math.sqrt(values.size) * math.sqrt(share_left)


def _drivers(per_set: Mapping[tuple[Any, ...], float], keys: Sequence[Any], n: int) -> dict[Any, float]:
    """Return, for each key, how much it adds to linkage: on average over the sets of the others it joins.

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
