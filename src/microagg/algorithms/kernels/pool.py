"""The records that are in no group yet: what every partitioner draws from."""

from collections import namedtuple
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.kernels._jit import inlined
from microagg.algorithms.kernels.marks import LEFT
from microagg.algorithms.kernels.records import Records

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
    marks: NDArray[np.int64]  # (n,): see marks.py; empty where records have none
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
