"""The TOML of a recipe: where each choice stands, what a person has written beside it, and limits of what is parsed.

A parser of TOML gives neither places nor comments. What is longer or deeper than any recipe is refused by its line,
before it is parsed.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from typing import Any, NamedTuple

from microagg.base.frozen import frozen
from microagg.checks import text_of_file
from microagg.errors import InvalidParameter

Place = tuple[str, ...]
"""A table, or a key outside any; a table and a key; or these and a name in the key's list.

Of a list of tables, the table's number comes after its name: ("analysis", "1"), ("analysis", "1", "kind").
"""

CANDIDATES = re.compile(r"^[ \t]*\[\[[ \t]*candidates[ \t]*\]\][ \t]*(?:#.*)?$", re.MULTILINE)
"""The line that each candidate begins with, below the present choices (`microagg.recipe._file`)."""

# A quotation mark that is not closed takes the rest of its line: nothing is searched twice.
_TOKEN = re.compile(r"""\"{3}|'{3}|"(?:\\.|[^"\\])*+"?|'[^']*+'?|\#|[][{}]""")
_ENDS = {'"""': re.compile(r'(?:\\.|(?!"""|\\).)*+"{3,5}'), "'''": re.compile(r"(?:(?!''').)*+'{3,5}")}
"""How a text of many lines ends, by the quotes that it begins with."""


class Line(NamedTuple):
    """What a line of a recipe holds.

    Attributes
    ----------
    depth : int
        How many brackets are open after it.
    within : str
        The quotes of a text that goes on in the next line.
    deepest : int
        The most brackets that were open at a time.
    plain : str
        The line without its remark, with an x in the place of each text.
    written : list of str
        The texts that begin and end in it, as they are written.
    remark : str or None
        What stands behind #.
    """

    depth: int
    within: str
    deepest: int
    plain: str
    written: list[str]
    remark: str | None


@frozen()
class Statement:
    """One table's head or one assignment: its first line's number, its lines, what it sets, the comments over it.

    `at` is the table or the key, whatever lies within it.
    """

    at: Place
    number: int
    lines: tuple[Line, ...]
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


def not_toml(name: str, error: tomllib.TOMLDecodeError, parameter: str, above: int = 0) -> InvalidParameter:
    """Return the error that says where a file stops being TOML, in our words; those of the parser help nobody.

    What was parsed has so many lines of the file above it.
    """
    said = str(error)
    place = re.search(r"at line (\d+)", said)
    line = f", line {int(place[1]) + above}" if place else ""
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
        above, waiting = list(one.over), list[str]()
        for line in one.lines:
            names = _strings(line)
            element = (*at, names[-1]) if names and len(one.lines) > 1 else None
            if line.remark is not None and not line.plain.strip():
                waiting.append(line.remark)
            elif line.remark is not None and (element or at) not in beside:
                beside[element or at] = line.remark
            elif line.remark is not None:
                above.append(line.remark)
            if names and waiting:
                over[(*at, names[0])], waiting = tuple(waiting), []
        over[at] = (*above, *waiting)
    return Comments({place: lines for place, lines in over.items() if lines}, beside, title, end)


def _statements(text: str) -> tuple[list[Statement], tuple[str, ...], tuple[str, ...]]:
    """Cut a recipe that is sound TOML into its statements; give also the comments on top and at the end."""
    found: list[Statement] = []
    table: Place = ()
    pending, lines = list[str](), list[Line]()
    title, over = list[str](), list[str]()
    depth, within, heads = 0, "", Counter[Place]()
    for number, text_of_line in enumerate(text.split("\n"), 1):
        line = follow(text_of_line, depth, within)
        if not pending and not line.plain.strip():
            if line.remark is not None:
                over.append(line.remark)
            elif not found:
                title += over
                over = []
            continue
        pending.append(text_of_line)
        lines.append(line)
        depth, within = line.depth, line.within
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
        found.append(Statement(at, first, tuple(lines), places, tuple(over)))
        pending, lines, over, depth, within = [], [], [], 0, ""
    return found, tuple(title), tuple(over)


def follow(line: str, depth: int, within: str) -> Line:
    """Take a line apart, before which so many brackets are open, or a text that began with these quotes.

    To parse whatever has come so far, line by line, would take its time for a long list.
    """
    place, began, deepest = 0, -1, depth
    plain, written = list[str](), list[str]()
    while True:
        if within:
            end = _ENDS[within].match(line, place)
            if end is None:
                return Line(depth, within, deepest, "".join([*plain, "x"]), written, None)
            place, within = end.end(), ""
            plain.append("x")
            if began >= 0:
                written.append(line[began:place])
        found = _TOKEN.search(line, place)
        plain.append(line[place:] if found is None else line[place : found.start()])
        if found is None or found[0] == "#":
            remark = None if found is None else line[found.end() :].strip()
            return Line(depth, within, deepest, "".join(plain), written, remark)
        place, token = found.end(), found[0]
        if token in _ENDS:
            began, within = found.start(), token
        elif token in "[]{}":
            depth += 1 if token in "[{" else -1
            deepest = max(deepest, depth)
            plain.append(token)
        else:
            written.append(token)
            plain.append("x")


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


def _strings(line: Line) -> list[str]:
    found = []
    for written in line.written:
        with suppress(tomllib.TOMLDecodeError):  # what stands where no value can
            found.append(tomllib.loads(f"x = {written}")["x"])
    return found


MOST_BYTES = 2_000_000
"""Of a recipe's file."""
MOST_TABLES = 1000
"""Of a list of tables, such as [[analysis]]."""
_DEEPEST = 20  # brackets that are open at a time
_PARTS = 8  # of a name with dots: no choice has more than three
_DIGITS = 400  # of a number: a float has at most 309 before its point
_LINES = 40_000
_SIGNS = 100_000  # that take time to parse: a file of 8000 columns has as many, with its profile
TOO_DEEP = f"more than {_DEEPEST} lists or tables are inside each other. Write fewer: no choice needs more than three."

_DOTTED = re.compile(rf"(?<![\w-])(?:[\w-]+[ \t]*\.[ \t]*){{{_PARTS},}}")
_LONG = re.compile(rf"(?<!\w)[0-9]\w{{{_DIGITS},}}")


def text_within(path: Path) -> str:
    """Return the text of a recipe's file; its first line is the first, whatever ends lines there."""
    return text_of_file(path, MOST_BYTES, parameter="recipe").replace("\r\n", "\n").replace("\r", "\n")


def content_of(text: str, name: str, parameter: str, above: int = 0) -> dict[str, Any]:
    """Return what TOML says, or refuse it in our words, with the line; so many lines of the file are above the text."""
    _check(text, name, parameter, above)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise not_toml(name, error, parameter, above) from None
    except RecursionError:
        raise InvalidParameter(f"{name}: {TOO_DEEP}", parameter=parameter) from None
    except ValueError:  # of Python, which reads no number of thousands of digits
        raise InvalidParameter(f"{name}: a number is too long. Write a shorter one.", parameter=parameter) from None


def _check(text: str, name: str, parameter: str, above: int) -> None:
    """Refuse what takes long to parse: long names and numbers, deep brackets, very many tables, values or lines."""
    lines = text.count("\n")
    if lines > _LINES:
        raise InvalidParameter(
            f"{name} has {lines} lines, and at most {_LINES} are possible. Leave some out.", parameter=parameter
        )
    depth, within, signs, heads = 0, "", 0, Counter[str]()
    for number, line in enumerate(text.split("\n"), 1 + above):
        read = follow(line, depth, within)
        what = _wrong(read)
        if not depth and not within and read.plain.lstrip().startswith("[["):
            head = f"{line.partition(']]')[0].strip()}]]"
            heads[head] += 1
            if heads[head] > MOST_TABLES:
                shown = head if len(head) <= 60 else f"{head[:59]}…"
                what = what or f"there are more than {MOST_TABLES} tables {shown}. Leave some out."
        signs += sum(map(read.plain.count, "[{=,."))
        if signs > _SIGNS:
            what = what or f"more than {_SIGNS} names and values are above. Leave some out."
        if what:
            raise InvalidParameter(f"{name}, line {number}: {what}", parameter=parameter)
        depth, within = read.depth, read.within


def _wrong(line: Line) -> str:
    """Return what is too deep or too long in a line."""
    if line.deepest > _DEEPEST:
        return TOO_DEEP
    dotted, long = _DOTTED.search(line.plain), _LONG.search(line.plain)
    if dotted is not None:
        return (
            f"a name has {dotted[0].count('.') + 1} parts with dots between, and at most {_PARTS} are possible. Put "
            'the name of a column that has dots into "quotation marks".'
        )
    if long is not None:
        return f"a number has {len(long[0])} digits, and at most {_DIGITS} are possible. Write a shorter one."
    return ""
