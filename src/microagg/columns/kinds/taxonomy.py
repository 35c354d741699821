"""Categories with a taxonomy: near where they have ancestors in common."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from microagg.base.frozen import frozen
from microagg.columns.kinds._kind import Block, Cells, Corners, Facts, Labels, Values
from microagg.columns.kinds.nominal import Nominal, counts_of_numbers, known_numbers


class TaxonomyBlock(Block):
    """One-hot coordinates of every level below the root: squared distance is the length of the path in the tree."""

    def __init__(self, facts: Facts, kin: NDArray[np.int64], scale: str, importance: float) -> None:
        counts = counts_of_numbers(facts)
        self._n_codes = facts.counts.size
        self._levels = _of_numbers(kin, self._n_codes, counts.size)  # (levels, numbers)
        occurring = np.flatnonzero(counts)
        self._places, spread = [], 0.0
        for level in self._levels:
            places, own = np.unique(level[occurring], return_inverse=True)
            shares = np.bincount(own.ravel(), weights=counts[occurring]) / counts.sum()
            spread += 1.0 - float((shares**2).sum())
            self._places.append(places)
        size = 1.0 / spread if scale == "standard" and spread > 0 else 0.5 / len(self._levels)
        height = float(np.sqrt(importance * size))
        self.corners = tuple(Corners(places.size, height) for places in self._places)
        self.width = len(self.corners)

    def place(self, cells: Cells, placed: Values) -> None:
        """Write the code of each level into `placed` (width, n); an ancestor that the file lacks is -1."""
        numbers, lacking = known_numbers(cells, self._n_codes, self._levels.shape[1])
        for number, (level, places) in enumerate(zip(self._levels, self._places, strict=True)):
            own = level[numbers]
            at = np.minimum(np.searchsorted(places, own), places.size - 1)
            placed[number] = np.where((places[at] == own) & ~lacking, at, -1)


def _of_numbers(kin: NDArray[np.int64], n_codes: int, n_numbers: int) -> NDArray[np.int64]:
    """Return each number's ancestor, level by level; a missing state is its own at every level, after the others."""
    missing = int(kin.max()) + np.arange(1, n_numbers - n_codes + 1)
    return np.concatenate([kin[:, :n_codes], np.broadcast_to(missing, (len(kin), missing.size))], axis=1)


@frozen()
class Taxonomy(Nominal):
    """Categories that are the leaves of a tree; `kin` holds each category's own number and those of its ancestors."""

    kin: tuple[tuple[int, ...], ...] = ()

    said: ClassVar[str] = "the category nearest to all members in the taxonomy"

    def block(self, facts: Facts, scale: str, importance: float, spike: float) -> Block:  # noqa: ARG002
        """Place a column in space."""
        return TaxonomyBlock(facts, self._levels, scale, importance)

    @property
    def _levels(self) -> NDArray[np.int64]:
        return np.array(self.kin, dtype=np.int64)

    def kin_of_numbers(self, n_codes: int, n_numbers: int) -> Labels | None:
        """Return the ancestors of each number; the leaves are counted already."""
        kin = _of_numbers(self._levels, n_codes, n_numbers)[1:]
        return kin if kin.size else None
