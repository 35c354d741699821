"""MDAV: maximum distance to average vector."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microagg._kernels.cbfs import groups_from_outside
from microagg._kernels.groups import group_rest, number_groups, place_leftovers_together
from microagg._kernels.mdav import pairs_of_groups
from microagg.checks import check_option, matrix_and_k
from microagg.partition._progress import SLICE, Progress, remaining, start, tell


def mdav(X: ArrayLike, k: int, *, tail: str = "3k", progress: Progress | None = None) -> NDArray[np.int64]:
    """Label each record of X (n, d) with its group by MDAV.

    `tail="3k"` is the usual algorithm; `tail="2k"` is the loop of approximate microaggregation (AMA).
    """
    check_option("tail", tail, ("3k", "2k"))
    columns, k = matrix_and_k(X, k)
    n = columns.shape[1]
    least = 3 * k if tail == "3k" else 2 * k
    pool, labels = start(columns)
    n_groups = 0
    while remaining(pool) >= least:
        n_groups = pairs_of_groups(pool, k, least, SLICE, n_groups, labels)
        tell(progress, n - remaining(pool), n)
    if tail == "3k":
        n_groups = groups_from_outside(pool, k, 2 * k, SLICE, n_groups, labels)
    if remaining(pool) >= k:
        group_rest(n_groups, labels)
    elif remaining(pool) > 0:
        place_leftovers_together(columns, pool.sums / pool.counts[1], labels)
    number_groups(labels)
    tell(progress, n, n)
    return labels
