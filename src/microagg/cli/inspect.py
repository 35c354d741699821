"""`microagg inspect`: what a file holds, and a recipe to edit."""

from pathlib import Path
from typing import Any

from microagg.cli._opening import opened, show
from microagg.cli._terminal import Terminal, shown
from microagg.jobs.again import command, unsaid
from microagg.jobs.facts import cost_facts, inspection_facts, small_strata_facts
from microagg.jobs.inspecting import check_inspection, costs_of, write_small_strata
from microagg.study.costs import costs_in_words


def run(terminal: Terminal, source: str, output: Path, chosen: dict[str, Any], **wished: Any) -> None:
    """Look at a file and write a recipe with guessed roles, and the list of small strata if it is asked for."""
    private, force = wished["small_strata"], wished["force"]
    check_inspection(output, source, wished["k"], private, overwrite=force)
    file = opened(terminal, source, None, wished["k"], chosen)
    assert file.inspection is not None
    show(terminal, file.inspection)
    facts = {**inspection_facts(file.source, file.inspection), "recipe": str(output)}
    if private is not None:
        found = write_small_strata(file, private, overwrite=force)
        terminal.say(f"\n{found}")
        facts |= small_strata_facts(found)
    with terminal.bar("trying what each column costs") as tell:
        costs = costs_of(file, progress=tell)
    if costs is not None:
        terminal.say(f"\n{costs_in_words(costs, shown)}")
        facts["costs"] = cost_facts(costs)
    file.recipe.with_profile(file.source).write(output, made_for=file.source.name, overwrite=force)
    again = command(source, output, "out", households=unsaid(file.recipe))
    terminal.say(f"\nThe guesses are in {shown(output)}. Check and edit it, then run: {again}")
    terminal.result(facts)
