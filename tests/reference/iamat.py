"""IAMAT, algorithm 1, on minus the logarithm: products of associations become sums of distances."""

from tests.reference.common import Rest, labels_of, mean_in_order, place_each, squared_distance, whole_centroid


def iamat(records, k, centroid="fixed", sizes="fixed"):
    centre = whole_centroid(records)
    rest = Rest(records)
    groups = []
    while len(rest) >= k:
        # Steps 8 and 9: the record least associated with the centroid.
        r = rest.farthest(centre if centroid == "fixed" else rest.centroid())
        rest.take(r)
        group = [r]
        # Steps 10 to 26: the record with the largest interaction with all members.
        while len(group) < k:
            grow(rest, group, most_interactive(records, rest, group))
        if sizes == "variable":
            while len(group) < 2 * k - 1 and len(rest) >= k:
                u = most_interactive(records, rest, group)
                if not adds_less_here(records, rest, group, u, k):
                    break
                grow(rest, group, u)
        groups.append(group)
    if sizes == "variable":
        place_each(records, groups, rest.rows)
    else:
        groups[-1].extend(rest.rows)  # step 29
    return labels_of(groups, len(records))


def grow(rest, group, row):
    rest.take(row)
    group.append(row)


def most_interactive(records, rest, group):
    best, best_row = float("inf"), None
    for row in rest.rows:
        total = 0.0
        for member in group:
            total += squared_distance(records[row], records[member])
        if total < best:
            best, best_row = total, row
    return best_row


def adds_less_here(records, rest, group, u, k):
    """Whether u adds less squared error to the group than it accounts for in one of its own."""
    others = sorted(
        (row for row in rest.rows if row != u),
        key=lambda row: (squared_distance(records[row], records[u]), row),
    )
    company = [u, *others[: k - 1]]
    here = squared_distance(records[u], mean_in_order(records, group))
    there = squared_distance(records[u], mean_in_order(records, company))
    m = len(group)
    return m / (m + 1) * here < k / (k - 1) * there
