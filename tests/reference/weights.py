"""Weights by the book, one group and one record at a time, in fractions.

A cell is a number, a level's number or a category's number; a missing one is ("missing", state).
"""

import math
from collections import defaultdict
from fractions import Fraction

from tests.reference.mixed import nearest_level


def is_missing(cell):
    return isinstance(cell, tuple)


def of_units(weights, units):
    """Give what each unit weighs; without units each member is one."""
    found = defaultdict(Fraction)
    for weight, unit in zip(weights, range(len(weights)) if units is None else units, strict=True):
        found[unit] += Fraction(weight)
    return found


def limited(weights, units=None):
    """Cut the weights of a unit that has more than 0.8 of all to that share, each by the same factor."""
    sums, found = of_units(weights, units), [Fraction(weight) for weight in weights]
    top = max(sums, key=sums.get)
    others = sum(found) - sums[top]
    if sums[top] <= 4 * others:
        return found
    mine = range(len(found)) if units is None else units
    return [
        weight * 4 * others / sums[top] if unit == top else weight for weight, unit in zip(found, mine, strict=True)
    ]


def effective(weights, units=None):
    """Give by what members count: no unit with more than 0.8 of all; where nobody else weighs anything, by heads."""
    found, alike = limited(weights, units), [Fraction(1)] * len(weights)
    if sum(found) > 0:
        return found
    heads = limited(alike, units) if is_dominated(weights, units) else alike
    return heads if sum(heads) > 0 else alike


def is_dominated(weights, units=None):
    total = sum(map(Fraction, weights))
    return total > 0 and max(of_units(weights, units).values()) > Fraction(8, 10) * total


def mean(values, weights):
    total = sum(Fraction(value) * weight for value, weight in zip(values, weights, strict=True))
    return float(total / sum(weights))


def middles(values, weights):
    """Give the least value with half of the weight up to it, and the least with more than half."""
    half, found = sum(weights) / 2, []
    for beyond in (False, True):
        reached = Fraction(0)
        for value, weight in sorted(zip(values, weights, strict=True)):
            reached += weight
            if reached > half or (reached == half and not beyond):
                found.append(value)
                break
    return found


def weighing(units, weights):
    """Count the units that weigh anything: the others hide nobody."""
    return len({unit for unit, weight in zip(units, weights, strict=True) if weight > 0})


def light_groups(labels, weights, k, units=None):
    """Count the groups that fewer than k units with a weight above 0 are in; without units each member is one."""
    units = range(len(labels)) if units is None else units
    short = 0
    for group in set(labels):
        own = [(unit, weight) for label, unit, weight in zip(labels, units, weights, strict=True) if label == group]
        short += weighing(*zip(*own, strict=True)) < k
    return short


def representative(
    kind, members, weights, k, spike_at=0.0, exact_spikes=False, aggregate="mean", units=None, common=None
):
    """Give what a group releases of a column that is not nominal; `units` tells whose each member is.

    `common` are the levels that may be released, of an ordinal column.
    """
    units = range(len(members)) if units is None else units
    raw = [Fraction(weight) for weight in weights]
    raw = raw if sum(raw) > 0 else [Fraction(1)] * len(raw)
    known = [cell for cell in members if not is_missing(cell)]
    known_raw = [weight for cell, weight in zip(members, raw, strict=True) if not is_missing(cell)]
    known_units = [unit for cell, unit in zip(members, units, strict=True) if not is_missing(cell)]
    fewest = min(k, 3)
    if len(known) < len(raw) and (2 * sum(known_raw) < sum(raw) or weighing(known_units, known_raw) < fewest):
        states = defaultdict(int)
        for cell in members:
            if is_missing(cell):
                states[cell] += 1
        return min(states, key=lambda state: (-states[state], state))
    shares = effective(known_raw, known_units)
    if kind == "ordinal":
        lower, upper = middles(known, shares)
        middle = sum(int(value) * share for value, share in zip(known, shares, strict=True)) / sum(shares)
        return nearest_level(upper if abs(middle - int(upper)) < abs(middle - int(lower)) else lower, common)
    if kind == "semi":
        off = [i for i, value in enumerate(known) if value != spike_at]
        owners, amounts = [known_units[i] for i in off], [known_raw[i] for i in off]
        one_amount = len(off) < len(known) and is_dominated(amounts, owners)
        if not off or (not exact_spikes and (weighing(owners, amounts) < fewest or one_amount)):
            return spike_at
    if aggregate == "median":
        lower, upper = middles(known, shares)
        found = lower if lower == upper else lower / 2 + upper / 2
    else:
        found = mean(known, shares)
    return float(round(Fraction(found))) if kind == "date" else found


def modes(cells, labels, weights, fewest=1, units=None):
    """Give what each group releases of a nominal column: what weighs most, in ties that of which most is owed.

    A category that fewer units of the file have than `fewest` is not released; None where a group has no other.
    """
    units = range(len(cells)) if units is None else units
    holders = defaultdict(set)
    for cell, unit in zip(cells, units, strict=True):
        holders[cell].add(unit)
    order = sorted(set(cells), key=lambda cell: (is_missing(cell), cell))
    owed = defaultdict(Fraction)
    for cell, weight in zip(cells, weights, strict=True):
        owed[cell] += Fraction(weight)
    chosen, tied, totals = {}, {}, {}
    for group in sorted(set(labels)):
        rows = [i for i, label in enumerate(labels) if label == group]
        totals[group] = sum(Fraction(weights[i]) for i in rows)
        scores = defaultdict(Fraction)
        for i, share in zip(rows, effective([weights[i] for i in rows], [units[i] for i in rows]), strict=True):
            scores[cells[i]] += share
        for cell in [*scores]:
            if not is_missing(cell) and len(holders[cell]) < fewest:
                del scores[cell]
        if not scores:
            return None
        best = [cell for cell in order if cell in scores and scores[cell] == max(scores.values())]
        if len(best) == 1:
            chosen[group] = best[0]
            owed[best[0]] -= totals[group]
        else:
            tied[group] = best
    for group, best in tied.items():
        chosen[group] = max(best, key=lambda cell: (owed[cell], -order.index(cell)))
        owed[chosen[group]] -= totals[group]
    return [chosen[group] for group in sorted(set(labels))]


def share_lost(kind, before, after, weights):
    """Give the loss of a column with weights in both sums; None where nothing varies."""
    weights = [Fraction(weight) for weight in weights]
    if kind == "nominal":
        of_each = defaultdict(Fraction)
        for cell, weight in zip(before, weights, strict=True):
            of_each[cell] += weight
        base = sum(weights) - max(of_each.values())
        lost = sum(weight for a, b, weight in zip(before, after, weights, strict=True) if a != b)
        return None if base == 0 else float(lost / base)
    known = [(cell, weight) for cell, weight in zip(before, weights, strict=True) if not is_missing(cell)]
    total = sum(weight for _, weight in known)
    if total == 0:
        return None
    if kind == "ordinal":
        lower, upper = middles([cell for cell, _ in known], [weight for _, weight in known])
        average = sum(int(cell) * weight for cell, weight in known) / total
        middle = upper if abs(average - int(upper)) < abs(average - int(lower)) else lower
        own = lambda a, b: Fraction(abs(a - b))  # noqa: E731
    else:
        middle = sum(Fraction(cell) * weight for cell, weight in known) / total
        own = lambda a, b: (Fraction(a) - Fraction(b)) ** 2  # noqa: E731
    base = sum(weight * own(cell, middle) for cell, weight in known)
    if base == 0:
        return None
    lost = Fraction(0)
    for a, b, weight in zip(before, after, weights, strict=True):
        if is_missing(a) or is_missing(b):
            lost += 0 if a == b else weight * base / total
        else:
            lost += weight * own(a, b)
    return float(lost / base)


def weights_of_groups(weights, labels):
    """Give every record the mean weight of its group."""
    found = []
    for label in labels:
        own = [Fraction(weight) for weight, other in zip(weights, labels, strict=True) if other == label]
        found.append(float(sum(own) / len(own)))
    return found


def step_of(weights):
    """Give the largest of 1, 2, 5 times a power of ten that is at most 5 % of the median positive weight."""
    positive = sorted(weight for weight in weights if weight > 0)
    most = Fraction(str(positive[(len(positive) - 1) // 2])) / 20
    steps = [Fraction(digit) * Fraction(10) ** power for power in range(-30, 30) for digit in (1, 2, 5)]
    return max(step for step in steps if step <= most)


def nearest_multiples(weight, step):
    """Give the multiples of a step that are nearest, two of them halfway; a weight above 0 is one step at least."""
    times = Fraction(str(weight)) / step
    low, apart = math.floor(times), times - math.floor(times)
    found = {low} if apart < Fraction(1, 2) else {low + 1} if apart > Fraction(1, 2) else {low, low + 1}
    return {float(max(one, 1 if weight > 0 else 0) * step) for one in found}


def revealing(before, after, columns, labels, k):
    """Count the groups whose released weight shows which categories of the design their members have.

    A column is of the design if k records have a weight that goes with one of its categories only. The weight of a
    group shows categories if every group with that weight has members of just the same categories.
    """
    found = set()
    for categories in columns:
        of_weight = defaultdict(list)
        for weight, category in zip(before, categories, strict=True):
            of_weight[weight].append(category)
        if not any(len(own) >= k and len(set(own)) == 1 for own in of_weight.values()):
            continue
        members, released = defaultdict(set), {}
        for label, category, weight in zip(labels, categories, after, strict=True):
            members[label].add(category)
            released[label] = weight
        for label, own in members.items():
            same = [members[other] for other in members if released[other] == released[label]]
            if all(one == own for one in same):
                found.add(label)
    return len(found)


def total(values, weights):
    return sum(Fraction(value) * Fraction(weight) for value, weight in zip(values, weights, strict=True))


def individual_risk(f, weight):
    """Give the mean of 1/F for a class of f sample records with this weight: F is negative binomial, p is f/weight."""
    p = f / max(weight, f)
    if p == 1:
        return 1 / f
    found, h, chance = 0.0, f, p**f
    while chance > 0 and (h < 10 * f / p or chance / h > 1e-18 * found):
        found += chance / h
        chance *= h / (h - f + 1) * (1 - p)
        h += 1
    return found


def expected_links(classes, weights):
    """Give how many records an intruder links rightly who cannot know who is in the sample."""
    found = []
    for one in set(classes):
        own = [weight for weight, other in zip(weights, classes, strict=True) if other == one]
        found.append(len(own) * individual_risk(len(own), math.fsum(own)))
    return math.fsum(found)


def rare_weights(weights, k):
    """Count the records whose weight is shared by fewer than k."""
    return sum(weights.count(weight) < k for weight in weights)


def telling_weights(weights, categories):
    """Count the different weights all of whose records have one category; and the greatest share of one."""
    shares = {}
    for weight in set(weights):
        own = [category for category, other in zip(categories, weights, strict=True) if other == weight]
        shares[weight] = max(own.count(category) for category in own) / len(own)
    return sum(share == 1 for share in shares.values()), len(shares), max(shares.values())


def contributions(values, weights, labels, p):
    """Count the groups whose total without the two largest contributions is less than p percent of the largest."""
    failing = 0
    for group in set(labels):
        own = sorted(
            Fraction(weight) * Fraction(value)
            for value, weight, label in zip(values, weights, labels, strict=True)
            if label == group
        )
        failing += sum(own[:-2]) < Fraction(p) / 100 * own[-1]
    return failing
