"""What several releases give away together, spelt out: exact elimination over fractions."""

from fractions import Fraction


def joint(labels):
    """Give the records that are alone with their groups, and those whose values follow from the sums of groups."""
    n = len(labels[0])
    cells = [tuple(one[record] for one in labels) for record in range(n)]
    alone = [cells.count(cell) == 1 for cell in cells]
    equations = []
    for one in labels:
        for group in sorted(set(one)):
            equations.append([Fraction(int(one[record] == group)) for record in range(n)])
    return alone, follow(equations, n)


def follow(equations, n):
    """Tell which unknowns have one value in all solutions: in reduced form, a pivot whose row has nothing else."""
    rows, at = [list(one) for one in equations], 0
    pivots = {}
    for column in range(n):
        found = next((place for place in range(at, len(rows)) if rows[place][column]), None)
        if found is None:
            continue
        rows[at], rows[found] = rows[found], rows[at]
        rows[at] = [value / rows[at][column] for value in rows[at]]
        for place in range(len(rows)):
            if place != at and rows[place][column]:
                factor = rows[place][column]
                rows[place] = [a - factor * b for a, b in zip(rows[place], rows[at], strict=True)]
        pivots[column] = at
        at += 1
    return [column in pivots and sum(value != 0 for value in rows[pivots[column]]) == 1 for column in range(n)]
