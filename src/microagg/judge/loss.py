"""What masking cost: overall, column by column, in distributions and in correlations."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from microagg.columns import frames
from microagg.judge.bound import judged_bound
from microagg.judge.drawn import MOST_DRAWN
from microagg.judge.names import shown
from microagg.judge.parts import ColumnLoss, Correlations, Loss, Moved, finite
from microagg.measures.columns import Everybody, changes_of
from microagg.measures.utility import QUANTILES
from microagg.work import Progress, stage

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


def moved(mean: float, steps: Sequence[float] = _CORRELATION_STEPS) -> Moved:
    """Return the mean change of a correlation as less than some step, or more than all."""
    limit = next((step for step in steps if mean < step), None)
    return Moved(steps[-1], less=False) if limit is None else Moved(limit, less=True)
