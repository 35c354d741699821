"""What became of a column, by the letter: one record after the other, None where a cell is missing."""

import math
from collections import Counter


def mismatches(before, after):
    return 100 * sum(one != other for one, other in zip(before, after, strict=True)) / len(before)


def levels(before, after, n_levels):
    moves = [
        abs(one - other) for one, other in zip(before, after, strict=True) if one is not None and other is not None
    ]
    return 100 * sum(moves) / len(moves) / (n_levels - 1)


def uncertainty(before, after):
    """H(X|X') / H(X), from the shares within each released value."""
    n = len(before)
    left = 0.0
    for value, number in Counter(after).items():
        inside = Counter(one for one, other in zip(before, after, strict=True) if other == value)
        left += number / n * _entropy(inside.values())
    return 100 * left / _entropy(Counter(before).values())


def _entropy(counts):
    total = sum(counts)
    return -sum(one / total * math.log(one / total) for one in counts)


def span_by_order(values, labels):
    known = [value for value in values if value is not None]
    width = max(known) - min(known)
    spans = 0.0
    for group in set(labels):
        own = [value for value, label in zip(values, labels, strict=True) if label == group]
        present = [value for value in own if value is not None]
        spans += len(own) * (max(present) - min(present)) / width if present else 0.0
    return 100 * spans / len(values)


def span_of_categories(values, labels):
    spans = 0.0
    for group in set(labels):
        own = [value for value, label in zip(values, labels, strict=True) if label == group]
        spans += len(own) * (len(set(own)) / len(set(values)) if len(set(own)) > 1 else 0.0)
    return 100 * spans / len(values)


def span_by_taxonomy(values, labels, ancestors):
    """`ancestors` gives for each leaf itself, then its ancestors below the root, from the lowest up."""
    spans = 0.0
    for group in set(labels):
        own = [value for value, label in zip(values, labels, strict=True) if label == group]
        if len(set(own)) == 1:
            continue
        share = 1.0
        if None not in own:
            for level in range(len(next(iter(ancestors.values())))):
                above = {ancestors[value][level] for value in own}
                if len(above) == 1:
                    share = sum(up[level] in above for up in ancestors.values()) / len(ancestors)
                    break
        spans += len(own) * share
    return 100 * spans / len(values)
