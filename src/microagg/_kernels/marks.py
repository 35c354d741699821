"""Marks of records, of which a group must hold different ones: the units that records belong to.

"At least so many different marks in a group" asks two things of a search: what a mark may still be taken, and which of
several records with one mark. Here every record of a group is to have a mark of its own, so a list of the nearest keeps
one record of each mark, its nearest, and passes over the marks that the growing group holds.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg._kernels._jit import inlined

NO_GROUP = -2  # no group's number: it holds no mark


class Marks(NamedTuple):
    """The marks of records, and what has become of them; all empty where records have none."""

    of_row: NDArray[np.int64]  # (n,): the mark of each original row, numbered from 0
    left: NDArray[np.int64]  # (marks,): live records that have each mark
    holder: NDArray[np.int64]  # (marks,): the group that a record with each mark joined last


def no_marks() -> Marks:
    """Give the marks of records that have none."""
    return Marks(*(np.empty(0, dtype=np.int64) for _ in range(3)))


def marks_of(codes: NDArray[np.int64]) -> Marks:
    """Give the marks of live records by their codes, numbered from 0."""
    left = np.bincount(codes)
    return Marks(np.ascontiguousarray(codes, dtype=np.int64), left, np.full(left.size, NO_GROUP + 1))


@inlined
def any_marks(marks):
    """Tell whether records have marks."""
    return marks.of_row.shape[0] > 0


@inlined
def is_held(marks, row, group):
    """Tell whether a group that is growing holds the mark of a record."""
    return marks.of_row.shape[0] > 0 and marks.holder[marks.of_row[row]] == group
