"""The list of the nearest records while it is being found: a heap with the worst on top.

Records are compared by distance, then by row, so the order in which they are offered does not matter.
"""

import numpy as np

from microagg.algorithms.kernels._jit import inlined, inner
from microagg.algorithms.kernels.marks import HOLDER
from microagg.algorithms.kernels.pool import EMPTY


@inlined
def clear(count, rows, distances):  # OUT: rows, distances
    """Start with a list that any record beats."""
    for i in range(count):
        distances[i] = np.inf
        rows[i] = EMPTY - 1


@inner
def offer(distance, row, count, rows, distances):  # OUT: rows, distances
    """Put a record into the list in place of the worst, if it beats that."""
    if distance > distances[0] or (distance == distances[0] and row > rows[0]):
        return
    sift(0, distance, row, count, rows, distances)


@inner
def offer_apart(distance, row, marks, tally, group, count, rows, distances):  # OUT: rows, distances
    """Offer a record to a list that holds one of each mark, its nearest, and none of a mark that a group holds."""
    if distance > distances[0] or (distance == distances[0] and row > rows[0]):
        return
    mark = marks[row]
    if tally[HOLDER, mark] == group:
        return
    at = 0
    for i in range(count):
        if rows[i] < marks.shape[0] and marks[rows[i]] == mark:
            if distance > distances[i] or (distance == distances[i] and row > rows[i]):
                return
            at = i
            break
    sift(at, distance, row, count, rows, distances)


@inlined
def sift(at, distance, row, count, rows, distances):  # OUT: rows, distances
    """Put a record into the place of one that it beats, and the heap in order."""
    while True:
        child = 2 * at + 1
        if child + 1 < count and (
            distances[child + 1] > distances[child]
            or (distances[child + 1] == distances[child] and rows[child + 1] > rows[child])
        ):
            child += 1
        if child >= count or distances[child] < distance or (distances[child] == distance and rows[child] < row):
            break
        distances[at], rows[at] = distances[child], rows[child]
        at = child
    distances[at], rows[at] = distance, row


@inlined
def sort(count, rows, distances):  # OUT: rows, distances
    """Put the list in order, nearest first: take the worst off the heap time and again."""
    for last in range(count - 1, 0, -1):
        worst, worst_row = distances[0], rows[0]
        moved, moved_row = distances[last], rows[last]
        sift(0, moved, moved_row, last, rows, distances)
        distances[last], rows[last] = worst, worst_row
