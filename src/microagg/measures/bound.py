"""How little any grouping could lose: a lower bound by each record's nearest neighbours, or by linear programming."""

from collections.abc import Callable
from dataclasses import replace
from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from microagg.algorithms._run import SLICE, records_and_k
from microagg.algorithms.equivalence import rows_of
from microagg.algorithms.kernels.bounds import sum_nearest
from microagg.algorithms.kernels.brute import make_pool
from microagg.algorithms.kernels.pool import SPENT, TINY, Pool
from microagg.algorithms.kernels.records import Records, plain_records, take
from microagg.algorithms.kernels.sums import exact_sum
from microagg.algorithms.kernels.tree import rows_by_leaf, tree_of_records
from microagg.algorithms.refine import squared_error
from microagg.algorithms.tight_bound import tight_bound
from microagg.base.frozen import frozen
from microagg.checks import check_jobs, check_option
from microagg.columns.embedding import embed
from microagg.columns.kinds import Number
from microagg.columns.table import Table
from microagg.columns.weights import Labels
from microagg.measures.loss import InformationLoss
from microagg.work import ALONE, Progress, Work, part, tell

MOST_WORK = 20_000_000_000
"""Coordinates that may be looked at for the bound of a release: 3 to 20 s of one processor."""

METHODS = ("neighbours", "programme")
"""How a bound can be found."""

_STEPS = 1000  # of the progress of a bound by linear programming; the last is that of its neighbours
_FEW = 200_000_000  # coordinates: up to here brute force takes a moment, and spares compiling the search by tree
_TRIED = 64  # records that show how much all will take
_MOST_AT_ONCE = 1000  # records between two calls of progress
_EPSILON = 2.0**-52


@frozen()
class LossBound:
    """How little any grouping of the same file could lose, beside what a release loses; not for publication.

    Attributes
    ----------
    percent : float or None
        No grouping into groups of at least k loses less. None where it was not found; `why_not` says why.
    reached : float or None
        What the release loses, in the same terms.
    of : str
        "information loss" where all masked columns are numbers, dates or amounts and nothing is missing. Else "squared
        distances": 100 · SSE / SST of the records as points, which bounds no information loss.
    k : int
    within : str
        Which groupings are meant: those "within the strata" where there are any, and those "of single columns" where
        each column has groups of its own.
    weighted : bool
        Whether records have weights. Both figures are without them.
    why_not : str
        Empty where the bound was found.

    Examples
    --------
    >>> import microagg as ma
    >>> survey = ma.datasets.survey(300, seed=0).select(["age", "income", "tax"])
    >>> print(ma.protect(survey, k=3).loss.bound)
    No grouping at k=3 can lose less than 0.59 %; this one loses 1.3 %.
    """

    percent: float | None
    reached: float | None
    of: str
    k: int
    within: str = ""
    weighted: bool = False
    why_not: str = ""

    def __str__(self) -> str:
        if self.percent is None:
            return f"It is not known how little any grouping at k={self.k} could lose: {self.why_not}."
        if self.percent == 0.0:
            return ""  # nobody needs to read that
        within = f" {self.within}" if self.within else ""
        least, own = _shown(self.percent, ROUND_FLOOR), _shown(self.reached, ROUND_HALF_EVEN)
        words = f"o grouping at k={self.k}{within} can lose less than {least} %"
        loses = f"; this one loses {own} %" if own else ""
        loses += ", both without weights" if self.weighted and own else ""
        if self.of == "information loss":
            return f"N{words}{loses}."
        return (
            f"Of the squared distances between records, n{words}{loses}. The information loss is another measure: it "
            f"takes each column by its kind."
        )


def _shown(percent: float | None, rounding: str) -> str:
    """Return a percentage with the digits that matter; a bound is rounded down, so that it stays one."""
    if percent is None or not np.isfinite(percent):
        return ""
    if percent == 0.0:
        return "0"
    value = Decimal(percent)
    digits = 1 if value >= 1 else 1 - value.adjusted()
    return f"{value.quantize(Decimal(1).scaleb(-digits), rounding):f}"


def loss_bound(
    X: ArrayLike | Records,
    k: int,
    *,
    method: str = "neighbours",
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> float:
    """Return a loss that no grouping of these records can undercut, in percent of their variation.

    Every partition into groups of at least k loses at least so much where each record is replaced by its group's
    centroid, and more where by anything else.

    Parameters
    ----------
    X : array of shape (n, d)
        The records. They are not scaled: standardise them first where every column should have the same weight.
    k : int
        The least number of records in a group.
    method : {"neighbours", "programme"}
        "neighbours" takes the time of a search for k - 1 neighbours. The bound is 63 to 74 % of the best losses known
        of the reference files. "programme" also solves linear programmes, for at most 5000 records: the bound is 97 to
        99.9 % of the best losses known. For a thousand records it takes some 10 seconds at k = 3, two minutes at k = 5
        and much longer for a larger k. It is never below the bound by neighbours.
    n_jobs : int, optional
        Threads of the search for neighbours; by default one a core. The result does not depend on it.
    progress : callable, optional
        Called as progress(done, in all), often; what it raises stops the work.

    Returns
    -------
    float
        100 · SSE / SST, rounded down far enough that no error of floating-point arithmetic lifts it above the bound;
        0 where nothing varies.

    Examples
    --------
    >>> import microagg as ma
    >>> X = ma.datasets.uniform(1000, 3, seed=0)
    >>> round(ma.loss_bound(X, k=3), 2)
    0.69
    >>> round(ma.information_loss(X, ma.MDAV(k=3).fit_predict(X)).percent, 2)
    1.36
    >>> X = X[:100]
    >>> round(ma.loss_bound(X, k=3), 2), round(ma.loss_bound(X, k=3, method="programme"), 2)
    (3.58, 5.41)
    """
    check_option("method", method, METHODS)
    records, k = records_and_k(X, k)
    whole = np.zeros(records.entries.shape[1], dtype=np.int64)
    least, threads = 0.0, check_jobs(n_jobs)
    if method == "programme":
        least = tight_bound(records, k, progress=part(progress, 0, _STEPS - 1, _STEPS)).percent
        progress = part(progress, _STEPS - 1, _STEPS, _STEPS)
    found = _percent([records], whole, k, Work(threads, progress))
    assert found is not None  # which only a limit can prevent
    return max(least, found)


def bound_of_release(
    original: Table,
    information: InformationLoss,
    strata: Labels,
    alike: Labels,
    k: int,
    *,
    spike: float = 1.0,
    weighted: bool = False,
    work: Work = ALONE,
) -> LossBound:
    """Return the bound of a release of so much loss; groups lie within `strata`.

    `alike` numbers the records with the same released values, (n,), or (n, d) where each column has groups of its own.
    """
    per_column = alike.ndim == 2
    within = ["of single columns"] * per_column + ["within the strata"] * bool(strata.any())
    squared = all(column.kind.is_squared for column in original) and original.is_complete
    space = Table(tuple(replace(column, kind=Number()) for column in original)) if squared else original
    records, _ = records_and_k(embed(space, spike=spike, work=work.unseen).records, k)
    apart = [plain_records(column[None, :]) for column in records.entries] if per_column else [records]
    percent = _percent(apart, strata, k, work, MOST_WORK)
    reached = None if percent is None else information.percent if squared else _reached(records, alike, work.progress)
    return LossBound(
        percent=percent,
        reached=reached,
        of="information loss" if squared else "squared distances",
        k=k,
        within=" ".join(within),
        weighted=weighted,
        why_not="the computation would take too long on a file of this size" if percent is None else "",
    )


def _percent(apart: list[Records], strata: Labels, k: int, work: Work, limit: int | None = None) -> float | None:
    """Return the bound of records, or of columns that are grouped apart, in percent of the variation of all together.

    None where more coordinates would have to be looked at than the limit.
    """
    n, total = strata.size, sum(map(_total, apart))
    if n < 2 * k:  # one group is all there can be
        work.tell(1, 1)
        return 100.0 if total > 0 else 0.0
    errors, spent, done, steps = [], 0, 0, n * len(apart)
    for records in apart:
        for rows in rows_of(strata):
            own = records if rows.size == n else take(records, rows)
            search = _Search(own, k, work.part(done, done, steps).progress)
            spent += search.expected
            if limit is not None and spent > limit:
                return None
            errors.append(search.least_error(work.part(done, done + rows.size, steps)))
            done += rows.size
    # What roundings can have added in all; sums of squares may also lose something by underflow.
    roundings = max(map(_n_terms, apart)) + 2 * k + 2 * len(apart) + 32
    least = exact_sum(np.array(errors)) * (1.0 - roundings * _EPSILON) - TINY
    return max(0.0, 100.0 * least / (total + TINY))


def _reached(records: Records, alike: Labels, progress: Progress | None) -> float:
    """Return what groups lose of the variation, in percent, where their means stand for their members."""
    total, hear = _total(records), partial(tell, progress, 1, 1)
    return 100.0 * squared_error(records, alike, hear) / total if total > 0 else 0.0


def _n_terms(records: Records) -> int:
    """Count the terms of a squared distance, and of the variation."""
    return int(2 * (records.entries.shape[0] + records.heights.size))


def _total(records: Records) -> float:
    """Return the sum of squared distances to the mean of all: not less than that, but for roundings of each square.

    A mean that is rounded makes it larger.
    """
    numbers, n = int(records.starts[0]), records.entries.shape[1]
    squares = [exact_sum((column - exact_sum(column) / n) ** 2) for column in records.entries[:numbers]]
    for height, codes in zip(records.heights, records.entries[numbers:], strict=True):
        counts = np.bincount(codes.astype(np.int64)).tolist()
        squares.append(height * height * ((n * n - sum(count * count for count in counts)) / n))
    return exact_sum(np.array(squares))


class _Search:
    """The records of a stratum, ready for the search of everybody's neighbours."""

    def __init__(self, records: Records, k: int, hear: Progress | None) -> None:
        d, self.n = records.entries.shape
        self.size = k if self.n >= 2 * k else self.n  # of the least group: fewer than 2k are one
        heard = partial(tell, hear, 0, 1)
        if self.n * self.n * d <= _FEW:
            self.pool, self.order = make_pool(records), np.arange(self.n)
        else:
            self.pool = tree_of_records(records, heard)
            self.order = rows_by_leaf(self.pool)  # neighbours in space are neighbours in memory
        self.sums = np.empty(self.n)
        tried = self.order[:: 1 + self.n // _TRIED].copy()  # a view with gaps would compile the kernel once more
        pool = self._sum(tried, 0, tried.size, heard)
        each = -(-int(pool.state[SPENT]) // tried.size)
        self.expected = self.n * each
        self._at_once = max(1, min(_MOST_AT_ONCE, SLICE // each))

    def _sum(self, order: Labels, start: int, stop: int, check: Callable[[], None]) -> Pool:
        """Sum up the neighbours of some records; give the pool with what was spent on it by this call alone."""
        pool = self.pool._replace(state=self.pool.state.copy())
        while start < stop:
            check()
            start = sum_nearest(pool, order, start, stop, self.size, SLICE, self.sums)
        return pool

    def least_error(self, work: Work) -> float:
        """Return the sum of what each record adds at least to the squared error of any partition."""

        def look(start: int, check: Callable[[], None]) -> None:
            self._sum(self.order, start, min(start + self._at_once, self.n), check)

        work.each(look, range(0, self.n, self._at_once))
        return exact_sum(self.sums) / (2.0 * self.size)
