"""Classes of numbers and of days: which class a value is in, where it begins, and what it is called.

Class numbers are computed for whole arrays; bounds are exact (int, or Decimal) and computed once a class. So a class
is the same whatever else the column holds, and a file in parts is recoded like a whole one.
"""

import datetime as dt
from abc import ABC, abstractmethod
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.base.frozen import frozen
from microagg.columns.recoding.rules import RecodingRule, exact

Exact = int | Decimal
Bounds = tuple[Exact | None, Exact | None]
"""Where a class begins and where the next one does; None at an open end."""

_THURSDAY = 3  # 1970-01-01 was one, and a week begins on Monday


class Grid(ABC):
    """A way to cut numbers, or days since 1970-01-01, into classes."""

    @abstractmethod
    def numbers(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """Return the number of each value's class; they rise with the values."""

    @abstractmethod
    def bounds(self, number: int) -> Bounds:
        """Return the bounds of a class."""

    def label(self, number: int) -> str | None:  # noqa: ARG002
        """Return the name of a class that has one beside its bounds."""
        return None


@frozen()
class WholeSteps(Grid):
    """Classes of one width over whole numbers or days."""

    width: int
    start: int

    def numbers(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """Return the number of each value's class."""
        return np.asarray((values - self.start) // self.width)

    def bounds(self, number: int) -> Bounds:
        """Return the bounds of a class."""
        low = self.start + number * self.width
        return low, low + self.width


@frozen()
class RealSteps(Grid):
    """Classes of one width over numbers of a floating type.

    A bound is the number of that type nearest to the decimal that was meant: 0.3 is in the class that begins at 0.3
    when the width is 0.1, although 0.3 / 0.1 is less than 3 in float64.
    """

    width: Decimal
    start: Decimal
    dtype: np.dtype[Any]

    @property
    def reach(self) -> float:
        """How far from 0 values may lie: beyond, neighbouring bounds could be the same number."""
        apart = float(self.width) * 2.0 ** int(np.finfo(self.dtype).nmant)
        exact_edges = 2.0**53 / 10.0**self._places
        return min(apart, exact_edges) / 2 - abs(float(self.start)) - float(self.width)

    @property
    def _places(self) -> int:
        return max(0, *(-int(one.normalize().as_tuple().exponent) for one in (self.width, self.start)))

    def _edges(self, numbers: NDArray[Any]) -> NDArray[np.float64]:
        """Return where classes begin: whole numbers below 2**53 over a power of ten, so each is rounded once."""
        power = 10**self._places
        whole = int(self.start * power) + numbers * float(int(self.width * power))
        return np.asarray((whole / power).astype(self.dtype), dtype=np.float64)

    def numbers(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """Return the number of each value's class."""
        found = np.floor((values - float(self.start)) / float(self.width))
        found -= self._edges(found) > values  # the quotient was rounded, by less than one class
        found += self._edges(found + 1) <= values
        return found.astype(np.int64)

    def bounds(self, number: int) -> Bounds:
        """Return the bounds of a class."""
        return self.start + number * self.width, self.start + (number + 1) * self.width


@frozen()
class Calendar(Grid):
    """Weeks from Monday, months, quarters or years, over days."""

    period: str

    def numbers(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """Return the number of each day's period, 0 being that of 1970-01-01."""
        if self.period == "week":
            return np.asarray((values + _THURSDAY) // 7)
        months = values.astype("M8[D]").astype("M8[M]").astype(np.int64)
        return np.asarray(months // self._months)

    @property
    def _months(self) -> int:
        return {"month": 1, "quarter": 3, "year": 12}[self.period]

    def bounds(self, number: int) -> Bounds:
        """Return the first day of a period and that of the next."""
        if self.period == "week":
            return 7 * number - _THURSDAY, 7 * number - _THURSDAY + 7
        first, following = (np.datetime64(month * self._months, "M") for month in (number, number + 1))
        return int(first.astype("M8[D]").astype(int)), int(following.astype("M8[D]").astype(int))

    def label(self, number: int) -> str | None:
        """Return the name of a period: 2020, 2020-Q1, 2020-03 or 2020-W09."""
        if self.period == "week":
            thursday = np.datetime64(7 * number, "D")  # the year of its Thursday is the week's, by ISO 8601
            year = thursday.astype("M8[Y]")
            return f"{year}-W{int((thursday - year.astype('M8[D]')).astype(int)) // 7 + 1:02d}"
        first = np.datetime64(number * self._months, "M")
        year = first.astype("M8[Y]")
        return {"month": str(first), "quarter": f"{year}-Q{number % 4 + 1}", "year": str(year)}[self.period]


@frozen()
class Cuts(Grid):
    """Classes with given lower bounds; class 0 lies below the first."""

    cuts: tuple[Exact, ...]
    dtype: np.dtype[Any]

    def numbers(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """Return the number of each value's class."""
        edges = np.array([float(cut) if isinstance(cut, Decimal) else cut for cut in self.cuts]).astype(self.dtype)
        return np.searchsorted(edges, values.astype(self.dtype), side="right").astype(np.int64)

    def bounds(self, number: int) -> Bounds:
        """Return the bounds of a class."""
        low = self.cuts[number - 1] if number > 0 else None
        return low, self.cuts[number] if number < len(self.cuts) else None


def day(date: dt.date) -> int:
    """Number a day from 1970-01-01."""
    return date.toordinal() - dt.date(1970, 1, 1).toordinal()


def as_exact(limit: Any) -> Any:
    """Return a limit as bounds are given: a day by its number, a fraction as the decimal that was written."""
    if isinstance(limit, dt.date):
        return day(limit)
    return exact(limit) if isinstance(limit, float) else limit


def grid_of(rule: RecodingRule, *, dates: bool, dtype: np.dtype[Any]) -> Grid:
    """Make the classes of a rule for numbers of a type, or for days."""
    if rule.cuts:
        return Cuts(tuple(map(as_exact, rule.cuts)), dtype)
    if isinstance(rule.width, str):
        return Calendar(rule.width)
    start = as_exact(rule.start or 0)
    if dates or dtype.kind in "iu":
        assert isinstance(rule.width, int)
        return WholeSteps(rule.width, start)
    return RealSteps(exact(rule.width), exact(start) if isinstance(start, int) else start, dtype)


def released_value(rule: RecodingRule, grid: Grid, number: int, *, whole: bool) -> Exact | None:
    """Return the number or day that stands for a class; None if it begins nowhere.

    The middle of whole numbers, and of days, is the middle one of those in the class, the lower of two.
    """
    low, following = grid.bounds(number)
    if low is None:
        low = as_exact(rule.bottom)
    if rule.release == "lower" or low is None:
        return low
    if following is None:
        last: Any = as_exact(rule.top)
    else:
        last = following - 1 if whole else following
    return low + (last - low) // 2 if whole else (Decimal(low) + Decimal(last)) / 2


def class_label(rule: RecodingRule, grid: Grid, number: int, *, whole: bool, dates: bool) -> str:
    """Name a class: by its period, by its first and last value, or by where it begins and the next one does.

    A class that a limit is in holds all beyond the limit too, and says so.
    """
    low, following = grid.bounds(number)
    is_lowest = low is None or _holds(as_exact(rule.bottom), low, following)
    is_highest = following is None or _holds(as_exact(rule.top), low, following)
    if is_lowest and is_highest:
        return "any"
    later, earlier = ("or later", "or earlier") if dates else ("or more", "or less")
    own = grid.label(number)
    if own is not None:
        return f"{own} {earlier}" if is_lowest else f"{own} {later}" if is_highest else own
    if is_highest:
        return f"{_text(low, dates)} {later}"
    assert following is not None
    if not whole:
        return f"under {_text(following, dates)}" if is_lowest else f"{_text(low, dates)} to under {_text(following)}"
    first, last = _text(low, dates), _text(following - 1, dates)
    if is_lowest:
        return f"{last} {earlier}"
    if first == last:
        return first
    return f"{first} to {last}" if dates or (low is not None and low < 0) else f"{first}-{last}"


def _holds(limit: Exact | None, low: Exact | None, following: Exact | None) -> bool:
    """Return whether a limit, if there is one, lies in a class."""
    if limit is None:
        return False
    return (low is None or low <= limit) and (following is None or limit < following)


def _text(value: Exact | None, dates: bool = False) -> str:
    if dates:
        return str(np.datetime64(int(value or 0), "D"))
    return str(value) if isinstance(value, int) else format(Decimal(value or 0).normalize(), "f")
