"""Any dataframe to arrays and back, by narwhals. The caller's frame is never edited."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from microagg.algorithms.equivalence import classes_of, split_classes
from microagg.algorithms.units import Units
from microagg.checks import EXACT_INTEGERS, check_matrix
from microagg.columns.numbers import as_floats, by_value, decoded, plain_floats
from microagg.columns.traces import frame_without_traces, shown_values, sortable, with_views_of, without_views
from microagg.errors import InvalidData, RoleError, a_type
from microagg.work import Progress, each, in_parallel, threads_for


def open_frame(frame: Any) -> nw.DataFrame[Any]:
    """Take hold of a pandas, polars, PyArrow or other eager dataframe, its index left behind."""
    if hasattr(frame, "collect"):
        raise InvalidData(f"{a_type(frame)} is not in memory yet. Call .collect() first.")
    names: Any = getattr(frame, "column_names", getattr(frame, "columns", ()))
    if getattr(names, "nlevels", 1) > 1:
        raise InvalidData(
            f"the frame has {names.nlevels} levels of column names. Join them into one name for each column."
        )
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise RoleError(f"the frame has more than one column called {twice[0]!r}. Rename one of them.")
    try:
        opened = nw.from_native(frame, eager_only=True)
    except TypeError:
        raise InvalidData(f"{a_type(frame)} is not a dataframe. Pass a pandas, polars or PyArrow frame.") from None
    if opened.shape[0] == 0:
        raise InvalidData("the frame has no records. Pass at least k of them.")
    if opened.implementation.is_pyarrow():
        opened = nw.from_native(without_views(opened.to_native()), eager_only=True)
    if opened.implementation.is_pandas():
        opened = nw.from_native(_in_one_piece(opened.to_native()), eager_only=True)
    return nw.maybe_reset_index(opened)


def _in_one_piece(frame: Any) -> Any:
    """Return a pandas frame whose Arrow columns, as of text, are one array each: those of joined frames are several."""
    import pandas as pd

    fresh = {}
    for place in range(frame.shape[1]):
        column = frame.iloc[:, place].array
        if isinstance(column.dtype, (pd.ArrowDtype, pd.StringDtype)) and hasattr(column, "__arrow_array__"):
            stored = column.__arrow_array__()
            if isinstance(stored, pa.ChunkedArray) and stored.num_chunks != 1:
                fresh[place] = pd.array(stored.combine_chunks(), dtype=column.dtype)
    if not fresh:
        return frame
    whole = frame.copy(deep=False)
    for place, column in fresh.items():
        whole.isetitem(place, pd.Series(column, index=frame.index))
    return whole


def has_own_index(frame: Any) -> bool:
    """Return whether a frame has row labels of its own, which may identify: anything but 0, 1, 2, ..."""
    index = nw.maybe_get_index(nw.from_native(frame, eager_only=True))
    if index is None:
        return False
    plain = getattr(index, "nlevels", 1) == 1 and index.dtype.kind in "iu"
    return not (plain and index.name is None and np.array_equal(np.asarray(index), np.arange(len(index))))


def shared_codes(frame: nw.DataFrame[Any], names: Sequence[Any]) -> dict[Any, NDArray[np.int64]]:
    """Number the units of each column that several rows share; of lists and mixed types there are none."""
    found = {}
    for name in names:
        try:
            codes = unit_codes(frame, name)
        except InvalidData:
            continue
        if int(codes.max()) + 1 < codes.size:
            found[name] = codes
    return found


def missing_rows(frame: nw.DataFrame[Any], names: Sequence[Any]) -> dict[Any, NDArray[np.bool_]]:
    """Mark, for each column that has any, the rows where it is null or not a number."""
    found = {}
    for name in names:
        series = frame.get_column(name)
        mask = series.is_null().to_numpy().astype(bool)
        if series.dtype.is_float():
            mask |= np.isnan(series.cast(nw.Float64).to_numpy())
        if mask.any():
            found[name] = mask
    return found


WHOSE = "Fill them in: only you can know which unit such a record belongs to."
"""What to do about rows whose unit is missing."""


def check_complete(
    frame: nw.DataFrame[Any], names: Sequence[Any], *, remedy: str = "Impute them, or drop those records."
) -> None:
    """Refuse missing values, naming the columns and how many each has."""
    missing = missing_rows(frame, names)
    if missing:
        listed = ", ".join(f"{name!r} ({np.count_nonzero(mask)})" for name, mask in missing.items())
        raise InvalidData(f"missing values in {len(missing)} column(s): {listed}. {remedy}")


def check_numeric(frame: nw.DataFrame[Any], names: Sequence[Any]) -> None:
    """Refuse columns that no mean can be taken of, saying how to encode them."""
    for name in names:
        series = frame.get_column(name)
        if series.dtype.is_numeric():
            continue
        if series.dtype == nw.Boolean:
            remedy = "Encode it as 0 and 1"
        elif series.dtype.is_temporal():
            remedy = "Turn it into a number, such as days since a date"
        else:
            remedy = "Encode it as numbers that can be averaged"
        raise InvalidData(f"column {name!r} is {described(series)}. {remedy}, or leave it out.")


def described(series: nw.Series[Any]) -> str:
    """Name the type of a column without showing its categories, which are cells of the data."""
    native = getattr(nw.to_native(series), "dtype", None)
    kind = str(native) if isinstance(native, np.dtype) else type(series.dtype).__name__
    return f"not numeric ({kind})"


def to_columns(frame: nw.DataFrame[Any], names: Sequence[Any]) -> NDArray[np.float64]:
    """Read numeric columns without missing values as float64, (d, n), refusing what float64 cannot hold."""
    return np.array([checked_floats(frame.get_column(name), name)[0] for name in names])


def checked_floats(series: nw.Series[Any], name: Any) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return a column of numbers as float64, NaN where missing, and where that is; refuse what float64 cannot hold."""
    dtype = series.dtype
    missing = series.is_null().to_numpy().astype(bool)
    is_whole = dtype.is_integer() and not missing.all()
    if is_whole and max(abs(int(series.min())), abs(int(series.max()))) > EXACT_INTEGERS:
        raise InvalidData(
            f"column {name!r} has integers beyond 2**53, which float64 cannot distinguish. Subtract an offset, or make "
            "it an identifier."
        )
    values = floats_of(series)
    missing |= np.isnan(values)
    is_decimal = not (dtype.is_integer() or dtype.is_float())
    if is_decimal and not missing.all() and np.abs(values[~missing]).max() > EXACT_INTEGERS:
        raise InvalidData(f"column {name!r} has decimals beyond 2**53, which float64 cannot distinguish. Scale it.")
    infinite = np.count_nonzero(np.isinf(values))
    if infinite:
        raise InvalidData(f"column {name!r} has {infinite} infinite value(s). Drop those records or cap them.")
    return values, missing


def only(frame: nw.DataFrame[Any], names: Sequence[Any]) -> Any:
    """Return a copy of these columns as a frame of the caller's kind."""
    return nw.to_native(frame.select([frame.get_column(name) for name in names]).clone())


def is_frame(file: Any) -> bool:
    """Return whether it is a dataframe, and not an array."""
    return hasattr(file, "column_names") or hasattr(file, "columns")


def read_numbers(file: Any) -> tuple[list[Any], NDArray[np.float64]]:
    """Read a whole file of numbers without missing values: the names, or numbers, of its columns, and (d, n)."""
    if not is_frame(file):
        columns = np.ascontiguousarray(check_matrix(file).T)
        return list(range(columns.shape[0])), columns
    frame = open_frame(file)
    names: list[Any] = list(frame.columns)
    check_numeric(frame, names)
    check_complete(frame, names)
    return names, to_columns(frame, names)


def ordered_codes(frame: nw.DataFrame[Any], name: Any) -> tuple[NDArray[np.int64], bool]:
    """Number the distinct values of a column, in order if they have one; return whether they have."""
    series = frame.get_column(name)
    comparable = series.dtype.is_numeric() or series.dtype.is_temporal() or series.dtype == nw.Boolean
    codes = category_codes(frame, [name])
    if not comparable or series.is_null().any():
        return codes, False
    firsts = np.unique(codes, return_index=True)[1]
    # By a name of ours: Arrow takes one with a point for a path.
    distinct = series.alias("value").to_frame()[firsts.tolist(), :].with_row_index("row")
    order = distinct.sort("value")["row"].to_numpy()
    rank = np.empty(order.size, dtype=np.int64)
    rank[order] = np.arange(order.size)
    return rank[codes], True


def category_codes(
    frame: nw.DataFrame[Any], names: Sequence[Any], progress: Progress | None = None
) -> NDArray[np.int64]:
    """Number the distinct combinations of these columns from 0, and give each row's number."""
    codes = np.zeros(frame.shape[0], dtype=np.int64)
    for name in each(names, progress):
        indices = _indices(frame, name)
        codes = split_classes(codes, indices, indices)
    return codes


def unit_codes(frame: nw.DataFrame[Any], name: Any) -> NDArray[np.int64]:
    """Number the units of a column from 0, whichever way each of them is spelt."""
    indices = _indices(frame, name, by_value)
    return split_classes(np.zeros_like(indices), indices, indices)


def units_of(frame: nw.DataFrame[Any], name: Any, in_part: bool = True) -> Units:
    """Return the units of rows, and how many spellings of them were taken for the same unit as another."""
    codes = unit_codes(frame, name)
    return Units(codes, in_part, joined=int(_indices(frame, name).max()) - int(codes.max()))


def row_classes(frame: nw.DataFrame[Any], names: Sequence[Any], progress: Progress | None = None) -> NDArray[np.int64]:
    """Do the same sooner, with numbers in no particular order: to count identical rows."""
    n_jobs = threads_for(frame.shape[0])
    indices = in_parallel(lambda name, _: _indices(frame, name), names, n_jobs, progress)
    return classes_of([np.zeros(frame.shape[0], dtype=np.int64), *indices])


def _indices(
    frame: nw.DataFrame[Any], name: Any, as_compared: Callable[[Any], Any] = plain_floats
) -> NDArray[np.int64]:
    """Number the distinct values of a column, in the form in which they are compared."""
    try:
        array = decoded(frame.get_column(name).to_arrow())  # a dictionary's own codes may differ for equal values
        encoded = as_compared(array).dictionary_encode()
    except (pa.ArrowException, TypeError, OverflowError):  # whose message may show a cell
        raise InvalidData(
            f"column {name!r} mixes types or holds lists, so that its values cannot be compared. Turn it into "
            "text or numbers."
        ) from None
    found = encoded.indices.cast("int64").fill_null(len(encoded.dictionary))
    return np.asarray(found.to_numpy(zero_copy_only=False))


class Numbering:
    """Numbers the combinations of some columns over tables that come one after the other."""

    def __init__(self, names: Sequence[Any]) -> None:
        self._names = names
        self._values: dict[Any, Any] = {}  # each column's distinct values so far, as Arrow arrays
        self._numbers: dict[tuple[int, ...], int] = {}

    def codes(self, table: Any) -> NDArray[np.int64]:
        """Return the number of each row; equal combinations have the same one in every table."""
        found = []
        for name in self._names:
            array = table[name].combine_chunks()
            try:
                array = plain_floats(decoded(array))
                known = self._values.get(name, array.slice(0, 0))
                distinct = array.unique()
                fresh = distinct.filter(pc.is_null(pc.index_in(distinct, value_set=known)))
                self._values[name] = known = pa.concat_arrays([known, fresh])
                found.append(pc.index_in(array, value_set=known).to_numpy(zero_copy_only=False).astype(np.int64))
            except (pa.ArrowException, TypeError):  # whose message may show a cell
                raise InvalidData(
                    f"column {name!r} holds values that cannot be compared. Turn it into text or numbers."
                ) from None
        pairs, inverse = np.unique(np.array(found), axis=1, return_inverse=True)
        numbers = [self._numbers.setdefault(tuple(pair), len(self._numbers)) for pair in pairs.T.tolist()]
        return np.array(numbers, dtype=np.int64)[inverse.ravel()]


def differ(before: nw.DataFrame[Any], after: nw.DataFrame[Any], name: Any) -> bool:
    """Return whether two files have other values in a column; those of another type are taken for others."""
    was, now = (one.get_column(name).to_arrow() for one in (before, after))
    try:
        now = now.cast(was.type)
        if pa.types.is_floating(was.type):  # a NaN is not even equal to itself
            if not pc.is_nan(was).equals(pc.is_nan(now)):
                return True
            was, now = (pc.if_else(pc.is_nan(one), None, one) for one in (was, now))
        return not was.equals(now)
    except pa.ArrowException:  # whose message may show a cell
        return True


def keep_rows(frame: nw.DataFrame[Any], mask: NDArray[np.bool_]) -> nw.DataFrame[Any]:
    """Return the frame without the rows outside the mask, numbered anew."""
    return nw.maybe_reset_index(frame.filter(mask.tolist()))


def in_order(frame: nw.DataFrame[Any], rows: NDArray[np.int64]) -> nw.DataFrame[Any]:
    """Return the records in another order."""
    return nw.maybe_reset_index(frame[rows])


def with_numbers(frame: nw.DataFrame[Any], name: Any, numbers: NDArray[np.int64]) -> nw.DataFrame[Any]:
    """Put whole numbers in the place of a column."""
    fresh = nw.new_series(name, numbers, nw.Int64(), backend=nw.get_native_namespace(frame))
    if hasattr(nw.to_native(frame), "attrs"):  # pandas puts values beside the rows of the same label
        fresh = nw.maybe_set_index(fresh, index=nw.maybe_get_index(frame))
    return frame.with_columns(fresh)


def row_ranks(frame: nw.DataFrame[Any]) -> NDArray[np.int64]:
    """Rank the rows by the values of all columns, the first column first; equal rows have the same rank.

    It follows from the values alone, and not from where rows stand.
    """
    ranks = np.zeros(frame.shape[0], dtype=np.int64)
    for name in frame.columns:
        array = decoded(frame.get_column(name).to_arrow())
        try:
            own = _ranks(sortable(array))
        except pa.ArrowException:  # it sorts more types than it finds the different values of
            own = _ranks(shown_values(array))
        ranks = np.unique(ranks * (int(own.max(initial=0)) + 1) + own, return_inverse=True)[1].astype(np.int64).ravel()
    return ranks


def _ranks(array: Any) -> NDArray[np.int64]:
    encoded = plain_floats(array).dictionary_encode()
    order = pc.sort_indices(encoded.dictionary).to_numpy()
    places = np.empty(order.size + 1, dtype=np.int64)
    places[order], places[-1] = np.arange(order.size), order.size  # missing values come last
    indices = encoded.indices.cast("int64").fill_null(order.size).to_numpy(zero_copy_only=False)
    return np.asarray(places[indices])


def with_columns(frame: nw.DataFrame[Any], names: Sequence[Any], replaced: Mapping[Any, nw.Series[Any]]) -> Any:
    """Build a native frame of these columns in this order, some of them replaced by others."""
    selected = frame.select(*(nw.col(name) for name in names)).with_columns(*replaced.values())
    return frame_without_traces(nw.to_native(selected))


def laid_out_like(frame: Any, released: Any) -> Any:
    """Return a released frame with its text laid out in memory as the caller's is."""
    if not (hasattr(frame, "replace_schema_metadata") and hasattr(released, "replace_schema_metadata")):
        return released
    return with_views_of(released, frame)


def floats_of(series: nw.Series[Any]) -> NDArray[np.float64]:
    """Return a copy of numbers as float64, NaN where missing."""
    if series.dtype.is_integer() or series.dtype.is_float():
        return np.array(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
    return np.array(as_floats(series.to_arrow()).to_numpy(zero_copy_only=False), dtype=np.float64)


def numbers_like(series: nw.Series[Any], values: NDArray[Any]) -> nw.Series[Any]:
    """Make a series of new numbers with the name, library and family of dtypes of an old one."""
    fresh = nw.new_series(series.name, values, backend=nw.get_native_namespace(series))
    target = series.dtype if values.dtype.kind in "iu" or series.dtype == nw.Float32 else nw.Float64()
    native_type = getattr(nw.to_native(series.cast(target)), "dtype", None)
    if hasattr(nw.to_native(fresh), "astype"):  # pandas has several kinds of each number: keep the caller's
        return nw.from_native(nw.to_native(fresh).astype(native_type), series_only=True)
    return fresh.cast(target)
