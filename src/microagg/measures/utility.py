"""What masking did to a file's statistics: M1 to M5, G_IL, and differences column by column."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.kernels.sums import exact_sum
from microagg.algorithms.scores import moments, standardise
from microagg.base.frozen import ReadOnly
from microagg.checks import check_jobs
from microagg.columns.table import Table
from microagg.measures.definitions import computed, measures_of
from microagg.measures.loss import InformationLoss, loss_of_release
from microagg.measures.measure import Measure, as_html, as_text
from microagg.work import Progress, in_parallel, stage, tell

if TYPE_CHECKING:
    from microagg.measures.bound import LossBound

    BoundFinder = Callable[[InformationLoss, Progress | None], LossBound]

QUANTILES = (0.01, 0.05, 0.10, 0.25, 0.50, 0.75, 0.90, 0.95, 0.99)

_NOTHING = 1e-12  # of a column's scale: below it a statistic is rounding noise and counts as 0


@dataclass(frozen=True, eq=False)
class LossMeasures(ReadOnly):
    """How far a masked file is from the original; lower is better throughout.

    Not for publication: with the masked file, its differences give statistics of the original away. Where masking left
    records out, cells are those of the released records, and statistics are compared with those of the whole original.

    Attributes
    ----------
    percent, sse, sst, per_column
        Information loss on the standardised columns, overall and for each (see `InformationLoss`).
    m1, m2, m3, m4 : float
        Mean variation |a − b| / |a| of the cells, the means, the variances and the covariances.
    m5 : float
        Mean absolute difference of the correlations.
    g_il : float
        100 · (m1 + … + m5) / 5.
    il1s : float
        Mean difference of a cell in units of √2 standard deviations.
    columns : tuple
        The columns that were compared.
    numbers : tuple
        Those of them that are quantities, which all figures but information loss are about.
    means, deviations : mapping
        For each column, masked minus original, in units of its original standard deviation.
    quantiles : mapping
        For each column, masked minus original quantiles (`QUANTILES`), in the same units.
    correlations : array of shape (d, d)
        Masked minus original.
    others : mapping
        Measures of yours that are computed from the columns, by name (see `microagg.measures.definitions`).
    weighted : InformationLoss or None
        The same with weights in all sums, each column's share averaged; None where records have no weights. All other
        figures are without weights.
    bound : LossBound or None
        How little any grouping could lose, of a release; None of other files. Computed when asked, and not stored.

    References
    ----------
    B. J. Oommen, E. Fayyoumi: On utilizing association and interaction concepts for enhancing
    microaggregation in secure statistical databases. IEEE Trans. SMC-B 40(1), 2010, table I.

    Examples
    --------
    >>> import microagg as ma
    >>> survey = ma.datasets.survey(300, seed=0).select(["age", "income", "tax"])
    >>> masked = ma.protect(survey, k=3).data
    >>> found = ma.loss_measures(survey, masked)
    >>> round(found.g_il, 2)
    3.67
    """

    information: InformationLoss
    columns: tuple[Any, ...]
    numbers: tuple[Any, ...]
    m1: float
    m2: float
    m3: float
    m4: float
    m5: float
    il1s: float
    means: Mapping[Any, float]
    deviations: Mapping[Any, float]
    quantiles: Mapping[Any, tuple[float, ...]]
    correlations: NDArray[np.float64]
    others: Mapping[str, float] = field(default_factory=dict)
    weighted: InformationLoss | None = None
    _find_bound: "BoundFinder | None" = field(default=None, repr=False)

    @property
    def bound(self) -> "LossBound | None":
        """How little any grouping could lose."""
        return self.find_bound()

    def find_bound(self, progress: Progress | None = None) -> "LossBound | None":
        """Return the bound, found now if it was not before; `progress` is called as progress(done, in all), often."""
        if self._find_bound is not None and "_bound" not in self.__dict__:
            self.__dict__["_bound"] = self._find_bound(self.information, progress)
        found: LossBound | None = self.__dict__.get("_bound")
        return found

    def __getstate__(self) -> dict[str, Any]:
        own = {name: value for name, value in super().__getstate__().items() if name != "_bound"}
        return own | {"_find_bound": None}  # which holds original values

    @property
    def percent(self) -> float:
        """100 · SSE / SST on the standardised columns."""
        return self.information.percent

    @property
    def sse(self) -> float:
        """Sum of squared errors on the standardised columns."""
        return self.information.sse

    @property
    def sst(self) -> float:
        """Total sum of squares on the standardised columns."""
        return self.information.sst

    @property
    def per_column(self) -> Mapping[object, float]:
        """The information loss of each column, in percent."""
        return self.information.per_column

    @property
    def g_il(self) -> float:
        """The mean of M1 to M5, in percent."""
        return 100.0 * (self.m1 + self.m2 + self.m3 + self.m4 + self.m5) / 5.0

    @property
    def overall(self) -> tuple[str, float]:
        """The one figure that stands for the loss, and its name: G_IL of numbers, IL where other columns count too."""
        return ("G_IL", self.g_il) if len(self.numbers) == len(self.columns) else ("IL", self.percent)

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The figures as objects that know how to be read."""
        return measures_of("loss", self)

    def __repr__(self) -> str:
        return as_text(f"Loss over {len(self.columns)} masked columns (lower is better)", self.measures)

    def _repr_html_(self) -> str:
        return as_html(f"Loss over {len(self.columns)} masked columns (lower is better)", self.measures)


def numbers_of_both(original: Table, masked: Table) -> tuple[NDArray[np.float64], NDArray[np.float64], list[Any]]:
    """Return the quantities of both tables (d, n), and their names: of the records that have all of them in both."""
    names = [before.name for before in original if before.kind.is_quantity]
    before, after = original.named(names).matrix(), masked.named(names).matrix()
    if original.is_complete and masked.is_complete:
        return before, after, names
    whole = ~(np.isnan(before) | np.isnan(after)).any(axis=0)
    return before[:, whole], after[:, whole], names


def measure_loss(
    original: Table,
    masked: Table,
    information: InformationLoss | None = None,
    weighted: InformationLoss | None = None,
    progress: Progress | None = None,
    everybody: Table | None = None,
) -> LossMeasures:
    """Compare two tables; their information loss, and that by weight, is not computed again where it is known.

    Information loss is over all columns; M1 to M5 and the statistics are those of numbers, over the records that have
    all of them in both tables; NaN where there are none. Where masking left records out, `everybody` has all of the
    original: statistics are compared with those of all its values, and cells with those of the same record.
    """
    before, after, names = numbers_of_both(original, masked)
    tell(progress, 0, 1)
    if information is None:
        information = loss_of_release(original, masked)
    if before.size == 0:
        return replace(_without_numbers(original.names, information), weighted=weighted)
    whole = None if everybody is None else everybody.named(names).matrix()
    return replace(_measured(before, after, original.names, names, information, progress, whole), weighted=weighted)


def _without_numbers(columns: Sequence[Any], information: InformationLoss) -> LossMeasures:
    """Return what is known of columns none of which is a quantity that records have in both tables."""
    nothing = float("nan")
    return LossMeasures(
        information=information,
        columns=tuple(columns),
        numbers=(),
        m1=nothing,
        m2=nothing,
        m3=nothing,
        m4=nothing,
        m5=nothing,
        il1s=nothing,
        means={},
        deviations={},
        quantiles={},
        correlations=np.empty((0, 0)),
    )


def _measured(
    original: NDArray[np.float64],
    masked: NDArray[np.float64],
    columns: Sequence[Any],
    names: Sequence[Any],
    information: InformationLoss,
    progress: Progress | None,
    everybody: NDArray[np.float64] | None,
) -> LossMeasures:
    d, n = original.shape
    first, second = (stage(progress, number, 2) for number in range(2))
    heard = partial(tell, first, 0, 1)
    a, b, *others = _near_one(original, masked, *([] if everybody is None else [everybody]))
    whole_a = others[0] if others else a
    heard()
    mean_a, mean_b = _means(whole_a), _means(b)
    heard()
    scale = np.maximum(_root_mean_square(whole_a), _root_mean_square(b))
    heard()
    cov_a = _covariances(whole_a, mean_a) if everybody is None else _covariances_of_pairs(whole_a, mean_a)
    heard()
    cov_b = _covariances(b, mean_b)
    heard()
    # A constant column has no deviation to measure a change by: any change is beyond measure, not none.
    changed = _changed_constants(a, b)
    m1 = sum(_total_variation(x, y) for x, y in zip(a, b, strict=True)) / (n * d)
    del a, b, others, whole_a
    cov_a, cov_b = _without_roundings(cov_a, cov_b, scale)
    mean_a = np.where(np.abs(mean_a) <= _NOTHING * scale, 0.0, mean_a)
    mean_b = np.where(np.abs(mean_b) <= _NOTHING * scale, 0.0, mean_b)
    above = np.triu_indices(d)
    pairs = np.triu_indices(d, 1)
    change = _correlations(cov_b) - _correlations(cov_a)

    def moved(j: int, check: Callable[[], None]) -> _Moves:
        check()
        return _moves_of(original[j], masked[j], None if everybody is None else everybody[j], d, check)

    moves = dict(zip(names, in_parallel(moved, range(d), check_jobs(None), second), strict=True))
    total = sum(one.total for one in moves.values())
    il1s = float("inf") if changed.any() else total / (np.sqrt(2.0) * n * d)
    information = _beyond_measure(information, [name for name, own in zip(names, changed, strict=True) if own])
    return LossMeasures(
        information=information,
        columns=tuple(columns),
        numbers=tuple(names),
        m1=m1,
        m2=float(_variations(mean_a, mean_b).mean()),
        m3=float(_variations(np.diagonal(cov_a), np.diagonal(cov_b)).mean()),
        m4=float(_variations(cov_a[above], cov_b[above]).mean()),
        m5=float(np.abs(change[pairs]).mean()) if d > 1 else 0.0,
        il1s=il1s,
        means={name: one.mean for name, one in moves.items()},
        deviations={name: one.deviation for name, one in moves.items()},
        quantiles={name: one.quantiles for name, one in moves.items()},
        correlations=change,
        others=computed("loss", original, masked, names),
    )


def _without_roundings(
    cov_a: NDArray[np.float64], cov_b: NDArray[np.float64], scale: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return covariances of both files, with zeros for what may be nothing but roundings."""
    for covariances in (cov_a, cov_b):
        variances = np.diagonal(covariances).copy()
        np.fill_diagonal(covariances, np.where(variances <= (_NOTHING * scale) ** 2, 0.0, variances))
    deviations = np.sqrt(np.maximum(np.diagonal(cov_a), np.diagonal(cov_b)))
    floor = _NOTHING * np.outer(deviations, deviations)
    np.fill_diagonal(floor, 0.0)
    return np.where(np.abs(cov_a) <= floor, 0.0, cov_a), np.where(np.abs(cov_b) <= floor, 0.0, cov_b)


def _beyond_measure(information: InformationLoss, changed: Sequence[Any]) -> InformationLoss:
    """Return the loss with that of changed constants as infinite.

    A column may be constant only where no other value is missing: what it lost is then known, and is above 0.
    """
    beyond = {name: float("inf") for name in changed if not information.per_column[name] > 0}
    if not beyond:
        return information
    per_column = {**information.per_column, **beyond}
    return replace(information, sse=float("inf"), percent=float("inf"), per_column=per_column)


def _changed_constants(original: NDArray[np.float64], masked: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Mark the columns that are constant in the original and are changed, by more than rounding, in the other."""
    found = original.max(axis=1) == original.min(axis=1)
    for j in np.flatnonzero(found):
        size = max(abs(original[j, 0]), np.abs(masked[j]).max())
        found[j] = np.abs(masked[j] - original[j]).max() > _NOTHING * size
    return np.asarray(found)


class _Moves(NamedTuple):
    """How a column's z-scores moved: its mean, deviation and quantiles, and all cells together."""

    mean: float
    deviation: float
    quantiles: tuple[float, ...]
    total: float  # infinite beyond float64, as where values near 0 became large ones


def _moves_of(
    original: NDArray[np.float64],
    masked: NDArray[np.float64],
    everybody: NDArray[np.float64] | None,
    n_columns: int,
    check: Callable[[], None],
) -> _Moves:
    """Return how one of so many columns moved; column by column, so that few copies are in memory at a time."""
    whole = original if everybody is None else everybody[~np.isnan(everybody)]
    own = moments(whole)
    before, after = standardise(whole, *own), standardise(masked, *own)
    check()
    with np.errstate(invalid="ignore"):  # between two that are beyond float64
        quantiles = np.quantile(after, QUANTILES) - np.quantile(before, QUANTILES)
    check()
    if everybody is not None:  # cells are those of the released records, and so is what they are divided by
        own = moments(original)
        before, masked = standardise(original, *own), standardise(masked, *own)
    changes = np.abs(before - (after if everybody is None else masked))
    within = changes.max() < np.finfo(np.float64).max / (n_columns * changes.size)
    return _Moves(
        mean=float(after.mean() - before.mean()),
        deviation=_deviation(after) - _deviation(before),
        quantiles=tuple(quantiles.tolist()),
        total=exact_sum(changes) if within else float("inf"),
    )


def _covariances(columns: NDArray[np.float64], means: NDArray[np.float64]) -> NDArray[np.float64]:
    centred = columns - means[:, None]
    return np.asarray(centred @ centred.T / columns.shape[1])


def _covariances_of_pairs(columns: NDArray[np.float64], means: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return covariances where values are missing: correlations of the records that have both, times deviations."""
    present = ~np.isnan(columns)
    known = present.astype(np.float64)
    centred = np.where(present, columns - means[:, None], 0.0)
    both = np.maximum(known @ known.T, 1.0)
    mean = centred @ known.T / both  # of each column, over the records that have the other too
    variances = np.maximum(centred**2 @ known.T / both - mean**2, 0.0)  # over the same
    below = np.sqrt(variances * variances.T)
    together = centred @ centred.T / both - mean * mean.T
    correlations = np.divide(together, below, out=np.zeros_like(below), where=below > 0)
    deviations = np.sqrt(np.diagonal(variances))
    return np.asarray(correlations * np.outer(deviations, deviations))


def _near_one(*files: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Divide each column of all files by one power of two: ratios stay, and no square overflows."""
    powers = np.frexp(np.max([_largest(file) for file in files], axis=0))[1][:, None]
    if np.abs(powers).max() > 1000:  # whose power of two is no float64
        return [np.ldexp(file, -powers) for file in files]
    factors = np.ldexp(1.0, -powers)
    return [file * factors for file in files]


def _largest(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return each column's largest absolute value."""
    return np.asarray(np.fmax(np.fmax.reduce(columns, axis=1), -np.fmin.reduce(columns, axis=1)))


def _means(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.array([exact_sum(known) / known.size for known in map(_known, columns)])


def _known(column: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the values that are present."""
    missing = np.isnan(column)
    return column[~missing] if missing.any() else column


def _deviation(values: NDArray[np.float64]) -> float:
    with np.errstate(over="ignore", invalid="ignore"):
        return float(values.std()) if np.isfinite(values).all() else float("inf")


def _root_mean_square(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.sqrt([(known**2).mean() for known in map(_known, columns)])


def _variations(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return |a − b| / |a|, over |b| where a is 0, and 0 where both are; infinite beyond float64."""
    below = np.where(a != 0, np.abs(a), np.abs(b))
    with np.errstate(over="ignore"):
        return np.asarray(np.divide(np.abs(a - b), below, out=np.zeros(a.shape), where=below > 0))


def _total_variation(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Return the exact sum of the variations; infinite beyond float64, as where a value near 0 became a large one."""
    found = _variations(a, b)
    if not found.size or found.max() < np.finfo(np.float64).max / found.size:
        return exact_sum(found)
    return float("inf")


def _correlations(covariances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the correlations; 0 with a constant column."""
    deviations = np.sqrt(np.diagonal(covariances))
    below = np.outer(deviations, deviations)
    return np.asarray(np.divide(covariances, below, out=np.zeros(covariances.shape), where=below > 0))
