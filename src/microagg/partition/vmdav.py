"""V-MDAV: MDAV with groups of variable size."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microagg._kernels.groups import number_groups, place_each_leftover
from microagg._kernels.vmdav import extended_groups
from microagg.checks import matrix_and_k
from microagg.errors import InvalidParameter
from microagg.partition._outside import from_outside
from microagg.partition._progress import SLICE, Progress, remaining, start, tell


def vmdav(X: ArrayLike, k: int, *, gamma: Any = 0.2, progress: Progress | None = None) -> NDArray[np.int64]:
    """Label each record of X (n, d) with its group by V-MDAV.

    A record joins a full group when its distance to it is less than `gamma` times its distance to
    the nearest other free record: 0.2 suits scattered data, 1.1 clustered data.
    """
    if isinstance(gamma, bool) or not isinstance(gamma, (int, float, np.number)) or not 0 <= gamma < np.inf:
        shown = gamma if isinstance(gamma, (int, float, np.number)) else f"a {type(gamma).__name__}"
        raise InvalidParameter(f"gamma={shown} must be a number of 0 or more. Pass 0.2 (scattered) or 1.1 (clustered).")
    columns, k = matrix_and_k(X, k)
    n = columns.shape[1]
    order = from_outside(columns)
    pool, labels = start(columns)
    state = np.zeros(2, dtype=np.int64)
    while remaining(pool) >= k:
        extended_groups(pool, order, k, float(gamma), SLICE, state, labels)
        tell(progress, n - remaining(pool), n)
    place_each_leftover(columns, labels)
    number_groups(labels)
    tell(progress, n, n)
    return labels
