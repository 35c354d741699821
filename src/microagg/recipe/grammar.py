"""One small grammar for what a person writes of columns: formulas, terms, conditions and relations.

A text becomes a tree of columns, numbers and functions (`Expression`), which is computed; no part of the text is ever
run as Python. A word directly before a bracket is a function, which must be one of `FUNCTIONS`; every other word is the
name of a column.
"""

import re
from collections.abc import Callable, Collection, Iterator
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from microagg.base.frozen import frozen
from microagg.errors import InvalidParameter

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


Made = TypeVar("Made")

MOST_CHARACTERS = 10_000
_MOST_DEPTH = 30  # brackets in brackets
_MOST_TERMS = 1000
_MOST_FACTORS = 6  # of an interaction
LARGEST = 1e300
POWERS = 9
DEGREES = 5
_OF_FORMULAS = ("/", "^", "**", ":", "~", ",")  # which relations do not have
COMPARED = ("=", "==", "!=", "<=", ">=", "<", ">")

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)|(?P<word>[^\W\d]\w*)"
    r"|(?P<quoted>\"[^\"]+\"|'[^']+'|`[^`]+`)|(?P<sign>\*\*|[<>!=]=|[-+*/:^(),~<>=]))"
)
_WORD = re.compile(r"[^\W\d]\w*")
_COMPARISON = re.compile(r"\s*([<>!=]=|[<>=])\s*(?=\S)")
_QUOTED = re.compile(r"\"([^\"]*)\"|'([^']*)'")


Terms = dict[frozenset[Expression], tuple[Expression, ...]]
"""Terms of a formula, each of its factors, which are multiplied; that of none is the intercept."""


@frozen()
class Formula:
    """A response, the terms that explain it, those of fewer factors first, and all columns that were named."""

    response: Expression
    terms: tuple[tuple[Expression, ...], ...]
    columns: tuple[Any, ...]


class Token(NamedTuple):
    """A number, a word, a quoted name, a sign or the end, and where it is."""

    kind: str
    text: str
    start: int
    end: int


class Reader:
    """Reads one text from left to right; whatever the grammar does not have is refused, with its place.

    Parameters
    ----------
    text : str
    what : str
        What the text is, for errors.
    parameter : str
        The choice that they are about.
    how : str
        How such a text is written.
    functions : names, optional
        What it may call; where that is nothing, it has no / and no ^ either.
    names : collection, optional
        Columns whose names are read unquoted even if they are not one word.
    """

    def __init__(
        self,
        text: str,
        what: str,
        parameter: str,
        how: str,
        functions: Collection[str] = (),
        names: Collection[Any] = (),
        most: int = MOST_CHARACTERS,
    ) -> None:
        self.text, self._what, self._parameter, self._how = text, what, parameter, how
        self._functions, self._odd = functions, _odd_names(frozenset(names)) if names else None
        self._depth = self._calls = self._place = 0
        self._found: Token | None = None
        self._named: list[str] = []
        if len(text) > most:
            raise self.wrong(f"it has {len(text)} characters, and {most} are the most")

    def wrong(self, why: str, at: int | None = None) -> InvalidParameter:
        """Return the error that says what cannot be read, and where."""
        text = self.text if len(self.text) <= 200 else f"{self.text[:199]}…"
        place = "" if at is None else f" at character {at + 1}"
        return InvalidParameter(
            f"the {self._what} {text!r} is not understood{place}: {why}. {self._how}", parameter=self._parameter
        )

    @property
    def _next(self) -> Token:
        if self._found is None:
            self._found = self._read()
        return self._found

    def _read(self) -> Token:
        start = self._place
        found = _TOKEN.match(self.text, start)
        if found is None or found.lastgroup is None:
            rest = self.text[start:].lstrip()
            if rest:
                raise self.wrong(f"it has {rest[0]!r}, which is not allowed", len(self.text) - len(rest))
            return Token("end", "", len(self.text), len(self.text))
        kind = found.lastgroup
        if not self._functions and found[kind] in _OF_FORMULAS:
            raise self.wrong(f"it has {found[kind]!r}, which is not allowed", found.start(kind))
        text = found[kind][1:-1] if kind == "quoted" else found[kind]
        return Token(kind, text, found.start(kind), found.end())

    def _begin(self) -> Token:
        """Look at the beginning of an operand, where a column goes first whose name is not one word."""
        odd = None if self._odd is None else self._odd.match(self.text, self._place)
        if odd is not None:
            self._found = Token("quoted", odd[0], odd.start(), odd.end())
        return self._next

    def _advance(self) -> Token:
        token = self._next
        self._place, self._found = token.end, None
        return token

    @property
    def _sign(self) -> str:
        return self._next.text if self._next.kind == "sign" else ""

    def _unexpected(self, wanted: str) -> InvalidParameter:
        token = self._next
        if token.kind == "end":
            return self.wrong("it ends too early")
        if self._sign == "**":
            return self.wrong("it has '**'; a power is written with ^, such as x^2", token.start)
        return self.wrong(f"it has {token.text[:40]!r} in place of {wanted}", token.start)

    def take(self, *signs: str) -> str:
        """Take one of some signs, which must come next."""
        if self._sign not in signs:
            raise self._unexpected(" or ".join(signs))
        return self._advance().text

    def end(self) -> None:
        """Refuse whatever comes after the end."""
        if self._sign == "**":
            raise self._unexpected("the end")
        if self._next.kind != "end":
            why = "is not expected here; perhaps a sign such as + is missing, or a name needs `backticks`"
            raise self.wrong(f"{self._next.text[:40]!r} {why}", self._next.start)

    def _nested(self, read: Callable[[], Made]) -> Made:
        self._depth += 1
        if self._depth > _MOST_DEPTH:
            raise self.wrong(f"it has more than {_MOST_DEPTH} brackets or signs inside each other", self._next.start)
        found = read()
        self._depth -= 1
        return found

    # Arithmetic

    def sum(self) -> Expression:
        """Read products with + and - between them."""
        return self._joined(("+", "-"), self._product)

    def _product(self) -> Expression:
        return self._joined(("*", "/") if self._functions else ("*",), self._signed)

    def _joined(self, signs: tuple[str, ...], read: Callable[[], Expression]) -> Expression:
        parts = [(signs[0], read())]
        while self._sign in signs:
            parts.append((self.take(*signs), read()))
        return parts[0][1] if len(parts) == 1 else Arithmetic(tuple(parts))

    def _signed(self) -> Expression:
        self._begin()
        if self._sign not in ("+", "-"):
            return self._power(self._atom())
        sign, own = self.take("+", "-"), self._nested(self._signed)
        return own if sign == "+" else Arithmetic((("-", own),))

    def _power(self, base: Expression) -> Expression:
        if self._sign != "^" or not self._functions:
            return base
        at = self._advance().start
        if isinstance(base, Call) and base.function in ALONE:
            raise self.wrong(f"{base.function}(…) cannot be raised to a power", at)
        exponent = self._whole(POWERS, "a power")
        if self._sign == "^":
            raise self.wrong("a power is raised to a power. Multiply the two", self._next.start)
        return base if exponent == 1 else Power(base, exponent)

    def _whole(self, most: int, what: str) -> int:
        token = self._next
        if token.kind != "number" or token.text not in map(str, range(1, most + 1)):
            raise self.wrong(f"{what} must be a whole number from 1 to {most}", token.start)
        return int(self._advance().text)

    def _atom(self) -> Expression:
        token = self._next
        if token.kind == "number":
            if not float(token.text) <= LARGEST:
                raise self.wrong(f"a number is larger than {LARGEST:g}", token.start)
            return Literal(self._advance().text)
        if token.kind in ("word", "quoted"):
            self._advance()
            called = self._functions and token.kind == "word" and self._sign == "("
            return self._call(token) if called else self._name(token)
        if self._sign != "(":
            raise self._unexpected("a column, a number or (")
        self._advance()
        found = self._nested(self.sum)
        self.take(")")
        return found

    def _call(self, token: Token) -> Expression:
        name = token.text
        if name not in self._functions:
            known = f"It can be {', '.join(self._functions)}"
            why = "Only a formula can have it" if name in FUNCTIONS else known
            raise self.wrong(f"there is no function {name[:40]!r} here. {why}", token.start)
        if self._calls and name in ALONE:
            raise self.wrong(f"{name}(…) is inside another function, and must be a term by itself", token.start)
        self.take("(")
        self._calls += 1
        argument = self._nested(self._column if name == "C" else self.sum)
        self._calls -= 1
        degree, more = 0, ""
        if name == "poly":
            degree = 1
            if self._sign == ",":
                self._advance()
                said = self._next.text == "degree"
                if said:
                    self._advance()
                    self.take("=")
                degree = self._whole(DEGREES, "the degree of poly")
                more = f", {'degree=' if said else ''}{degree}"
        self.take(")")
        return Call(name, argument, degree, more)

    def _column(self) -> Expression:
        if self._next.kind not in ("word", "quoted"):
            raise self._unexpected("a column")
        return self._name(self._advance())

    def _name(self, token: Token) -> Expression:
        self._named.append(token.text)
        return Name(token.text)

    # Terms

    def factor(self) -> Expression:
        """Read a column, a function, or one of them with a power."""
        token = self._begin()
        if token.kind not in ("word", "quoted"):
            raise self._unexpected("a column or a function; arithmetic, such as 2 * x, is written as I(2 * x)")
        found = self._power(self._atom())
        if next(found.columns(), None) is None:
            raise self.wrong(f"{str(found)[:40]!r} names no column", token.start)
        return found

    def compared(self) -> tuple[str, str] | None:
        """Read a comparison to the end: its sign, and the text after it without quotes; None where there is none."""
        found = _COMPARISON.match(self.text, self._place)
        if found is None:
            return None
        value = self.text[found.end() :].strip()
        quoted = _QUOTED.fullmatch(value)
        return "=" if found[1] == "==" else found[1], value if quoted is None else quoted[quoted.lastindex or 0]

    def formula(self) -> Formula:
        """Read a whole formula."""
        response = self.factor()
        if isinstance(response, Call) and response.function in ALONE:
            raise self.wrong(f"{response.function}(…) cannot be the response")
        self.take("~")
        terms = self._summed({frozenset(): ()}, outermost=True)
        self.end()
        if not terms:
            raise self.wrong("nothing is left that explains the response")
        return Formula(response, tuple(sorted(terms.values(), key=len)), tuple(dict.fromkeys(self._named)))

    def _summed(self, found: Terms, *, outermost: bool) -> Terms:
        adds = self._sign not in ("+", "-") or self.take("+", "-") == "+"
        while True:
            if outermost and self._next.kind == "number" and self._next.text in ("0", "1"):
                adds, own = adds == (self._advance().text == "1"), Terms({frozenset(): ()})
            else:
                own = self._crossed()
            found = found | _less(own, found) if adds else _less(found, own)
            if len(found) > _MOST_TERMS:
                raise self.wrong(f"it has more than {_MOST_TERMS} terms")
            if self._sign not in ("+", "-"):
                return found
            adds = self.take("+", "-") == "+"

    def _crossed(self) -> Terms:
        """Read a*b, which is a + b + a:b, and a/b, which is a + a:b."""
        found = self._interacting()
        while self._sign in ("*", "/"):
            if self.take("*", "/") == "*":
                other = self._interacting()
                found = found | _less(other, found) | _less(self._product_of(found, other), found | other)
            else:
                whole = tuple(dict.fromkeys(factor for term in found.values() for factor in term))
                nested = self._product_of({frozenset(whole): whole}, self._interacting())
                found = found | _less(nested, found)
        return found

    def _interacting(self) -> Terms:
        found = self._operand()
        while self._sign == ":":
            self._advance()
            found = self._product_of(found, self._operand())
        return found

    def _operand(self) -> Terms:
        if self._sign != "(":
            factor = self.factor()
            return {frozenset([factor]): (factor,)}
        self._advance()
        found = self._nested(lambda: self._summed({}, outermost=False))
        self.take(")")
        if self._sign == "^":
            raise self.wrong("^ comes after a bracket, and it raises one column or function only", self._next.start)
        return found

    def _product_of(self, left: Terms, right: Terms) -> Terms:
        if len(left) * len(right) > _MOST_TERMS:
            raise self.wrong(f"it has more than {_MOST_TERMS} terms")
        found: Terms = {}
        for one in left.values():
            for other in right.values():
                term = tuple(dict.fromkeys((*one, *other)))
                if len(term) > _MOST_FACTORS:
                    raise self.wrong(f"a term multiplies more than {_MOST_FACTORS} columns or functions")
                found.setdefault(frozenset(term), term)
        return found


def _less(terms: Terms, others: Terms) -> Terms:
    return {key: term for key, term in terms.items() if key not in others}


@lru_cache(maxsize=8)
def _odd_names(names: frozenset[Any]) -> re.Pattern[str] | None:
    """Return what finds the names that are not one word, the longest first; None where there are none."""
    odd = sorted((one for one in names if isinstance(one, str) and one and not _WORD.fullmatch(one)), key=len)
    if not odd:
        return None
    return re.compile("|".join(re.escape(one) + (r"(?!\w)" if one[-1].isalnum() else "") for one in reversed(odd)))
