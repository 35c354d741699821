"""`microagg inspect`: what a file holds, and a recipe to edit."""

import shlex
from pathlib import Path
from typing import Any

from microagg.checks import check_absent, check_k
from microagg.cli import _roles
from microagg.cli._terminal import Terminal
from microagg.errors import InvalidParameter
from microagg.io.databases import without_credentials
from microagg.io.files import whole_file
from microagg.io.sources import check_apart_from
from microagg.recipe_file import recipe_text


def run(address: str, k: int, output: Path, dialect: dict[str, Any], force: bool, quiet: bool, as_json: bool) -> None:
    """Look at a file and write a recipe with guessed roles."""
    terminal = Terminal(quiet=quiet, as_json=as_json)
    check_k(k)
    if not output.resolve().parent.is_dir() or output.is_dir():
        raise InvalidParameter(f"no recipe can be written to {output.name!r}. Name a file in a folder that is there.")
    check_apart_from(output, address)
    check_absent(output, "the recipe", overwrite=force)
    source = _roles.read(terminal, address, dialect)
    found = _roles.look(terminal, source, k)
    _roles.show(terminal, found)
    recipe = _roles.guessed(found, k, dialect)
    with whole_file(output) as file:
        file.write_text(recipe_text(recipe, source.name), "utf-8")
    again = shlex.join(["microagg", "mask", without_credentials(address), "--recipe", str(output)])
    terminal.say(f"\nThe guesses are in {output}. Check and edit them, then: {again}")
    terminal.result(
        {
            "source": source.name,
            "kind": source.kind,
            "details": dict(source.details),
            "records": found.records,
            "unique": found.unique,
            "incomplete": found.incomplete,
            "recipe": str(output),
            "columns": [
                {
                    "name": column.name,
                    "type": column.type,
                    "missing": column.missing,
                    "distinct": column.distinct,
                    "role": column.role.value,
                    "reason": column.reason,
                }
                for column in found.columns
            ],
        }
    )
