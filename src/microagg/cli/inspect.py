"""`microagg inspect`: what a file holds, and a recipe to edit."""

from pathlib import Path
from typing import Any

from microagg.checks import check_absent, check_k
from microagg.cli._opening import opened, show
from microagg.cli._terminal import Terminal
from microagg.desk.again import command
from microagg.desk.facts import inspection_facts
from microagg.errors import InvalidParameter
from microagg.io.sources import check_apart_from


def run(terminal: Terminal, source: str, k: int | None, output: Path, force: bool, chosen: dict[str, Any]) -> None:
    """Look at a file and write a recipe with guessed roles."""
    if k is not None:
        check_k(k)
    if not output.resolve().parent.is_dir() or output.is_dir():
        raise InvalidParameter(
            f"no recipe can be written to {output.name!r}. Name a file in a folder that is there.", parameter="output"
        )
    check_apart_from(output, source)
    check_absent(output, "the recipe", overwrite=force)
    file = opened(terminal, source, None, k, chosen)
    assert file.inspection is not None
    show(terminal, file.inspection)
    file.recipe.write(output, made_for=file.source.name, overwrite=force)
    terminal.say(f"\nThe guesses are in {output}. Check and edit them, then: {command(source, output, 'out')}")
    terminal.result({**inspection_facts(file.source, file.inspection), "recipe": str(output)})
