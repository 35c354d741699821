"""Reading a recipe, and naming the line in which it errs."""

import tomllib
from pathlib import Path
from typing import Any

from microagg.checks import check_k, check_option, check_whole, nearest
from microagg.errors import InvalidParameter
from microagg.recipe_file._form import TABLES, Key, Origin, RecipeFile, known_keys, quoted
from microagg.recipe_file._lines import comments_of


def read_recipe(path: Path) -> RecipeFile:
    """Read a recipe, or say in which line it errs."""
    try:
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidParameter(f"{path.name!r} is not text in UTF-8. Save it as such.") from None
    except OSError:
        raise InvalidParameter(f"the recipe {path.name!r} cannot be read. Check the path.") from None
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidParameter(f"{path.name}: {error}. Mend that line.") from None
    tables = {name: part for name, part in content.items() if name in TABLES and isinstance(part, dict)}
    origin = Origin(path.name, text, tables)
    for name, part in content.items():
        if name in TABLES[""]:
            continue
        if name not in TABLES:
            what = f"{name!r} is not a part of a recipe.{_hint(name, [*TABLES[''], *filter(None, TABLES)])}"
            raise origin.fault((name,), what)
        if not isinstance(part, dict):
            raise origin.fault((name,), f"{name!r} must be a table: [{name}].")
    if "k" not in content:
        raise InvalidParameter(f"{path.name} does not say k. Add a line such as: k = 5")
    _check_value(origin, "", "k", content["k"], TABLES[""]["k"])
    for table, keys in tables.items():
        method = keys.get("name", "mdav")
        if table == "method":
            _check_value(origin, table, "name", method, TABLES[table]["name"])
        known = known_keys(table, method)
        for key, value in keys.items():
            if key not in known:
                raise origin.fault((table, key), f"{key!r} is unknown in [{table}].{_hint(key, list(known))}")
            _check_value(origin, table, key, value, known[key])
    if "columns" in tables.get("select", {}) and len(tables["select"]) > 1:
        raise origin.fault(("select", "columns"), "'columns' in [select] goes alone: it leaves nothing to choose.")
    return RecipeFile(content["k"], tables, comments_of(text), origin)


def _check_value(origin: Origin, table: str, key: str, value: Any, known: Key) -> None:
    """Refuse a value of another kind, another word, or too small a number."""
    where, place = (f"in [{table}], ", (table, key)) if table else ("", (key,))
    if not _is(value, known.kind):
        shown = quoted(value)
        shown = shown if len(shown) <= 60 else f"{shown[:59]}…"
        raise origin.fault(place, f"{where}{key} = {shown} must be {known.kind}.")
    try:
        if key == "k":
            check_k(value)
        elif known.words and isinstance(value, str):
            check_option(key, value, known.words)
        elif known.least is not None:
            check_whole(key, value, known.least)
    except InvalidParameter as error:
        raise origin.fault(place, f"{where}{error}") from None


def _is(value: Any, kind: str) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    match kind:
        case "a list of names":
            return isinstance(value, list) and all(isinstance(name, str) for name in value)
        case "a whole number":
            return number and isinstance(value, int)
        case "a word or a whole number":
            return isinstance(value, str) or (number and isinstance(value, int))
        case "a number":
            return number
        case "a number or a list of them":
            return number or (isinstance(value, list) and all(_is(one, "a number") for one in value))
        case "true or false":
            return isinstance(value, bool)
        case _:
            return isinstance(value, str)


def _hint(word: str, known: list[str]) -> str:
    return nearest(word, known) or f" It can be: {', '.join(known)}."
