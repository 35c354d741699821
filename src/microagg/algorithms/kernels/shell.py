"""The record farthest from a centroid that hardly moves, found among a few outer records.

Groups are taken from the outside inwards, and the centroid of the rest drifts only a little with each.
So the outermost records are listed once, by their distance to the centroid of that moment (the anchor).
Later a record at distance a from the anchor is at most a + drift from the centroid: the list is walked
from its outer end until that cannot beat the best found. When the list is used up, or walks have grown
long, a new one is asked for. Where many records lie at nearly one distance no list can help, and none is
kept for a while.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.kernels import search
from microagg.algorithms.kernels._jit import inlined, inner
from microagg.algorithms.kernels.groups import FREE
from microagg.algorithms.kernels.pool import REMAINING, SPENT, TINY
from microagg.algorithms.kernels.records import (
    Records,
    corner_distances,
    distances_to,
    full_distance,
    rounding_of,
    take,
    vector_distances,
)

_CHUNK = 64
_ROUNDING = 1e-11  # more than the rounding of the triangle inequality
_SAMPLE = 2048  # distances, at most
_SMALL = 4096  # below this, looking at every record costs less than keeping a list

# The places of a shell's state.
OUTERMOST = 0  # where in the list the first record stands that may be free
WALKED = 1  # records looked at so far
DO_WITHOUT = 2  # searches for which the list is not to be used
WORN_OUT = 3  # 1: make a new one


@inlined
def _square(bound, rounding):
    """Square a bound on a distance, with room for the rounding (`rounding_of`) and underflow of its counterpart."""
    return (bound * (_ROUNDING + rounding)) ** 2 + TINY


class Shell(NamedTuple):
    """The listed records, outermost first."""

    anchor: NDArray[np.float64]  # (D,)
    rows: NDArray[np.int64]  # (listed,)
    points: NDArray[np.float64]  # (d, listed): numbers, then codes
    radii: NDArray[np.float64]  # (listed,): distance to the anchor, descending
    limit: float  # no record outside the list is farther from the anchor
    state: NDArray[np.int64]  # (OUTERMOST, WALKED, DO_WITHOUT, WORN_OUT)


class NoShell(NamedTuple):
    """What a small file has instead: by its type, the walk along a list is not even compiled."""

    state: NDArray[np.int64]  # as above


def make_shell(records: Records, free: NDArray[np.int64], centroid: NDArray[np.float64]) -> Shell | NoShell:
    """List the records that are farthest from their centroid, of the `free` rows."""
    n = free.shape[0]
    if records.entries.shape[1] < _SMALL:
        return NoShell(np.zeros(4, dtype=np.int64))
    if n < _SMALL:
        return no_shell(records, n)
    distances = distances_to(records, centroid)[free]
    # A sample shows well enough how many are listed: any limit gives the same answers.
    sample = np.sort(distances[:: 1 + n // _SAMPLE])
    limit = sample[max(sample.size // 2, int(sample.size * (1.0 - 16.0 / np.sqrt(n))))]
    # As plain Python: called from here, what kernels inline would be compiled in every run.
    if _square.py_func(np.sqrt(limit), rounding_of.py_func(centroid.size)) >= distances.max():
        return no_shell(records, 1 + n // 64)  # too many at one distance to distinguish: do without for a while
    outer = np.flatnonzero(distances > limit)
    outer = outer[np.argsort(-distances[outer])]
    rows = free[outer]
    return Shell(
        anchor=centroid,
        rows=rows,
        points=take(records, rows).entries,
        radii=np.sqrt(distances[outer]),
        limit=float(np.sqrt(limit)),
        state=np.zeros(4, dtype=np.int64),
    )


def no_shell(records: Records, searches: int) -> Shell:
    """Return an empty list that is not to be used for so many searches."""
    state = np.zeros(4, dtype=np.int64)
    state[DO_WITHOUT] = searches
    nothing = np.empty((records.entries.shape[0], 0))
    return Shell(np.zeros(records.starts[-1]), np.empty(0, dtype=np.int64), nothing, np.empty(0), np.inf, state)


@inlined
def farthest_from_centroid(pool, shell, labels):  # OUT: shell
    """Return the live record farthest from the centroid of all live ones, or -1: make a new shell first."""
    centroid = np.empty(pool.sums.shape[0])
    for j in range(centroid.shape[0]):
        centroid[j] = pool.sums[j] / pool.state[REMAINING]
    if len(shell) == 1:
        row = search.farthest_from_vector(pool, centroid)
    elif shell.state[DO_WITHOUT] > 0:
        shell.state[DO_WITHOUT] -= 1
        row = search.farthest_from_vector(pool, centroid)
    else:
        row = walk(shell, centroid, pool.heights, pool.starts, pool.state, labels)
    return row


@inner
def walk(shell, centroid, heights, starts, pool_state, labels):  # OUT: shell, pool_state
    """Search the list; return -1 where a record outside it might be as far, or it has been walked enough."""
    state, rows, radii = shell.state, shell.rows, shell.radii
    points = shell.points
    d, listed = points.shape
    while state[OUTERMOST] < listed and labels[rows[state[OUTERMOST]]] != FREE:
        state[OUTERMOST] += 1
    drift = 0.0
    for j in range(centroid.shape[0]):
        drift += (centroid[j] - shell.anchor[j]) ** 2
    drift = np.sqrt(drift)
    buffer = np.empty(_CHUNK)
    table = corner_distances(heights, starts, centroid) if heights.shape[0] > 0 else centroid
    rounding = rounding_of(centroid.shape[0])
    slack = rounding if heights.shape[0] > 0 else 1.0
    best, best_row = -1.0, -1
    start = state[OUTERMOST]
    while start < listed and _square(radii[start] + drift, rounding) >= best:
        stop = min(start + _CHUNK, listed)
        vector_distances(points, heights, starts, start, stop, centroid, table, buffer)
        for i in range(stop - start):
            row, distance = rows[start + i], buffer[i]
            if distance * slack + TINY >= best and labels[row] == FREE:
                if slack > 1.0:
                    distance = full_distance(points, heights, starts, start + i, centroid)
                if distance > best or (distance == best and row < best_row):
                    best, best_row = distance, row
        start = stop
    state[WALKED] += start - state[OUTERMOST]
    pool_state[SPENT] += (start - state[OUTERMOST]) * d
    used_up = start >= listed and _square(shell.limit + drift, rounding) >= best
    if used_up or state[WALKED] > 2 * pool_state[REMAINING] + _SMALL:
        state[WORN_OUT] = 1
        best_row = -1
    return best_row
