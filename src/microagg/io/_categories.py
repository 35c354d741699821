"""What lies in Arrow columns beside the values of their rows, such as categories of nobody: it must not be released."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def without_views(table: pa.Table) -> pa.Table:
    """Give a table whose text does not lie as views, of which Arrow cannot take rows."""
    return _with_text(table, pa.types.is_string_view, pa.large_string())


def with_views_of(table: pa.Table, other: pa.Table) -> pa.Table:
    """Give a table whose columns of text lie as views where those of another table do."""
    viewed = [name for name in table.column_names if pa.types.is_string_view(_text_type(other[name].type))]
    return _with_text(table, pa.types.is_large_string, pa.string_view(), viewed) if viewed else table


def _text_type(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _with_text(
    table: pa.Table, is_old: Callable[[pa.DataType], bool], new: pa.DataType, names: Sequence[str] | None = None
) -> pa.Table:
    fields = []
    for own in table.schema:
        kind = own.type
        if is_old(_text_type(kind)) and (names is None or own.name in names):
            kind = pa.dictionary(kind.index_type, new, kind.ordered) if pa.types.is_dictionary(kind) else new
        fields.append(own.with_type(kind))
    schema = pa.schema(fields, table.schema.metadata)
    return table if schema.equals(table.schema) else table.cast(schema)


def used_categories(column: Any) -> Any:
    """Drop the values that no row of a dictionary column has; the others keep their order, which may mean something.

    They tell of the original: a level that nobody has any more was somebody's. So levels are numbered anew where a
    column is read back, and a distance between two of them may be smaller than it was.
    """
    if isinstance(column, pa.ChunkedArray):
        whole = column.unify_dictionaries().combine_chunks()
        if isinstance(whole, pa.ChunkedArray):  # as newer versions of Arrow give it
            whole = whole.chunk(0) if whole.num_chunks else pa.array([], column.type)
        return pa.chunked_array([used_categories(whole)], column.type)
    kind = column.type
    used = pc.is_in(pa.array(range(len(column.dictionary)), kind.index_type), value_set=column.indices.unique())
    categories = column.dictionary.filter(used).unique()
    codes = pc.index_in(column.cast(kind.value_type), value_set=categories).cast(kind.index_type)
    return pa.DictionaryArray.from_arrays(codes, categories, ordered=kind.ordered)


def without_traces(column: Any) -> Any:
    """Give an Arrow column with nothing in its memory but what its rows show, down to lists and structs.

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
    """Tell whether there are categories within lists or structs."""
    inside = [kind.field(place).type for place in range(kind.num_fields)]
    return any(pa.types.is_dictionary(one) or _holds_categories(one) for one in inside)
