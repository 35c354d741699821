"""Losses and risks, spelt out: M1 to M5, rank intervals, and linkage by looking at every masked record."""

import itertools
import math

from tests.reference.common import squared_distance


def mean(values):
    return math.fsum(values) / len(values)


def covariance(a, b):
    ma, mb = mean(a), mean(b)
    return math.fsum((x - ma) * (y - mb) for x, y in zip(a, b, strict=True)) / len(a)


def variation(a, b):
    if a == b == 0:
        return 0.0
    return abs(a - b) / (abs(a) if a != 0 else abs(b))


def or_nothing(value, scale):
    return 0.0 if abs(value) <= 1e-12 * scale else value


def five_measures(original, masked):
    """M1 to M5 of two lists of columns."""
    d, n = len(original), len(original[0])
    files = []
    scales = [
        max(math.sqrt(mean([x * x for x in a])), math.sqrt(mean([x * x for x in b])))
        for a, b in zip(original, masked, strict=True)
    ]
    for file in (original, masked):
        means = [or_nothing(mean(column), scale) for column, scale in zip(file, scales, strict=True)]
        deviations = []
        for column, scale in zip(file, scales, strict=True):
            deviations.append(or_nothing(math.sqrt(max(covariance(column, column), 0.0)), scale))
        files.append((means, deviations, file))
    larger = [max(files[0][1][j], files[1][1][j]) for j in range(d)]
    statistics = []
    for means, deviations, file in files:
        covariances = {}
        for i, j in itertools.combinations_with_replacement(range(d), 2):
            if i == j:
                covariances[i, i] = deviations[i] ** 2
            else:
                covariances[i, j] = or_nothing(covariance(file[i], file[j]), larger[i] * larger[j])
        correlations = {
            (i, j): covariances[i, j] / (deviations[i] * deviations[j]) if deviations[i] * deviations[j] > 0 else 0.0
            for i, j in itertools.combinations(range(d), 2)
        }
        statistics.append((means, covariances, correlations))
    (means, covariances, correlations), (means_, covariances_, correlations_) = statistics
    cells = [variation(x, y) for a, b in zip(original, masked, strict=True) for x, y in zip(a, b, strict=True)]
    return (
        math.fsum(cells) / (n * d),
        mean([variation(means[j], means_[j]) for j in range(d)]),
        mean([variation(covariances[j, j], covariances_[j, j]) for j in range(d)]),
        mean([variation(covariances[pair], covariances_[pair]) for pair in covariances]),
        mean([abs(correlations[pair] - correlations_[pair]) for pair in correlations]) if d > 1 else 0.0,
    )


def interval_counts(original, masked):
    """Records with every value between the masked values p percent of ranks around theirs, p = 1 to 10."""
    n = len(original[0])
    counts = []
    for percent in range(1, 11):
        width = percent * n // 100
        disclosed = [True] * n
        for values, released in zip(original, masked, strict=True):
            order = sorted(range(n), key=lambda row, released=released: (released[row], row))
            for rank, row in enumerate(order):
                low = released[order[max(rank - width, 0)]]
                high = released[order[min(rank + width, n - 1)]]
                disclosed[row] = disclosed[row] and low <= values[row] <= high
        counts.append(sum(disclosed))
    return counts


def tied_interval_counts(original, masked):
    """The same, equal masked values sharing the mean of their ranks (rounded outwards)."""
    n = len(original[0])
    counts = []
    for percent in range(1, 11):
        width = percent * n // 100
        disclosed = [True] * n
        for values, released in zip(original, masked, strict=True):
            ordered = sorted(released)
            for row in range(n):
                ranks = [rank for rank in range(n) if ordered[rank] == released[row]]
                middle = sum(ranks) / len(ranks)
                low = ordered[max(math.floor(middle) - width, 0)]
                high = ordered[min(math.ceil(middle) + width, n - 1)]
                disclosed[row] = disclosed[row] and low <= values[row] <= high
        counts.append(sum(disclosed))
    return counts


def deviation_counts(original, masked):
    """Records with every value within p percent of a standard deviation of the masked one."""
    n = len(original[0])
    counts = []
    for percent in range(1, 11):
        disclosed = [True] * n
        for values, released in zip(original, masked, strict=True):
            deviation = math.sqrt(covariance(values, values))
            for row in range(n):
                near = abs(values[row] - released[row]) <= percent / 100 * deviation * (1 + 1e-12)
                disclosed[row] = disclosed[row] and near
        counts.append(sum(disclosed))
    return counts


def linkage(original, masked, released, strata=None):
    """Each record's chance of being linked, averaged over all sets of keys, and that of its group.

    Takes lists of records: the keys, standardised alike, and what is released, which tells groups apart.
    """
    n, d = len(original), len(original[0])
    sets = [chosen for size in range(1, d + 1) for chosen in itertools.combinations(range(d), size)]
    right, group = [0.0] * n, [0.0] * n
    for chosen in sets:
        for row, record in enumerate(original):
            point = [record[j] for j in chosen]
            near = [i for i in range(n) if strata is None or strata[i] == strata[row]]
            distances = {i: squared_distance([masked[i][j] for j in chosen], point) for i in near}
            nearest = [i for i in near if distances[i] == min(distances.values())]
            if row in nearest:
                right[row] += 1 / len(nearest) / len(sets)
                group[row] += sum(released[i] == released[row] for i in nearest) / len(nearest) / len(sets)
    return right, group
