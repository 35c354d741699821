"""All groups of a small file: what they are worth by given prices, and the linear programme over them."""

from itertools import combinations

import numpy as np
from scipy.optimize import linprog

from tests.reference.optimum import squared_error


def all_groups(n, k):
    """List every group of k to 2k - 1 records."""
    return [group for size in range(k, min(2 * k, n + 1)) for group in combinations(range(n), size)]


def largest_excess(records, k, prices, triples, penalties):
    """Give by how much a group is worth more than its squared error, at most."""
    return max(
        sum(prices[row] for row in group)
        + sum(penalty for triple, penalty in zip(triples, penalties, strict=True) if len({*triple} & {*group}) >= 2)
        - squared_error([records[row] for row in group])
        for group in all_groups(len(records), k)
    )


def programme(records, k):
    """Give the least squared error of a cover by shares of groups, each record by shares that add up to 1."""
    groups = all_groups(len(records), k)
    covers = np.array([[row in group for group in groups] for row in range(len(records))], dtype=float)
    errors = np.array([squared_error([records[row] for row in group]) for group in groups])
    unit = errors.max() or 1.0  # the solver's tolerances are absolute
    return unit * linprog(errors / unit, A_eq=covers, b_eq=np.ones(len(records))).fun
