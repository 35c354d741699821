"""Several recipes in one file: the present choices as in any recipe, and below them candidates that were kept.

::

    k = 5
    [roles]
    quasi = ["age", "wage"]

    [[candidates]]
    name = "mdav 3"
    note = "for the committee"
    k = 3
    [candidates.roles]
    quasi = ["age", "wage"]

Each candidate is a whole recipe with a name and a note. Whoever reads the file as a recipe gets the present choices.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from microagg.base.frozen import frozen
from microagg.checks import check_absent
from microagg.errors import InvalidParameter
from microagg.files.files import whole_file
from microagg.recipe._file import parse, text_in, text_of, toml, toml_key
from microagg.recipe._limits import content_of
from microagg.recipe._lines import CANDIDATES
from microagg.recipe._recipe import Recipe

_ABOUT = "a recipe that was kept beside the one above; microagg app FILE --recipe THIS continues with all of them"
_NAMED = re.compile(r"^[ \t]*(?:name|note)[ \t]*=.*$", re.MULTILINE)
_TABLE = re.compile(r"\n[ \t]*\[")  # what is indented is a table as well
_WITHIN = re.compile(r"^([ \t]*\[\[?[ \t]*)candidates[ \t]*\.", re.MULTILINE)


@frozen()
class Saved:
    """A candidate as a file has it."""

    name: str
    note: str
    recipe: Recipe


def read_candidates(path: Path) -> tuple[Recipe, tuple[Saved, ...]]:
    """Read the present choices of a file, and the candidates below them, or say in which line it errs."""
    text = text_in(path)
    recipe = parse(text, path.name)
    listed = content_of(text, path.name, "recipe").get("candidates", [])
    starts = [found.start() for found in CANDIDATES.finditer(text)]
    if len(starts) != len(listed):
        raise InvalidParameter(
            f"{path.name}: each of the candidates must begin with a line [[candidates]].", parameter="recipe"
        )
    bounds = zip(starts, [*starts[1:], None], strict=False)
    return recipe, tuple(
        _saved(path.name, one, text[:start].count("\n"), text[start:end])
        for one, (start, end) in zip(listed, bounds, strict=True)
    )


def _saved(name: str, content: Mapping[str, Any], above: int, text: str) -> Saved:
    """Read a candidate from its part of a file, which has so many lines above it."""
    named = [content.get(key, "") for key in ("name", "note")]
    if not named[0] or not all(isinstance(one, str) for one in named):
        raise InvalidParameter(
            f"{name}, line {above + 1}: a candidate needs a name, and its note must be a text.", parameter="recipe"
        )
    table = _TABLE.search(text)
    head = len(text) if table is None else table.start()
    own = _NAMED.sub("", CANDIDATES.sub("", text[:head], count=1)) + _WITHIN.sub(r"\1", text[head:])
    return Saved(named[0], named[1], parse(own, name, above))


def write_candidates(path: Path, recipe: Recipe, candidates: Iterable[Saved], made_for: str | None = None) -> Path:
    """Write the present choices and candidates to a new file that only you can read, whole or not at all."""
    check_absent(path, "the recipe", overwrite=False)
    text = "\n".join([text_of(recipe, made_for), *map(_text, candidates)])
    text = text.replace("\n[[candidates]]\n", f"\n[[candidates]]  # {_ABOUT}\n", 1)
    with whole_file(path, private=True) as file:
        file.write_text(text, "utf-8", newline="\n")
    return path


def _text(one: Saved) -> str:
    """Write a candidate out, without the remarks that stand beside the present choices."""
    lines = ["[[candidates]]", f"name = {toml(one.name)}", f"note = {toml(one.note)}"]
    content = tomllib.loads(text_of(replace(one.recipe, profile=None), None))
    lines.append(f"k = {content.pop('k')}")
    for table, keys in content.items():
        for own in keys if isinstance(keys, list) else [keys]:
            head = f"candidates.{table}"
            lines.append(f"[[{head}]]" if isinstance(keys, list) else f"[{head}]")
            lines += [f"{toml_key(key)} = {toml(value)}" for key, value in own.items()]
    return "\n".join([*lines, ""])
