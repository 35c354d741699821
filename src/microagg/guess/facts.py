"""What there is to know of a column: its values and how often each occurs, read once for all rules."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from microagg.checks import EXACT_INTEGERS, check_jobs
from microagg.columns.labels import mostly_labelled
from microagg.columns.numbers import as_floats, decoded, holds_numbers, plain_floats
from microagg.guess.names import words_of
from microagg.work import Progress, in_parallel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FEW = 50  # different values up to which a column may divide the file into strata
_UNIQUE = 0.95  # share of different values from which a column may identify everybody
_ENOUGH = 20  # values from which such a share means something


@dataclass(frozen=True, eq=False)
class ColumnValues:
    """The values of a column.

    Attributes
    ----------
    name : str
    type : str
        See `ColumnGuess`.
    codes : array of shape (n,)
        Which of the different values each row has, in their order; -1 where it is missing.
    counts : array of shape (distinct,)
        How often each value occurs.
    values : pyarrow.Array
        The different values in their order; without an order, or if they cannot be compared, empty.
    numbers : array or None
        The same as float64, of numbers that it can hold.
    ordered, category : bool
        Whether it is stored as a category, with an order.
    labels : mapping
        What values stand for, where the file says so.
    measure : str or None
        "nominal", "ordinal" or "scale", where the file says so.
    """

    name: str
    type: str
    codes: Ints
    counts: Ints
    values: Any
    numbers: Floats | None = None
    ordered: bool = False
    category: bool = False
    labels: Mapping[Any, str] = field(default_factory=dict)
    measure: str | None = None

    @property
    def words(self) -> frozenset[str]:
        """The words of its name."""
        return words_of(self.name)

    @property
    def distinct(self) -> int:
        """How many different values it has."""
        return len(self.counts)

    @property
    def present(self) -> int:
        """How many values are there."""
        return int(self.counts.sum())

    @property
    def missing(self) -> int:
        """How many values are missing."""
        return len(self.codes) - self.present

    @property
    def telling(self) -> bool:
        """Whether it identifies nearly everybody, by other things than amounts with decimals."""
        return self.type != "numbers" and tells_apart(self.counts)

    @property
    def whole(self) -> bool:
        """Whether it holds whole numbers that stand for themselves, as far as is known."""
        return self.type == "whole numbers" and self.numbers is not None


def tells_apart(counts: Ints) -> bool:
    """Return whether values that occur so often identify nearly everybody."""
    return bool(counts.sum() >= _ENOUGH and len(counts) >= _UNIQUE * counts.sum())


def facts_of_table(
    table: pa.Table,
    labels: Mapping[str, Mapping[Any, str]],
    measures: Mapping[str, str],
    progress: Progress | None = None,
) -> list[ColumnValues]:
    """Read all columns of a table, with what its file says of some."""

    def read(name: str, check: Callable[[], None]) -> ColumnValues:
        check()
        return read_facts(table[name], name, labels.get(name), measures.get(name))

    return in_parallel(read, table.column_names, check_jobs(None), progress)


def read_facts(
    column: pa.ChunkedArray, name: str, labels: Mapping[Any, str] | None = None, measure: str | None = None
) -> ColumnValues:
    """Read a column: a dictionary is its values, and what is not a number is missing."""
    stored = column.type
    category = pa.types.is_dictionary(stored)
    column = plain_floats(decoded(column))
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
    labels = labels or {}
    try:
        encoded = column.combine_chunks().dictionary_encode()
        if isinstance(encoded, pa.ChunkedArray):  # of no rows, or of several chunks in older versions
            encoded = pa.concat_arrays(encoded.unify_dictionaries().chunks)
        order = pc.sort_indices(encoded.dictionary).to_numpy()
    except pa.ArrowException:  # lists and the like
        missing = column.is_null().to_numpy().astype(bool)
        return ColumnValues(
            name, "other", np.where(missing, -1, 0), np.array([np.count_nonzero(~missing)]), pa.array([])
        )
    rank = np.empty(len(order) + 1, dtype=np.int64)
    rank[order] = np.arange(len(order))
    rank[-1] = -1
    codes = rank[encoded.indices.cast(pa.int64()).fill_null(len(order)).to_numpy(zero_copy_only=False)]
    values = encoded.dictionary.take(pa.array(order))
    numbers = _as_floats(values)
    type_ = _type(values, numbers)
    if _stand_for_more(values, category, labels, measure):
        type_ = "codes"
    return ColumnValues(
        name,
        type_,
        codes,
        np.bincount(codes[codes >= 0], minlength=len(order)),
        values,
        numbers,
        category and bool(stored.ordered),
        category,
        labels,
        measure,
    )


def _as_floats(values: Any) -> Floats | None:
    """Return numbers as float64, or None if it cannot distinguish them: whole ones beyond 2**53."""
    if not holds_numbers(values.type) or not len(values):
        return None
    if not pa.types.is_floating(values.type):
        extremes = values[0].as_py(), values[-1].as_py()
        if max(abs(extreme) for extreme in extremes) > EXACT_INTEGERS:
            return None
    return np.asarray(as_floats(values).to_numpy(zero_copy_only=False))


def _type(values: Any, numbers: Floats | None) -> str:
    """Say what values are. Some files hold no numbers but floats, so the type alone does not say which are whole.

    Beyond 2**53 every float is whole, which says nothing.
    """
    if holds_numbers(values.type):
        if numbers is None:
            return "whole numbers" if pa.types.is_integer(values.type) else "numbers"
        whole = bool(np.all(numbers == np.floor(numbers))) and abs(numbers[[0, -1]]).max() <= EXACT_INTEGERS
        return "whole numbers" if whole else "numbers"
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        return "text"
    if pa.types.is_boolean(values.type):
        return "booleans"
    return "dates" if pa.types.is_temporal(values.type) else "other"


def _stand_for_more(values: Any, category: bool, labels: Mapping[Any, str], measure: str | None) -> bool:
    """Return whether numbers are codes: categories, or most of them with a label that says what they stand for."""
    if not holds_numbers(values.type) or not len(values):
        return False
    if category or measure in ("nominal", "ordinal"):
        return True
    return mostly_labelled(values, labels)
