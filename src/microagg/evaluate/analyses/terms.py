"""What analyses read of columns: a column unchanged, a power or a logarithm of it, or whether a condition holds."""

import operator
import re
from collections.abc import Callable, Collection
from typing import Any

from microagg.checks import nearest, shown_name
from microagg.errors import InvalidParameter, RoleError
from microagg.frozen import frozen

_LOGARITHM = re.compile(r"log\((.+)\)")
_POWER = re.compile(r"(.+?)\s*\^\s*([1-9])")
_CONDITION = re.compile(r"(.*?)\s*(==|!=|<=|>=|=|<|>)\s*(.+)")
COMPARED: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@frozen()
class Condition:
    """What a value is compared with, and how: a key of `COMPARED`."""

    sign: str
    value: str

    @classmethod
    def parse(cls, text: Any) -> "Condition":
        """Read a condition such as "= 0", "> 1000" or "male", which is "= male"."""
        found = _CONDITION.fullmatch(str(text).strip())
        if found is None or found[1]:
            return cls("=", str(text).strip())
        return cls("=" if found[2] == "==" else found[2], found[3])

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
    """A column, and what is made of it.

    Attributes
    ----------
    column : any
        Its name.
    power : int
    logarithm : bool
        Whether the natural logarithm is taken; a number that has none counts as missing.
    condition : Condition or None
        1 where it holds, 0 where it does not.
    """

    column: Any
    power: int = 1
    logarithm: bool = False
    condition: Condition | None = None

    @property
    def is_plain(self) -> bool:
        """Whether it is the column unchanged."""
        return self.power == 1 and not self.logarithm and self.condition is None

    @classmethod
    def parse(cls, text: Any, names: Collection[Any]) -> "Term":
        """Read a term, or say that there is no such column; a column of this very name goes first."""
        if text in names or not isinstance(text, str):
            return cls(known(text, names))
        if (found := _LOGARITHM.fullmatch(text)) is not None:
            return cls(known(found[1].strip(), names), logarithm=True)
        if (found := _POWER.fullmatch(text)) is not None:
            return cls(known(found[1], names), power=int(found[2]))
        if (found := _CONDITION.fullmatch(text)) is not None and found[1]:
            return cls(known(found[1], names), condition=Condition.parse(text[len(found[1]) :]))
        return cls(known(text, names))

    def __str__(self) -> str:
        if self.logarithm:
            return f"log({self.column})"
        if self.condition is not None:
            return f"{self.column} {self.condition}"
        return f"{self.column}^{self.power}" if self.power > 1 else str(self.column)


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


_TOKEN = re.compile(r"`([^`]+)`|([A-Za-z_]\w*)|(\d+\.?\d*|\.\d+)|([~+\-*/:^(),=\s])")
FUNCTIONS = frozenset("I log log2 log10 exp sqrt abs C center scale poly bs cs df degree".split())
"""What a formula may call, and what it may say of that: it comes from a file, and must not run anything else."""


def columns_of_formula(formula: Any, names: Collection[Any]) -> list[Any]:
    """Return the columns that a formula names, or say what it must not hold."""
    text = formula if isinstance(formula, str) else ""
    if text.count("~") != 1:
        raise InvalidParameter(
            "a formula has the response, ~, and what explains it. Write 'income ~ age + sex'.", parameter="formula"
        )
    found: dict[Any, None] = {}
    place = 0
    while place < len(text):
        token = _TOKEN.match(text, place)
        if token is None:
            raise InvalidParameter(
                f"the formula has {text[place]!r}, which is not allowed. Use names, numbers, + - * : ^ ( ), and put a "
                f"name with other signs between `backticks`.",
                parameter="formula",
            )
        place = token.end()
        name = token[1] or token[2]
        if name is not None and (token[1] or name in names or name not in FUNCTIONS):
            found[known(name, names)] = None
    return list(found)
