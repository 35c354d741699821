"""Regressions by maximum likelihood, with the sandwich as their covariance."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
Column = NDArray[np.float64] | NDArray[np.bool_]

_MOST_STEPS = 50
_ROWS = 1 << 15  # records that are worked on at a time, so that they stay in the cache
_DEPENDENT = 1e-10  # of a column's variance that others leave unexplained: below it, it adds nothing of its own
_CONVERGED = 1e-10  # a step of this size, in deviations, is the last
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
    columns: Sequence[Column],
    response: Values,
    weights: Values,
    clusters: NDArray[np.int64] | None,
    family: Family,
    check: Callable[[], None] = lambda: None,
) -> Fit:
    """Fit a regression; the covariance is A⁻¹BA⁻¹ with a small-sample factor.

    A is the weighted information, B = Σ s sᵀ of the scores s = w (y − μ) x, summed by cluster where there are clusters.
    Factor: n/(n − p), as HC1; with G clusters G/(G − 1) · (n − 1)/(n − p), as Stata and statsmodels have it.
    """
    n, found = response.size, Fit(np.full(len(columns), np.nan), np.full(len(columns), np.nan))
    if n == 0:
        return found
    design = Design(columns, weights, check)
    kept, k = design.kept, int(design.kept.sum())
    solved = _solved(design, response, weights, family)
    if k == 0 or solved is None:
        return found
    beta, inner = solved
    meat, n_clusters = _meat(design, weights * (response - family.mean(design.predicted(beta))), clusters)
    bread = np.linalg.inv(inner)
    found.coefficients[kept] = design.back @ beta
    if n <= k or n_clusters < 2:
        return found
    factor = n / (n - k) if clusters is None else n_clusters / (n_clusters - 1) * (n - 1) / (n - k)
    covariance = factor * design.back @ bread @ meat @ bread @ design.back.T
    found.errors[kept] = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    return found


class Design:
    """Columns that explain a response, scaled, and centred where a constant is among them: rounding stays small.

    The scaled columns X are made a part of the records at a time, whenever they are needed: all of them would take more
    memory than the file, and more time to read than to make.

    Attributes
    ----------
    kept : array of shape (p,)
        Which columns are not explained by those before them.
    back : array of shape (kept, kept)
        What turns coefficients of X into those of the columns as they were.
    constant : int or None
        Which column of X is constant.
    information : array of shape (kept, kept)
        Σ w x xᵀ by the weights.
    """

    def __init__(self, columns: Sequence[Column], weights: Values, check: Callable[[], None]) -> None:
        self._check = check
        self._n, total = weights.size, weights.sum()
        constant = next((j for j, own in enumerate(columns) if own[0] != 0 and own.min() == own.max()), None)
        centres, scales = np.zeros(len(columns)), np.ones(len(columns))
        for j, own in enumerate(columns):
            if j == constant:
                scales[j] = own[0]
                continue
            centres[j] = weights @ own / total if constant is not None else 0.0
            apart = own - centres[j]
            scales[j] = np.sqrt(weights @ (apart * apart) / total) or 1.0
        # The constant is not centred, only scaled: its centre stays 0.
        self._columns, self._centres, self._scales = columns, centres, scales
        information = self.gram(weights)
        self.kept = _independent(information / total, constant)
        self.information = information[np.ix_(self.kept, self.kept)]
        centres, scales = centres[self.kept], scales[self.kept]
        self._columns = [own for own, kept in zip(columns, self.kept, strict=True) if kept]
        self._centres, self._scales = centres, scales
        self.back = np.diag(1.0 / scales)
        self.constant = None if constant is None else int(self.kept[:constant].sum())
        if self.constant is not None:
            shift = -centres / scales / scales[self.constant]
            others = np.arange(scales.size) != self.constant
            self.back[self.constant, others] = shift[others]

    def __len__(self) -> int:
        return len(self._columns)

    def columns(self) -> Iterator[Values]:
        """Yield one column of X after the other."""
        for own, centre, scale in zip(self._columns, self._centres, self._scales, strict=True):
            yield (own - centre) / scale

    def _parts(self) -> Iterator[tuple[slice, Values]]:
        """Yield some records after the others, and their X (kept, records), which is overwritten by the next."""
        made = np.empty((len(self), min(self._n, _ROWS)))
        for start in range(0, self._n, _ROWS):
            self._check()
            rows = slice(start, min(start + _ROWS, self._n))
            part = made[:, : rows.stop - start]
            for own, centre, scale, scaled in zip(self._columns, self._centres, self._scales, part, strict=True):
                np.subtract(own[rows], centre, out=scaled)
                scaled /= scale
            yield rows, part

    def predicted(self, beta: Values) -> Values:
        """Return the linear predictor of each record."""
        found = np.empty(self._n)
        for rows, part in self._parts():
            found[rows] = beta @ part
        return found

    def gram(self, weights: Values) -> Values:
        """Return Σ w x xᵀ."""
        found = np.zeros((len(self), len(self)))
        for rows, part in self._parts():
            found += (part * weights[rows]) @ part.T
        return found

    def summed(self, values: Values) -> Values:
        """Return Σ v x."""
        found = np.zeros(len(self))
        for rows, part in self._parts():
            found += part @ values[rows]
        return found


def _independent(gram: Values, constant: int | None) -> NDArray[np.bool_]:
    """Mark the columns that those before them do not explain; the constant, by which others are centred, is first."""
    kept = np.ones(len(gram), dtype=bool)
    for j in sorted(range(len(gram)), key=lambda j: (j != constant, j)):
        left = gram[j, j]
        if left <= _DEPENDENT:
            kept[j] = False
            continue
        gram = gram - np.outer(gram[:, j], gram[j]) / left
    return kept


@np.errstate(over="ignore", invalid="ignore")  # of values as large as floats go: then there is no maximum
def _solved(design: Design, y: Values, w: Values, family: Family) -> tuple[Values, Values] | None:
    """Find the coefficients by Newton's method, and the information there; None where there is no maximum."""
    beta = np.zeros(len(design))
    if design.constant is not None:
        beta[design.constant] = family.start(float(w @ y / w.sum()))
    eta = design.predicted(beta)
    likelihood = float(w @ family.likelihood(y, eta))
    for _ in range(_MOST_STEPS):
        mu = family.mean(eta)
        inner = design.information if family is NORMAL else design.gram(w * family.variance(mu))
        try:
            step: Values = np.asarray(np.linalg.solve(inner, design.summed(w * (y - mu))), dtype=np.float64)
        except np.linalg.LinAlgError:
            return None
        if not np.isfinite(step).all():
            return None
        if np.abs(step).max(initial=0.0) <= _CONVERGED * (1.0 + np.abs(beta).max(initial=0.0)):
            return beta + step, inner
        slope, size = design.predicted(step), 1.0
        while True:  # a step that overshoots is halved
            fresh = float(w @ family.likelihood(y, eta + size * slope))
            if fresh >= likelihood - 1e-12 * (1.0 + abs(likelihood)) or size < 1e-4:
                break
            size /= 2.0
        beta, eta, likelihood = beta + size * step, eta + size * slope, fresh
    return None


def _meat(design: Design, residuals: Values, clusters: NDArray[np.int64] | None) -> tuple[Values, int]:
    """Return Σ s sᵀ of the scores over records, or over clusters, and how many there are; residuals have weights."""
    if clusters is None:
        return design.gram(residuals**2), residuals.size
    n = int(np.count_nonzero(np.bincount(clusters)))
    sums = np.array([np.bincount(clusters, weights=residuals * own) for own in design.columns()])
    return sums @ sums.T, n
