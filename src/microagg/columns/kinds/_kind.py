"""What every kind of column can do: be placed in space, be represented by one value, and be judged."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.kernels.sums import exact_sum, exact_sum_of_counts
from microagg.algorithms.scores import Sums, moments_by_sums, summed
from microagg.algorithms.units import held_by
from microagg.base.frozen import frozen
from microagg.columns.weights import Labels, Members, Values, Weights

States = NDArray[np.uint8]
Keys = NDArray[np.uint64]

FEWEST = 3
"""A value of fewer members shows one of them what the others have: below this, or k, it is not released.

The same holds for a category that fewer records, or units, of the file have: it would show who they are.
"""

_NOBODY = np.iinfo(np.uint64).max


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
        """Return the cells of some rows."""
        return Cells(self.values[rows], None if self.states is None else self.states[rows])

    def with_common_states(self, rare: NDArray[np.bool_]) -> "Cells":
        """Return the same with cells in states that are rare plainly missing."""
        if self.states is None or not rare.any():
            return self
        return Cells(self.values, np.where(rare[self.states], 1, self.states).astype(np.uint8))

    @classmethod
    def joined(cls, parts: "Sequence[Cells]") -> "Cells":
        """Return the cells of several parts as one."""
        values = np.concatenate([own.values for own in parts])
        if all(own.states is None for own in parts):
            return cls(values)
        return cls(values, np.concatenate([own.all_states for own in parts]))

    @property
    def all_states(self) -> States:
        """The state of each cell, where nothing is missing too."""
        return np.zeros(self.values.size, dtype=np.uint8) if self.states is None else self.states

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


@dataclass(frozen=True, eq=False)
class Facts:
    """What is known of a column over the whole file: its place in space follows from it.

    Attributes
    ----------
    states : array
        How many cells are in each state: present ones first.
    lowest, highest : float
        Of the values that are present.
    counts : array
        Of categories and levels, how many cells have each; of a semi-continuous column, how many are off and on the
        spike; empty of others.
    moments : tuple
        As `scores.moments` gives them; of categories none.
    holders : array of shape (3, categories) or None
        The lowest three units that have each of what `counts` counts, where units are known: more need not be known.
    state_holders : array of shape (3, states) or None
        The same of the ways in which cells are missing.
    """

    states: Labels
    lowest: float = np.inf
    highest: float = -np.inf
    counts: Labels = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    moments: tuple[int, float, float] = (0, 0.0, 0.0)
    holders: Keys | None = None
    state_holders: Keys | None = None

    @classmethod
    def of_counts(cls, counts: Labels) -> "Facts":
        """Return the facts of a complete column of the numbers 0, 1, ..., which occur so many times."""
        if not counts.any():
            return cls(np.zeros(1, dtype=np.int64))
        numbers = np.flatnonzero(counts).astype(np.float64)
        n, lowest, highest = int(counts.sum()), float(numbers[0]), float(numbers[-1])
        own = counts[counts > 0]
        found = summed(moments_by_sums(n, lowest, highest), lambda terms: exact_sum_of_counts(terms(numbers), own))
        return cls(np.array([n]), lowest, highest, counts, found)

    @property
    def n_records(self) -> int:
        """How many cells there are."""
        return int(self.states.sum())

    @property
    def n_known(self) -> int:
        """How many cells have a value."""
        return int(self.states[0])

    @property
    def missing(self) -> list[int]:
        """The states in which cells are missing."""
        return [int(state) for state in np.flatnonzero(self.states[1:]) + 1]

    def held(self, codes: NDArray[Any], cells: Cells, units: NDArray[Any] | None) -> "Facts":
        """The same with who has each of the codes that `counts` counts, where it is known whose the cells are."""
        if units is None:
            return self
        own = units[cells.present].astype(np.uint64)
        return replace(self, holders=_lowest_holders(codes.astype(np.int64), own, self.counts.size))

    @property
    def n_holders(self) -> Labels:
        """How many have what `counts` counts: records, or units where known, of which three are as good as more."""
        return self.counts if self.holders is None else _told(self.holders)

    def rare_states(self, fewest: int) -> NDArray[np.bool_]:
        """Return which codes for missing values fewer have: released for others, they would show who these are."""
        held = self.states if self.state_holders is None else _told(self.state_holders)
        rare = (self.states > 0) & (held < fewest)
        rare[:2] = False  # a value, and a plainly missing one
        return np.asarray(rare)

    def with_common_states(self, fewest: int) -> "Facts":
        """Return the same with cells in states that are rare plainly missing."""
        rare = self.rare_states(fewest)
        if not rare.any():
            return self
        states = np.where(rare, 0, self.states)
        states[1] += self.states[rare].sum()
        return replace(self, states=states)

    @property
    def of_present(self) -> "Facts":
        """The same of the cells that have a value."""
        return replace(self, states=self.states[:1])

    def join(self, other: "Facts") -> "Facts":
        """Return the facts of both parts of a column, which have no moments yet."""
        return Facts(
            _added(self.states, other.states),
            min(self.lowest, other.lowest),
            max(self.highest, other.highest),
            _added(self.counts, other.counts),
            holders=_joined_holders(self.holders, other.holders),
            state_holders=_joined_holders(self.state_holders, other.state_holders),
        )


def _added(one: Labels, other: Labels) -> Labels:
    longest = max(one.size, other.size)
    return np.asarray(np.pad(one, (0, longest - one.size)) + np.pad(other, (0, longest - other.size)))


def _lowest_holders(codes: Labels, units: Keys, n_codes: int) -> Keys:
    """Return the lowest three units that have each code, of records of which both are known."""
    found = np.full((FEWEST, n_codes), _NOBODY, dtype=np.uint64)
    for lowest in found:
        np.minimum.at(lowest, codes, units)
        others = units > lowest[codes]
        codes, units = codes[others], units[others]
    return found


def _told(holders: Keys) -> Labels:
    return np.asarray(np.count_nonzero(holders != _NOBODY, axis=0))


def _joined_holders(one: Keys | None, other: Keys | None) -> Keys | None:
    if one is None or other is None:
        return None
    n_codes = max(one.shape[1], other.shape[1])
    codes = np.concatenate([np.tile(np.arange(part.shape[1]), FEWEST) for part in (one, other)])
    return _lowest_holders(codes, np.concatenate([one.ravel(), other.ravel()]), n_codes)


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


@frozen()
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
    seed : int or None
        Of "draw"; a secret, since whoever knows it can work backwards from what was drawn.
    column : any
        The name of the column, once the rule is that of one.
    units : array of shape (n,) or None
        The unit of each record, where several may be of one: then so many units, not records, hide a value.
    facts : Facts or None
        What is known of the whole column, once the rule is that of one: groups may be those of a part of the file.
    members : Members or None
        What the members of groups weigh in the column, once the rule is that of one; None where all weigh the same.
    """

    k: int
    aggregate: str = "mean"
    nominal: str = "mode"
    spike_totals: str = "safe"
    seed: int | None = None
    column: Any = None
    units: Labels | None = field(default=None, compare=False, repr=False)
    facts: Facts | None = field(default=None, compare=False, repr=False)
    members: Members | None = field(default=None, compare=False, repr=False)

    @property
    def fewest(self) -> int:
        """The fewest members, or units, whose mean may be released."""
        return min(self.k, FEWEST)

    def hides(self, labels: Labels, n_groups: int, some: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return in which groups some of the members are enough, counted by units where these are known.

        Where members are weighted, those that weigh nothing hide nobody.
        """
        if self.members is not None:
            some = some & (self.members.units > 0)
        if self.units is None:
            return np.asarray(np.bincount(labels[some], minlength=n_groups) >= self.fewest)
        return np.asarray(held_by(labels[some], self.units[some], n_groups).units >= self.fewest)

    def of_column(self, name: Any) -> "Rule":
        """Return the rule of one column: each draws by a seed of its own, so that no member's values come together."""
        seed = int.from_bytes(sha256(f"{self.seed} {name}".encode()).digest()[:16])
        return replace(self, seed=seed, column=name)


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
    needs_value: ClassVar[bool] = True  # a missing cell has no part in what a group releases

    def counted(self, known: Values) -> Labels:  # noqa: ARG002
        """Count what `Facts.counts` holds, of values that are present."""
        return np.zeros(0, dtype=np.int64)

    def count(self, cells: Cells, units: NDArray[Any] | None = None) -> Facts:
        """Return what is known of some cells, and of the units whose they are; that of several parts can be joined."""
        known = cells.known
        states = np.array([cells.values.size]) if cells.states is None else np.bincount(cells.states)
        holders = None
        if units is not None:
            missing = ~cells.present
            own = cells.all_states[missing].astype(np.int64), units[missing].astype(np.uint64)
            holders = _lowest_holders(*own, states.size)
        if known.size == 0:
            return Facts(states, counts=self.counted(known), state_holders=holders)
        ends = float(known.min()), float(known.max())
        return Facts(states, *ends, self.counted(known), state_holders=holders)

    def constants(self, facts: Facts) -> Sums[Facts]:
        """Complete the facts of a whole column by its moments."""
        if facts.n_known == 0:
            return facts
        return replace(facts, moments=(yield from moments_by_sums(facts.n_known, facts.lowest, facts.highest)))

    def facts(self, cells: Cells) -> Facts:
        """Return all that is known of a column."""
        return summed(self.constants(self.count(cells)), lambda terms: exact_sum(terms(cells.known)))

    @abstractmethod
    def block(self, facts: Facts, scale: str, importance: float, spike: float) -> Block:
        """Place a column in space: squared distances add up to its share of the distance of two records."""

    @abstractmethod
    def representatives(self, cells: Cells, labels: Labels, n_groups: int, rule: Rule) -> Cells:
        """Return what each group releases."""

    @abstractmethod
    def errors(self, before: Cells, after: Cells, facts: Facts) -> Values:
        """Return what cells lose that have a value before and after; `facts` are those of the original."""

    @abstractmethod
    def base(self, facts: Facts) -> Sums[float]:
        """Return what one value for all would lose."""

    def changed_cells(self, before: Cells, after: Cells) -> NDArray[np.bool_]:
        """Return which cells became missing, or stopped being so, or are missing in another way."""
        was, now = before.present, after.present
        same = was == now
        if before.states is not None and after.states is not None:
            same &= was | (before.states == after.states)
        return np.asarray(~same)

    def changed(self, before: Cells, after: Cells) -> int:
        """Count the cells that became missing, or stopped being so, or are missing in another way."""
        if before.states is None and after.states is None:
            return 0
        return int(np.count_nonzero(self.changed_cells(before, after)))

    def loss(self, before: Cells, after: Cells, facts: Facts) -> tuple[float, float]:
        """Return what a release loses, and what one value for all would lose, in the column's own terms.

        `facts` are those of the original.
        """
        errors = self.errors(before, after, facts)
        lost = exact_sum(errors) if np.isfinite(errors).all() else np.inf
        base = summed(self.base(facts), lambda terms: exact_sum(terms(before.known)))
        return with_changed(lost, base, self.changed(before, after), max(1, facts.n_known)), base

    def weighed(self, cells: Cells, units: Labels, facts: Facts) -> Labels:  # noqa: ARG002
        """Return what the cells of each level or category weigh, in whole units; nothing of quantities.

        `facts` are those of the whole column, of which the cells may be a part.
        """
        return np.zeros(0, dtype=np.int64)

    @abstractmethod
    def weighted_base(self, facts: Facts, weighed: Labels, power: int) -> Sums[tuple[float, float]]:
        """Return what one value for all would lose by weight, and what the cells weigh that are compared.

        What is to be summed is weighted by who sums it; `weighed` are units of 2**-power.
        """

    def weighted_errors(self, before: Cells, after: Cells, facts: Facts, weights: Values) -> tuple[Values, Values]:
        """Return what cells lose by weight, and the weights of those that became missing or stopped being so."""
        weights_of_compared = weights
        if self.needs_value and (before.states is not None or after.states is not None):
            weights_of_compared = weights[before.present & after.present]
        errors = self.errors(before, after, facts) * weights_of_compared
        return errors, weights[self.changed_cells(before, after)] if self.changed(before, after) else weights[:0]

    def weighted_loss(self, before: Cells, after: Cells, facts: Facts, weights: Weights) -> tuple[float, float]:
        """Return what a release loses by weight, and what one value for all would lose."""
        errors, changed = self.weighted_errors(before, after, facts, weights.values)
        lost = exact_sum(errors) if np.isfinite(errors).all() else np.inf
        known = weights.values[before.present]
        steps = self.weighted_base(facts, self.weighed(before, weights.whole, facts), weights.power)
        base, total = summed(steps, lambda terms: exact_sum(terms(before.known) * known))
        return with_changed(lost, base, exact_sum(changed), total), base


def with_changed(lost: float, base: float, changed: float, total: float) -> float:
    """Add what cells cost that became missing, or stopped being so: as much as one value for all, on average.

    `changed` counts them, or what they weigh, of a `total`.
    """
    return lost + changed * base / total if total > 0 else lost


def state_of_groups(states: States, labels: Labels, n_groups: int) -> States:
    """Return the commonest way in which each group's missing cells are missing; the lower of two; 0 where none is."""
    n_states = int(states.max()) + 1
    counts = np.bincount(labels * n_states + states, minlength=n_groups * n_states).reshape(n_groups, n_states)
    counts[:, 0] = 0
    return np.asarray(np.where(counts.any(axis=1), counts.argmax(axis=1), 0), dtype=np.uint8)


def enough_present(cells: Cells, labels: Labels, n_groups: int, rule: Rule) -> NDArray[np.bool_]:
    """Return which groups release a value: half of the weight or more, of so many that none gives another away."""
    own = labels[cells.present]
    if rule.members is None:
        half = 2 * np.bincount(own, minlength=n_groups) >= np.bincount(labels, minlength=n_groups)
    else:  # sums of whole units are exact
        units = np.bincount(own, weights=rule.members.units[cells.present], minlength=n_groups)
        half = 2 * units >= np.bincount(labels, weights=rule.members.units, minlength=n_groups)
    lacks = np.bincount(labels[~cells.present], minlength=n_groups) > 0
    return (half & rule.hides(labels, n_groups, cells.present)) | ~lacks


def with_missing(cells: Cells, labels: Labels, of_groups: Values, released: NDArray[np.bool_]) -> Cells:
    """Return the values of groups, missing where a group releases none."""
    if cells.states is None:
        return Cells(of_groups)
    if released.all():
        return Cells(of_groups)
    states = np.where(released, 0, state_of_groups(cells.states, labels, released.size)).astype(np.uint8)
    return Cells(np.where(released, of_groups, np.nan), states)
