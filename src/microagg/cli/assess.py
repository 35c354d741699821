"""`microagg assess`: loss and risk of any masked file, from any program."""

from pathlib import Path
from typing import Any

from rich.text import Text

from microagg.cli._opening import describe
from microagg.cli._options import as_option
from microagg.cli._terminal import Terminal, shown, table_of
from microagg.errors import worded
from microagg.jobs import Assessed, assess, read_pair
from microagg.jobs.assessment import assess_all
from microagg.jobs.facts import assessed_facts, joint_facts
from microagg.measures.measure import as_text
from microagg.recipe import Recipe, choices
from microagg.recipe.words import listed


def run(
    terminal: Terminal,
    original: str,
    masked: list[str],
    recipe: Path | None,
    columns: str | None,
    strata: str | None,
    key: str | None,
    chosen: dict[str, Any],
) -> None:
    """Compare two files record by record, or several masked ones together."""
    asked, names = None if recipe is None else Recipe.read(recipe), None if columns is None else listed(columns)
    if len(masked) > 1:
        with terminal.bar("judging the files together") as tell:
            joint = assess_all(original, masked, asked, chosen, columns=names, strata=strata, key=key, progress=tell)
        terminal.say(str(joint))
        terminal.result(joint_facts(joint))
        return
    reading = {name: value for name, value in chosen.items() if name in choices("read")}
    with terminal.wait("reading"):
        files = read_pair(original, masked[0], asked, reading)
    describe(terminal, files.whole or files.before)
    describe(terminal, files.after)
    if files.left_out:
        counted = "1 record" if files.left_out == 1 else f"{files.left_out} records"
        terminal.say(
            f"Masking left out {counted} of the original. Loss by column and linkage are those of the "
            "others; statistics and results are compared with the whole original."
        )
    with terminal.bar("measuring loss and risk") as tell:
        found = assess(
            files,
            asked,
            columns=names,
            strata=None if strata is None else listed(strata),
            keys=chosen.get("keys"),
            sample=chosen.get("sample"),
            seed=chosen.get("sample_seed"),
            key=key,
            analyses=chosen.get("analyses"),
            progress=tell,
        )
    _show(terminal, found)


def _show(terminal: Terminal, found: Assessed) -> None:
    table = table_of("column", "information loss %", "raises linkage by")
    for name in found.columns:
        driver = f"{found.risk.drivers[name]:.2f} points" if name in found.risk.drivers else ""
        table.add_row(Text(shown(name)), f"{found.loss.per_column[name]:.2f}", driver)
    terminal.show(table)
    terminal.say(as_text("\nFigures; lower is better unless a figure says otherwise", found.measures))
    terminal.say(f"\n{found.words}")
    warnings = [worded(text, as_option) for text in found.warnings]
    for text in warnings:
        terminal.say(f"\nWarning: {text}")
    terminal.result({**assessed_facts(found), "warnings": warnings})
