"""Information loss: how far the released values are from the original ones."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microagg.algorithms.kernels.sums import exact_sum, rounded_group_means
from microagg.algorithms.scores import sum_of_squares
from microagg.base.frozen import ReadOnly, frozen
from microagg.checks import check_labels, check_matrix, common_power
from microagg.columns.kinds import Kind
from microagg.columns.table import Table
from microagg.columns.weights import Weights
from microagg.work import ALONE, Work


@frozen()
class InformationLoss(ReadOnly):
    """The share of the data's variation that microaggregation removed; lower is better.

    From 0 up to 100 for group means; medians and rounding can, rarely, do worse than one mean for all.

    Attributes
    ----------
    sse : float
        Sum of squared differences between original and released values.
    sst : float
        Sum of squared differences between original values and their column means.
    percent : float
        100 · sse / sst; 0 where nothing varies, and infinite where that was changed all the same.
    per_column : mapping
        The same percentage for each column.
    uncounted : mapping
        That of the columns with importance 0, which are not in the other figures.

    Examples
    --------
    >>> import microagg as ma
    >>> loss = ma.information_loss([[1.0], [2.0], [8.0], [9.0]], [0, 0, 1, 1])
    >>> loss
    InformationLoss(percent=2, sse=1, sst=50)
    """

    sse: float
    sst: float
    percent: float
    per_column: Mapping[object, float]
    uncounted: Mapping[object, float] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"InformationLoss(percent={self.percent:.6g}, sse={self.sse:.6g}, sst={self.sst:.6g})"


def information_loss(X: ArrayLike, labels: ArrayLike) -> InformationLoss:
    """Measure the information lost when each record is replaced by its group's centroid.

    Parameters
    ----------
    X : array of shape (n, d)
        The records, used without scaling: standardise them first where columns should count equally.
    labels : array of shape (n,), or (n, d) where each column has groups of its own
        The group of each record.

    Returns
    -------
    InformationLoss

    Examples
    --------
    >>> import microagg as ma
    >>> X = ma.datasets.uniform(1000, 3, seed=0)
    >>> round(ma.information_loss(X, ma.MDAV(k=3).fit_predict(X)).percent, 2)
    1.36
    """
    matrix = check_matrix(X)
    groups = check_labels(labels, *matrix.shape)
    columns = np.ascontiguousarray(matrix.T)
    power = common_power(columns)
    columns = np.ldexp(columns, -power)
    released = np.empty_like(columns)
    for j in range(len(columns)):
        own = np.ascontiguousarray(groups if groups.ndim == 1 else groups[:, j])
        released[j] = rounded_group_means(columns[j], own, int(own.max()) + 1)[own]
    return loss_between(columns, released, range(len(columns)), power)


def loss_between(
    original: NDArray[np.float64], released: NDArray[np.float64], names: Sequence[object], power: int = 0
) -> InformationLoss:
    """Measure the loss between two sets of columns (d, n), both divided by 2**power."""
    pairs = [_error_and_total(a, b) for a, b in zip(original, released, strict=True)]
    errors, totals = [error for error, _ in pairs], [total for _, total in pairs]
    return loss_of_sums(errors, totals, names, power)


def loss_of_release(original: Table, released: Table, work: Work = ALONE) -> InformationLoss:
    """Measure the loss between two tables, each column in its own terms, as a share of what one value for all loses.

    Numbers that are complete count by the squares of their standard scores; every other column counts as one of them,
    so that the columns' shares are averaged, by their importance.
    """
    n = original.n_records
    errors, totals = [0.0] * len(original), [0.0] * len(original)

    def one(j: int, _: Callable[[], None]) -> None:
        before, after = original.columns[j], released.columns[j]
        lost, base = before.kind.loss(before.cells, after.cells, before.facts)
        complete = before.cells.states is None and after.cells.states is None
        errors[j], totals[j] = as_counted(before.kind, lost, base, n, complete=complete)

    work.each(one, range(len(original)))
    return loss_of_sums(errors, totals, original.names, weights=[column.importance for column in original])


def weighted_loss_of_release(original: Table, released: Table, weights: Weights, work: Work = ALONE) -> InformationLoss:
    """Measure the loss between two tables with weights in all sums: the columns' shares averaged by importance."""
    n = original.n_records
    errors, totals = [0.0] * len(original), [0.0] * len(original)

    def one(j: int, _: Callable[[], None]) -> None:
        before, after = original.columns[j], released.columns[j]
        lost, base = before.kind.weighted_loss(before.cells, after.cells, before.facts, weights)
        errors[j], totals[j] = as_counted(before.kind, lost, base, n, complete=False)

    work.each(one, range(len(original)))
    return loss_of_sums(errors, totals, original.names, weights=[column.importance for column in original])


def as_counted(kind: Kind, lost: float, base: float, n: int, *, complete: bool) -> tuple[float, float]:
    """Return a column's loss, and that of one value for all, in the form that is added up over columns."""
    if base > 0 and not (kind.is_squared and complete):
        return lost / base * n, float(n)
    return lost, base


def loss_of_sums(
    errors: Sequence[float],
    totals: Sequence[float],
    names: Sequence[object],
    power: int = 0,
    weights: Sequence[float] | None = None,
) -> InformationLoss:
    """Return the loss from each column's squared error and its sum of squares about the mean."""
    weights = [1.0] * len(names) if weights is None else weights
    sse = sum(weight * error for weight, error in zip(weights, errors, strict=True))
    sst = sum(weight * total for weight, total in zip(weights, totals, strict=True))
    per_column = {name: _percent(e, t) for name, e, t in zip(names, errors, totals, strict=True)}
    return InformationLoss(
        sse=_times_power(sse, 2 * power),
        sst=_times_power(sst, 2 * power),
        percent=_percent(sse, sst),
        per_column=per_column,
        uncounted={name: per_column[name] for name, weight in zip(names, weights, strict=True) if weight == 0},
    )


def _error_and_total(before: NDArray[np.float64], after: NDArray[np.float64]) -> tuple[float, float]:
    """Return the squared error between two columns, and the first one's sum of squares about its mean."""
    return sum_of_squares(before - after), exact_sum((before - exact_sum(before) / before.size) ** 2)


def _times_power(value: float, power: int) -> float:
    with np.errstate(over="ignore", under="ignore"):  # beyond float64 the sum itself is infinite, or 0
        return float(np.ldexp(value, power))


def _percent(error: float, total: float) -> float:
    if total > 0:
        return 100.0 * error / total
    return error if math.isinf(error) else 0.0  # rounding noise is no change
