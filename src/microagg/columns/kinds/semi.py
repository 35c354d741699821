"""Semi-continuous columns: one value, mostly zero, that many records have, and a quantity otherwise."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from microagg.base.frozen import frozen
from microagg.columns.kinds._kind import Block, Cells, Facts, Rule, enough_present, with_missing
from microagg.columns.kinds.number import Number, NumberBlock, averages_of_present
from microagg.columns.weights import Labels, Values, has_most
from microagg.errors import InvalidData


class SemiBlock(Block):
    """Half of the column for the value, and half for being the spike; then the ways in which it can be missing."""

    def __init__(self, facts: Facts, at: float, scale: str, importance: float, spike: float) -> None:
        self._at = at
        self._value = NumberBlock(facts.of_present, scale, importance / 2.0)
        self._spike = NumberBlock(Facts.of_counts(facts.counts), scale, importance * spike / 2.0)
        self._missing = NumberBlock(facts, scale, importance)
        self.width = 1 + self._missing.width

    def place(self, cells: Cells, placed: Values) -> None:
        """Write the coordinates of some cells into `placed` (width, n), which is zero."""
        present = cells.present
        known = np.zeros((2, np.count_nonzero(present)))
        self._value.place(Cells(cells.known), known[:1])
        self._spike.place(Cells(np.asarray(cells.known == self._at, dtype=np.float64)), known[1:])
        # The value's own coordinate of this block is written over.
        self._missing.place(cells, placed[1:])
        placed[:2] = 0.0
        placed[:2, present] = known


def _one_amount(cells: Cells, off: NDArray[np.bool_], labels: Labels, n_groups: int, rule: Rule) -> NDArray[np.bool_]:
    """Return in which groups with spikes one member, or unit, has all but the whole weight of those off the spike.

    Weights are known, so that the mean of all would give its amount away. Where nobody is on the spike, weights were
    cut before.
    """
    weights = np.ones(labels.size) if rule.members is None else rule.members.units.astype(np.float64)
    spikes = np.bincount(labels[cells.present & ~off], minlength=n_groups) > 0
    return spikes & has_most(np.where(off, weights, 0.0), labels, n_groups, rule.units)


@frozen()
class Semi(Number):
    """A quantity of which many records have one value, the spike."""

    spike: float = 0.0

    name: ClassVar[str] = "semi"
    said: ClassVar[str] = "the spike, or the mean of all"

    def counted(self, known: Values) -> Labels:
        """Count the cells off the spike and on it."""
        on = int(np.count_nonzero(known == self.spike))
        return np.array([known.size - on, on])

    def count(self, cells: Cells, units: NDArray[Any] | None = None) -> Facts:
        """Return what is known of some cells, and who is off the spike and on it, by units where these are known."""
        return super().count(cells, units).held(cells.known == self.spike, cells, units)

    def check_spike(self, facts: Facts, rule: Rule) -> None:
        """Refuse a spike that too few of the file have: released for others, it would show what these have."""
        if facts.n_holders[1] < rule.fewest:
            whose = "records" if facts.holders is None else "units"
            raise InvalidData(
                f"fewer than {rule.fewest} {whose} have the spike of column {rule.column!r}, so a released spike would "
                f"show what they have. Name in kinds a value that many have, or mask the column as a number.",
                parameter="kinds",
                columns=(rule.column,),
            )

    def block(self, facts: Facts, scale: str, importance: float, spike: float) -> Block:
        """Place a column in space."""
        return SemiBlock(facts, self.spike, scale, importance, spike)

    def representatives(self, cells: Cells, labels: Labels, n_groups: int, rule: Rule) -> Cells:
        """Return the spike where too few members are off it, and else the mean of all members, spikes included."""
        means = averages_of_present(cells, labels, n_groups, rule)
        off = cells.present & (cells.values != self.spike)
        if rule.spike_totals == "safe":
            some = rule.hides(labels, n_groups, off)
            some &= ~_one_amount(cells, off, labels, n_groups, rule)
        else:
            some = np.bincount(labels[off], minlength=n_groups) > 0
        of_groups = np.where(some, means, self.spike)
        return with_missing(cells, labels, of_groups, enough_present(cells, labels, n_groups, rule))
