"""What of loss may be in the public report: nothing that one group of records could have caused.

The masked file is public, and with it the variation between groups. A column's loss adds what varied inside them. Where
one group makes much of the column, that is nearly that group's own: five awards of 100, and one of 500 beside four of
nothing, are released with the same values, and the loss, even in a word, shows which it was.

So the loss of a column is shown only if no group could make more than a small loss by itself: if, all its members but
one being average and that one having the rest, and nothing else varying inside any group, the column's loss were still
called small. Then "small" discloses nothing of a member who stands out of a group, and anything more is never caused by
one group. Only the masked file decides what is shown, so that the decision discloses nothing either.

Where variances are kept, groups release no means, and nothing of this can be worked out from the masked file. The loss
would also show how far means were spread, and so how much varies inside groups. It is not shown of such columns.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from microagg.columns.kinds import Number, Semi
from microagg.judge.parts import ColumnLoss, Loss
from microagg.judge.run import JudgedRun
from microagg.judge.text import shown
from microagg.judge.topics.loss import LOSS_WORDS, loss_word, moved

if TYPE_CHECKING:
    from microagg.release import Release

NOT_TOLD = "not shown"
_SMALL = LOSS_WORDS[0][0]
_CORRELATION_STEPS = (0.1, 0.2)
"""Coarser than in the internal report: a group whose own loss is small moves no correlation by 0.1."""


def told_columns(release: "Release[Any]", run: JudgedRun) -> NDArray[np.bool_]:
    """Return for each masked column whether its loss may be public."""
    _, masked = release.pair
    if run.aggregate == "median":  # behind which a member may be at any distance
        return np.zeros(len(masked), dtype=bool)
    labels, weights = release.groups, None
    if run.weighted and release.pair.weights is not None:
        if run.weights_by_group:  # nobody outside knows how much a member may count
            return np.zeros(len(masked), dtype=bool)
        weights = release.pair.weights.values
    found = np.zeros(len(masked), dtype=bool)  # of what is no complete number nothing is shown
    for j, column in enumerate(masked):
        # A spike that is released in the place of up to two members off it hides them as a median does.
        hides = isinstance(column.kind, Semi) and run.spike_totals == "safe"
        hides = hides or (run.moments != "none" and type(column.kind) is Number)
        if column.kind.is_quantity and column.cells.states is None and not hides:
            own = labels if labels.ndim == 1 else np.ascontiguousarray(labels[:, j])
            found[j] = _most_alone(column.values, own, weights) < _SMALL
    return found


def _most_alone(
    masked: NDArray[np.float64], labels: NDArray[np.int64], weights: NDArray[np.float64] | None = None
) -> float:
    """Return the highest loss, in percent, that one group could make by itself; 100 where nothing varies.

    Where means are weighted, the member that weighs least can be farthest away.
    """
    sizes = np.bincount(labels)
    values = np.ldexp(masked, -int(np.frexp(np.abs(masked).max())[1]))  # no square overflows
    released = np.zeros(sizes.size)
    released[labels] = values  # one value a group
    centred = released - np.average(released, weights=sizes)
    total = float((sizes * centred**2).sum())
    if total == 0 or released.max() == released.min():
        return 100.0
    # All members but one average, and that one with the rest: s times the group's distance from the mean, where its
    # weight is 1/s of the group's.
    times = sizes.astype(np.float64)
    if weights is not None:
        lightest = np.full(sizes.size, np.inf)
        np.minimum.at(lightest, labels, weights)
        if not lightest.min() > 0:
            return 100.0
        times = np.bincount(labels, weights=weights) / lightest
    inside = float((((times - 1) ** 2 + sizes - 1) * centred**2).max())
    return 100.0 * inside / (inside + total)


def public_loss_of(release: "Release[Any]", told: NDArray[np.bool_]) -> Loss:
    """Return the loss in words, overall and of each column, where it may be shown."""
    lost = release.information.per_column
    columns = tuple(
        ColumnLoss(shown(column.name), loss_word(lost[column.name]) if may else NOT_TOLD, column.kind.name)
        for column, may in zip(release.pair.masked, told, strict=True)
    )
    # A column that is not shown must not show in the loss overall, and a word for some columns alone would contradict
    # the word for all that the internal report has.
    word = loss_word(release.information.percent) if told.all() else NOT_TOLD
    return Loss(word, None, columns, int(np.count_nonzero(told)))


def public_change_of_correlations(release: "Release[Any]", told: NDArray[np.bool_]) -> str:
    """Return the mean change of correlations of columns whose loss is shown, in coarse steps; empty without two.

    Empty too where records were left out: the change would show something of those.
    """
    if release.n_dropped:
        return ""
    names = [name for name, may in zip(release.information.per_column, told, strict=True) if may]
    places = np.array([place for place, name in enumerate(release.loss.numbers) if name in names], dtype=np.int64)
    if places.size < 2:
        return ""
    change = np.abs(release.loss.correlations[np.ix_(places, places)])
    return moved(float(change[np.triu_indices(places.size, 1)].mean()), _CORRELATION_STEPS)
