"""How much of a tree its searches look at: whether it spares anything on the records at hand."""

import numpy as np

from microagg.algorithms.kernels import search, tree_search
from microagg.algorithms.kernels._jit import kernel
from microagg.algorithms.kernels.pool import LEAF, SPENT, Pool

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
        search.copy_point(tree, rows[i], point)
        tree_search.nearest(tree, point, tree.place[rows[i]] // LEAF, -1, count, near_rows, near_distances)
        looked += 2.0 * tree.state[SPENT]
        search.copy_point(tree, far_row, point)
        tree.state[SPENT] = 0
        far_row, _ = tree_search.farthest(tree, point)
        looked += tree.state[SPENT] if i > 0 else 0  # the first row may lie anywhere
    return looked
