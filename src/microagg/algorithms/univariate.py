"""Runs of an ordered file: each column on its own, or all columns along one axis."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microagg.algorithms._run import SLICE
from microagg.algorithms.kernels.groups import number_groups
from microagg.algorithms.kernels.partitioners import best_runs, label_runs
from microagg.algorithms.kernels.sums import exact_sums
from microagg.algorithms.method import Method
from microagg.algorithms.scores import standard_scores
from microagg.checks import check_option, matrix_and_k
from microagg.errors import InvalidParameter, a_type
from microagg.work import Progress, tell


def univariate(X: ArrayLike, k: int, *, method: str = "optimal", progress: Progress | None = None) -> NDArray[np.int64]:
    """Group each column of X (n, d) on its own; labels have shape (n, d), or (n,) for one column.

    "optimal" cuts the sorted column with the least squared error, "ranking" after every k values.
    """
    check_option("method", method, ("optimal", "ranking"))
    columns, k = matrix_and_k(X, k)
    d, n = columns.shape
    labels = np.empty((n, d), dtype=np.int64)
    for j in range(d):
        order = np.argsort(columns[j], kind="stable")
        if method == "optimal":
            labels[:, j] = _optimal(columns[j : j + 1], order, k, progress, before=n * j // d, weight=1 / d)
        else:
            labels[:, j] = _every_k(order, k)
        tell(progress, n * (j + 1) // d, n)
    return labels[:, 0].copy() if d == 1 else labels


def projection(X: ArrayLike, k: int, *, axis: Any = "pca", progress: Progress | None = None) -> NDArray[np.int64]:
    """Label each record of X (n, d) with its group: the best runs along one axis.

    The axis gives the order alone ("pca": first principal component; "zscores": sum of z-scores; a
    number: that column); the runs are cut with the least squared error over all columns.
    """
    columns, k = matrix_and_k(X, k)
    n = columns.shape[1]
    labels = _optimal(columns, np.argsort(_scores(columns, axis), kind="stable"), k, progress)
    tell(progress, n, n)
    return labels


def _every_k(order: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    n = order.shape[0]
    labels = np.empty(n, dtype=np.int64)
    labels[order] = np.minimum(np.arange(n) // k, n // k - 1)
    number_groups(labels)
    return labels


def _optimal(
    columns: NDArray[np.float64],
    order: NDArray[np.int64],
    k: int,
    progress: Progress | None,
    before: int = 0,
    weight: float = 1.0,
) -> NDArray[np.int64]:
    d, n = columns.shape
    ordered = columns[:, order]
    least_error = np.zeros(n + 1)
    last_run = np.zeros(n + 1, dtype=np.int64)
    step = max(1, SLICE // (20 * d * k))  # a coordinate costs a division here, so a slice holds fewer
    for begin in range(1, n + 1, step):
        best_runs(ordered, k, begin, min(begin + step, n + 1), least_error, last_run)
        tell(progress, before + int(weight * (begin - 1)), n)
    labels = np.empty(n, dtype=np.int64)
    label_runs(order, last_run, labels)
    number_groups(labels)
    return labels


def _scores(columns: NDArray[np.float64], axis: Any) -> NDArray[np.float64]:
    d = columns.shape[0]
    if isinstance(axis, (int, np.integer)) and not isinstance(axis, bool):
        if not 0 <= axis < d:
            raise InvalidParameter(
                f"axis={axis} is not a column of X, which has {d}. Pass 0 to {d - 1}.", parameter="axis"
            )
        return np.asarray(columns[axis])
    if axis not in ("pca", "zscores"):
        shown = repr(axis) if isinstance(axis, str) else a_type(axis)
        raise InvalidParameter(f"axis={shown} is not known. Pass 'pca', 'zscores' or a column.", parameter="axis")
    weights = np.ones(d)
    if axis == "zscores":
        columns = standard_scores(columns)
    else:
        columns = columns - (exact_sums(columns) / columns.shape[1])[:, None]
        vectors = np.linalg.eigh(np.atleast_2d(np.cov(columns)))[1]
        # Rounded, so that the last bits of a machine's linear algebra decide nothing; the sign is free.
        weights = vectors[:, -1].round(12)
        weights *= np.sign(weights[np.argmax(np.abs(weights))])
    total = np.zeros(columns.shape[1])
    for column, weight in zip(columns, weights, strict=True):
        total += weight * column
    return total


PROJECTION = Method(
    "projection",
    projection,
    "records ordered along one axis, and that order cut where it costs least",
    {"axis": "pca, zscores or a column: what records are ordered along"},
)
UNIVARIATE = Method(
    "univariate",
    partial(univariate, method="optimal"),
    "each column ordered and cut on its own, where it costs least",
    per_column=True,
)
RANKING = Method(
    "ranking",
    partial(univariate, method="ranking"),
    "each column ordered and cut on its own, every k records",
    per_column=True,
)
