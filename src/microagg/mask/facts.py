"""What was done to missing values and to weights, beside the release itself."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any

import numpy as np

from microagg.base.frozen import ReadOnly, frozen
from microagg.checks import shown_name
from microagg.columns.table import Table
from microagg.measures.loss import InformationLoss

_MOST_NAMED = 3  # columns that a line names


@frozen()
class MissingFacts(ReadOnly):
    """What became of missing values; not for publication.

    Attributes
    ----------
    patterns : int
        Different sets of missing columns; 0 where records were not grouped by them.
    moved : int
        Records of a pattern rarer than k, which joined another.
    filled, blanked : mapping
        For each column with any: cells that were missing and are released with a value, and the other way.
    """

    patterns: int = 0
    moved: int = 0
    filled: Mapping[Any, int] = field(default_factory=dict)
    blanked: Mapping[Any, int] = field(default_factory=dict)

    @classmethod
    def between(cls, original: Table, written: Table, patterns: int, moved: int) -> "MissingFacts":
        """Count the cells of two tables that differ in being missing."""
        filled, blanked = {}, {}
        for before, after in zip(original, written, strict=True):
            if before.cells.states is None and after.cells.states is None:
                continue
            was, now = ~before.cells.present, ~after.cells.present
            filled[before.name] = int(np.count_nonzero(was & ~now))
            blanked[before.name] = int(np.count_nonzero(now & ~was))
        return cls(
            patterns,
            moved,
            {name: cells for name, cells in filled.items() if cells},
            {name: cells for name, cells in blanked.items() if cells},
        )


@frozen()
class OnceFacts(ReadOnly):
    """Columns that were masked once for each unit, as all its rows have the same value; not for publication.

    Attributes
    ----------
    columns : tuple
    loss_by_row : float
        The information loss, in percent, if each row had been masked with its own group.
    loss : float
        That of the groups that were formed; both before groups are refined.
    """

    columns: tuple[Any, ...]
    loss_by_row: float
    loss: float


@frozen()
class WholeFile(ReadOnly):
    """What is known of a whole file, where a release holds the records of some groups alone, drawn to judge it.

    Attributes
    ----------
    records : int
    group_sizes : mapping
        How many groups have each size.
    strata : tuple of int
        The records of each stratum.
    missing_cells : int
        That are released in masked columns.
    counts : mapping
        For each masked column of categories, how many records have each.
    states : mapping
        For each masked column, the ways in which cells are missing that occur, by number.
    """

    records: int
    group_sizes: Mapping[int, int]
    strata: tuple[int, ...] = ()
    missing_cells: int = 0
    counts: Mapping[Any, Any] = field(default_factory=dict)
    states: Mapping[Any, frozenset[int]] = field(default_factory=dict)


@frozen()
class WeightFacts(ReadOnly):
    """What weights did to a release; not for publication.

    Attributes
    ----------
    information : InformationLoss
        With weights in all sums.
    dominated : int
        Groups in which one record, or unit where one is named, had more than 0.8 of the weight, which was cut to that
        share.
    moved : mapping
        For each quantity, by how much of itself its weighted total moved by that; empty where nothing was cut.
    factors : tuple of two floats or None
        The least and the most by which calibration multiplied a released weight.
    missed : float
        How far a total that calibration is to keep is from what it was, at most, as a share of all records' weight: not
        0 where no group releases some category.
    steps : mapping
        For each weight that is released by group, what it was rounded to multiples of.
    rounding_moved : mapping
        By which share that moved the sum of each such weight, the weighted total of each quantity, and of a column that
        is calibrated by, a category's weight at most, as a share of all records'.
    revealing : mapping
        For each weight that is released by group, the groups whose weight still shows which categories their members
        have in a column of the design (`measures.weights.reveal_categories`).
    """

    information: InformationLoss
    dominated: int = 0
    moved: Mapping[Any, float] = field(default_factory=dict)
    factors: tuple[float, float] | None = None
    missed: float = 0.0
    steps: Mapping[Any, float] = field(default_factory=dict)
    rounding_moved: Mapping[Any, float] = field(default_factory=dict)
    revealing: Mapping[Any, int] = field(default_factory=dict)


def beside_loss(information: InformationLoss, weights: WeightFacts | None) -> str:
    """Return what must be read beside a loss: that of columns which are not in it, and the loss by weight."""
    return f"{uncounted_words(information)}{_by_weight(weights)}"


def uncounted_words(information: InformationLoss) -> str:
    """Return what columns of importance 0 lost, which is not in the loss; empty where there are none."""
    columns = sorted(information.uncounted.items(), key=lambda one: -one[1])
    if not columns:
        return ""
    named = ", ".join(f"{shown_name(name)} {percent:.2f} %" for name, percent in columns[:_MOST_NAMED])
    more = f" and {len(columns) - _MOST_NAMED} more" if len(columns) > _MOST_NAMED else ""
    return f", without what columns of importance 0 lost: {named}{more}"


def _by_weight(weights: WeightFacts | None) -> str:
    """Return the loss by weight beside that without, and how far totals moved where weights were cut."""
    if weights is None:
        return ""
    cut = ""
    if weights.dominated:
        most = 100.0 * max(map(abs, weights.moved.values()), default=0.0)
        groups = "1 group" if weights.dominated == 1 else f"{weights.dominated} groups"
        cut = f"; weights cut in {groups}, weighted totals changed by up to {most:.2g} %"
    return f" ({weights.information.percent:.2f} % by weight{cut})"
