"""`microagg mask`: a safe file, a report on it, and the recipe that gives them again."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from microagg.checks import check_option
from microagg.cli._opening import opened, understood
from microagg.cli._terminal import Terminal
from microagg.desk import masking, writing
from microagg.desk.again import command, script
from microagg.desk.facts import release_facts
from microagg.desk.opening import DEFAULT_K
from microagg.desk.remarks import listen_closely
from microagg.errors import InvalidParameter
from microagg.recipe import Recipe


@dataclass(frozen=True)
class Wishes:
    """What was asked for on the command line."""

    output: Path
    k: int | None
    recipe: Path | None
    to: str | None
    engine: str
    scheduler: str | None
    script: bool
    chosen: dict[str, Any]
    yes: bool
    force: bool

    @property
    def changes(self) -> dict[str, Any]:
        """What goes before the recipe."""
        return self.chosen if self.k is None else {**self.chosen, "k": self.k}


def run(address: str, wishes: Wishes, quiet: bool, as_json: bool) -> None:
    """Mask a file."""
    check_option("engine", wishes.engine, masking.ENGINES)
    if wishes.scheduler is not None and wishes.engine != "dask":
        raise InvalidParameter("--scheduler goes with --engine dask. Leave it out, or add that.", parameter="scheduler")
    # What does not go together is refused before any work.
    asked = (Recipe(DEFAULT_K) if wishes.recipe is None else Recipe.read(wishes.recipe)).replace(**wishes.changes)
    terminal = Terminal(quiet=quiet, as_json=as_json)
    writing.check_output(wishes.output, address, wishes.to, overwrite=wishes.force)
    if wishes.engine == "memory":
        wanted = bool(wishes.chosen.get("excel_safe"))
        writing.check_writable(address, wishes.to, overwrite=wishes.force, excel_safe=wanted)
        _in_memory(terminal, address, wishes)
    else:
        _beyond_memory(terminal, address, wishes, asked)


def _in_memory(terminal: Terminal, address: str, wishes: Wishes) -> None:
    file = opened(terminal, address, wishes.recipe, wishes.k, wishes.chosen, yes=wishes.yes)
    if file.recipe.output.excel_safe and not writing.is_text_target(address, wishes.to):
        terminal.remark("Not used of the recipe: excel_safe; the target is no text file.")
        file = replace(file, recipe=file.recipe.replace(excel_safe=False))
    with terminal.bar("masking") as tell:
        release = masking.mask(file, tell)
    with terminal.bar("measuring loss and risk") as tell:
        release = masking.judge(release, tell)
    with terminal.wait("writing and counting"):
        written = writing.write(release, file, wishes.output, to=wishes.to, overwrite=wishes.force)
    terminal.say(f"\n{release!r}")
    for what, place in written.places.items():
        terminal.say(f"{what.replace('_', ' ').capitalize()}: {place}")
    again = command(address, written.places["recipe"], wishes.output, to=wishes.to, overwrite=True)
    program = script(address, written.places["recipe"], written.places["masked"], overwrite=True)
    terminal.say(f"Again: {again}")
    if wishes.script:
        terminal.say(f"\n{program}")
    facts = {"public_report": None, **written.places, **release_facts(release), "sha256": written.sha256}
    terminal.result({**facts, "command": again, "script": program})


def _beyond_memory(terminal: Terminal, address: str, wishes: Wishes, recipe: Recipe) -> None:
    """Mask a file on disk or on a cluster."""
    masking.check_beyond_memory(address, wishes.to, recipe, wishes.engine)
    if recipe.risk != Recipe(recipe.k).risk or "risk" in (recipe.origin.tables if recipe.origin else {}):
        terminal.remark(f"Not used of the recipe: [risk]; --engine {wishes.engine} measures none. Use: microagg assess")
    listen_closely()
    with terminal.bar("masking") as tell:
        written, release = writing.write_beyond_memory(
            address,
            recipe,
            wishes.output,
            to=wishes.to,
            engine=wishes.engine,
            scheduler=wishes.scheduler,
            overwrite=wishes.force,
            progress=tell,
        )
    if release.details:
        terminal.say(f"{Path(address).name}: {understood(release.details)}")
    masked, left = written["masked"], written["recipe"]
    again = command(address, left, wishes.output, to=wishes.to, engine=wishes.engine, overwrite=True)
    terminal.say(f"{release!r}\nMasked: {masked}\nRecipe: {left}\nAgain: {again}")
    terminal.result(
        {
            **written,
            "details": dict(release.details),
            "records": release.n_records,
            "groups": release.n_groups,
            "k": recipe.k,
            "k_reached": release.k_achieved,
            "information_loss_percent": release.information.percent,
            "command": again,
        }
    )
