"""Recoding one Arrow array by a rule: numbers and dates by limits and classes, categories by joining."""

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import field
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from microagg.base.frozen import frozen
from microagg.checks import EXACT_INTEGERS, shown_name
from microagg.columns.numbers import holds_numbers, is_text
from microagg.columns.recoding.classes import RealSteps, as_exact, class_label, grid_of, released_value
from microagg.columns.recoding.rules import RecodingRule, refuse
from microagg.errors import InvalidData

_MOST_WHOLE = 2**62  # beyond, the bounds of a class might not fit into int64
_A_DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")


@frozen()
class RecodedArray:
    """An array that was recoded, how many of its cells changed, and what was met in it.

    `classes` has the labels of the classes that occur, by number; `joined` the values of the rule that do.
    """

    array: Any
    changed: int
    classes: dict[int, str] = field(default_factory=dict)
    joined: frozenset[str] = frozenset()


def recode_array(rule: RecodingRule, array: Any, name: Any, *, codes: Sequence[Any] = ()) -> RecodedArray:
    """Recode an Arrow array.

    Numbers that are `codes` for missing values stay unchanged; as text where labels are released. What is to be
    joined is named value by value.
    """
    type_ = array.type
    if pa.types.is_null(type_):  # every cell is missing, and stays so
        return RecodedArray(array, 0)
    if rule.join:
        return _joined(rule, array, name)
    from_text = is_text(type_)
    if rule.kind == "date" and from_text:
        found = _recode(rule, _parsed_dates(array, name), name)
        return RecodedArray(found.array.cast(type_), found.changed, found.classes)
    is_numeric = holds_numbers(type_)
    is_date = pa.types.is_date(type_) or pa.types.is_timestamp(type_)
    if not (is_numeric or is_date):
        what = "text" if from_text else "categories" if pa.types.is_dictionary(type_) else "neither numbers nor dates"
        refuse(name, f"it holds {what}, which cannot be cut into classes. Join its values, or make them numbers.")
    if is_numeric and rule.kind == "date":
        refuse(name, "it holds numbers, but its recoding is for dates. Give limits and width as numbers.")
    if is_date and (rule.kind == "number" or isinstance(rule.width, float)):
        refuse(name, "it holds dates, but its recoding is for numbers. Give limits such as '2020-12-31'.")
    return _recode_apart(rule, array, name, codes) if is_numeric and codes else _recode(rule, array, name)


def _recode_apart(rule: RecodingRule, array: Any, name: Any, codes: Sequence[Any]) -> RecodedArray:
    """Recode numbers but those that are codes: these are no amounts, and would pass for the highest class."""
    known = {float(code): str(code) for code in codes if is_number(str(code))}
    places = pc.index_in(array.cast(pa.float64()), value_set=pa.array(list(known), pa.float64()))
    held = places.is_valid()
    found = _recode(rule, pc.if_else(held, pa.scalar(None, array.type), array), name)
    same = found.array.type == array.type
    own = array if same else pa.array(list(known.values()), found.array.type).take(places)
    return RecodedArray(pc.if_else(held, own, found.array), found.changed, found.classes)


def _recode(rule: RecodingRule, array: Any, name: Any) -> RecodedArray:
    values = _Values.of(array, name)
    values.check_fits(rule)
    bottom, top = (None if limit is None else as_exact(limit) for limit in (rule.bottom, rule.top))
    low = values.present & (values.numbers < values.position(bottom)) if bottom is not None else values.none
    high = values.present & (values.numbers > values.position(top)) if top is not None else values.none
    limited, steps = array, values.numbers.copy()
    for beyond, limit in ((low, bottom), (high, top)):
        if beyond.any():
            limited = pc.if_else(pa.array(beyond), values.typed([limit])[0], limited)
            steps[beyond] = values.position(limit)
    if not rule.has_classes:
        return RecodedArray(limited, int(np.count_nonzero(low | high)))
    return _in_classes(rule, values, steps // values.day if values.is_date else steps)


def _in_classes(rule: RecodingRule, values: "_Values", steps: NDArray[Any]) -> RecodedArray:
    """Put what stands for a class in the place of its values."""
    grid = grid_of(rule, dates=values.is_date, dtype=np.dtype(np.int64) if values.is_date else values.dtype)
    if isinstance(grid, RealSteps):
        values.check_reach(steps, grid.reach)
    coded = pa.array(grid.numbers(steps), mask=~values.present).dictionary_encode()
    found: list[int] = coded.dictionary.to_pylist()
    whole = values.is_whole
    if rule.release == "label":
        labels = {one: class_label(rule, grid, one, whole=whole, dates=values.is_date) for one in found}
        array = pa.array([labels[one] for one in found], pa.string()).take(coded.indices)
        return RecodedArray(array, int(np.count_nonzero(values.present)), labels)
    released = [released_value(rule, grid, one, whole=whole) for one in found]
    if None in released:
        nowhere = pc.sum(pc.equal(coded.indices, released.index(None))).as_py()
        raise values.fault(
            f"has {nowhere} value(s) below the first cut, where no class begins. Add a cut or a bottom to its recoding."
        )
    fresh = values.typed(released).take(coded.indices)
    array = pc.if_else(pa.array(values.present), fresh, values.array)  # not a number stays so, and null null
    places = coded.indices.fill_null(0).to_numpy(zero_copy_only=False)
    positions = np.array([values.position(one) for one in released], dtype=values.numbers.dtype)
    before = values.numbers[values.present]
    return RecodedArray(array, int(np.count_nonzero(before != positions[places[values.present]])))


@frozen()
class _Values:
    """The cells of an array as numbers that can be compared, and the way back to the array's type.

    `numbers` are int64 of whole numbers, local time since 1970 in the array's unit of dates, and float64 of others;
    `day` is how many units a day has, and 0 of numbers.
    """

    name: Any
    array: Any
    numbers: NDArray[Any]
    present: NDArray[np.bool_]
    day: int = 0

    @classmethod
    def of(cls, array: Any, name: Any) -> "_Values":
        """Read an array of numbers or dates."""
        type_ = array.type
        present = array.is_valid().to_numpy(zero_copy_only=False)
        if pa.types.is_integer(type_):
            if array.null_count < len(array):
                extremes = pc.min_max(array).as_py()
                if max(abs(extremes["min"]), abs(extremes["max"])) > _MOST_WHOLE:
                    raise InvalidData(f"column {shown_name(name)} has numbers beyond 2**62. Do not recode it.")
            return cls(name, array, _filled(array.cast(pa.int64())), present)
        if pa.types.is_floating(type_) or pa.types.is_decimal(type_):
            numbers = np.asarray(_filled(array.cast(pa.float64())))
            missing = np.isnan(numbers)
            return cls(name, array, np.where(missing, 0.0, numbers), present & ~missing)
        if pa.types.is_timestamp(type_):
            local = array if type_.tz is None else pc.local_timestamp(array)
            return cls(name, array, _filled(local.cast(pa.int64())), present, _A_DAY[type_.unit])
        days = _filled(array.cast(pa.date32()).cast(pa.int32())).astype(np.int64)
        return cls(name, array, days, present, 1)

    @property
    def none(self) -> NDArray[np.bool_]:
        """No cell."""
        return np.zeros(len(self.array), dtype=bool)

    @property
    def is_date(self) -> bool:
        """Whether they are days or times."""
        return self.day > 0

    @property
    def is_whole(self) -> bool:
        """Whether classes are made of whole numbers, or of days."""
        return self.numbers.dtype.kind == "i"

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type that bounds are rounded to before they are compared."""
        floating = pa.types.is_floating(self.array.type)
        return np.dtype(self.array.type.to_pandas_dtype()) if floating else self.numbers.dtype

    def position(self, limit: Any) -> Any:
        """Return where a limit, or a bound, lies among the numbers."""
        if self.is_whole:
            return int(limit) * max(1, self.day)
        return float(self.dtype.type(float(limit)))

    def typed(self, exact: list[Any]) -> Any:
        """Make an array of the column's type of numbers, or of days."""
        type_ = self.array.type
        try:
            if pa.types.is_decimal(type_):
                return pa.array([Decimal(one) for one in exact], type_)
            if not self.is_date:
                return pa.array([self.position(one) for one in exact]).cast(type_)
            if not pa.types.is_timestamp(type_):
                return pa.array(exact, pa.int64()).cast(pa.int32()).cast(pa.date32()).cast(type_)
            local = pa.array([self.position(one) for one in exact], pa.int64()).cast(pa.timestamp(type_.unit))
            if type_.tz is None:
                return local
            # Where clocks skip midnight a day begins after the gap; where they show it twice, with the first.
            return pc.assume_timezone(local, type_.tz, ambiguous="earliest", nonexistent="latest")
        except (pa.ArrowException, OverflowError):  # whose message may show a cell
            refuse(self.name, f"a limit or a class begins where {type_} has no value. Set another start, or a bottom.")

    def check_fits(self, rule: RecodingRule) -> None:
        """Refuse fractions for whole numbers, and numbers that the digits of float64 cannot distinguish."""
        numbers = [one for one in (rule.bottom, rule.top, rule.width, rule.start, *rule.cuts) if one is not None]
        broken = [one for one in numbers if isinstance(one, float)]
        if self.is_whole and broken:
            refuse(self.name, f"it holds whole numbers, but {broken[0]} is not a whole number. Round it.")
        if pa.types.is_decimal(self.array.type):
            self.check_reach(self.numbers, EXACT_INTEGERS / 10.0**self.array.type.scale)

    def check_reach(self, numbers: NDArray[Any], reach: float) -> None:
        """Refuse numbers whose classes float64 cannot distinguish, infinite ones among them."""
        beyond = np.count_nonzero(self.present & (np.abs(numbers) > reach))
        if beyond:
            raise self.fault(
                f"has {beyond} value(s) too large for its classes, or infinite. Give a top and a bottom, or a larger "
                f"width."
            )

    def fault(self, what: str) -> InvalidData:
        """Make the error that says what is wrong with the column."""
        return InvalidData(f"column {shown_name(self.name)} {what}", parameter="recode", columns=(self.name,))


def _filled(array: Any) -> NDArray[Any]:
    return np.asarray(array.fill_null(0).to_numpy(zero_copy_only=False))


def _parsed_dates(array: Any, name: Any) -> Any:
    """Read dates that are written as ISO text."""
    text = array.cast(pa.large_string())
    try:
        return text.cast(pa.date32())
    except pa.ArrowException:  # whose message shows a cell
        bad = [one for one in text.to_pylist() if one is not None and not _is_date(one)]
        raise InvalidData(
            f"column {shown_name(name)} has {len(bad)} value(s) that are not written like 2020-12-31, but its recoding "
            f"is for dates. Write all values like 2020-12-31, or do not recode the column.",
            parameter="recode",
            columns=(name,),
        ) from None


def _is_date(text: str) -> bool:
    try:
        return str(dt.date.fromisoformat(text)) == text
    except ValueError:
        return False


def _joined(rule: RecodingRule, array: Any, name: Any) -> RecodedArray:
    """Put new categories in the place of the values that they take in; others stay."""
    if pa.types.is_dictionary(array.type):
        return _joined_dictionary(rule, array, name)
    if not (is_text(array.type) or pa.types.is_integer(array.type) or pa.types.is_floating(array.type)):
        refuse(name, "it holds neither text nor numbers, so nothing can be joined. Use cuts, or leave it out.")
    known = {old: value for old in rule.groups if (value := _as_value(old, array.type)) is not None}
    if len(set(known.values())) < len(known):
        refuse(name, "join writes one number in two ways. Name each once.")
    plain = array.cast(pa.large_string()) if is_text(array.type) else array
    places = pc.index_in(plain, value_set=pa.array(list(known.values()), plain.type))
    olds, groups = list(known), rule.groups
    joined = frozenset(olds[place] for place in places.unique().drop_null().to_pylist())
    news = [_as_value(groups[old], array.type) for old in olds]
    if any(_as_value(new, array.type) is None for new in rule.join):  # decided by the rule alone, not by the cells
        if pa.types.is_floating(plain.type):
            plain = pc.if_else(pc.is_nan(plain), pa.scalar(None, plain.type), plain)
        plain, news = plain.cast(pa.string()), [groups[old] for old in olds]
    result = pc.coalesce(pa.array(news, plain.type).take(places), plain)
    changed = int(pc.sum(pc.not_equal(result, plain)).as_py() or 0) if joined else 0
    return RecodedArray(result.cast(array.type) if is_text(array.type) else result, changed, joined=joined)


def is_number(category: str) -> bool:
    """Return whether a category can be one of a column of numbers."""
    return _NUMBER.fullmatch(category) is not None


def _as_value(category: str, type_: Any) -> Any:
    """Return a category as a value of a column's type; None where it can be none."""
    if is_text(type_):
        return category
    if not is_number(category):
        return None
    try:
        if pa.types.is_floating(type_):
            return float(np.dtype(type_.to_pandas_dtype()).type(category))
        whole = int(category)
        return pa.scalar(whole, type_).as_py() if str(whole) == category else None
    except (ValueError, OverflowError, pa.ArrowException):
        return None


def _joined_dictionary(rule: RecodingRule, array: Any, name: Any) -> RecodedArray:
    """Join categories that are stored once: the new ones are in the order of the first that each takes in."""
    former = array.dictionary
    within = _joined(rule, former, name)
    fresh = within.array.unique()
    numbers = pc.index_in(within.array, value_set=fresh)
    if array.type.ordered and (np.diff(_filled(numbers)) < 0).any():
        refuse(name, "its categories are in order, and join takes in some that are not neighbours. Join neighbours.")
    coded = numbers.take(array.indices)
    type_ = array.type.index_type
    joined = pa.DictionaryArray.from_arrays(coded.cast(type_), fresh, ordered=array.type.ordered)
    is_changed = pc.fill_null(pc.not_equal(within.array, former.cast(within.array.type)), False)
    changed = int(pc.sum(is_changed.take(array.indices)).as_py() or 0)
    return RecodedArray(joined, changed, joined=within.joined)
