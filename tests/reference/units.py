"""The partitioners that keep k units in a group, spelt out.

A unit is a person, household or firm; `units` names the unit of each record. `in_part`: no unit may hold more than 1/k
of a group's records. Otherwise k different units in a group are enough.
"""

import math

from tests.reference.common import (
    Rest,
    group_centroid,
    labels_of,
    mean_in_order,
    most_distant,
    place_each,
    place_together,
    squared_distance,
    whole_centroid,
)
from tests.reference.merging import merge_worst


class UnitRest(Rest):
    """The records in no group yet; a group takes records of different units."""

    def __init__(self, records, units):
        super().__init__(records)
        self.units = units

    def n_units(self):
        return len({self.units[row] for row in self.rows})

    def repeats(self):
        """Whether some unit has several records left."""
        return self.n_units() < len(self)

    def candidates(self, group):
        """The records of units that a group does not hold."""
        held = {self.units[member] for member in group}
        return [row for row in self.rows if self.units[row] not in held]

    def take_group(self, row, k):
        """take(x): x, then the remaining records by distance to it, skipping units already taken, until k."""
        self.take(row)
        group = [row]
        for other in self.nearest(self.records[row], len(self)):
            if len(group) < k and other in self.candidates(group):
                self.take(other)
                group.append(other)
        return group


def mdav_units(records, k, units, in_part=True, tail="3k"):
    rest = UnitRest(records, units)
    groups = []
    while rest.n_units() >= (3 * k if tail == "3k" else 2 * k):
        r = rest.farthest(rest.centroid())
        s = rest.farthest(records[r])
        groups.append(rest.take_group(r, k))
        if s not in rest.rows:
            s = rest.farthest(records[r])
        groups.append(rest.take_group(s, k))
    finish(rest, groups, k, in_part, tail)
    return labels_of(groups, len(records))


def maximum_distance_units(records, k, units, in_part=True):
    rest = UnitRest(records, units)
    groups = []
    while rest.n_units() >= 2 * k:
        r, s = most_distant(records, rest.rows)
        groups.append(rest.take_group(r, k))
        if s not in rest.rows:
            s = rest.farthest(records[r])
        groups.append(rest.take_group(s, k))
    finish(rest, groups, k, in_part, "2k")
    return labels_of(groups, len(records))


def finish(rest, groups, k, in_part, tail):
    """The tail of MDAV and MD."""
    while rest.n_units() >= k and rest.repeats():
        groups.append(rest.take_group(rest.farthest(rest.centroid()), k))
    # From here on every unit left has one record, or fewer than k units are left.
    if tail == "3k" and rest.n_units() >= 2 * k:
        groups.append(rest.take_group(rest.farthest(rest.centroid()), k))
    if rest.n_units() >= k:
        groups.append(list(rest.rows))
    elif len(rest) > 0:
        if rest.repeats():
            leftovers_each(rest, groups, k, in_part)
            return
        without = [group for group in groups if not holds_any(rest, group)]
        if not in_part:
            without = groups
        if without:
            place_together(rest.records, without, rest.rows, rest.centroid())
        else:
            leftovers_each(rest, groups, k, in_part)


def cbfs_units(records, k, units, in_part=True):
    rest = UnitRest(records, units)
    groups = []
    while rest.n_units() >= k:
        groups.append(rest.take_group(rest.farthest(rest.centroid()), k))
    leftovers_each(rest, groups, k, in_part)
    return labels_of(groups, len(records))


def vmdav_units(records, k, units, in_part=True, gamma=0.2):
    centre = whole_centroid(records)
    rest = UnitRest(records, units)
    groups = []
    while rest.n_units() >= k:
        group = rest.take_group(rest.farthest(centre), k)
        while len(group) < 2 * k - 1 and rest.n_units() > 1 and rest.candidates(group):
            inward = {row: min(squared_distance(records[row], records[m]) for m in group) for row in rest.rows}
            u = min(rest.candidates(group), key=lambda row: (inward[row], row))
            # Its company: the nearest that could be in a group with it, so not of its own unit.
            outward = min(squared_distance(records[u], records[row]) for row in rest.candidates([u]))
            if not math.sqrt(inward[u]) < gamma * math.sqrt(outward):
                break
            rest.take(u)
            group.append(u)
        groups.append(group)
    leftovers_each(rest, groups, k, in_part)
    return labels_of(groups, len(records))


def iamat_units(records, k, units, in_part=True, centroid="fixed", sizes="fixed"):
    centre = whole_centroid(records)
    rest = UnitRest(records, units)
    groups = []
    while rest.n_units() >= k:
        r = rest.farthest(centre if centroid == "fixed" else rest.centroid())
        rest.take(r)
        group = [r]
        while len(group) < k:
            grow(rest, group)
        while sizes == "variable" and len(group) < 2 * k - 1 and rest.n_units() >= k and rest.candidates(group):
            u = most_interactive(rest, group)
            if not adds_less_here(rest, group, u, k):
                break
            grow(rest, group)
        groups.append(group)
    if sizes == "fixed" and not rest.repeats() and (not in_part or not holds_any(rest, groups[-1])):
        groups[-1].extend(rest.rows)
    else:
        leftovers_each(rest, groups, k, in_part)
    return labels_of(groups, len(records))


def grow(rest, group):
    row = most_interactive(rest, group)
    rest.take(row)
    group.append(row)


def most_interactive(rest, group):
    best, best_row = float("inf"), None
    for row in rest.candidates(group):
        total = 0.0
        for member in group:
            total += squared_distance(rest.records[row], rest.records[member])
        if total < best:
            best, best_row = total, row
    return best_row


def adds_less_here(rest, group, u, k):
    """Whether u adds less squared error to the group than in one of it and its nearest of other units."""
    records = rest.records
    company = [u]
    for row in rest.nearest(records[u], len(rest)):
        if len(company) < k and row in rest.candidates(company):
            company.append(row)
    here = squared_distance(records[u], mean_in_order(records, group))
    there = squared_distance(records[u], mean_in_order(records, company))
    m = len(group)
    return m / (m + 1) * here < k / (k - 1) * there


def holds_any(rest, group):
    """Whether a group holds a unit of a record that is left."""
    return not {rest.units[row] for row in group}.isdisjoint(rest.units[row] for row in rest.rows)


def leftovers_each(rest, groups, k, in_part):
    """In row order to the nearest group that does not hold their unit, as the centroids stood before."""
    records, units = rest.records, rest.units
    if not in_part:
        place_each(records, groups, rest.rows)
        return
    groups.sort(key=min)
    centroids = [group_centroid(records, group) for group in groups]
    for row in rest.rows:
        distances = [squared_distance(centroid, records[row]) for centroid in centroids]
        free = [g for g, group in enumerate(groups) if units[row] not in {units[member] for member in group}]
        among = free or range(len(groups))
        groups[min(among, key=lambda g: (distances[g], g))].append(row)
    merge_short(records, groups, k, units, in_part)


def merge_short(records, groups, k, units, in_part=True):
    """While a group breaks the promise, the worst joins the one with the nearest centroid."""
    merge_worst(records, groups, lambda group: breach(group, k, units, in_part))


def breach(group, k, units, in_part):
    own = [units[row] for row in group]
    most = max(own.count(unit) for unit in own)
    if in_part:
        return most / len(own) if most * k > len(own) else 0
    return max(0, k - len(set(own)))
