"""Series of the library and type that came in, from arrays."""

from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microagg.columns.numbers import as_floats


def floats_of(series: nw.Series[Any]) -> NDArray[np.float64]:
    """Return a copy of numbers as float64, NaN where missing."""
    if series.dtype.is_integer() or series.dtype.is_float():
        return np.array(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
    return np.array(as_floats(series.to_arrow()).to_numpy(zero_copy_only=False), dtype=np.float64)


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


def numbers_like(series: nw.Series[Any], values: NDArray[Any]) -> nw.Series[Any]:
    """Make a series of new numbers with the name, library and family of dtypes of an old one."""
    fresh = nw.new_series(series.name, values, backend=nw.get_native_namespace(series))
    target = series.dtype if values.dtype.kind in "iu" or series.dtype == nw.Float32 else nw.Float64()
    native_type = getattr(nw.to_native(series.cast(target)), "dtype", None)
    if hasattr(nw.to_native(fresh), "astype"):  # pandas has several kinds of each number: keep the caller's
        return nw.from_native(nw.to_native(fresh).astype(native_type), series_only=True)
    return fresh.cast(target)


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
