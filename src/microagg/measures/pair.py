"""An original and a masked table with their rows matched, whoever made them."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from microagg.algorithms.diversity.demand import Demand
from microagg.algorithms.units import Units
from microagg.columns.table import Table
from microagg.columns.weights import Labels, Weights


class Pair(NamedTuple):
    """An original and a masked table, row by row; not for publication.

    Attributes
    ----------
    original : Table
        The records that are released, as they were.
    masked : Table
        What is released of them.
    """

    original: Table
    masked: Table

    def __reduce__(self) -> Any:
        raise TypeError("a pair holds original values, and is not stored. Store the masked table, or the release.")

    @property
    def units(self) -> Units | None:
        """The persons, households or firms that rows belong to."""
        return self.original.units

    @property
    def weights(self) -> Weights | None:
        """The weights of the original."""
        return self.original.weighed.first

    @property
    def demand(self) -> Demand | None:
        """What is demanded of confidential columns."""
        return self.original.demand

    @property
    def everybody(self) -> Table | None:
        """All records of the original, where some were left out."""
        return self.original.whole

    @property
    def repeating(self) -> Mapping[Any, Labels]:
        """Dropped columns whose values rows share."""
        return self.original.dropped
