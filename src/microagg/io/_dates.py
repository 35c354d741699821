"""Dates, times and durations as whole numbers of their unit, and back."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from microagg.checks import EXACT_INTEGERS
from microagg.errors import InvalidData

_FORMS = ("%Y-%m-%d", "%d.%m.%Y", "%Y/%m/%d", "%Y%m%d")
_INSTANTS = ("%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%d.%m.%Y %H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M")


@dataclass(frozen=True)
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
        """Give whole units, and where they are missing."""
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
        """Give dates of whole units, as they are stored."""
        whole = pa.int32() if self.type.bit_width == 32 else pa.int64()
        dates = pa.array(units * self.coarser, mask=missing).cast(whole).cast(self.type)
        return dates if self.text is None else pc.strftime(dates, format=self.text)


def read_dates(array: pa.Array, name: Any) -> DateForm:
    """Find out how a column of dates is stored."""
    type_ = array.type
    if pa.types.is_dictionary(type_):
        array, type_ = array.cast(type_.value_type), type_.value_type
    if pa.types.is_date64(type_):
        return DateForm(pa.date32())
    if pa.types.is_temporal(type_) and not pa.types.is_interval(type_):
        return DateForm(type_, coarser=1000 if getattr(type_, "unit", "") == "ns" else 1)
    if not (pa.types.is_string(type_) or pa.types.is_large_string(type_) or pa.types.is_string_view(type_)):
        raise InvalidData(f"column {name!r} holds no dates. Choose another kind.", parameter="kinds", columns=(name,))
    distinct = array.unique().drop_null()
    for text in (*_FORMS, *_INSTANTS):
        parsed = _parsed(distinct, text)
        if parsed.null_count == 0 and len(distinct):
            stored = pa.date32() if text in _FORMS else pa.timestamp("s")
            # What is written must be what was read, to the letter.
            if pc.all(pc.equal(pc.strftime(parsed.cast(stored), format=text), distinct.cast(pa.string()))).as_py():
                return DateForm(stored, text)
    raise InvalidData(
        f"column {name!r} is text, and not all of it is dates in one form. Write them as 2026-01-31.",
        parameter="kinds",
        columns=(name,),
    )


def _parsed(array: pa.Array, text: str) -> pa.Array:
    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    return pc.strptime(array.cast(pa.string()), format=text, unit="s", error_is_null=True)
