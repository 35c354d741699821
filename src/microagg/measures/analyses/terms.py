"""What analyses read of columns: a column unchanged, a power or a function of it, or whether a condition holds."""

import operator
from collections.abc import Callable, Collection
from functools import cached_property
from typing import Any

from microagg.base.frozen import frozen
from microagg.checks import nearest, shown_name
from microagg.errors import RoleError
from microagg.measures.analyses.definition import as_text
from microagg.recipe.grammar import ELEMENTWISE, FUNCTIONS, Expression, Formula, Name, Reader

COMPARED: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_SIGNS = "(^=<>`"  # without one of which a text can only be the name of a column
_LONGEST = 1000  # characters of a condition
_HOW_FORMULA = (
    "Write the response, ~, and what explains it, such as 'income ~ age + age^2 + sex'; put names that are not one "
    "word in `backticks`."
)
_HOW_TERM = "Write a column, a power such as age^2, a function such as log(income), or a condition such as wage = 0."
_HOW_CONDITION = "Write a category, or a condition such as = 0."


@frozen()
class Condition:
    """What a value is compared with, and how: a key of `COMPARED`."""

    sign: str
    value: str

    @classmethod
    def parse(cls, text: Any) -> "Condition":
        """Read a condition such as "= 0", "> 1000" or "male", which is "= male"."""
        said = str(text).strip()
        return cls(*Reader(said, "condition", "value", _HOW_CONDITION, most=_LONGEST).compared() or ("=", said))

    @property
    def number(self) -> float | None:
        """The value as a number; None where it is none."""
        try:
            return float(self.value)
        except ValueError:
            return None

    def __str__(self) -> str:
        return f"{self.sign} {self.value}"


@frozen()
class Term:
    """A column or what is made of columns, and a condition.

    Attributes
    ----------
    made : Expression
        What is computed; where that is no number, it counts as missing.
    condition : Condition or None
        Of a column: 1 where it holds, 0 where it does not.
    """

    made: Expression
    condition: Condition | None = None

    @property
    def is_plain(self) -> bool:
        """Whether it is a column unchanged."""
        return isinstance(self.made, Name) and self.condition is None

    @cached_property
    def columns(self) -> tuple[Any, ...]:
        """The columns that it reads."""
        return tuple(self.made.columns())

    @property
    def column(self) -> Any:
        """The first of them."""
        return self.columns[0]

    @classmethod
    def of(cls, column: Any, condition: Condition | None = None) -> "Term":
        """Return the term that is a column."""
        return cls(Name(column), condition)

    @classmethod
    def parse(cls, text: Any, names: Collection[Any]) -> "Term":
        """Read a term, or say what is wrong with it; a column of this very name goes first."""
        if text in names or not isinstance(text, str) or not any(sign in text for sign in _SIGNS):
            return cls.of(known(text, names))
        reader = Reader(text, "term", "columns", _HOW_TERM, tuple(ELEMENTWISE), names)
        found = cls(reader.factor())
        for name in found.columns:
            known(name, names)
        compared = reader.compared()
        if compared is None or not found.is_plain:
            reader.end()
            return found
        return cls(found.made, Condition(*compared))

    def __str__(self) -> str:
        return str(self.made) if self.condition is None else f"{self.made} {self.condition}"


def known(name: Any, names: Collection[Any]) -> Any:
    """Return the name of a column, or say that the files have none of that name."""
    if name not in names:
        raise RoleError(
            f"column {shown_name(name)} of an analysis is not in both files.{nearest(name, names)} Name a column that "
            f"both have.",
            parameter="analyses",
            columns=(name,),
        )
    return name


def as_condition(name: str, value: Any) -> str:
    """Check a category or a condition, of whatever type."""
    Condition.parse(said := as_text(name, value))
    return said


def as_formula(name: str, value: Any) -> str:
    """Check a formula, but for the names of its columns."""
    formula_of(said := as_text(name, value))
    return said


def formula_of(text: str) -> Formula:
    """Read a formula, or say what is wrong with it."""
    return Reader(text, "formula", "formula", _HOW_FORMULA, FUNCTIONS).formula()
