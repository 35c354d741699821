"""Ordered categories: standard scores of the levels' numbers, medians, absolute errors."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.equivalence import without_gaps
from microagg.algorithms.scores import Sums
from microagg.base.frozen import frozen
from microagg.columns.kinds._kind import Block, Cells, Facts, Kind, Rule, enough_present, with_missing
from microagg.columns.kinds.number import NumberBlock, middles
from microagg.columns.weights import Labels, Members, Values
from microagg.errors import InvalidData


@frozen()
class Ordinal(Kind):
    """Categories with an order; a cell is the number of its level, from 0."""

    n_levels: int = 0

    name: ClassVar[str] = "ordinal"
    said: ClassVar[str] = "the median level"

    def counted(self, known: Values) -> Labels:
        """Count the cells of each level."""
        return np.bincount(known.astype(np.int64), minlength=self.n_levels)

    def count(self, cells: Cells, units: NDArray[Any] | None = None) -> Facts:
        """Return what is known of some cells, and who has each level, by units where these are known."""
        return super().count(cells, units).held(cells.known, cells, units)

    def block(self, facts: Facts, scale: str, importance: float, spike: float) -> Block:  # noqa: ARG002
        """Place a column in space."""
        return NumberBlock(facts, scale, importance)

    def representatives(self, cells: Cells, labels: Labels, n_groups: int, rule: Rule) -> Cells:
        """Return each group's median level, or the nearest that is not rare.

        Of two middle ones it is that nearer to the mean, then the lower; of two as near, the lower.
        """
        found = np.full(n_groups, np.nan)
        groups, own = without_gaps(labels[cells.present], n_groups)
        if groups.size:
            members = None if rule.members is None else rule.members.take(cells.present)
            levels = median_levels(cells.known, own, groups.size, members)
            facts = self.count(cells, rule.units) if rule.facts is None else rule.facts
            found[groups] = _nearest_common(facts, rule)[levels.astype(np.int64)]
        return with_missing(cells, labels, found, enough_present(cells, labels, n_groups, rule))

    def errors(self, before: Cells, after: Cells, facts: Facts) -> Values:  # noqa: ARG002
        """Return the absolute differences of levels."""
        both = before.present & after.present
        return np.asarray(np.abs(before.values[both] - after.values[both]))

    def base(self, facts: Facts) -> Sums[float]:
        """Return the sum of absolute differences to the median level."""
        yield from ()  # the counts say it
        return float(_about_median(facts.counts))

    def weighed(self, cells: Cells, units: Labels, facts: Facts) -> Labels:  # noqa: ARG002
        """Return what the cells of each level weigh."""
        levels = cells.known.astype(np.int64)
        return np.bincount(levels, weights=units[cells.present], minlength=self.n_levels).astype(np.int64)

    def weighted_base(self, facts: Facts, weighed: Labels, power: int) -> Sums[tuple[float, float]]:  # noqa: ARG002
        """Return the weighted sum of absolute differences to the weighted median level, and the weight."""
        yield from ()  # what the levels weigh says it
        return float(np.ldexp(_about_median(weighed), -power)), float(np.ldexp(int(weighed.sum()), -power))


def _nearest_common(facts: Facts, rule: Rule) -> Labels:
    """Return, for each level, the nearest that enough records, or units, of the file have."""
    common, levels = np.flatnonzero(facts.n_holders >= rule.fewest), np.arange(facts.counts.size)
    if common.size == 0:
        whose = "records" if facts.holders is None else "units"
        raise InvalidData(
            f"column {rule.column!r} has no level that {rule.fewest} {whose} or more have, so a released level would "
            f"show who has it. Drop the column, or join its levels by recoding.",
            columns=(rule.column,),
        )
    after = np.searchsorted(common, levels)
    lower, upper = common[np.maximum(after - 1, 0)], common[np.minimum(after, common.size - 1)]
    return np.where(np.abs(upper - levels) < np.abs(levels - lower), upper, lower)


def _about_median(counts: Labels) -> int:
    """Return the sum of absolute differences to the median of levels that occur, or weigh, so much."""
    levels, n, reached = np.arange(counts.size), int(counts.sum()), np.cumsum(counts)
    if n == 0:
        return 0
    lower = np.searchsorted(2 * reached, n)
    upper = np.searchsorted(2 * reached, n, side="right")
    nearer_to_upper = 2 * int(levels @ counts) > n * int(lower + upper)
    return int(np.abs(levels - (upper if nearer_to_upper else lower)) @ counts)


def median_levels(values: Values, labels: Labels, n_groups: int, members: Members | None = None) -> Values:
    """Return the median level of each group; of two middle ones that nearer to the mean, then the lower."""
    lower, upper = middles(values, labels, n_groups, members)
    units = np.ones(values.size, dtype=np.int64) if members is None else members.whole
    # Levels are whole numbers: twice the sum against the sum of both middles, without a division.
    beyond = np.zeros(n_groups, dtype=np.int64)
    np.add.at(beyond, labels, units * (2 * values - (lower + upper)[labels]).astype(np.int64))
    return np.asarray(np.where(beyond > 0, upper, lower))
