"""Categories with a taxonomy: near where they have ancestors in common."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from microagg.kinds._kind import Block, Cells, Corners, Labels, Rule, Values
from microagg.kinds.nominal import Nominal, as_cells, choose_categories, codes_with_missing


class TaxonomyBlock(Block):
    """One-hot coordinates of every level below the root: squared distance is the length of the path in the tree."""

    def __init__(self, cells: Cells, kin: NDArray[np.int64], scale: str, importance: float) -> None:
        self._kin = kin  # (levels, categories): the category itself, then its ancestors below the root
        codes, meaning = codes_with_missing(cells)
        levels = _of_levels(kin, meaning)
        self._places = [np.unique(level) for level in levels]
        spread = sum(1.0 - float(((np.bincount(_numbered(level)[codes]) / codes.size) ** 2).sum()) for level in levels)
        size = 1.0 / spread if scale == "standard" and spread > 0 else 0.5 / len(levels)
        height = float(np.sqrt(importance * size))
        self.corners = tuple(Corners(places.size, height) for places in self._places)
        self.width = len(self.corners)

    def place(self, cells: Cells, placed: Values) -> None:
        """Write the code of each level into `placed` (width, n); an ancestor that the file lacks is -1."""
        codes, meaning = codes_with_missing(cells)
        for number, (level, places) in enumerate(zip(_of_levels(self._kin, meaning), self._places, strict=True)):
            at = np.minimum(np.searchsorted(places, level), places.size - 1)
            placed[number] = np.where(places[at] == level, at, -1)[codes]


def _of_levels(kin: NDArray[np.int64], meaning: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Give, level by level, the ancestor of each category that occurs; a missing state is its own at every level."""
    return [np.where(meaning < 0, meaning, ancestors[np.maximum(meaning, 0)]) for ancestors in kin]


def _numbered(level: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.asarray(np.unique(level, return_inverse=True)[1], dtype=np.int64).ravel()


@dataclass(frozen=True)
class Taxonomy(Nominal):
    """Categories that are the leaves of a tree; `kin` holds each category's own number and those of its ancestors."""

    kin: tuple[tuple[int, ...], ...] = ()

    said: ClassVar[str] = "the category nearest to all members in the taxonomy"

    def block(self, cells: Cells, scale: str, importance: float, spike: float) -> Block:  # noqa: ARG002
        """Place a column in space."""
        return TaxonomyBlock(cells, self._levels, scale, importance)

    @property
    def _levels(self) -> NDArray[np.int64]:
        return np.array(self.kin, dtype=np.int64)

    def representatives(self, cells: Cells, labels: Labels, n_groups: int, rule: Rule) -> Cells:
        """Give each group's category with the shortest paths to all members; ties as those of modes."""
        codes, meaning = codes_with_missing(cells)
        # The leaves are counted already; numbers of ancestors must not be negative.
        kin = np.array([_numbered(level) for level in _of_levels(self._levels, meaning)[1:]], dtype=np.int64)
        chosen = choose_categories(codes, meaning.size, labels, n_groups, rule, kin if kin.size else None)
        return as_cells(meaning[chosen])
