"""`microagg mask`: a masked file, a report on it, and the recipe that makes both again."""

from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from microagg.cli._opening import opened, understood
from microagg.cli._terminal import Terminal, shown
from microagg.jobs import masking, outputs, writing
from microagg.jobs.again import command, script, unsaid
from microagg.jobs.ahead import compiling_ahead
from microagg.jobs.facts import recoded_of, written_facts
from microagg.jobs.opening import DEFAULT_K
from microagg.jobs.process import listen_closely
from microagg.recipe import Recipe


class Wishes(NamedTuple):
    """What was asked for on the command line, besides the choices of a recipe."""

    output: Path
    k: int | None
    recipe: Path | None
    to: str | None
    engine: str
    scheduler: str | None
    scratch: str | None
    script: bool
    yes: bool
    force: bool


def run(terminal: Terminal, source: str, chosen: dict[str, Any], **wished: Any) -> None:
    """Mask a file."""
    wishes = Wishes(**wished)
    masking.check_engine(wishes.engine, wishes.scheduler, wishes.scratch)
    # Choices that cannot be combined are refused before any work.
    changes = chosen if wishes.k is None else {**chosen, "k": wishes.k}
    asked = (Recipe(DEFAULT_K) if wishes.recipe is None else Recipe.read(wishes.recipe)).replace(**changes)
    outputs.check_output(wishes.output, source, wishes.to, overwrite=wishes.force, recipe=asked)
    if wishes.engine != "memory":
        _beyond_memory(terminal, source, wishes, asked)
        return
    excel, kind = bool(chosen.get("excel_safe")), asked.output.kind
    writing.check_writable(source, wishes.to, overwrite=wishes.force, excel_safe=excel, kind=kind)
    _in_memory(terminal, source, wishes, chosen)


@compiling_ahead()
def _in_memory(terminal: Terminal, address: str, wishes: Wishes, chosen: dict[str, Any]) -> None:
    file = opened(terminal, address, wishes.recipe, wishes.k, chosen, yes=wishes.yes)
    writing.check_fits(file, wishes.to)
    if file.recipe.output.excel_safe and not writing.is_text_target(address, wishes.to, file.recipe.output.kind):
        terminal.remark("Part of the recipe that is not used: excel_safe, since the target is not a text file.")
        file = replace(file, recipe=file.recipe.replace(excel_safe=False))
    with terminal.bar("masking") as tell:
        release = masking.mask(file, tell)
    with terminal.bar("measuring loss and risk") as tell:
        release = masking.judge(release, tell)
    with terminal.wait("writing and counting"):
        written = writing.write(release, file, wishes.output, to=wishes.to, overwrite=wishes.force)
    terminal.say("\n".join([f"\n{release!r}", *written.results]))
    for one in recoded_of(written.told):
        terminal.say(f"Recoded before masking: {one['column']}: {one['rule']} ({one['cells_changed']} cells changed)")
    terminal.say("\n".join(written.lines))
    places = written.places
    other = unsaid(release.recipe)
    again = command(address, places["recipe"], wishes.output, to=wishes.to, overwrite=True, households=other)
    both = {"households": places.get("households"), "joined": other}
    program = script(address, places["recipe"], places["masked"], **both, overwrite=True)
    terminal.say(f"To repeat it: {again}")
    if wishes.script:
        terminal.say(f"\n{program}")
    terminal.result({**written_facts(release, written), "command": again, "script": program})


def _beyond_memory(terminal: Terminal, address: str, wishes: Wishes, recipe: Recipe) -> None:
    """Mask a file on disk or on a cluster."""
    masking.check_beyond_memory(address, wishes.to, recipe, wishes.engine)
    listen_closely()
    with terminal.bar("masking") as tell:
        written, release, judged = writing.write_beyond_memory(
            address,
            recipe,
            wishes.output,
            to=wishes.to,
            engine=wishes.engine,
            scheduler=wishes.scheduler,
            scratch=wishes.scratch,
            overwrite=wishes.force,
            progress=tell,
        )
    if release.details:
        terminal.say(f"{shown(Path(address).name)}: {understood(release.details)}")
    places = wishes.to, wishes.scratch
    again = command(address, written.places["recipe"], wishes.output, *places, engine=wishes.engine, overwrite=True)
    terminal.say("\n".join([repr(release), *written.results, *written.lines, f"To repeat it: {again}"]))
    terminal.result({**written_facts(judged, written), "details": dict(release.details), "command": again})
