"""How the cells of a column are coded, and what codes stand for: the same types come out as went in."""

import math
from abc import ABC, abstractmethod
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from microagg.base.frozen import frozen
from microagg.columns.frames import checked_floats, numbers_like
from microagg.columns.kinds import Cells, Kind, Semi
from microagg.columns.kinds.date import DateForm
from microagg.columns.numbers import decoded, plain_floats
from microagg.columns.table import Coded
from microagg.errors import InvalidData

_WHOLE = (nw.Int8, nw.Int16, nw.Int32, nw.Int64, nw.UInt8, nw.UInt16, nw.UInt32, nw.UInt64)


@frozen()
class Coder(ABC):
    """How the cells of one column are coded, and what codes stand for.

    Attributes
    ----------
    name : any
    kind : Kind
    importance : float
    codes : tuple
        Values that stand for a kind of missing value: states 2, 3, ...
    """

    name: Any
    kind: Kind
    importance: float = 1.0
    codes: tuple[Any, ...] = ()

    @property
    def reserved(self) -> tuple[tuple[float, float], ...]:
        """Ranges that no mean may fall into, as it would be read as missing."""
        return ()

    @property
    def shown(self) -> tuple[str, ...]:
        """What each code stands for, as text."""
        return ()

    def coded(self, series: nw.Series[Any]) -> Coded:
        """Return a column coded."""
        return Coded(self.name, self.kind, self.cells(series), self.shown, self.importance, self.reserved)

    @abstractmethod
    def cells(self, series: nw.Series[Any]) -> Cells:
        """Code the cells of a series that holds values of this column."""

    @abstractmethod
    def series(self, cells: Cells, like: nw.Series[Any], power: int | None) -> nw.Series[Any]:
        """Make a series of cells, of the type of the column it comes from.

        Numbers are multiples of ten to this power; with none, they may have any digits.
        """


@frozen()
class NumberCoder(Coder):
    """Numbers, unchanged; `declared` are ranges that the file declares missing.

    `power` is that of the step which released numbers are asked to be multiples of.
    """

    declared: tuple[tuple[float, float], ...] = ()
    power: int | None = None

    @property
    def reserved(self) -> tuple[tuple[float, float], ...]:
        """Ranges that no mean may fall into, as it would be read as missing."""
        return (*self.declared, *((code, code) for code in self.codes))

    def cells(self, series: nw.Series[Any]) -> Cells:
        """Return the numbers, refusing what float64 cannot hold."""
        values, missing = checked_floats(series, self.name)
        states = missing.astype(np.uint8)
        for state, code in enumerate(self.codes, 2):
            states[values == code] = state
        values[states > 0] = np.nan
        if self.power is not None:
            self._check_step(values[states == 0], series)
        return Cells(values, states) if states.any() else Cells(values)

    def _check_step(self, known: NDArray[np.float64], series: nw.Series[Any]) -> None:
        """Refuse a step that rounds values beyond the range of the column's type, before any work."""
        low, high = number_range(series)
        if known.size == 0 or self.power is None or not math.isfinite(high):
            return
        if self.power < 0 and series.dtype.is_integer():
            return  # it becomes a column of floats
        step = 10.0**self.power
        ends = round(float(known.min()) / step, 9), round(float(known.max()) / step, 9)
        # A mean that must not fall on a spike or a code goes to the next multiple on either side.
        lowest, highest = (
            (math.floor(ends[0]), math.ceil(ends[1]))
            if self.reserved or isinstance(self.kind, Semi)
            else (round(ends[0]), round(ends[1]))
        )
        if lowest * step < low * (1 + 1e-12) or highest * step > high * (1 + 1e-12):
            raise self._beyond_range(series, f" rounded to multiples of {step:g}", "Choose a smaller step in rounding")

    def _beyond_range(self, series: nw.Series[Any], how: str, remedy: str) -> InvalidData:
        low, high = number_range(series)
        return InvalidData(
            f"column {self.name!r} is stored as {series.dtype}, which goes from {low:.15g} to {high:.15g}: its means"
            f"{how} do not all fit. {remedy}, or store it in a wider type.",
            parameter="rounding",
            columns=(self.name,),
        )

    def series(self, cells: Cells, like: nw.Series[Any], power: int | None) -> nw.Series[Any]:
        """Make a series of numbers: integers again where all are whole, decimals where they have no more digits."""
        values, missing = cells.values, np.zeros(cells.values.size, dtype=bool)
        if cells.states is not None:
            values, missing = values.copy(), cells.states == 1
            for state, code in enumerate(self.codes, 2):
                values[cells.states == state] = code
        whole = power is not None and power >= 0 and like.dtype in _WHOLE
        is_decimal = not (like.dtype.is_integer() or like.dtype.is_float())
        if whole or is_decimal:
            low, high = number_range(like)
            known = values[~missing]
            if ((known < low) | (known > high)).any():
                raise self._beyond_range(like, "", "Choose another step in rounding")
        if is_decimal:
            return self._decimals(values, missing, like, power)
        if not missing.any():
            return numbers_like(like, values.astype(np.int64) if whole else values)
        whole = whole and holds_nulls(like)
        numbers = np.where(missing, 0.0, values)
        array = pa.array(numbers.astype(np.int64) if whole else numbers, mask=missing)
        return as_native(array, like, None if whole or like.dtype.is_float() else nw.Float64())

    def _decimals(self, values: Any, missing: Any, like: nw.Series[Any], power: int | None) -> nw.Series[Any]:
        type_ = arrow_of(like, self.name).type
        array = pa.array(np.where(missing, 0.0, values), mask=missing)
        if power is not None and power >= -type_.scale:
            return as_native(array.cast(type_), like)
        return as_native(array, like, nw.Float64() if like.dtype.is_numeric() else None)


def _as_released(value: Any) -> str:
    """Return a category as text: whole numbers without a point, as text files have them."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


@frozen()
class DateCoder(Coder):
    """Dates, times and durations, in whole units."""

    form: DateForm = None  # type: ignore[assignment]

    def cells(self, series: nw.Series[Any]) -> Cells:
        """Return whole units since 1970, or of a duration."""
        values, missing = self.form.numbers(arrow_of(series, self.name), self.name)
        if not missing.any():
            return Cells(values)
        return Cells(np.where(missing, np.nan, values), missing.astype(np.uint8))

    def series(self, cells: Cells, like: nw.Series[Any], power: int | None) -> nw.Series[Any]:  # noqa: ARG002
        """Make a series of dates, of the column's own type and zone."""
        missing = ~cells.present
        numbers = np.where(missing, 0.0, cells.values).astype(np.int64)
        return as_native(self.form.array(numbers, missing), like)


def _equal(array: pa.Array, code: Any) -> Any:
    try:
        return np.asarray(pc.equal(array, pa.scalar(code, array.type)).fill_null(False))
    except (pa.ArrowInvalid, OverflowError):  # a number that the column's type does not have
        return np.zeros(len(array), dtype=bool)


@frozen()
class CategoryCoder(Coder):
    """Categories, numbered; `values` are what the numbers stand for."""

    values: pa.Array = None

    @property
    def shown(self) -> tuple[str, ...]:
        """What each code stands for, as text."""
        try:
            values = self.values.to_pylist()
        except (OverflowError, ValueError):  # moments that Python has no words for
            values = self.values.cast(pa.string()).to_pylist()
        return tuple(map(_as_released, values))

    def cells(self, series: nw.Series[Any]) -> Cells:
        """Return the number of each cell's category."""
        array = plain_values(arrow_of(series, self.name))
        try:
            known = self.values.cast(array.type)
        except pa.ArrowInvalid:  # whole numbers, as a masked text file may hold, in the place of others
            known, array = self.values, array.cast(self.values.type)
        places = pc.index_in(array, value_set=known)
        missing = np.asarray(array.is_null())
        found = places.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        states = missing.astype(np.uint8)
        for state, code in enumerate(self.codes, 2):
            states[_equal(array, code)] = state
        unknown = int(np.count_nonzero((found < 0) & (states == 0)))
        if unknown:
            raise InvalidData(
                f"column {self.name!r} has {unknown} value(s) that are not among its {len(self.values)} levels or "
                "categories. Name all levels in kinds, in their order.",
                parameter="kinds",
                columns=(self.name,),
            )
        if not states.any():
            return Cells(found.astype(np.float64))
        return Cells(np.where(states > 0, np.nan, found), states)

    def series(self, cells: Cells, like: nw.Series[Any], power: int | None) -> nw.Series[Any]:  # noqa: ARG002
        """Make a series of categories: each cell is that of some row of the column that has it."""
        native = nw.to_native(like)
        if hasattr(native, "combine_chunks"):  # PyArrow, whose types hold any category
            return chunked_series(self.array(cells, native.type), like.name)
        own = self.cells(like)
        rows = np.zeros(cells.values.size, dtype=np.int64)
        present = cells.present
        first = np.full(len(self.values), -1, dtype=np.int64)
        where = np.flatnonzero(own.present)[::-1]
        first[own.values[where].astype(np.int64)] = where
        rows[present] = first[cells.values[present].astype(np.int64)]
        if cells.states is not None and own.states is not None:
            for state in np.unique(cells.states[~present]):
                rows[cells.states == state] = int(np.argmax(own.states == state))
        missing = cells.all_states == 1
        if missing.any() and not (own.all_states == 1).any():  # a code that too few have became plainly missing
            return blanked(taken(like, rows), missing)
        return taken(like, rows)

    def array(self, cells: Cells, kind: pa.DataType, used: NDArray[np.bool_] | None = None) -> pa.Array:
        """Make an Arrow array of cells; its dictionary, if any, is of all categories and codes, or those `used`."""
        known = self.values
        if self.codes:
            known = pa.concat_arrays([known, pa.array(self.codes, known.type)])
        states = cells.all_states.astype(np.int64)
        missing = states == 1
        places = np.where(states == 0, cells.values, len(self.values) + np.maximum(states, 2) - 2)
        numbers = np.where(missing, 0, places).astype(np.int64)
        if not pa.types.is_dictionary(kind):
            return known.take(pa.array(numbers, mask=missing)).cast(kind)
        if used is not None:
            numbers, known = (np.cumsum(used) - 1)[numbers], known.filter(pa.array(used))
        indices = pa.array(numbers, mask=missing).cast(kind.index_type)
        return pa.DictionaryArray.from_arrays(indices, known.cast(kind.value_type), ordered=kind.ordered)


def plain_values(array: pa.Array) -> pa.Array:
    """Return what an Arrow array holds: no dictionary, no negative zero, null where not a number."""
    array = plain_floats(decoded(array))
    if pa.types.is_floating(array.type):
        array = pc.if_else(pc.is_nan(array), pa.scalar(None, array.type), array)
    if pa.types.is_string(array.type) or pa.types.is_string_view(array.type):
        array = array.cast(pa.large_string())
    return array


def arrow_of(series: nw.Series[Any], name: Any) -> pa.Array:
    """Return a column as one Arrow array."""
    try:
        array = series.to_arrow()
        if pa.types.is_null(array.type):
            array = array.cast(pa.string())
        if pa.types.is_nested(array.type):
            raise TypeError
        own = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
        if isinstance(own, pa.BaseExtensionType):
            raise InvalidData(
                f"column {name!r} holds values of a special type ({own.extension_name}), such as pd.cut makes. Turn "
                "them into text, with their levels in kinds if they have an order; turn periods into dates.",
                columns=(name,),
            )
        return array
    except (pa.ArrowException, TypeError, OverflowError):  # whose message may show a cell
        raise InvalidData(
            f"column {name!r} mixes types or holds lists, so that its values cannot be compared. Turn it into text "
            "or numbers.",
            columns=(name,),
        ) from None


def number_range(series: nw.Series[Any]) -> tuple[float, float]:
    """Return the lowest and the highest number that a column's type can hold; infinite ones of floats."""
    dtype = series.dtype
    if dtype.is_integer():
        info = np.iinfo(str(dtype).lower())
        return float(info.min), float(info.max)
    type_: Any = None if dtype.is_float() else series.to_arrow().type
    if type_ is None or not pa.types.is_decimal(type_):
        return -np.inf, np.inf
    most = (10.0**type_.precision - 1.0) / 10.0**type_.scale
    return -most, most


def taken(series: nw.Series[Any], rows: NDArray[np.int64]) -> nw.Series[Any]:
    """Return the cells of a series at some rows: of the same type, whatever that is."""
    return nw.maybe_reset_index(series[rows.tolist()])


def blanked(series: nw.Series[Any], missing: NDArray[np.bool_]) -> nw.Series[Any]:
    """Return a series of pandas or polars with some cells missing, of the same type where that has any."""
    native = nw.to_native(series)
    if hasattr(native, "iloc"):  # pandas
        return nw.from_native(native.where(~missing), series_only=True)
    library = nw.get_native_namespace(series)
    nothing = library.Series(native.name, [None] * missing.size, dtype=native.dtype)
    return nw.from_native(native.zip_with(library.Series(~missing), nothing), series_only=True)


def holds_nulls(series: nw.Series[Any]) -> bool:
    """Return whether a column of whole numbers can lack some: those of NumPy, which pandas has, cannot."""
    native = nw.to_native(series)
    return not (hasattr(native, "iloc") and isinstance(native.dtype, np.dtype))


def chunked_series(array: pa.Array, name: Any) -> nw.Series[Any]:
    """Make a series of an Arrow array."""
    series: nw.Series[Any] = nw.from_native(pa.chunked_array([array]), series_only=True)
    return series.alias(name)


def as_native(array: pa.Array, like: nw.Series[Any], target: Any = None) -> nw.Series[Any]:
    """Make a series of an Arrow array, of the library and the type of another, or of another type."""
    native = nw.to_native(like if target is None else like.cast(target))
    if hasattr(native, "combine_chunks"):  # PyArrow
        return chunked_series(array.cast(native.type), like.name)
    if hasattr(native, "to_frame") and hasattr(native, "iloc"):  # pandas
        return nw.from_native(_as_pandas(array, native), series_only=True)
    namespace = nw.get_native_namespace(like)
    return nw.from_native(namespace.from_arrow(array).cast(native.dtype).alias(like.name), series_only=True)


def _as_pandas(array: pa.Array, native: Any) -> Any:
    pandas = nw.get_native_namespace(native)
    dtype = native.dtype
    if hasattr(dtype, "pyarrow_dtype"):
        values: Any = pandas.arrays.ArrowExtensionArray(array.cast(dtype.pyarrow_dtype))
    elif dtype.kind == "O":
        values = np.array([*array.to_pylist(), None], dtype=object)[:-1]
    else:
        values = array.to_pandas().astype(dtype)
    return pandas.Series(values, name=native.name, dtype=dtype)
