"""recipe.toml: every choice that a run depends on, in a file that a person can read, edit and sign."""

import difflib
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from microagg.errors import InvalidParameter
from microagg.partition import PARTITIONERS, with_options

_NAMES = "a list of names"
_NUMBER = "a whole number"
_TABLES: dict[str, dict[str, str]] = {
    "": {"k": _NUMBER},
    "roles": {
        "quasi": _NAMES,
        "identifiers": _NAMES,
        "confidential": _NAMES,
        "strata": _NAMES,
        "keep": _NAMES,
        "drop": _NAMES,
        "weight": "a name",
        "unit": "a name",
    },
    "method": {"name": "a name"},
    "masking": {
        "scale": "a word",
        "aggregate": "a word",
        "integers": "a word",
        "missing": "a word",
        "per_column": "true or false",
    },
    "select": {
        "by": "a word",
        "columns": _NAMES,
        "count": _NUMBER,
        "measure": "a word",
        "width": "a number or a list of them",
        "bins": _NUMBER,
    },
    "blocks": {"by": "a word", "max_block": _NUMBER},
    "refine": {"effort": "a word or a whole number", "seed": _NUMBER},
    "read": {"delimiter": "a text", "encoding": "a text", "decimal": "a text", "thousands": "a text"},
    "risk": {"keys": _NAMES, "sample": _NUMBER, "seed": _NUMBER},
    "output": {"reorder": "true or false", "excel_safe": "true or false"},
}
"""What may stand in each table of a recipe; "" is the top. The method's own options join its name."""


@dataclass(frozen=True)
class RecipeFile:
    """What a recipe says, checked in form; what the words mean is checked by those who act on them.

    Attributes
    ----------
    k : int
    tables : mapping
        From the name of a table to its keys and values, as in the file; those left out are empty.
    """

    k: int
    tables: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def table(self, name: str) -> dict[str, Any]:
        """Give a table's keys and values."""
        return dict(self.tables.get(name, {}))

    def masked(self, names: Sequence[str]) -> list[str]:
        """Give the columns to mask of a file that has these."""
        roles = self.table("roles")
        if "quasi" in roles:
            return list(roles["quasi"])
        others = {name for listed in roles.values() for name in ([listed] if isinstance(listed, str) else listed)}
        return [name for name in names if name not in others]

    def arguments(self) -> dict[str, Any]:
        """Give the arguments of `protect`, beside the frame."""
        roles, method, select, blocks = (self.table(name) for name in ("roles", "method", "select", "blocks"))
        given = {"k": self.k, **roles, **self.table("masking")}
        given |= {"method": method.pop("name", "mdav"), **method}
        if "columns" in select:
            given["select"] = select["columns"]
        elif select:
            given |= {"select": select.pop("by", "emad"), **select}
        if blocks:
            given["blocks"] = blocks.pop("by", "auto")
            given |= blocks
        refine = self.table("refine")
        if refine:
            given |= {"refine": refine.get("effort", "fast"), "seed": refine.get("seed", 0)}
        return given


def read_recipe(path: Path) -> RecipeFile:
    """Read a recipe, or say in which line it errs."""
    try:
        text = path.read_text("utf-8")
    except UnicodeDecodeError:
        raise InvalidParameter(f"{path.name!r} is not text in UTF-8. Save it as such.") from None
    except OSError:
        raise InvalidParameter(f"the recipe {path.name!r} cannot be read. Check the path.") from None
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidParameter(f"{path.name}: {error}. Mend that line.") from None
    tables: dict[str, dict[str, Any]] = {}
    for key, value in content.items():
        if key in _TABLES and isinstance(value, dict):
            tables[key] = value
        elif key in _TABLES:
            raise _fault(path, text, "", key, f"{key!r} must be a table: a line [{key}], and its keys below.")
        elif key not in _TABLES[""]:
            raise _fault(
                path, text, "", key, f"{key!r} is not a part of a recipe.{_nearest(key, [*_TABLES[''], *_TABLES])}"
            )
    top = {key: value for key, value in content.items() if key in _TABLES[""]}
    for table, keys in [("", top), *tables.items()]:
        known = dict(_TABLES[table])
        if table == "method":
            known |= _options_of(path, text, keys)
        for key, value in keys.items():
            where = f" in [{table}]" if table else ""
            if key not in known:
                raise _fault(path, text, table, key, f"{key!r} is unknown{where}.{_nearest(key, list(known))}")
            if not _is(value, known[key]):
                raise _fault(path, text, table, key, f"{key!r}{where} must be {known[key]}.")
    if "k" not in top:
        raise InvalidParameter(f"{path.name} does not say k. Add a line such as: k = 5")
    if "columns" in tables.get("select", {}) and len(tables["select"]) > 1:
        raise _fault(path, text, "select", "columns", "'columns' in [select] goes alone: it leaves nothing to choose.")
    return RecipeFile(k=top["k"], tables=tables)


def _options_of(path: Path, text: str, keys: Mapping[str, Any]) -> dict[str, str]:
    """Give what may stand beside the method's name: its options."""
    name = keys.get("name", "mdav")
    methods = [*PARTITIONERS, "ama"]
    if name not in methods:
        raise _fault(path, text, "method", "name", f"there is no method {name!r}.{_nearest(str(name), methods)}")
    defaults, _ = with_options("mdav" if name == "ama" else name, {})
    return {option: "a number" if isinstance(default, float) else "a word" for option, default in defaults.items()}


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


def _nearest(word: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(word, [name for name in known if name], n=1)
    return f" Did you mean {near[0]!r}?" if near else f" It can be: {', '.join(name for name in known if name)}."


def _fault(path: Path, text: str, table: str, key: str, what: str) -> InvalidParameter:
    """Say what is wrong and in which line; the parser does not tell, so the line is looked for."""
    inside = ""
    for number, line in enumerate(text.splitlines(), 1):
        head = re.match(r"\s*\[+\s*([^\]]+?)\s*\]", line)
        if head:
            inside = head[1].strip("\"'")
            if not table and inside == key:
                return InvalidParameter(f"{path.name}, line {number}: {what}")
        written = re.match(r"\s*[\"']?([^\"'=#]+?)[\"']?\s*=", line)
        if written and inside == table and written[1] == key:
            return InvalidParameter(f"{path.name}, line {number}: {what}")
    return InvalidParameter(f"{path.name}: {what}")


def recipe_text(recipe: RecipeFile, *, title: str, remarks: Mapping[str, str], roles_said: Mapping[str, str]) -> str:
    """Write a recipe out, with a remark beside each column and role.

    `remarks` are by column; `roles_said` tells what each role means.
    """
    lines = [f"# {line}" for line in title.splitlines()] + ["", f"k = {recipe.k}"]
    for table, known in _TABLES.items():
        keys = recipe.table(table)
        if not table or not keys:
            continue
        lines += ["", f"[{table}]"]
        for key, value in keys.items():
            if table == "roles":
                lines.append(f"# {roles_said.get(key, key)}")
            if known.get(key) == _NAMES and value:
                width = max(len(_quoted(name)) for name in value)
                said = [(f"{_quoted(name)},", remarks.get(name)) for name in value]
                lines.append(f"{key} = [")
                lines += [f"    {name:{width + 1}}  # {remark}" if remark else f"    {name}" for name, remark in said]
                lines.append("]")
            else:
                remark = remarks.get(value) if table == "roles" and isinstance(value, str) else None
                lines.append(f"{key} = {_quoted(value)}" + (f"  # {remark}" if remark else ""))
    return "\n".join(lines) + "\n"


def _quoted(value: Any) -> str:
    """Write a value as TOML: its strings, numbers and lists are those of JSON, but for one character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
