"""What masking cost: overall, by column, in distributions, correlations and moments; and the least it could cost."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from microagg.algorithms.equivalence import codes_of
from microagg.checks import check_jobs
from microagg.columns import frames
from microagg.judge.drawn import MOST_DRAWN
from microagg.judge.parts import Bound, ColumnLoss, Correlations, JudgedMove, Loss, finite
from microagg.judge.text import shown
from microagg.measures.bound import LossBound, bound_of_release
from microagg.measures.columns import Everybody, changes_of
from microagg.measures.loss import InformationLoss
from microagg.measures.utility import QUANTILES
from microagg.work import Progress, Work, stage

if TYPE_CHECKING:
    from microagg.release import Release


LOSS_WORDS = ((5.0, "small"), (20.0, "moderate"), (math.inf, "large"))
_CORRELATION_STEPS = (0.01, 0.05, 0.1, 0.2)


def loss_word(value: float) -> str:
    """Return a loss, in percent, in a word."""
    return next(word for limit, word in LOSS_WORDS if value < limit or limit == math.inf)


def loss_of(release: "Release[Any]", progress: Progress | None = None) -> Loss:
    """Return the loss overall and of each column, the largest first, for the internal report."""
    found = release.loss
    bounding, comparing = (stage(progress, number, 2) for number in range(2))
    bound = judged_bound(release, bounding)
    original, written = release._both()
    changes = changes_of(original, written, release.groups, _weights(release), comparing, _everybody(release))
    columns = []
    for column in original:
        name, lost = column.name, found.per_column[column.name]
        one = ColumnLoss(shown(name), loss_word(lost), column.kind.name, finite(lost), change=changes[name])
        moves, rounded = found.quantiles.get(name), release.rounded.get(name)
        if moves is not None:  # a quantity
            at = int(np.argmax(np.abs(moves)))
            one = replace(
                one,
                mean=finite(found.means[name]),
                deviation=finite(found.deviations[name]),
                quantile=finite(moves[at]),
                quantile_at=100.0 * QUANTILES[at] if moves[at] else None,
            )
        if rounded is not None:
            one = replace(one, step=rounded.step, rounding_moved=finite(100.0 * rounded.moved))
        columns.append(one)
    columns.sort(key=lambda one: -(math.inf if one.percent is None else one.percent))
    return Loss(loss_word(found.percent), finite(found.percent), tuple(columns), len(columns), bound)


def _everybody(release: "Release[Any]") -> Everybody | None:
    """Return the whole original, where records were left out of the release."""
    found = release._everybody
    weights = None if found is None else found.weighed.first
    return None if found is None else (found, None if weights is None else weights.values)


def _weights(release: "Release[Any]") -> tuple[Any, Any] | None:
    """Return the weights before and after masking, where what groups release is weighted."""
    if not release.recipe.weights.weighted or release._weights is None:
        return None
    before, by_group = release._weights.values, release.recipe.weights_by_group
    return before, frames.to_columns(frames.open_frame(release.data), by_group[:1])[0] if by_group else before


def correlations_of(release: "Release[Any]") -> Correlations | None:
    """Return the change of each correlation; the matrix where it can be drawn."""
    change = release.loss.correlations
    names = [shown(name) for name in release.loss.numbers]
    if len(names) < 2:
        return None
    rows, columns = np.triu_indices(len(names), 1)
    changes = change[rows, columns]
    order = np.argsort(-np.abs(changes), kind="stable")[:6]
    matrix = tuple(map(tuple, change.round(4).tolist())) if len(names) <= MOST_DRAWN else ()
    return Correlations(
        columns=tuple(names),
        change=matrix,
        largest=tuple((names[rows[i]], names[columns[i]], float(changes[i])) for i in order),
        mean=float(np.abs(changes).mean()),
    )


def moved(mean: float, steps: Sequence[float] = _CORRELATION_STEPS) -> JudgedMove:
    """Return the mean change of a correlation as less than some step, or more than all."""
    limit = next((step for step in steps if mean < step), None)
    return JudgedMove(steps[-1], less=False) if limit is None else JudgedMove(limit, less=True)


def bound_of(release: "Release[Any]", information: InformationLoss, progress: Progress | None = None) -> LossBound:
    """Return how little any grouping of the same file could lose, beside the loss of a release.

    Whatever groups release, at least k records of a stratum are released with the same values. So the bound holds for
    medians, weights, moments, rounding, units and demands too: each of them can only lose more.
    """
    recipe, units = release.recipe, release._units
    if release.whole is not None:  # neighbours in a sample are too far
        why_not = "only some of the records are in memory"
        return LossBound(None, None, "information loss", recipe.k, why_not=why_not)
    alike, strata = release.groups, recipe.roles.strata
    if units is not None and units.slots is not None:  # of whole units, rows in the same slot get the same values
        alike = codes_of(alike * (int(units.slots.max()) + 1) + units.slots)
    original = release._both()[0]
    none = np.zeros(original.n_records, dtype=np.int64)
    return bound_of_release(
        original,
        information,
        frames.category_codes(frames.open_frame(release.data), strata) if strata else none,
        alike,
        recipe.k,
        spike=recipe.masking.spike,
        weighted=release.weights is not None,
        work=Work(check_jobs(None), progress),
    )


def judged_bound(release: "Release[Any]", progress: Progress | None = None) -> Bound | None:
    """Return the bound of a release as plain values, with the sentence that says it."""
    found = release.loss.find_bound(progress)
    if found is None:
        return None
    return Bound(found.percent, None if found.reached is None else finite(found.reached), found.of, str(found))
