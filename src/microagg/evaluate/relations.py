"""Relations that hold between the numbers of a record, such as income = wage + benefits: read, and counted."""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.checks import check_between
from microagg.errors import InvalidParameter
from microagg.frozen import frozen

Values = NDArray[np.float64]
Formula = Callable[[Mapping[Any, Values]], Values]

_LARGEST = 1e300
_NOISE = 1e-9  # of the values that are compared: sums of floats differ by that without meaning anything
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[^\W\d]\w*)"
    r"|(?P<quoted>\"[^\"]+\"|'[^']+'|`[^`]+`)|(?P<sign>[<>!=]=|[-+*()<>=]))"
)
_COMPARED = ("=", "==", "!=", "<=", ">=", "<", ">")
_HOW = (
    "Write two sums of columns with =, !=, <=, >=, < or > between them, such as 'income = wage + 2 * benefits'; put "
    "names that are not one word in quotes."
)


@frozen()
class Relation:
    """A relation between columns.

    Attributes
    ----------
    said : str
        As it was written.
    columns : tuple of str
        The columns that it names, in that order.
    alone : tuple of two
        The column that is all there is on the left, and on the right, where it is not on the other side too; else None.
    sign : str
        "=", "!=", "<=", ">=", "<" or ">".
    tolerance : float
        By how much the two sides of =, <= and >= may differ, such as the step to which released means are rounded; a
        billionth of their size is always allowed.

    Examples
    --------
    >>> import microagg as ma
    >>> ma.Relation.of("income = wage + 'child benefit'").columns
    ('income', 'wage', 'child benefit')
    """

    said: str
    columns: tuple[str, ...]
    alone: tuple[str | None, str | None]
    sign: str
    tolerance: float
    _sides: tuple[Formula, Formula] = field(compare=False, repr=False)

    @classmethod
    def of(cls, said: Any, tolerance: Any = 0.0) -> "Relation":
        """Read a relation, or say what is wrong with it."""
        tolerance = check_between("tolerance", tolerance, 0.0, _LARGEST, "It is in the units of the columns.")
        if not isinstance(said, str):
            raise InvalidParameter(f"a relation is of type {type(said).__name__}. {_HOW}", parameter="relations")
        reader = _Reader(said)
        left = reader.side()
        sign = reader.take(*_COMPARED)
        right = reader.side()
        reader.end()
        if not reader.names:
            raise InvalidParameter(f"the relation {said!r} names no column. {_HOW}", parameter="relations")
        alone = _alone(left, right), _alone(right, left)
        formulas = left.formula, right.formula
        return cls(said, tuple(dict.fromkeys(reader.names)), alone, "=" if sign == "==" else sign, tolerance, formulas)

    def violated(self, values: Mapping[Any, Values]) -> NDArray[np.bool_]:
        """Return which records break it; one that lacks a value of its columns breaks nothing.

        Strict signs stay strict.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            left, right = self.sides(values)
            size = np.maximum(np.abs(left), np.abs(right))
            slack = self.tolerance + _NOISE * np.where(np.isfinite(size), size, 0.0)
            known = ~np.isnan(left) & ~np.isnan(right)
            broken = {
                "=": np.abs(left - right) > slack,
                "!=": left == right,
                "<=": left > right + slack,
                ">=": left < right - slack,
                "<": left >= right,
                ">": left <= right,
            }[self.sign]
        return np.asarray(broken & known)

    def sides(self, values: Mapping[Any, Values]) -> tuple[Values, Values]:
        """Return what stands left and right of the sign, for each record."""
        shape = values[self.columns[0]].shape
        left, right = (np.broadcast_to(side(values), shape) for side in self._sides)
        return left, right

    def __reduce__(self) -> tuple[Any, ...]:  # what it computes with is not stored: it is read again
        return Relation.of, (self.said, self.tolerance)

    def known(self, values: Mapping[Any, Values]) -> int:
        """Count the records that have a value in all of its columns."""
        return int(np.count_nonzero(~np.isnan(np.array([values[name] for name in self.columns])).any(axis=0)))


class _Side(NamedTuple):
    """One side of a relation: how it is computed, its columns, and of how many words and signs it is made."""

    formula: Formula
    names: list[str]
    length: int


def _alone(side: _Side, other: _Side) -> str | None:
    return side.names[0] if side.length == 1 and side.names and side.names[0] not in other.names else None


class _Reader:
    """Reads sums and products of columns and numbers from a text."""

    def __init__(self, said: str) -> None:
        self.said, self.names = said, list[str]()
        self._tokens: list[tuple[str, str]] = []
        place = 0
        while place < len(said.rstrip()):
            found = _TOKEN.match(said, place)
            if found is None or found.lastgroup is None:
                raise self._wrong(f"{said[place:].strip()[:20]!r} cannot be read")
            self._tokens.append((found.lastgroup, found[found.lastgroup]))
            place = found.end()
        self._place = 0

    def _wrong(self, why: str) -> InvalidParameter:
        return InvalidParameter(f"the relation {self.said!r} is not understood: {why}. {_HOW}", parameter="relations")

    @property
    def _next(self) -> tuple[str, str]:
        return self._tokens[self._place] if self._place < len(self._tokens) else ("", "")

    def take(self, *signs: str) -> str:
        """Take one of some signs, which must come next."""
        _, sign = self._next
        if sign not in signs:
            raise self._wrong(f"it has {sign!r} in place of {' or '.join(signs)}" if sign else "it ends too early")
        self._place += 1
        return sign

    def end(self) -> None:
        """Refuse whatever comes after the end."""
        if self._next[1]:
            raise self._wrong(f"{self._next[1]!r} comes too late")

    def side(self) -> _Side:
        """Read one side of the sign."""
        named, place = len(self.names), self._place
        formula = self.sum()
        return _Side(formula, self.names[named:], self._place - place)

    def sum(self) -> Formula:
        """Read terms with + and - between them."""
        found = self._product()
        while self._next[1] in ("+", "-"):
            found = _joined(operator.add if self.take("+", "-") == "+" else operator.sub, found, self._product())
        return found

    def _product(self) -> Formula:
        found = self._one()
        while self._next[1] == "*":
            self.take("*")
            found = _joined(operator.mul, found, self._one())
        return found

    def _one(self) -> Formula:
        kind, text = self._next
        if kind == "sign":
            if self.take("-", "+", "(") == "(":
                inner = self.sum()
                self.take(")")
                return inner
            own = self._one()
            return (lambda values: -own(values)) if text == "-" else own
        if not kind:
            raise self._wrong("it ends too early")
        self._place += 1
        if kind == "number":
            number = np.float64(text)
            if not number <= _LARGEST:
                raise self._wrong(f"{text} is too large for a number")
            return lambda _: np.asarray(number)
        name = text if kind == "name" else text[1:-1]
        self.names.append(name)
        return lambda values: values[name]


def _joined(operation: Callable[[Any, Any], Any], left: Formula, right: Formula) -> Formula:
    def joined(values: Any) -> Any:
        with np.errstate(over="ignore", invalid="ignore"):  # what is beyond float64 is infinite
            return operation(left(values), right(values))

    return joined


class RelationCounts(NamedTuple):
    """How many records break a relation.

    Attributes
    ----------
    relation : str
        As it was written.
    before, after : int
        Records that break it in the original, and in the masked file.
    fresh : int
        Those that break it in the masked file alone.
    known_before, known_after : int
        Records that have a value in all of its columns.

    Examples
    --------
    >>> import microagg as ma
    >>> survey = ma.datasets.survey(300, seed=0).select(["age", "income", "tax"])
    >>> found, = ma.relations(survey, ma.protect(survey, k=3).data, ["tax <= income"])
    >>> found.reading
    'tax <= income: holds in the masked file.'
    """

    relation: str
    before: int
    after: int
    fresh: int
    known_before: int
    known_after: int

    @property
    def reading(self) -> str:
        """What was counted, in words."""
        if not self.after:
            return f"{self.relation}: holds in the masked file."
        more = f", {self.fresh} of them because of masking" if self.fresh else ", as in the original"
        return f"{self.relation}: broken by {self.after} of {self.known_after} masked records{more}."


def count_violations(
    relations: Sequence[Relation],
    original: Mapping[Any, Values],
    masked: Mapping[Any, Values],
) -> tuple[RelationCounts, ...]:
    """Count the records that break relations, in two files that hold the same records in the same order."""
    found = []
    for relation in relations:
        was, now = relation.violated(original), relation.violated(masked)
        found.append(
            RelationCounts(
                relation.said,
                int(np.count_nonzero(was)),
                int(np.count_nonzero(now)),
                int(np.count_nonzero(now & ~was)),
                relation.known(original),
                relation.known(masked),
            )
        )
    return tuple(found)
