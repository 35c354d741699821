"""What masking cost: overall, column by column, in distributions and in correlations."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from microagg.checks import check_jobs
from microagg.evaluate.utility import QUANTILES
from microagg.judgement.bins import before_and_after, masked_only
from microagg.judgement.names import shown
from microagg.judgement.parts import ColumnLoss, Correlations, Distribution, Loss, Moved, finite
from microagg.judgement.run import Run
from microagg.parallel import in_parallel

if TYPE_CHECKING:
    from microagg.release import Release

MOST_DRAWN = 30
LOSS_WORDS = ((5.0, "small"), (20.0, "moderate"), (math.inf, "large"))
_CORRELATION_STEPS = (0.01, 0.05, 0.1, 0.2)


def loss_word(value: float) -> str:
    """Give a loss, in percent, in a word."""
    return next(word for limit, word in LOSS_WORDS if value < limit or limit == math.inf)


def loss_of(release: "Release[Any]") -> Loss:
    """Give the loss overall and of each column, the largest first, for the house."""
    found = release.loss
    columns = []
    for name, lost in found.per_column.items():
        moves = found.quantiles.get(name)
        if moves is None:  # a column that is no quantity
            columns.append(ColumnLoss(shown(name), loss_word(lost), finite(lost)))
            continue
        at = int(np.argmax(np.abs(moves)))
        columns.append(
            ColumnLoss(
                column=shown(name),
                word=loss_word(lost),
                percent=finite(lost),
                mean=finite(found.means[name]),
                deviation=finite(found.deviations[name]),
                quantile=finite(moves[at]),
                quantile_at=100.0 * QUANTILES[at] if moves[at] else None,
            )
        )
    columns.sort(key=lambda one: -(math.inf if one.percent is None else one.percent))
    return Loss(loss_word(found.percent), finite(found.percent), tuple(columns), len(columns))


def distributions_of(
    release: "Release[Any]", run: Run, public: bool
) -> tuple[tuple[Distribution, ...], tuple[str, ...]]:
    """Bin the masked columns, at most 30; give the names of the others."""
    both = [(one, other) for one, other in zip(*release._both(), strict=True) if one.kind.is_quantity]
    names = [shown(one.name) for one, _ in both]
    original, masked = [one.cells.known for one, _ in both], [other.cells.known for _, other in both]
    # Where there are too many, those that lost most are worth seeing.
    lost = [release.information.per_column[one.name] for one, _ in both]
    order = sorted(range(len(names)), key=lambda j: -lost[j])[:MOST_DRAWN] if len(names) > MOST_DRAWN else None
    drawn = range(len(names)) if order is None or public else order

    def one(j: int, _: Callable[[], None]) -> Distribution:
        if public:
            return masked_only(names[j], masked[j], run.k)
        return replace(before_and_after(names[j], original[j], masked[j]), lost_percent=finite(lost[j]))

    places = list(drawn)[:MOST_DRAWN]
    found = in_parallel(one, places, check_jobs(None))
    return tuple(found), tuple(name for j, name in enumerate(names) if j not in places)


def correlations_of(release: "Release[Any]") -> Correlations | None:
    """Give the change of each correlation; the matrix where it can be drawn."""
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
    """Give the mean change of a correlation as less than some step, or more than all."""
    limit = next((step for step in steps if mean < step), None)
    return Moved(steps[-1], less=False) if limit is None else Moved(limit, less=True)
