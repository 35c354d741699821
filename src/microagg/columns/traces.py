"""What lies in Arrow columns beside the values of their rows, such as categories of nobody: it must not be released."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_WITH_TRACES = ("dictionary", "list", "large_list", "fixed_size_list", "struct", "map")  # as Arrow calls its types


def without_views(table: pa.Table) -> pa.Table:
    """Return a table in which nothing lies as views, as Polars writes text and bytes: Arrow cannot take rows of them.

    Nor are there runs of equal values, of which it cannot either, nor floats of two bytes and decimals of negative
    scale, which little can compute with: they become wider.
    """
    for place, own in enumerate(table.schema):
        if _is_folded(own.type):
            plain = _unfolded_column(table.column(place))
            table = table.set_column(place, own.with_type(plain.type), plain)
    return _with_types(table, [_without_views(_computable(own.type)) for own in table.schema])


def with_views_of(table: pa.Table, other: pa.Table) -> pa.Table:
    """Return a table whose columns lie as views where those of another table do."""
    formerly = {own.name: own.type for own in other.schema}
    fields = [(own.type, formerly.get(own.name, own.type)) for own in table.schema]
    return _with_types(table, [old if _without_views(old) == now else now for now, old in fields])


def _with_types(table: pa.Table, types: Sequence[pa.DataType]) -> pa.Table:
    for place, (own, kind) in enumerate(zip(table.schema, types, strict=True)):
        if own.type != kind:
            with suppress(pa.ArrowNotImplementedError):  # nothing becomes a view of lists
                table = table.set_column(place, own.with_type(kind), table.column(place).cast(kind))
    return table


def _is_folded(kind: pa.DataType) -> bool:
    """Whether there are views of lists, which Arrow casts to lists that are not valid, or runs, down to lists."""
    folded = (pa.types.is_run_end_encoded, pa.types.is_list_view, pa.types.is_large_list_view)
    return any(test(kind) for test in folded) or any(_is_folded(kind.field(i).type) for i in range(kind.num_fields))


def _unfolded_column(column: Any) -> Any:
    parts = [_unfolded(chunk) for chunk in column.chunks]
    return pa.chunked_array(parts or [_unfolded(pa.nulls(0, column.type))])


def _unfolded(array: Any) -> Any:
    """An array whose lists lie one behind the other, and whose runs are written out, down to lists and structs."""
    kind = array.type
    if not _is_folded(kind):
        return array
    if pa.types.is_run_end_encoded(kind):
        return _unfolded(pc.run_end_decode(array))
    missing = array.is_null()
    if pa.types.is_struct(kind):
        parts = [_unfolded(part) for part in array.flatten()]
        inside = [own.with_type(part.type) for own, part in zip(kind, parts, strict=True)]
        return pa.StructArray.from_arrays(parts, fields=inside, mask=missing)
    is_large = pa.types.is_large_list(kind) or pa.types.is_large_list_view(kind)
    if not is_large and not pa.types.is_list(kind) and not pa.types.is_list_view(kind):
        return pa.array(array.to_pylist(), _without_views(kind))  # maps and lists of one length: hardly ever
    values = _unfolded(array.flatten())
    inner = kind.value_field.with_type(values.type)
    lengths = pc.list_value_length(array).fill_null(0).to_numpy(zero_copy_only=False)
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int64() if is_large else pa.int32())
    made, listed = (pa.LargeListArray, pa.large_list) if is_large else (pa.ListArray, pa.list_)
    return made.from_arrays(offsets, values, listed(inner), mask=missing)


def _computable(kind: pa.DataType) -> pa.DataType:
    """Return the type of the same numbers that others can compute with."""
    if pa.types.is_float16(kind):
        return pa.float32()
    if not pa.types.is_decimal(kind) or kind.scale >= 0:
        return kind
    digits = kind.precision - kind.scale
    return pa.decimal128(digits, 0) if digits <= 38 else pa.decimal256(digits, 0) if digits <= 76 else pa.float64()


def _without_views(kind: pa.DataType) -> pa.DataType:
    """Return the type of the same values that has no views, down to lists and structs."""
    if pa.types.is_string_view(kind):
        return pa.large_string()
    if pa.types.is_binary_view(kind):
        return pa.large_binary()
    if pa.types.is_run_end_encoded(kind):
        return _without_views(kind.value_type)
    if pa.types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, _without_views(kind.value_type), kind.ordered)
    inside = [kind.field(place) for place in range(kind.num_fields)]
    plain = [own.with_type(_without_views(own.type)) for own in inside]
    if pa.types.is_struct(kind):
        return pa.struct(plain)
    if pa.types.is_map(kind):
        return pa.map_(_without_views(kind.key_type), _without_views(kind.item_type), kind.keys_sorted)
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(plain[0], kind.list_size)
    if pa.types.is_large_list(kind) or pa.types.is_large_list_view(kind):
        return pa.large_list(plain[0])
    if pa.types.is_list(kind) or pa.types.is_list_view(kind):
        return pa.list_(plain[0])
    return kind


def used_categories(column: Any) -> Any:
    """Drop the values that no row of a dictionary column has, and sort the others unless the column is ordered.

    They disclose something of the original: a level that nobody has any more was somebody's. So levels are numbered
    anew where a column is read back, and a distance between two of them may be smaller than it was. Without an order of
    their own they mostly lie as they first appeared, which discloses where the rows were that have them.
    """
    if isinstance(column, pa.ChunkedArray):
        whole = column.unify_dictionaries().combine_chunks()
        if isinstance(whole, pa.ChunkedArray):  # as newer versions of Arrow give it
            whole = whole.chunk(0) if whole.num_chunks else pa.array([], column.type)
        return pa.chunked_array([used_categories(whole)], column.type)
    kind = column.type
    used = pc.is_in(pa.array(range(len(column.dictionary)), kind.index_type), value_set=column.indices.unique())
    values = without_traces(column.dictionary)
    categories = values.filter(used).unique()
    if not kind.ordered:
        categories = categories.take(pc.sort_indices(sortable(categories)))
    codes = pc.index_in(values.take(column.indices), value_set=categories).cast(kind.index_type)
    return pa.DictionaryArray.from_arrays(codes, categories, ordered=kind.ordered)


def without_traces(column: Any) -> Any:
    """Return an Arrow column with nothing in its memory but what its rows show, down to lists and structs.

    Arrow keeps more: categories that no row has, and values below a null, which were somebody's as well.
    """
    if isinstance(column, pa.ChunkedArray):
        if pa.types.is_dictionary(column.type):
            return used_categories(column)
        if _holds_categories(column.type):  # those of parts may differ, and a file has one list of them
            column = pa.chunked_array([pa.concat_arrays(column.chunks)] if column.num_chunks else [], column.type)
        return pa.chunked_array([without_traces(chunk) for chunk in column.chunks], column.type)
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, without_traces(column.storage))
    column = column.take(pa.array(np.arange(len(column))))  # copies, with zeros below nulls of plain types
    if pa.types.is_float32(kind) or pa.types.is_float64(kind):
        return pc.add(column, pa.scalar(0.0, kind))  # zeros of both signs are one value, and would be distinguished
    if pa.types.is_dictionary(kind):
        return used_categories(column)
    missing = column.is_null()
    if pa.types.is_struct(kind):
        parts = [without_traces(part) for part in column.flatten()]  # null where the struct is
        return pa.StructArray.from_arrays(parts, fields=list(kind), mask=missing) if parts else column
    if pa.types.is_map(kind):
        keys, items = without_traces(column.keys), without_traces(column.items)
        return pa.MapArray.from_arrays(column.offsets, keys, items, kind, mask=missing)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return type(column).from_arrays(column.offsets, without_traces(column.values), kind, mask=missing)
    if pa.types.is_fixed_size_list(kind):
        return pa.FixedSizeListArray.from_arrays(without_traces(column.values), type=kind, mask=missing)
    return column


def _holds_categories(kind: pa.DataType) -> bool:
    """Return whether there are categories within lists or structs."""
    inside = [kind.field(place).type for place in range(kind.num_fields)]
    return any(pa.types.is_dictionary(one) or _holds_categories(one) for one in inside)


def sortable(array: Any) -> Any:
    """Return an array of Arrow that it can sort: itself, or of lists, intervals and the like how they are shown."""
    try:
        pc.sort_indices(pa.table({"0": array.slice(0, 1)}), [("0", "ascending")])
    except pa.ArrowException:
        return shown_values(array)
    return array


def shown_values(array: Any) -> Any:
    """Return the values of an Arrow array as text, as Python shows them."""
    try:
        return pa.array([None if one is None else repr(one) for one in array.to_pylist()], pa.string())
    except (OverflowError, ValueError):  # moments that Python has no words for
        return pa.nulls(len(array), pa.string())


def frame_without_traces(native: Any) -> Any:
    """Return a frame of PyArrow, pandas or polars with nothing in its memory but what its rows show."""
    if hasattr(native, "replace_schema_metadata"):
        return _arrow_without_traces(native)
    if hasattr(native, "attrs"):
        return _pandas_without_traces(native)
    if hasattr(native, "iter_columns"):
        return _polars_without_traces(native)
    return native


def _arrow_without_traces(table: Any) -> Any:
    """Copy the rows out of the buffers they share with others; drop metadata and unused dictionary values."""
    return pa.table({name: without_traces(table[name].combine_chunks()) for name in table.column_names})


def _polars_without_traces(frame: Any) -> Any:
    """Copy text out of the buffers it shares with rows that were left out, and drop categories that no row has."""
    import polars as pl

    fresh = []
    for series in frame.iter_columns():
        if series.dtype in (pl.String, pl.Binary) or series.dtype.is_nested():
            compact = pl.from_arrow(without_traces(series.to_arrow())).alias(series.name)
            fresh.append(compact if series.dtype.is_nested() else compact.cast(series.dtype))
        elif series.dtype == pl.Enum:
            text = series.cast(pl.String)
            present = set(text.unique())
            fresh.append(text.cast(pl.Enum([name for name in series.dtype.categories if name in present])))
    return frame.with_columns(fresh)


def _pandas_without_traces(frame: Any) -> Any:
    """Drop attributes, the name of the columns' index, and categories that no row has."""
    pandas = nw.get_native_namespace(frame)
    frame = frame.take(np.arange(len(frame)))  # copies out of shared buffers, as copy() need not
    frame.attrs = {}
    frame.columns = frame.columns.rename(None)  # a new index: the old one may be the caller's too
    for position, dtype in enumerate(frame.dtypes):
        if str(getattr(dtype, "pyarrow_dtype", "")).startswith(_WITH_TRACES):
            column = nw.from_native(frame.iloc[:, position], series_only=True).to_arrow()
            frame.isetitem(position, pandas.arrays.ArrowExtensionArray(without_traces(column)))
        elif hasattr(dtype, "categories"):
            frame.isetitem(position, frame.iloc[:, position].cat.remove_unused_categories())
    return frame
