"""Columns of a frame as numbers or codes, and back: the same types come out as went in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from microagg.checks import EXACT_INTEGERS
from microagg.errors import InvalidData, InvalidParameter
from microagg.io._dates import DateForm, read_dates
from microagg.io._native import as_native, floats_of, numbers_like, taken
from microagg.io.labels import mostly_labelled
from microagg.io.taxonomies import kin_of
from microagg.kinds import Cells, Date, Kind, Nominal, Number, Ordinal, Semi, Taxonomy
from microagg.table import Coded, Table

MOST_CATEGORIES = 1000
"""Categories of a nominal column, at most: more are nearly names."""

_WHOLE = (nw.Int8, nw.Int16, nw.Int32, nw.Int64, nw.UInt8, nw.UInt16, nw.UInt32, nw.UInt64)


@dataclass(frozen=True)
class Asked:
    """What a recipe says of one column.

    Attributes
    ----------
    kind : str, tuple, mapping or None
        A word, levels in their order, {"spike": value}, or None: the type says it.
    codes : tuple
        Values that stand for a kind of missing value.
    kin : mapping or None
        A taxonomy: each value's ancestors below the root.
    importance : float
    labels : mapping
        What the file says that values stand for: where it does of most numbers, they may be codes.
    reserved : tuple of (low, high)
        Ranges of numbers that the file declares missing.
    """

    kind: Any = None
    codes: tuple[Any, ...] = ()
    kin: Mapping[str, tuple[Any, ...]] | None = None
    importance: float = 1.0
    labels: Mapping[Any, str] = field(default_factory=dict)
    reserved: tuple[tuple[float, float], ...] = ()


def open_table(frame: nw.DataFrame[Any], asked: Mapping[Any, Asked]) -> tuple[Table, dict[Any, "Coder"]]:
    """Give the columns that are asked for, coded, and what codes them."""
    coders = {name: coder_for(frame.get_column(name), name, wish) for name, wish in asked.items()}
    return Table(tuple(coder.coded(frame.get_column(name)) for name, coder in coders.items())), coders


def coder_for(series: nw.Series[Any], name: Any, asked: Asked) -> "Coder":
    """Find out how a column is coded, or say why it cannot be."""
    word = asked.kind
    if isinstance(word, tuple):
        return _ordinal(series, name, asked)
    if isinstance(word, Mapping):
        word = "semi"
    if word is None:
        word = _usual(series, name, asked)
    if word in ("number", "semi"):
        return _number(series, name, asked, word)
    if word == "date":
        return _date(series, name, asked)
    if word == "ordinal":
        return _ordinal(series, name, asked)
    return _nominal(series, name, asked)


def _usual(series: nw.Series[Any], name: Any, asked: Asked) -> str:
    """Tell the kind of a column by its type."""
    dtype = series.dtype
    if asked.kin is not None:
        return "nominal"
    if _holds_numbers(series, name):
        if asked.labels and mostly_labelled(_categories(series, name, asked.codes)[0], asked.labels):
            raise InvalidData(
                f"column {name!r} holds numbers that the file has labels for, so they may be codes. Say what they are "
                f"in kinds: 'nominal', 'ordinal' or 'number'.",
                parameter="kinds",
                columns=(name,),
            )
        return "number"
    if dtype.is_temporal():
        return "date"
    array = _arrow(series, name)
    if pa.types.is_temporal(array.type):
        return "date"
    # Of polars an Enum is a fixed set of names, whose order says nothing; of others it is an order.
    fixed = dtype == nw.Enum and series.implementation.is_polars()
    return "ordinal" if pa.types.is_dictionary(array.type) and array.type.ordered and not fixed else "nominal"


def _holds_numbers(series: nw.Series[Any], name: Any) -> bool:
    """Tell numbers from other things; decimals may be objects, or wider than dataframes know."""
    if series.dtype.is_numeric() or series.dtype not in (nw.Object, nw.Unknown):
        return bool(series.dtype.is_numeric())
    return bool(pa.types.is_decimal(_arrow(series, name).type))


def _refuse(name: Any, word: str, what: str, remedy: str) -> InvalidData:
    return InvalidData(f"column {name!r} is {what}, not {word}. {remedy}", parameter="kinds", columns=(name,))


@dataclass(frozen=True)
class Coder:
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
        """Give a column coded."""
        return Coded(self.name, self.kind, self.cells(series), self.shown, self.importance, self.reserved)

    def cells(self, series: nw.Series[Any]) -> Cells:
        """Code the cells of a series that holds values of this column."""
        raise NotImplementedError

    def series(self, cells: Cells, like: nw.Series[Any], power: int | None) -> nw.Series[Any]:
        """Make a series of cells, of the type of the column it comes from.

        Numbers are multiples of ten to this power; with none, they may have any digits.
        """
        raise NotImplementedError

    def check_any(self, cells: Cells) -> None:
        """Refuse a column without a single value."""
        if cells.states is not None and not (cells.states == 0).any():
            raise InvalidData(
                f"column {self.name!r} has no value at all: all are missing. Drop it.", columns=(self.name,)
            )


@dataclass(frozen=True)
class NumberCoder(Coder):
    """Numbers, as they are; `declared` are ranges that the file declares missing."""

    declared: tuple[tuple[float, float], ...] = ()

    @property
    def reserved(self) -> tuple[tuple[float, float], ...]:
        """Ranges that no mean may fall into, as it would be read as missing."""
        return (*self.declared, *((code, code) for code in self.codes))

    def cells(self, series: nw.Series[Any]) -> Cells:
        """Give the numbers, refusing what float64 cannot hold."""
        dtype, name = series.dtype, self.name
        missing = series.is_null().to_numpy().astype(bool)
        if dtype.is_integer() and not missing.all() and _largest(series) > EXACT_INTEGERS:
            raise InvalidData(
                f"column {name!r} has integers beyond 2**53, which float64 cannot tell apart. Subtract an offset, or "
                f"make it an identifier."
            )
        values = floats_of(series)
        missing |= np.isnan(values)
        is_decimal = not (dtype.is_integer() or dtype.is_float())
        if is_decimal and not missing.all() and np.abs(values[~missing]).max() > EXACT_INTEGERS:
            raise InvalidData(f"column {name!r} has decimals beyond 2**53, which float64 cannot tell apart. Scale it.")
        infinite = np.count_nonzero(np.isinf(values))
        if infinite:
            raise InvalidData(f"column {name!r} has {infinite} infinite value(s). Drop those records or cap them.")
        states = missing.astype(np.uint8)
        for state, code in enumerate(self.codes, 2):
            states[values == code] = state
        if not states.any():
            return Cells(values)
        values[states > 0] = np.nan
        return Cells(values, states)

    def series(self, cells: Cells, like: nw.Series[Any], power: int | None) -> nw.Series[Any]:
        """Make a series of numbers: integers again where all are whole, decimals where they have no more digits."""
        values, missing = cells.values, np.zeros(cells.values.size, dtype=bool)
        if cells.states is not None:
            values, missing = values.copy(), cells.states == 1
            for state, code in enumerate(self.codes, 2):
                values[cells.states == state] = code
        if not (like.dtype.is_integer() or like.dtype.is_float()):
            return self._decimals(values, missing, like, power)
        whole = power is not None and power >= 0 and like.dtype in _WHOLE
        if not missing.any():
            return numbers_like(like, values.astype(np.int64) if whole else values)
        numbers = np.where(missing, 0.0, values)
        array = pa.array(numbers.astype(np.int64) if whole else numbers, mask=missing)
        return as_native(array, like, None if whole or like.dtype.is_float() else nw.Float64())

    def _decimals(self, values: Any, missing: Any, like: nw.Series[Any], power: int | None) -> nw.Series[Any]:
        type_ = _arrow(like, self.name).type
        array = pa.array(np.where(missing, 0.0, values), mask=missing)
        if power is not None and power >= -type_.scale:
            return as_native(array.cast(type_), like)
        return as_native(array, like, nw.Float64() if like.dtype.is_numeric() else None)


def _largest(series: nw.Series[Any]) -> int:
    return max(abs(int(series.min())), abs(int(series.max())))


def _number(series: nw.Series[Any], name: Any, asked: Asked, word: str) -> Coder:
    if not _holds_numbers(series, name):
        remedy = "Choose nominal, ordinal or date in kinds, or give it another role."
        raise _refuse(name, "numeric" if word == "number" else "a quantity", _described(series), remedy)
    coder = NumberCoder(name, Number(), asked.importance, _numeric_codes(asked.codes, name), asked.reserved)
    if word == "number":
        return coder
    cells = coder.cells(series)
    coder.check_any(cells)
    if isinstance(asked.kind, Mapping):
        return replace(coder, kind=Semi(float(asked.kind["spike"])))
    values, counts = np.unique(cells.known, return_counts=True)
    # The commonest value; of several that nearest to zero, then the lower.
    common = values[counts == counts.max()]
    return replace(coder, kind=Semi(float(common[np.abs(common).argmin()]) + 0.0))


def _numeric_codes(codes: tuple[Any, ...], name: Any) -> tuple[float, ...]:
    try:
        return tuple(float(code) for code in codes)
    except ValueError:
        raise InvalidParameter(
            f"missing_codes of column {name!r} must be numbers, as the column's values are.",
            parameter="missing_codes",
            columns=(name,),
        ) from None


def _described(series: nw.Series[Any]) -> str:
    """Name the type of a column without showing its categories, which are cells of the data."""
    native = getattr(nw.to_native(series), "dtype", None)
    kind = str(native) if isinstance(native, np.dtype) else type(series.dtype).__name__
    return f"not numeric ({kind})"


@dataclass(frozen=True)
class DateCoder(Coder):
    """Dates, times and durations, in whole units."""

    form: DateForm = None  # type: ignore[assignment]

    def cells(self, series: nw.Series[Any]) -> Cells:
        """Give whole units since 1970, or of a duration."""
        values, missing = self.form.numbers(_arrow(series, self.name), self.name)
        if not missing.any():
            return Cells(values)
        return Cells(np.where(missing, np.nan, values), missing.astype(np.uint8))

    def series(self, cells: Cells, like: nw.Series[Any], power: int | None) -> nw.Series[Any]:  # noqa: ARG002
        """Make a series of dates, of the column's own type and zone."""
        missing = ~cells.present
        numbers = np.where(missing, 0.0, cells.values).astype(np.int64)
        return as_native(self.form.array(numbers, missing), like)


def _date(series: nw.Series[Any], name: Any, asked: Asked) -> Coder:
    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        raise _refuse(name, "a date", "a number", "Choose number in kinds, or store it as dates.")
    if asked.codes:
        raise InvalidParameter(
            f"missing_codes do not go with column {name!r}, which holds dates. Leave them out.",
            parameter="missing_codes",
            columns=(name,),
        )
    coder = DateCoder(name, Date(), asked.importance, (), read_dates(_arrow(series, name), name))
    coder.check_any(coder.cells(series))
    return coder


@dataclass(frozen=True)
class CategoryCoder(Coder):
    """Categories, numbered; `values` are what the numbers stand for."""

    values: pa.Array = None

    @property
    def shown(self) -> tuple[str, ...]:
        """What each code stands for, as text."""
        return tuple(str(value) for value in self.values.to_pylist())

    def cells(self, series: nw.Series[Any]) -> Cells:
        """Give the number of each cell's category."""
        array = plain_values(_arrow(series, self.name))
        places = pc.index_in(array, value_set=self.values.cast(array.type))
        missing = np.asarray(array.is_null())
        found = places.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        states = missing.astype(np.uint8)
        for state, code in enumerate(self.codes, 2):
            states[np.asarray(pc.equal(array, code).fill_null(False))] = state
        unknown = int(np.count_nonzero((found < 0) & (states == 0)))
        if unknown:
            raise InvalidData(
                f"column {self.name!r} has {unknown} value(s) that are none of its {len(self.values)} levels or "
                f"categories. Name all levels in kinds, in their order.",
                parameter="kinds",
                columns=(self.name,),
            )
        if not states.any():
            return Cells(found.astype(np.float64))
        return Cells(np.where(states > 0, np.nan, found), states)

    def series(self, cells: Cells, like: nw.Series[Any], power: int | None) -> nw.Series[Any]:  # noqa: ARG002
        """Make a series of categories: each cell is that of some row of the column that has it."""
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
        return taken(like, rows)


def plain_values(array: pa.Array) -> pa.Array:
    """Give what an Arrow array holds: no dictionary, no negative zero, null where not a number."""
    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    if pa.types.is_floating(array.type):
        array = pc.add(array, pa.scalar(0.0, array.type))
        array = pc.if_else(pc.is_nan(array), pa.scalar(None, array.type), array)
    if pa.types.is_string(array.type) or pa.types.is_string_view(array.type):
        array = array.cast(pa.large_string())
    return array


def _arrow(series: nw.Series[Any], name: Any) -> pa.Array:
    """Give a column as one Arrow array."""
    try:
        array = series.to_arrow()
        if pa.types.is_null(array.type):
            array = array.cast(pa.string())
        if pa.types.is_nested(array.type):
            raise TypeError
        return array
    except (pa.ArrowException, TypeError, OverflowError):  # whose message may show a cell
        raise InvalidData(
            f"column {name!r} mixes types or holds lists, so its values cannot be told apart. Make it text or numbers.",
            columns=(name,),
        ) from None


def _categories(series: nw.Series[Any], name: Any, codes: tuple[Any, ...]) -> tuple[pa.Array, tuple[Any, ...]]:
    """Give the different values of a column in order, without codes for missing ones; and these, of its type."""
    array = plain_values(_arrow(series, name))
    try:
        own = tuple(pa.array([_like_type(code, array.type) for code in codes], array.type).to_pylist())
    except (pa.ArrowException, ValueError, TypeError):
        raise InvalidParameter(
            f"missing_codes of column {name!r} are not of its type. Write them as the file does.",
            parameter="missing_codes",
            columns=(name,),
        ) from None
    values = array.unique().drop_null()
    if own:
        values = values.filter(pc.invert(pc.is_in(values, value_set=pa.array(own, array.type))))
    if pa.types.is_boolean(values.type):
        return pa.array(sorted(values.to_pylist()), values.type), own
    return values.take(pc.sort_indices(values)), own


def _like_type(code: Any, type_: pa.DataType) -> Any:
    is_text = pa.types.is_large_string(type_) or pa.types.is_string(type_)
    return str(code) if is_text else type_.to_pandas_dtype()(code)


def _nominal(series: nw.Series[Any], name: Any, asked: Asked) -> Coder:
    values, codes = _categories(series, name, asked.codes)
    if len(values) > MOST_CATEGORIES:
        raise InvalidData(
            f"column {name!r} has {len(values)} categories, more than {MOST_CATEGORIES}: nearly every group would mix "
            f"them. Join them by recoding, or give it another role.",
            columns=(name,),
        )
    kind: Kind = Nominal() if asked.kin is None else Taxonomy(kin_of(values, asked.kin, name))
    coder = CategoryCoder(name, kind, asked.importance, codes, values)
    coder.check_any(coder.cells(series))
    return coder


def _ordinal(series: nw.Series[Any], name: Any, asked: Asked) -> Coder:
    values, codes = _categories(series, name, asked.codes)
    if isinstance(asked.kind, tuple):
        try:
            levels = pa.array([_like_type(level, values.type) for level in asked.kind], values.type)
        except (pa.ArrowException, ValueError, TypeError):
            raise InvalidParameter(
                f"the levels of column {name!r} are not of its type. Write them as the file does.",
                parameter="kinds",
                columns=(name,),
            ) from None
    else:
        levels = _levels_in_order(series, name, values)
    coder = CategoryCoder(name, Ordinal(len(levels)), asked.importance, codes, levels)
    coder.check_any(coder.cells(series))
    return coder


def _levels_in_order(series: nw.Series[Any], name: Any, values: pa.Array) -> pa.Array:
    """Give the levels of a column that has an order of its own."""
    array = _arrow(series, name)
    if pa.types.is_dictionary(array.type) and array.type.ordered:
        levels = array.dictionary
        return levels.cast(pa.large_string()) if pa.types.is_string(levels.type) else levels
    if pa.types.is_large_string(values.type):
        raise InvalidData(
            f"column {name!r} is text, whose order nobody has said. List its levels in kinds, in their order.",
            parameter="kinds",
            columns=(name,),
        )
    return values


def _check_alike(before: nw.Series[Any], after: nw.Series[Any], name: Any) -> None:
    """Refuse a column that is numbers in one file only."""
    for which, one, other in (("original", before, after), ("masked", after, before)):
        if other.dtype.is_numeric() and not one.dtype.is_numeric():
            raise InvalidData(
                f"column {name!r} of the {which} file is {_described(one)}, and that of the other file is. Store both "
                f"alike, or leave it out with columns=.",
                columns=(name,),
            )


def open_both(before: nw.DataFrame[Any], after: nw.DataFrame[Any], asked: Mapping[Any, Asked]) -> tuple[Table, Table]:
    """Code two files alike: by the kinds of the first; the second may hold categories that the first lacks."""
    coders = []
    for name, wish in asked.items():
        _check_alike(before.get_column(name), after.get_column(name), name)
        coder = coder_for(before.get_column(name), name, wish)
        if isinstance(coder, CategoryCoder) and isinstance(coder.kind, Nominal):
            array = plain_values(_arrow(after.get_column(name), name))
            others = _categories(after.get_column(name), name, coder.codes)[0]
            try:
                others = others.cast(coder.values.type)
            except pa.ArrowException:
                raise InvalidData(
                    f"column {name!r} is of another type in the masked file ({array.type}). Store both alike.",
                    columns=(name,),
                ) from None
            fresh = others.filter(pc.invert(pc.is_in(others, value_set=coder.values)))
            coder = replace(coder, values=pa.concat_arrays([coder.values, fresh]))
        coders.append(coder)
    return written_table(before, coders), written_table(after, coders)


def written_table(frame: nw.DataFrame[Any], coders: Sequence[Coder]) -> Table:
    """Code the columns of a frame that holds values of the coders' columns."""
    return Table(tuple(coder.coded(frame.get_column(coder.name)) for coder in coders))
