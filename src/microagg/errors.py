"""Everything that microagg raises on purpose.

::

    MicroaggError
    ├── InputError (also a ValueError)     what was passed in cannot be used
    │   ├── InvalidParameter               k, a method, an option: the value, the limit, the remedy
    │   ├── RoleError                      a column that is unknown, has two roles, or has none
    │   ├── InvalidData                    missing, infinite, not numeric, too wide a range
    │   └── TooFewRecords                  fewer than k records, in the file or in a stratum
    ├── PromiseBroken                      the result would not be k-anonymous; nothing is returned
    ├── DatasetUnavailable                 a reference file could not be found, fetched or verified
    ├── ClusterFailed                      a cluster cannot be reached, or cannot do the work
    └── StoreFailed                        an object store cannot be reached, or refuses

A message names the value, the limit and the remedy, and never shows a cell of the data: it may end up
in a log.

Examples
--------
>>> import microagg as ma
>>> try:
...     ma.protect(ma.datasets.survey(100).select(["income", "tax"]), k=1)
... except ma.errors.InputError as error:
...     print(f"{type(error).__name__}: {error}")
InvalidParameter: k=1 protects nobody: a group needs at least 2 records. Pass k=2 or more.
"""

import functools
import json
import re
from collections.abc import Callable, Iterable
from typing import Any, Self

_VOWELS = (*"aeiouAEIOU", "ndarray")  # as they are spoken
_SETTING = re.compile("\u27ea(.*?)\u27eb")


def a_type(value: Any) -> str:
    """Return the type of a value that cannot be used, with its article: the value itself may be a cell of the data."""
    name = type(value).__name__
    return f"{'an' if name.startswith(_VOWELS) else 'a'} {name}"


def setting(parameter: str, value: Any = None) -> str:
    """Return a mark for a choice within a message; the command line, the app and Python each name it in their own way.

    Python shows ``overwrite=True``, the command line ``--force``, a recipe its key.
    """
    return f"\u27ea{json.dumps([parameter, value])}\u27eb"


def worded(text: str, say: Callable[[str, Any], str]) -> str:
    """Return a text in which `say(parameter, value)` writes every choice that it names."""
    return _SETTING.sub(lambda one: say(*json.loads(one[1])), text)


def as_keyword(parameter: str, value: Any) -> str:
    """Return a choice as Python passes it."""
    return parameter if value is None else f"{parameter}={value!r}"


class MicroaggError(Exception):
    """The root of all errors raised on purpose.

    Attributes
    ----------
    parameter : str or None
        The choice that the error is about, as `protect` names it.
    columns : tuple
        The columns that it is about.
    placed : bool
        Whether the message says already where the choice was made.
    """

    def __init__(self, message: str = "", *, parameter: str | None = None, columns: Iterable[Any] = ()) -> None:
        super().__init__(message)
        self.parameter, self.columns = parameter, tuple(columns)
        self.placed = False

    def worded(self, say: Callable[[str, Any], str]) -> str:
        """Return the message in which `say(parameter, value)` writes every choice that it names."""
        return worded(str(self.args[0]) if self.args else "", say)

    @property
    def settings(self) -> tuple[tuple[str, Any], ...]:
        """The choices that the message names with a value: what holds, and what would help."""
        named = map(json.loads, _SETTING.findall(str(self.args[0]) if self.args else ""))
        return tuple((parameter, value) for parameter, value in named if value is not None)

    def at(self, head: str) -> Self:
        """Return the same error, its message headed by where the choice was made."""
        error = type(self)(f"{head}{self.args[0]}", parameter=self.parameter, columns=self.columns)
        error.placed = True
        return error

    def __str__(self) -> str:
        return self.worded(as_keyword)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def __reduce__(self) -> tuple[Any, ...]:  # keywords would be lost when workers return errors
        return functools.partial(type(self), parameter=self.parameter, columns=self.columns), self.args


def blamed(one: Any, error: "InputError") -> "InputError":
    """Return an error about an analysis or a relation, headed by the line of the file that says it, if one does."""
    return error if error.placed or one.read_from is None else error.at(one.read_from.head(error))


class InputError(MicroaggError, ValueError):
    """What was passed in cannot be used."""


class InvalidParameter(InputError):
    """A parameter has a value that it cannot take."""


class RoleError(InputError):
    """A column is unknown, has more than one role, or has none."""


class InvalidData(InputError):
    """The values of a column cannot be microaggregated."""


class TooFewRecords(InputError):
    """There are fewer than k records, in the file or in one of its strata."""


class PromiseBroken(MicroaggError):
    """A result would not keep the promise of at least k; it is withheld."""


class DatasetUnavailable(MicroaggError):
    """A reference data set could not be found, fetched or verified."""


class ClusterFailed(MicroaggError):
    """A cluster cannot be reached, or its workers cannot do the work."""


class StoreFailed(MicroaggError):
    """An object store cannot be reached, or refuses what is asked of it."""
