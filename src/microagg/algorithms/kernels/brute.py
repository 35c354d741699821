"""Records column by column, and searches that look at every live one, a chunk at a time.

Slots stay in row order; a record that leaves turns its slot's first coordinate into NaN, which no
comparison accepts, and slots are closed up when a fifth of them is empty. So "the lowest row wins a tie"
is simply "the first one met wins".

Within a chunk the distances are built up column by column (the compiler makes that SIMD; each record's
sum still runs in column order), then the chunk is asked as a whole whether anything in it can change the
answer; mostly it cannot.
"""

import numpy as np

from microagg.algorithms.kernels._jit import inlined, inner
from microagg.algorithms.kernels.pool import (
    REMAINING,
    SLOTS,
    SPENT,
    TINY,
    Pool,
    clear,
    empty_pool,
    is_held,
    lose,
    offer,
    offer_apart,
    scanned,
    sort,
)
from microagg.algorithms.kernels.records import (
    CHUNK,
    Records,
    coordinate_sums,
    corner_distances,
    full_distance,
    record_distances,
    rounding_of,
    vector_distances,
)


def make_pool(records: Records) -> Pool:
    """Put every record into a new pool; they are copied."""
    n = records.entries.shape[1]
    pool = empty_pool(records, coordinate_sums(records), n, np.arange(n))
    return scanned(pool._replace(points=records.entries.copy()[None], rows=np.arange(n)))


@inlined
def remove(pool, row):  # OUT: pool
    """Take one record out."""
    slot = pool.place[row]
    lose(pool, row, 0, slot)
    pool.points[0, 0, slot] = np.nan  # of a number: no code is asked any more then


@inner
def close_up(pool):  # OUT: pool
    """Close up the empty slots once they are a fifth of all, keeping row order."""
    columns = pool.points[0]
    span, live = pool.state[SLOTS], pool.state[REMAINING]
    if (span - live) * 5 < span:
        return
    kept = 0
    for slot in range(span):
        if not np.isnan(columns[0, slot]):
            if kept != slot:
                for j in range(columns.shape[0]):
                    columns[j, kept] = columns[j, slot]
                row = pool.rows[slot]
                pool.rows[kept] = row
                pool.place[row] = kept
            kept += 1
    pool.state[SLOTS] = kept


@inner
def farthest(pool, point):
    """Return the live record farthest from a point and its squared distance."""
    buffer = np.empty(CHUNK)
    best, best_row = -1.0, -1
    span = pool.state[SLOTS]
    pool.state[SPENT] += span * point.shape[0]
    for start in range(0, span, CHUNK):
        stop = min(start + CHUNK, span)
        record_distances(pool.points[0], pool.heights, start, stop, point, buffer)
        hits = 0
        for i in range(stop - start):
            hits += buffer[i] > best
        if hits:
            for i in range(stop - start):
                if buffer[i] > best:
                    best, best_row = buffer[i], pool.rows[start + i]
    return best_row, best


@inner
def farthest_from_vector(pool, vector):
    """Return the live record farthest from a vector of all coordinates."""
    entries, heights, starts = pool.points[0], pool.heights, pool.starts
    buffer = np.empty(CHUNK)
    table = corner_distances(heights, starts, vector)
    slack = rounding_of(vector.shape[0]) if heights.shape[0] > 0 else 1.0
    best, best_row = -1.0, -1
    span = pool.state[SLOTS]
    pool.state[SPENT] += span * entries.shape[0]
    for start in range(0, span, CHUNK):
        stop = min(start + CHUNK, span)
        vector_distances(entries, heights, starts, start, stop, vector, table, buffer)
        limit = best if slack == 1.0 else best / slack - TINY
        hits = 0
        for i in range(stop - start):
            hits += buffer[i] > limit
        if hits:
            for i in range(stop - start):
                if buffer[i] > limit:
                    distance = buffer[i]
                    if slack > 1.0:
                        distance = full_distance(entries, heights, starts, start + i, vector)
                    if distance > best:
                        best, best_row = distance, pool.rows[start + i]
                        limit = best if slack == 1.0 else best / slack - TINY
    return best_row


@inner
def nearest_and_farthest(pool, point, group, count, rows, distances):  # OUT: rows, distances
    """Return the `count` live records nearest to a point; return the farthest one's row.

    With marks, the nearest have different ones, which the group that is growing does not hold.
    """
    buffer = np.empty(CHUNK)
    clear(count, rows, distances)
    marked = pool.marks.shape[0] > 0
    best, best_row = -1.0, -1
    span = pool.state[SLOTS]
    pool.state[SPENT] += span * point.shape[0]
    for start in range(0, span, CHUNK):
        stop = min(start + CHUNK, span)
        record_distances(pool.points[0], pool.heights, start, stop, point, buffer)
        worst = distances[0]
        hits = 0
        for i in range(stop - start):
            hits += (buffer[i] > best) | (buffer[i] < worst)
        if hits:
            for i in range(stop - start):
                if buffer[i] > best:
                    best, best_row = buffer[i], pool.rows[start + i]
                if buffer[i] < distances[0]:
                    row = pool.rows[start + i]
                    if marked:
                        offer_apart(buffer[i], row, pool.marks, pool.tally, group, count, rows, distances)
                    else:
                        offer(buffer[i], row, count, rows, distances)
    sort(count, rows, distances)
    return best_row


@inner
def nearest_to_all(pool, members, size, group, totals):  # OUT: totals
    """Return the live record with the least sum of squared distances to the first `size` members, or -1.

    Only the last member is new: `totals` (by slot) holds the sums to those before it.
    """
    buffer = np.empty(CHUNK)
    best, best_row = np.inf, -1
    span = pool.state[SLOTS]
    pool.state[SPENT] += span * members.shape[1]
    for start in range(0, span, CHUNK):
        stop = min(start + CHUNK, span)
        record_distances(pool.points[0], pool.heights, start, stop, members[size - 1], buffer)
        total = totals[start:stop]
        hits = 0
        if size == 1:
            for i in range(stop - start):
                total[i] = buffer[i]
                hits += total[i] < best
        else:
            for i in range(stop - start):
                total[i] += buffer[i]
                hits += total[i] < best
        if hits:
            for i in range(stop - start):
                if total[i] < best and not is_held(pool.marks, pool.tally, pool.rows[start + i], group):
                    best, best_row = total[i], pool.rows[start + i]
    return best_row


@inner
def nearest_to_any(pool, members, fresh, size, group, closest):  # OUT: closest
    """Return the live record nearest to any of the first `size` members, or -1, and its squared distance.

    Members before `fresh` are accounted for in `closest` (by slot) already.
    """
    buffer = np.empty(CHUNK)
    best, best_row = np.inf, -1
    span = pool.state[SLOTS]
    pool.state[SPENT] += span * members.shape[1] * (size - fresh)
    for member in range(fresh, size):
        best, best_row = np.inf, -1
        for start in range(0, span, CHUNK):
            stop = min(start + CHUNK, span)
            record_distances(pool.points[0], pool.heights, start, stop, members[member], buffer)
            near = closest[start:stop]
            hits = 0
            if member == 0:
                for i in range(stop - start):
                    near[i] = buffer[i]
                    hits += near[i] < best
            else:
                for i in range(stop - start):
                    near[i] = near[i] if near[i] < buffer[i] else buffer[i]  # NaN stays NaN
                    hits += near[i] < best
            if hits:
                for i in range(stop - start):
                    if near[i] < best and not is_held(pool.marks, pool.tally, pool.rows[start + i], group):
                        best, best_row = near[i], pool.rows[start + i]
    return best_row, best
