"""What a text of the grammar becomes: a tree of columns, numbers and functions, which is computed and never run."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.base.frozen import frozen

Values = NDArray[np.float64]


def _centred(values: Values) -> Values:
    known = values[np.isfinite(values)]
    return np.asarray(values - (known.mean() if known.size else np.nan))


def _scaled(values: Values) -> Values:
    centred = _centred(values)
    known = centred[np.isfinite(centred)]
    return np.asarray(centred / np.sqrt(known @ known / (known.size - 1)))


ELEMENTWISE: dict[str, Callable[[Values], Values]] = {
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "exp": np.exp,
    "sqrt": np.sqrt,
    "abs": np.abs,
    "I": lambda values: values,
}
"""What makes a number of each number by itself."""
_SIGNS: dict[str, Callable[[Values, Values], Values]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
}
_OF_NUMBERS = ELEMENTWISE | {"center": _centred, "scale": _scaled}
ALONE = ("poly", "C")
"""What makes several columns, and so is a term by itself."""
FUNCTIONS = (*_OF_NUMBERS, *ALONE)
"""All that a formula may call."""


class Expression:
    """A part of a tree."""

    def columns(self) -> Iterator[Any]:
        """Yield the columns that it names, in that order."""
        match self:
            case Name(name):
                yield name
            case Arithmetic(parts):
                for _, part in parts:
                    yield from part.columns()
            case Power(inner) | Call(_, inner):
                yield from inner.columns()

    def values(self, column: Callable[[Any], Values]) -> Values:
        """Compute its numbers, from those of each column."""
        match self:
            case Name(name):
                return column(name)
            case Power(base, exponent):
                return np.asarray(base.values(column) ** exponent)
            case Call(function, argument):
                return _OF_NUMBERS[function](argument.values(column))
            case Arithmetic(((sign, first), *others)):
                found = -first.values(column) if sign == "-" else first.values(column)
                for sign, part in others:
                    found = _SIGNS[sign](found, part.values(column))
                return found
        return np.asarray(np.float64(str(self)))  # a number

    def __str__(self) -> str:
        match self:
            case Name(name):
                return str(name)
            case Power(base, exponent):
                return f"{f'({base})' if isinstance(base, Arithmetic | Power) else base}^{exponent}"
            case Call(function, argument, _, more):
                return f"{function}({argument}{more})"
            case Arithmetic(((sign, first),)):
                return f"{sign}{_bracketed(first, sign)}"
            case Arithmetic(((sign, first), *others)):
                said = f"({first})" if sign == "*" and _is_sum(first) else str(first)
                return said + "".join(f" {sign} {_bracketed(one, sign)}" for sign, one in others)
            case Literal(written):
                return written
        raise NotImplementedError


@frozen()
class Name(Expression):
    """A column."""

    name: Any


@frozen()
class Literal(Expression):
    """A number, as it was written."""

    written: str


@frozen()
class Arithmetic(Expression):
    """Nodes with signs before them: all + and -, or all * and /. The first has + or *, but in "-x"."""

    parts: tuple[tuple[str, Expression], ...]


@frozen()
class Power(Expression):
    """A node, raised to a whole power."""

    base: Expression
    exponent: int


@frozen()
class Call(Expression):
    """A function of a node; poly has a degree as well, and how it was written, and C has a column."""

    function: str
    argument: Expression
    degree: int = 0
    more: str = ""


def _is_sum(node: Expression) -> bool:
    return isinstance(node, Arithmetic) and len(node.parts) > 1 and node.parts[0][0] == "+"


def _bracketed(node: Expression, sign: str) -> str:
    """Show a node that comes after a sign, in brackets where it needs them."""
    product = isinstance(node, Arithmetic) and len(node.parts) > 1 and sign in "*/"
    return f"({node})" if product or _is_sum(node) else str(node)
