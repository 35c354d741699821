"""From groups to released values: every member of a group gets the same."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from microagg._kernels.sums import group_sizes, rounded_group_means
from microagg.checks import check_option
from microagg.parallel import in_parallel

AGGREGATES = ("mean", "median")


def released_values(
    columns: NDArray[np.float64], labels: NDArray[np.int64], how: str = "mean", n_jobs: int = 1
) -> NDArray[np.float64]:
    """Replace each value of `columns` (d, n) by the mean or median of its group.

    `labels` are numbered from 0; shape (n,) or, where each column has groups of its own, (n, d).
    """
    check_option("aggregate", how, AGGREGATES)
    released = np.empty_like(columns)

    def one(j: int, _: Callable[[], None]) -> None:
        own = labels if labels.ndim == 1 else np.ascontiguousarray(labels[:, j])
        n_groups = int(own.max()) + 1
        of_groups = _medians(columns[j], own, n_groups) if how == "median" else _means(columns[j], own, n_groups)
        np.take(of_groups, own, out=released[j])

    in_parallel(one, range(len(columns)), n_jobs)
    return released


def _means(column: NDArray[np.float64], labels: NDArray[np.int64], n_groups: int) -> NDArray[np.float64]:
    # Sums of values near the largest float overflow; those of a fraction of them do not.
    power = 100 if np.abs(column).max() > 2.0**900 else 0
    means = rounded_group_means(np.ldexp(column, -power) if power else column, labels, n_groups)
    return np.asarray(np.ldexp(means, power) if power else means)


def _medians(column: NDArray[np.float64], labels: NDArray[np.int64], n_groups: int) -> NDArray[np.float64]:
    ordered = column[np.lexsort((column, labels))]
    sizes = group_sizes(labels, n_groups)
    starts = np.cumsum(sizes) - sizes
    lower, upper = ordered[starts + (sizes - 1) // 2], ordered[starts + sizes // 2]
    return np.asarray(np.where(lower == upper, lower, lower / 2 + upper / 2))
