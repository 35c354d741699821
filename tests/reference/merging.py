"""Merging groups until each keeps a promise (A1), spelt out."""

from tests.reference.common import group_centroid, squared_distance


def merge_worst(records, groups, breach):
    """While a group breaks the promise, the worst joins the one with the nearest centroid; `groups` is changed.

    `breach` tells how badly a list of rows breaks it. The centroid of both is the mean of theirs, weighted by records.
    """
    groups.sort(key=min)
    centroids = [group_centroid(records, group) for group in groups]
    bad = [breach(group) for group in groups]
    while len(groups) > 1 and max(bad) > 0:
        worst = bad.index(max(bad))
        others = [g for g in range(len(groups)) if g != worst]
        nearest = min(others, key=lambda g: (squared_distance(centroids[g], centroids[worst]), g))
        kept, joined = sorted((worst, nearest))
        sizes = len(groups[kept]), len(groups[joined])
        pairs = zip(centroids[kept], centroids[joined], strict=True)
        centroids[kept] = [(sizes[0] * x + sizes[1] * y) / sum(sizes) for x, y in pairs]
        groups[kept].extend(groups[joined])
        bad[kept] = breach(groups[kept])
        for some in (groups, centroids, bad):
            del some[joined]
