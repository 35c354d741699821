"""Dependence trees, spelt out: categories, tables of counts, Kruskal's algorithm, and the two selections."""

import itertools
import math
from collections import Counter


def categories(column, width):
    lowest = min(column)
    return [math.floor((x - lowest) / width) for x in column]


def mutual_information(a, b):
    n = len(a)
    pa, pb, pab = Counter(a), Counter(b), Counter(zip(a, b, strict=True))
    return sum(c / n * math.log((c / n) / (pa[x] / n * pb[y] / n)) for (x, y), c in pab.items())


def chi_squared(a, b):
    n = len(a)
    pa, pb, pab = Counter(a), Counter(b), Counter(zip(a, b, strict=True))
    total = 0.0
    for x, y in itertools.product(pa, pb):
        expected = pa[x] / n * pb[y] / n
        total += (pab[x, y] / n - expected) ** 2 / expected
    return total


def entropy(values):
    n = len(values)
    return -sum(c / n * math.log2(c / n) for c in Counter(values).values())


def variation_of_information(a, b):
    joint = entropy(list(zip(a, b, strict=True)))
    return (joint - entropy(b)) + (joint - entropy(a))


def normal_information(a, b):
    n = len(a)
    ma, mb = math.fsum(a) / n, math.fsum(b) / n
    sa = math.fsum((x - ma) ** 2 for x in a)
    sb = math.fsum((y - mb) ** 2 for y in b)
    if sa == 0 or sb == 0:
        return 0.0
    rho = math.fsum((x - ma) * (y - mb) for x, y in zip(a, b, strict=True)) / math.sqrt(sa * sb)
    return math.inf if 1 - rho**2 < 1e-12 else -0.5 * math.log(1 - rho**2)


MEASURES = {"emim": mutual_information, "chi2": chi_squared, "vi": variation_of_information}


def weights(columns, measure, width=None):
    if measure == "normal":
        compare, ready = normal_information, columns
    else:
        compare, ready = MEASURES[measure], [categories(column, width) for column in columns]
    return {(i, j): compare(ready[i], ready[j]) for i, j in itertools.combinations(range(len(columns)), 2)}


def silent(columns, measure, width=None):
    """Columns that tell nothing: constant ones, and those of one category where entropies are a distance."""
    return [len(set(categories(c, width) if measure == "vi" else c)) == 1 for c in columns]


def spanning_tree(weighted, d, nearest_first):
    """Kruskal: by weight to ten decimals, then by (i, j); an edge that closes a circle is left out."""
    sign = 1 if nearest_first else -1
    group = list(range(d))
    edges = []
    for i, j in sorted(weighted, key=lambda pair: (sign * round(weighted[pair], 10), pair)):
        if group[i] != group[j]:
            edges.append((i, j))
            old, new = group[j], group[i]
            group = [new if g == old else g for g in group]
    return edges


def degrees(edges, d):
    return [sum(j in edge for edge in edges) for j in range(d)]


def choices(degree, size):
    """Every set of `size` columns such that none left out has a higher degree than one taken."""
    d = len(degree)
    return {
        frozenset(taken)
        for taken in itertools.combinations(range(d), size)
        if all(degree[j] <= min(degree[i] for i in taken) for j in range(d) if j not in taken)
    }


def cover_size(degree):
    ordered = sorted(degree, reverse=True)
    return next(size for size in range(1, len(degree) + 1) if sum(ordered[:size]) >= len(degree))
