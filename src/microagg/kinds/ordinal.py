"""Ordered categories: standard scores of the levels' numbers, medians, absolute errors."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from microagg.kinds._kind import (
    Block,
    Cells,
    Facts,
    Kind,
    Labels,
    Rule,
    Values,
    enough_present,
    with_missing,
)
from microagg.kinds.number import NumberBlock
from microagg.moments import Sums


@dataclass(frozen=True)
class Ordinal(Kind):
    """Categories with an order; a cell is the number of its level, from 0."""

    n_levels: int = 0

    name: ClassVar[str] = "ordinal"
    said: ClassVar[str] = "the median level"

    def counted(self, known: Values) -> Labels:
        """Count the cells of each level."""
        return np.bincount(known.astype(np.int64), minlength=self.n_levels)

    def block(self, facts: Facts, scale: str, importance: float, spike: float) -> Block:  # noqa: ARG002
        """Place a column in space."""
        return NumberBlock(facts, scale, importance)

    def representatives(self, cells: Cells, labels: Labels, n_groups: int, rule: Rule) -> Cells:
        """Give each group's median level; of two middle ones that nearer to the mean, then the lower."""
        found = np.full(n_groups, np.nan)
        groups, own = np.unique(labels[cells.present], return_inverse=True)
        if groups.size:
            found[groups] = median_levels(cells.known, np.asarray(own, dtype=np.int64), groups.size)
        return with_missing(cells, labels, found, enough_present(cells, labels, n_groups, rule))

    def errors(self, before: Cells, after: Cells, facts: Facts) -> Values:  # noqa: ARG002
        """Give the absolute differences of levels."""
        both = before.present & after.present
        return np.asarray(np.abs(before.values[both] - after.values[both]))

    def base(self, facts: Facts) -> Sums[float]:
        """Give the sum of absolute differences to the median level."""
        yield from ()  # the counts say it
        if facts.n_known == 0:
            return 0.0
        levels, n = np.arange(facts.counts.size), facts.n_known
        reached = np.cumsum(facts.counts)
        lower, upper = np.searchsorted(reached, [(n - 1) // 2, n // 2], side="right")
        nearer_to_upper = 2 * int(levels @ facts.counts) > n * int(lower + upper)
        return float(np.abs(levels - (upper if nearer_to_upper else lower)) @ facts.counts)


def median_levels(values: Values, labels: Labels, n_groups: int) -> Values:
    """Give the median level of each group; of two middle ones that nearer to the mean, then the lower."""
    ordered = values[np.lexsort((values, labels))]
    sizes = np.bincount(labels, minlength=n_groups)
    starts = np.cumsum(sizes) - sizes
    lower, upper = ordered[starts + (sizes - 1) // 2], ordered[starts + sizes // 2]
    # Levels are whole numbers: twice the sum against the sum of both middles, without a division.
    sums = np.bincount(labels, weights=values, minlength=n_groups)
    return np.asarray(np.where(2.0 * sums > sizes * (lower + upper), upper, lower))
