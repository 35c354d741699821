"""The order in which V-MDAV and IAMAT start their groups: farthest from the file's centroid first."""

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.kernels.records import Records, coordinate_sums, distances_to, full_distances, rounding_of


def from_outside(records: Records) -> NDArray[np.int64]:
    """Order the rows by decreasing distance to the centroid of all, lowest row first on ties."""
    centroid = coordinate_sums(records) / records.entries.shape[1]
    distances = distances_to(records, centroid)
    order = np.argsort(-distances, kind="stable")
    if records.heights.size == 0:
        return order
    # Where two are so near each other that rounding could change places, all coordinates decide.
    slack = rounding_of.py_func(centroid.size) ** 2
    close = distances[order[:-1]] <= distances[order[1:]] * slack
    unsure = order[np.concatenate([close, [False]]) | np.concatenate([[False], close])]
    distances[unsure] = full_distances(records, unsure, centroid)
    return np.argsort(-distances, kind="stable")
