"""Released means that vary as the original values do.

Means of groups vary less than their members, so variances come out too small and regressions change. One linear map for
each stratum, about its mean, gives the groups of a stratum the variances, or all covariances, of its records. A group's
members stay identical, and the mean of the stratum stays.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.equivalence import distinct_of
from microagg.algorithms.kernels.sums import exact_sum
from microagg.algorithms.scores import moments, standardise
from microagg.base.frozen import ReadOnly, frozen
from microagg.columns.kinds import Cells, Number, Rule
from microagg.columns.table import Coded, Table
from microagg.errors import InvalidData, InvalidParameter, setting
from microagg.recipe import Masking, Recipe
from microagg.recipe.combine import Combination, refuse

Labels = NDArray[np.int64]
Values = NDArray[np.float64]

_NOTHING = 1e-10  # of the largest: eigenvalues, or variances, below are 0


@frozen()
class MomentFacts(ReadOnly):
    """What was done to keep variances or covariances; not for publication.

    Attributes
    ----------
    which : {"variance", "covariance"}
    columns : tuple
        The numbers whose moments are kept.
    outside : mapping
        For each column with any: cells that are written beyond the range of the original column.
    clipped : mapping
        For each column with any: cells that were cut back, which ends exactness.
    left : int
        Strata (or parts of one with the same missing values) that are not spread: they have one group, or groups that
        do not vary.
    variance_error : float
        How far the variance of a column, as written, is from that of the original, at most, as a share of the latter.
    covariance_error : float
        The same of all covariances of standard scores, variances among them.
    """

    which: str
    columns: tuple[Any, ...] = ()
    outside: Mapping[Any, int] = field(default_factory=dict)
    clipped: Mapping[Any, int] = field(default_factory=dict)
    left: int = 0
    variance_error: float = 0.0
    covariance_error: float = 0.0


def moment_words(facts: MomentFacts) -> str:
    """Return in a line what is kept, how exactly, and what that did to values."""
    if not facts.columns:
        return "nothing to keep, no number varies"
    error = 100.0 * facts.variance_error
    what = f"{facts.which}s of {len(facts.columns)} column{'s' if len(facts.columns) > 1 else ''}"
    words = [f"{what} kept, variances to within {'0.01' if error < 0.01 else f'{error:.2g}'} %"]
    outside, clipped = sum(facts.outside.values()), sum(facts.clipped.values())
    if outside:
        words.append(f"values outside the original range: {outside}")
    if clipped:
        words.append(f"values cut back: {clipped}")
    if facts.left:
        words.append(f"strata not spread: {facts.left}")
    return "; ".join(words)


def _varying(table: Table) -> list[tuple[int, Coded]]:
    """Return the columns whose moments are kept, with their places: plain numbers that vary.

    Dates are left out: they are released in whole days or seconds, so nothing would be exact, and a day of birth after
    the survey is worse than a variance that is too small. A spike, a level and a category must stay what they are.
    """
    numbers = [(j, column, column.cells.known) for j, column in enumerate(table) if type(column.kind) is Number]
    return [(j, column) for j, column, known in numbers if known.size and known.min() < known.max()]


def check_moments(table: Table, recipe: Recipe) -> None:
    """Refuse, before any work, what does not go with moments, and these where no masked column is a plain number."""
    refuse("moments", Combination(recipe=recipe))
    which = recipe.masking.moments
    if which != "none" and not any(type(one.kind) is Number for one in table):
        raise InvalidParameter(
            f"{setting('moments', which)} goes with numbers, and no masked column is a plain number. Leave it out.",
            parameter="moments",
        )


class _Scored(NamedTuple):
    """A column as standard scores of the original: of its records, and of what its groups release."""

    place: int
    column: Coded
    moments: tuple[int, float, float]
    before: Values
    groups: Values
    labels: Labels

    @property
    def after(self) -> Values:
        return self.groups[self.labels]

    def unscored(self, scores: Values) -> Values:
        power, mean, deviation = self.moments
        with np.errstate(over="ignore"):
            return np.asarray(np.ldexp(scores * deviation + mean, power))


def match_moments(
    original: Table, of_groups: Table, labels: Labels, rule: Rule, masking: Masking
) -> tuple[Table, MomentFacts]:
    """Return what groups release, a record a group, such that the numbers of each stratum vary as its records do.

    With it comes what is known of that already: the cells that were cut back, and the strata that are not spread.

    Parameters
    ----------
    original : Table
        Means, variances and covariances are taken by its weights.
    of_groups : Table
        What each group releases, a record a group.
    labels : array of shape (n,), or (n, d) where columns have groups of their own
    rule : Rule
        Its `fewest` is the number of values.
    masking : Masking
        Which moments are kept, and whether cells are cut back to the range of the original column, or rather to the
        means of its lowest and highest values: the lowest and the highest alone may be one person's.
    """
    strata, which, weighed = original.strata, masking.moments, original.weighed.representing
    scored = [
        _scored(j, column, of_groups.columns[j], labels if labels.ndim == 1 else np.ascontiguousarray(labels[:, j]))
        for j, column in _varying(original)
    ]
    weights = np.ones(strata.size) if weighed is None else weighed.values
    fresh = [one.groups.copy() for one in scored]
    changed = [np.zeros(one.groups.size, dtype=bool) for one in scored]
    done = np.zeros(int(strata.max()) + 1, dtype=bool)
    left = 0
    whole = [list(range(len(scored)))] if scored else []  # of constant columns alone nothing varies
    for chosen in [[j] for j in range(len(scored))] if which == "variance" else whole:
        for piece in _pieces([scored[j] for j in chosen], strata):
            own = [chosen[place] for place in piece.columns]
            part = [scored[j] for j in own]
            found = _map_of(part, piece, weights, which)
            if found is None:
                left += which == "covariance"
                continue
            done[strata[piece.rows[0]]] = True
            middle, matrix, varying = found
            of_piece = distinct_of(part[0].labels[piece.rows])
            moved = middle[:, None] + matrix @ (np.array([one.groups[of_piece] for one in part]) - middle[:, None])
            for i in np.flatnonzero(varying):
                fresh[own[i]][of_piece] = moved[i]
                changed[own[i]][of_piece] = True
    if which == "variance" or not scored:
        left = int(np.count_nonzero(~done[np.unique(strata)]))
    groups, clipped = _written_back(of_groups, scored, fresh, changed, rule if masking.moments_clip else None)
    return groups, MomentFacts(which, clipped=clipped, left=left)


def _scored(place: int, column: Coded, of_groups: Coded, labels: Labels) -> _Scored:
    own = moments(column.cells.known)
    return _Scored(place, column, own, standardise(column.values, *own), standardise(of_groups.values, *own), labels)


class _Piece(NamedTuple):
    """Rows that one map moves, the columns that it moves, and the rows whose variation is wanted."""

    rows: Labels
    columns: Labels
    wanted: Labels


def _pieces(columns: Sequence[_Scored], strata: Labels) -> Iterator[_Piece]:
    """Return the rows of each stratum that release values of the same columns.

    A map needs all of its columns: rows that lack one are mapped by themselves, on the others. One column alone has the
    variance of all values that the stratum had, those that are not released any more among them.
    """
    present = np.array([~np.isnan(one.after) for one in columns])
    patterns, found = np.unique(present, axis=1, return_inverse=True)
    of_rows = found.reshape(-1)
    for stratum in _split(np.arange(strata.size), strata):
        for rows in _split(stratum, of_rows[stratum]):
            own = np.flatnonzero(patterns[:, of_rows[rows[0]]])
            if own.size:
                yield _Piece(rows, own, stratum if len(columns) == 1 else rows)


def _split(rows: Labels, codes: Labels) -> list[Labels]:
    """Return the rows of each code."""
    order = np.argsort(codes, kind="stable")
    return np.split(rows[order], np.flatnonzero(np.diff(codes[order])) + 1)


def _map_of(
    columns: Sequence[_Scored], piece: _Piece, weights: Values, which: str
) -> tuple[Values, Values, NDArray[np.bool_]] | None:
    """Return the mean of what the rows of a piece release, the map about it, and which columns it changes.

    None: the piece is not spread, since it has one group, or since its groups do not vary.
    """
    rows = piece.rows
    n_groups = distinct_of(columns[0].labels[rows]).size
    before = np.array([one.before[piece.wanted] for one in columns])
    after = np.array([one.groups[one.labels[rows]] for one in columns])
    varying = np.ptp(after, axis=1) > 0
    complete = ~np.isnan(before).any(axis=0)  # cells that are filled have no value to vary
    if n_groups == 1 or not complete.any():
        return None
    _, wanted = mean_and_covariance(before[:, complete], weights[piece.wanted][complete])
    middle, found = mean_and_covariance(after, weights[rows])
    if which == "variance":
        if found[0, 0] <= _NOTHING * wanted[0, 0] or not varying[0]:
            return None
        return middle, np.sqrt(wanted / found), varying
    return middle, _least_change(found, wanted, rows.size, n_groups), varying


def mean_and_covariance(values: Values, weights: Values) -> tuple[Values, Values]:
    """Return the mean and the covariance of columns (d, n), the same in whatever order the records are.

    Records count equally where none weighs anything.
    """
    weights = weights if weights.any() else np.ones(weights.size)
    total, d = exact_sum(weights), values.shape[0]
    middle = np.array([exact_sum(weights * own) / total for own in values])
    about = values - middle[:, None]
    found = np.empty((d, d))
    for i in range(d):
        for j in range(i + 1):
            found[i, j] = found[j, i] = exact_sum(weights * about[i] * about[j]) / total
    return middle, found


def _least_change(found: Values, wanted: Values, n_records: int, n_groups: int) -> Values:
    """Return the linear map that turns one covariance B into another, S, and moves points least.

    B^-½ (B^½ S B^½)^½ B^-½, on the directions in which B varies.
    """
    lengths, directions = _eigen(found)
    n_wanted = _eigen(wanted)[0].size
    if not lengths.size and not n_wanted:
        return np.zeros(found.shape)  # neither varies, but by rounding
    if lengths.size < n_wanted:
        raise InvalidData(
            f"the covariances of a stratum of {n_records} records (or of its records with the same missing values) "
            f"cannot be kept: its {n_groups} groups vary in {lengths.size} directions, and its records in {n_wanted}. "
            f"Choose {setting('moments', 'variance')}, fewer strata, fewer columns or a smaller k.",
            parameter="moments",
        )
    roots = np.sqrt(lengths)
    half = directions * roots
    inner, axes = _eigen(half.T @ wanted @ half)
    outer = (directions / roots) @ axes
    return np.asarray((outer * np.sqrt(inner)) @ outer.T)


def _eigen(matrix: Values) -> tuple[Values, Values]:
    """Return the eigenvalues of a covariance that are not 0, and their directions, (d, rank)."""
    lengths, directions = np.linalg.eigh((matrix + matrix.T) / 2)
    kept = lengths > _NOTHING * max(lengths[-1], 0.0)
    return lengths[kept], directions[:, kept]


def _written_back(
    of_groups: Table,
    scored: Sequence[_Scored],
    fresh: Sequence[Values],
    changed: Sequence[NDArray[np.bool_]],
    clip: Rule | None,
) -> tuple[Table, dict[Any, int]]:
    """Put scores back into columns as values, cut back by a rule where one is given; count what was cut."""
    columns, clipped = list(of_groups.columns), {}
    for one, scores, own in zip(scored, fresh, changed, strict=True):
        column = columns[one.place]
        values = np.where(own, one.unscored(scores), column.values)
        _check_finite(values[own], column.name)
        sizes = np.bincount(one.labels, minlength=values.size)
        if clip is not None:
            low, high = _bounds(one.column.cells, clip)
            clipped[column.name] = int(sizes[((values < low) | (values > high)) & own].sum())
            values = np.where(own, np.clip(values, low, high), values)
        columns[one.place] = column.with_cells(Cells(values, column.cells.states))
    return Table(tuple(columns)), _some(clipped)


def _some(counts: Mapping[Any, int]) -> dict[Any, int]:
    return {name: count for name, count in counts.items() if count}


def _check_finite(values: Values, name: Any) -> None:
    if not np.isfinite(values).all():
        raise InvalidData(
            f"with its variance kept, column {name!r} would hold values beyond the largest number (1.8e308). Leave "
            f"{setting('moments')} out, or divide the column first.",
            parameter="moments",
            columns=(name,),
        )


def _bounds(cells: Cells, rule: Rule) -> tuple[float, float]:
    """Return to what cells are cut back: the mean of the lowest values, and of the highest, of different units."""
    known = np.sort(cells.known)
    if rule.units is None:
        lowest, highest = known[: rule.fewest], known[-rule.fewest :]
    else:
        units = rule.units[cells.present]
        n_units = int(units.max()) + 1
        of_units = np.full(n_units, np.inf), np.full(n_units, -np.inf)
        np.minimum.at(of_units[0], units, cells.known)
        np.maximum.at(of_units[1], units, cells.known)
        lowest = np.sort(of_units[0][np.isfinite(of_units[0])])[: rule.fewest]
        highest = np.sort(of_units[1][np.isfinite(of_units[1])])[-rule.fewest :]
    return float((lowest / lowest.size).sum()), float((highest / highest.size).sum())


def moments_of_written(facts: MomentFacts, original: Table, written: Table, weights: Values | None) -> MomentFacts:
    """Return what became of the moments in what is written, and what was known of them already."""
    before, after, names, outside = [], [], [], {}
    for j, column in _varying(original):
        known, released = column.cells.known, written.columns[j].cells.known
        outside[column.name] = int(np.count_nonzero((released < known.min()) | (released > known.max())))
        own = moments(known)
        before.append(standardise(column.values, *own))
        after.append(standardise(written.columns[j].values, *own))
        names.append(column.name)
    variances, covariances = 0.0, 0.0
    for i in range(len(names)):
        for j in range(i + 1):
            was, now = (_covariance(one[i], one[j], weights) for one in (before, after))
            covariances = max(covariances, abs(now - was))
            if i == j and was > 0:
                variances = max(variances, abs(now - was) / was)
    return replace(
        facts,
        columns=tuple(names),
        outside=_some(outside),
        variance_error=variances,
        covariance_error=covariances,
    )


def _covariance(one: Values, other: Values, weights: Values | None) -> float:
    """Return the covariance of two columns, over the records that have both."""
    both = ~np.isnan(one) & ~np.isnan(other)
    own = np.ones(one.size) if weights is None else weights
    if not both.any():
        return 0.0
    return float(mean_and_covariance(np.array([one[both], other[both]]), own[both])[1][0, 1])
