"""A leaf's records at a byte a coordinate: enough to know that none of them can be the answer.

A search looks at many leaves and finds nothing in most. So each leaf keeps a rough copy of its records on a grid of
256 steps a column, an eighth of the size of the records themselves, that memory brings much sooner. A record lies
within the leaf's `blur` of its rough copy. If the copy is farther from a point than a radius and the blur together, so
is the record from the radius alone. The records themselves, in double precision, decide all that is left.

Rough distances are of single precision, in a unit that makes the whole file about 1 wide. Their rounding is covered by
the blur, as far as it goes with the width of a leaf, and by `_slack`, as far as it goes with the distance itself.
"""

import numpy as np

from microagg.algorithms.kernels import lanes
from microagg.algorithms.kernels._jit import inlined, inner
from microagg.algorithms.kernels.pool import TINY

STEPS = 256
# The places of a leaf's grid in each column: where the lowest step has its middle, and how wide a step is in the unit.
ORIGIN, STEP = 0, 1

_WIDER = 1.001  # more than single precision can lose of half a step
_EPSILON = 2.0**-52
_UNDERFLOW = 1e-30  # more than squares can lose below the range of single precision


@inner
def roughen(pool, leaf):  # OUT: pool
    """Fit a grid to a new leaf's box, and put its records on it."""
    node, c = divmod(pool.slot_of[-1 - leaf], pool.low.shape[2])
    numbers, unit = pool.centre.shape[0], pool.unit[0]
    square = 0.0
    for j in range(pool.points.shape[1]):
        if j < numbers:
            lowest, highest = pool.low[node, j, c], pool.high[node, j, c]
            step = (highest - lowest) / STEPS
            pool.grid[leaf, j, ORIGIN], pool.grid[leaf, j, STEP] = lowest + 0.5 * step, step * unit
            # Where steps are finer than the numbers themselves, those are rounded.
            blur = (0.5 * step * _WIDER + 2.0 * _EPSILON * max(abs(lowest), abs(highest))) * unit
            square += blur * blur
            for i in range(pool.filled[leaf]):
                at = (pool.points[leaf, j, i] - lowest) / step if step > 0.0 else 0.0
                pool.rough[leaf, j, i] = np.uint8(min(at, STEPS - 1.0))
        else:
            for i in range(pool.filled[leaf]):
                pool.rough[leaf, j, i] = np.uint8(np.int64(pool.points[leaf, j, i]) % STEPS)
    pool.blur[leaf] = np.sqrt(square) * _WIDER


@inlined
def rough_squares(pool, leaf, point):
    """Return the squared distances, over the numbers, of a leaf's 32 rough copies from a point."""
    a = lanes.spread(np.float32(0.0))
    b = a
    unit = pool.unit[0]
    for j in range(pool.centre.shape[0]):
        origin = lanes.spread(np.float32((pool.grid[leaf, j, ORIGIN] - point[j]) * unit))
        step = lanes.spread(np.float32(pool.grid[leaf, j, STEP]))
        u = lanes.load_bytes(pool.rough, (leaf, j, 0)) * step + origin
        v = lanes.load_bytes(pool.rough, (leaf, j, 16)) * step + origin
        a, b = a + u * u, b + v * v
    return a, b


@inlined
def add_rough_mismatches(pool, leaf, point, a, b):
    """Add what codes add to the squared distances of rough copies: at least that, as a byte may stand for several."""
    numbers, unit = pool.centre.shape[0], pool.unit[0]
    for j in range(point.shape[0] - numbers):
        code = lanes.spread(np.float32(np.int64(point[numbers + j]) % STEPS))
        added = lanes.spread(np.float32(2.0 * (pool.heights[j] * unit) ** 2))
        a = a + lanes.differing(lanes.load_bytes(pool.rough, (leaf, numbers + j, 0)), code, added)
        b = b + lanes.differing(lanes.load_bytes(pool.rough, (leaf, numbers + j, 16)), code, added)
    return a, b


@inlined
def add_largest_mismatches(pool, leaf, point, a, b):
    """Add the most that codes can add to the squared distances of rough copies."""
    numbers, unit = pool.centre.shape[0], pool.unit[0]
    for j in range(pool.heights.shape[0]):
        added = lanes.spread(np.float32(2.0 * (pool.heights[j] * unit) ** 2))
        u, v = added, added
        if pool.starts[j + 1] - pool.starts[j] <= STEPS:  # else two codes may have one byte
            code = lanes.spread(np.float32(np.int64(point[numbers + j]) % STEPS))
            u = lanes.differing(lanes.load_bytes(pool.rough, (leaf, numbers + j, 0)), code, added)
            v = lanes.differing(lanes.load_bytes(pool.rough, (leaf, numbers + j, 16)), code, added)
        a, b = a + u, b + v
    return a, b


@inlined
def _slack(n_columns):
    """Return more than the rounding of a rough square, as a share of it."""
    return 2.0**-22 * (n_columns + 16)


@inlined
def _live(filled):
    """Return a bit for each live place of a leaf."""
    return (1 << filled) - 1


@inlined
def radius_within(pool, square):
    """Return the radius, in the unit, that holds all records whose squared distance is at most a number."""
    return np.sqrt(square + TINY) * pool.unit[0]


@inlined
def radius_beyond(pool, square):
    """Return a radius, in the unit, that no record is within whose squared distance is at least a number."""
    return np.sqrt(max(square - TINY, 0.0)) * pool.unit[0]


@inlined
def may_be_within(pool, leaf, point, radius):
    """Whether a record of a leaf may be within a radius, in the unit, of a point: a record's, or its numbers'."""
    a, b = rough_squares(pool, leaf, point)
    a, b = add_rough_mismatches(pool, leaf, point, a, b)
    limit = (radius + pool.blur[leaf]) ** 2 * (1.0 + _slack(point.shape[0])) + _UNDERFLOW
    bits = lanes.at_most(a, np.float32(limit)) | lanes.at_most(b, np.float32(limit)) << lanes.SINGLE_LANES
    return bits & _live(pool.filled[leaf]) != 0


@inlined
def may_be_beyond(pool, leaf, point, radius):
    """Return whether a record of a leaf may be as far as a radius, in the unit, from a record's point."""
    a, b = rough_squares(pool, leaf, point)
    a, b = add_largest_mismatches(pool, leaf, point, a, b)
    limit = max(radius - pool.blur[leaf], 0.0) ** 2 * (1.0 - _slack(point.shape[0])) - _UNDERFLOW
    bits = lanes.at_least(a, np.float32(limit)) | lanes.at_least(b, np.float32(limit)) << lanes.SINGLE_LANES
    return bits & _live(pool.filled[leaf]) != 0
