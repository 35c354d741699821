"""Dates, times and durations: numbers of whole units, whose mean is rounded to the unit."""

from typing import ClassVar

import numpy as np

from microagg.base.frozen import frozen
from microagg.columns.kinds._kind import Cells, Labels, Rule
from microagg.columns.kinds.number import Number
from microagg.columns.weights import Members


@frozen()
class Date(Number):
    """A day or an instant, in whole units since 1970; or a length of time."""

    name: ClassVar[str] = "date"
    said: ClassVar[str] = "the mean, rounded to the day or the column's unit"
    is_quantity: ClassVar[bool] = False

    def representatives(
        self, cells: Cells, labels: Labels, n_groups: int, rule: Rule, members: Members | None = None
    ) -> Cells:
        """Return each group's mean, rounded half to even."""
        found = super().representatives(cells, labels, n_groups, rule, members)
        return Cells(np.rint(found.values), found.states)
