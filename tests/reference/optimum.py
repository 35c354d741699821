"""The partition of least squared error, by trying them all: for a dozen records at most, exactly if of fractions."""

from functools import cache
from itertools import combinations


def squared_error(records):
    """Sum the squared distances to the mean."""
    n = len(records)
    total = 0
    for column in zip(*records, strict=True):
        mean = sum(column) / n
        total += sum((value - mean) ** 2 for value in column)
    return total


def least_error(records, k, keeps=None):
    """Give the least squared error of any partition into groups of at least k that keep a promise."""
    n = len(records)
    cost = {}
    for mask in range(1, 1 << n):
        rows = [i for i in range(n) if mask >> i & 1]
        if len(rows) >= k and (keeps is None or keeps(rows)):
            cost[mask] = squared_error([records[i] for i in rows])

    @cache
    def least(left):
        if left == 0:
            return 0
        lowest = left & -left
        best = float("inf")
        group = left
        while group:
            if group & lowest and group in cost:
                best = min(best, cost[group] + least(left & ~group))
            group = (group - 1) & left
        return best

    return least((1 << n) - 1)


def least_error_of_sizes(records, sizes):
    """Give the least squared error of any partition into groups of exactly these sizes."""

    @cache
    def least(left, sizes):
        if not left:
            return 0
        first, others = left[0], left[1:]
        best = float("inf")
        for size in set(sizes):
            rest = list(sizes)
            rest.remove(size)
            for mates in combinations(others, size - 1):
                remaining = tuple(row for row in others if row not in mates)
                error = squared_error([records[row] for row in (first, *mates)])
                best = min(best, error + least(remaining, tuple(rest)))
        return best

    return least(tuple(range(len(records))), tuple(sizes))
