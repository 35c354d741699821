"""`microagg compare`: methods and levels of k, l and t, side by side."""

from pathlib import Path
from typing import Any

from microagg.cli._opening import opened
from microagg.cli._terminal import Terminal, shown
from microagg.jobs.ahead import compiling_ahead
from microagg.jobs.candidates import comparison_of, each_candidate, lowest_k, not_used, variants
from microagg.jobs.facts import comparison_facts
from microagg.jobs.outputs import check_picture, save_picture
from microagg.judge.comparison import Comparison
from microagg.recipe import Compare, choices


@compiling_ahead()
def run(
    terminal: Terminal,
    source: str,
    recipe: Path | None,
    output: Path | None,
    yes: bool,
    force: bool,
    chosen: dict[str, Any],
) -> None:
    """Mask by each method at each k, l and t, and judge each release."""
    asked = Compare(**{name: chosen[name] for name in choices("compare") if name in chosen})  # refused early
    check_picture(output, source, force)
    file = opened(terminal, source, recipe, lowest_k(asked) if recipe is None else None, chosen, yes=yes)
    recipes = variants(file.recipe)
    for unused in not_used(file.recipe, [name for name, _ in recipes]):
        terminal.say(f"Part of the recipe that is not used: {unused}.")
    with terminal.bar("comparing") as tell:
        found = comparison_of([candidate for candidate, _ in each_candidate(file, recipes, tell)], recipes)
    _show(terminal, found, output)


def _show(terminal: Terminal, found: Comparison, output: Path | None) -> None:
    terminal.say(f"\n{found!r}")
    best = found.best
    terminal.say(
        f"\n{found.ranking.rank.head}: {best.line} with k={best.k}. Efficient: "
        + ", ".join(f"{one.line} k={one.k}" for one in found.frontier)
    )
    if output is not None:
        with terminal.wait("drawing"):
            save_picture(found.plot(), output)
        terminal.say(f"Risk against loss: {shown(output)}")
    terminal.result(comparison_facts(found))
