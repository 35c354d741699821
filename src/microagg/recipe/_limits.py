"""TOML within limits: what is longer or deeper than any recipe is refused by its line, before it is parsed."""

import re
import tomllib
from pathlib import Path
from typing import Any

from microagg.checks import text_of_file
from microagg.errors import InvalidParameter
from microagg.recipe._lines import STRING_OR_COMMENT, follow, not_toml

MOST_BYTES = 2_000_000
"""Of a recipe's file."""
MOST_TABLES = 1000
"""Of a list of tables, such as [[analysis]]."""
TOO_DEEP = "has hundreds of lists or tables inside each other. Write it again: no choice needs more than three."
_DEEPEST = 20  # brackets that are open at a time
_PARTS = 8  # of a name with dots: no choice has more than three
_DIGITS = 400  # of a number: a float has at most 309 before its point

_DOTTED = re.compile(rf"(?<![\w-])(?:[\w-]+[ \t]*\.[ \t]*){{{_PARTS},}}")
_LONG = re.compile(rf"(?<!\w)[0-9]\w{{{_DIGITS},}}")
_HEAD = re.compile(r"[ \t]*\[\[[ \t]*([^]]+?)[ \t]*\]\]")


def text_within(path: Path) -> str:
    """Return the text of a recipe's file; its first line is the first, whatever ends lines there."""
    return text_of_file(path, MOST_BYTES, parameter="recipe").replace("\r\n", "\n").replace("\r", "\n")


def content_of(text: str, name: str, parameter: str) -> dict[str, Any]:
    """Return what TOML says, or refuse it in our words, with the line."""
    _check(text, name, parameter)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise not_toml(name, error, parameter) from None
    except RecursionError:
        raise InvalidParameter(f"{name} {TOO_DEEP}", parameter=parameter) from None


def _check(text: str, name: str, parameter: str) -> None:
    """Refuse lines that take long to parse: names of many parts, long numbers, deep brackets, very many tables."""
    depth, within, heads = 0, "", dict[str, int]()
    for number, line in enumerate(text.split("\n"), 1):
        inside = bool(within)
        depth, within, deepest = follow(line, depth, within)
        what = TOO_DEEP if deepest > _DEEPEST else ""
        if not inside and not within:
            plain = STRING_OR_COMMENT.sub(lambda one: "" if one[1] else "x", line)
            what = what or _wrong(plain, heads)
        if what:
            raise InvalidParameter(f"{name}, line {number}: {what}", parameter=parameter)


def _wrong(plain: str, heads: dict[str, int]) -> str:
    """Return what is too long in a line without its texts and remarks; `heads` counts the tables of lists so far."""
    dotted, long, head = _DOTTED.search(plain), _LONG.search(plain), _HEAD.match(plain)
    if dotted is not None:
        return (
            f"a name has {dotted[0].count('.') + 1} parts with dots between, and at most {_PARTS} are possible. Put "
            'the name of a column that has dots into "quotation marks".'
        )
    if long is not None:
        return f"a number has {len(long[0])} digits, and at most {_DIGITS} are possible. Write a shorter one."
    if head is not None:
        heads[head[1]] = heads.get(head[1], 0) + 1
        if heads[head[1]] > MOST_TABLES:
            return f"there are more than {MOST_TABLES} tables [[{head[1]}]]. Leave some out."
    return ""
