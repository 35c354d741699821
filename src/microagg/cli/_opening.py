"""What the commands say when they open a file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.text import Text

from microagg.cli._terminal import Terminal, shown, table_of
from microagg.files.sources import Source
from microagg.jobs.opening import Opened, open_source, read_file
from microagg.recipe import Recipe
from microagg.study.inspection import Inspection, incomplete_words

_REMEDY = "the roles were guessed. Check them and pass --yes, or run `inspect`, edit its recipe and pass --recipe."


def opened(
    terminal: Terminal, address: str, path: Path | None, k: int | None, chosen: dict[str, Any], yes: bool | None = None
) -> Opened:
    """Open a file by a recipe, or guess the roles; unless `yes` is None, show them and ask."""
    asked = None if path is None else Recipe.read(path)
    with terminal.wait("reading"):
        source = read_file(address, asked, **chosen)
    describe(terminal, source)
    with terminal.wait("looking at the columns"):
        found = open_source(address, source, asked, k=k, **chosen)
    if found.inspection is not None and yes is not None:
        show(terminal, found.inspection)
        terminal.ask("Are these roles right?", yes=yes, remedy=_REMEDY)
    return found


def describe(terminal: Terminal, source: Source) -> None:
    """Say how a file was understood."""
    how = understood(source.details)
    rows, columns = source.table.num_rows, source.table.num_columns
    terminal.say(f"{shown(source.name)}: {rows} records, {columns} columns ({source.kind}{'; ' + how if how else ''})")
    if source.joined is not None:
        terminal.say(f"With {shown(source.joined)}")


def understood(details: Mapping[str, str]) -> str:
    """Say how a text file is written."""
    return ", ".join(f"{name} {value!r}" for name, value in details.items())


def show(terminal: Terminal, found: Inspection) -> None:
    """Show the guesses and how exposed the records are."""
    table = table_of("column", "role", "kind", "because", "missing", "different", left=4)
    for column in found.columns:
        counts = str(column.missing or ""), str(column.distinct)
        table.add_row(
            Text(shown(column.name)), column.role.value, column.kind or "", Text(shown(column.reason)), *counts
        )
    terminal.show(table)
    share = 100.0 if found.unique == found.records else min(99.9, 100 * found.unique / found.records)
    terminal.say(
        f"{found.unique} of {found.records} records ({share:.3g} %) are unique: no other has the same values in the "
        f"columns to mask."
    )
    if found.incomplete:
        terminal.say(incomplete_words(found))
    if found.repeats is not None:
        terminal.say(f"Rows with one {shown(found.repeats)} belong together, but it cannot be the unit: k counts rows.")
