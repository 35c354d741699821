"""Units that come together again by what is released unchanged, slowly."""

from collections import defaultdict


def rebuilt(rows, units, k):
    """Give the units of two rows or more whose rows share values that fewer than k units have.

    `rows` are tuples of the values that are released unchanged. The places that are constant in a unit are taken
    together; a unit has these values if one of its rows does.
    """
    owned = defaultdict(list)
    for row, unit in zip(rows, units, strict=True):
        owned[unit].append(row)
    found = set()
    for unit, own in owned.items():
        places = [place for place in range(len(own[0])) if len({row[place] for row in own}) == 1]
        if len(own) < 2 or not places:
            continue
        values = [own[0][place] for place in places]
        having = {other for other, theirs in owned.items() if any([row[p] for p in places] == values for row in theirs)}
        if len(having) < k:
            found.add(unit)
    return found
