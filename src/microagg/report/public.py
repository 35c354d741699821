"""What of loss may stand in the public report: nothing that one group of records could have made.

The masked file is public, and with it the variation between groups. A column's loss adds what varied inside them. Where
one group makes much of the column, that is nearly that group's own: five awards of 100, and one of 500 beside four of
nothing, are released alike, and the loss, even in a word, tells which it was.

So the loss of a column is told only if no group could make more than a small loss by itself: if, all its members but
one being average and that one having the rest, and nothing else varying inside any group, the column's loss were still
called small. Then "small" bounds nobody who stands out of his group, and anything more is never the doing of one group.
What is told is decided by the masked file alone, so that the decision tells nothing either.
"""

import numpy as np
from numpy.typing import NDArray

from microagg.report.figures import LOSS_SCALE, LOSS_WORDS, Judged, correlation_words, loss_word
from microagg.report.parts import ColumnLoss, Loss
from microagg.report.text import shown

NOT_TOLD = "not told"
_SMALL = LOSS_WORDS[0][0]
_CORRELATION_STEPS = (0.1, 0.2)
"""Coarser than inside the house: a group whose own loss is small moves no correlation by 0.1."""


def told_columns(release: Judged) -> NDArray[np.bool_]:
    """Tell for each masked column whether its loss may be public."""
    _, masked = release._both()
    if release.recipe.aggregate == "median":  # behind which a member may be as far away as he likes
        return np.zeros(len(masked), dtype=bool)
    labels = release.groups if release.groups.ndim == 2 else np.broadcast_to(release.groups[:, None], masked.T.shape)
    return np.array([_most_alone(column, own) < _SMALL for column, own in zip(masked, labels.T, strict=True)])


def _most_alone(masked: NDArray[np.float64], labels: NDArray[np.int64]) -> float:
    """Give the highest loss, in percent, that one group could make by itself; 100 where nothing varies."""
    sizes = np.bincount(labels)
    values = np.ldexp(masked, -int(np.frexp(np.abs(masked).max())[1]))  # no square overflows
    released = np.zeros(sizes.size)
    released[labels] = values  # one value a group
    centred = released - np.average(released, weights=sizes)
    between = sizes * centred**2
    total = float(between.sum())
    if total == 0 or released.max() == released.min():
        return 100.0
    # All members but one average, and that one with the rest: s times the group's distance from the mean.
    inside = float(((sizes - 1) * between).max())
    return 100.0 * inside / (inside + total)


def public_loss_of(release: Judged) -> Loss:
    """Give the loss in words, overall and of each column, where it may be told."""
    lost = release.information.per_column
    told = told_columns(release)
    columns = tuple(
        ColumnLoss(shown(name), loss_word(percent) if may else NOT_TOLD)
        for (name, percent), may in zip(lost.items(), told, strict=True)
    )
    # Every column that varies counts alike in the loss overall; a column that is not told must not show in it.
    known = [percent for percent, may in zip(lost.values(), told, strict=True) if may]
    word = loss_word(sum(known) / len(known)) if known else NOT_TOLD
    return Loss(word, None, LOSS_SCALE, (), columns, len(known))


def public_change_of_correlations(release: Judged) -> str:
    """Give the mean change of a correlation between columns whose loss is told, in words; empty where there is none."""
    told = np.flatnonzero(told_columns(release))
    if told.size < 2:
        return ""
    change = np.abs(release.loss.correlations[np.ix_(told, told)])
    return correlation_words(float(change[np.triu_indices(told.size, 1)].mean()), _CORRELATION_STEPS)
