"""Records of numbers and categories: a category is one entry, however many coordinates it stands for.

A column of C categories takes C coordinates. A record has the column's height in one of them and 0 in the others, so it
is known by a code. Distances cost one step a column that way, and still give the groups that all coordinates give:

- Two records: what differs adds the squared height twice, in the order of the coordinates. The zeros left out change no
  bit of the sum.
- A record and a centroid: a table holds the squared distance of each category from the centroid, made once for all
  records. What is looked up there is added in another order than all coordinates would be, so it only bounds. Where it
  could decide, ties included, the record's distance is summed again over all coordinates (`full_distance`).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.kernels._jit import inlined, inner, kernel
from microagg.algorithms.kernels.sums import exact_sums

CHUNK = 256
_EPSILON = 2.0**-52


class Records(NamedTuple):
    """Records in space: numbers first, then codes; at least one number, if only a 0.

    The coordinates are the numbers, then those of each column of codes.
    """

    entries: NDArray[np.float64]  # (numbers + codes, n)
    heights: NDArray[np.float64]  # (codes,): the one coordinate of a category that is not 0
    starts: NDArray[np.int64]  # (codes + 1,): where each column's coordinates begin; the last is their number in all

    @property
    def cut_scales(self) -> NDArray[np.float64]:
        """What a step of each entry counts for where records are cut apart.

        Codes are cut in their order, so that equal ones stay together; all of them are as wide as one category's
        coordinate is high.
        """
        steps = np.maximum(np.diff(self.starts) - 1, 1)
        return np.concatenate([np.ones(self.starts[0]), self.heights / steps])


def plain_records(columns: NDArray[np.float64]) -> Records:
    """Return records of numbers alone, of `columns` (d, n)."""
    return Records(columns, np.empty(0), np.array([columns.shape[0]]))


def take(records: Records, rows: NDArray[np.int64]) -> Records:
    """Return some of the records."""
    return records._replace(entries=np.take(records.entries, rows, axis=1))


def coordinates(records: Records) -> NDArray[np.float64]:
    """Return all coordinates, (D, n)."""
    if records.heights.size == 0:
        return records.entries
    n = records.entries.shape[1]
    spread = np.zeros((int(records.starts[-1]), n))
    numbers = int(records.starts[0])
    spread[:numbers] = records.entries[:numbers]
    for codes, height, start in zip(records.entries[numbers:], records.heights, records.starts, strict=False):
        rows = np.flatnonzero(codes >= 0)  # a category that the space lacks has no coordinate
        spread[start + codes[rows].astype(np.int64), rows] = height
    return spread


def coordinate_sums(records: Records) -> NDArray[np.float64]:
    """Return the sum of each coordinate, rounded once."""
    numbers = int(records.starts[0])
    sums = [exact_sums(records.entries[:numbers])]
    for j, codes in enumerate(records.entries[numbers:]):
        width = int(records.starts[j + 1] - records.starts[j])
        sums.append(np.bincount(codes.astype(np.int64), minlength=width) * records.heights[j])
    return np.concatenate(sums)


def distances_to(records: Records, vector: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the squared distance of each record from a vector (D,): exact of numbers, else within `rounding_of`."""
    n = records.entries.shape[1]
    distances = np.empty(n)
    table = corner_distances(records.heights, records.starts, vector)
    vector_distances(records.entries, records.heights, records.starts, 0, n, vector, table, distances)
    return distances


def full_distances(records: Records, rows: NDArray[np.int64], vector: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the squared distances of some records from a vector (D,), summed over all coordinates."""
    return np.array([full_distance(*records, row, vector) for row in rows])


@inlined
def rounding_of(n_coordinates):
    """Return more than the ratio of two sums of so many squares, added in different orders."""
    return 1.0 + 8.0 * _EPSILON * (n_coordinates + 8)


@kernel
def squared_distances(columns, start, stop, point, buffer):  # OUT: buffer
    """Fill buffer[0 : stop - start] with squared distances over as many columns as the point has, in their order."""
    d = point.shape[0]
    width = stop - start
    a = columns[0, start:stop]
    p = point[0]
    for i in range(width):
        u = a[i] - p
        buffer[i] = u * u
    j = 1
    while j + 2 < d:  # three columns at a time: the running sums are loaded and stored less often
        a, b, c = columns[j, start:stop], columns[j + 1, start:stop], columns[j + 2, start:stop]
        p, q, r = point[j], point[j + 1], point[j + 2]
        for i in range(width):
            u, v, w = a[i] - p, b[i] - q, c[i] - r
            buffer[i] = ((buffer[i] + u * u) + v * v) + w * w
        j += 3
    while j < d:
        a = columns[j, start:stop]
        p = point[j]
        for i in range(width):
            u = a[i] - p
            buffer[i] += u * u
        j += 1


@inlined
def record_distances(entries, heights, start, stop, record, buffer):  # OUT: buffer
    """Fill buffer[0 : stop - start] with squared distances from a record, summed in the order of the coordinates."""
    if heights.shape[0] == 0:
        squared_distances(entries, start, stop, record, buffer)
    else:
        squared_distances(entries, start, stop, record[: record.shape[0] - heights.shape[0]], buffer)
        add_mismatches(entries, heights, start, stop, record, buffer)


@inner
def add_mismatches(entries, heights, start, stop, record, buffer):  # OUT: buffer
    """Add what codes that differ from a record's add to its squared distances."""
    width = stop - start
    numbers = record.shape[0] - heights.shape[0]
    j = 0
    while j + 1 < heights.shape[0]:  # two columns at a time, as above
        a, b = entries[numbers + j, start:stop], entries[numbers + j + 1, start:stop]
        p, q = record[numbers + j], record[numbers + j + 1]
        of_a, of_b = heights[j] * heights[j], heights[j + 1] * heights[j + 1]
        for i in range(width):
            u = of_a if a[i] != p else 0.0
            v = of_b if b[i] != q else 0.0
            buffer[i] = (((buffer[i] + u) + u) + v) + v
        j += 2
    if j < heights.shape[0]:
        a, p, of_a = entries[numbers + j, start:stop], record[numbers + j], heights[j] * heights[j]
        for i in range(width):
            u = of_a if a[i] != p else 0.0
            buffer[i] = (buffer[i] + u) + u


@kernel
def corner_distances(heights, starts, vector):
    """Return, for each coordinate of codes, the squared distance of its category from a vector, within that column.

    It is of the size of `vector`, or empty where there are no codes. The other coordinates are added up from both
    ends, so that nothing cancels out and the rounding is of the distance's own size.
    """
    table = np.empty(vector.shape[0] if heights.shape[0] > 0 else 0)
    for j in range(heights.shape[0]):
        others = 0.0
        for at in range(starts[j], starts[j + 1]):
            u = heights[j] - vector[at]
            table[at] = others + u * u
            others += vector[at] * vector[at]
        others = 0.0
        for at in range(starts[j + 1] - 1, starts[j] - 1, -1):
            table[at] += others
            others += vector[at] * vector[at]
    return table


@kernel
def vector_distances(entries, heights, starts, start, stop, vector, table, buffer):  # OUT: buffer
    """Fill buffer[0 : stop - start] with squared distances from a vector (D,) whose corner distances are in `table`."""
    width = stop - start
    squared_distances(entries, start, stop, vector[: starts[0]], buffer)
    for j in range(heights.shape[0]):
        codes = entries[starts[0] + j, start:stop]
        corners = table[starts[j] : starts[j + 1]]
        for i in range(width):
            buffer[i] += corners[np.int64(codes[i])]


@kernel
def full_distance(entries, heights, starts, i, vector):
    """Return the squared distance of record i from a vector (D,), summed over all coordinates in their order."""
    distance = 0.0
    for j in range(starts[0]):
        u = entries[j, i] - vector[j]
        distance += u * u
    for j in range(heights.shape[0]):
        own = starts[j] + np.int64(entries[starts[0] + j, i])
        for at in range(starts[j], starts[j + 1]):
            u = (heights[j] if at == own else 0.0) - vector[at]
            distance += u * u
    return distance


@inlined
def add_record(entries, heights, starts, i, vector):  # OUT: vector
    """Add the coordinates of record i to a vector (D,)."""
    for j in range(starts[0]):
        vector[j] += entries[j, i]
    for j in range(heights.shape[0]):
        vector[starts[j] + np.int64(entries[starts[0] + j, i])] += heights[j]
