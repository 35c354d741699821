"""What every kind of column can do: be placed in space, be represented by one value, and be judged."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
States = NDArray[np.uint8]
Labels = NDArray[np.int64]

FEWEST = 3
"""A value of fewer members tells one of them what the others have: below this, or k, it is not released."""


class Cells(NamedTuple):
    """Cells of a column: numbers or codes, NaN where missing, and how each is missing.

    `states` is None where nothing is missing; else 0 where a value is present, 1 where the cell is empty, and 2, 3, ...
    for each code that stands for a kind of missing value.
    """

    values: Values
    states: States | None = None

    @property
    def present(self) -> NDArray[np.bool_]:
        """Where there is a value."""
        return np.ones(self.values.size, dtype=bool) if self.states is None else self.states == 0

    @property
    def known(self) -> Values:
        """The values that are present."""
        return self.values if self.states is None else self.values[self.states == 0]

    def take(self, rows: Labels) -> "Cells":
        """Give the cells of some rows."""
        return Cells(self.values[rows], None if self.states is None else self.states[rows])

    @property
    def classes(self) -> Values:
        """One number for each cell, equal where cells are: missing ones are equal in the same state only."""
        if self.states is None:
            return self.values + 0.0  # no negative zero
        # Infinity is never a value: it is refused when a file is read.
        found = np.where(self.states == 0, self.values + 0.0, -np.inf)
        apart = self.states > 1
        if apart.any():
            # Numbers beyond all values: their order does not matter, only that they differ.
            found[apart] = np.nextafter(np.finfo(np.float64).max, 0) - 2.0**971 * self.states[apart].astype(np.float64)
        return np.asarray(found)


class Corners(NamedTuple):
    """The places of categories: one coordinate each, of which a record has one that is not 0."""

    categories: int
    height: float  # that one coordinate


class Block(ABC):
    """The place of one column in space, by constants of the whole file: other records can be placed by the same.

    A block has numbers, each a coordinate; or, where it has `corners`, a code for each of them.
    """

    width: int
    corners: tuple[Corners, ...] = ()

    @abstractmethod
    def place(self, cells: Cells, placed: Values) -> None:
        """Write the numbers or codes of some cells into `placed` (width, n), which is zero."""


@dataclass(frozen=True)
class Rule:
    """How groups are represented.

    Attributes
    ----------
    k : int
    aggregate : str
        "mean" or "median", of quantities.
    nominal : str
        "mode", "balanced" or "draw".
    spike_totals : str
        "safe": a spike stands where fewer than three members are off it; "exact": where all have it.
    seed : int
        Of "draw".
    """

    k: int
    aggregate: str = "mean"
    nominal: str = "mode"
    spike_totals: str = "safe"
    seed: int = 0

    @property
    def fewest(self) -> int:
        """The fewest members whose mean may be released."""
        return min(self.k, FEWEST)


class Kind(ABC):
    """A kind of column.

    A kind that knows more of its column (the levels, the spike, the taxonomy) is an instance that holds it; `name` is
    the word for it in a recipe.
    """

    name: ClassVar[str]
    said: ClassVar[str]  # what a group releases, in words
    is_quantity: ClassVar[bool] = False  # means, quantiles and correlations can be taken of it
    is_squared: ClassVar[bool] = False  # its loss is of squares of standard scores
    is_ordered: ClassVar[bool] = True

    @abstractmethod
    def block(self, cells: Cells, scale: str, importance: float, spike: float) -> Block:
        """Place a column in space: squared distances add up to its share of the distance of two records."""

    @abstractmethod
    def representatives(self, cells: Cells, labels: Labels, n_groups: int, rule: Rule) -> Cells:
        """Give what each group releases."""

    @abstractmethod
    def loss(self, before: Cells, after: Cells) -> tuple[float, float]:
        """Give what a release loses, and what one value for all would lose, in the column's own terms."""


def state_of_groups(states: States, labels: Labels, n_groups: int) -> States:
    """Give the commonest way in which each group's missing cells are missing; the lower of two; 0 where none is."""
    n_states = int(states.max()) + 1
    counts = np.bincount(labels * n_states + states, minlength=n_groups * n_states).reshape(n_groups, n_states)
    counts[:, 0] = 0
    return np.asarray(np.where(counts.any(axis=1), counts.argmax(axis=1), 0), dtype=np.uint8)


def enough_present(cells: Cells, labels: Labels, n_groups: int, rule: Rule) -> NDArray[np.bool_]:
    """Tell which groups release a value: at least half of the members, and so many that none gives another away."""
    sizes = np.bincount(labels, minlength=n_groups)
    present = np.bincount(labels[cells.present], minlength=n_groups)
    return np.asarray((2 * present >= sizes) & (present >= rule.fewest))


def with_missing(cells: Cells, labels: Labels, of_groups: Values, released: NDArray[np.bool_]) -> Cells:
    """Give the values of groups, missing where a group releases none."""
    if cells.states is None:
        return Cells(of_groups)
    if released.all():
        return Cells(of_groups)
    states = np.where(released, 0, state_of_groups(cells.states, labels, released.size)).astype(np.uint8)
    return Cells(np.where(released, of_groups, np.nan), states)


def lost_with_missing(before: Cells, after: Cells, lost: float, base: float) -> tuple[float, float]:
    """Add what cells cost that became missing, or stopped being so: as much as one value for all, on average."""
    if before.states is None and after.states is None:
        return lost, base
    was, now = before.present, after.present
    same = was == now
    if before.states is not None and after.states is not None:
        same &= was | (before.states == after.states)
    changed = int(np.count_nonzero(~same))
    return lost + changed * base / max(1, int(np.count_nonzero(was))), base
