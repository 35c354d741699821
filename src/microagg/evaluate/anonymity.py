"""How many records an intruder cannot tell apart."""

import numpy as np
from numpy.typing import NDArray

from microagg._kernels.sums import group_sizes


def fewest_sharing(columns: NDArray[np.float64], groups: NDArray[np.int64], strata: NDArray[np.int64]) -> int:
    """Give the fewest records that share one combination of released values and stratum.

    Parameters
    ----------
    columns : array of shape (d, n)
        The released values themselves.
    groups : array of shape (n,), or (n, d) to judge each column by itself
        The groups they are said to come from; 0 is returned where a group's members differ.
    strata : array of shape (n,)

    Notes
    -----
    Groups that came out with the same values count as one: an intruder cannot tell them apart.
    """
    if groups.ndim == 2:
        pairs = zip(columns, groups.T, strict=True)
        return min(fewest_sharing(values[None, :], np.ascontiguousarray(own), strata) for values, own in pairs)
    sizes = group_sizes(groups, int(groups.max()) + 1)
    first = np.empty(sizes.size, dtype=np.int64)
    first[groups[::-1]] = np.arange(groups.size)[::-1]
    keys = np.vstack([columns[:, first], strata[first]])
    if (columns != keys[:-1, groups]).any() or (strata != keys[-1, groups]).any():
        return 0
    order = np.lexsort(keys)
    differ = (keys[:, order[1:]] != keys[:, order[:-1]]).any(axis=0)
    starts = np.concatenate([[0], np.flatnonzero(differ) + 1])
    return int(np.add.reduceat(sizes[order], starts).min())
