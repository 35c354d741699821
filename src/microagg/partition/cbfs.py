"""CBFS: centroid-based fixed size."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microagg._kernels.cbfs import groups_from_outside
from microagg._kernels.groups import number_groups, place_each_leftover
from microagg.checks import matrix_and_k
from microagg.partition._progress import SLICE, Progress, remaining, start, tell


def cbfs(X: ArrayLike, k: int, *, progress: Progress | None = None) -> NDArray[np.int64]:
    """Label each record of X (n, d) with its group by CBFS."""
    columns, k = matrix_and_k(X, k)
    n = columns.shape[1]
    pool, labels = start(columns)
    n_groups = 0
    while remaining(pool) >= k:
        n_groups = groups_from_outside(pool, k, k, SLICE, n_groups, labels)
        tell(progress, n - remaining(pool), n)
    place_each_leftover(columns, labels)
    number_groups(labels)
    tell(progress, n, n)
    return labels
