"""MaximumDistance (MD): groups around the two records farthest from each other. For small files."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microagg._kernels.groups import group_rest, number_groups, place_leftovers_together
from microagg._kernels.maximum_distance import pairs_of_groups
from microagg.checks import matrix_and_k
from microagg.partition._progress import SLICE, Progress, remaining, start, tell


def maximum_distance(X: ArrayLike, k: int, *, progress: Progress | None = None) -> NDArray[np.int64]:
    """Label each record of X (n, d) with its group by MaximumDistance."""
    columns, k = matrix_and_k(X, k)
    n = columns.shape[1]
    pool, labels = start(columns)
    partner = np.full(n, -1)
    reach = np.full(n, np.inf)
    state = np.array([0, -1, 0])
    while remaining(pool) >= 2 * k:
        pairs_of_groups(pool, k, SLICE, partner, reach, state, labels)
        tell(progress, n - remaining(pool), n)
    if remaining(pool) >= k:
        group_rest(state[2], labels)
    elif remaining(pool) > 0:
        place_leftovers_together(columns, pool.sums / pool.counts[1], labels)
    number_groups(labels)
    tell(progress, n, n)
    return labels
