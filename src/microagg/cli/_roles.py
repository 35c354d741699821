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
from microagg.recipe_file import RecipeFile, read_recipe, recipe_text
from microagg.report.text import shown
from microagg.schema import Role
from microagg.study.inspection import Inspection, inspect_table

DEFAULT_K = 5

SAID = {
    "quasi": "masked: columns that together could identify a person",
    "identifiers": "dropped: they identify a person by themselves",
    "confidential": "released as they are: sensitive, and not known to an intruder",
    "strata": "released as they are; groups stay within their values",
    "keep": "released as they are: harmless",
    "drop": "left out",
    "weight": "released as it is: a sampling weight",
    "unit": "dropped; every group holds k different ones",
}


def read(terminal: Terminal, address: str, dialect: dict[str, str]) -> Source:
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


def guessed(found: Inspection, k: int, dialect: dict[str, str]) -> RecipeFile:
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
    return RecipeFile(k, tables)


def written(recipe: RecipeFile, name: str, reasons: dict[str, str]) -> str:
    """Give the text of a recipe."""
    title = f"How {name!r} is masked. Every choice stands here; edit, then: microagg mask FILE --recipe THIS\n"
    title += "Beside each column of a guessed role stands why."
    return recipe_text(recipe, title=title, remarks=reasons, roles_said=SAID)


def recipe_or_guess(
    terminal: Terminal,
    address: str,
    path: Path | None,
    k: int | None,
    dialect: dict[str, str],
    *,
    yes: bool,
) -> tuple[Source, RecipeFile, dict[str, str]]:
    """Read the file by a recipe, or guess the roles and ask; give also why each column has its role."""
    if path is not None:
        recipe = read_recipe(path)
        recipe = recipe if k is None else replace(recipe, k=check_k(k))
        return read(terminal, address, recipe.table("read") | dialect), recipe, {}
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
    return source, recipe, dict(found.reasons)
