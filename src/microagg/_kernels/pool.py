"""The records not yet in a group: what every partitioner draws from.

A pool keeps the coordinates column by column, so that a search runs along contiguous memory. Slots stay
in row order; a record that leaves turns its slot's first coordinate into NaN, which no comparison
accepts, and slots are closed up when a fifth of them is empty. So "the lowest row wins a tie" is
simply "the first one met wins".
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg._kernels._jit import kernel
from microagg._kernels.sums import exact_sums


class Pool(NamedTuple):
    """The live records and their running column sums."""

    columns: NDArray[np.float64]  # (d, n): coordinates by slot
    rows: NDArray[np.int64]  # (n,): the original row in each slot
    place: NDArray[np.int64]  # (n,): the slot of each original row
    sums: NDArray[np.float64]  # (d,): column sums of the live records
    counts: NDArray[np.int64]  # (slots in use, live records)


def make_pool(columns: NDArray[np.float64]) -> Pool:
    """Put every record into a new pool; `columns` (d, n) is copied."""
    n = columns.shape[1]
    return Pool(
        columns=columns.copy(),
        rows=np.arange(n),
        place=np.arange(n),
        sums=exact_sums(columns),
        counts=np.array([n, n]),
    )


@kernel
def remove(pool, row):
    """Take one record out; the sums lose it now, so the order of removals is part of the definition."""
    slot = pool.place[row]
    for j in range(pool.columns.shape[0]):
        pool.sums[j] -= pool.columns[j, slot]
    pool.columns[0, slot] = np.nan
    pool.counts[1] -= 1


@kernel
def close_up(pool):
    """Close up the empty slots once they are a fifth of all, keeping row order."""
    span, live = pool.counts
    if (span - live) * 5 < span:
        return
    kept = 0
    for slot in range(span):
        if not np.isnan(pool.columns[0, slot]):
            if kept != slot:
                for j in range(pool.columns.shape[0]):
                    pool.columns[j, kept] = pool.columns[j, slot]
                row = pool.rows[slot]
                pool.rows[kept] = row
                pool.place[row] = kept
            kept += 1
    pool.counts[0] = kept


@kernel
def centroid_of_rest(pool, centroid):  # OUT: centroid
    """Give the centroid of the live records: running sums over their number."""
    for j in range(pool.sums.shape[0]):
        centroid[j] = pool.sums[j] / pool.counts[1]


@kernel
def copy_point(pool, row, point):  # OUT: point
    """Copy a live record's coordinates."""
    slot = pool.place[row]
    for j in range(pool.columns.shape[0]):
        point[j] = pool.columns[j, slot]
