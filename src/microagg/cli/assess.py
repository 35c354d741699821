"""`microagg assess`: loss and risk of any masked file, whoever made it."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from rich.table import Table
from rich.text import Text

from microagg.assess import disclosure_risk, loss_measures, usual_sample
from microagg.cli import _roles
from microagg.cli._risk import risk_facts
from microagg.cli._rows import Pair
from microagg.cli._terminal import Terminal, table_of
from microagg.errors import InvalidData, RoleError
from microagg.evaluate.definitions import measures_of
from microagg.evaluate.measure import HIGHER, Measure
from microagg.evaluate.risk import DisclosureRisk
from microagg.evaluate.score import scoring_index
from microagg.io import frames
from microagg.io.sources import Source, is_text_file
from microagg.judgement.parts import finite
from microagg.recipe_file import RecipeFile, read_recipe
from microagg.report.text import shown
from microagg.schema import Role

_UNCHANGED = (Role.CONFIDENTIAL, Role.KEEP, Role.WEIGHT)


@dataclass(frozen=True)
class Wishes:
    """What was asked for on the command line; None where the recipe, or else a default, decides."""

    recipe: Path | None
    columns: list[str] | None
    keys: list[str] | None
    strata: list[str] | None
    sample: int | None
    seed: int | None
    dialect: dict[str, Any]


def run(original: str, masked: str, wishes: Wishes, quiet: bool, as_json: bool) -> None:
    """Compare two files record by record."""
    terminal = Terminal(quiet=quiet, as_json=as_json)
    recipe = None if wishes.recipe is None else read_recipe(wishes.recipe)
    if recipe is not None and recipe.table("output").get("reorder"):
        raise InvalidData(
            "the recipe sorts the released rows (reorder = true), so they do not stand beside their originals. Mask "
            "once more with reorder = false and assess that; the values are the same. Or read the report of `mask`."
        )
    before, after = _read_both(terminal, original, masked, recipe, wishes.dialect)
    if recipe is not None:
        before = _without_left_out(terminal, before, recipe)
    pair = Pair(before.typed(), after.typed())
    strata = _strata(pair, recipe, wishes.strata)
    names = _compared(pair, before, recipe, wishes.columns, strata)
    _check_order(pair, recipe, names if recipe is not None or wishes.columns is not None else [], strata)
    wanted = {} if recipe is None else recipe.table("risk")
    keys = wishes.keys if wishes.keys is not None else wanted.get("keys")
    sample = wishes.sample if wishes.sample is not None else wanted.get("sample", usual_sample(before.table.num_rows))
    seed = wishes.seed if wishes.seed is not None else wanted.get("seed", 0)
    left, right = before.typed(names).select([*names, *strata]), after.typed(names).select([*names, *strata])
    with terminal.bar("measuring loss and risk") as tell:
        loss = loss_measures(left, right, columns=names)
        risk = disclosure_risk(
            left, right, keys=keys, columns=names, strata=strata, sample=sample, seed=seed, progress=tell
        )
    score = scoring_index(loss.g_il, risk.g_dr)
    table = table_of("column", "information loss %", "raises linkage by")
    for name in names:
        driver = f"{risk.drivers[name]:.2f} points" if name in risk.drivers else ""
        table.add_row(Text(shown(name)), f"{loss.per_column[name]:.2f}", driver)
    terminal.show(table)
    measures = (*loss.measures, *risk.measures, *measures_of("both", loss, risk))
    terminal.say()
    terminal.show(_figures(measures))
    terminal.say(f"\n{_linked(risk, strata)}")
    warnings = _warnings(pair, recipe, names, strata)
    for text in warnings:
        terminal.say(f"\nWarning: {text}")
    terminal.result(
        {
            "columns": names,
            "strata": strata,
            "information_loss_percent": finite(loss.percent),
            "per_column_percent": {name: finite(lost) for name, lost in loss.per_column.items()},
            "g_il": finite(loss.g_il),
            **risk_facts(risk),
            "scoring_index": finite(score),
            "figures": {one.name: finite(one.value) for one in measures},
            "warnings": warnings,
        }
    )


def _read_both(
    terminal: Terminal, original: str, masked: str, recipe: RecipeFile | None, given: dict[str, str]
) -> tuple[Source, Source]:
    """Read both files, those of them that are text as they are said to be written."""
    dialect = ({} if recipe is None else recipe.table("read")) | given
    texts = [is_text_file(address) for address in (original, masked)]
    if given and not any(texts):
        texts[0] = True  # whose reader says that options of text files do not go with it
    before, after = (
        _roles.read(terminal, address, dialect if is_text else {})
        for address, is_text in zip((original, masked), texts, strict=True)
    )
    return before, after


def _without_left_out(terminal: Terminal, source: Source, recipe: RecipeFile) -> Source:
    """Leave out of the original the records that masking by this recipe leaves out."""
    if recipe.table("masking").get("missing", "error") != "drop":
        return source
    roles = recipe.table("roles")
    masked = recipe.masked(source.table.column_names)
    unit = [roles[Role.UNIT.value]] if Role.UNIT.value in roles else []
    frame = frames.open_frame(source.typed(masked))
    masks = frames.missing_rows(frame, [*masked, *roles.get(Role.STRATUM.value, []), *unit])
    if not masks:
        return source
    lacking = np.logical_or.reduce(list(masks.values()))
    terminal.say(f"Left out of the original, as by the recipe: {np.count_nonzero(lacking)} records that lack a value.")
    return replace(source, table=source.table.filter(pa.array(~lacking)))


def _strata(pair: Pair, recipe: RecipeFile | None, given: list[str] | None) -> list[str]:
    """Give the columns that the intruder links within; both files must have them, row by row alike."""
    declared = [] if recipe is None else recipe.table("roles").get(Role.STRATUM.value, [])
    strata = list(declared if given is None else given)
    pair.check_known(strata)
    for name in strata:
        if not pair.is_same(name):
            raise InvalidData(f"the stratum {name!r} {pair.difference(name)}")
    return strata


def _compared(
    pair: Pair, before: Source, recipe: RecipeFile | None, given: list[str] | None, strata: list[str]
) -> list[str]:
    """Give the columns to judge: those named, those the recipe masks, or the numbers in both files that differ."""
    if given is not None or recipe is not None:
        names = given if given is not None else recipe.masked(before.table.column_names) if recipe else []
        pair.check_known(names)
        both = next((name for name in names if name in strata), None)
        if both is not None:
            raise RoleError(f"column {both!r} is a stratum and among the columns to compare. Leave one out.")
        return names
    common = [name for name in pair.common if name not in strata and pair.is_numeric(name)]
    if not common:
        raise InvalidData("the files have no column of numbers in common. Name them with --columns.")
    return [name for name in common if not pair.is_same(name)] or common


def _check_order(pair: Pair, recipe: RecipeFile | None, masked: list[str], strata: list[str]) -> None:
    """Refuse files whose rows cannot stand for the same records; columns said to be masked bear no witness."""
    declared = [] if recipe is None else _declared_unchanged(recipe)
    others = [name for name in pair.common if name not in strata and (name not in masked or name in declared)]
    moved = [name for name in others if pair.is_moved(name)]
    wrong = next((name for name in moved if name in declared), None)
    if wrong is None and moved and not any(pair.is_witness(name) for name in pair.common):
        wrong = moved[0]
    if wrong is not None:
        raise InvalidData(
            f"column {wrong!r} {pair.difference(wrong)} If it was swapped on purpose, name it with --columns, or leave "
            f"it out of one file if it is no number."
        )


def _declared_unchanged(recipe: RecipeFile) -> list[str]:
    roles = recipe.table("roles")
    found = [roles.get(role.value, []) for role in _UNCHANGED]
    return [name for names in found for name in ([names] if isinstance(names, str) else names)]


def _warnings(pair: Pair, recipe: RecipeFile | None, names: list[str], strata: list[str]) -> list[str]:
    """Say what makes the figures look better than they are."""
    found = []
    unchanged = [name for name in pair.common if pair.is_witness(name) and name not in (*names, *strata)]
    numbers = [name for name in unchanged if pair.is_numeric(name)]
    others = [name for name in unchanged if name not in numbers]
    if numbers:
        found.append(
            f"released unchanged and not judged: {', '.join(numbers)}. An intruder who knows them links more records "
            f"than is shown. To judge them as well: --columns {shlex.quote(','.join([*names, *numbers]))}"
        )
    if others:
        found.append(
            f"released unchanged and no numbers: {', '.join(others)}. An intruder who knows them links more records "
            f"than is shown. To let him: --strata {shlex.quote(','.join([*strata, *others]))}"
        )
    for name in [] if recipe is None else _declared_unchanged(recipe):
        if name in pair.common and not pair.is_same(name):
            found.append(f"by the recipe {name!r} is released as it is, but it differs. Is this the file it gave?")
    if not any(pair.is_witness(name) for name in pair.common) and pair.is_sorted_anew():
        found.append(
            "the masked file is sorted and the original is not. If its rows were put in order (mask --reorder), they "
            "do not stand beside their originals, and nothing shown here holds. Mask without that to assess."
        )
    return found


def _figures(measures: Sequence[Measure]) -> Table:
    """Show each figure with what it says; less is better where nothing else is said."""
    table = table_of("figure", "")
    table.add_column("what it says: less is better")
    for one in measures:
        says = f"{one.meaning} {HIGHER}" if one.better == "higher" else one.meaning
        unit = f" {one.unit}" if one.unit else ""
        table.add_row(Text(one.name), f"{one.value:.4g}{unit}", Text(says))
    return table


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
