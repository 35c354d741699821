"""The records that are in no group yet: what every partitioner draws from.

A group must hold different marks of records: the units that these belong to. "At least so many different marks in a
group" asks two things of a search: which marks may still be taken, and which of several records with one mark. Here
every record of a group is to have a mark of its own, so a list of the nearest keeps one record of each mark, its
nearest, and passes over the marks that the growing group holds.

Two arrays describe marks, both empty where records have none: `marks` (n,), that of each original row, numbered from 0,
and `tally` (2, marks), what has become of each. They are in the pool side by side, not as a tuple of their own: to
take an array out of a tuple within a tuple costs time, even where it is empty.

The list of the nearest records is a heap while it is being found, with the worst on top. Records are compared by
distance, then by row, so the order in which they are offered does not matter.
"""

from collections import namedtuple
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.kernels._jit import inlined, inner
from microagg.algorithms.kernels.records import Records

# No group's number: it holds no mark. Not a literal, for which kernels would compile once more.
NO_GROUP = np.int64(-2)

# The rows of a tally.
LEFT = 0  # live records that have the mark
HOLDER = 1  # the group that a record with the mark joined last

LEAF = 32  # records in a leaf of the tree, at most
FAN = 8  # children of a node, at most
TINY = 2.0**-1000  # more than squares can lose by underflow, and next to nothing beside any others
STACK = 64 * FAN  # room for the children still to be searched, for any tree that fits a machine
EMPTY = 1 << 62  # the lowest row of a child without live records: above any row

# The places of a pool's state.
REMAINING = 0  # live records
BUILT_WITH = 1  # live records when the pool was made
SLOTS = 2  # brute force: slots in use, by live records and by some that have left
SPENT = 3  # coordinates looked at since the kernel at work began
LOOSE_LEAF = 4  # tree: the leaf whose box is too wide, or -1
DIFFERENT = 5  # different marks of the live records, or the live records where they have none


class Pool(NamedTuple):
    """The live records, laid out for one of the two ways to search them.

    Records lie in blocks, column by column in each: brute force has one block of all, a tree its leaves. Brute force
    has a `Scanned` pool, without the tree's arrays: so a partitioner compiles for one way without the other.
    """

    sums: NDArray[np.float64]  # (D,): sums of all coordinates of the live records
    state: NDArray[np.int64]  # (REMAINING, BUILT_WITH, SLOTS, SPENT, LOOSE_LEAF, DIFFERENT)
    place: NDArray[np.int64]  # (n,): where each original row lies: block * width + position
    points: NDArray[np.float64]  # (blocks, d, width): numbers, then codes; in a leaf the live records come first
    rows: NDArray[np.int64]  # (blocks * width,): the original row at each place
    heights: NDArray[np.float64]  # (codes,): of the records, as `starts`
    starts: NDArray[np.int64]  # (codes + 1,)
    marks: NDArray[np.int64]  # (n,): empty where records have none
    tally: NDArray[np.int64]  # (2, marks): their (LEFT, HOLDER)

    # The tree (tree.py). A child is known by its slot, node * FAN + position, where its parent keeps it.
    filled: NDArray[np.int64]  # (leaves,): live records in each leaf
    children: NDArray[np.int64]  # (nodes * FAN,): a node's number, or -1 - a leaf's
    reach: NDArray[np.float64]  # (nodes * FAN,): largest squared distance to the centre in that child
    lowest: NDArray[np.int64]  # (nodes * FAN,): lowest live row in that child, or EMPTY
    slot_of: NDArray[np.int64]  # (nodes + leaves,): each node's slot; a leaf's at -1 - its number, from the end
    low: NDArray[np.float64]  # (nodes, d, FAN): the boxes of the children
    high: NDArray[np.float64]
    centre: NDArray[np.float64]  # (numbers,): where norms, which leave out the codes, are measured from

    # The rough copy of the leaves (rough.py).
    rough: NDArray[np.uint8]  # (leaves, d, LEAF): steps of the grid, and the last byte of codes
    grid: NDArray[np.float64]  # (leaves, numbers, 2): its (ORIGIN, STEP)
    blur: NDArray[np.float64]  # (leaves,): no record is farther from its rough copy, in the unit
    unit: NDArray[np.float64]  # (1,): what rough lengths are multiplied by: a power of two


SHARED = Pool._fields.index("filled")  # so many arrays has every pool
Scanned = namedtuple("Scanned", Pool._fields[:SHARED])  # type: ignore[misc]  # of the same types


def scanned(pool: Pool) -> Pool:
    """Return a pool that brute force searches."""
    return cast(Pool, Scanned(*pool[:SHARED]))


def empty_pool(records: Records, sums: NDArray[np.float64], n: int, place: NDArray[np.int64], leaves: int = 0) -> Pool:
    """Return a pool for n of some records with room for so many leaves, and nothing in it."""
    d = records.entries.shape[0]
    nodes = max(leaves - 1, 1) if leaves else 0
    state = np.zeros(6, dtype=np.int64)
    state[REMAINING] = state[BUILT_WITH] = state[SLOTS] = state[DIFFERENT] = n
    state[LOOSE_LEAF] = -1
    return Pool(
        sums=sums,
        state=state,
        place=place,
        points=np.zeros((leaves, d, LEAF)),
        rows=np.zeros(leaves * LEAF, dtype=np.int64),
        heights=records.heights,
        starts=records.starts,
        marks=np.empty(0, dtype=np.int64),
        tally=np.empty((2, 0), dtype=np.int64),
        filled=np.zeros(leaves, dtype=np.int64),
        children=np.zeros(nodes * FAN, dtype=np.int64),
        reach=np.full(nodes * FAN, -np.inf),
        lowest=np.full(nodes * FAN, EMPTY),
        slot_of=np.full(nodes + leaves, -1),
        low=np.full((nodes, d, FAN), np.inf),
        high=np.full((nodes, d, FAN), -np.inf),
        centre=np.zeros(int(records.starts[0])),
        rough=np.zeros((leaves, d, LEAF), dtype=np.uint8),
        grid=np.zeros((leaves, int(records.starts[0]), 2)),
        blur=np.zeros(leaves),
        unit=np.ones(1),
    )


def tally_of(marks: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the tally of marks whose records are all live."""
    left = np.bincount(marks)
    return np.stack([left, np.full(left.size, NO_GROUP + 1)])


@inlined
def is_held(marks, tally, row, group):
    """Return whether a group that is growing holds the mark of a record; never so where there are no marks."""
    return marks.shape[0] > 0 and tally[HOLDER, marks[row]] == group


def with_marks(pool: Pool, marks: NDArray[np.int64], tally: NDArray[np.int64]) -> Pool:
    """Return the pool, its live records marked so."""
    pool.state[DIFFERENT] = np.count_nonzero(tally[LEFT])
    return pool._replace(marks=marks, tally=tally)


@inlined
def lose(pool, row, block, at):  # OUT: pool
    """Take a record, at its place, out of the sums and counts."""
    pool.state[REMAINING] -= 1
    last_of_its_mark = True
    if pool.marks.shape[0] > 0:
        mark = pool.marks[row]
        pool.tally[LEFT, mark] -= 1
        last_of_its_mark = pool.tally[LEFT, mark] == 0
    pool.state[DIFFERENT] -= last_of_its_mark
    numbers = pool.starts[0]
    for j in range(numbers):
        pool.sums[j] -= pool.points[block, j, at]
    for j in range(pool.heights.shape[0]):
        pool.sums[pool.starts[j] + np.int64(pool.points[block, numbers + j, at])] -= pool.heights[j]


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
