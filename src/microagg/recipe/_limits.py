"""TOML within limits: what is longer or deeper than any recipe is refused by its line, before it is parsed."""

import re
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

from microagg.checks import text_of_file
from microagg.errors import InvalidParameter
from microagg.recipe._lines import Line, follow, not_toml

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
