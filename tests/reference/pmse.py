"""Propensity scores by the book: every term written out, and somebody else's logistic regression.

A column is a list of cells; numbers are floats, categories text, and a missing cell is None.
"""

from itertools import combinations

import numpy as np
from sklearn.linear_model import LogisticRegression


def indicators(cells):
    """Give what the model sees of a column: a list of lists, and whether the first has a square."""
    known = [cell for cell in cells if cell is not None]
    found = []
    number = isinstance(known[0], float)
    if number:
        middle, spread = np.mean(known), np.std(known)
        found.append([0.0 if cell is None else (cell - middle) / spread for cell in cells])
    else:
        found += [[float(cell == one) for cell in cells] for one in sorted(set(known))]
    if len(known) < len(cells):
        found.append([float(cell is None) for cell in cells])
    return found, number


def terms(columns, second_order=True):
    """Give the matrix of a model, (records, terms), without an intercept."""
    seen = [indicators(cells) for cells in columns]
    found = [one for own, _ in seen for one in own]
    if second_order:
        found += [[x * x for x in own[0]] for own, number in seen if number]
        for (one, _), (other, _) in combinations(seen, 2):
            found += [[x * y for x, y in zip(left, right, strict=True)] for left in one for right in other]
    return np.array(found).T


def pmse(original, masked, second_order=True):
    """Give the mean of (chance − ½)², and the rank with the intercept; both files are lists of columns."""
    matrix = terms([[*one, *other] for one, other in zip(original, masked, strict=True)], second_order)
    n = len(matrix) // 2
    whole = np.column_stack([np.ones(2 * n), matrix])
    left, sizes, _ = np.linalg.svd(whole, full_matrices=False)
    rank = int((sizes > 1e-8 * sizes[0]).sum())
    masks = np.repeat([0, 1], n)
    model = LogisticRegression(C=1e14, fit_intercept=False, tol=1e-12, max_iter=10_000, solver="newton-cholesky")
    chances = model.fit(left[:, :rank] * np.sqrt(2 * n), masks).predict_proba(left[:, :rank] * np.sqrt(2 * n))[:, 1]
    return float(np.mean((chances - 0.5) ** 2)), rank
