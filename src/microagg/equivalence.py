"""Equivalence classes: records that are alike in some columns, each class with a number from 0 without gaps."""

import numpy as np
from numpy.typing import NDArray


def codes_of(values: NDArray[np.float64] | NDArray[np.int64] | NDArray[np.uint64]) -> NDArray[np.int64]:
    """Number the distinct values in their order, and give each record's number."""
    return np.asarray(np.unique(values, return_inverse=True)[1], dtype=np.int64)


def rows_of(classes: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """List the rows of each class, in order."""
    if not classes.any():
        return [np.arange(classes.size)]
    order = np.argsort(classes, kind="stable")
    return np.split(order, np.cumsum(np.bincount(classes))[:-1])


def first_of_each(classes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give the first member of each class."""
    first = np.empty(int(classes.max(initial=-1)) + 1, dtype=np.int64)
    first[classes[::-1]] = np.arange(classes.size)[::-1]
    return first


def split_classes(
    classes: NDArray[np.int64],
    values: NDArray[np.float64] | NDArray[np.int64],
    codes: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """Tell members of a class with different values apart; `codes` are those of the values, if they are known.

    Sorting is the dear part of it. Most columns after the first few tell nobody apart any more, and members that are
    alone already need no sorting.
    """
    first = first_of_each(classes)
    if np.array_equal(values[first][classes], values):
        return classes
    codes = codes_of(values) if codes is None else codes
    if first.size == 1:
        return codes
    several = np.bincount(classes)[classes] > 1
    alone = classes.size - int(np.count_nonzero(several))
    finer = np.empty_like(classes)
    finer[~several] = np.arange(alone)
    finer[several] = alone + codes_of(classes[several] * (int(codes.max()) + 1) + codes[several])
    return finer
