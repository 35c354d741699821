"""CBFS: centroid-based fixed size."""

from tests.reference.common import Rest, labels_of, place_each


def cbfs(records, k):
    rest = Rest(records)
    groups = []
    while len(rest) >= k:
        groups.append(rest.take_group(rest.farthest(rest.centroid()), k))
    place_each(records, groups, rest.rows)
    return labels_of(groups, len(records))
