"""Taxonomies: trees whose leaves are the categories of a column."""

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from microagg.checks import MOST_OF_A_TABLE, text_of_file
from microagg.errors import InvalidData, InvalidParameter


def read_taxonomy(path: Any, name: Any) -> dict[str, tuple[str, ...]]:
    """Read a taxonomy: each line a value, its ancestor, that one's ancestor, and so on."""
    try:
        text = text_of_file(Path(path), MOST_OF_A_TABLE, parameter="taxonomy", columns=(name,))
        delimiter = ";" if ";" in text.partition("\n")[0] else ","
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row]
    except (OSError, UnicodeDecodeError, csv.Error):
        raise InvalidParameter(
            f"the taxonomy of column {name!r} cannot be read. Check the path; it must be text in UTF-8.",
            parameter="taxonomy",
            columns=(name,),
        ) from None
    widths: set[int] = {len(row) for row in rows}
    if len(widths) != 1 or widths <= {0, 1}:
        raise InvalidParameter(
            f"the taxonomy of column {name!r} must have the same number of ancestors in every line, at least one.",
            parameter="taxonomy",
            columns=(name,),
        )
    return {row[0]: tuple(row[1:]) for row in rows}


def kin_of(values: pa.Array, kin: Mapping[str, tuple[Any, ...]], name: Any) -> tuple[tuple[int, ...], ...]:
    """Number the ancestors of each category, level by level; the category itself is the first level."""
    shown = [str(value) for value in values.to_pylist()]
    lacking = sum(value not in kin for value in shown)
    if lacking:
        raise InvalidData(
            f"the taxonomy of column {name!r} does not hold {lacking} of its {len(shown)} categories. Add them.",
            parameter="taxonomy",
            columns=(name,),
        )
    levels = [tuple(range(len(shown)))]
    for depth in range(len(kin[shown[0]])):
        ancestors = [str(kin[value][depth]) for value in shown]
        numbers = {ancestor: number for number, ancestor in enumerate(sorted(set(ancestors)))}
        if len(numbers) > 1:  # the root is the same for everybody
            levels.append(tuple(numbers[ancestor] for ancestor in ancestors))
    return tuple(levels)
