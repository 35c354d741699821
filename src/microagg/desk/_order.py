"""The order of the rows that are written."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from microagg.io._categories import without_views


def reordered(table: pa.Table) -> tuple[pa.Table, NDArray[np.int64]]:
    """Sort the rows by all released columns: an order that anybody could make, and that tells nothing. Give it too."""
    keys, table = {}, without_views(table)
    for number, column in enumerate(table.columns):
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if not pa.types.is_nested(column.type):  # which has no order
            keys[str(number)] = column  # Arrow takes a name with a point for a path
    order = pc.sort_indices(pa.table(keys), [(name, "ascending") for name in keys])
    return table.take(order), order.to_numpy().astype(np.int64)
