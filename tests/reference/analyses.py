"""Estimates and linearised standard errors by loops, straight from their definitions."""

import math
from fractions import Fraction


def quantile(values, weights, p):
    """Give the smallest x with cumulated weight ≥ p·W; p and weights are taken as the decimals they are written as."""
    exact = [Fraction(str(w)) for w in weights]
    wanted = Fraction(str(p)) * sum(exact)
    for x in sorted(values):
        if sum(w for v, w in zip(values, exact, strict=True) if v <= x) >= wanted:
            return x
    raise AssertionError("p is above 1")


def mean(values, weights):
    return math.fsum(w * x for x, w in zip(values, weights, strict=True)) / math.fsum(weights)


def ratio(above, below, weights):
    return mean(above, weights) / mean(below, weights)


def gini(values, weights):
    """Give the mean difference of two persons over twice the mean."""
    gaps = math.fsum(
        v * w * abs(x - y) for x, v in zip(values, weights, strict=True) for y, w in zip(values, weights, strict=True)
    )
    total = math.fsum(weights)
    return gaps / (2 * total * math.fsum(w * x for x, w in zip(values, weights, strict=True)))


def poverty(values, weights, fraction):
    line = fraction * quantile(values, weights, 0.5)
    return mean([float(x < line) for x in values], weights)


def cramer(rows, columns, weights):
    """Give √(χ²/(W·m)), by expected counts."""
    total = math.fsum(weights)
    cells, left, top = {}, {}, {}
    for a, b, w in zip(rows, columns, weights, strict=True):
        cells[a, b] = cells.get((a, b), 0.0) + w
        left[a] = left.get(a, 0.0) + w
        top[b] = top.get(b, 0.0) + w
    chi = 0.0
    for a in left:
        for b in top:
            expected = left[a] * top[b] / total
            chi += (cells.get((a, b), 0.0) - expected) ** 2 / expected
    return math.sqrt(chi / (total * (min(len(left), len(top)) - 1)))


def derivative(statistic, weights, k):
    """Give the derivative of statistic(weights) by one weight, by differences of four points."""
    h = 1e-3 * weights[k]

    def at(step):
        moved = list(weights)
        moved[k] += step
        return statistic(moved)

    return (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)


def error(weights, influences, clusters=None):
    """Give √(c/(c−1) Σ u²), u = Σ w z of a cluster."""
    clusters = range(len(weights)) if clusters is None else clusters
    sums = {}
    for w, z, c in zip(weights, influences, clusters, strict=True):
        sums[c] = sums.get(c, 0.0) + w * z
    if len(sums) < 2:
        return math.nan
    return math.sqrt(len(sums) / (len(sums) - 1) * math.fsum(u * u for u in sums.values()))


def error_of_total(values, weights, inside, clusters=None):
    """Give √(c/(c−1) Σ (u − ū)²) over all clusters of the sample; u is the total of a cluster inside the domain."""
    clusters = range(len(weights)) if clusters is None else clusters
    sums = dict.fromkeys(clusters, 0.0)
    for x, w, c, own in zip(values, weights, clusters, inside, strict=True):
        sums[c] += w * x if own else 0.0
    if len(sums) < 2:
        return math.nan
    centre = math.fsum(sums.values()) / len(sums)
    return math.sqrt(len(sums) / (len(sums) - 1) * math.fsum((u - centre) ** 2 for u in sums.values()))


def influences_of_mean(values, weights):
    total, centre = math.fsum(weights), mean(values, weights)
    return [(x - centre) / total for x in values]


def influences_of_ratio(above, below, weights):
    share, total = ratio(above, below, weights), math.fsum(w * x for x, w in zip(below, weights, strict=True))
    return [(y - share * x) / total for y, x in zip(above, below, strict=True)]


def influences_of_gini(values, weights):
    total, amount = math.fsum(weights), math.fsum(w * x for x, w in zip(values, weights, strict=True))
    own = gini(values, weights)
    found = []
    for x in values:
        gaps = math.fsum(w * abs(x - y) for y, w in zip(values, weights, strict=True))
        found.append(gaps / (total * amount) - own * (1 / total + x / amount))
    return found


def density(values, weights, place):
    """Give the density at a place by a normal kernel of Silverman's bandwidth, for the effective number of records."""
    total, centre = math.fsum(weights), mean(values, weights)
    spread = math.sqrt(mean([(x - centre) ** 2 for x in values], weights))
    quarters = quantile(values, weights, 0.75) - quantile(values, weights, 0.25)
    if quarters > 0:
        spread = min(spread, quarters / 1.349)
    width = 0.9 * spread * (total**2 / math.fsum(w * w for w in weights)) ** -0.2
    heights = [math.exp(-(((x - place) / width) ** 2) / 2) / (width * math.sqrt(2 * math.pi)) for x in values]
    return mean(heights, weights)


def influences_of_poverty(values, weights, fraction):
    median, total = quantile(values, weights, 0.5), math.fsum(weights)
    line, rate = fraction * median, poverty(values, weights, fraction)
    half = mean([float(x <= median) for x in values], weights)
    steep = fraction * density(values, weights, line) / density(values, weights, median)
    return [((x < line) - rate - steep * ((x <= median) - half)) / total for x in values]


def interval_of_quantile(values, weights, p, z, clusters=None):
    """Give Woodruff's interval: that of the share of values up to the quantile, turned back into values."""
    here = quantile(values, weights, p)
    up_to = [float(x <= here) for x in values]
    move = z * error(weights, influences_of_mean(up_to, weights), clusters)
    return [quantile(values, weights, min(1.0, max(0.0, p + sign * move))) for sign in (-1, 1)]


def overlap(first, second):
    """Give the mean of the shares of two intervals that they have in common (Karr et al. 2006)."""
    common = max(0.0, min(first[1], second[1]) - max(first[0], second[0]))
    return (common / (first[1] - first[0]) + common / (second[1] - second[0])) / 2


def moved(estimates):
    """Give the largest change of (before, after, low, high), in halves of the interval; None stands for no number."""
    largest = None
    for before, after, low, high in estimates:
        if before is not None and after is None:
            return float("inf")
        if low is None or high is None:
            continue
        change, half = abs(after - before), (high - low) / 2
        own = 0.0 if change == 0 else float("inf") if half == 0 else change / half
        largest = own if largest is None else max(largest, own)
    return float("inf") if largest is None else largest
