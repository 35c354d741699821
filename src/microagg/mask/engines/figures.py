"""What is counted of a release, part by part, and joined in any order; and the records that it is judged by.

Where not all records fit, those of whole groups are drawn. A group is drawn by its lowest row, so that the same are
whoever masks the file, and in however many parts.
"""

import math
from collections import Counter
from collections.abc import Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microagg.algorithms.kernels.alike import mixed
from microagg.algorithms.kernels.sums import exact_digits, round_digits
from microagg.algorithms.scores import MovedTotal
from microagg.algorithms.units import Labels
from microagg.columns.kinds import Cells
from microagg.columns.kinds._kind import with_changed
from microagg.columns.patterns import Patterns
from microagg.columns.rounding import Rounded
from microagg.columns.table import Table
from microagg.files.batches import Batches
from microagg.mask.demands import check_weighing
from microagg.mask.engines.plan import Known, Plan, released
from microagg.mask.facts import MissingFacts, WeightFacts
from microagg.mask.weights import Calibrated, RoundedFacts, check_dominance, weight_facts
from microagg.measures.assess import SAMPLE_ERROR
from microagg.measures.loss import InformationLoss, as_counted, loss_of_sums


class Lost(NamedTuple):
    """What some records lose, column by column: exact sums of errors (d, digits), and counts of cells (d,)."""

    errors: NDArray[np.int64]
    changed: NDArray[np.int64]  # missing before or after only, or in another way
    filled: NDArray[np.int64]
    blanked: NDArray[np.int64]
    missing: NDArray[np.int64]  # released as missing
    weighted: NDArray[np.int64]  # exact sums of errors by weight (d, digits), where there is a weight
    weighted_changed: NDArray[np.int64]  # and of the weights of cells that changed

    def join(self, other: "Lost") -> "Lost":
        """Return what both lose."""
        return Lost(*(one + two for one, two in zip(self, other, strict=True)))


def lost_between(known: Known, before: Table, after: Table, weights: list[NDArray[np.float64]]) -> Lost:
    """Compare the cells of some records with what is written of them; the first of `weights` weights them."""
    errors, counts, weighted, of_changed = [], [], [], []
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
        if weights:
            lost, changed_weights = was.kind.weighted_errors(was.cells, now.cells, facts, weights[0])
            weighted.append(exact_digits(lost))
            of_changed.append(exact_digits(changed_weights))
    changed, filled, blanked, missing = np.array(counts, dtype=np.int64).T
    return Lost(np.array(errors), changed, filled, blanked, missing, np.array(weighted), np.array(of_changed))


GROUPS = math.ceil((50.0 / SAMPLE_ERROR) ** 2)
"""Groups that are drawn: what a share of records deviates by is half of all at most, which bounds its error."""
RECORDS = 400_000  # that are drawn, at most, about


def share_drawn(n_records: int, n_groups: int) -> float:
    """Return the share of the groups to draw: 1 where less than half would be left out."""
    share = min(GROUPS / n_groups, RECORDS / n_records)
    return share if share < 0.5 else 1.0


def drawn_rows(leads: Labels, share: float) -> Labels:
    """Return the records, by place, whose group is drawn; `leads` are the lowest rows of their groups in the file."""
    if share >= 1.0:
        return np.arange(leads.size)
    return np.flatnonzero(mixed(leads.astype(np.uint64)) < np.uint64(share * 2.0**64))


class Drawn(NamedTuple):
    """Records that were drawn: their rows in the file, the lowest of their groups, what was stored and is released."""

    rows: Labels
    leads: Labels
    before: pa.Table
    after: pa.Table

    @classmethod
    def of(cls, start: int, leads: Labels, share: float, before: pa.Table, after: pa.Table) -> "Drawn":
        """Draw from the records of a table, which begins at a row of the file."""
        own = drawn_rows(leads, share)
        return cls(start + own, leads[own], before.take(own), after.take(own))

    @classmethod
    def joined(cls, parts: Sequence["Drawn"]) -> "Drawn":
        """Return the records of all parts, which are in the order of the file."""
        rows, leads = (np.concatenate([getattr(one, name) for one in parts]) for name in ("rows", "leads"))
        before, after = (
            pa.concat_tables([getattr(one, name) for one in parts]).combine_chunks() for name in ("before", "after")
        )
        return cls(rows, leads, before, after)


class Compared:
    """What is found of records as they are written: what they lose, and those that are drawn to judge all by."""

    def __init__(self, plan: Plan, known: Known, file: Batches, share: float) -> None:
        self._plan, self._known, self._file, self._share = plan, known, file, share
        self._lost: list[Lost] = []
        self._drawn: list[Drawn] = []

    def release(self, stored: pa.Table, start: int, cells: list[Cells], leads: Labels) -> pa.Table:
        """Return what is released of a table, which begins at a row of the file; `leads` are as in `Drawn`."""
        plan, known = self._plan, self._known
        table = self._file.typed(stored)
        fresh = released(plan, known, table, cells)
        if table.num_rows:
            self._drawn.append(Drawn.of(start, leads, self._share, stored, fresh))
            self._lost.append(lost_between(known, plan.coded(table), plan.coded(fresh), plan.weights(cells)))
        return fresh

    @property
    def found(self) -> tuple[Lost, "Drawn"]:
        """What all records lose, and those that were drawn of them."""
        return reduce(Lost.join, self._lost), Drawn.joined(self._drawn)


class Figures(NamedTuple):
    """What is known of masked blocks: the groups, and by the columns' numbers how rounding moved totals.

    `dominated` counts the groups in which a weight was cut, and `cut` says how that changed totals; `sizes` counts the
    groups of each size, and `moves` those that were tried to refine them; `light` are groups in which too few records,
    or units, weigh something.
    """

    n_groups: int
    moved: dict[int, MovedTotal]
    dominated: int
    cut: dict[int, MovedTotal]
    sizes: Counter[int]
    moves: int = 0
    light: int = 0

    def check(self, plan: Plan) -> None:
        """Refuse groups whose weighted means are those of too few, or almost one member's value."""
        of_units = plan.unit is not None
        check_weighing(self.light, self.n_groups, plan.k, of_units=of_units)
        check_dominance(self.dominated, self.n_groups, plan.weighing, of_units=of_units)

    def join(self, other: "Figures") -> "Figures":
        """Return the figures of both."""
        moved = {j: own.join(other.moved[j]) for j, own in self.moved.items()}
        cut = {j: own.join(other.cut[j]) for j, own in self.cut.items()}
        n_groups, dominated, moves, light = (
            getattr(self, name) + getattr(other, name) for name in ("n_groups", "dominated", "moves", "light")
        )
        return Figures(n_groups, moved, dominated, cut, self.sizes + other.sizes, moves, light)


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
    drawn: Drawn  # to judge the release by
    calibrated: Calibrated | None = None
    rounded_weights: RoundedFacts | None = None

    @property
    def information(self) -> InformationLoss:
        """The loss, as protect() measures it."""
        found = []
        columns = zip(self.plan.columns, self.known.facts, self.known.bases, strict=True)
        for j, (column, facts, base) in enumerate(columns):
            lost = with_changed(
                round_digits(self.lost.errors[j]), base, int(self.lost.changed[j]), max(1, facts.n_known)
            )
            complete = not facts.missing and not self.lost.missing[j]
            found.append(as_counted(column.kind, lost, base, self.n_records, complete=complete))
        return self._information(found)

    def _information(self, found: list[tuple[float, float]]) -> InformationLoss:
        """Return the loss, by the errors of each column and what they are compared with."""
        errors, totals = zip(*found, strict=True)
        weights = [column.importance for column in self.plan.columns]
        return loss_of_sums(errors, totals, self.plan.names, weights=weights)

    @property
    def weights(self) -> WeightFacts | None:
        """What weights did, as protect() reports it; None if none is used."""
        if not self.plan.weighing.used:
            return None
        found = []
        for j, (column, (base, total)) in enumerate(zip(self.plan.columns, self.known.weighted_bases, strict=True)):
            changed = round_digits(self.lost.weighted_changed[j])
            lost = with_changed(round_digits(self.lost.weighted[j]), base, changed, total)
            found.append(as_counted(column.kind, lost, base, self.n_records, complete=False))
        moved = {self.plan.names[j]: own for j, own in self.figures.cut.items()}
        return weight_facts(
            self._information(found), self.figures.dominated, moved, self.calibrated, self.rounded_weights
        )

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
