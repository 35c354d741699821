"""k-anonymity first with swaps (A2), spelt out; t is that over values."""

from tests.reference.common import Rest, labels_of, place_together
from tests.reference.diversity import gap_nominal, gap_ordered, t_of


def swapped(records, k, t, values, ordered, levels=None):
    """MDAV, each group of which is made closer by swaps; values are whole numbers, none of them missing."""
    rest = Rest(records)
    groups = []

    def take_group(row):
        groups.append(closer(rest, row, k, t, values, ordered, levels))
        for member in groups[-1]:
            rest.take(member)

    while len(rest) >= 3 * k:
        r = rest.farthest(rest.centroid())
        take_group(r)
        take_group(rest.farthest(records[r]))
    if len(rest) >= 2 * k:
        take_group(rest.farthest(rest.centroid()))
    if len(rest) >= k:
        groups.append(list(rest.rows))
    elif len(rest) > 0:
        place_together(records, groups, rest.rows, rest.centroid())
    return labels_of(groups, len(records))


def closer(rest, row, k, t, values, ordered, levels):
    """The k nearest; while too far from the file: the next nearest takes the place where t becomes least, if lower."""
    ranked = rest.nearest(rest.records[row], len(rest))
    group = ranked[:k]

    def gap(members):
        """What t is proportional to, in whole numbers: equal distances tie."""
        own = [values[member] for member in members]
        if ordered:
            return gap_ordered(own, values)
        ancestors = levels or [{value: value for value in values}]
        return sum(gap_nominal([up[one] for one in own], [up[one] for one in values]) for up in ancestors)

    for other in ranked[k:]:
        if t_of([values[member] for member in group], values, ordered, levels) <= t + 1e-12:
            break
        swaps = [[*group[:place], other, *group[place + 1 :]] for place in range(k)]
        best = min(swaps, key=gap)
        if gap(best) < gap(group):
            group = best
    return group
