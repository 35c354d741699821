"""The order in which V-MDAV and IAMAT start their groups: farthest from the file's centroid first."""

import numpy as np
from numpy.typing import NDArray

from microagg._kernels.brute import squared_distances
from microagg._kernels.sums import exact_sums


def from_outside(columns: NDArray[np.float64]) -> NDArray[np.int64]:
    """Order the rows by decreasing distance to the centroid of all, lowest row first on ties."""
    n = columns.shape[1]
    distances = np.empty(n)
    squared_distances(columns, 0, n, exact_sums(columns) / n, distances)
    return np.argsort(-distances, kind="stable")
