"""Recipes in files: read, with the line of what is wrong, and written, with what each choice means beside it."""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from microagg.algorithms.methods import BY_TREE
from microagg.checks import check_absent, nearest
from microagg.errors import InputError, InvalidParameter, a_type
from microagg.files.databases import check_in_recipe, in_recipes
from microagg.files.files import whole_file
from microagg.recipe._choice import NAME, NAME_OR_NAMES, NAMES, Choice, Part, choices_of
from microagg.recipe._former import FORMER
from microagg.recipe._limits import MOST_TABLES, content_of, text_within
from microagg.recipe._lines import Comments, Place, comments_of, present
from microagg.recipe._profile import ColumnProfile, Profile, column_from, said_of
from microagg.recipe._recipe import Recipe
from microagg.recipe._tables import K_OF_UNITS, PARTS, K, OneTable, Origin, bracketed, options_of

_TITLE = (
    "Internal: this may hold counts, rare categories, limits and columns that were dropped. Do not publish it.",
    "How a file is masked, with every choice. Edit it, then run: microagg mask FILE --recipe THIS",
    "If the role of a column was guessed, the reason is beside its name.",
)
_MADE_FOR = "Made for "
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_LEFT_OUT = {
    ("select",): "No [select]: all masked columns form the groups.",
    ("refine",): "No [refine]: the groups stay as the method formed them.",
    ("risk", "keys"): "No keys: the intruder knows all masked columns and the strata.",
    ("risk", "sample"): "No sample: linkage is measured on all records of a small file, and on enough of a large one.",
}
"""What it means that something is not there and that no word could say in its place."""

_FORMERLY: dict[Place, tuple[str, dict[Any, Any]]] = {
    ("masking", "integers"): ("rounding", {"float": "none", "round": "auto"}),
    ("output", "reorder"): ("same_order", {True: False, False: True}),
}
"""Choices of recipes that were written before: what they are called now, and their words."""

_PROFILE = "profile"
_OF_PROFILE = "what the file was like that this is for; it decides nothing, and the next file is compared with it"

_ALWAYS = ("method", "masking", "blocks", "risk", "output")
"""The tables that are written even where all is as usual: a reader then sees what was chosen."""


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
    profile = _profile_in(origin, content.pop(_PROFILE, None))
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
        raise origin.fault((_PROFILE,), f"{_PROFILE!r} must be a table: [{_PROFILE}].")
    columns: dict[str, ColumnProfile] = {}
    for name, own in said.items():
        try:
            columns[name] = column_from(own)
        except ValueError as error:
            what = f"in [{_PROFILE}], {name} {error}. Delete the line if you cannot."
            raise origin.fault((_PROFILE, name), what) from None
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


def write(recipe: Recipe, path: Path, made_for: str | None, *, overwrite: bool) -> Path:
    """Write a recipe to a file that only you can read, whole or not at all."""
    check_absent(path, "the recipe", overwrite=overwrite)
    text = text_of(recipe, made_for)
    with whole_file(path, private=True) as file:
        file.write_text(text, "utf-8", newline="\n")
    return path


def text_of(
    recipe: Recipe,
    made_for: str | None,
    title: Sequence[str] = _TITLE,
    tables: Collection[str] = tuple(PARTS),
    *,
    of_units: bool = False,
) -> str:
    """Write a recipe out: what each choice means stands beside it, unless something else was written there.

    `of_units` says that k counts units though the recipe does not name them.
    """
    comments = recipe.comments
    roles = choices_of(PARTS["roles"][1])
    ours = {*_TITLE, *_LEFT_OUT.values(), *FORMER, *(choice.remark for choice in roles.values())}

    def kept(lines: tuple[str, ...]) -> list[str]:
        return [f"# {line}" for line in lines if line not in ours and not line.startswith(_MADE_FOR)]

    def beside(place: Place, usual: str = "") -> str:
        said = comments.beside.get(place, usual)
        remark = usual if said in FORMER or said in (K.remark, K_OF_UNITS) else said
        return f"  # {remark}" if remark else ""

    def over(place: Place) -> list[str]:
        return kept(comments.over.get(place, ()))

    heads = title if made_for is None else (*title, f"{_MADE_FOR}{made_for!r}.")
    lines = [f"# {line}" for line in heads] + kept(comments.title)
    shared = K_OF_UNITS if of_units or recipe.roles.unit is not None else K.remark
    lines += ["", *over(("k",)), f"k = {recipe.k}{beside(('k',), shared)}"]
    for table, (part, kind) in PARTS.items():
        keys = _said(recipe, table, getattr(recipe, part)) if table in tables else {}
        if not keys:
            lines += ["", f"# {_LEFT_OUT[table,]}"] if (table,) in _LEFT_OUT else []
            continue
        if kind.listed is not None:
            for number, said in enumerate(keys[kind.listed], 1):
                at = (table, str(number))
                lines += ["", *over(at), f"[[{table}]]{beside(at)}"]
                for key, value in said.items():
                    lines += [*over((*at, key)), f"{toml_key(key)} = {toml(value)}{beside((*at, key))}"]
            continue
        about = "" if kind.by_column is None else choices_of(kind)[kind.by_column].said
        lines += ["", *over((table,)), f"[{table}]{beside((table,), about)}"]
        lines += [f"# {said}" for place, said in _LEFT_OUT.items() if place[0] == table and not {*place[1:]} <= {*keys}]
        known = choices_of(kind) | (options_of(recipe.method.name) if table == "method" else {})
        for key, value in keys.items():
            place = (table, key)
            remark = known[key].remark if key in known and not kind.by_column else ""
            lines += ([f"# {remark}"] if table == "roles" else []) + over(place)
            if key in known and known[key].kind == NAMES and value:
                width = max(len(toml(one)) for one in value) + 1
                lines.append(f"{key} = [{beside(place)}")
                for one in value:
                    said = beside((*place, one))
                    written = f"{toml(one)},"
                    lines += [f"    {line}" for line in over((*place, one))]
                    lines.append(f"    {written:{width}}{said}" if said else f"    {written}")
                lines.append("]")
            else:
                name = toml_key(key)
                lines.append(f"{name} = {toml(value)}{beside(place, '' if table == 'roles' else remark)}")
    if recipe.profile is not None:
        lines += ["", *over((_PROFILE,)), f"[{_PROFILE}]{beside((_PROFILE,), _OF_PROFILE)}"]
        for key, own in said_of(recipe.profile).items():
            place = (_PROFILE, key)
            lines += [*over(place), f"{toml_key(key)} = {toml(own)}{beside(place)}"]
    end = kept(comments.end)
    return "\n".join([*lines, *([""] if end else []), *end]) + "\n"


def _said(recipe: Recipe, table: str, part: Any) -> dict[str, Any]:
    """Return what a file says of a part; nothing where it says nothing that is not usual."""
    if table not in _ALWAYS and part == PARTS[table][1]():
        return {}
    listed = type(part).listed
    if listed is not None:
        choice = choices_of(type(part))[listed]
        return {listed: tuple(choice.spelt(one) for one in getattr(part, listed))} if choice.spelt else {}
    said = {**part.said, **(recipe.method.options if table == "method" else {})}
    if type(part).by_column is not None:
        said = dict(said[type(part).by_column])
    said = {key: value for key, value in said.items() if not isinstance(value, Mapping) or value}
    if said.get("households") is not None:
        said["households"] = in_recipes(said["households"])
    if table == "roles":
        said = {role: named for role, named in said.items() if named != () or role == "quasi"}
    for key, value in said.items():
        for one in _plain_parts(value):
            if not isinstance(one, (str, bool, int, float)) or (
                isinstance(one, (int, float)) and key in part_names(part)
            ):
                raise InvalidParameter(
                    f"{key!r} in [{table}] holds {a_type(one)}, which a recipe file cannot. Pass the recipe "
                    f"itself, or choose by name.",
                    parameter=choices_of(type(part))[key].keyword if key in choices_of(type(part)) else key,
                )
    return said


def _plain_parts(value: Any) -> Iterator[Any]:
    """Return the single values in lists and tables of a choice."""
    if isinstance(value, Mapping):
        yield from value
        yield from (one for own in value.values() for one in _plain_parts(own))
    elif isinstance(value, tuple):
        yield from value
    else:
        yield value


def part_names(part: Any) -> set[str]:
    """Return the choices of a part that are names of columns: in a file they are text."""
    return {name for name, choice in choices_of(type(part)).items() if choice.kind in (NAME, NAMES, NAME_OR_NAMES)}


def toml(value: Any) -> str:
    """Write a value as TOML: its strings, numbers and lists are those of JSON, but for one character."""
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{toml_key(key)} = {toml(one)}" for key, one in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False, default=str).replace("\x7f", "\\u007f")


def toml_key(key: Any) -> str:
    """Write a key as TOML: bare where it can be."""
    return key if isinstance(key, str) and _BARE.fullmatch(key) else toml(str(key))


__all__ = ["Comments", "parse", "read", "text_of", "toml", "write"]
