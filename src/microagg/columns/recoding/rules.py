"""What a recipe says of recoding one column: checked before any data is seen, and said in words."""

import csv
import datetime as dt
import io
import itertools
import math
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from decimal import Decimal
from pathlib import Path
from typing import Any, NoReturn, Self

import numpy as np

from microagg.base.frozen import ReadOnly, frozen
from microagg.checks import EXACT_INTEGERS, MOST_OF_A_TABLE, nearest, shown_name, text_of_file
from microagg.errors import InvalidParameter, a_type

Limit = int | float | dt.date
"""A number, or a day. Whole numbers are int, however they were written."""

WORDS = ("bottom", "top", "width", "start", "cuts", "as", "join")
PERIODS = ("week", "month", "quarter", "year")
RELEASED = ("lower", "middle", "label")
MOST_PLACES = 9
"""Decimal places of a number: with more, the bounds of classes could not be distinguished in float64."""

_LISTED = 5  # values of a recipe that a message shows


def refuse(name: Any, what: str) -> NoReturn:
    """Refuse what a recipe says of a column."""
    raise InvalidParameter(
        f"the recoding of column {shown_name(name)}: {what}", parameter="recode", columns=(name,)
    ) from None


@frozen()
class RecodingRule(ReadOnly):
    """How one column is recoded: first its limits, then its classes; or its joined categories alone.

    Attributes
    ----------
    bottom, top : int, float, date or None
        Values beyond become the limit.
    width : int, float, str or None
        Classes so wide: a number, a number of days, or one of `PERIODS`.
    start : int, float, date or None
        Where a class of that width begins; by default 0, or 1970-01-01.
    cuts : tuple
        The lower bounds of classes, instead of a width; what lies below the first is a class too.
    release : str
        What stands for a class: "lower", its lower bound; "middle"; or "label", a text such as "20-24".
    join : mapping of str to tuple of str
        New categories, and the values that each takes in.
    """

    bottom: Limit | None = None
    top: Limit | None = None
    width: int | float | str | None = None
    start: Limit | None = None
    cuts: tuple[Limit, ...] = ()
    release: str = "lower"
    join: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, name: Any, said: Any, folder: Path | None = None) -> Self:
        """Return the rule of a column from what a recipe says; tables of categories are looked for in `folder`."""
        if not isinstance(said, Mapping):
            refuse(name, f"{a_type(said)} is not a rule. Pass a mapping such as {{'width': 5}}.")
        for word in said:
            if word not in WORDS:
                shown = repr(word) if isinstance(word, str) else a_type(word)
                refuse(name, f"{shown} is not known.{nearest(word, WORDS)} It can have {', '.join(WORDS)}.")
        if "join" in said:
            if len(said) > 1:
                other = next(word for word in said if word != "join")
                refuse(name, f"join cannot be used together with {other}. Leave one of them out.")
            return cls(join=_groups(name, said["join"], folder))
        if not {"bottom", "top", "width", "cuts"} & {*said}:
            refuse(name, "it has no rule. Give a width, cuts, a top, a bottom, or join.")
        limits: dict[str, Any] = {
            word: _limit(name, word, said[word]) for word in ("bottom", "top", "start") if word in said
        }
        cuts = _cuts(name, said["cuts"]) if "cuts" in said else ()
        width = _width(name, said["width"]) if "width" in said else None
        rule = cls(**limits, width=width, cuts=cuts, release=said.get("as", "lower"))
        rule._check_together(name, said)
        return rule

    @property
    def has_classes(self) -> bool:
        """Whether values are put into classes."""
        return self.width is not None or bool(self.cuts)

    @property
    def kind(self) -> str:
        """What the column must hold: "number", "date", "number or date" or "category"."""
        if self.join:
            return "category"
        if isinstance(self.width, str) or any(isinstance(one, dt.date) for one in self._limits):
            return "date"
        return "number" if self._limits or isinstance(self.width, float) else "number or date"

    @property
    def _limits(self) -> list[Limit]:
        return [one for one in (self.bottom, self.top, self.start, *self.cuts) if one is not None]

    @property
    def groups(self) -> dict[str, str]:
        """The new category of each value that is joined."""
        return {old: new for new, olds in self.join.items() for old in olds}

    @property
    def mapping(self) -> dict[str, Any]:
        """The rule as a recipe says it: dates as ISO text, categories in full."""
        if self.join:
            return {"join": {new: list(olds) for new, olds in self.join.items()}}
        said = {"bottom": self.bottom, "top": self.top, "width": self.width, "start": self.start}
        found: dict[str, Any] = {word: _plain(value) for word, value in said.items() if value is not None}
        if self.cuts:
            found["cuts"] = [_plain(cut) for cut in self.cuts]
        return found | ({"as": self.release} if self.has_classes else {})

    @property
    def words(self) -> str:
        """The rule in words, for the report and beside a recipe."""
        if self.join:
            return "; ".join(
                f"{len(olds)} {'value' if len(olds) == 1 else 'values'} joined to {new!r}"
                for new, olds in self.join.items()
            )
        limits = [("at least", self.bottom), ("at most", self.top)]
        parts = [f"{word} {in_words(limit)}" for word, limit in limits if limit is not None]
        if self.has_classes:
            released = {"lower": "the lower bound", "middle": "the middle", "label": "a label"}[self.release]
            parts.append(f"{self._classes_in_words()}, released as {released}")
        return "; ".join(parts)

    def _classes_in_words(self) -> str:
        if self.cuts:
            return f"in classes cut at {', '.join(map(in_words, self.cuts))}"
        if isinstance(self.width, str):
            return f"by {self.width}"
        if self.kind == "date":
            start = dt.date(1970, 1, 1) if self.start is None else self.start
            return f"in classes of {in_words(self.width)} days from {in_words(start)}"
        return f"in classes of {in_words(self.width)} from {in_words(self.start or 0)}"

    def _check_together(self, name: Any, said: Mapping[str, Any]) -> None:
        """Refuse what does not go together."""
        if self.release not in RELEASED:
            shown = repr(self.release) if isinstance(self.release, str) else a_type(self.release)
            refuse(name, f"as={shown} is not known.{nearest(self.release, RELEASED)} Pass one of {_quoted(RELEASED)}.")
        if "as" in said and not self.has_classes:
            refuse(name, "'as' goes with classes. Give a width or cuts, or leave it out.")
        if self.width is not None and self.cuts:
            refuse(name, "classes have a width or cuts, not both. Leave one out.")
        if self.start is not None and (self.width is None or isinstance(self.width, str)):
            refuse(name, "'start' goes with a width in numbers. Leave it out.")
        self._check_one_kind(name)
        if self.bottom is not None and self.top is not None and _below(self.top, self.bottom):
            refuse(name, f"top={_plain(self.top)} is below bottom={_plain(self.bottom)}. Exchange them.")
        if not self.cuts:
            return
        if self.bottom is not None and _below(self.cuts[0], self.bottom):
            refuse(name, f"bottom={_plain(self.bottom)} is above the first cut, {_plain(self.cuts[0])}. Lower it.")
        if self.top is not None and _below(self.top, self.cuts[-1]):
            refuse(name, f"top={_plain(self.top)} is below the last cut, {_plain(self.cuts[-1])}. Raise it.")
        if self.release == "middle" and (self.top is None or self.bottom is None):
            refuse(name, "the first and the last class have no middle. Give bottom and top, or as='lower'.")

    def _check_one_kind(self, name: Any) -> None:
        has_numbers = any(not isinstance(one, dt.date) for one in self._limits)
        if self.kind == "date" and has_numbers:
            refuse(name, "it is for dates, but some of its limits are numbers. Give only dates, or only numbers.")
        if self.kind == "date" and isinstance(self.width, float):
            refuse(name, f"width={self.width} must be a whole number of days, or one of {_quoted(PERIODS)}.")


def in_words(value: Any) -> str:
    """Write a number with its thousands apart, from 10 000 on, so that years stay years; a day as ISO text."""
    if isinstance(value, dt.date):
        return value.isoformat()
    text = format(exact(value), "f") if isinstance(value, float) else str(value)
    whole, point, places = text.partition(".")
    return f"{int(whole):,}".replace(",", " ") + point + places if abs(value) >= 10_000 else text


def exact(value: Any) -> Decimal:
    """Return a number as it was written: 0.1 is a tenth, not the nearest binary fraction."""
    return Decimal(repr(value))


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, dt.date) else value


def _below(first: Any, second: Any) -> bool:
    """Compare two limits of one kind."""
    return bool(first < second)


def _quoted(words: Iterable[str]) -> str:
    return ", ".join(map(repr, words))


def _number(name: Any, word: str, value: Any) -> int | float:
    """Return a finite number, as an int where it is whole; refuse more digits than classes can be distinguished by."""
    number = value.item() if isinstance(value, np.number) else value
    if isinstance(number, bool) or not isinstance(number, (int, float)) or not math.isfinite(number):
        refuse(name, f"{word} must be a number or a date such as '2020-12-31', not {_shown(number)}.")
    if abs(number) > EXACT_INTEGERS:
        refuse(name, f"{word}={number} is beyond 2**53. Scale the column.")
    if number == int(number):
        return int(number)
    places = -int(exact(number).normalize().as_tuple().exponent)
    if places > MOST_PLACES:
        refuse(name, f"{word}={number} has {places} decimal places, and at most {MOST_PLACES} are used. Round it.")
    return float(number)


def _shown(value: Any) -> str:
    return repr(value) if isinstance(value, (str, bool, int, float)) else a_type(value)


def _limit(name: Any, word: str, value: Any) -> Limit:
    """Return a number, or a day where it is a date or the ISO text of one."""
    if isinstance(value, dt.datetime):
        refuse(name, f"{word} is a time. Pass a day, such as '2020-12-31'.")
    if isinstance(value, dt.date):
        return value
    if isinstance(value, str):
        try:
            return dt.date.fromisoformat(value)
        except ValueError:
            refuse(name, f"{word}={value!r} is not a date. Write it as '2020-12-31', and a number without quotes.")
    return _number(name, word, value)


def _width(name: Any, value: Any) -> int | float | str:
    if isinstance(value, str):
        if value not in PERIODS:
            hint = nearest(value, PERIODS)
            refuse(name, f"width={value!r} is not known.{hint} Pass a number, or one of {_quoted(PERIODS)}.")
        return value
    width = _number(name, "width", value)
    if width <= 0:
        refuse(name, f"width={width} must be above 0.")
    return width


def _cuts(name: Any, value: Any) -> tuple[Limit, ...]:
    if isinstance(value, (str, Mapping)) or not isinstance(value, (Sequence, np.ndarray)) or len(value) == 0:
        refuse(name, "cuts must be a list of numbers or dates, one at least, such as [1, 2, 5].")
    cuts = tuple(_limit(name, "a cut", cut) for cut in value)
    if len({isinstance(cut, dt.date) for cut in cuts}) > 1:
        refuse(name, "some cuts are numbers and some are dates. Give only numbers, or only dates.")
    for first, second in itertools.pairwise(cuts):
        if not _below(first, second):
            refuse(name, f"the cuts {_plain(first)}, {_plain(second)} do not rise. Sort them, each once.")
    return cuts


def _groups(name: Any, said: Any, folder: Path | None) -> dict[str, tuple[str, ...]]:
    """Return the values that each new category takes in, as text."""
    if isinstance(said, (str, os.PathLike)):
        said = _read_table(name, Path(said) if folder is None else folder / said)
    if not isinstance(said, Mapping) or not said:
        refuse(name, "join must say new categories and their values, such as {'other': ['7', '9']}, or name a table.")
    groups: dict[str, tuple[str, ...]] = {}
    for new, olds in said.items():
        if isinstance(olds, (str, Mapping)) or not isinstance(olds, Sequence) or not olds:
            refuse(name, f"join must give {new!r} a list of values, one at least.")
        groups[_category(name, new)] = tuple(_category(name, old) for old in olds)
    if len(groups) < len(said):
        refuse(name, "join has one new category twice. Put their values into one list.")
    twice = [old for old, count in Counter(old for olds in groups.values() for old in olds).items() if count > 1]
    if twice:
        listed = some(twice)
        refuse(name, f"{len(twice)} value(s) are joined more than once: {listed}. Name each once.")
    return groups


def some(values: Sequence[str]) -> str:
    """Show some values of a recipe."""
    more = f" and {len(values) - _LISTED} more" if len(values) > _LISTED else ""
    return _quoted(values[:_LISTED]) + more


def _category(name: Any, value: Any) -> str:
    if isinstance(value, np.number):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, (str, int)) or value == "":
        refuse(name, f"a category is a text or a whole number, not {_shown(value)}.")
    return str(value)


def _read_table(name: Any, path: Path) -> dict[str, list[str]]:
    """Read a table of categories: a row for each value, with the heads old and new."""
    try:
        text = text_of_file(path, MOST_OF_A_TABLE, parameter="recode", columns=(name,))
        rows = list(csv.reader(io.StringIO(text, newline="")))
    except (OSError, UnicodeDecodeError, csv.Error):
        refuse(name, f"the table {path.name!r} cannot be read. Name a text file in UTF-8, with commas.")
    if not rows or [head.strip() for head in rows[0]] != ["old", "new"]:
        refuse(name, f"the table {path.name!r} must have the heads old and new in its first line: old,new")
    groups: dict[str, list[str]] = {}
    for number, row in enumerate(rows[1:], start=2):
        if len(row) == 2 and all(row):
            groups.setdefault(row[1], []).append(row[0])
        elif row:
            refuse(name, f"line {number} of the table {path.name!r} must have two values: old,new")
    return groups
