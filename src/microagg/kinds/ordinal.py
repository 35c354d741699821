"""Ordered categories: standard scores of the levels' numbers, medians, absolute errors."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from microagg.kinds._kind import (
    Block,
    Cells,
    Kind,
    Labels,
    Rule,
    Values,
    enough_present,
    lost_with_missing,
    with_missing,
)
from microagg.kinds.number import NumberBlock


@dataclass(frozen=True)
class Ordinal(Kind):
    """Categories with an order; a cell is the number of its level, from 0."""

    n_levels: int = 0

    name: ClassVar[str] = "ordinal"
    said: ClassVar[str] = "the median level"

    def block(self, cells: Cells, scale: str, importance: float, spike: float) -> Block:  # noqa: ARG002
        """Place a column in space."""
        return NumberBlock(cells, scale, importance)

    def representatives(self, cells: Cells, labels: Labels, n_groups: int, rule: Rule) -> Cells:
        """Give each group's median level; of two middle ones that nearer to the mean, then the lower."""
        found = np.full(n_groups, np.nan)
        groups, own = np.unique(labels[cells.present], return_inverse=True)
        if groups.size:
            found[groups] = median_levels(cells.known, np.asarray(own, dtype=np.int64), groups.size)
        return with_missing(cells, labels, found, enough_present(cells, labels, n_groups, rule))

    def loss(self, before: Cells, after: Cells) -> tuple[float, float]:
        """Give the sum of absolute differences of levels, and that to one level for all."""
        known = before.known
        if known.size == 0:
            return lost_with_missing(before, after, 0.0, 0.0)
        both = before.present & after.present
        lost = float(np.abs(before.values[both] - after.values[both]).sum())
        middle = median_levels(known, np.zeros(known.size, dtype=np.int64), 1)[0]
        return lost_with_missing(before, after, lost, float(np.abs(known - middle).sum()))


def median_levels(values: Values, labels: Labels, n_groups: int) -> Values:
    """Give the median level of each group; of two middle ones that nearer to the mean, then the lower."""
    ordered = values[np.lexsort((values, labels))]
    sizes = np.bincount(labels, minlength=n_groups)
    starts = np.cumsum(sizes) - sizes
    lower, upper = ordered[starts + (sizes - 1) // 2], ordered[starts + sizes // 2]
    # Levels are whole numbers: twice the sum against the sum of both middles, without a division.
    sums = np.bincount(labels, weights=values, minlength=n_groups)
    return np.asarray(np.where(2.0 * sums > sizes * (lower + upper), upper, lower))
