"""Runs along an order: the optimal cut, individual ranking, and an exhaustive check of the former."""

from fractions import Fraction
from math import fsum, inf, sqrt

from tests.reference.common import labels_of


def optimal_runs(records, k, scores):
    """Hansen and Mukherjee's dynamic programme over the records in the order of their scores."""
    n = len(records)
    order = sorted(range(n), key=lambda row: (scores[row], row))
    least, last = [0.0] + [inf] * n, [0] * (n + 1)
    for end in range(1, n + 1):
        for length in range(k, min(2 * k - 1, end) + 1):
            cost = least[end - length] + squared_error([records[row] for row in order[end - length : end]])
            if cost < least[end]:
                least[end], last[end] = cost, length
    groups, end = [], n
    while end > 0:
        groups.append(order[end - last[end] : end])
        end -= last[end]
    return labels_of(groups, n)


def sums_of_scores(records):
    """Sum of z-scores of each record, constant columns counting nothing."""
    n = len(records)
    totals = [0.0] * n
    for column in zip(*records, strict=True):
        mean = fsum(column) / n
        deviation = sqrt(fsum((x - mean) ** 2 for x in column) / n)
        for row, x in enumerate(column):
            totals[row] += (x - mean) / deviation if max(column) > min(column) else 0.0
    return totals


def squared_error(run):
    """Squared error of a run, by Welford's recurrence from its last record backwards."""
    means = [0.0] * len(run[0])
    error = 0.0
    for count, record in enumerate(reversed(run), start=1):
        for j, x in enumerate(record):
            before = x - means[j]
            means[j] += before / count
            error += before * (x - means[j])
    return error


def ranking(values, k):
    n = len(values)
    order = sorted(range(n), key=lambda row: (values[row], row))
    groups = [order[i * k : (i + 1) * k] for i in range(n // k)]
    groups[-1].extend(order[(n // k) * k :])
    return labels_of(groups, n)


def least_error_of_all_cuts(values, k):
    """The least squared error over every way to cut the sorted values into runs of k or more, exactly."""
    ordered = sorted(Fraction(v) for v in values)

    def best(start):
        if start == len(ordered):
            return Fraction(0)
        costs = []
        for end in range(start + k, len(ordered) + 1):
            if end == len(ordered) or len(ordered) - end >= k:
                run = ordered[start:end]
                mean = sum(run) / len(run)
                costs.append(sum((x - mean) ** 2 for x in run) + best(end))
        return min(costs)

    return best(0)
