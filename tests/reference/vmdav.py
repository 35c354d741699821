"""V-MDAV: variable-size MDAV."""

import math

from tests.reference.common import Rest, labels_of, place_each, squared_distance, whole_centroid


def vmdav(records, k, gamma):
    centre = whole_centroid(records)
    rest = Rest(records)
    groups = []
    while len(rest) >= k:
        group = rest.take_group(rest.farthest(centre), k)
        while len(group) < 2 * k - 1 and len(rest) > 1:
            inward = {row: min(squared_distance(records[row], records[m]) for m in group) for row in rest.rows}
            u = min(rest.rows, key=lambda row: (inward[row], row))
            outward = min(squared_distance(records[u], records[row]) for row in rest.rows if row != u)
            if not math.sqrt(inward[u]) < gamma * math.sqrt(outward):
                break
            rest.take(u)
            group.append(u)
        groups.append(group)
    place_each(records, groups, rest.rows)
    return labels_of(groups, len(records))
