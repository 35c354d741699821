"""Columns of every kind, by the book: distances, representatives, losses, patterns and rounding, one cell at a time.

A cell is a number, a level's number or a category's number; a missing one is ("missing", state).
"""

import math
from collections import Counter, defaultdict
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction


def is_missing(cell):
    return isinstance(cell, tuple)


def present(column):
    return [cell for cell in column if not is_missing(cell)]


def mean_and_deviation(values):
    mean = math.fsum(values) / len(values)
    return mean, math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))


def score(value, values):
    mean, deviation = mean_and_deviation(values)
    return (value - mean) / deviation if deviation > 0 else 0.0


def squared_distance(kind, column, one, other, spike_at=0.0, spike=1.0):
    """Give the squared distance of two cells of a column, by constants of the whole column."""
    if kind == "nominal":
        shares = [count / len(column) for count in Counter(column).values()]
        spread = 1 - sum(share**2 for share in shares)
        return 0.0 if one == other else 2 / spread
    known = present(column)
    if is_missing(one) and is_missing(other):
        return 0.0 if one == other else 2.0
    if is_missing(one) or is_missing(other):
        value = other if is_missing(one) else one
        return 1.0 + from_the_middle(kind, known, value, spike_at, spike)
    if kind == "semi":
        flags = [float(value == spike_at) for value in known]
        apart = score(float(one == spike_at), flags) - score(float(other == spike_at), flags)
        return (score(one, known) - score(other, known)) ** 2 / 2 + spike * apart**2 / 2
    return (score(one, known) - score(other, known)) ** 2


def from_the_middle(kind, known, value, spike_at, spike):
    if kind == "semi":
        flag = score(float(value == spike_at), [float(one == spike_at) for one in known])
        return score(value, known) ** 2 / 2 + spike * flag**2 / 2
    return score(value, known) ** 2


def with_common_codes(cells, fewest, units=None):
    """Give cells with codes for missing values that fewer units have than `fewest` plainly missing, which is code 1."""
    holders = holders_of(cells, units)
    return [("missing", 1) if is_missing(cell) and len(holders[cell]) < fewest else cell for cell in cells]


def holders_of(cells, units=None):
    """Give who has each cell."""
    found = defaultdict(set)
    for cell, unit in zip(cells, range(len(cells)) if units is None else units, strict=True):
        found[cell].add(unit)
    return found


def common_levels(cells, fewest, units=None):
    """Give the levels that so many units have."""
    return sorted(cell for cell, own in holders_of(cells, units).items() if not is_missing(cell) and len(own) >= fewest)


def nearest_level(level, common):
    """Give the nearest of these levels, the lower of two."""
    return min(common, key=lambda one: (abs(one - level), one))


def representative(kind, members, k, spike_at=0.0, exact_spikes=False, units=None, common=None):
    """Give what a group releases of a column that is not nominal; `units` tells whose each member is.

    `common` are the levels that may be released, of an ordinal column.
    """
    units = range(len(members)) if units is None else units
    known, fewest = present(members), min(k, 3)
    whose = [unit for cell, unit in zip(members, units, strict=True) if not is_missing(cell)]
    if 2 * len(known) < len(members) or len(set(whose)) < fewest:
        states = Counter(cell for cell in members if is_missing(cell))
        return min(states, key=lambda state: (-states[state], state))
    if kind == "ordinal":
        ordered = sorted(known)
        lower, upper = ordered[(len(known) - 1) // 2], ordered[len(known) // 2]
        mean = Fraction(sum(map(int, known)), len(known))
        return nearest_level(upper if abs(mean - int(upper)) < abs(mean - int(lower)) else lower, common)
    if kind == "semi":
        off = Counter(unit for value, unit in zip(known, whose, strict=True) if value != spike_at)
        amounts = off.total()
        one_amount = amounts < len(known) and 5 * max(off.values(), default=0) > 4 * amounts
        if amounts == 0 or (not exact_spikes and (len(off) < fewest or one_amount)):
            return spike_at
    mean = float(sum(Fraction(value) for value in known) / len(known))
    return float(round(Fraction(mean))) if kind == "date" else mean


def modes(cells, labels, fewest=1, units=None):
    """Give what each group releases of a nominal column: the commonest, and in ties that of which most is owed.

    A category that fewer units of the file have than `fewest` is not released; None where a group has no other.
    """
    in_file = Counter(cell for cell, _ in set(zip(cells, range(len(cells)) if units is None else units, strict=True)))
    order = sorted(set(cells), key=lambda cell: (is_missing(cell), cell))
    groups = sorted(set(labels))
    members = {group: [cell for cell, label in zip(cells, labels, strict=True) if label == group] for group in groups}
    owed = Counter(cells)
    chosen, tied = {}, {}
    for group in groups:
        counts = Counter(members[group])
        for cell in [*counts]:
            if not is_missing(cell) and in_file[cell] < fewest:
                del counts[cell]
        if not counts:
            return None
        best = [cell for cell in order if counts[cell] == max(counts.values())]
        if len(best) == 1:
            chosen[group] = best[0]
            owed[best[0]] -= len(members[group])
        else:
            tied[group] = best
    for group, best in tied.items():
        chosen[group] = max(best, key=lambda cell: (owed[cell], -order.index(cell)))
        owed[chosen[group]] -= len(members[group])
    return [chosen[group] for group in groups]


def share_lost(kind, before, after):
    """Give the loss of a column as a share of what one value for all would lose; None where nothing varies."""
    if kind == "nominal":
        base = len(before) - max(Counter(before).values())
        return None if base == 0 else sum(a != b for a, b in zip(before, after, strict=True)) / base
    known = present(before)
    if kind == "ordinal":
        middle = sorted(known)[(len(known) - 1) // 2]
        own = lambda a, b: abs(a - b)  # noqa: E731
    else:
        middle = math.fsum(known) / len(known)
        own = lambda a, b: (a - b) ** 2  # noqa: E731
    base = math.fsum(own(value, middle) for value in known)
    if base == 0:
        return None
    lost = 0.0
    for a, b in zip(before, after, strict=True):
        if is_missing(a) or is_missing(b):
            lost += 0.0 if a == b else base / len(known)
        else:
            lost += own(a, b)
    return lost / base


def pieces(columns, strata, k, by_value=False):
    """Give each record's piece: stratum and pattern of missing values, rare patterns joined to a near one.

    Of near ones that are as large, the one that comes first is preferred, or by value the one that lacks less of the
    first columns.
    """
    n = len(strata)
    pattern = [tuple(column[i] if is_missing(column[i]) else None for column in columns) for i in range(n)]
    rows = {}
    for i in range(n):
        rows.setdefault((strata[i], pattern[i]), []).append(i)
    goal = {}
    for stratum, own in rows:
        large = [other for where, other in rows if where == stratum and len(rows[stratum, other]) >= k]
        if not large:
            goal[stratum, own] = "whole"
        elif len(rows[stratum, own]) >= k:
            goal[stratum, own] = own
        else:

            def preference(other, own=own, stratum=stratum):
                differing = sum(a != b for a, b in zip(own, other, strict=True))
                lacking = [0 if own is None else own[1] for own in other]
                return differing, -len(rows[stratum, other]), lacking if by_value else rows[stratum, other][0]

            goal[stratum, own] = min(large, key=preference)
    return [(strata[i], goal[strata[i], pattern[i]]) for i in range(n)]


def common_step(values):
    """Give the largest power of ten that divides every value, as the decimal number it is written as."""
    exponents = []
    for value in values:
        number = Decimal(repr(value)).normalize()
        if number != 0:
            exponents.append(number.as_tuple().exponent)
    return min(exponents, default=0)


def rounded(value, power):
    """Round to a multiple of 10**power."""
    step = Decimal(1).scaleb(power)
    return float((Decimal(value) / step).quantize(Decimal(1), rounding=ROUND_HALF_EVEN) * step)
