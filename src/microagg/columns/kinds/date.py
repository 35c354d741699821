"""Dates, times and durations: as whole numbers of their unit, whose mean is rounded to it, and back."""

from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from microagg.base.frozen import frozen
from microagg.checks import EXACT_INTEGERS
from microagg.columns.kinds._kind import Cells, Rule
from microagg.columns.kinds.number import Number
from microagg.columns.numbers import decoded, is_text
from microagg.columns.weights import Labels
from microagg.errors import InvalidData

_FORMS = ("%Y-%m-%d", "%d.%m.%Y", "%Y/%m/%d", "%Y%m%d")
_INSTANTS = (
    *("%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%d.%m.%Y %H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M"),
    "%Y-%m-%dT%H:%M:%SZ",
)


@frozen()
class DateForm:
    """How dates are stored.

    Attributes
    ----------
    type : pyarrow.DataType
        Of dates, instants, times of day or durations.
    text : str or None
        How they are written, where the column is text.
    coarser : int
        Units of the type in one unit that is counted: nanoseconds are counted in thousands.
    """

    type: pa.DataType
    text: str | None = None
    coarser: int = 1

    def numbers(self, array: pa.Array, name: Any) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return whole units, and where they are missing."""
        if self.text is not None:
            array = _parsed(array, self.text)
        array = array.cast(self.type)
        missing = np.asarray(array.is_null())
        numbers = array.cast(pa.int32() if array.type.bit_width == 32 else pa.int64()).fill_null(0)
        units = numbers.to_numpy(zero_copy_only=False).astype(np.int64) // self.coarser
        if units.size and max(abs(int(units.min())), abs(int(units.max()))) > EXACT_INTEGERS:
            raise InvalidData(
                f"column {name!r} has dates too far from 1970 for its unit. Store them by the second, or by the day.",
                columns=(name,),
            )
        return units.astype(np.float64), missing

    def array(self, units: NDArray[np.int64], missing: NDArray[np.bool_]) -> pa.Array:
        """Return dates of whole units, as they are stored."""
        whole = pa.int32() if self.type.bit_width == 32 else pa.int64()
        dates = pa.array(units * self.coarser, mask=missing).cast(whole).cast(self.type)
        return dates if self.text is None else pc.strftime(dates, format=self.text)


class DatesSeen:
    """Finds out how a column of dates is stored, from all its parts."""

    def __init__(self, kind: pa.DataType, name: Any) -> None:
        self._kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        self._name = name
        self._texts = [*_FORMS, *_INSTANTS]  # those in which everything was written so far
        self.n_values = 0
        self._in_a_day = _in_a_day(self._kind)  # units; 0 once a value is not at midnight, or where no day is known
        if not self._is_typed and not is_text(self._kind):
            raise InvalidData(
                f"column {name!r} does not hold dates. Choose another kind.", parameter="kinds", columns=(name,)
            )

    @property
    def _is_typed(self) -> bool:
        return pa.types.is_temporal(self._kind) and not pa.types.is_interval(self._kind)

    def see(self, array: pa.Array) -> None:
        """Look at some more of the column."""
        self.n_values += len(array) - array.null_count
        if self._in_a_day:
            units = array.cast(self._kind).cast(pa.int64()).drop_null().to_numpy(zero_copy_only=False)
            self._in_a_day = self._in_a_day if not (units % self._in_a_day).any() else 0
        if self._is_typed:
            return
        distinct = array.cast(self._kind).unique().drop_null()
        self._texts = [text for text in self._texts if _is_written_so(distinct, text)]

    def join(self, other: "DatesSeen") -> None:
        """Take what another one has seen."""
        self.n_values += other.n_values
        self._in_a_day = min(self._in_a_day, other._in_a_day)
        self._texts = [text for text in self._texts if text in other._texts]

    def form(self) -> DateForm:
        """Return how the column is stored."""
        if pa.types.is_date64(self._kind):
            return DateForm(pa.date32())
        if self._is_typed:  # days that are stored as instants stay days
            finest = 1000 if getattr(self._kind, "unit", "") == "ns" else 1
            return DateForm(self._kind, coarser=self._in_a_day or finest)
        if not self._texts or self.n_values == 0:
            raise InvalidData(
                f"column {self._name!r} is text, and not all its values are dates in one form. Write them as "
                "2026-01-31.",
                parameter="kinds",
                columns=(self._name,),
            )
        return DateForm(_stored(self._texts[0]), self._texts[0])


def are_dates(values: pa.Array) -> bool:
    """Return whether texts are dates that can be masked: all of them, in one form."""
    present = values.drop_null()
    return len(present) > 0 and any(_is_written_so(present, text) for text in (*_FORMS, *_INSTANTS))


def _in_a_day(kind: pa.DataType) -> int:
    """Return how many units of a type of instants make a day; 0 where days depend on a zone, or there are none."""
    if not pa.types.is_timestamp(kind) or kind.tz is not None:
        return 0
    return 86_400 * {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[kind.unit]


def _stored(text: str) -> pa.DataType:
    return pa.date32() if text in _FORMS else pa.timestamp("s")


def _is_written_so(distinct: pa.Array, text: str) -> bool:
    """Return whether all values are dates in this form: what is written must be what was read, to the letter."""
    parsed = _parsed(distinct, text)
    if parsed.null_count:
        return False
    written = pc.strftime(parsed.cast(_stored(text)), format=text)
    return pc.all(pc.equal(written, distinct.cast(pa.string()))).as_py() is not False


def _parsed(array: pa.Array, text: str) -> pa.Array:
    return pc.strptime(decoded(array).cast(pa.string()), format=text, unit="s", error_is_null=True)


@frozen()
class Date(Number):
    """A day or an instant, in whole units since 1970; or a length of time."""

    name: ClassVar[str] = "date"
    said: ClassVar[str] = "the mean, rounded to the day or the column's unit"
    is_quantity: ClassVar[bool] = False

    def representatives(self, cells: Cells, labels: Labels, n_groups: int, rule: Rule) -> Cells:
        """Return each group's mean, rounded half to even."""
        found = super().representatives(cells, labels, n_groups, rule)
        return Cells(np.rint(found.values), found.states)
