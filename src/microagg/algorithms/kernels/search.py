"""What a partitioner may ask of the records that remain, whichever way they are searched.

`brute` looks at every record and `tree_search` prunes. Both give the same answers to the last bit; `tree_search` says
why.
"""

import numpy as np

from microagg.algorithms.kernels import brute, tree, tree_search
from microagg.algorithms.kernels._jit import inlined, kernel
from microagg.algorithms.kernels.pool import HOLDER, LEAF, NO_GROUP, SHARED, SPENT, Pool


@inlined
def in_tree(pool):
    """Return whether the records are searched by tree: by the type, so that the other way is not even compiled."""
    return len(pool) > SHARED


@inlined
def remove(pool, row):  # OUT: pool
    """Take one record out; the sums lose it now, so the order of removals is part of the definition."""
    if in_tree(pool):
        tree.remove(pool, row)
    else:
        brute.remove(pool, row)


@inlined
def close_up(pool):  # OUT: pool
    """Tidy after a group has left; a tree does so whenever a record leaves."""
    if not in_tree(pool):
        brute.close_up(pool)


@inlined
def copy_point(pool, row, point):  # OUT: point
    """Copy a live record's numbers and codes."""
    block, at = divmod(pool.place[row], pool.points.shape[2])
    for j in range(point.shape[0]):
        point[j] = pool.points[block, j, at]


@inlined
def farthest(pool, point):
    """Return the live record farthest from the point of a record, and its squared distance."""
    if in_tree(pool):
        row, distance = tree_search.farthest(pool, point)
    else:
        row, distance = brute.farthest(pool, point)
    return row, distance


@inlined
def farthest_from_vector(pool, vector):
    """Return the live record farthest from a vector of all coordinates, such as a centroid."""
    if in_tree(pool):
        found = tree_search.farthest_from_vector(pool, vector)
    else:
        found = brute.farthest_from_vector(pool, vector)
    return found


@inlined
def join(pool, row, group, labels):  # OUT: pool, labels
    """Take one record out and into a group."""
    remove(pool, row)
    labels[row] = group
    if pool.marks.shape[0] > 0:
        pool.tally[HOLDER, pool.marks[row]] = group


@inlined
def nearest(pool, row, point, group, count, rows, distances):  # OUT: rows, distances
    """Return the `count` live records nearest to the point of a row, live or just removed; nearest first.

    With marks, they have different ones, which the group that is growing does not hold; see that there are as many.
    """
    nearest_and_farthest(pool, row, point, group, count, rows, distances)


@inlined
def nearest_and_farthest(pool, row, point, group, count, rows, distances):  # OUT: rows, distances
    """Return the `count` live records `nearest` to a row's point; return the farthest one's row if that costs nothing.

    Brute force meets it on the way. A tree would have to search again, and returns -1.
    """
    far_row = -1
    if in_tree(pool):
        tree_search.nearest(pool, point, pool.place[row] // LEAF, group, count, rows, distances)
    else:
        far_row = brute.nearest_and_farthest(pool, point, group, count, rows, distances)
    return far_row


@inlined
def nearest_to_all(pool, members, size, group, totals):  # OUT: totals
    """Return the live record with the least sum of squared distances to the first `size` members.

    It has no mark that the growing group holds; -1 where there is none such. Ask once for each member as it joins:
    `totals` carries brute force's sums from one to the next.
    """
    if in_tree(pool):
        row = tree_search.nearest_to_all(pool, members, size, group)
    else:
        row = brute.nearest_to_all(pool, members, size, group, totals)
    return row


@inlined
def members_at_once(pool, fresh, size):
    """Return how many members the next call of `nearest_to_any` may take: brute force goes one by one."""
    return size if in_tree(pool) else fresh + 1


@inlined
def nearest_to_any(pool, members, fresh, size, group, closest):  # OUT: closest
    """Return the live record nearest to any of the first `size` members, and its squared distance.

    It has no mark that the growing group holds; -1 where there is none such. Members from `fresh` on are new since the
    last time; `closest` carries brute force's minima.
    """
    if in_tree(pool):
        row, distance = tree_search.nearest_to_any(pool, members, size, group)
    else:
        row, distance = brute.nearest_to_any(pool, members, fresh, size, group, closest)
    return row, distance


_TRIED = 16  # records, evenly spread over the rows
WORTH = 0.5
"""What two searches for the nearest records and one for the farthest may look at, as a share of all records.

Brute force looks at all of them twice. Where MDAV by tree took as long, this share was 0.4 to 0.6: on uniform, normal,
log-normal and correlated data of 8 to 25 columns.
"""
HOPELESS = 2.0
"""The same share in a tree of some two thousand records of a file: above it, that of the whole file was never worth it.

In a larger file records lie closer, and a tree prunes more. Where it broke even, the share of the few was up to 1.8.
"""


def prunes(tree: Pool, k: int, share: float) -> bool:
    """Return whether searches in a new tree, as a method for groups of k makes them, look at no more than a share."""
    n = tree.place.size
    rows = np.arange(_TRIED) * n // _TRIED
    limit = share * _TRIED * n * tree.points.shape[1]
    return bool(looked_at(tree, rows, max(k - 1, 1), limit) <= limit)


@kernel
def looked_at(tree, rows, count, limit):  # OUT: tree.state
    """Return how many coordinates MDAV would look at in as many turns as there are rows.

    A search for the records nearest to each row counts twice, and one for the farthest record once. That begins far
    out, as in MDAV: at the record that was found last. Ends early beyond the limit.
    """
    point = np.empty(tree.points.shape[1])
    near_rows, near_distances = np.empty(count, dtype=np.int64), np.empty(count)
    far_row, looked = rows[0], 0.0
    for i in range(rows.shape[0]):
        if looked > limit:
            break
        tree.state[SPENT] = 0
        copy_point(tree, rows[i], point)
        tree_search.nearest(tree, point, tree.place[rows[i]] // LEAF, NO_GROUP, count, near_rows, near_distances)
        looked += 2.0 * tree.state[SPENT]
        copy_point(tree, far_row, point)
        tree.state[SPENT] = 0
        far_row, _ = tree_search.farthest(tree, point)
        looked += tree.state[SPENT] if i > 0 else 0  # the first row may lie anywhere
    return looked
