"""How a choice is declared: its kind, its words or limits and its meaning, said once for every way to make it."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import MISSING, Field, field, fields
from numbers import Integral
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from microagg.base.frozen import ReadOnly, frozen
from microagg.checks import check_names, check_option, check_whole, shown_name
from microagg.errors import InvalidParameter, a_type
from microagg.recipe.refusals import OF_PARTS, refuse_by

NAME, NAMES, NAME_OR_NAMES = "a name", "a list of names", "a name or a list of names"
WORD, TEXT, FLAG = "a word", "a text", "true or false"
WHOLE, NUMBER, NUMBERS = "a whole number", "a number", "a number or a list of them"
WORD_OR_WHOLE, WORDS, WHOLES = "a word or a whole number", "a list of words", "a list of whole numbers"
BY_COLUMN, WORD_OR_BY_COLUMN = "a table of columns", "a word or a table of columns"
LISTED = "a list of tables"


@frozen()
class Choice:
    """What may be chosen, and what it means.

    Attributes
    ----------
    name : str
        The field's, and the key's in a recipe file.
    kind : str
        One of the kinds above; it says itself in refusals.
    said : str
        The meaning, in half a sentence.
    keyword : str
        The name as a keyword of `protect` and, with dashes, as an option of the command line.
    listed : callable
        Gives the words that are allowed, where not all are; asked for each time, since a registry may grow.
    least, most : int or None
        The limits of a number.
    or_object : str
        What else Python may pass, such as "an object with fit_predict"; a recipe file cannot hold it.
    element : callable or None
        Of a table of columns: gives a column's value as it is kept, or raises ValueError that says what it must be. Of
        a list of tables: gives what one of them says as it is kept.
    spelt : callable or None
        Of a list of tables: gives the table that says what is kept.
    more : str
        What the documentation adds.
    """

    name: str
    kind: str
    said: str
    keyword: str
    listed: Callable[[], tuple[str, ...]] = tuple
    least: int | None = None
    most: int | None = None
    or_object: str = ""
    element: Callable[[Any], Any] | None = None
    spelt: Callable[[Any], dict[str, Any]] | None = None
    more: str = ""
    default: Any = None

    @property
    def words(self) -> tuple[str, ...]:
        """The words that are allowed; empty where any is, or none."""
        return self.listed()

    @property
    def remark(self) -> str:
        """What is written beside it in a recipe file."""
        return ": ".join(part for part in (", ".join(self.words), self.said) if part)

    def fits(self, value: Any) -> bool:
        """Return whether a value read from a file is of this kind."""
        whole = isinstance(value, int) and not isinstance(value, bool)
        number = whole or isinstance(value, float)
        listed = value if isinstance(value, list) else None
        return {
            NAMES: listed is not None and all(isinstance(one, str) for one in listed),
            NAME_OR_NAMES: isinstance(value, str) or all(isinstance(one, str) for one in listed or [0]),
            WORDS: listed is not None and all(isinstance(one, str) for one in listed),
            WHOLES: listed is not None and all(isinstance(one, int) and not isinstance(one, bool) for one in listed),
            WHOLE: whole,
            NUMBER: number,
            NUMBERS: number or (listed is not None and all(isinstance(one, (int, float)) for one in listed)),
            WORD_OR_WHOLE: whole or isinstance(value, str),
            BY_COLUMN: isinstance(value, dict),
            WORD_OR_BY_COLUMN: isinstance(value, (str, dict)),
            LISTED: listed is not None and all(isinstance(one, dict) for one in listed),
            FLAG: isinstance(value, bool),
        }.get(self.kind, isinstance(value, str))

    def checked(self, value: Any) -> Any:
        """Return a value as it is kept, or say what it must be."""
        if value is None and self.default is None:
            return None
        if self.or_object and not isinstance(value, str):
            return value
        if self.kind == NAMES:
            return tuple(check_names(value))
        if self.kind == NAME:
            return value
        if self.kind == NAME_OR_NAMES:
            listed = tuple(check_names(value)) if isinstance(value, (list, tuple)) else (value,)
            return (listed[0] if listed else None) if len(listed) < 2 else listed
        if self.kind in (BY_COLUMN, WORD_OR_BY_COLUMN) and isinstance(value, Mapping):
            return {name: self.of_column(name, one) for name, one in value.items()}
        if self.kind == LISTED and self.element is not None:
            several = isinstance(value, Iterable) and not isinstance(value, (str, Mapping))
            return tuple(map(self.element, value if several else [value]))
        if self.kind in (WORDS, WHOLES):
            return tuple(self._one(one) for one in ([value] if isinstance(value, str | Integral) else value))
        return self._one(value)

    def of_column(self, name: Any, value: Any) -> Any:
        """Return what is chosen for one column as it is kept, or say what it must be."""
        try:
            return value if self.element is None else self.element(value)
        except ValueError as error:
            raise InvalidParameter(
                f"{self.keyword} of column {shown_name(name)}: {error}", parameter=self.keyword, columns=(name,)
            ) from None

    def _one(self, value: Any) -> Any:
        if isinstance(value, str) and self.kind in (WORD, WORDS, WORD_OR_WHOLE, WORD_OR_BY_COLUMN):
            if self.words and not (self.or_object and "." in value):  # the name of somebody's own class
                check_option(self.keyword, value, self.words)
            return value
        if self.kind in (WHOLE, WHOLES, WORD_OR_WHOLE) and not isinstance(value, str):
            return check_whole(self.keyword, value, 0 if self.least is None else self.least, self.most)
        if self.kind == FLAG and isinstance(value, bool):
            return value
        if (
            self.kind in (NUMBER, NUMBERS)
            and isinstance(value, (int, float, np.number))
            and not isinstance(value, bool)
        ):
            return value
        if self.kind == NUMBERS and not isinstance(value, (str, bool)):
            return tuple(value)
        if self.kind == TEXT and isinstance(value, str):
            return value
        otherwise = f", or {self.or_object}" if self.or_object else ""
        if self.words:
            check_option(self.keyword, value, self.words)
        raise InvalidParameter(f"{self.keyword}={shown(value)} must be {self.kind}{otherwise}.", parameter=self.keyword)


def shown(value: Any) -> str:
    """Show a value that was passed: a word, a number or None; of all else the type, since it may hold data."""
    if value is None or isinstance(value, (str, bool, int, float)):
        text = repr(value)
        return text if len(text) <= 60 else f"{text[:59]}…"
    return a_type(value)


def choose(default: Any, kind: str, said: str, *, words: Any = (), keyword: str = "", **more: Any) -> Any:
    """Declare a field of a part of a recipe; `words` may be a callable that gives them."""
    listed = words if callable(words) else lambda: tuple(words)
    declared = {"kind": kind, "said": said, "keyword": keyword, "listed": listed, "default": default, **more}
    if isinstance(default, dict):
        return field(default_factory=dict, metadata=declared)
    return field(default=default, metadata=declared)


class Part(ReadOnly):
    """A part of a recipe: some choices that belong together, each checked when it is made.

    Where `by_column` is set, the part is one choice of that name, a table of columns, and the keys of its table in a
    file are names of columns. Where `listed` is set, it is one choice of that name, and a file says it by any number of
    tables: ``[[analysis]]``.
    """

    by_column: ClassVar[str | None] = None
    listed: ClassVar[str | None] = None

    def __post_init__(self) -> None:
        for name, choice in choices_of(type(self)).items():
            object.__setattr__(self, name, choice.checked(getattr(self, name)))
        self._check()
        refuse_by(OF_PARTS.get(type(self).__name__, ()), self)
        super().__post_init__()

    def _check(self) -> None:
        """Refuse values that a declaration cannot."""

    def made(self, choice: str) -> bool:
        """Return whether a choice is made, or made with a value: "moments", "moments=variance"."""
        keyword, _, value = choice.partition("=")
        return self.says(keyword, value) if value else self.differs(keyword, nothing=("", ()))

    def says(self, keyword: str, value: str) -> bool:
        """Return whether a choice has a value, as it is written."""
        return any(str(own) == value for own, _ in self._of(keyword))

    def differs(self, keyword: str, nothing: Collection[Any] = ()) -> bool:
        """Return whether a choice is neither the usual one nor what says nothing."""
        return any(own != usual and own not in nothing for own, usual in self._of(keyword))

    def _of(self, keyword: str) -> list[tuple[Any, Any]]:
        """Return what is chosen by a keyword and what is usual; one keyword may set several choices."""
        own = choices_of(type(self)).items()
        return [(getattr(self, name), one.default) for name, one in own if one.keyword == keyword]

    @property
    def facts(self) -> dict[str, Any]:
        """What is said of choices that do not go together."""
        return {}

    @property
    def said(self) -> dict[str, Any]:
        """The choices that are made, by name; those left to a rule are not among them."""
        return {name: value for name in choices_of(type(self)) if (value := getattr(self, name)) is not None}


_READ: dict[type[Any], MappingProxyType[str, Choice]] = {}  # the declarations of parts, read off once


def choices_of(part: type[Any]) -> MappingProxyType[str, Choice]:
    """Return the declared choices of a part, by name."""
    if part not in _READ:
        _READ[part] = MappingProxyType({one.name: _declared(one) for one in fields(part) if one.metadata})
    return _READ[part]


def _declared(one: Field[Any]) -> Choice:
    content: Mapping[str, Any] = one.metadata
    default = content["default"] if one.default is MISSING else one.default
    return Choice(name=one.name, **{**content, "keyword": content["keyword"] or one.name, "default": default})
