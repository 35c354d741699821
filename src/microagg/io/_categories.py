"""Categories of Arrow columns: what no row has must not be released."""

from collections.abc import Callable, Sequence
from typing import Any

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
