"""The tables of a recipe file, the choices of each, and where a file sets them."""

import inspect
import json
import textwrap
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from microagg.algorithms.methods import BY_TREE, forming_method
from microagg.base.frozen import frozen
from microagg.checks import check_names
from microagg.errors import InputError, InvalidParameter, as_keyword
from microagg.recipe import _columns as columns
from microagg.recipe import _parts as parts
from microagg.recipe._choice import (
    BY_COLUMN,
    FLAG,
    LISTED,
    NUMBER,
    WHOLE,
    WORD,
    WORD_OR_BY_COLUMN,
    WORD_OR_WHOLE,
    Choice,
    Part,
    choices_of,
)
from microagg.recipe._lines import Place, line_of

Function = TypeVar("Function", bound=Callable[..., Any])

_SHARED = "at least this many {} share each combination of released values"
K = Choice("k", WHOLE, _SHARED.format("records"), "k", least=2)
K_OF_UNITS = _SHARED.format("different units")

PARTS: dict[str, tuple[str, type[Part]]] = {
    "roles": ("roles", parts.Roles),
    "recode": ("recode", columns.Recode),
    "kinds": ("kinds", columns.Kinds),
    "missing": ("missing_codes", columns.Missing),
    "importance": ("importance", columns.Importance),
    "taxonomy": ("taxonomy", columns.TaxonomyChoices),
    "units": ("units", columns.UnitChoices),
    "diversity": ("diversity", columns.DiversityChoices),
    "method": ("method", parts.MethodChoices),
    "masking": ("masking", parts.Masking),
    "weights": ("weights", parts.WeightChoices),
    "select": ("select", parts.Select),
    "blocks": ("blocks", parts.BlockChoices),
    "refine": ("refine", parts.Refine),
    "read": ("reading", parts.Reading),
    "join": ("join", parts.Join),
    "relation": ("relations", columns.Relations),
    "analysis": ("analyses", columns.Analyses),
    "risk": ("risk", parts.RiskChoices),
    "output": ("output", parts.OutputChoices),
    "compare": ("compare", parts.Compare),
}
"""Each table of a recipe file: the part of a recipe that it is, by name and class."""

OF_PROTECT = tuple(table for table in PARTS if table not in ("read", "join", "risk", "output", "compare"))
"""The tables whose choices are keywords of `protect`."""


def choices(*tables: str) -> dict[str, tuple[str, Choice]]:
    """Return the choices of these tables, or of all, by keyword: the table and the declaration."""
    known: dict[str, tuple[str, Choice]] = {}
    for table in tables or PARTS:
        for choice in choices_of(PARTS[table][1]).values():
            known.setdefault(choice.keyword, (table, choice))
    return known


def takes(*tables: str) -> Callable[[Function], Function]:
    """Let a function that ends in ``**choices`` show the keywords of these tables, and document them.

    Its docstring says ``{choices}`` where they are to stand.
    """

    def shown(function: Function) -> Function:
        known = [choice for _, choice in choices(*tables).values()]
        signature = inspect.signature(function)
        own = list(signature.parameters.values())
        rest = [own.pop()] if own[-1].kind is own[-1].VAR_KEYWORD else []
        made = [
            inspect.Parameter(choice.keyword, inspect.Parameter.KEYWORD_ONLY, default=choice.default)
            for choice in known
        ]
        options = [rest[0].replace(name="options")] if rest else []
        function.__signature__ = signature.replace(parameters=[*own, *made, *options])  # type: ignore[attr-defined]
        if function.__doc__:
            text = "\n".join(map(_documented, known))
            function.__doc__ = inspect.cleandoc(function.__doc__).replace("{choices}", text)
        return function

    return shown


def _documented(choice: Choice) -> str:
    kinds = (
        "{" + ", ".join(f'"{word}"' for word in choice.words) + "}" if choice.words else choice.kind.removeprefix("a ")
    )
    if choice.words and choice.least is not None:
        kinds += " or int"
    if choice.or_object:
        kinds += f" or {choice.or_object}"
    default = ", optional" if choice.default in (None, (), {}) else f", default {choice.default!r}"
    meaning = f"{choice.said[0].upper()}{choice.said[1:]}. {choice.more}".strip()
    return f"{choice.keyword} : {kinds}{default}\n" + textwrap.indent("\n".join(textwrap.wrap(meaning, 100)), "    ")


def as_key(keyword: str, value: Any) -> str:
    """Say a choice as a recipe file does; one that a file cannot make, as Python does."""
    if keyword not in choices():
        return as_keyword(keyword, value)
    table, choice = choices()[keyword]
    if choice.kind == LISTED:
        return f"[[{table}]]"
    said = {True: "true", False: "false"}.get(value) if isinstance(value, bool) else json.dumps(value)
    return f"{choice.name} in [{table}]" if value is None else f"{choice.name} = {said} in [{table}]"


def bracketed(table: str) -> str:
    """Return the head of a table as a file has it."""
    return f"[{table}]" if PARTS[table][1].listed is None else f"[[{table}]]"


def options_of(method: Any) -> dict[str, Choice]:
    """Return the options of a method, by its name, as choices; none of a method that is somebody's own."""
    known = forming_method(method)
    if known is None:
        return {}
    own = BY_TREE[method].options if method in BY_TREE else known.options
    taken = sorted({"k", *choices()} & {*known.options})
    if taken:
        raise InvalidParameter(
            f"method {known.name!r} has an option {taken[0]!r}, which is a choice of every recipe. Rename the option.",
            parameter="method",
        )
    return {
        name: Choice(name, _kind(known.defaults[name], words), said, name, least=-(2**62), listed=partial(tuple, words))
        for name, said in own.items()
        for words in [known.words.get(name, ())]
    }


def _kind(usual: Any, words: tuple[str, ...]) -> str:
    """Return the kind of an option by its words or its default; the method itself checks what may be said."""
    if words:
        return WORD
    kinds = {bool: FLAG, int: WHOLE, float: NUMBER}
    return kinds.get(type(usual), WORD_OR_WHOLE)


@frozen()
class Origin:
    """The file that a recipe was read from, and what it said."""

    name: str
    text: str
    tables: Mapping[str, Any]
    folder: Path | None = None  # it lies in
    above: int = 0  # lines of the file, before the text

    def sets(self, table: str, name: str) -> bool:
        """Return whether the file sets a choice of a table."""
        written, kind = self.tables.get(table), PARTS[table][1]
        return written is not None and (name in written or name in (kind.by_column, kind.listed))

    def place(self, table: str, name: str, columns: Sequence[Any] = ()) -> Place:
        """Return where the file sets a choice, of a table of columns that of a column."""
        choice = choices_of(PARTS[table][1]).get(name)
        if PARTS[table][1].listed is not None:
            said = self.tables.get(table) or []
            numbers = [str(n) for n, one in enumerate(said, 1) if columns and str(columns[0]) in str([*one.values()])]
            return (table, *numbers[:1])
        named = choice is not None and choice.kind in (BY_COLUMN, WORD_OR_BY_COLUMN)
        column = tuple(map(str, columns[:1])) if named else ()
        return (table, *column) if PARTS[table][1].by_column == name else (table, name, *column)

    def head(self, place: Place, word: str | None = None) -> str:
        """Name the file and the line in which something is set, and its table."""
        line = line_of(self.text, place, word) or line_of(self.text, place[:1], word)
        return f"{self.name}, line {line + self.above}: " if line else f"{self.name}: "

    def fault(
        self, place: Place, what: str, *, word: str | None = None, kind: type[InputError] = InvalidParameter
    ) -> InputError:
        """Make the error that says what is wrong and in which line."""
        return kind(f"{self.head(place, word)}{what}")


@frozen()
class OneTable:
    """One table of a list in a file, such as the second [[analysis]]."""

    origin: Origin
    table: str
    number: int

    def head(self, error: InputError) -> str:
        """Name the file and the line in which the table says what an error is about."""
        word = str(error.columns[0]) if error.columns else None
        said = self.origin.tables[self.table][self.number - 1]
        keys = [key for key in said if key == error.parameter]
        if not keys and word is not None:  # by itself in a list or a text, or else within one
            keys = [key for key, value in said.items() if key not in ("name", "kind") and word in str(value)]
            keys.sort(key=lambda key: word not in check_names(said[key]))
        return self.origin.head((self.table, str(self.number), *keys[:1]), word)
