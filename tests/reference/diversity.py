"""What groups give away of a confidential column, spelt out.

A value is a whole number, and its order is that of the numbers; None is a missing one. `limits` is a dictionary of what
is demanded: "l", "entropy", "recursive" as (c, l), "t". `levels` are the levels of a taxonomy: each a dictionary from
the value to its ancestor there, the first one to itself.
"""

import math
from collections import Counter


def distinct(own):
    return len({value for value in own if value is not None})


def entropy(own):
    counts = Counter(value for value in own if value is not None)
    total = sum(counts.values())
    if not counts:
        return 0.0
    sum_of_logs = 0.0
    for value in sorted(counts):
        sum_of_logs -= counts[value] / total * math.log(counts[value] / total)
    return math.exp(sum_of_logs)


def commonest_and_rest(own, rank):
    """r_1, and r_l + ... + r_m."""
    counts = sorted(Counter(value for value in own if value is not None).values(), reverse=True)
    return (counts[0] if counts else 0), sum(counts[rank - 1 :])


def t_nominal(own, file):
    """Half the sum of |p - q|, a missing value being one of its own; whole numbers until the last division."""
    return gap_nominal(own, file) / (2 * len(own) * len(file))


def gap_nominal(own, file):
    here, there = Counter(own), Counter(file)
    return sum(abs(here[value] * len(file) - there[value] * len(own)) for value in there)


def t_ordered(own, file):
    """The earth mover's distance over the values, and the difference in missing ones where that is greater."""
    missing = abs(own.count(None) * len(file) - file.count(None) * len(own)) / (len(own) * len(file))
    here, there = ([value for value in some if value is not None] for some in (own, file))
    values = sorted(set(there))
    if not here or len(values) < 2:
        return missing
    return max(missing, gap_ordered(here, there) / (len(here) * len(there) * (len(values) - 1)))


def gap_ordered(own, file):
    total = 0
    for value in set(file):
        up_to = [sum(other <= value for other in some) for some in (own, file)]
        total += abs(up_to[0] * len(file) - up_to[1] * len(own))
    return total


def t_tree(own, file, levels):
    """Li et al. (2007), hierarchical distance, for a tree of equal depth: the mean of t over the levels."""
    total = 0.0
    for level in levels:
        up = {None: None, **level}
        total += t_nominal([up[value] for value in own], [up[value] for value in file])
    return total / len(levels)


def t_tree_by_transport(own, file, levels):
    """The same as Li et al. define it: the height at which what is surplus on one side is moved to the other."""
    p, q = Counter(own), Counter(file)
    surplus = {value: p[value] / len(own) - q[value] / len(file) for value in q}
    cost = 0.0
    for height in range(1, len(levels) + 1):
        below = levels[height - 1]
        above = {below[value]: levels[height][value] for value in below} if height < len(levels) else {}
        merged, positive, negative = Counter(), Counter(), Counter()
        for node, extra in surplus.items():
            parent = above.get(node, "root")
            merged[parent] += extra
            positive[parent] += max(extra, 0.0)
            negative[parent] += max(-extra, 0.0)
        cost += height / len(levels) * sum(min(positive[node], negative[node]) for node in merged)
        surplus = merged
    return cost


def t_of(own, file, ordered, levels=None):
    if levels:
        return t_tree(own, file, levels)
    return t_ordered(own, file) if ordered else t_nominal(own, file)


def breach(own, file, ordered, limits, levels=None):
    """0 where a group keeps what is demanded, else how badly it breaks it."""
    found = [0.0]
    if "l" in limits and distinct(own) < limits["l"]:
        found.append((limits["l"] - distinct(own)) / limits["l"])
    if "entropy" in limits and entropy(own) < limits["entropy"] * (1 - 1e-12):
        found.append((limits["entropy"] - entropy(own)) / limits["entropy"])
    if "recursive" in limits:
        c, rank = limits["recursive"]
        most, rest = commonest_and_rest(own, rank)
        if most >= c * rest:
            found.append(1.0 - c * rest / (most + 1.0))
    if "t" in limits:
        t = t_of(own, file, ordered, levels)
        if t > limits["t"] + 1e-12:
            found.append(t)
    return max(found)


def max_groups(file, p):
    """The feasible number of groups of p different values: min over i of (n - cf_{p-i}) / i, and n / p."""
    counts = sorted(Counter(value for value in file if value is not None).values(), reverse=True)
    n = sum(counts)
    return min([n // p] + [(n - sum(counts[: p - i])) // i for i in range(1, p)])
