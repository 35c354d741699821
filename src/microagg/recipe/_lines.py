"""Where in a recipe each choice stands, and what a person has written beside it; a parser of TOML gives neither."""

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import field
from typing import Any

from microagg.errors import InvalidParameter
from microagg.frozen import frozen

Place = tuple[str, ...]
"""A table, or a key outside any; a table and a key; or these and a name in the key's list.

Of a list of tables, the table's number comes after its name: ("analysis", "1"), ("analysis", "1", "kind").
"""

CANDIDATES = re.compile(r"^[ \t]*\[\[[ \t]*candidates[ \t]*\]\][ \t]*(?:#.*)?$", re.MULTILINE)
"""The line that each candidate begins with, below the present choices (`microagg.recipe.candidates`)."""

STRING_OR_COMMENT = re.compile(r""""(?:\\.|[^"\\])*"|'[^']*'|(\#.*)""")

_TOKEN = re.compile(r'''"""|'{3}|"(?:\\.|[^"\\])*"|'[^']*'|\#|[][{}]''')
_ENDS = {'"""': re.compile(r'(?:\\.|(?!"""|\\).)*"{3,5}'), "'''": re.compile(r"(?:(?!''').)*'{3,5}")}
"""How a text of many lines ends, by the quotes that it begins with."""


@frozen()
class Statement:
    """One table's head or one assignment: its first line's number, its lines, what it sets, the comments over it.

    `at` is the table or the key, whatever lies within it.
    """

    at: Place
    number: int
    lines: tuple[str, ...]
    places: tuple[Place, ...]
    over: tuple[str, ...]


@frozen()
class Comments:
    """What a person, or `inspect`, has written into a recipe beside the choices themselves.

    Attributes
    ----------
    over, beside : mappings
        From a place to the lines over it, and to what follows it in its line.
    title, end : tuples
        The lines before the first choice, where an empty line parts them from it, and those after the last.
    """

    over: Mapping[Place, tuple[str, ...]] = field(default_factory=dict)
    beside: Mapping[Place, str] = field(default_factory=dict)
    title: tuple[str, ...] = ()
    end: tuple[str, ...] = ()


def not_toml(name: str, error: tomllib.TOMLDecodeError, parameter: str) -> InvalidParameter:
    """Return the error that says where a file stops being TOML, in our words; those of the parser help nobody."""
    said = str(error)
    place = re.search(r"at line (\d+)", said)
    line = f", line {place[1]}" if place else ""
    if re.search("twice|overwrite|redefine|mutate|[Dd]uplicate", said):
        what = "a name or a table is there for a second time. Join both."
    elif re.search("[Uu]nescaped|escape|hex value", said):
        what = "a backslash in text must be written twice, or the text be put in 'single quotation marks'."
    elif place is None:
        what = "the file ends too early. Write the missing value, or close a bracket or a quotation mark."
    else:
        what = (
            'this line, or the one before it, is not valid TOML. Write name = value, with text in "quotation marks", '
            "lists in [brackets], and true or false in small letters."
        )
    return InvalidParameter(f"{name}{line}: {what}", parameter=parameter)


def present(text: str) -> str:
    """Return the part of a file that holds the present choices, without candidates."""
    found = CANDIDATES.search(text)
    return text if found is None else text[: found.start()]


def line_of(text: str, place: Place, word: str | None = None) -> int | None:
    """Return the number of the line that sets something, and of a list that of this word in it."""
    found = [one for one in _statements(text)[0] if any(own[: len(place)] == place for own in one.places)]
    if word is not None:
        for one in found:
            for number, line in enumerate(one.lines, one.number):
                if word in _strings(line):
                    return number
    return found[0].number if found else None


def comments_of(text: str) -> Comments:
    """Collect the comments of a recipe by what they stand at."""
    statements, title, end = _statements(text)
    over: dict[Place, tuple[str, ...]] = {}
    beside: dict[Place, str] = {}
    for one in statements:
        at = one.at
        over[at] = one.over
        waiting: tuple[str, ...] = ()
        for line in one.lines:
            remark, names = _comment(line), _strings(line)
            element = (*at, names[-1]) if names and len(one.lines) > 1 else None
            if remark is not None and line.lstrip().startswith("#"):
                waiting += (remark,)
            elif remark is not None and (element or at) not in beside:
                beside[element or at] = remark
            elif remark is not None:
                over[at] += (remark,)
            if names and waiting:
                over[(*at, names[0])], waiting = waiting, ()
        over[at] += waiting
    return Comments({place: lines for place, lines in over.items() if lines}, beside, title, end)


def _statements(text: str) -> tuple[list[Statement], tuple[str, ...], tuple[str, ...]]:
    """Cut a recipe that is sound TOML into its statements; give also the comments on top and at the end."""
    found: list[Statement] = []
    table: Place = ()
    pending: list[str] = []
    title: tuple[str, ...] = ()
    over: tuple[str, ...] = ()
    depth, within, heads = 0, "", Counter[Place]()
    for number, line in enumerate(text.split("\n"), 1):
        remark = _comment(line)
        if not pending and (not line.strip() or line.lstrip().startswith("#")):
            if remark is not None:
                over += (remark,)
            elif not found:
                title, over = title + over, ()
            continue
        pending.append(line)
        depth, within, _ = follow(line, depth, within)
        if depth > 0 or within:
            continue  # a list goes on, or a text
        try:
            content = tomllib.loads("\n".join(pending))
        except tomllib.TOMLDecodeError:
            continue
        first = number - len(pending) + 1
        if pending[0].lstrip().startswith("["):
            at = table = _headed(next(_leaves(content)), pending[0], heads)
            places: tuple[Place, ...] = (table,)
        else:
            places = tuple((*table, *leaf) for leaf in _leaves(content))
            at = places[0][: max(2, len(table) + 1)]  # a key of a table, though it may stand within braces
        found.append(Statement(at, first, tuple(pending), places, over))
        pending, over, depth, within = [], (), 0, ""
    return found, title, over


def follow(line: str, depth: int, within: str) -> tuple[int, str, int]:
    """Return after a line how many brackets are open, the quotes of a text that goes on, and the most open brackets.

    To parse whatever has come so far, line by line, would take its time for a long list.
    """
    place, deepest = 0, depth
    while True:
        if within:
            end = _ENDS[within].match(line, place)
            if end is None:
                return depth, within, deepest
            place, within = end.end(), ""
        found = _TOKEN.search(line, place)
        if found is None or found[0].startswith("#"):
            return depth, within, deepest
        place = found.end()
        if found[0] in _ENDS:
            within = found[0]
        elif found[0] in "[]{}":
            depth += 1 if found[0] in "[{" else -1
            deepest = max(deepest, depth)


def _headed(name: Place, line: str, heads: Counter[Place]) -> Place:
    """Return the place of a table: its name, and of a list of tables its number as well; `heads` counts these."""
    if not line.lstrip().startswith("[["):
        return name
    heads[name] += 1
    return (*name, str(heads[name]))


def _leaves(content: Mapping[str, Any]) -> Iterator[Place]:
    for key, value in content.items():
        if isinstance(value, dict) and value:
            yield from ((key, *rest) for rest in _leaves(value))
        else:
            yield (key,)


def _comment(line: str) -> str | None:
    remarks = [one[1] for one in STRING_OR_COMMENT.finditer(line) if one[1]]
    return remarks[0].removeprefix("#").strip() if remarks else None


def _strings(line: str) -> list[str]:
    found = []
    for written in (one[0] for one in STRING_OR_COMMENT.finditer(line) if not one[1]):
        with suppress(tomllib.TOMLDecodeError):  # a part of a string of many lines
            found.append(tomllib.loads(f"x = {written}")["x"])
    return found
