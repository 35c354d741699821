"""Equivalence classes: records that are the same in some columns, each class with a number from 0 without gaps."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.kernels.alike import float_bits, half_digests_of

Values = NDArray[Any]  # float64, int64 or uint64

_WIDEST = 8  # times the records: a table of so many whole numbers is filled sooner than they are sorted


def codes_of(values: Values) -> NDArray[np.int64]:
    """Number the distinct values in their order, and give each record's number."""
    n = values.size
    if n and values.dtype == np.float64 and values.min() >= 0 and values.max() < _WIDEST * n:
        whole = values.astype(np.int64)
        values = whole if np.array_equal(whole, values) else values
    if n and values.dtype == np.int64 and values.min() >= 0:
        largest, bits = int(values.max()), (n - 1).bit_length()
        if largest < _WIDEST * n:
            return without_gaps(values, largest + 1)[1]
        if largest.bit_length() + bits < 64:  # value and place in one number, which is sorted sooner than places are
            both = np.sort((values << bits) | np.arange(n))
            places, both = both & ((1 << bits) - 1), both >> bits
            codes = np.empty(n, dtype=np.int64)
            codes[places] = np.concatenate([[0], np.cumsum(both[1:] != both[:-1])])
            return codes
    return np.asarray(np.unique(values, return_inverse=True)[1], dtype=np.int64)


def without_gaps(labels: NDArray[np.int64], n_labels: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return which of so many labels there are, in their order, and the place of each record's among them."""
    there = np.zeros(n_labels, dtype=bool)
    there[labels] = True
    return np.flatnonzero(there), np.asarray((np.cumsum(there) - 1)[labels], dtype=np.int64)


def distinct_of(values: Values) -> Values:
    """Return the different values, none of them NaN, in their order.

    NumPy's own way takes ten times as long for many different whole numbers.
    """
    ordered = np.sort(values)
    return ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])] if ordered.size else ordered


def classes_of(columns: Sequence[Values]) -> NDArray[np.int64]:
    """Number what records have in all of these columns together, in no particular order.

    One sort, of digests, does for all columns. Should two records that differ share theirs, by a chance of 2**-64, they
    are distinguished column by column.
    """
    bits = [float_bits(column) if column.dtype == np.float64 else column.view(np.uint64) for column in columns]
    classes = codes_of(half_digests_of(bits))
    first = first_of_each(classes)
    if all(np.array_equal(column[first][classes], column) for column in columns):
        return classes
    for column in columns:
        classes = split_classes(classes, column)
    return classes


def rows_of(classes: NDArray[np.int64], n_classes: int = 1) -> list[NDArray[np.int64]]:
    """List the rows of each class, in order, of at least so many classes."""
    if n_classes == 1 and not classes.any():
        return [np.arange(classes.size)]
    order = np.argsort(classes, kind="stable")
    return np.split(order, np.cumsum(np.bincount(classes, minlength=n_classes))[:-1])


def first_of_each(classes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the first member of each class."""
    first = np.empty(int(classes.max(initial=-1)) + 1, dtype=np.int64)
    first[classes[::-1]] = np.arange(classes.size)[::-1]
    return first


def split_classes(
    classes: NDArray[np.int64],
    values: Values,
    codes: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """Split classes whose members have different values; `codes` are those of the values, if they are known.

    Sorting takes most of the time. Most columns after the first few split no class any more, and members that are
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
