"""Searches that look at every live record, a chunk at a time.

Within a chunk the distances are built up column by column (the compiler makes that SIMD; each record's
sum still runs in column order), then the chunk is asked as a whole whether anything in it can change
the answer; mostly it cannot. An empty slot holds NaN, which fails every comparison.
"""

import numpy as np

from microagg._kernels._jit import kernel

CHUNK = 256


@kernel
def squared_distances(columns, start, stop, point, buffer):  # OUT: buffer
    """Fill buffer[0 : stop - start] with squared distances, summed in column order."""
    d = columns.shape[0]
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


@kernel
def farthest(pool, point):
    """Give the row of the live record farthest from a point."""
    buffer = np.empty(CHUNK)
    best = -1.0
    best_row = -1
    span = pool.counts[0]
    for start in range(0, span, CHUNK):
        stop = min(start + CHUNK, span)
        squared_distances(pool.columns, start, stop, point, buffer)
        hits = 0
        for i in range(stop - start):
            hits += buffer[i] > best
        if hits:
            for i in range(stop - start):
                if buffer[i] > best:
                    best = buffer[i]
                    best_row = pool.rows[start + i]
    return best_row


@kernel
def farthest_behind(pool, row):
    """Give the live record farthest from a live `row` among the higher rows, and the squared distance.

    Where no higher row is live, give the row itself and -1.
    """
    buffer = np.empty(CHUNK)
    first = pool.place[row]
    point = pool.columns[:, first].copy()
    best = -1.0
    best_row = row
    span = pool.counts[0]
    for start in range(first + 1, span, CHUNK):
        stop = min(start + CHUNK, span)
        squared_distances(pool.columns, start, stop, point, buffer)
        for i in range(stop - start):
            if buffer[i] > best:
                best = buffer[i]
                best_row = pool.rows[start + i]
    return best_row, best


@kernel
def around(pool, point, count, near_rows, near_distances):  # OUT: near_rows, near_distances
    """Give the `count` live records nearest to a point, nearest first; return the farthest one's row."""
    buffer = np.empty(CHUNK)
    near_distances[:count] = np.inf
    near_rows[:count] = -1
    best = -1.0
    best_row = -1
    span = pool.counts[0]
    for start in range(0, span, CHUNK):
        stop = min(start + CHUNK, span)
        squared_distances(pool.columns, start, stop, point, buffer)
        worst = near_distances[count - 1]
        hits = 0
        for i in range(stop - start):
            hits += (buffer[i] > best) | (buffer[i] < worst)
        if hits:
            for i in range(stop - start):
                if buffer[i] > best:
                    best = buffer[i]
                    best_row = pool.rows[start + i]
                if buffer[i] < near_distances[count - 1]:
                    insert(buffer[i], pool.rows[start + i], count, near_rows, near_distances)
    return best_row


@kernel
def insert(distance, row, count, near_rows, near_distances):  # OUT: near_rows, near_distances
    """Put a candidate into a sorted list of the nearest, behind those at the same distance."""
    at = count - 1
    while at > 0 and near_distances[at - 1] > distance:
        near_distances[at] = near_distances[at - 1]
        near_rows[at] = near_rows[at - 1]
        at -= 1
    near_distances[at] = distance
    near_rows[at] = row


@kernel
def add_member(pool, point, is_first, totals):  # OUT: totals
    """Add each live record's squared distance to a new member; return the row with the least total.

    `totals` is indexed by slot and holds the sum of squared distances to the members so far, in
    joining order; `is_first` starts it afresh.
    """
    buffer = np.empty(CHUNK)
    best = np.inf
    best_row = -1
    span = pool.counts[0]
    for start in range(0, span, CHUNK):
        stop = min(start + CHUNK, span)
        squared_distances(pool.columns, start, stop, point, buffer)
        total = totals[start:stop]
        hits = 0
        if is_first:
            for i in range(stop - start):
                total[i] = buffer[i]
                hits += total[i] < best
        else:
            for i in range(stop - start):
                total[i] += buffer[i]
                hits += total[i] < best
        if hits:
            for i in range(stop - start):
                if total[i] < best:
                    best = total[i]
                    best_row = pool.rows[start + i]
    return best_row


@kernel
def approach_member(pool, point, is_first, closest):  # OUT: closest
    """Lower each live record's squared distance to the nearest member; return the least and its row.

    `closest` is indexed by slot; `is_first` starts it afresh.
    """
    buffer = np.empty(CHUNK)
    best = np.inf
    best_row = -1
    span = pool.counts[0]
    for start in range(0, span, CHUNK):
        stop = min(start + CHUNK, span)
        squared_distances(pool.columns, start, stop, point, buffer)
        near = closest[start:stop]
        hits = 0
        if is_first:
            for i in range(stop - start):
                near[i] = buffer[i]
                hits += near[i] < best
        else:
            for i in range(stop - start):
                near[i] = near[i] if near[i] < buffer[i] else buffer[i]  # NaN stays NaN
                hits += near[i] < best
        if hits:
            for i in range(stop - start):
                if near[i] < best:
                    best = near[i]
                    best_row = pool.rows[start + i]
    return best_row, best
