"""MD: groups around the two most distant records."""

from tests.reference.common import Rest, labels_of, most_distant, place_together


def maximum_distance(records, k):
    rest = Rest(records)
    groups = []
    while len(rest) >= 2 * k:
        r, s = most_distant(records, rest.rows)
        groups.append(rest.take_group(r, k))
        if s not in rest.rows:
            s = rest.farthest(records[r])
        groups.append(rest.take_group(s, k))
    if len(rest) >= k:
        groups.append(list(rest.rows))
    elif len(rest) > 0:
        place_together(records, groups, rest.rows, rest.centroid())
    return labels_of(groups, len(records))
