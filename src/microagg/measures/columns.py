"""What became of each masked column, in its own terms: mismatches, levels, spikes, entropy, spans, totals."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.equivalence import codes_of, distinct_of
from microagg.algorithms.kernels.sums import exact_sum
from microagg.base.frozen import frozen
from microagg.checks import check_jobs
from microagg.columns.kinds import Cells, Nominal, Number, Ordinal, Semi, Taxonomy
from microagg.columns.kinds.nominal import numbers_of
from microagg.columns.table import Coded, Table
from microagg.work import Progress, SharedProgress, in_parallel

_MOST_CODES = 50  # different values: above, whole numbers are taken for quantities
_CANCELLED = 0.05  # of the sum of absolute values: a total that is less is not compared
_GAPS = (
    0.5  # of the steps between the lowest and the highest value: codes leave out so many, few hours or children do not
)


@frozen()
class ColumnChange:
    """What became of one column; shares are percentages, and None where they mean nothing for its kind.

    Not for publication: with the masked file it gives statistics of the original away.

    Attributes
    ----------
    mismatches : float or None
        Of a nominal column: records with another category than they had, a missing one being one more.
    levels : float or None
        Of an ordinal column: the mean distance between the level before and after, where lowest and highest are 100.
    common : float or None
        Of a quantity: the value that most records have; of a semi-continuous column its spike.
    common_before, common_after : float or None
        Of all records, those that have it.
    uncertainty : float or None
        Of a nominal or ordinal column: how much of its entropy is left to guess by who knows the released value,
        H(X|X′) / H(X).
    span : float
        How wide the groups are, on average over the records (NCP): range by range, or categories by categories.
    total : float or None
        Of a quantity: how far its total moved, by weight where what groups release is weighted; None where positive and
        negative values nearly cancel.
    left_out : float or None
        How far it moved because records were left out, before anything was masked; None where none were.
    filled, blanked : int
        Cells that were missing and have a value now, and the other way.
    coded : bool
        Whether a column masked as a number looks like codes: whole numbers, few of them, with gaps.
    unknown : float or None
        Of a column of few whole numbers: records released with a value that no record had.
    """

    mismatches: float | None = None
    levels: float | None = None
    common: float | None = None
    common_before: float | None = None
    common_after: float | None = None
    uncertainty: float | None = None
    span: float = 0.0
    total: float | None = None
    left_out: float | None = None
    filled: int = 0
    blanked: int = 0
    coded: bool = False
    unknown: float | None = None


Both = tuple[NDArray[np.float64], NDArray[np.float64]]

Everybody = tuple[Table, NDArray[np.float64] | None]
"""The whole original, where records were left out, and its weights, if it has any."""


def changes_of(
    original: Table,
    masked: Table,
    groups: NDArray[np.int64],
    weights: Both | None = None,
    progress: Progress | None = None,
    everybody: Everybody | None = None,
) -> dict[Any, ColumnChange]:
    """Return what became of each column; `groups` are of shape (n,), or (n, d) where each column has its own.

    With `weights`, before and after masking, totals are weighted. Where records were left out, totals and shares of
    the commonest value are compared with those of `everybody`.
    """
    told = SharedProgress(progress, len(original))

    def one(j: int, check: Callable[[], None]) -> ColumnChange:
        def heard() -> None:
            check()
            told(0)

        labels = groups if groups.ndim == 1 else np.ascontiguousarray(groups[:, j])
        before, after = original.columns[j], masked.columns[j]
        found = change_of(before, after, labels, weights, heard)
        if everybody is not None and before.kind.is_quantity:
            whole, own = everybody[0].columns[j], everybody[1]
            kept = released = None
            if weights is not None and own is not None:
                kept, released = (own, weights[0]), (own, weights[1])
            left_out = _total_moved(whole.cells, before.cells, kept)
            found = replace(found, **_of_quantity(whole, after, released, heard), left_out=left_out)
        told(1)
        return found

    found = in_parallel(one, range(len(original)), check_jobs(None))
    return dict(zip(original.names, found, strict=True))


def change_of(
    before: Coded,
    after: Coded,
    labels: NDArray[np.int64],
    weights: Both | None = None,
    heard: Callable[[], None] = lambda: None,
) -> ColumnChange:
    """Return what became of one column; `heard` is called often, and what it raises stops the work."""
    kind = before.kind
    was, now = before.cells.present, after.cells.present
    found: dict[str, Any] = {
        "span": 100.0 * _mean_span(before, labels, heard),
        "filled": int(np.count_nonzero(now & ~was)),
        "blanked": int(np.count_nonzero(was & ~now)),
    }
    heard()
    if isinstance(kind, Nominal):
        found["mismatches"] = 100.0 * float(np.mean(before.cells.classes != after.cells.classes))
    if isinstance(kind, Ordinal):
        moves = np.abs(before.values - after.values)[was & now]
        found["levels"] = 100.0 * float(moves.mean()) / max(1, kind.n_levels - 1) if moves.size else 0.0
    if isinstance(kind, (Nominal, Ordinal)):
        found["uncertainty"] = _uncertainty(before.cells, after.cells, heard)
    if kind.is_quantity:
        found |= _of_quantity(before, after, weights, heard)
    return ColumnChange(**found)


def _of_quantity(before: Coded, after: Coded, weights: Both | None, heard: Callable[[], None]) -> dict[str, Any]:
    """Return what became of the commonest value and of the total, and whether the column looks like codes."""
    known, released = before.cells.known, after.cells.known
    values, counts = np.unique(known, return_counts=True)
    heard()
    if not values.size:
        return {}
    common = before.kind.spike if isinstance(before.kind, Semi) else float(values[counts.argmax()])
    few = values.size <= _MOST_CODES and bool((values == np.rint(values)).all())
    unknown = 100.0 * float(np.mean(~np.isin(released, values))) if few and released.size else None
    heard()
    return {
        "common": common,
        "common_before": 100.0 * np.count_nonzero(known == common) / before.values.size,
        "common_after": 100.0 * np.count_nonzero(released == common) / after.values.size,
        "total": _total_moved(before.cells, after.cells, weights),
        "coded": few and type(before.kind) is Number and has_gaps(values),
        "unknown": unknown,
    }


def has_gaps(values: NDArray[np.float64]) -> bool:
    """Return whether different whole numbers, in order, leave out many of the steps between them, as codes do."""
    if values.size < 3 or float(values[-1]) - float(values[0]) > 2.0**53:
        return False
    steps = np.diff(values).astype(np.int64)
    places = int(steps.sum()) // int(np.gcd.reduce(steps)) + 1  # amounts in tens leave nothing out by tens
    return bool(values.size < (1.0 - _GAPS) * places)


def _total_moved(was: Cells, now: Cells, weights: Both | None) -> float | None:
    """Return how far a total moved, in percent of itself; None where there is none to speak of."""
    largest = float(np.abs(was.known).max(initial=0.0))
    if largest == 0.0:
        return None
    power = -int(np.frexp(largest)[1])  # no sum overflows
    known, released = np.ldexp(was.known, power), np.ldexp(now.known, power)
    if weights is not None:
        known, released = known * weights[0][was.present], released * weights[1][now.present]
    before, after = exact_sum(known), exact_sum(released)
    # Where positive and negative values nearly cancel, what is left is no measure of them.
    whole = exact_sum(np.abs(known))
    return 100.0 * (after - before) / abs(before) if abs(before) > _CANCELLED * whole else None


def _uncertainty(before: Cells, after: Cells, heard: Callable[[], None]) -> float:
    """Return H(X|X′) / H(X) in percent, missing ones being values of their own; 0 where nothing varies."""
    codes = codes_of(before.classes)
    heard()
    released = codes_of(after.classes)
    heard()
    whole = _entropy(codes)
    pairs = codes_of(codes * (int(released.max()) + 1) + released)
    return 100.0 * max(0.0, _entropy(pairs) - _entropy(released)) / whole if whole > 0 else 0.0


def _entropy(codes: NDArray[np.int64]) -> float:
    shares = np.bincount(codes) / codes.size
    shares = shares[shares > 0]
    return float(-(shares * np.log(shares)).sum())


def _mean_span(column: Coded, labels: NDArray[np.int64], heard: Callable[[], None]) -> float:
    """Return the mean over the records of how wide their group is, from 0 to 1."""
    sizes = np.bincount(labels)
    if isinstance(column.kind, Nominal):
        spans = _spans_of_categories(column, labels, heard)
    else:
        spans = _spans_by_order(column, labels)
    return float((sizes * spans).sum() / labels.size)


def _spans_by_order(column: Coded, labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return each group's range as a share of the column's; of what is present."""
    lowest, highest = _extremes(column.cells.known, labels[column.cells.present], int(labels.max()) + 1)
    known = column.cells.known
    top, bottom = float(known.max(initial=-np.inf)), float(known.min(initial=np.inf))
    if not top > bottom:
        return np.zeros(lowest.size)
    # Halved, since the width of ±1e308 is beyond float64.
    whole = top / 2 - bottom / 2
    if whole == 0:  # float64 cannot halve what they differ by
        return np.asarray((highest > lowest).astype(np.float64))
    with np.errstate(over="ignore"):  # which NumPy before 2 reports of the smallest floats
        spans = (highest / 2 - lowest / 2) / whole
    return np.asarray(np.where(highest >= lowest, spans, 0.0))


def _spans_of_categories(column: Coded, labels: NDArray[np.int64], heard: Callable[[], None]) -> NDArray[np.float64]:
    """Return the share of all categories that a group holds, 0 where it holds one: by a taxonomy, those under it."""
    n_codes = int(column.cells.known.max(initial=-1.0)) + 1
    meaning, codes = np.unique(numbers_of(column.cells, n_codes), return_inverse=True)
    heard()
    n_groups, n_categories = int(labels.max()) + 1, meaning.size
    distinct = np.bincount(distinct_of(labels * n_categories + codes) // n_categories, minlength=n_groups)
    if not isinstance(column.kind, Taxonomy):
        return np.where(distinct > 1, distinct / n_categories, 0.0)
    spans = np.ones(n_groups)
    # From the root down: the lowest ancestor that all members share counts.
    for ancestors in reversed([np.array(level) for level in column.kind.kin]):
        heard()
        leaves = np.bincount(ancestors) / ancestors.size
        is_missing = meaning[codes] >= n_codes
        own = np.where(is_missing, -1, ancestors[np.where(is_missing, 0, meaning[codes])]).astype(np.float64)
        lowest, highest = _extremes(own, labels, n_groups)
        shared = (lowest == highest) & (lowest >= 0)
        spans[shared] = leaves[lowest[shared].astype(np.int64)]
    return np.where(distinct > 1, spans, 0.0)


def _extremes(
    values: NDArray[np.float64], labels: NDArray[np.int64], n_groups: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the lowest and the highest value of each group; of one without any, infinite ones the wrong way round."""
    lowest, highest = np.full(n_groups, np.inf), np.full(n_groups, -np.inf)
    np.minimum.at(lowest, labels, values)
    np.maximum.at(highest, labels, values)
    return lowest, highest
