"""How columns are coded: by their type, by what is asked of them, and by all of their values."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from microagg.base.frozen import frozen
from microagg.columns.coders import CategoryCoder, Coder, DateCoder, NumberCoder, arrow_of, plain_values
from microagg.columns.frames import described
from microagg.columns.kinds import Date, Kind, Nominal, Number, Ordinal, Semi, Taxonomy
from microagg.columns.kinds.date import DatesSeen
from microagg.columns.kinds.taxonomy import kin_of
from microagg.columns.labels import mostly_labelled
from microagg.columns.table import Table
from microagg.errors import InvalidData, InvalidParameter
from microagg.work import Progress, stage, tell

MOST_CATEGORIES = 1000
"""Categories of a nominal column, at most: more are nearly names."""

_MOST_HELD = 1 << 23  # different numbers that are held to find a spike
_MOST_NAMED = 1 << 20  # different values that are held to find categories or levels


@frozen()
class ColumnChoices:
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
    power : int or None
        Released numbers are to be multiples of ten to this power; None: what divides every value.
    """

    kind: Any = None
    codes: tuple[Any, ...] = ()
    kin: Mapping[str, tuple[Any, ...]] | None = None
    importance: float = 1.0
    labels: Mapping[Any, str] = field(default_factory=dict)
    reserved: tuple[tuple[float, float], ...] = ()
    power: int | None = None


def finder_for(series: nw.Series[Any], name: Any, asked: ColumnChoices) -> "Finder":
    """Return what finds out how a column is coded; a part of it, which may be empty, shows the type."""
    word = asked.kind
    if isinstance(word, tuple):
        word = "ordinal"
    elif isinstance(word, Mapping):
        word = "semi"
    elif word is None:
        word = _usual(series, name, asked)
    finders: dict[str, type[Finder]] = {
        "number": NumberFinder,
        "semi": SemiFinder,
        "date": DateFinder,
        "ordinal": OrdinalFinder,
        "nominal": NominalFinder,
    }
    return finders[word](series, name, asked)


def _usual(series: nw.Series[Any], name: Any, asked: ColumnChoices) -> str:
    """Return the kind of a column by its type."""
    dtype = series.dtype
    if asked.kin is not None:
        return "nominal"
    if _holds_numbers(series, name):
        values = plain_values(arrow_of(series, name)).unique().drop_null() if asked.labels else None
        if mostly_labelled(values, asked.labels, asked.codes):
            raise InvalidData(
                f"column {name!r} holds numbers that have labels in the file, so that they may be codes. Set its "
                "kind in kinds: 'nominal', 'ordinal' or 'number'.",
                parameter="kinds",
                columns=(name,),
            )
        return "number"
    if dtype.is_temporal():
        return "date"
    array = arrow_of(series, name)
    if pa.types.is_temporal(array.type):
        return "date"
    # A polars Enum is ordered too, as its user listed it; in a Parquet file it would look like any other.
    return "ordinal" if pa.types.is_dictionary(array.type) and array.type.ordered else "nominal"


def _holds_numbers(series: nw.Series[Any], name: Any) -> bool:
    """Return whether values are numbers; decimals may be objects, or wider than dataframes know."""
    if series.dtype.is_numeric() or series.dtype not in (nw.Object, nw.Unknown):
        return bool(series.dtype.is_numeric())
    return bool(pa.types.is_decimal(arrow_of(series, name).type))


class Finder(ABC):
    """Finds out how a column is coded, from all its parts.

    Attributes
    ----------
    needs_all : bool
        Whether it must see all parts; else the type says it all.
    """

    needs_all = True

    def __init__(self, series: nw.Series[Any], name: Any, asked: ColumnChoices) -> None:  # noqa: ARG002
        self.name, self.asked = name, asked

    def see(self, series: nw.Series[Any]) -> None:  # noqa: B027
        """Look at some more of the column, unless its type says it all."""

    def join(self, other: Any) -> None:  # noqa: B027
        """Take what another one has seen, of later rows."""

    @abstractmethod
    def coder(self) -> Coder:
        """Return what codes the column, or say why it cannot be coded."""

    def check_any(self, n_values: int) -> None:
        """Refuse a column without a single value."""
        if n_values == 0:
            raise InvalidData(
                f"column {self.name!r} has no value at all: all are missing. Drop it.", columns=(self.name,)
            )


class NumberFinder(Finder):
    """Numbers: nothing but their type must be known."""

    needs_all = False
    word = "a mean"

    def __init__(self, series: nw.Series[Any], name: Any, asked: ColumnChoices) -> None:
        super().__init__(series, name, asked)
        if not _holds_numbers(series, name):
            raise InvalidData(
                f"column {name!r} is {described(series)}, but {self.word} is asked of it. Choose nominal, ordinal or "
                "date in kinds, or give it another role.",
                parameter="kinds",
                columns=(name,),
            )
        codes = _numeric_codes(asked.codes, name)
        self._coder = NumberCoder(name, Number(), asked.importance, codes, asked.reserved, asked.power)

    def coder(self) -> Coder:
        """Return what codes the column."""
        return self._coder


class SemiFinder(NumberFinder):
    """A quantity with a spike: the value that is named, or else the commonest one."""

    needs_all = True
    word = "a mean beside a spike"

    def __init__(self, series: nw.Series[Any], name: Any, asked: ColumnChoices) -> None:
        super().__init__(series, name, asked)
        self._values, self._counts = np.empty(0), np.empty(0, dtype=np.int64)
        self._n_values = 0

    def see(self, series: nw.Series[Any]) -> None:
        """Count the values."""
        known = self._coder.cells(series).known
        self._n_values += known.size
        if not isinstance(self.asked.kind, Mapping):
            self._add(*np.unique(known, return_counts=True))

    def join(self, other: Any) -> None:
        """Take what another one has counted."""
        self._n_values += other._n_values
        self._add(other._values, other._counts)

    def _add(self, values: NDArray[np.float64], counts: NDArray[np.int64]) -> None:
        is_part = self._values.size > 0  # a column that is in memory as a whole comes at once
        self._values, places = np.unique(np.concatenate([self._values, values]), return_inverse=True)
        self._counts = np.bincount(places.ravel(), weights=np.concatenate([self._counts, counts])).astype(np.int64)
        if is_part and self._values.size > _MOST_HELD:
            raise InvalidData(
                f"column {self.name!r} has more than {_MOST_HELD} different values, too many to look for the "
                f"commonest. Name its spike in kinds.",
                parameter="kinds",
                columns=(self.name,),
            )

    def coder(self) -> Coder:
        """What codes the column; of several commonest values that nearest to zero is the spike, then the lower."""
        self.check_any(self._n_values)
        if isinstance(self.asked.kind, Mapping):
            return replace(self._coder, kind=Semi(float(self.asked.kind["spike"])))
        common = self._values[self._counts == self._counts.max()]
        return replace(self._coder, kind=Semi(float(common[np.abs(common).argmin()]) + 0.0))


def _numeric_codes(codes: tuple[Any, ...], name: Any) -> tuple[float, ...]:
    try:
        return tuple(float(code) for code in codes)
    except ValueError:
        raise InvalidParameter(
            f"missing_codes of column {name!r} must be numbers, as the column's values are.",
            parameter="missing_codes",
            columns=(name,),
        ) from None


class DateFinder(Finder):
    """Dates, times and durations."""

    def __init__(self, series: nw.Series[Any], name: Any, asked: ColumnChoices) -> None:
        super().__init__(series, name, asked)
        if series.dtype.is_numeric() or series.dtype == nw.Boolean:
            raise InvalidData(
                f"column {name!r} is a number, not a date. Choose number in kinds, or store it as dates.",
                parameter="kinds",
                columns=(name,),
            )
        if asked.codes:
            raise InvalidParameter(
                f"missing_codes cannot be used with column {name!r}, which holds dates. Leave them out.",
                parameter="missing_codes",
                columns=(name,),
            )
        self._seen = DatesSeen(arrow_of(series, name).type, name)

    def see(self, series: nw.Series[Any]) -> None:
        """Look at how dates are written."""
        self._seen.see(arrow_of(series, self.name))

    def join(self, other: Any) -> None:
        """Take what another one has seen."""
        self._seen.join(other._seen)

    def coder(self) -> Coder:
        """Return what codes the column."""
        form = self._seen.form()
        self.check_any(self._seen.n_values)
        return DateCoder(self.name, Date(), self.asked.importance, (), form)


class CategoryFinder(Finder):
    """Categories: the different values of the column, without codes for missing ones."""

    def __init__(self, series: nw.Series[Any], name: Any, asked: ColumnChoices) -> None:
        super().__init__(series, name, asked)
        self._values = plain_values(arrow_of(series, name).slice(0, 0))
        kind = self._values.type
        codes = _of_type(kind, asked.codes, "missing_codes", "missing_codes", name)
        self._codes = tuple(codes.to_pylist())

    def see(self, series: nw.Series[Any]) -> None:
        """Collect the different values."""
        values = plain_values(arrow_of(series, self.name)).unique().drop_null()
        if self._codes:
            values = values.filter(pc.invert(pc.is_in(values, value_set=pa.array(self._codes, values.type))))
        self._add(values)

    def join(self, other: Any) -> None:
        """Take the values that another one has collected."""
        self._add(other._values)

    def _add(self, values: pa.Array) -> None:
        is_part = len(self._values) > 0  # a column that is in memory as a whole comes at once
        self._values = pa.concat_arrays([self._values, values]).unique()
        if is_part and len(self._values) > _MOST_NAMED:
            raise self._too_many()

    def _too_many(self) -> InvalidData:
        return InvalidData(
            f"column {self.name!r} has {len(self._values)} categories, more than {MOST_CATEGORIES}: nearly every group "
            f"would mix them. Join them by recoding, or give it another role.",
            columns=(self.name,),
        )

    def in_order(self) -> pa.Array:
        """Return the different values in their order."""
        if pa.types.is_boolean(self._values.type):
            return pa.array(sorted(self._values.to_pylist()), self._values.type)
        return self._values.take(pc.sort_indices(self._values))


class NominalFinder(CategoryFinder):
    """Categories without an order."""

    def coder(self) -> Coder:
        """Return what codes the column."""
        if len(self._values) > MOST_CATEGORIES:
            raise self._too_many()
        self.check_any(len(self._values))
        values, kin = self.in_order(), self.asked.kin
        kind: Kind = Nominal() if kin is None else Taxonomy(kin_of(values, kin, self.name))
        return CategoryCoder(self.name, kind, self.asked.importance, self._codes, values)


class OrdinalFinder(CategoryFinder):
    """Categories with an order: that of the levels that are named, or of the column itself."""

    def __init__(self, series: nw.Series[Any], name: Any, asked: ColumnChoices) -> None:
        super().__init__(series, name, asked)
        kind = arrow_of(series, name).type
        self._is_dictionary = pa.types.is_dictionary(kind) and kind.ordered
        self._levels: pa.Array | None = None
        if isinstance(asked.kind, tuple):
            self._levels = _of_type(self._values.type, asked.kind, "the levels", "kinds", name)
        elif not self._is_dictionary and pa.types.is_large_string(self._values.type):
            raise InvalidData(
                f"column {name!r} is text, and the order of its values is not known. List its levels in kinds, in "
                "their order.",
                parameter="kinds",
                columns=(name,),
            )

    def see(self, series: nw.Series[Any]) -> None:
        """Collect the different values, and the levels that the column's type has."""
        super().see(series)
        if self._is_dictionary and not isinstance(self.asked.kind, tuple):
            levels = arrow_of(series, self.name).dictionary
            self._add_levels(levels.cast(pa.large_string()) if pa.types.is_string(levels.type) else levels)

    def join(self, other: Any) -> None:
        """Take the values and levels that another one has collected."""
        super().join(other)
        if self._is_dictionary and other._levels is not None:
            self._add_levels(other._levels)

    def _add_levels(self, levels: pa.Array) -> None:
        self._levels = levels if self._levels is None else pa.concat_arrays([self._levels, levels]).unique()

    def coder(self) -> Coder:
        """Return what codes the column."""
        self.check_any(len(self._values))
        levels = self.in_order() if self._levels is None else self._levels
        return CategoryCoder(self.name, Ordinal(len(levels)), self.asked.importance, self._codes, levels)


def _of_type(kind: pa.DataType, values: Sequence[Any], what: str, parameter: str, name: Any) -> pa.Array:
    """Return what a recipe says of a column as values of the column's type."""
    is_text = pa.types.is_large_string(kind) or pa.types.is_string(kind)
    try:
        return pa.array([str(value) if is_text else kind.to_pandas_dtype()(value) for value in values], kind)
    except (pa.ArrowException, ValueError, TypeError, OverflowError):
        raise InvalidParameter(
            f"{what} of column {name!r} are not of its type. Write them as the file does.",
            parameter=parameter,
            columns=(name,),
        ) from None


def open_table(
    frame: nw.DataFrame[Any], asked: Mapping[Any, ColumnChoices], progress: Progress | None = None
) -> tuple[Table, dict[Any, "Coder"]]:
    """Return the columns that are asked for, coded, and what codes them."""
    coders = {}
    for name, wish in asked.items():
        coders[name] = coder_for(frame.get_column(name), name, wish)
        tell(stage(progress, 0, 2), len(coders), len(asked))
    return written_table(frame, list(coders.values()), stage(progress, 1, 2)), coders


def coder_for(series: nw.Series[Any], name: Any, asked: ColumnChoices) -> Coder:
    """Find out how a column is coded, or say why it cannot be."""
    finder = finder_for(series, name, asked)
    finder.see(series)
    return finder.coder()


def _check_alike(before: nw.Series[Any], after: nw.Series[Any], name: Any) -> None:
    """Refuse a column that is numbers in one file only."""
    for which, one, other in (("original", before, after), ("masked", after, before)):
        if other.dtype.is_numeric() and not one.dtype.is_numeric():
            raise InvalidData(
                f"column {name!r} of the {which} file is {described(one)}, and in the other file it is not. Store "
                "both in the same way, or leave it out with columns=.",
                columns=(name,),
            )


def open_both(
    before: nw.DataFrame[Any], after: nw.DataFrame[Any], asked: Mapping[Any, ColumnChoices]
) -> tuple[Table, Table]:
    """Code two files in the same way: by the kinds of the first; the second may hold further categories."""
    coders = []
    for name, wish in asked.items():
        _check_alike(before.get_column(name), after.get_column(name), name)
        coder = coder_for(before.get_column(name), name, wish)
        if isinstance(coder, CategoryCoder) and isinstance(coder.kind, Nominal):
            finder = NominalFinder(after.get_column(name), name, ColumnChoices(codes=coder.codes))
            finder.see(after.get_column(name))
            others = finder.in_order()
            try:
                others = others.cast(coder.values.type)
            except pa.ArrowException:
                raise InvalidData(
                    f"column {name!r} is of another type in the masked file ({others.type}). Store both in the same "
                    "way.",
                    columns=(name,),
                ) from None
            fresh = others.filter(pc.invert(pc.is_in(others, value_set=coder.values)))
            coder = replace(coder, values=pa.concat_arrays([coder.values, fresh]))
        coders.append(coder)
    return written_table(before, coders), written_table(after, coders)


def written_table(frame: nw.DataFrame[Any], coders: Sequence[Coder], progress: Progress | None = None) -> Table:
    """Code the columns of a frame that holds values of the coders' columns."""
    columns = []
    for coder in coders:
        columns.append(coder.coded(frame.get_column(coder.name)))
        tell(progress, len(columns), len(coders))
    return Table(tuple(columns))
