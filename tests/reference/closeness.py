"""t-closeness first (A3), and swaps inside subsets (A3r), spelt out."""

import math

from tests.reference.common import Rest, group_centroid, labels_of, squared_distance


def group_size(n, k, t):
    """k*."""
    size = max(k, math.ceil(n / (2 * (n - 1) * t + 1)))
    return size + (n % size) // (n // size)


def subsets_by_value(values, size):
    """The rows by confidential value, ties by row, in `size` subsets; the extra ones in the middle."""
    order = sorted(range(len(values)), key=lambda row: (values[row], row))
    each, extra = divmod(len(values), size)
    subsets = []
    for number in range(size):
        more = 0
        if size % 2 and number == size // 2:
            more = extra
        if size % 2 == 0 and number == size // 2 - 1:
            more = extra // 2
        if size % 2 == 0 and number == size // 2:
            more = extra - extra // 2
        subsets.append(order[: each + more])
        order = order[each + more :]
    return subsets


def closeness(records, k, t, values):
    n = len(records)
    size = group_size(n, k, t)
    left = subsets_by_value(values, size)
    rest, groups, in_all = Rest(records), [], n // size

    def take_group(seed):
        to_come = in_all - len(groups)
        group = []
        giving_more = [subset for subset in left if len(subset) > to_come]
        for subset in [*left, *giving_more]:
            nearest = min(subset, key=lambda row: (squared_distance(records[row], records[seed]), row))
            subset.remove(nearest)
            rest.take(nearest)
            group.append(nearest)
        groups.append(group)

    while len(groups) < in_all:
        r = rest.farthest(rest.centroid())
        take_group(r)
        if len(groups) < in_all:
            take_group(rest.farthest(records[r]))
    return labels_of(groups, n)


def exchange(records, labels, subsets):
    """Swap two records of one subset where that lowers the error, pair after pair, until no swap does."""
    labels = list(labels)
    changed = True
    while changed:
        changed = False
        for subset in subsets:
            for at, row in enumerate(subset):
                for other in subset[at + 1 :]:
                    apart = squared_distance(records[row], records[other])  # less than a billionth of it is rounding
                    if labels[row] != labels[other] and 0 < 1e-9 * apart < gain(records, labels, row, other):
                        labels[row], labels[other] = labels[other], labels[row]
                        changed = True
    numbers = {}
    return [numbers.setdefault(label, len(numbers)) for label in labels]


def gain(records, labels, row, other):
    swapped = list(labels)
    swapped[row], swapped[other] = labels[other], labels[row]
    both = labels[row], labels[other]
    return sum(error(records, labels, g) - error(records, swapped, g) for g in both)


def error(records, labels, g):
    group = [row for row in range(len(records)) if labels[row] == g]
    centroid = group_centroid(records, group)
    return sum(squared_distance(records[row], centroid) for row in group)
