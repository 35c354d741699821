"""The text of a recipe: its choices, with what each means beside it, whole for those who mask or public for all users.

The public one says how a file was masked, and nothing of what was not released.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from microagg.checks import check_absent
from microagg.errors import InvalidParameter, a_type
from microagg.files.databases import in_recipes
from microagg.files.files import whole_file
from microagg.recipe._choice import NAME, NAME_OR_NAMES, NAMES, choices_of
from microagg.recipe._columns import Importance, Kinds, UnitChoices
from microagg.recipe._former import FORMER
from microagg.recipe._lines import Comments, Place
from microagg.recipe._recipe import Recipe
from microagg.recipe._tables import K_OF_UNITS, OF_PROTECT, PARTS, K, options_of
from microagg.recipe.profile import said_of

_TITLE = (
    "Internal: this may hold counts, rare categories, limits and columns that were dropped. Do not publish it.",
    "How a file is masked, with every choice. Edit it, then run: microagg mask FILE --recipe THIS",
    "If the role of a column was guessed, the reason is beside its name.",
)
PUBLIC_TITLE = (
    "How this file was masked, for everybody who uses it.",
    "Left out: columns that are not released, original values, the seed of what was drawn, and the reasons for each",
    "choice. So you cannot make the masked file again with it.",
)
_PUBLIC = [table for table in OF_PROTECT if table not in ("recode", "missing", "taxonomy", "relation", "analysis")]
_MADE_FOR = "Made for "
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_LEFT_OUT = {
    ("select",): "No [select]: all masked columns form the groups.",
    ("refine",): "No [refine]: the groups stay as the method formed them.",
    ("risk", "keys"): "No keys: the intruder knows all masked columns and the strata.",
    ("risk", "sample"): "No sample: linkage is measured on all records of a small file, and on enough of a large one.",
}
"""What it means that something is not there and that no word could say in its place."""

PROFILE = "profile"
_OF_PROFILE = "what the file was like that this is for; it decides nothing, and the next file is compared with it"

_ALWAYS = ("method", "masking", "blocks", "risk", "output")
"""The tables that are written even where all is as usual: a reader then sees what was chosen."""


def write(recipe: Recipe, path: Path, made_for: str | None, *, overwrite: bool) -> Path:
    """Write a recipe to a file that only you can read, whole or not at all."""
    check_absent(path, "the recipe", overwrite=overwrite)
    return write_whole(path, text_of(recipe, made_for), private=True)


def write_whole(path: Path, text: str, *, private: bool) -> Path:
    """Write a recipe's text to a file, whole or not at all."""
    with whole_file(path, private=private) as file:
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
    remarks = _Remarks(recipe.comments)
    heads = title if made_for is None else (*title, f"{_MADE_FOR}{made_for!r}.")
    lines = [f"# {line}" for line in heads] + remarks.kept(recipe.comments.title)
    shared = K_OF_UNITS if of_units or recipe.roles.unit is not None else K.remark
    lines += ["", *remarks.over(("k",)), f"k = {recipe.k}{remarks.beside(('k',), shared)}"]
    for table, (part, kind) in PARTS.items():
        keys = _said(recipe, table, getattr(recipe, part)) if table in tables else {}
        if not keys:
            lines += ["", f"# {_LEFT_OUT[table,]}"] if (table,) in _LEFT_OUT else []
        elif kind.listed is not None:
            for number, said in enumerate(keys[kind.listed], 1):
                at = (table, str(number))
                lines += ["", *remarks.over(at), f"[[{table}]]{remarks.beside(at)}", *remarks.settings(at, said)]
        else:
            lines += ["", *_lines_of(recipe, table, keys, remarks)]
    if recipe.profile is not None:
        lines += ["", *remarks.over((PROFILE,)), f"[{PROFILE}]{remarks.beside((PROFILE,), _OF_PROFILE)}"]
        lines += remarks.settings((PROFILE,), said_of(recipe.profile))
    end = remarks.kept(recipe.comments.end)
    return "\n".join([*lines, *([""] if end else []), *end]) + "\n"


def _lines_of(recipe: Recipe, table: str, keys: Mapping[str, Any], remarks: "_Remarks") -> list[str]:
    """Write out a table, a name to a line where a choice lists columns."""
    kind = PARTS[table][1]
    about = "" if kind.by_column is None else choices_of(kind)[kind.by_column].said
    lines = [*remarks.over((table,)), f"[{table}]{remarks.beside((table,), about)}"]
    lines += [f"# {said}" for place, said in _LEFT_OUT.items() if place[0] == table and not {*place[1:]} <= {*keys}]
    known = choices_of(kind) | (options_of(recipe.method.name) if table == "method" else {})
    for key, value in keys.items():
        place = (table, key)
        remark = known[key].remark if key in known and not kind.by_column else ""
        lines += ([f"# {remark}"] if table == "roles" else []) + remarks.over(place)
        if key in known and known[key].kind == NAMES and value:
            width = max(len(toml(one)) for one in value) + 1
            lines.append(f"{key} = [{remarks.beside(place)}")
            for one in value:
                said = remarks.beside((*place, one))
                written = f"{toml(one)},"
                lines += [f"    {line}" for line in remarks.over((*place, one))]
                lines.append(f"    {written:{width}}{said}" if said else f"    {written}")
            lines.append("]")
        else:
            beside = remarks.beside(place, "" if table == "roles" else remark)
            lines.append(f"{toml_key(key)} = {toml(value)}{beside}")
    return lines


class _Remarks:
    """What a person has written into a recipe, and what is usual where they wrote nothing."""

    def __init__(self, comments: Comments) -> None:
        self._comments = comments
        roles = choices_of(PARTS["roles"][1])
        self._ours = {*_TITLE, *_LEFT_OUT.values(), *FORMER, *(choice.remark for choice in roles.values())}

    def kept(self, lines: tuple[str, ...]) -> list[str]:
        """Return the lines of a person as comments."""
        return [f"# {line}" for line in lines if line not in self._ours and not line.startswith(_MADE_FOR)]

    def beside(self, place: Place, usual: str = "") -> str:
        """Return what follows a choice in its line."""
        said = self._comments.beside.get(place, usual)
        remark = usual if said in FORMER or said in (K.remark, K_OF_UNITS) else said
        return f"  # {remark}" if remark else ""

    def over(self, place: Place) -> list[str]:
        """Return the lines of a person over a choice."""
        return self.kept(self._comments.over.get(place, ()))

    def settings(self, at: Place, said: Mapping[str, Any]) -> list[str]:
        """Write out what is said at a place, a key to a line."""
        return [
            line
            for key, value in said.items()
            for line in (*self.over((*at, key)), f"{toml_key(key)} = {toml(value)}{self.beside((*at, key))}")
        ]


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


def public_recipe(recipe: Recipe) -> Recipe:
    """Return what of a recipe may be published with its release.

    Names of columns stay if these are released. Recoding, levels, taxonomies, codes for missing values and relations
    name values, some of which are rare; reading, joining and judging are about the original. A seed of what was drawn
    is a secret; that of refining is not, since it discloses nothing of the values.
    """
    roles, whole = recipe.roles, recipe.units.release == "pseudonym"
    masked, rounding = roles.quasi or (), recipe.masking.rounding
    if isinstance(rounding, Mapping):
        rounding = {name: step for name, step in rounding.items() if name in masked} or "auto"
    kinds = {name: kind for name, kind in recipe.kinds.kinds.items() if name in masked and isinstance(kind, str)}
    weights = {name: weight for name, weight in recipe.importance.importance.items() if name in masked}
    return Recipe(
        recipe.k,
        roles=replace(roles, identifiers=(), drop=(), unit=roles.unit if whole else None, rest=None),
        kinds=Kinds(kinds),
        importance=Importance(weights),
        units=UnitChoices(release=recipe.units.release),
        diversity=recipe.diversity,
        method=recipe.method,
        masking=replace(recipe.masking, nominal_seed=None, rounding=rounding),
        weights=recipe.weights,
        select=recipe.select,
        blocks=recipe.blocks,
        refine=recipe.refine,
    )


def write_public(recipe: Recipe, path: Path, made_for: str | None) -> Path:
    """Write what of a recipe may be published to a new file, whole or not at all."""
    of_units = recipe.roles.unit is not None
    text = text_of(public_recipe(recipe), made_for, PUBLIC_TITLE, _PUBLIC, of_units=of_units)
    return write_whole(path, text, private=False)
