"""How well a model distinguishes masked records from original ones: the propensity score mean squared error (pMSE)."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.equivalence import classes_of, first_of_each
from microagg.algorithms.scores import moments, standardise
from microagg.base.frozen import frozen
from microagg.columns.kinds import Nominal
from microagg.columns.table import Coded, Table
from microagg.measures.measure import Measure, as_html, as_text
from microagg.work import Progress, in_parallel, one_thread_for_matrices, tell

MOST_TERMS = 400
"""So many terms a model has at most, the intercept apart: more would take too long, and fit chance."""
MOST_RECORDS = 100_000
"""Of files of more records, so many are drawn."""

_WORST = 0.25
_ROWS = 2048  # whose terms are at hand at a time
_KEPT = 1_000_000  # cells of terms that are kept from one step to the next: 16 MB, with those of both halves
_NOTHING = 1e-11  # of the largest: eigenvalues below are 0, of terms that follow from others
_STEPS = 200
_FARTHEST = 2.0  # times a step; without end where a model recognises records for certain
_SHORT = 0.75  # of a step: then sums of terms may be too coarse
_HALVINGS = 40  # of a part of a step
_SETTLED = 1e-12  # what one more step would add to the log-likelihood of a record
_STRAIGHT = 1e-5  # times the strongest bend of a curve: below it a direction may bend by rounding alone
_STALE = 0.02  # of a weight: so far may it change before it is used anew

Values = NDArray[np.float64]


@frozen()
class PMSE:
    """How well a model distinguishes masked records from original ones.

    Both files are put together, and a logistic regression estimates for each record the chance that it is a masked one.
    The pMSE is the mean of (chance − ½)²: 0 where the model knows nothing, and 0.25 where it is always right.

    Attributes
    ----------
    value : float
        Of the model with columns, squares and products of two columns.
    main_effects : float
        Of the model with columns alone. Means of groups keep the means of numbers, so that it sees hardly anything.
    expected : float
        What chance alone would give, were both files independent samples of the same size (Snoke et al. 2018).
    rank : int
        How many terms of the larger model do not follow from others, the intercept among them.
    n_terms, n_left_out : int
        How many terms it has, the intercept apart, and how many more there would be without the limit of 400.
    n_records : int
        How many records of each file were used.
    sampled : bool
        Whether these were drawn, since there are more than 100 000.
    converged : bool
        Whether the estimates came to rest. They do not where the model recognises some records for certain; the figure
        is right all the same.

    References
    ----------
    J. Snoke, G. M. Raab, B. Nowok, C. Dibben, A. Slavkovic: General and specific utility measures for synthetic data.
    J. R. Stat. Soc. A 181(3), 2018.

    Examples
    --------
    >>> import microagg as ma
    >>> survey = ma.datasets.survey(600, seed=0).select(["age", "income", "tax"])
    >>> found = ma.pmse(survey, ma.protect(survey, k=3).data)
    >>> found.rank, 0 < found.value < 0.01
    (10, True)
    """

    value: float
    main_effects: float
    expected: float
    rank: int
    n_terms: int
    n_left_out: int
    n_records: int
    sampled: bool = False
    converged: bool = True

    @property
    def ratio(self) -> float:
        """The value as a multiple of what chance gives; for independent samples, which masked files are not."""
        return self.value / self.expected if self.expected else 0.0

    @property
    def percent(self) -> float:
        """The value as a share of the worst, 0.25, in percent."""
        return 100.0 * self.value / _WORST

    @property
    def reading(self) -> str:
        """What the value says, in words."""
        percent, off = self.percent, float(np.sqrt(self.value))
        how = next(words for most, words in _HOW if percent <= most)
        return (
            f"A model that uses values, squares and products of two columns {how} masked from original records. It "
            f"typically gives a record a probability of {0.5 - off:.2f} or {0.5 + off:.2f} of being a masked one; 0.50 "
            f"means that the model does not know. pMSE is {percent:.3g} % of the worst value, 0.25."
        )

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The figures with their words."""
        return (
            Measure("pMSE", self.value, "lower", (0.0, _WORST), self.reading, title="distinguishing both files"),
            Measure(
                "pMSE, main effects",
                self.main_effects,
                "lower",
                (0.0, _WORST),
                "The same with values only, without squares and products: masking by means hardly changes what that "
                "model uses.",
            ),
            Measure(
                "ratio",
                self.ratio,
                "lower",
                (0.0, float("inf")),
                "pMSE as a multiple of what chance gives. That is known for independent samples only, and a masked "
                "file is not independent of the original.",
            ),
        )

    def __repr__(self) -> str:
        return as_text(self._title, self.measures)

    def _repr_html_(self) -> str:
        return as_html(self._title, self.measures)

    @property
    def _title(self) -> str:
        drawn = ", drawn" if self.sampled else ""
        limit = f" of {self.n_terms + self.n_left_out}" if self.n_left_out else ""
        return f"Propensity scores of {self.n_records} records{drawn}, by {self.n_terms} terms{limit}"


_HOW = (
    (1.0, "cannot distinguish"),
    (5.0, "can hardly distinguish"),
    (20.0, "can sometimes distinguish"),
    (100.0, "can often distinguish"),
)


def measure_pmse(
    original: Table,
    masked: Table,
    rows: NDArray[np.int64] | None = None,
    *,
    most_terms: int = MOST_TERMS,
    progress: Progress | None = None,
) -> PMSE:
    """Return how well a model distinguishes two files, on some of their records or on all."""
    if rows is not None:
        original, masked = original.take(rows), masked.take(rows)
    terms, left_out = _terms_of(original, masked, most_terms)
    distinct = _Rows.of(terms)
    with one_thread_for_matrices():  # as two threads of ours work on them
        value, rank, converged = _error(distinct, progress)
        main_effects = _error(distinct.main_effects, progress)[0]
    n = original.n_records
    return PMSE(
        value=value,
        main_effects=main_effects,
        expected=(rank - 1) / 8.0 / (2 * n),
        rank=rank,
        n_terms=terms.n_terms,
        n_left_out=left_out,
        n_records=n,
        sampled=rows is not None,
        converged=converged,
    )


class _Terms(NamedTuple):
    """What a model looks at: features of the records of both files, the masked ones last, and which are multiplied."""

    features: Values  # (features, 2 n)
    squares: list[int]
    products: list[tuple[int, int]]

    @property
    def n_terms(self) -> int:
        return len(self.features) + len(self.squares) + len(self.products)


class _Rows(NamedTuple):
    """Different rows of features, and how many original and how many masked records have each."""

    features: Values  # (features, rows)
    counts: Values  # (2, rows)
    sizes: Values  # both together
    runs: list[tuple[int, slice]]  # a feature, and those that it is multiplied with
    place: Values  # for the terms of some rows
    kept: list[tuple[Values, slice]]  # the terms of all, where these are few
    split: list[tuple["_Rows", slice]]  # both halves, once they were asked for

    @classmethod
    def of(cls, terms: _Terms) -> "_Rows":
        """Count the rows of a model: members of a group have the same values, so there are far fewer than records."""
        features, n = terms.features, terms.features.shape[1]
        classes = classes_of([np.zeros(n, dtype=np.int64), *features])
        first = first_of_each(classes)
        order = np.argsort(first)  # as they come in the files
        masked = np.arange(n) >= n // 2
        counts = np.array([np.bincount(classes[part], minlength=first.size)[order] for part in (~masked, masked)])
        sizes = counts.sum(axis=0).astype(np.float64)
        place = np.empty((1 + terms.n_terms, min(_ROWS, sizes.size)))
        return cls(features[:, first[order]], counts.astype(np.float64), sizes, _runs(terms), place, [], [])

    @property
    def main_effects(self) -> "_Rows":
        """The same rows of a model without squares and products."""
        return self._replace(runs=[], place=np.empty_like(self.place[: 1 + len(self.features)]), kept=[], split=[])

    def only(self, chosen: NDArray[np.bool_] | slice) -> "_Rows":
        """Return some of the rows."""
        features, counts = self.features[:, chosen], self.counts[:, chosen]
        return self._replace(features=features, counts=counts, sizes=self.sizes[chosen], kept=[], split=[])

    @property
    def halves(self) -> list[tuple["_Rows", slice]]:
        """Both halves, which two threads can work on side by side: two, however many processors there are."""
        if not self.split:
            middle = self.sizes.size // 2
            for here in (slice(middle), slice(middle, None)):
                self.split.append((self.only(here)._replace(place=np.empty_like(self.place)), here))
        return self.split

    @property
    def n_terms(self) -> int:
        """The terms and the intercept."""
        return 1 + len(self.features) + sum(int(run.stop - run.start) for _, run in self.runs)

    @property
    def n_records(self) -> float:
        return float(self.sizes.sum())

    def parts(self) -> Iterator[tuple[Values, slice]]:
        """Return the terms, (1 + terms, rows), of some rows at a time, intercept first, and which rows these are.

        All are written to the same place, which stays in the processor's cache; few are kept for the next time.
        """
        slices = (slice(start, min(start + _ROWS, self.sizes.size)) for start in range(0, self.sizes.size, _ROWS))
        if self.n_terms * self.sizes.size > _KEPT:
            yield from (self._written(here, self.place) for here in slices)
            return
        if not self.kept:
            self.kept.extend([self._written(here, np.empty_like(self.place)) for here in slices])
        yield from self.kept

    def weighed(self, weights: Values) -> Iterator[Values]:
        """Return the terms by the roots of weights, some rows at a time."""
        for own, here in self.parts():
            yield np.multiply(own, np.sqrt(weights[here]), out=self.place[:, : own.shape[1]])

    def _written(self, here: slice, place: Values) -> tuple[Values, slice]:
        part = self.features[:, here]
        own = place[:, : part.shape[1]]
        own[0] = 1.0
        own[1 : 1 + len(part)] = part
        at = 1 + len(part)
        for one, others in self.runs:
            end = at + others.stop - others.start
            np.multiply(part[one], part[others], out=own[at:end])
            at = end
        return own, here

    def combined(self, effects: Values) -> Values:
        """Return the sum of the terms by their effects, for each row."""
        found = np.empty(self.sizes.size)
        for own, here in self.parts():
            found[here] = effects @ own
        return found

    def summed(self, weights: Values) -> Values:
        """Return the sum of each term over the rows by weights."""
        found = np.zeros(self.n_terms)
        for own, here in self.parts():
            found += own @ weights[here]
        return found


def _runs(terms: _Terms) -> list[tuple[int, slice]]:
    """Return products and squares as runs of neighbouring features that one feature is multiplied with."""
    found: list[tuple[int, slice]] = []
    for one, other in sorted([*((own, own) for own in terms.squares), *terms.products]):
        if found and found[-1][0] == one and found[-1][1].stop == other:
            found[-1] = one, slice(found[-1][1].start, other + 1)
        else:
            found.append((one, slice(other, other + 1)))
    return found


def _terms_of(original: Table, masked: Table, limit: int) -> tuple[_Terms, int]:
    """Return the terms of the larger model, and how many more there would be without the limit.

    Where there are too many, each nominal column has fewer categories: the commonest, half as many until all fit, the
    others counting as one. If one each is still too many, products are left out, the last pairs of columns first.
    """
    columns = list(zip(original, masked, strict=True))
    most = max([int(one.values[one.cells.present].max(initial=0)) + 1 for one, _ in columns if _nominal(one)] or [1])
    n = 2 * original.n_records
    everything = found = _with_products([_features(*pair, most) for pair in columns], n)
    while found.n_terms > limit and most > 1:
        most //= 2
        found = _with_products([_features(*pair, most) for pair in columns], n)
    room = max(0, limit - len(found.features))
    squares = found.squares[:room]
    products = found.products[: room - len(squares)]
    found = found._replace(features=found.features[:limit], squares=squares, products=products)
    return found, everything.n_terms - found.n_terms


def _nominal(column: Coded) -> bool:
    return isinstance(column.kind, Nominal)


def _with_products(columns: Sequence[tuple[list[Values], bool]], n: int) -> _Terms:
    """Return the terms of columns, each with its features and whether the first of them is a quantity, of n records."""
    starts = np.cumsum([0, *(len(own) for own, _ in columns)])
    squares = [int(start) for start, (own, quantity) in zip(starts, columns, strict=False) if quantity and own]
    places = [range(start, end) for start, end in pairwise(starts)]
    products = [(i, j) for one, other in combinations(places, 2) for i in one for j in other]
    listed = [feature for own, _ in columns for feature in own]
    return _Terms(np.array(listed).reshape(len(listed), n), squares, products)


def _features(before: Coded, after: Coded, most: int) -> tuple[list[Values], bool]:
    """Return what a model sees of a column, over both files, and whether the first is a quantity, which has a square.

    Quantities and levels are standard scores, 0 where missing; of categories, the commonest ones have an indicator
    each; so has each way of being missing.
    """
    values = np.concatenate([before.values, after.values])
    states = np.concatenate([before.cells.all_states, after.cells.all_states])
    known = values[states == 0]
    found: list[Values] = []
    if _nominal(before):
        counts = np.bincount(known.astype(np.int64))
        common = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
        last = 0 if states.any() else 1  # one category follows from the others, unless there are gaps
        found += [
            ((values == code) & (states == 0)).astype(np.float64) for code in common[: min(most, len(common) - last)]
        ]
    elif known.size and known.min() < known.max():
        own = moments(known)
        found.append(standardise(np.where(states == 0, values, np.ldexp(own[1], own[0])), *own))
    quantity = bool(found) and not _nominal(before)
    found += [(states == state).astype(np.float64) for state in np.unique(states[states > 0])]
    return [one for one in found if one.min() < one.max()], quantity


def _error(rows: _Rows, progress: Progress | None) -> tuple[float, int, bool]:
    """Fit a logistic regression; give the mean of (chance − ½)², the rank, and whether the estimates came to rest.

    Newton's method, on as many orthogonal combinations of terms as do not follow from each other. Each step goes to the
    top of its line: where the model is nearly certain of some records, whole steps would go far too far, or not nearly
    far enough.
    """
    basis = _basis(rows)
    curve = _Curve(rows, basis)
    scores: Values = np.zeros(rows.sizes.size)
    converged = False
    for number in range(_STEPS):
        tell(progress, number, _STEPS)
        chances = _chances(scores)
        slope = basis.T @ rows.summed(rows.counts[1] - rows.sizes * chances)
        step = _solved(curve.at(chances), slope)
        ahead = rows.combined(basis @ step)
        share = _top(rows, scores, ahead)
        scores += share * ahead
        curve.exact |= share < _SHORT
        converged = float(slope @ step) < _SETTLED * rows.n_records
        if converged:
            break
    return float((_chances(scores) - 0.5) ** 2 @ rows.sizes) / rows.n_records, basis.shape[1], converged


def _solved(curve: Values, slope: Values) -> Values:
    """Return where the slope of a curve would be 0; along directions in which it does not bend, no step at all."""
    with suppress(np.linalg.LinAlgError):
        triangle = np.linalg.cholesky(curve)
        bends = np.diagonal(triangle)
        if bends.min() > _STRAIGHT * bends.max():
            return np.asarray(np.linalg.solve(triangle.T, np.linalg.solve(triangle, slope)), dtype=np.float64)
    return np.asarray(np.linalg.lstsq(curve, slope, rcond=1e-12)[0], dtype=np.float64)


def _chances(scores: Values) -> Values:
    """Return the chance of each row to be a masked one."""
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * scores)))


def _top(rows: _Rows, scores: Values, ahead: Values) -> float:
    """Find how much of a step to go: to where the likelihood hardly rises any more, at most twice the step."""

    def rise(share: float) -> float:
        return float(ahead @ (rows.counts[1] - rows.sizes * _chances(scores + share * ahead)))

    low, high, share = 0.0, np.inf, 1.0
    first = low_rise = rise(low)
    if first <= 0:  # rounding noise: this is the top
        return 0.0
    for _ in range(_HALVINGS):
        here = rise(share)
        if abs(here) <= 0.1 * first or (here > 0 and share >= _FARTHEST):
            break
        if here > 0:
            low, low_rise = share, here
        else:
            high, high_rise = share, here
        if high == np.inf:
            share = min(2 * share, _FARTHEST)
        else:  # where a line through both ends has no rise, but well within
            share = low + (high - low) * min(max(low_rise / (low_rise - high_rise), 0.1), 0.9)
    return share


def _basis(rows: _Rows) -> Values:
    """Return combinations of terms, (terms, rank), that are orthogonal over the records, and of length √n."""
    products = _products(rows, rows.sizes)
    lengths = np.sqrt(np.diag(products))
    lengths[lengths == 0] = 1.0
    values, directions = np.linalg.eigh(products / np.outer(lengths, lengths))
    kept = values > _NOTHING * values[-1]
    return np.asarray(directions[:, kept] / lengths[:, None] / np.sqrt(values[kept]) * np.sqrt(rows.n_records))


class _Curve:
    """Minus the second derivative of the log-likelihood, which is brought up to date where it has changed.

    Each row adds its terms by a weight, and few weights still change in later steps. A weight that is right to 2 % will
    do: steps come out as good, and the slope, by which the estimates come to rest, is exact.

    Attributes
    ----------
    exact : bool
        Whether rows are combined by the basis before they are summed. That takes three times as long, and is needed
        where terms that nearly follow from others distinguish the files: sums of the terms themselves are too coarse.
    """

    def __init__(self, rows: _Rows, basis: Values) -> None:
        self.rows, self.basis = rows, basis
        self.weights: Values = np.zeros(rows.sizes.size)
        self.value: Values = np.zeros((rows.n_terms, rows.n_terms))
        self.exact = False

    def at(self, chances: Values) -> Values:
        weights = self.rows.sizes * chances * (1.0 - chances)
        if self.exact:
            return _products(self.rows, weights, self.basis.T)
        changed = np.abs(weights - self.weights) > _STALE * self.weights
        if 2 * np.count_nonzero(changed) > changed.size:
            self.weights, self.value = weights, _products(self.rows, weights)
        elif changed.any():
            part = self.rows.only(changed)
            more = np.maximum(weights - self.weights, 0.0)[changed]
            less = np.maximum(self.weights - weights, 0.0)[changed]
            self.value = self.value + _products(part, more) - _products(part, less)
            self.weights = np.where(changed, weights, self.weights)
        return np.asarray(self.basis.T @ self.value @ self.basis)


def _products(rows: _Rows, weights: Values, combine: Values | None = None) -> Values:
    """Return the sums of products of two terms each, over rows with weights; or of combinations of terms."""
    n = rows.n_terms if combine is None else len(combine)

    def of_half(half: tuple[_Rows, slice], check: Callable[[], None]) -> Values:
        own_rows, here = half
        found = np.zeros((n, n))
        for own in own_rows.weighed(weights[here]):
            check()
            combined = own if combine is None else combine @ own
            found += combined @ combined.T  # of a matrix with itself, in half the time
        return found

    first, second = in_parallel(of_half, rows.halves, 2 if n * rows.sizes.size > _KEPT else 1)
    return first + second
