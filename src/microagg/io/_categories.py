"""Categories of Arrow columns: what no row has must not be released."""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc


def used_categories(column: Any) -> Any:
    """Drop the values that no row of a dictionary column has; the others keep their order, which may mean something."""
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
