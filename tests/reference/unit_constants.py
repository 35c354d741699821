"""Columns that are constant in units: masked once a unit, and what means disclose of them, spelt out for numbers."""

from fractions import Fraction

from tests.reference.common import group_centroid, squared_distance
from tests.reference.joint import follow
from tests.reference.mdav import mdav
from tests.reference.units import mdav_units


def standardised(columns):
    """Columns of numbers as z-scores; what does not vary is 0."""
    found = []
    for column in columns:
        mean = sum(column) / len(column)
        deviation = (sum((x - mean) ** 2 for x in column) / len(column)) ** 0.5
        found.append([(x - mean) / deviation if deviation else 0.0 for x in column])
    return found


def short(rows, units, k):
    """Whether one unit has more than 1/k of some rows."""
    held = [units[row] for row in rows]
    return any(held.count(unit) * k > len(held) for unit in set(held))


def grown(places, groups, rows_of, units, k):
    """Merge groups of units until no unit has more than 1/k of a group's rows; the lowest short one goes first."""
    groups = sorted((sorted(group) for group in groups), key=min)
    centroids = [[sum(places[u][j] for u in group) / len(group) for j in range(len(places[0]))] for group in groups]
    while True:
        bad = [g for g, group in enumerate(groups) if short([r for u in group for r in rows_of[u]], units, k)]
        if not bad:
            return groups
        one = bad[0]
        others = [g for g in range(len(groups)) if g != one]
        other = min(others, key=lambda g: (squared_distance(centroids[g], centroids[one]), g))
        kept, gone = sorted((one, other))
        sizes = len(groups[kept]), len(groups[gone])
        pairs = zip(centroids[kept], centroids[gone], strict=True)
        centroids[kept] = [(sizes[0] * x + sizes[1] * y) / sum(sizes) for x, y in pairs]
        groups[kept] = sorted(groups[kept] + groups[gone])
        del groups[gone], centroids[gone]


def once(constant, others, units, k):
    """Return the groups of rows and the groups of units of each row, for columns of numbers; units count by first row.

    Groups of k units are tried, of twice as many, and so on, until the loss rises.
    """
    n = len(units)
    numbered = {unit: number for number, unit in enumerate(dict.fromkeys(units))}
    units = [numbered[unit] for unit in units]
    rows_of = [[row for row in range(n) if units[row] == unit] for unit in range(len(numbered))]
    by_unit = standardised([[column[rows[0]] for rows in rows_of] for column in constant])
    by_row = standardised(others)
    means = [[sum(column[row] for row in rows) / len(rows) for rows in rows_of] for column in by_row]
    places = [list(place) for place in zip(*by_unit, *means, strict=True)]
    points = [list(point) for point in zip(*by_row, strict=True)]
    best, size = None, k
    while size <= max(k, len(rows_of)):
        whole = [0] * len(rows_of) if len(rows_of) < 2 * size else mdav(places, size)
        members = [[u for u in range(len(rows_of)) if whole[u] == g] for g in range(max(whole) + 1)]
        groups = grown(places, members, rows_of, units, k)
        labels, of_units = [0] * n, [0] * n
        above = 0
        for number, group in enumerate(groups):
            rows = sorted(row for unit in group for row in rows_of[unit])
            own = mdav_units([points[row] for row in rows], k, [units[row] for row in rows])
            for row, label in zip(rows, own, strict=True):
                labels[row], of_units[row] = label + above, number
            above += max(own) + 1
        loss = lost(constant, of_units) + lost(others, labels)
        if best is not None and loss >= best[0]:
            break
        best, size = (loss, labels, of_units), 2 * size
    return best[1], best[2]


def lost(columns, labels):
    """The sum over columns of the share of variation that is lost inside of groups."""
    total = 0.0
    for column in standardised(columns):
        for group in set(labels):
            rows = [row for row in range(len(labels)) if labels[row] == group]
            centre = group_centroid([[x] for x in column], rows)[0]
            total += sum((column[row] - centre) ** 2 for row in rows) / len(column)
    return total


def solvable(labels, units):
    """Tell of each unit whether its constant value follows from the means of the groups that its rows are in."""
    n_units = max(units) + 1
    equations = []
    for group in sorted(set(labels)):
        rows = [row for row in range(len(labels)) if labels[row] == group]
        equations.append([Fraction(sum(units[row] == unit for row in rows)) for unit in range(n_units)])
    return follow(equations, n_units)
