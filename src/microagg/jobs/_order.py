"""The order of the rows that are written."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from microagg.columns.traces import sortable, without_views
from microagg.release import Release

Order = NDArray[np.int64]


def written_order(release: Release[Any], table: pa.Table) -> Order:
    """Return which row of a release's table each row of its file is.

    Whole units are in the order of their numbers, which follows from what is released, and stay together.
    """
    if release.recipe.output.same_order or release.recipe.units.release == "pseudonym":
        return np.arange(table.num_rows)
    return sorted_order(table, _tags_shown(release, table))


def _tags_shown(release: Release[Any], table: pa.Table) -> list[pa.Array]:
    """Return which of Stata's .a to .z the file shows, which are no values of a table; by others nothing is sorted."""
    masked = release.masked
    if release.source is None or release.source.labels is None:
        return list(masked.tags.values())
    kept = release.source.labels.tagged(release.rows).tags
    shown = [name for name in table.column_names if name not in masked.names and name not in masked.untold]
    return [*masked.tags.values(), *(kept[name] for name in shown if name in kept)]


def sorted_order(table: pa.Table, more: Sequence[pa.Array] = ()) -> Order:
    """Return the order of rows by all released columns: one that anybody could make, and that discloses nothing.

    `more` is what else a file shows of the rows.
    """
    keys = {}
    for number, column in enumerate([*without_views(table).columns, *map(pa.chunked_array, ([one] for one in more))]):
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        keys[str(number)] = sortable(column)  # Arrow takes a name with a point for a path
    order = pc.sort_indices(pa.table(keys), [(name, "ascending") for name in keys])
    return np.asarray(order.to_numpy(), dtype=np.int64)
