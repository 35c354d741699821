"""The bound by nearest neighbours, and the optimum that it bounds, in exact fractions of the numbers as they are."""

from fractions import Fraction

from tests.reference.optimum import least_error


def exact(records):
    return [[Fraction(value) for value in record] for record in records]


def squared_distance(a, b):
    return sum((x - y) ** 2 for x, y in zip(a, b, strict=True))


def variation(records):
    """The squared distances to the mean of all."""
    n = len(records)
    means = [sum(column) / n for column in zip(*records, strict=True)]
    return sum(squared_distance(record, means) for record in records)


def least_of_neighbours(records, k):
    """What no partition into groups of k or more can undercut: of fewer than 2k records, the error of the one group."""
    n = len(records)
    size = k if n >= 2 * k else n
    total = Fraction(0)
    for i, record in enumerate(records):
        others = sorted(squared_distance(record, other) for j, other in enumerate(records) if j != i)
        total += sum(others[: size - 1]) / (2 * size)
    return total


def bound(records, k, strata=None):
    """The bound in percent of the variation, with groups within strata."""
    records = exact(records)
    strata = [0] * len(records) if strata is None else strata
    total = variation(records)
    if total == 0:
        return Fraction(0)
    parts = [[record for record, own in zip(records, strata, strict=True) if own == one] for one in set(strata)]
    return 100 * sum(least_of_neighbours(part, k) for part in parts) / total


def optimum(records, k):
    """The least loss of any partition, in percent, by trying them all."""
    records = exact(records)
    total = variation(records)
    return 100 * least_error(records, k) / total if total else Fraction(0)
