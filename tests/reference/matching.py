"""Giving records to groups, spelt out: every way to do it is tried."""

from itertools import combinations


def distance(a, b):
    return sum((x - y) ** 2 for x, y in zip(a, b, strict=True))


def ways(records, sizes):
    """Give each way to share out records to groups of these sizes, as lists of records."""
    if not sizes:
        yield []
        return
    for chosen in combinations(records, sizes[0]):
        rest = [record for record in records if record not in chosen]
        for others in ways(rest, sizes[1:]):
            yield [chosen, *others]


def agreeing(points, centers, sizes, slack=1e-9):
    """Give the ways in which each group's mean is its center."""
    found = []
    for groups in ways(list(range(len(points))), sizes):
        for group, center in zip(groups, centers, strict=True):
            means = [sum(points[record][axis] for record in group) / len(group) for axis in range(len(center))]
            if any(abs(mean - wanted) > slack for mean, wanted in zip(means, center, strict=True)):
                break
        else:
            found.append(groups)
    return found


def cheapest(points, centers, sizes):
    """Give the least sum of squared distances of records to the centers of their groups."""
    return min(
        sum(distance(points[record], center) for group, center in zip(groups, centers, strict=True) for record in group)
        for groups in ways(list(range(len(points))), sizes)
    )
