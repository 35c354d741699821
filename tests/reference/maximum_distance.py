"""MD: groups around the two most distant records."""

from tests.reference.common import Rest, labels_of, place_together, squared_distance


def maximum_distance(records, k):
    rest = Rest(records)
    groups = []
    while len(rest) >= 2 * k:
        best, r, s = -1.0, None, None
        for at, i in enumerate(rest.rows):
            for j in rest.rows[at + 1 :]:
                distance = squared_distance(records[i], records[j])
                if distance > best:
                    best, r, s = distance, i, j
        groups.append(rest.take_group(r, k))
        if s not in rest.rows:
            s = rest.farthest(records[r])
        groups.append(rest.take_group(s, k))
    if len(rest) >= k:
        groups.append(list(rest.rows))
    elif len(rest) > 0:
        place_together(records, groups, rest.rows, rest.centroid())
    return labels_of(groups, len(records))
