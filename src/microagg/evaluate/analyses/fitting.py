"""Regressions by maximum likelihood, with the sandwich as their covariance."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

_MOST_STEPS = 50
_ROWS = 1 << 15  # records that are worked on at a time, so that they stay in the processor's cache
_DEPENDENT = 1e-10  # of a column's variance that others leave unexplained: below it, it tells nothing of its own
_LARGEST = 700.0  # whose exponential is a number still


class Family(NamedTuple):
    """A family of regressions by its canonical link: the mean, the variance as a function of it, where to start.

    Attributes
    ----------
    mean, variance : callable
        mean(linear predictor) and variance(mean).
    likelihood : callable
        The part of the log-likelihood that depends on the fit: likelihood(response, linear predictor).
    start : callable
        The intercept of a regression that explains nothing, from the response's mean.
    """

    mean: Callable[[Values], Values]
    variance: Callable[[Values], Values]
    likelihood: Callable[[Values, Values], Values]
    start: Callable[[float], float]


def _expit(eta: Values) -> Values:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(eta, -_LARGEST, _LARGEST))))


def _exp(eta: Values) -> Values:
    return np.asarray(np.exp(np.minimum(eta, _LARGEST)))


NORMAL = Family(lambda eta: eta, np.ones_like, lambda y, eta: -0.5 * (y - eta) ** 2, lambda mean: mean)
BINOMIAL = Family(
    _expit,
    lambda mu: mu * (1.0 - mu),
    lambda y, eta: y * eta - np.logaddexp(0.0, eta),
    lambda mean: float(np.log(mean / (1.0 - mean))) if 0 < mean < 1 else 0.0,
)
POISSON = Family(
    _exp,
    lambda mu: mu,
    lambda y, eta: y * eta - _exp(eta),
    lambda mean: float(np.log(mean)) if mean > 0 else 0.0,
)


class Fit(NamedTuple):
    """Coefficients and their standard errors; NaN for a column that others explain, or where there is no fit."""

    coefficients: Values
    errors: Values


def fit(
    columns: list[Values], response: Values, weights: Values, clusters: NDArray[np.int64] | None, family: Family
) -> Fit:
    """Fit a regression; the covariance is A⁻¹BA⁻¹ with a small-sample factor.

    A is the weighted information, B = Σ s sᵀ of the scores s = w (y − μ) x, summed by cluster where there are clusters.
    Factor: n/(n − p), as HC1; with G clusters G/(G − 1) · (n − 1)/(n − p), as Stata and statsmodels have it.
    """
    n, found = response.size, Fit(np.full(len(columns), np.nan), np.full(len(columns), np.nan))
    if n == 0:
        return found
    design = Design(columns, weights)
    kept = design.independent()
    k = int(kept.sum())
    n_clusters = n if clusters is None else int(clusters.max()) + 1
    solved = _solved(design, kept, response, weights, family)
    if k == 0 or solved is None:
        return found
    beta, inner = solved
    meat = _meat(design, kept, beta, response, weights, family, clusters)
    bread = np.linalg.inv(inner)
    back = design.back(kept)
    coefficients = back @ beta
    found.coefficients[kept] = coefficients
    if n <= k or n_clusters < 2:
        return found
    factor = n / (n - k) if clusters is None else n_clusters / (n_clusters - 1) * (n - 1) / (n - k)
    covariance = factor * back @ bread @ meat @ bread @ back.T
    found.errors[kept] = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    return found


class Design:
    """Columns that explain a response, scaled, and centred where a constant is among them: rounding stays small."""

    def __init__(self, columns: list[Values], weights: Values) -> None:
        self.columns, total = columns, weights.sum()
        self.constant = next((j for j, own in enumerate(columns) if np.ptp(own) == 0 and own[0] != 0), None)
        self.centres, self.scales = np.zeros(len(columns)), np.ones(len(columns))
        for j, own in enumerate(columns):
            if j == self.constant:
                self.scales[j] = own[0]
                continue
            if self.constant is not None:
                self.centres[j] = weights @ own / total
            self.scales[j] = np.sqrt(weights @ (own - self.centres[j]) ** 2 / total) or 1.0
        self.weights = weights

    def blocks(self) -> Iterator[tuple[slice, Values]]:
        """Give the records a part at a time."""
        n = self.weights.size
        for start in range(0, n, _ROWS):
            rows = slice(start, min(n, start + _ROWS))
            part = np.column_stack([own[rows] for own in self.columns])
            yield rows, (part - self.centres) / self.scales

    def independent(self) -> NDArray[np.bool_]:
        """Mark the columns that those before them do not explain."""
        gram = np.zeros((len(self.columns),) * 2)
        for rows, part in self.blocks():
            gram += part.T @ (part * self.weights[rows, None])
        gram /= self.weights.sum()
        kept = np.ones(len(gram), dtype=bool)
        # The constant goes first, as columns were centred by it.
        for j in sorted(range(len(gram)), key=lambda j: (j != self.constant, j)):
            left = gram[j, j]
            if left <= _DEPENDENT:
                kept[j] = False
                continue
            gram = gram - np.outer(gram[:, j], gram[j]) / left
        return kept

    def back(self, kept: NDArray[np.bool_]) -> Values:
        """Give the matrix that turns coefficients of these columns into those of the columns as they were."""
        places = np.flatnonzero(kept)
        found = np.diag(1.0 / self.scales[places])
        if self.constant is not None:
            own = int(np.searchsorted(places, self.constant))
            others = np.arange(places.size) != own
            shift = -self.centres[places] / self.scales[places] / self.scales[self.constant]
            found[own, others] = shift[others]
        return found


def _solved(
    design: Design, kept: NDArray[np.bool_], y: Values, w: Values, family: Family
) -> tuple[Values, Values] | None:
    """Find the coefficients by Newton's method, and the information there; None where there is no maximum."""
    beta = np.zeros(int(kept.sum()))
    if design.constant is not None:
        beta[int(np.searchsorted(np.flatnonzero(kept), design.constant))] = family.start(float(w @ y / w.sum()))
    likelihood, score, inner = _state(design, kept, beta, y, w, family)
    for _ in range(_MOST_STEPS):
        try:
            step = np.linalg.solve(inner, score)
        except np.linalg.LinAlgError:
            return None
        if not np.isfinite(step).all():
            return None
        size = 1.0
        while True:
            fresh = _state(design, kept, beta + size * step, y, w, family)
            if fresh[0] >= likelihood - 1e-12 * (1.0 + abs(likelihood)) or size < 1e-4:
                break
            size /= 2.0
        beta = beta + size * step
        likelihood, score, inner = fresh
        if np.abs(size * step).max() <= 1e-9 * (1.0 + np.abs(beta).max()):
            return beta, inner
    return None


def _state(
    design: Design, kept: NDArray[np.bool_], beta: Values, y: Values, w: Values, family: Family
) -> tuple[float, Values, Values]:
    """Give the log-likelihood, the score and the information at some coefficients."""
    likelihood, score, inner = 0.0, np.zeros(beta.size), np.zeros((beta.size, beta.size))
    for rows, part in design.blocks():
        X = part if kept.all() else part[:, kept]
        eta, own, weights = X @ beta, y[rows], w[rows]
        mu = family.mean(eta)
        likelihood += float(weights @ family.likelihood(own, eta))
        score += X.T @ (weights * (own - mu))
        inner += X.T @ (X * (weights * family.variance(mu))[:, None])
    return likelihood, score, inner


def _meat(
    design: Design,
    kept: NDArray[np.bool_],
    beta: Values,
    y: Values,
    w: Values,
    family: Family,
    clusters: NDArray[np.int64] | None,
) -> Values:
    """Give Σ s sᵀ over records, or over clusters."""
    found = np.zeros((beta.size, beta.size))
    sums = None if clusters is None else np.zeros((int(clusters.max()) + 1, beta.size))
    for rows, part in design.blocks():
        X = part if kept.all() else part[:, kept]
        scores = X * (w[rows] * (y[rows] - family.mean(X @ beta)))[:, None]
        if sums is None or clusters is None:
            found += scores.T @ scores
            continue
        own, places = np.unique(clusters[rows], return_inverse=True)
        for j in range(beta.size):
            sums[own, j] += np.bincount(places.ravel(), weights=scores[:, j], minlength=own.size)
    return found if sums is None else sums.T @ sums
