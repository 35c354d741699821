"""Stata's missing values .a to .z, as numbers while a table is masked."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from microagg.checks import EXACT_INTEGERS
from microagg.columns.labels import Labels

Tags = Mapping[str, Mapping[float, str]]
"""By column, the number that stands for each of .a to .z."""


def with_tags_as_numbers(table: pa.Table, labels: Labels | None, names: Sequence[str]) -> tuple[pa.Table, Tags]:
    """Put numbers in the place of .a to .z, beyond all others of a column; give which stand for which.

    Dates have no such numbers, and files of others than Stata are not written with such values: there they are plainly
    missing.
    """
    tags = labels.tags if labels is not None and labels.kind == "stata" else {}
    found = {}
    for name in names:
        letters = tags[name].unique().drop_null() if name in tags else pa.array([], pa.string())
        column = table[name]
        if not len(letters) or not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
            continue
        largest = int(pc.max(pc.abs(column)).as_py() or 0)
        if largest + len(letters) >= EXACT_INTEGERS:
            continue
        letters = letters.take(pc.sort_indices(letters))
        numbers = pa.array(range(largest + 1, largest + 1 + len(letters))).cast(column.type)
        placed = numbers.take(pc.index_in(tags[name], value_set=letters))
        table = table.set_column(table.column_names.index(name), name, pc.coalesce(column, placed))
        found[name] = dict(zip(numbers.to_pylist(), letters.to_pylist(), strict=True))
    return table, found


def with_tags_again(table: pa.Table, tags: Tags) -> tuple[pa.Table, dict[str, pa.Array]]:
    """Return a masked table with null where a number stands for one of .a to .z, and which one each row has."""
    found = {}
    for name, letters in tags.items():
        column = table[name].combine_chunks()
        numbers = pa.array(list(letters)).cast(column.type)
        places = pc.index_in(column, value_set=numbers)
        found[name] = pa.array(list(letters.values())).take(places)
        plain: Any = pc.if_else(pc.is_valid(places), pa.scalar(None, column.type), column)
        table = table.set_column(table.column_names.index(name), name, plain)
    return table, found
