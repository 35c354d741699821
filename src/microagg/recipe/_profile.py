"""What the file was like that a recipe was written for: enough to notice that the next file is of another kind.

It decides nothing: no digest of a recipe, no comparison of two recipes and no masked value depends on it. Categories
are kept as short digests, and numbers as their order of size, to one digit. A digest hides a category from a reader,
not from somebody who tries all categories that are possible: a recipe is internal.
"""

import hashlib
import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from microagg.base.frozen import ReadOnly, frozen
from microagg.columns import frames
from microagg.columns.coders import arrow_of
from microagg.columns.kinds.date import are_dates
from microagg.columns.numbers import as_floats, is_text, plain_floats
from microagg.columns.roles import Role
from microagg.errors import InvalidData
from microagg.files.batches import Batches
from microagg.files.sources import Source

if TYPE_CHECKING:
    from microagg.recipe._recipe import Recipe

MOST = 2000
"""Categories up to which a column's are kept."""

TYPES = ("numbers", "text", "dates", "booleans", "other")
_LOOKED_AT = (Role.QUASI, Role.STRATUM, Role.WEIGHT, Role.CONFIDENTIAL, Role.KEEP)
_ENOUGH = 20  # numbers beside 0 from which their size is kept: of fewer it could be that of one record
_HIGH = 0.95  # the share of the numbers that a high one exceeds
_SMALLEST = -324 * 50  # the class of the smallest float64
_PER_DECADE = 50  # classes of size for each power of ten: any part of a file adds to them


@frozen()
class ColumnProfile:
    """What a column was like.

    Attributes
    ----------
    type : str or None
        One of `TYPES`; None where the column is not looked at, since it is not released, or has no values.
    missing : int
        Percent of its values that are missing.
    median, high : float or None
        Of numbers that are not 0, without their sign: the median and the 95th percentile, to one digit.
    categories : frozenset of str or None
        A digest of each category of a masked column or a stratum; None where it has more than 2000, or holds amounts.
    """

    type: str | None = None
    missing: int = 0
    median: float | None = None
    high: float | None = None
    categories: frozenset[str] | None = None


@frozen()
class Profile(ReadOnly):
    """What a file was like, column by column, in its order."""

    columns: Mapping[Any, ColumnProfile] = field(default_factory=dict)


def digest_of(column: Any, value: str) -> str:
    """Return what is kept of a category."""
    text = f"{column}\0{value}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=4).hexdigest()


def as_text(value: Any) -> str:
    """Return a category as text: the same for 1, 1.0 and "1", as another kind of file may store it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def is_declared_category(recipe: "Recipe", name: Any) -> bool | None:
    """Return whether a recipe says that a column holds categories; None where the type of the column says it."""
    rule, kind = recipe.recode.recode.get(name), recipe.kinds.kinds.get(name)
    if rule is not None:
        return "join" in rule
    if kind is not None:
        return isinstance(kind, tuple) or kind in ("nominal", "ordinal")
    return True if name in recipe.roles.strata or name in recipe.taxonomy.taxonomy else None


def names_in(frame: Any) -> list[Any]:
    """Return the names of the columns of a frame, a `Source` or a file beyond memory."""
    if isinstance(frame, Source):
        return list(frame.table.column_names)
    return list(frame.names) if isinstance(frame, Batches) else list(frames.open_frame(frame).columns)


def profile_of(recipe: "Recipe", frame: Any) -> Profile:
    """Return what a file is like by the columns that a recipe releases; the others are named alone.

    Parameters
    ----------
    recipe : Recipe
    frame : dataframe, Source or Batches
        A file beyond memory is read once, part by part; text twice, to find the numbers in it.
    """
    names = names_in(frame)
    masked = recipe.masked(names)
    released = {*masked, *(name for role in _LOOKED_AT[1:] for name in recipe.roles.of(role.value))}
    looked_at = [name for name in names if name in released]
    seen = {name: _Seen(recipe, name, name in masked or name in recipe.roles.strata) for name in looked_at}
    for name, column in _columns(frame, looked_at):
        seen[name].see(column)
    return Profile({name: seen[name].found if name in seen else ColumnProfile() for name in names})


def _columns(frame: Any, names: list[Any]) -> Iterator[tuple[Any, Any]]:
    """Return columns as Arrow has them, with numbers as numbers, part by part; None for one that it cannot hold."""
    if isinstance(frame, Source):
        table = frame.typed()
        yield from ((name, table[name]) for name in names)
    elif isinstance(frame, Batches):
        frame.read_as_numbers(names)
        yield from ((name, table[name]) for table in frame.tables(names) for name in names if names)
    else:
        opened = frames.open_frame(frame)
        for name in names:
            try:
                yield name, arrow_of(opened.get_column(name), name)
            except InvalidData:  # masking refuses such a column, and says why
                yield name, None


class _Seen:
    """What was seen of a column so far, in any number of parts."""

    def __init__(self, recipe: "Recipe", name: Any, matters: bool) -> None:
        self._name, self._matters = name, matters
        self._declared = is_declared_category(recipe, name)
        self._is_date = recipe.kinds.kinds.get(name) == "date"
        self._codes = recipe.missing_codes.codes.get(name, ())
        self._type: str | None = None
        self._records = self._present = 0
        self._sizes: Counter[int] = Counter()
        self._categories: set[str] | None = set()

    def see(self, column: Any) -> None:
        """Look at some more of the column."""
        if column is None:
            self._type = "other"
            return
        own = pa.types.is_dictionary(column.type)
        column = plain_floats(column.cast(column.type.value_type) if own else column)
        number = _is_number(column.type)
        column = _without(column, self._codes, number)
        self._records += len(column)
        self._present += len(column) - column.null_count
        if len(column) == column.null_count:
            return
        self._type = self._type_of(column)
        by_type = own or self._type in ("text", "booleans")
        if self._matters and (by_type if self._declared is None else self._declared):
            self._see_categories(column)
            return
        self._categories = None
        if number:
            self._see_sizes(np.abs(as_floats(column.drop_null()).to_numpy(zero_copy_only=False)))

    def _type_of(self, column: Any) -> str:
        if is_text(column.type):
            if self._is_date and self._type in (None, "dates") and are_dates(_distinct(column)):
                return "dates"
            return "text"
        if _is_number(column.type):
            return "numbers"
        if pa.types.is_boolean(column.type):
            return "booleans"
        return "dates" if pa.types.is_temporal(column.type) else "other"

    def _see_categories(self, column: Any) -> None:
        distinct = None if self._categories is None else _distinct(column)
        if self._categories is None or distinct is None or len(distinct) > MOST:
            self._categories = None
            return
        self._categories |= {digest_of(self._name, as_text(value)) for value in distinct.to_pylist()}
        if len(self._categories) > MOST:
            self._categories = None

    def _see_sizes(self, values: NDArray[np.float64]) -> None:
        values = values[np.isfinite(values) & (values > 0)]
        classes = np.floor(np.log10(values) * _PER_DECADE).astype(np.int64) - _SMALLEST
        counts = np.bincount(classes)
        found = np.flatnonzero(counts)
        self._sizes.update(dict(zip((found + _SMALLEST).tolist(), counts[found].tolist(), strict=True)))

    @property
    def found(self) -> ColumnProfile:
        """What is kept of the column."""
        if self._type is None:
            return ColumnProfile()
        missing = 0 if not self._records else round(100 * (1 - self._present / self._records))
        categories = None if not self._categories else frozenset(self._categories)
        return ColumnProfile(self._type, missing, self._size(0.5), self._size(_HIGH), categories)

    def _size(self, share: float) -> float | None:
        """Return a quantile of the sizes, to one digit."""
        n, below = sum(self._sizes.values()), 0
        if n < _ENOUGH:
            return None
        for place in sorted(self._sizes):
            below += self._sizes[place]
            if below >= share * n:
                return float(f"{10 ** ((place + 0.5) / _PER_DECADE):.0e}")
        return None


def _is_number(type_: pa.DataType) -> bool:
    return bool(pa.types.is_integer(type_) or pa.types.is_floating(type_) or pa.types.is_decimal(type_))


def _distinct(column: Any) -> Any:
    found = column.unique()
    return (found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found).drop_null()


def _without(column: Any, codes: Collection[Any], number: bool) -> Any:
    """Make null of what is no number, and of codes for a missing value."""
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
    if not codes or not (number or is_text(column.type)):
        return column
    cells = as_floats(column) if number else column
    listed = [float(code) for code in codes if not isinstance(code, str)] if number else [as_text(one) for one in codes]
    missing = pc.is_in(cells, value_set=pa.array(listed, cells.type))
    return pc.if_else(missing, pa.scalar(None, column.type), column)


def said_of(profile: Profile) -> dict[str, dict[str, Any]]:
    """Return what a recipe file says of a profile, by column."""
    return {str(name): _said(one) for name, one in profile.columns.items()}


def _said(one: ColumnProfile) -> dict[str, Any]:
    found: dict[str, Any] = {} if one.type is None else {"type": one.type}
    if one.missing:
        found["missing"] = one.missing
    sizes = {"median": one.median, "high": one.high}
    found |= {key: int(size) if size.is_integer() else size for key, size in sizes.items() if size is not None}
    return found if one.categories is None else {**found, "categories": " ".join(sorted(one.categories))}


def column_from(said: Any) -> ColumnProfile:
    """Read what a recipe file says of a column, or raise ValueError that says what it must be."""
    if not isinstance(said, Mapping) or {*said} - {"type", "missing", "median", "high", "categories"}:
        raise ValueError("must be as it was written, such as {type = 'numbers', median = 40}")
    median, high = (said.get(key) for key in ("median", "high"))
    fit = said.get("type") in (None, *TYPES) and isinstance(said.get("categories", ""), str)
    fit = fit and isinstance(said.get("missing", 0), int)
    if not fit or not all(size is None or _is_size(size) for size in (median, high)):
        raise ValueError("must be as it was written, such as {type = 'numbers', median = 40}")
    categories = said.get("categories")
    return ColumnProfile(
        said.get("type"),
        said.get("missing", 0),
        None if median is None else float(median),
        None if high is None else float(high),
        None if categories is None else frozenset(categories.split()),
    )


def _is_size(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < math.inf
