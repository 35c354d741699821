"""Numbers: standard scores, means (or medians), squared errors."""

from typing import ClassVar

import numpy as np

from microagg.algorithms.equivalence import without_gaps
from microagg.algorithms.kernels.sums import group_sizes, rounded_group_means, rounded_weighted_means
from microagg.algorithms.scores import Sums, squares_by_sums, standardise
from microagg.base.frozen import frozen
from microagg.columns.kinds._kind import Block, Cells, Facts, Kind, Rule, enough_present, with_missing
from microagg.columns.weights import Labels, Members, Values


class NumberBlock(Block):
    """One coordinate for the value, and one for each way in which it can be missing.

    A missing value lies at the mean, one unit off the line of the others: its squared distance to them is 2 on average,
    as that of two present ones.
    """

    def __init__(self, facts: Facts, scale: str, weight: float) -> None:
        self._scale, self._factor = scale, float(np.sqrt(weight))
        self._moments = facts.moments
        self._range = (facts.lowest, facts.highest) if facts.n_known else (0.0, 0.0)
        self._states = facts.missing
        self.width = 1 + len(self._states)

    def place(self, cells: Cells, placed: Values) -> None:
        """Write the coordinates of some cells into `placed` (width, n), which is zero."""
        values = cells.values if cells.states is None else np.where(cells.present, cells.values, self._middle)
        placed[0] = self._scaled(values)
        for place, state in enumerate(self._states, 1):
            if cells.states is not None:
                placed[place] = cells.states == state
        if self._factor != 1.0:
            placed *= self._factor

    @property
    def _middle(self) -> float:
        power, mean, _ = self._moments
        return float(np.ldexp(mean, power))

    def _scaled(self, values: Values) -> Values:
        if self._scale == "none":
            return values
        if self._scale == "standard":
            return standardise(values, *self._moments)
        return to_unit_interval(values, *self._range)


def to_unit_interval(values: Values, lowest: float, highest: float) -> Values:
    """Bring values of a range to [0, 1]; those of one value to 0."""
    if lowest == highest:
        return np.zeros(values.shape[0])
    # Brought near 1 first, so that neither the width of ±1e308 overflows nor that of ±1e-308 loses digits.
    power = int(np.frexp(max(abs(lowest), abs(highest)))[1])
    low, high = np.ldexp(lowest, -power), np.ldexp(highest, -power)
    return np.asarray((np.ldexp(values, -power) - low) / (high - low))


@frozen()
class Number(Kind):
    """A quantity."""

    name: ClassVar[str] = "number"
    said: ClassVar[str] = "the mean"
    is_quantity: ClassVar[bool] = True
    is_squared: ClassVar[bool] = True

    def block(self, facts: Facts, scale: str, importance: float, spike: float) -> Block:  # noqa: ARG002
        """Place a column in space."""
        return NumberBlock(facts, scale, importance)

    def representatives(self, cells: Cells, labels: Labels, n_groups: int, rule: Rule) -> Cells:
        """Return each group's mean or median of the values that are present."""
        if cells.states is None:
            return Cells(_averages(cells.values, labels, n_groups, rule.aggregate, rule.members))
        released = enough_present(cells, labels, n_groups, rule)
        found = averages_of_present(cells, labels, n_groups, rule)
        return with_missing(cells, labels, found, released)

    def errors(self, before: Cells, after: Cells, facts: Facts) -> Values:
        """Return the squared differences of standard scores."""
        whole = before.states is None and after.states is None
        both = slice(None) if whole else before.present & after.present
        was, now = standardise(before.values[both], *facts.moments), standardise(after.values[both], *facts.moments)
        with np.errstate(over="ignore"):  # files that anybody masked may differ by any amount
            return np.asarray((was - now) ** 2)

    def base(self, facts: Facts) -> Sums[float]:
        """Return the sum of squared standard scores about their mean."""
        return (yield from squares_by_sums(facts.n_known, *facts.moments)) if facts.n_known else 0.0

    def weighted_base(self, facts: Facts, weighed: Labels, power: int) -> Sums[tuple[float, float]]:  # noqa: ARG002
        """Return the weighted sum of squared standard scores about their weighted mean, and the weight."""
        total = (yield np.ones_like) if facts.n_known else 0.0
        return (yield from squares_by_sums(total, *facts.moments)) if total > 0 else 0.0, total


def averages_of_present(cells: Cells, labels: Labels, n_groups: int, rule: Rule) -> Values:
    """Return the mean or median of what is present in each group; NaN where nothing is."""
    found = np.full(n_groups, np.nan)
    groups, own = without_gaps(labels[cells.present], n_groups)
    if groups.size:
        members = None if rule.members is None else rule.members.take(cells.present)
        found[groups] = _averages(cells.known, own, groups.size, rule.aggregate, members)
    return found


def _averages(values: Values, labels: Labels, n_groups: int, aggregate: str, members: Members | None) -> Values:
    if aggregate == "median":
        lower, upper = middles(values, labels, n_groups, members)
        return np.asarray(np.where(lower == upper, lower, lower / 2 + upper / 2))
    return group_averages(values, labels, n_groups, members)


def group_averages(values: Values, labels: Labels, n_groups: int, members: Members | None = None) -> Values:
    """Return the mean of each group, rounded once."""
    # Sums of values near the largest float overflow; those of a fraction of them do not.
    power = 100 if np.abs(values).max() > 2.0**900 else 0
    values = np.ldexp(values, -power) if power else values
    if members is None:
        means = rounded_group_means(values, labels, n_groups)
    else:
        weights = np.ldexp(members.values, -int(np.frexp(members.values.max())[1]))  # no product overflows
        means = rounded_weighted_means(values, weights, labels, n_groups)
    return np.asarray(np.ldexp(means, power) if power else means)


def middles(values: Values, labels: Labels, n_groups: int, members: Members | None = None) -> tuple[Values, Values]:
    """The two middle values of each group: the least with half of the weight up to it, and with more than half."""
    order = np.lexsort((values, labels))
    ordered = values[order]
    if members is None:
        sizes = group_sizes(labels, n_groups)
        starts = np.cumsum(sizes) - sizes
        return ordered[starts + (sizes - 1) // 2], ordered[starts + sizes // 2]
    reached = np.cumsum(members.whole[order])
    ends = reached[np.cumsum(group_sizes(labels, n_groups)) - 1]
    twice_half = np.concatenate([[0], ends[:-1]]) + ends
    return ordered[np.searchsorted(2 * reached, twice_half)], ordered[np.searchsorted(2 * reached, twice_half, "right")]
