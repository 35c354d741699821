"""What is counted of a release, part by part, and joined in any order."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg._kernels.sums import exact_digits, round_digits
from microagg.beyond._plan import Known, Plan
from microagg.evaluate.loss import InformationLoss, as_counted, loss_of_sums
from microagg.kinds._kind import with_changed
from microagg.moments import Moved
from microagg.prepare.patterns import Patterns
from microagg.release import MissingFacts
from microagg.rounding import Rounded
from microagg.table import Table


class Lost(NamedTuple):
    """What some records lose, column by column: exact sums of errors (d, digits), and counts of cells (d,)."""

    errors: NDArray[np.int64]
    changed: NDArray[np.int64]  # missing before or after only, or in another way
    filled: NDArray[np.int64]
    blanked: NDArray[np.int64]
    missing: NDArray[np.int64]  # released as missing

    def join(self, other: "Lost") -> "Lost":
        """Give what both lose."""
        return Lost(*(one + two for one, two in zip(self, other, strict=True)))


def lost_between(known: Known, before: Table, after: Table) -> Lost:
    """Compare the cells of some records with what is written of them."""
    errors, counts = [], []
    for facts, was, now in zip(known.facts, before, after, strict=True):
        errors.append(exact_digits(was.kind.errors(was.cells, now.cells, facts)))
        lacked, lacks = ~was.cells.present, ~now.cells.present
        counts.append(
            [
                was.kind.changed(was.cells, now.cells),
                np.count_nonzero(lacked & ~lacks),
                np.count_nonzero(lacks & ~lacked),
                np.count_nonzero(lacks),
            ]
        )
    return Lost(np.array(errors), *np.array(counts, dtype=np.int64).T)


class Figures(NamedTuple):
    """What is known of masked blocks: the groups, and by the columns' numbers how rounding moved totals."""

    n_groups: int
    moved: dict[int, Moved]

    def join(self, other: "Figures") -> "Figures":
        """Give the figures of both."""
        moved = {j: own.join(other.moved[j]) for j, own in self.moved.items()}
        return Figures(self.n_groups + other.n_groups, moved)


class Outcome(NamedTuple):
    """What is known when a file has been masked."""

    plan: Plan
    known: Known
    n_records: int
    n_blocks: int
    k_achieved: int  # counted on what was written
    figures: Figures
    lost: Lost
    patterns: Patterns  # of combinations of strata and what is missing

    @property
    def information(self) -> InformationLoss:
        """The loss, as protect() measures it."""
        errors, totals = [], []
        columns = zip(self.plan.columns, self.known.facts, self.known.bases, strict=True)
        for j, (column, facts, base) in enumerate(columns):
            lost = with_changed(round_digits(self.lost.errors[j]), base, int(self.lost.changed[j]), facts)
            complete = not facts.missing and not self.lost.missing[j]
            error, total = as_counted(column.kind, lost, base, self.n_records, complete=complete)
            errors.append(error)
            totals.append(total)
        weights = [column.importance for column in self.plan.columns]
        return loss_of_sums(errors, totals, self.plan.names, weights=weights)

    @property
    def missing(self) -> MissingFacts:
        """What became of missing values."""
        names = self.plan.names
        filled = {name: int(cells) for name, cells in zip(names, self.lost.filled, strict=True) if cells}
        blanked = {name: int(cells) for name, cells in zip(names, self.lost.blanked, strict=True) if cells}
        return MissingFacts(self.patterns.n_patterns, self.patterns.n_moved, filled, blanked)

    @property
    def rounded(self) -> dict[Any, Rounded]:
        """How each quantity was rounded."""
        powers = {j: power for j, power in enumerate(self.known.powers) if power is not None}
        return {self.plan.names[j]: Rounded(power, self.figures.moved[j].share) for j, power in powers.items()}
