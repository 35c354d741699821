"""In memory: the stages on a whole table, by threads over its strata and blocks."""

from itertools import pairwise
from typing import NamedTuple

from microagg.columns import frames
from microagg.columns.table import Table
from microagg.mask.engines.stages import Engine
from microagg.mask.form import form_groups
from microagg.mask.groups import Groups, Labels
from microagg.mask.masked import Masked, check_promise, masked_by
from microagg.mask.open import FileToMask, Given, open_given
from microagg.mask.represent import Values, values_of_groups
from microagg.work import Work

_ENDS = (0, 5, 85, 100)  # percent of the progress: when the columns are coded, the groups formed, and all is done

Formed = tuple[Table, Groups]  # the records that are released, as whole units may be left out, and their groups


class Counted(NamedTuple):
    """A masked table, of which the promise was counted.

    `k_achieved` is the fewest records, or units, that share released values, and `classes` says which records do.
    """

    opened: FileToMask
    values: Values
    masked: Masked
    k_achieved: int
    classes: Labels


class Memory(Engine[FileToMask, Formed, Values, Counted]):
    """The stages on a table in memory; `measuring` is left of the work for what is measured of the release."""

    def __init__(self, given: Given, work: Work) -> None:
        self.n = n = frames.open_frame(given.frame).shape[0]
        self._given = given
        self._opening, self._forming, last = (work.part(*ends, n) for ends in pairwise(p * n // 100 for p in _ENDS))
        self._rounding, self._laying, self._reading, self._counting, *self.measuring, _ = last.stages(7)

    def open(self) -> FileToMask:
        """Code the columns, recoded and with their roles; leave out records that lack values, where that is asked."""
        return open_given(self._given, self._opening)

    def form_groups(self, opened: FileToMask) -> Formed:
        """Find which record, or whole unit, is in which group."""
        return form_groups(opened, self._forming)

    def represent(self, opened: FileToMask, formed: Formed) -> Values:
        """Find what groups release: representatives, moments kept, rounded, relations kept, and weights."""
        return values_of_groups(*formed, opened.recipe, self._forming, self._rounding)

    def release(self, opened: FileToMask, formed: Formed, represented: Values) -> Counted:
        """Put it in place in a frame like that which was given, read that back, and count k, l and t on it."""
        masked = masked_by(opened, *formed, represented, self._given.frame, (self._laying, self._reading))
        return Counted(opened, represented, masked, *check_promise(masked, self._counting))
