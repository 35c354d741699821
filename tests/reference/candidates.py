"""l-diversity by choosing candidates, spelt out. A value is a whole number; None is a missing one."""

from tests.reference.common import Rest, labels_of, place_each


def candidates(records, k, wanted, values):
    """Groups as MDAV starts them, each of `size` records and as many values as wanted."""
    size = max(k, wanted)
    rest = Rest(records)
    groups = []

    def possible():
        return len(rest) >= size and len({values[row] for row in rest.rows} - {None}) >= wanted

    while len(rest) >= 3 * size and possible():
        r = rest.farthest(rest.centroid())
        groups.append(take_group(rest, r, size, wanted, values))
        if possible():
            groups.append(take_group(rest, rest.farthest(records[r]), size, wanted, values))
    while possible():
        groups.append(take_group(rest, rest.farthest(rest.centroid()), size, wanted, values))
    place_each(records, groups, rest.rows)
    return labels_of(groups, len(records))


def take_group(rest, row, size, wanted, values):
    """Walk by distance: take a record if its value is new, or if free places > values still needed."""
    rest.take(row)
    group = [row]
    if values[row] is None:  # it brings no value: there must be places enough for them all
        size = max(size, 1 + wanted)
    for other in rest.nearest(rest.records[row], len(rest)):
        held = {values[member] for member in group} - {None}
        new = values[other] is not None and values[other] not in held
        free = size - len(group)
        if free > 0 and (new or free > wanted - len(held)):
            rest.take(other)
            group.append(other)
    return group
