"""Marks of records, of which a group must hold different ones: the units that records belong to.

"At least so many different marks in a group" asks two things of a search: which marks may still be taken, and which of
several records with one mark. Here every record of a group is to have a mark of its own, so a list of the nearest keeps
one record of each mark, its nearest, and passes over the marks that the growing group holds.

Two arrays describe marks, both empty where records have none: `marks` (n,), that of each original row, numbered from 0,
and `tally` (2, marks), what has become of each. They are in the pool side by side, not as a tuple of their own: to
take an array out of a tuple within a tuple costs time, even where it is empty.
"""

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.kernels._jit import inlined

# No group's number: it holds no mark. Not a literal, for which kernels would compile once more.
NO_GROUP = np.int64(-2)

# The rows of a tally.
LEFT = 0  # live records that have the mark
HOLDER = 1  # the group that a record with the mark joined last


def tally_of(marks: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the tally of marks whose records are all live."""
    left = np.bincount(marks)
    return np.stack([left, np.full(left.size, NO_GROUP + 1)])


@inlined
def is_held(marks, tally, row, group):
    """Return whether a group that is growing holds the mark of a record; never so where there are no marks."""
    return marks.shape[0] > 0 and tally[HOLDER, marks[row]] == group
