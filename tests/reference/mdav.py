"""MDAV, and AMA's loop with the other tail."""

from tests.reference.common import Rest, labels_of, place_together


def mdav(records, k, tail="3k"):
    rest = Rest(records)
    groups = []
    while len(rest) >= (3 * k if tail == "3k" else 2 * k):
        r = rest.farthest(rest.centroid())
        s = rest.farthest(records[r])
        groups.append(rest.take_group(r, k))
        if s not in rest.rows:
            s = rest.farthest(records[r])
        groups.append(rest.take_group(s, k))
    if tail == "3k" and len(rest) >= 2 * k:
        groups.append(rest.take_group(rest.farthest(rest.centroid()), k))
    if len(rest) >= k:
        groups.append(list(rest.rows))
    elif len(rest) > 0:
        place_together(records, groups, rest.rows, rest.centroid())
    return labels_of(groups, len(records))
