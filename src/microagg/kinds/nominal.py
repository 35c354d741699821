"""Categories without an order: one-hot coordinates, modes, mismatches."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from microagg._kernels.modes import settle_in_turn
from microagg.kinds._kind import Block, Cells, Corners, Kind, Labels, Rule, States, Values
from microagg.kinds.number import NumberBlock

_RANGE_HEIGHT = float(np.sqrt(0.5))  # by "range" a mismatch has a squared distance of 1


def codes_with_missing(cells: Cells) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number the categories that occur, each way of being missing among them, after the others.

    Gives each record's number, and what each number stands for: a code, or -1, -2, ... for a missing state.
    """
    if cells.states is None:
        codes = cells.values.astype(np.int64)
    else:
        codes = np.where(cells.present, cells.values, 0.0).astype(np.int64)
        codes = np.where(cells.present, codes, -cells.states.astype(np.int64))
    kinds, found = np.unique(codes, return_inverse=True)
    # Missing ones last, in the order of their states.
    order = np.concatenate([np.flatnonzero(kinds >= 0), np.flatnonzero(kinds < 0)[::-1]])
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    return place[found.ravel()].astype(np.int64), kinds[order]


def as_cells(meaning: NDArray[np.int64]) -> Cells:
    """Give cells of what codes with missing ones stand for."""
    if not (meaning < 0).any():
        return Cells(meaning.astype(np.float64))
    states: States = np.maximum(-meaning, 0).astype(np.uint8)
    return Cells(np.where(meaning < 0, np.nan, meaning).astype(np.float64), states)


class NominalBlock(Block):
    """One coordinate a category, so high that the block's variance is 1; of two categories one is enough."""

    def __init__(self, cells: Cells, scale: str, importance: float) -> None:
        codes, self._meaning = codes_with_missing(cells)
        n_categories = self._meaning.size
        self._two: NumberBlock | None = None
        if n_categories <= 2:
            self._two = NumberBlock(Cells(codes.astype(np.float64)), scale, importance)
            self.width = 1
            return
        shares = np.bincount(codes) / codes.size
        spread = 1.0 - float((shares**2).sum())
        height = np.sqrt(importance) * (1.0 / np.sqrt(spread) if scale == "standard" else _RANGE_HEIGHT)
        self.width = 1
        self.corners = (Corners(n_categories, float(height)),)

    def place(self, cells: Cells, placed: Values) -> None:
        """Write the number or code of some cells into `placed` (1, n); a category that the file lacks is -1."""
        codes, meaning = codes_with_missing(cells)
        known = {int(what): place for place, what in enumerate(self._meaning)}
        places = np.array([known.get(int(what), -1) for what in meaning])[codes]
        if self._two is not None:
            self._two.place(Cells(places.astype(np.float64)), placed)
            return
        placed[0] = places


@dataclass(frozen=True)
class Nominal(Kind):
    """Categories without an order; a cell is the number of its category, from 0."""

    name: ClassVar[str] = "nominal"
    said: ClassVar[str] = "the commonest category"
    is_ordered: ClassVar[bool] = False

    def block(self, cells: Cells, scale: str, importance: float, spike: float) -> Block:  # noqa: ARG002
        """Place a column in space."""
        return NominalBlock(cells, scale, importance)

    def representatives(self, cells: Cells, labels: Labels, n_groups: int, rule: Rule) -> Cells:
        """Give each group's commonest category; missing is one more. Of tied ones, that of which most is owed."""
        codes, meaning = codes_with_missing(cells)
        chosen = choose_categories(codes, meaning.size, labels, n_groups, rule)
        return as_cells(meaning[chosen])

    def loss(self, before: Cells, after: Cells) -> tuple[float, float]:
        """Give the number of mismatches, and that with one category for all."""
        mismatches = np.count_nonzero(before.classes != after.classes)
        codes, _ = codes_with_missing(before)
        return float(mismatches), float(codes.size - np.bincount(codes).max())


def choose_categories(
    codes: NDArray[np.int64],
    n_categories: int,
    labels: Labels,
    n_groups: int,
    rule: Rule,
    kin: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """Give the category that each group releases.

    "mode": groups without a tie first; then the tied ones, in order of their number, take that of their tied
    categories of which most is still owed: as many records as have it in the file, less those that got it so far.
    "balanced": every group takes in turn that of its categories of which most is owed. "draw": that of a member drawn.

    With `kin` (levels, categories), the ancestors of each category, what counts for the mode is how many members
    share them, over all levels: the category nearest to all members by the tree.
    """
    sizes = np.bincount(labels, minlength=n_groups)
    if rule.nominal == "draw":
        order = np.argsort(labels, kind="stable")
        starts = np.cumsum(sizes) - sizes
        drawn = np.random.default_rng(rule.seed).random(n_groups)
        return np.asarray(codes[order[starts + np.minimum((drawn * sizes).astype(np.int64), sizes - 1)]])
    pairs, counts = np.unique(labels * n_categories + codes, return_counts=True)
    owners, found = pairs // n_categories, pairs % n_categories
    scores = counts if kin is None else counts + _shared_by_kin(owners, found, counts, kin)
    starts = np.searchsorted(owners, np.arange(n_groups + 1))
    owed = np.bincount(codes, minlength=n_categories)
    chosen = np.full(n_groups, -1, dtype=np.int64)
    if rule.nominal == "mode":
        tied = scores == np.maximum.reduceat(scores, starts[:-1])[owners]
        clear = np.add.reduceat(tied.astype(np.int64), starts[:-1]) == 1
        winners = tied & clear[owners]
        chosen[owners[winners]] = found[winners]
        owed -= np.bincount(chosen[clear], weights=sizes[clear], minlength=n_categories).astype(np.int64)
        owners, found = owners[tied], found[tied]
        starts = np.searchsorted(owners, np.arange(n_groups + 1))
    settle_in_turn(starts, found, sizes, owed, chosen)
    return chosen


def _shared_by_kin(
    owners: NDArray[np.int64], found: NDArray[np.int64], counts: NDArray[np.int64], kin: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Give, for each category of a group, how many members share its ancestors, added over the levels."""
    shared = np.zeros_like(counts)
    for ancestors in kin:
        _, family = np.unique(owners * (int(ancestors.max()) + 1) + ancestors[found], return_inverse=True)
        shared += np.bincount(family, weights=counts).astype(np.int64)[family]
    return shared
