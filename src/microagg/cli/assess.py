"""`microagg assess`: loss and risk of any masked file, whoever made it."""

from pathlib import Path
from typing import Any

from rich.text import Text

from microagg.cli._opening import describe
from microagg.cli._options import as_option, listed
from microagg.cli._terminal import Terminal, table_of
from microagg.desk.assessing import Assessed, assess, read_pair
from microagg.desk.facts import risk_facts
from microagg.errors import worded
from microagg.evaluate.risk import DisclosureRisk
from microagg.recipe import Recipe, choices
from microagg.report.text import shown


def run(
    original: str,
    masked: str,
    recipe: Path | None,
    columns: str | None,
    strata: str | None,
    chosen: dict[str, Any],
    quiet: bool,
    as_json: bool,
) -> None:
    """Compare two files record by record."""
    terminal = Terminal(quiet=quiet, as_json=as_json)
    asked = None if recipe is None else Recipe.read(recipe)
    reading = {name: value for name, value in chosen.items() if name in choices("read")}
    with terminal.wait("reading"):
        files = read_pair(original, masked, asked, reading)
    describe(terminal, files.before)
    describe(terminal, files.after)
    if files.left_out:
        terminal.say(f"Left out of the original, as by the recipe: {files.left_out} records that lack a value.")
    with terminal.bar("measuring loss and risk") as tell:
        found = assess(
            files,
            asked,
            columns=None if columns is None else listed(columns),
            strata=None if strata is None else listed(strata),
            keys=chosen.get("keys"),
            sample=chosen.get("sample"),
            seed=chosen.get("sample_seed"),
            progress=tell,
        )
    _show(terminal, found)


def _show(terminal: Terminal, found: Assessed) -> None:
    loss, risk = found.loss, found.risk
    table = table_of("column", "information loss %", "raises linkage by")
    for name in found.columns:
        driver = f"{risk.drivers[name]:.2f} points" if name in risk.drivers else ""
        table.add_row(Text(shown(name)), f"{loss.per_column[name]:.2f}", driver)
    terminal.show(table)
    terminal.say(f"\ninformation loss {loss.percent:.2f} %, G_IL {loss.g_il:.3f}")
    terminal.say(_linked(risk, found.strata))
    terminal.say(f"values within an interval {risk.interval:.2f} %")
    terminal.say(f"G_DR {risk.g_dr:.2f}; scoring index {found.score:.2f} (less is better)")
    warnings = [worded(text, as_option) for text in found.warnings]
    for text in warnings:
        terminal.say(f"\nWarning: {text}")
    terminal.result(
        {
            "columns": found.columns,
            "strata": found.strata,
            "information_loss_percent": loss.percent,
            "per_column_percent": dict(loss.per_column),
            "g_il": loss.g_il,
            **risk_facts(risk),
            "scoring_index": found.score,
            "warnings": warnings,
        }
    )


def _linked(risk: DisclosureRisk, strata: list[str]) -> str:
    """Say how many records are linked, by what, and on how many records that was estimated."""
    keys = [shown(name) for name in risk.columns if name in risk.keys]
    only = f"only {', '.join(keys)} ({len(keys)} of {len(risk.columns)} columns)"
    known = only if risk.restricted else f"{len(keys)} columns" if len(keys) > 1 else keys[0]
    within = f" and {', '.join(map(shown, strata))}" if strata else ""
    linked = f"records linked by an intruder who knows {known}{within}: "
    linked += f"{risk.rld:.2f} % by some of them, {risk.full_keys:.2f} % by all" if keys[1:] else f"{risk.rld:.2f} %"
    if risk.sampled is not None:
        linked += (
            f" (estimated on {risk.sampled} records drawn with seed {risk.seed}; standard error "
            f"{risk.standard_error:.2f})"
        )
    return linked
