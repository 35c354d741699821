"""Release: what protect() gives back."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.evaluate.loss import InformationLoss
from microagg.prepare.selection import Selection
from microagg.recipe import Recipe


@dataclass(frozen=True, eq=False)
class Release:
    """A masked frame and what is known of it; it holds no original value of a masked column.

    Attributes
    ----------
    data : dataframe
        The same kind of frame as was given, with the same rows in the same order.
    groups : array of shape (n,), or (n, d) if `recipe.per_column`
        The group of each released row, numbered by lowest row.
    loss : InformationLoss
        On the standardised columns, original against released.
    k_achieved : int
        The fewest records that share one combination of released values.
    recipe : Recipe
        Everything the run depended on.
    selection : Selection or None
        Which columns formed the groups, and why, where not all did.
    n_dropped : int
        Records left out because values were missing.
    index_dropped : bool
        Whether the frame had row labels of its own, which count as an identifier.

    Examples
    --------
    >>> import microagg as ma
    >>> survey = ma.datasets.survey(300, seed=0).select(["income", "tax"])
    >>> release = ma.protect(survey, k=3)
    >>> release
    Release: 300 records in 100 groups of 3; k=3 asked, 3 reached; information loss 0.68 %
    >>> release.data.num_rows
    300
    """

    data: Any
    groups: NDArray[np.int64]
    loss: InformationLoss
    k_achieved: int
    recipe: Recipe
    selection: Selection | None = None
    n_dropped: int = 0
    index_dropped: bool = False

    def __post_init__(self) -> None:
        self.groups.setflags(write=False)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.groups.setflags(write=False)

    @property
    def n_groups(self) -> int:
        """The number of groups; where each column has its own, of the column with the fewest."""
        return int(self.groups.max(axis=0).min()) + 1

    @property
    def smallest_group(self) -> int:
        """The number of records in the smallest group."""
        return min(int(np.bincount(labels).min()) for labels in np.atleast_2d(self.groups.T))

    @property
    def largest_group(self) -> int:
        """The number of records in the largest group."""
        return max(int(np.bincount(labels).max()) for labels in np.atleast_2d(self.groups.T))

    def __repr__(self) -> str:
        per_column = " in each column" if self.recipe.per_column else ""
        smallest, largest = self.smallest_group, self.largest_group
        sizes = f"{smallest}" if smallest == largest else f"{smallest} to {largest}"
        grouped = f"; grouped on {', '.join(map(str, self.selection.columns))}" if self.selection else ""
        left_out = f"; {self.n_dropped} records left out" if self.n_dropped else ""
        left_out += "; index dropped" if self.index_dropped else ""
        return (
            f"Release: {len(self.groups)} records in {self.n_groups} groups of {sizes}{per_column}; "
            f"k={self.recipe.k} asked, {self.k_achieved} reached{per_column}; "
            f"information loss {self.loss.percent:.2f} %{grouped}{left_out}"
        )
