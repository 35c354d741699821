"""What the file was like that a recipe was written for, and how the next file differs: columns, categories, numbers.

It decides nothing: no digest of a recipe, no comparison of two recipes and no masked value depends on it. Categories
are kept as short digests, and numbers as their order of size, to one digit. A digest hides a category from a reader,
not from somebody who tries all categories that are possible: a recipe is internal. Of differences, counts and the names
of columns are said, never a category or another cell.
"""

import hashlib
import logging
import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from microagg.base.frozen import ReadOnly, frozen
from microagg.checks import shown_name
from microagg.columns import frames
from microagg.columns.coders import arrow_of
from microagg.columns.kinds.date import are_dates
from microagg.columns.kinds.taxonomy import read_taxonomy
from microagg.columns.numbers import as_floats, is_text, plain_floats
from microagg.columns.recoding import Recoding
from microagg.columns.roles import Role
from microagg.errors import InvalidData
from microagg.files.batches import Batches
from microagg.files.sources import Source
from microagg.recipe._recipe import Recipe

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


OTHER_SCALE = 8.0
"""Times: numbers that became so much larger or smaller are on another scale; both sides are known to one digit."""

OTHER_SHARE = 10
"""Percentage points: a share of missing values that moved so far is another one."""

_ACCEPTED = "If the column is right, delete its line in [profile] of the recipe."


@frozen()
class Difference:
    """One difference between a file and the one that a recipe was written for.

    Attributes
    ----------
    sign : str
        "+" for a column that came, "-" for one that is gone, "~" for one that changed.
    column : str
    text : str
        What is different, in counts; no cell is in it.
    stops : bool
        Whether it endangers what the recipe promises, so that nothing is masked.
    remedy : str
        What to do then; empty where roles do not fit, of which another error says it.
    """

    sign: str
    column: Any
    text: str
    stops: bool = False
    remedy: str = ""

    def __str__(self) -> str:
        return f"{self.sign} column {shown_name(self.column)}: {self.text}"


def differences_of(recipe: Recipe, frame: Any) -> tuple[Difference, ...]:
    """Return how a frame, a `Source` or a file beyond memory differs from the one that a recipe was written for.

    Without a profile in the recipe, columns alone are compared.
    """
    labels = getattr(frame, "index_columns", ())  # of rows, in a file beyond memory: identifiers without being named
    found = list(_of_columns(recipe, names_in(frame), labels))
    if recipe.profile is not None:
        found += _changes(recipe, recipe.profile, profile_of(recipe, frame))
    return tuple(found)


def compared(recipe: Recipe, frame: Any) -> tuple[Recipe, tuple[Difference, ...]]:
    """Compare a file with the one that a recipe was written for, say what differs, and refuse what endangers people.

    Returns the recipe without its profile, so that parts of the file are not compared again, and the differences.
    A recipe without a profile is not compared: nobody knows what its file was like, and a name that is not in this one
    may be a typing error. What roles do not fit is not refused here.
    """
    if recipe.profile is None:
        return recipe, ()
    found = differences_of(recipe, frame)
    if found:
        lines = "\n".join(map(str, found))
        logging.getLogger("microagg").warning("Compared with the file that the recipe was written for:\n%s", lines)
    grave = [one for one in found if one.stops and one.remedy]
    if grave:
        words = "1 difference" if len(grave) == 1 else f"{len(grave)} differences"
        raise InvalidData(
            f"the recipe was written for another file, and {words} may endanger the people in this one. "
            + " ".join(f"Column {shown_name(one.column)}: {one.text} {one.remedy}" for one in grave)
            + f" {_ACCEPTED}",
            parameter="recipe",
            columns=tuple(one.column for one in grave),
        )
    return replace(recipe, profile=None), found


def _of_columns(recipe: Recipe, names: Sequence[Any], labels: Sequence[Any] = ()) -> Iterator[Difference]:
    """Compare the columns. Where no name fits, the file's may be the cells of a record: they are not shown."""
    said = {name: role for role, name in recipe.roles.named}
    before = {} if recipe.profile is None else recipe.profile.columns
    if not any(name in said or name in before for name in names):
        return
    for name in names:
        if name in said or name in before or name in labels:
            continue
        if recipe.roles.rest == "keep" and before:
            remedy = "Give it a role in [roles]: drop, perhaps."
            yield Difference("+", name, "it is new, and would be released unchanged.", True, remedy)
        elif recipe.roles.rest is None and recipe.roles.quasi is not None:
            yield Difference("+", name, "it is new, and the recipe gives it no role.", True)
        elif before:
            becomes = "masked" if recipe.roles.quasi is None else "left out"
            yield Difference("+", name, f"it is new, and is {becomes}.")
    for name in dict.fromkeys([*said, *before]):
        if name not in names and name in said:
            yield Difference("-", name, f"it is gone, and the recipe names it in {said[name]}.", True)
        elif name not in names:
            yield Difference("-", name, "it is gone.")


def _changes(recipe: Recipe, then: Profile, now: Profile) -> Iterator[Difference]:
    """Compare what the columns hold that were looked at in both files."""
    masked = recipe.masked(list(now.columns))
    for name, was in then.columns.items():
        own = now.columns.get(name, ColumnProfile())
        if was.type is None or own.type is None:
            continue
        if was.type != own.type and not is_declared_category(recipe, name):
            text, remedy = f"it holds {own.type}, and held {was.type}.", f"Write it as {was.type}, as before."
            yield Difference("~", name, text, name in masked, remedy if name in masked else "")
        elif was.categories is not None:
            yield from _categories(recipe, name, was.categories, own.categories)
        else:
            yield from _scale(recipe, name, was, own)
        if abs(own.missing - was.missing) >= OTHER_SHARE:
            yield Difference("~", name, f"{own.missing} % of its values are missing, and {was.missing} % were.")


def _categories(recipe: Recipe, name: Any, then: frozenset[str], now: frozenset[str] | None) -> Iterator[Difference]:
    if now is None:
        yield Difference("~", name, f"it has more than {MOST} categories, and had {len(then)}.")
        return
    new, gone = now - then, then - now
    place, remedy, known = _declared(recipe, name)
    unknown = new - known if place else frozenset()
    if not new and not gone:
        return
    parts = [_counted(len(some), what) for some, what in ((new, "new"), (gone, "gone")) if some]
    text = f"{' and '.join(parts)}."
    if unknown:
        text = f"{text} {place} does not have {len(unknown)} of the new ones."
    yield Difference("~", name, text, bool(unknown), remedy if unknown else "")


def _counted(number: int, what: str) -> str:
    return f"1 category is {what}" if number == 1 else f"{number} categories are {what}"


def _declared(recipe: Recipe, name: Any) -> tuple[str, str, frozenset[str]]:
    """Return where a recipe lists categories of a column, the remedy, and these; empty where it lists none."""
    rule, kind, tree = (of.get(name) for of in (recipe.recode.recode, recipe.kinds.kinds, recipe.taxonomy.taxonomy))
    if rule is not None:
        values = [*Recoding.of({name: rule}).rules[name].groups]
        place = "The rule in [recode]", "Add them to the rule, under a category that they join."
    elif isinstance(kind, tuple):
        values = list(kind)
        place = "The list of levels in [kinds]", "Add them to the levels, at their place in the order."
    elif tree is not None:
        values = list(read_taxonomy(tree, name) if isinstance(tree, str) else tree)
        place = "The taxonomy", "Add them to the taxonomy."
    else:
        return "", "", frozenset()
    return *place, frozenset(digest_of(name, as_text(value)) for value in values)


def _scale(recipe: Recipe, name: Any, was: ColumnProfile, own: ColumnProfile) -> Iterator[Difference]:
    pairs = [(was.median, own.median), (was.high, own.high)]
    ratios = [after / before for before, after in pairs if before is not None and after is not None]
    moved = [ratio for ratio in ratios if not 1 / OTHER_SCALE < ratio < OTHER_SCALE]
    if not moved:
        return
    factor = float(f"{max(moved[0], 1 / moved[0]):.0e}")
    text = f"its numbers are about {factor:.0f} times {'as large' if moved[0] > 1 else 'smaller'}."
    if name not in recipe.recode.recode:
        yield Difference("~", name, text)
        return
    remedy = "Adapt its limits and classes in [recode], or write the column in its former unit."
    yield Difference("~", name, f"{text} The rule in [recode] was written for the former ones.", True, remedy)
