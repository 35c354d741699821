"""Recipes in files: read, with the line of what is wrong; and files that keep several.

The present choices are as in any recipe, and candidates that were kept are below them::

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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from microagg.algorithms.methods import BY_TREE
from microagg.base.frozen import frozen
from microagg.checks import check_absent, nearest
from microagg.errors import InputError, InvalidParameter
from microagg.files.databases import check_in_recipe
from microagg.recipe._choice import Choice, Part, choices_of
from microagg.recipe._lines import CANDIDATES, MOST_TABLES, Place, comments_of, content_of, present, text_within
from microagg.recipe._recipe import Recipe
from microagg.recipe._tables import PARTS, K, OneTable, Origin, bracketed, options_of
from microagg.recipe._text import PROFILE, text_of, toml, toml_key, write_whole
from microagg.recipe.profile import ColumnProfile, Profile, column_from

_FORMERLY: dict[Place, tuple[str, dict[Any, Any]]] = {
    ("masking", "integers"): ("rounding", {"float": "none", "round": "auto"}),
    ("output", "reorder"): ("same_order", {True: False, False: True}),
}
"""Choices of recipes that were written before: what they are called now, and their words."""

_ABOUT = "a recipe that was kept beside the one above; microagg app FILE --recipe THIS continues with all of them"
_NAMED = re.compile(r"^[ \t]*(?:name|note)[ \t]*=.*$", re.MULTILINE)
_TABLE = re.compile(r"\n[ \t]*\[")  # what is indented is a table as well
_WITHIN = re.compile(r"^([ \t]*\[\[?[ \t]*)candidates[ \t]*\.", re.MULTILINE)


def read(path: Path) -> Recipe:
    """Read a recipe from a file, or say in which line it errs."""
    recipe = parse(text_in(path), path.name)
    return replace(recipe, origin=recipe.origin and replace(recipe.origin, folder=path.resolve().parent))


def text_in(path: Path) -> str:
    """Return the text of a recipe's file."""
    try:
        return text_within(path)
    except UnicodeDecodeError:
        raise InvalidParameter(f"{path.name!r} is not text in UTF-8. Save it as UTF-8.", parameter="recipe") from None
    except OSError:
        raise InvalidParameter(
            f"the recipe {path.name!r} cannot be read. Check the path.", parameter="recipe"
        ) from None


def parse(text: str, name: str, above: int = 0) -> Recipe:
    """Read a recipe from its text, or say in which line it errs; candidates below it are not looked at.

    So many lines of the file are above the text.
    """
    text = present(text)
    content = content_of(text, name, "recipe", above)
    origin = Origin(name, text, content, above=above)
    profile = _profile_in(origin, content.pop(PROFILE, None))
    for table, keys in content.items():
        if table != "k" and table not in PARTS:
            raise origin.fault((table,), f"{table!r} is not a part of a recipe.{_hint(table, ['k', *PARTS])}")
        if table != "k" and PARTS[table][1].listed is not None and not _is_list_of_tables(keys):
            raise origin.fault((table,), f"{table!r} must be a list of tables: [[{table}]] for each.")
        if table != "k" and PARTS[table][1].listed is None and not isinstance(keys, dict):
            raise origin.fault((table,), f"{table!r} must be a table: [{table}].")
    if "k" not in content:
        raise InvalidParameter(f"{name} has no k. Add a line such as: k = 5", parameter="k")
    _check_kind(origin, ("k",), content["k"], K)
    recipe = _blamed(origin, ("k",), lambda: Recipe(content["k"]))
    _check_addresses(origin)
    parts = {PARTS[table][0]: _part(origin, table, keys) for table, keys in content.items() if table != "k"}
    made = Recipe(recipe.k, comments=comments_of(text), origin=origin, profile=profile)
    # Part by part, so that what does not go together is blamed on the one that came in last.
    for part, value in parts.items():
        with_part = {**{name: getattr(made, name) for name in parts}, part: value}
        made = _together(origin, made, with_part)
    return made


def _check_addresses(origin: Origin) -> None:
    """Refuse addresses by which a recipe that comes from somebody else would send them a secret."""
    said = {table: origin.tables.get(table, {}) for table in ("join", "taxonomy", "recode")}
    named = [("join", "households", said["join"].get("households"))]
    named += [("taxonomy", column, tree) for column, tree in said["taxonomy"].items()]
    named += [("recode", column, rule.get("join")) for column, rule in said["recode"].items() if isinstance(rule, dict)]
    for table, key, address in named:
        if isinstance(address, str):
            _blamed(origin, (table, key), lambda address=address: check_in_recipe(address))


def _profile_in(origin: Origin, said: Any) -> Profile | None:
    """Read what a file says of the data that it was written for."""
    if said is None:
        return None
    if not isinstance(said, dict):
        raise origin.fault((PROFILE,), f"{PROFILE!r} must be a table: [{PROFILE}].")
    columns: dict[str, ColumnProfile] = {}
    for name, own in said.items():
        try:
            columns[name] = column_from(own)
        except ValueError as error:
            what = f"in [{PROFILE}], {name} {error}. Delete the line if you cannot."
            raise origin.fault((PROFILE, name), what) from None
    return Profile(columns)


def _together(origin: Origin, recipe: Recipe, parts: dict[str, Part]) -> Recipe:
    try:
        return recipe.replace(**parts)
    except InputError as error:
        if error.placed:
            raise
        place = _place_in(origin, error.parameter, error.columns)
        raise (error if place is None else error.at(f"{origin.head(place)}in {bracketed(place[0])}, ")) from None


def _place_in(origin: Origin, parameter: str | None, columns: Sequence[Any] = ()) -> Place | None:
    """Find where a file sets a choice, by its keyword."""
    for table, (_, kind) in PARTS.items():
        for name, choice in choices_of(kind).items():
            if choice.keyword == parameter and origin.sets(table, name):
                return origin.place(table, name, columns)
        if table == "method" and parameter in origin.tables.get(table, {}):
            return table, str(parameter)
    return None


def tables_in(path: Path, table: str) -> Any:
    """Return what the tables of a list say that a TOML file holds, or a recipe, which is one."""
    name, keyword = path.name, next(iter(choices_of(PARTS[table][1]).values())).keyword
    try:
        text = text_within(path)
    except (OSError, UnicodeDecodeError):
        raise InvalidParameter(
            f"{name!r} cannot be read. Name a TOML file that holds [[{table}]].", parameter=keyword
        ) from None
    content = content_of(text, name, keyword)
    found = content.get(table)
    if not found or not _is_list_of_tables(found):
        raise InvalidParameter(f"{name!r} holds no [[{table}]]. Write one for each.", parameter=keyword)
    return getattr(_listed_part(Origin(name, text, content), table, found), keyword)


def _is_list_of_tables(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, dict) for one in value)


def _listed_part(origin: Origin, table: str, tables: list[dict[str, Any]]) -> Part:
    """Make a part of what a list of tables says."""
    kind = PARTS[table][1]
    (name, choice), *_ = choices_of(kind).items()
    if len(tables) > MOST_TABLES:
        raise origin.fault(
            (table,), f"there are {len(tables)} tables [[{table}]], and at most {MOST_TABLES} are possible."
        )
    for number, said in enumerate(tables, 1):
        try:
            choice.checked([said])
        except InputError as error:
            raise error.at(f"{OneTable(origin, table, number).head(error)}in [[{table}]], ") from None
    made: Part = kind(**{name: tables})
    for number, one in enumerate(getattr(made, name), 1):
        object.__setattr__(one, "read_from", OneTable(origin, table, number))
    return made


def _part(origin: Origin, table: str, keys: Any) -> Part:
    """Make a part of what a table says."""
    kind = PARTS[table][1]
    known = dict(choices_of(kind))
    if kind.listed is not None:
        return _listed_part(origin, table, keys)
    if kind.by_column is not None:
        for column, value in keys.items():
            _blamed(origin, (table, column), lambda one=value, name=column: known[kind.by_column].of_column(name, one))
        whole: Part = _blamed(origin, (table,), lambda: kind(**{kind.by_column: keys}))
        return whole
    keys = _renamed(origin, table, keys)
    values: dict[str, Any] = dict(keys)
    if table == "method":
        name = keys.get("name", "mdav")
        _check_value(origin, (table, "name"), name, known["name"])
        known |= options_of(name)
        values = {"name": name, "options": {key: value for key, value in keys.items() if key != "name"}}
    if table == "refine":
        values.setdefault("effort", "fast")
    if table == "select" and keys and "columns" not in keys:
        method = origin.tables.get("method", {})
        name = method.get("name") if isinstance(method, dict) else None
        values.setdefault("by", name if name in BY_TREE else "emad")
    for key, value in keys.items():
        if key not in known:
            raise origin.fault((table, key), f"{key!r} is unknown in [{table}].{_hint(key, list(known))}")
        _check_value(origin, (table, key), value, known[key])
    part: Part = _blamed(origin, (table,), lambda: kind(**values))
    return part


def _renamed(origin: Origin, table: str, keys: dict[str, Any]) -> dict[str, Any]:
    """Return what a table says, choices that were called otherwise before by their names of now."""
    found = dict(keys)
    for (of_table, former), (now, words) in _FORMERLY.items():
        if of_table != table or former not in found:
            continue
        said = found.pop(former)
        if not isinstance(said, (str, bool)) or said not in words or now in found:
            listed = ", ".join(f"{now} = {toml(word)}" for word in words.values())
            raise origin.fault((table, former), f"in [{table}], {former} is now called {now}. Write {listed}.")
        found[now] = words[said]
    return found


def _check_value(origin: Origin, place: Place, value: Any, choice: Choice) -> None:
    _check_kind(origin, place, value, choice)
    by_key = replace(choice, keyword=choice.name)  # as the file calls it
    _blamed(origin, place, lambda: by_key.checked(value))


def _check_kind(origin: Origin, place: Place, value: Any, choice: Choice) -> None:
    """Refuse a value of another kind."""
    if choice.fits(value):
        return
    where = f"in [{place[0]}], " if place[1:] else ""
    text = toml(value)
    text = text if len(text) <= 60 else f"{text[:59]}…"
    raise origin.fault(place, f"{where}{place[-1]} = {text} must be {choice.kind}.")


def _blamed(origin: Origin, place: Place, make: Any) -> Any:
    """Make something of what a file says; name the line of what is refused."""
    try:
        return make()
    except InputError as error:
        if error.placed:
            raise
        found = place if place[1:] else _place_in(origin, error.parameter, error.columns) or place
        where = f"in [{found[0]}], " if found[1:] else ""
        raise error.at(f"{origin.head(found)}{where}") from None


def _hint(word: str, known: list[str]) -> str:
    return nearest(word, known) or f" It can be: {', '.join(known)}."


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
    return write_whole(path, text, private=True)


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
