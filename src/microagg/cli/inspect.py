"""`microagg inspect`: what a file holds, and a recipe to edit."""

from pathlib import Path
from typing import Any

from microagg.checks import check_absent, check_k
from microagg.cli._opening import opened, show
from microagg.cli._terminal import Terminal
from microagg.desk.again import command
from microagg.desk.facts import column_facts
from microagg.errors import InvalidParameter
from microagg.io.sources import check_apart_from


def run(
    address: str, k: int | None, output: Path, chosen: dict[str, Any], force: bool, quiet: bool, as_json: bool
) -> None:
    """Look at a file and write a recipe with guessed roles."""
    terminal = Terminal(quiet=quiet, as_json=as_json)
    if k is not None:
        check_k(k)
    if not output.resolve().parent.is_dir() or output.is_dir():
        raise InvalidParameter(
            f"no recipe can be written to {output.name!r}. Name a file in a folder that is there.", parameter="output"
        )
    check_apart_from(output, address)
    check_absent(output, "the recipe", overwrite=force)
    file = opened(terminal, address, None, k, chosen)
    assert file.inspection is not None
    show(terminal, file.inspection)
    file.recipe.write(output, made_for=file.source.name, overwrite=force)
    terminal.say(f"\nThe guesses are in {output}. Check and edit them, then: {command(address, output, 'out')}")
    terminal.result(
        {
            "source": file.source.name,
            "kind": file.source.kind,
            "details": dict(file.source.details),
            "records": file.inspection.records,
            "unique": file.inspection.unique,
            "incomplete": file.inspection.incomplete,
            "recipe": str(output),
            "columns": column_facts(file.inspection),
        }
    )
