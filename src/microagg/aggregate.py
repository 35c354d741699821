"""From groups to released values: every member of a group gets the same."""

import numpy as np
from numpy.typing import NDArray

from microagg._kernels.sums import group_means, group_sizes
from microagg.checks import check_option

AGGREGATES = ("mean", "median")


def released_values(columns: NDArray[np.float64], labels: NDArray[np.int64], how: str = "mean") -> NDArray[np.float64]:
    """Replace each value of `columns` (d, n) by the mean or median of its group.

    `labels` are numbered from 0; shape (n,) or, where each column has groups of its own, (n, d).
    """
    check_option("aggregate", how, AGGREGATES)
    if labels.ndim == 2:
        parts = [
            released_values(columns[j : j + 1], np.ascontiguousarray(labels[:, j]), how) for j in range(len(columns))
        ]
        return np.concatenate(parts)
    n_groups = int(labels.max()) + 1
    if how == "median":
        return np.array([_medians(column, labels, n_groups)[labels] for column in columns])
    # Differences of values near the largest float overflow; an eighth of them does not.
    near_overflow = np.abs(columns).max() > 2.0**1020
    means = group_means(np.ldexp(columns, -3) if near_overflow else columns, labels, n_groups)
    return np.asarray((np.ldexp(means, 3) if near_overflow else means)[:, labels])


def _medians(column: NDArray[np.float64], labels: NDArray[np.int64], n_groups: int) -> NDArray[np.float64]:
    ordered = column[np.lexsort((column, labels))]
    sizes = group_sizes(labels, n_groups)
    starts = np.cumsum(sizes) - sizes
    lower, upper = ordered[starts + (sizes - 1) // 2], ordered[starts + sizes // 2]
    return np.asarray(np.where(lower == upper, lower, lower / 2 + upper / 2))
