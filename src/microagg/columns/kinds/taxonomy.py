"""Categories with a taxonomy, a tree whose leaves they are: near where they have ancestors in common."""

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from microagg.base.frozen import frozen
from microagg.checks import MOST_OF_A_TABLE, text_of_file
from microagg.columns.kinds._kind import Block, Cells, Corners, Facts
from microagg.columns.kinds.nominal import Nominal, counts_of_numbers, known_numbers
from microagg.columns.weights import Labels, Values
from microagg.errors import InvalidData, InvalidParameter


class TaxonomyBlock(Block):
    """One-hot coordinates of every level below the root: squared distance is the length of the path in the tree."""

    def __init__(self, facts: Facts, kin: Labels, scale: str, importance: float) -> None:
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


def _of_numbers(kin: Labels, n_codes: int, n_numbers: int) -> Labels:
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
    def _levels(self) -> Labels:
        return np.array(self.kin, dtype=np.int64)

    def kin_of_numbers(self, n_codes: int, n_numbers: int) -> Labels | None:
        """Return the ancestors of each number; the leaves are counted already."""
        kin = _of_numbers(self._levels, n_codes, n_numbers)[1:]
        return kin if kin.size else None


def read_taxonomy(path: Any, name: Any) -> dict[str, tuple[str, ...]]:
    """Read a taxonomy: each line a value, its ancestor, that one's ancestor, and so on."""
    try:
        text = text_of_file(Path(path), MOST_OF_A_TABLE, parameter="taxonomy", columns=(name,))
        delimiter = ";" if ";" in text.partition("\n")[0] else ","
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row]
    except (OSError, UnicodeDecodeError, csv.Error):
        raise InvalidParameter(
            f"the taxonomy of column {name!r} cannot be read. Check the path; it must be text in UTF-8.",
            parameter="taxonomy",
            columns=(name,),
        ) from None
    widths: set[int] = {len(row) for row in rows}
    if len(widths) != 1 or widths <= {0, 1}:
        raise InvalidParameter(
            f"the taxonomy of column {name!r} must have the same number of ancestors in every line, at least one.",
            parameter="taxonomy",
            columns=(name,),
        )
    return {row[0]: tuple(row[1:]) for row in rows}


def kin_of(values: pa.Array, kin: Mapping[str, tuple[Any, ...]], name: Any) -> tuple[tuple[int, ...], ...]:
    """Number the ancestors of each category, level by level; the category itself is the first level."""
    shown = [str(value) for value in values.to_pylist()]
    lacking = sum(value not in kin for value in shown)
    if lacking:
        raise InvalidData(
            f"the taxonomy of column {name!r} does not hold {lacking} of its {len(shown)} categories. Add them.",
            parameter="taxonomy",
            columns=(name,),
        )
    levels = [tuple(range(len(shown)))]
    for depth in range(len(kin[shown[0]])):
        ancestors = [str(kin[value][depth]) for value in shown]
        numbers = {ancestor: number for number, ancestor in enumerate(sorted(set(ancestors)))}
        if len(numbers) > 1:  # the root is the same for everybody
            levels.append(tuple(numbers[ancestor] for ancestor in ancestors))
    return tuple(levels)
