"""Which column is what: from a recipe, or guessed and shown."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.text import Text

from microagg.checks import check_k
from microagg.cli._terminal import Terminal, table_of
from microagg.errors import InvalidData
from microagg.io.sources import Source, read_source
from microagg.recipe_file import Comments, RecipeFile, read_recipe
from microagg.report.text import shown
from microagg.schema import Role
from microagg.study.inspection import Inspection, inspect_table

DEFAULT_K = 5


def read(terminal: Terminal, address: str, dialect: dict[str, Any]) -> Source:
    """Read a file and say how it was understood."""
    with terminal.wait("reading"):
        source = read_source(address, **dialect)
    how = told(source.details)
    rows, columns = source.table.num_rows, source.table.num_columns
    terminal.say(f"{source.name}: {rows} records, {columns} columns ({source.kind}{'; ' + how if how else ''})")
    return source


def told(details: Mapping[str, str]) -> str:
    """Say how a file was understood."""
    return ", ".join(f"{name} {value!r}" for name, value in details.items())


def look(terminal: Terminal, source: Source, k: int) -> Inspection:
    """Guess what each column is."""
    with terminal.wait("looking at the columns"):
        return inspect_table(source.typed(), check_k(k), source.labels.values if source.labels else None)


def show(terminal: Terminal, found: Inspection) -> None:
    """Show the guesses and how exposed the records are."""
    table = table_of("column", "role", "because", "missing", "different", left=3)
    for column in found.columns:
        counts = str(column.missing or ""), str(column.distinct)
        table.add_row(Text(shown(column.name)), column.role.value, Text(column.reason), *counts)
    terminal.show(table)
    share = 100 * found.unique / found.records if found.records else 0.0
    terminal.say(
        f"{found.unique} of {found.records} records ({share:.0f} %) are alone with their values in the columns to mask."
    )
    if found.incomplete:
        terminal.say(
            f"{found.incomplete} records lack a value there; the recipe's `missing` says what becomes of them."
        )


def guessed(found: Inspection, k: int, dialect: dict[str, Any]) -> RecipeFile:
    """Make a recipe of guesses."""
    if not found.roles.get(Role.QUASI.value):
        raise InvalidData(
            "no column of numbers is left to mask. Check how the file was read, or encode categories as numbers."
        )
    tables: dict[str, dict[str, Any]] = {
        "roles": found.roles,
        "method": {"name": "mdav"},
        "masking": {
            "scale": "standard",
            "aggregate": "mean",
            "integers": "float",
            "missing": "drop" if found.incomplete else "error",
        },
        "output": {"reorder": False, "excel_safe": False},
    }
    if dialect:
        tables["read"] = dict(dialect)
    reasons: dict[tuple[str, ...], str] = {}
    for role, named in found.roles.items():
        alone = isinstance(named, str)
        for name in [named] if alone else named:
            reasons[("roles", role) if alone else ("roles", role, name)] = found.reasons[name]
    return RecipeFile(k, tables, Comments(beside=reasons))


def recipe_or_guess(
    terminal: Terminal,
    address: str,
    path: Path | None,
    k: int | None,
    dialect: dict[str, Any],
    *,
    yes: bool,
) -> tuple[Source, RecipeFile]:
    """Read the file by a recipe, or guess the roles for this k and ask."""
    if path is not None:
        recipe = read_recipe(path)
        return read_by(terminal, address, recipe, dialect), recipe
    level = DEFAULT_K if k is None else check_k(k)
    source = read(terminal, address, dialect)
    found = look(terminal, source, level)
    show(terminal, found)
    recipe = guessed(found, level, dialect)
    terminal.ask(
        "Are these roles right?",
        yes=yes,
        remedy="the columns' roles were guessed. Check them and pass --yes, or edit what `microagg inspect` writes and "
        "pass it with --recipe.",
    )
    return source, recipe


def read_by(terminal: Terminal, address: str, recipe: RecipeFile, dialect: dict[str, Any]) -> Source:
    """Read a file as a recipe says, but for what the command line says of it, and see that the columns fit."""
    how = recipe.table("read") | dialect
    with replace(recipe, tables={**recipe.tables, "read": how}).blamed("read"):
        source = read(terminal, address, how)
    recipe.check_columns(source.table.column_names)
    return source
