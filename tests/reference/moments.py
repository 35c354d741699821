"""Moments kept by the book: one stratum at a time, straight from the formulas.

x'' = x̄ + A (x' − x̄), with A = √(S/B) for one column, and B^-½ (B^½ S B^½)^½ B^-½ for several.
"""

import numpy as np
import scipy.linalg


def covariance(values, weights=None):
    """Give the covariance of records, (n, d)."""
    return np.atleast_2d(np.cov(values, rowvar=False, aweights=weights, ddof=0))


def mapping(between, wanted):
    """Give A; what does not vary is left out before, so that B can be inverted."""
    root = np.real(scipy.linalg.sqrtm(between))
    inverse = np.linalg.inv(root)
    return inverse @ np.real(scipy.linalg.sqrtm(root @ wanted @ root)) @ inverse


def standardised(original, released):
    """Give both, (n, d), as standard scores of the original; a column that does not vary as zeros."""
    middle, spread = original.mean(axis=0), original.std(axis=0)
    spread[spread == 0] = 1.0
    return (original - middle) / spread, (released - middle) / spread, middle, spread


def matched(original, released, strata, which, weights=None):
    """Give what is released with the moments of the original, stratum by stratum; arrays (n, d), complete."""
    before, after, middle, spread = standardised(original, released)
    found = after.copy()
    for stratum in np.unique(strata):
        rows = strata == stratum
        own = None if weights is None else weights[rows]
        x, y = before[rows], after[rows]
        if len(np.unique(y, axis=0)) < 2:
            continue
        mean = np.average(y, axis=0, weights=own)
        between, wanted = covariance(y, own), covariance(x, own)
        vary = np.flatnonzero(np.ptp(y, axis=0) > 0)
        if which == "variance":
            factor = np.diag(np.sqrt(np.diag(wanted)[vary] / np.diag(between)[vary]))
        else:
            factor = mapping(between[np.ix_(vary, vary)], wanted[np.ix_(vary, vary)])
        moved = y.copy()
        moved[:, vary] = mean[vary] + (y - mean)[:, vary] @ factor.T
        found[rows] = moved
    return found * spread + middle
