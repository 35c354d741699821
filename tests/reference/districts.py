"""Districts as defined, group by group: cut at the golden section of the widest column, whole corners together."""

from fractions import Fraction

GOLDEN = (5**0.5 - 1) / 2


def corner_of(rows, members):
    """Give the least entry of a group's members in each column."""
    return tuple(min(rows[i][j] for i in members) for j in range(len(rows[0])))


def districts(rows, groups, scales, most):
    """Cut groups, lists of row numbers, into lists of groups of at most `most` records, where they can be cut."""
    records = sum(len(members) for members in groups)
    if records <= most:
        return [groups]
    corners = [corner_of(rows, members) for members in groups]
    widths = [
        (max(one[j] for one in corners) - min(one[j] for one in corners)) * scale for j, scale in enumerate(scales)
    ]
    widest = widths.index(max(widths))
    if widths[widest] == 0:
        return [groups]
    values = sorted({one[widest] for one in corners})
    for value in values[:-1]:  # the highest value is the upper part's at least
        below = [members for members, one in zip(groups, corners, strict=True) if one[widest] <= value]
        if Fraction(sum(map(len, below))) >= Fraction(GOLDEN * records) or value == values[-2]:
            break
    above = [members for members in groups if members not in below]
    return [*districts(rows, below, scales, most), *districts(rows, above, scales, most)]
