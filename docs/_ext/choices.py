"""The directives `choices` and `refusals`: every choice of a recipe and every method, and what cannot be combined.

Both are made from what the program goes by: the declarations, and the table of refusals.
"""

import inspect
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList
from sphinx.util.nodes import nested_parse_with_titles

from microagg.algorithms.methods import METHODS
from microagg.errors import as_keyword, worded
from microagg.recipe import PARTS, Choice, K, choices_of, options_of
from microagg.recipe._choice import LISTED, WORD_OR_BY_COLUMN
from microagg.recipe.combine import REFUSED

HEADS = ("key", "keyword", "value", "by default", "meaning")
WIDTHS = (12, 14, 26, 12, 36)


def literal(value: Any) -> str:
    """Show a value as code; nothing and no names as a dash."""
    return "–" if value in (None, (), {}) else f"``{str(value).lower() if isinstance(value, bool) else value}``"


def value_of(choice: Choice) -> str:
    """Say what may be chosen: the words, or the kind and its limits."""
    limits = "" if choice.least is None else f", {choice.least} or more"
    if not choice.words:
        said = f"{choice.kind}{limits}"
    else:
        said = ", ".join(map(literal, choice.words)) + (f" or a whole number{limits}" if "whole" in choice.kind else "")
        said += " or a table of columns" if choice.kind == WORD_OR_BY_COLUMN else ""
    return f"{said}; in Python also {choice.or_object}" if choice.or_object else said


def sentences(*said: str) -> str:
    """Join half sentences that start small into whole ones."""
    return " ".join(f"{one[0].upper()}{one[1:].rstrip('.')}." for one in said if one)


def row(choice: Choice, *, of_columns: bool = False) -> tuple[str, ...]:
    """Return the cells of a choice; `of_columns` where its table has a key for each column."""
    if choice.kind == LISTED:
        keys = "its keys are the keywords of one"
        return keys, literal(choice.keyword), "a table for each", "–", sentences(choice.said, choice.more)
    keyword = literal(choice.keyword) if of_columns or choice.keyword != choice.name else "the same"
    meaning = sentences(choice.said, choice.more)
    usual = "required" if choice is K else literal(choice.default)
    key, value = ("a column's name", "what is said of it") if of_columns else (literal(choice.name), value_of(choice))
    return key, keyword, value, usual, meaning


def table(heads: tuple[str, ...], widths: tuple[int, ...], rows: list[tuple[str, ...]]) -> list[str]:
    """Lay a table out in reStructuredText."""
    lines = [".. list-table::", "   :header-rows: 1", f"   :widths: {' '.join(map(str, widths))}", ""]
    for cells in (heads, *rows):
        lines += [f"   {'*' if i == 0 else ' '} - {cell}" for i, cell in enumerate(cells)]
    return [*lines, ""]


def described() -> list[str]:
    """Describe every table of a recipe, then every method, in reStructuredText."""
    lines = [*section("k, outside any table"), *table(HEADS, WIDTHS, [row(K)])]
    for name, (part, kind) in PARTS.items():
        about = (inspect.getdoc(kind) or "").replace("`", "``")
        lines += [
            *section(f"[{name}]" if kind.listed is None else f"[[{name}]]"),
            f"{about} In Python: ``recipe.{part}``.",
            "",
        ]
        of_columns = kind.by_column is not None
        lines += table(HEADS, WIDTHS, [row(choice, of_columns=of_columns) for choice in choices_of(kind).values()])
    lines += [*section("The methods and their options"), "Options stand beside the name in [method]; in Python they"]
    lines += ["are keywords beside ``method=``. ``ama`` has those of ``mdav``, but for ``tail``.", ""]
    rows = []
    for name, method in METHODS.items():
        usual = method.defaults
        options = [f"``{option}`` ({said}; {literal(usual[option])})" for option, said in method.options.items()]
        assert set(options_of(name)) == set(method.options)
        rows.append((literal(name), sentences(method.said), "; ".join(options) or "–"))
    return lines + table(("method", "what it does", "options, and their defaults"), (16, 42, 42), rows)


def section(title: str) -> list[str]:
    """Return the lines of a title."""
    return [title, "=" * len(title), ""]


def refusals() -> list[str]:
    """List, for each choice, what it cannot be combined with, in reStructuredText."""
    found: dict[str, list[str]] = {}
    for row in (row for rows in REFUSED.values() for row in rows if "{" not in row.choice):
        said = row.named or row.said[0], row.said[1]
        choice, other = (worded(one, lambda *setting: literal(as_keyword(*setting))) for one in said)
        found.setdefault(other, [])
        if choice not in found[other]:
            found[other].append(choice)
    rows = [(", ".join(choices), other) for other, choices in found.items()]
    return table(("this", "cannot be combined with"), (50, 50), rows)


class Described(Directive):
    """Lines in reStructuredText, put in the place of the directive."""

    lines = staticmethod(described)

    def run(self) -> list[Any]:
        """Make the sections or tables."""
        made = nodes.section()
        made.document = self.state.document
        nested_parse_with_titles(self.state, StringList(self.lines(), source="microagg.recipe"), made)
        return made.children


class Refusals(Described):
    """A table of what cannot be combined."""

    lines = staticmethod(refusals)


def setup(app) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("choices", Described)
    app.add_directive("refusals", Refusals)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
