"""Sums: exact ones, which do not depend on the order of the records, and sums within groups."""

from collections.abc import Iterable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.kernels._jit import inlined, kernel

# A float64 is an integer of 53 bits times 2**(shift - 1074), shift in 0..2045. Cutting that range into
# digits of 32 bits takes 64 of them and three to spare for the carries of up to 2**31 records.
_DIGITS = 68
_RENORMALISE_EVERY = 1 << 28
_UNIT = 1 << 1074


def exact_sum(values: NDArray[np.float64]) -> float:
    """Sum finite values and round once: the same float as `math.fsum`, at a kernel's speed."""
    return round_digits(exact_digits(values))


def exact_sums(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the exact sum of each row of `columns` (d, n)."""
    return np.array([exact_sum(column) for column in columns])


def exact_sum_of_parts(parts: Iterable[NDArray[np.float64]]) -> float:
    """Sum values that come in parts: the same float, however they are cut."""
    digits = np.zeros(_DIGITS, dtype=np.int64)
    for part in parts:
        digits += exact_digits(part)
    return round_digits(digits)


def exact_sum_of_counts(values: NDArray[np.float64], counts: NDArray[np.int64]) -> float:
    """Sum a few values that occur so many times each: the same float as if all were there."""
    pairs = zip(values.tolist(), counts.tolist(), strict=True)
    return float(sum((Fraction(value) * count for value, count in pairs), start=Fraction(0)))


def exact_digits(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the sum as digits; the digits of two sums may be added, so chunks can be joined exactly."""
    digits = np.zeros(_DIGITS, dtype=np.int64)
    _accumulate(np.ascontiguousarray(values, dtype=np.float64).view(np.int64), digits)
    return digits


def round_digits(digits: NDArray[np.int64]) -> float:
    """Round a sum held as digits to the nearest float."""
    total = 0
    for digit in digits[::-1].tolist():
        total = (total << 32) + digit
    return total / _UNIT  # Python divides integers with one correct rounding


@kernel
def _accumulate(patterns, digits):  # OUT: digits
    mask = np.int64(0xFFFFFFFF)
    for i in range(patterns.shape[0]):
        pattern = patterns[i]
        exponent = (pattern >> 52) & 0x7FF
        mantissa = pattern & 0xFFFFFFFFFFFFF
        if exponent == 0:
            exponent = 1  # a subnormal has the smallest exponent and no hidden bit
        else:
            mantissa |= 1 << 52
        shift = exponent - 1
        at = shift >> 5
        offset = shift & 31
        low = (mantissa & mask) << offset
        high = (mantissa >> 32) << offset
        if pattern >= 0:
            digits[at] += low & mask
            digits[at + 1] += (low >> 32) + (high & mask)
            digits[at + 2] += high >> 32
        else:
            digits[at] -= low & mask
            digits[at + 1] -= (low >> 32) + (high & mask)
            digits[at + 2] -= high >> 32
        if i % _RENORMALISE_EVERY == _RENORMALISE_EVERY - 1:
            _carry(digits)
    _carry(digits)


@kernel
def _carry(digits):  # OUT: digits
    for i in range(digits.shape[0] - 1):
        carry = digits[i] >> 32
        digits[i] -= carry << 32
        digits[i + 1] += carry


@kernel
def group_sizes(labels, n_groups):
    """Count the records of each group."""
    sizes = np.zeros(n_groups, dtype=np.int64)
    for i in range(labels.shape[0]):
        sizes[labels[i]] += 1
    return sizes


@kernel
def group_means(columns, labels, n_groups):
    """Return the mean of each group and column, (d, groups).

    Members are summed in row order as differences from the group's first, so that equal values keep
    their value to the last bit and a large common offset costs no precision.
    """
    d, n = columns.shape
    sizes = group_sizes(labels, n_groups)
    first = np.full(n_groups, -1, dtype=np.int64)
    for i in range(n):
        if first[labels[i]] < 0:
            first[labels[i]] = i
    means = np.zeros((d, n_groups))
    for j in range(d):
        for i in range(n):
            g = labels[i]
            means[j, g] += columns[j, i] - columns[j, first[g]]
        for g in range(n_groups):
            means[j, g] = columns[j, first[g]] + means[j, g] / sizes[g]
    return means


@kernel
def rounded_group_means(column, labels, n_groups):
    """Return the mean of each group, computed in twice the precision and rounded once.

    What is released must disclose nothing of its members but their mean. The last digits of a sum that rounds on the
    way depend on who came first. Errors of rounding are carried along (two-sum), and that of the division is taken
    back.
    """
    sums, errors, sizes = np.zeros(n_groups), np.zeros(n_groups), group_sizes(labels, n_groups)
    for i in range(column.shape[0]):
        g, x = labels[i], column[i]
        total = sums[g] + x
        of_x = total - sums[g]
        errors[g] += (sums[g] - (total - of_x)) + (x - of_x)
        sums[g] = total
    for g in range(n_groups):
        size = sizes[g]
        total = sums[g] + errors[g]
        error = errors[g] - (total - sums[g])
        mean = total / size
        # The mean in two halves, whose products with a size below 2**26 are exact.
        upper = 134217729.0 * mean
        upper -= upper - mean
        sums[g] = mean + (((total - upper * size) - (mean - upper) * size) + error) / size
    return sums


@inlined
def _product_error(a, b, product):
    """Return what rounding took from a product (Dekker): the halves of both have products that are exact."""
    a_upper, b_upper = 134217729.0 * a, 134217729.0 * b
    a_upper -= a_upper - a
    b_upper -= b_upper - b
    a_lower, b_lower = a - a_upper, b - b_upper
    return ((a_upper * b_upper - product) + a_upper * b_lower + a_lower * b_upper) + a_lower * b_lower


@kernel
def rounded_weighted_means(column, weights, labels, n_groups):
    """Return the weighted mean of each group, computed in twice the precision and rounded once.

    As `rounded_group_means`, with the errors of products carried along too. A group needs a weight above 0.
    """
    sums, errors = np.zeros(n_groups), np.zeros(n_groups)
    totals, rests = np.zeros(n_groups), np.zeros(n_groups)
    for i in range(column.shape[0]):
        g, w = labels[i], weights[i]
        x = w * column[i]
        total = sums[g] + x
        of_x = total - sums[g]
        errors[g] += ((sums[g] - (total - of_x)) + (x - of_x)) + _product_error(w, column[i], x)
        sums[g] = total
        total = totals[g] + w
        of_w = total - totals[g]
        rests[g] += (totals[g] - (total - of_w)) + (w - of_w)
        totals[g] = total
    for g in range(n_groups):
        total = sums[g] + errors[g]
        error = errors[g] - (total - sums[g])
        below = totals[g] + rests[g]
        rest = rests[g] - (below - totals[g])
        mean = total / below
        product = mean * below
        left = ((total - product) - _product_error(mean, below, product)) + (error - mean * rest)
        sums[g] = mean + left / below
    return sums
