"""What a statistics package keeps beside the values: labels, formats, and which values stand for missing ones."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from microagg.base.frozen import frozen
from microagg.checks import EXACT_INTEGERS

MOST_STATES = 30
"""Values of a column that may each be missing in a way of its own: more are one plain missing value."""


_TO_1970 = 12219379200.0  # seconds, from the day that SPSS counts them from


@frozen()
class Labels:
    """What a statistics package keeps beside the values, by column.

    Attributes
    ----------
    kind : str
        The package: ``"spss"``, ``"stata"`` or ``"sas"``.
    columns : mapping of str to str
        What a column is about.
    values : mapping of str to mapping
        What a value stands for.
    formats : mapping of str to str
        How the package shows a column, in its own words.
    measures, widths : mapping
        Of SPSS: nominal, ordinal or scale; how wide a column is shown.
    missing : mapping of str to list
        Of SPSS: values and ranges that are declared missing, and are in the table as the values they are.
    tags : mapping of str to Array
        Of Stata: which of the missing values .a to .z a row has, where the table has null.
    """

    kind: str
    columns: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Mapping[Any, str]] = field(default_factory=dict)
    formats: Mapping[str, str] = field(default_factory=dict)
    measures: Mapping[str, str] = field(default_factory=dict)
    widths: Mapping[str, int] = field(default_factory=dict)
    missing: Mapping[str, list[Any]] = field(default_factory=dict)
    tags: Mapping[str, pa.Array] = field(default_factory=dict)

    def tagged(self, rows: Any) -> "Labels":
        """Return the same of a table that has these rows; None for rows that nobody knows, and that have no tags."""
        return replace(self, tags=_taken(self.tags, rows))

    def reserved(self, name: str) -> tuple[tuple[float, float], ...]:
        """Return the ranges of numbers that are declared missing in a column."""
        return tuple((low, high) for low, high in _ranges(self.missing.get(name, [])) if not isinstance(low, str))


@frozen()
class MaskedColumns:
    """Which columns of a table hold other values than its source's.

    Attributes
    ----------
    names : collection of str
    categories : collection of str
        Those of them whose values are all among the source's, so that what it says of values still holds.
    codes : mapping of str to collection
        Values that stand for missing ones, and still do: of those what the source says holds in any column.
    tags : mapping of str to Array
        Which of Stata's .a to .z a row has, where the table has null.
    untold : collection of str
        Columns that are released unchanged, except for .a to .z: these are plain missing values, as they were counted.
    """

    names: Collection[str] = ()
    categories: Collection[str] = ()
    codes: Mapping[str, Collection[Any]] = field(default_factory=dict)
    tags: Mapping[str, pa.Array] = field(default_factory=dict)
    untold: Collection[str] = ()

    def tagged(self, rows: Any) -> "MaskedColumns":
        """Return the same of a table that has these rows."""
        return replace(self, tags=_taken(self.tags, rows))


def _taken(tags: Mapping[str, pa.Array], rows: Any) -> dict[str, pa.Array]:
    return {} if rows is None else {name: tag.take(pa.array(rows)) for name, tag in tags.items()}


def _ranges(declared: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    for one in declared:
        yield (one["lo"], one["hi"]) if isinstance(one, dict) else (one, one)


def _is_declared(column: pa.ChunkedArray, declared: Sequence[Any]) -> pa.ChunkedArray | None:
    """Return which cells are declared missing; None where the column holds neither numbers nor dates nor text."""
    is_text = pa.types.is_string(column.type)
    if pa.types.is_date(column.type) or pa.types.is_timestamp(column.type):  # declared as the numbers that are stored
        column = pc.add(
            pc.divide(column.cast(pa.timestamp("us")).cast(pa.int64()).cast(pa.float64(), safe=False), 1e6), _TO_1970
        )
    if not (is_text or pa.types.is_floating(column.type) or pa.types.is_integer(column.type)):
        return None
    found = pa.chunked_array([pa.repeat(False, len(column))])
    for low, high in _ranges(declared):
        if isinstance(low, str) == is_text:
            within = pc.equal(column, low) if is_text else _between(column, low, high)
            found = pc.or_(found, pc.fill_null(within, False))
    return found


def _between(column: pa.ChunkedArray, low: float, high: float) -> Any:
    return pc.and_(pc.greater_equal(column, low), pc.less_equal(column, high))


def declared_values(column: pa.ChunkedArray, declared: Sequence[Any]) -> tuple[Any, ...]:
    """Return the different values of a column that are declared missing, in order; none where there are too many.

    Dates have none: they are missing or not.
    """
    which = None if pa.types.is_temporal(column.type) else _is_declared(column, declared)
    if which is None:
        return ()
    found = sorted(column.filter(which).unique().to_pylist())
    return tuple(_plain(value) for value in found) if len(found) <= MOST_STATES else ()


def _plain(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def without_declared_missing(
    column: pa.ChunkedArray, declared: Sequence[Any], kept: Collection[Any] = ()
) -> pa.ChunkedArray:
    """Make null of what is declared missing, and is no value to average, but for the values in `kept`."""
    which = _is_declared(column, declared)
    if which is None:
        return column
    if kept:
        own = pa.array(list(kept)).cast(column.type)
        which = pc.and_(which, pc.invert(pc.is_in(column, value_set=own)))
    return pc.if_else(which, pa.scalar(None, column.type), column)


def mostly_labelled(values: pa.Array, labels: Mapping[Any, str], codes: Collection[Any] = ()) -> bool:
    """Return whether the file says what most of these different values stand for, so that they are codes.

    Labels of a few values among many, as of a refusal to answer, leave a quantity what it is; `codes` stand for missing
    ones, and do not count.
    """
    if not labels or len(values) > 2 * len(labels) + len(codes):
        return False
    counted = [value for value in values.to_pylist() if value not in codes]
    return 2 * sum(value in labels for value in counted) >= len(counted) > 0


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
