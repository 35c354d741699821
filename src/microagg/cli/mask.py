"""`microagg mask`: a safe file, a report on it, and the recipe that gives them again."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from microagg.checks import check_k, check_option
from microagg.cli import _roles
from microagg.cli._large import mask_large, recipe_for_large
from microagg.cli._output import check_apart, check_folder, whole_output
from microagg.cli._record import spelt_out
from microagg.cli._risk import risk_facts
from microagg.cli._terminal import Terminal
from microagg.errors import InvalidParameter
from microagg.io.databases import is_database, without_credentials
from microagg.io.sources import Source, check_target, file_digest, is_text_file, write_target
from microagg.partition.refine import check_effort
from microagg.pipeline import protect
from microagg.recipe_file import METHODS, RecipeFile, recipe_text
from microagg.release import Release
from microagg.report import SourceFacts, WrittenFacts
from microagg.schema import Role

_OURS = ("report.html", "report_public.html", "recipe.toml")


@dataclass(frozen=True)
class Wishes:
    """What was asked for on the command line."""

    output: Path
    k: int | None
    recipe: Path | None
    method: str | None
    refine: str | None
    to: str | None
    public: bool
    reorder: bool
    excel_safe: bool
    engine: str
    scheduler: str | None
    dialect: dict[str, Any]
    yes: bool
    force: bool


def run(address: str, wishes: Wishes, quiet: bool, as_json: bool) -> None:
    """Mask a file."""
    check_option("engine", wishes.engine, ("memory", "disk", "dask"))
    if wishes.scheduler is not None and wishes.engine != "dask":
        raise InvalidParameter("--scheduler goes with --engine dask. Leave it out, or add that.")
    terminal = Terminal(quiet=quiet, as_json=as_json)
    if wishes.method is not None:
        check_option("method", wishes.method, METHODS)
    name = _masked_name(address)
    check_folder(wishes.output, {name, *_OURS}, wishes.force)
    check_apart(wishes.output, address, wishes.to)
    if wishes.engine != "memory":
        recipe = _with_wishes(recipe_for_large(wishes), wishes)
        mask_large(terminal, address, wishes, recipe, name)
        return
    if wishes.to is not None:
        check_target(wishes.to, address, overwrite=wishes.force)
    target = wishes.output / name if wishes.to is None else wishes.to
    if wishes.excel_safe and not is_text_file(target):
        raise InvalidParameter(
            "--excel-safe goes with text files, such as .csv, and the target is none. Leave it out, or name one with "
            "--to."
        )
    source, recipe = _roles.recipe_or_guess(terminal, address, wishes.recipe, wishes.k, wishes.dialect, yes=wishes.yes)
    recipe = _with_wishes(recipe, wishes)
    defused = recipe.table("output")["excel_safe"] and is_text_file(target)
    if recipe.table("output")["excel_safe"] and not defused:
        terminal.remark("Not used of the recipe: excel_safe; the target is no text file.")
    release = _masked(terminal, source, recipe)
    done = WrittenFacts(reordered=recipe.table("output")["reorder"], excel_safe=defused)
    manner: dict[str, Any] = {
        "masked": release.recipe.roles[Role.QUASI.value],
        "same_rows": not done.reordered and not release.n_dropped,
        "excel_safe": done.excel_safe,
        "promise": release.promise,
    }
    with terminal.wait("taking the checksum of the source"):
        digest = file_digest(address)
    facts = SourceFacts(
        name=source.name,
        kind=source.kind,
        details=dict(source.details),
        sha256=digest,
        records=source.table.num_rows,
        columns=source.table.num_columns,
    )
    written = {"report": wishes.output / "report.html", "recipe": wishes.output / "recipe.toml"}
    if wishes.public:
        written["public_report"] = wishes.output / "report_public.html"
    with whole_output(wishes.output, wishes.to, wishes.force) as output, terminal.wait("writing and counting"):
        folder = output.folder
        data = _reordered(release.data) if done.reordered else release.data
        release.report(folder / written["report"].name, source=facts, written=done)
        if wishes.public:
            release.report(folder / written["public_report"].name, source=facts, written=done, public=True)
        read = {} if source.dialect is None else source.dialect.options()
        whole = spelt_out(recipe, release.recipe, read, release.risk)
        (folder / written["recipe"].name).write_text(recipe_text(whole, source.name), "utf-8")
        if wishes.to is None:
            write_target(data, folder / name, source, **manner)
        else:
            write_target(data, wishes.to, source, overwrite=wishes.force, **manner)
            output.data_is_written = True
    places = {"masked": str(wishes.output / name) if wishes.to is None else without_credentials(wishes.to)}
    places |= {what: str(path) for what, path in written.items()}
    terminal.say(f"\n{release!r}")
    for what, place in places.items():
        terminal.say(f"{what.replace('_', ' ').capitalize()}: {place}")
    terminal.result(
        {
            "public_report": None,
            **places,
            "records": len(release.groups),
            "records_left_out": release.n_dropped,
            "groups": release.n_groups,
            "k": recipe.k,
            "k_reached": release.k_achieved,
            "information_loss_percent": release.information.percent,
            "g_il": release.loss.g_il,
            **risk_facts(release.risk),
            "sha256": digest,
        }
    )


def _masked_name(address: str) -> str:
    """Name the masked file after the source: the same kind, or Parquet for what has no file to be named after."""
    if is_database(address):
        return "masked.parquet"
    path = Path(address)
    if path.is_dir():
        return f"{path.name.removesuffix('.parquet')}_masked.parquet"
    suffixes = "".join(path.suffixes[-2:]) if path.suffix.lower() in (".gz", ".zst") else path.suffix
    written = ".csv" if suffixes.lower() == ".sas7bdat" else suffixes
    return f"{path.name.removesuffix(suffixes)}_masked{written}"


def _with_wishes(recipe: RecipeFile, wishes: Wishes) -> RecipeFile:
    """Let the command line have the last word, so that the recipe that is written says what was done."""
    tables = {name: dict(keys) for name, keys in recipe.tables.items()}
    if wishes.method is not None and wishes.method != tables.get("method", {}).get("name", "mdav"):
        tables["method"] = {"name": wishes.method}  # the options were another method's
    if wishes.refine is not None:
        effort = int(wishes.refine) if wishes.refine.isdecimal() else wishes.refine
        check_effort(effort, 1)
        tables["refine"] = tables.get("refine", {}) | {"effort": effort}
    output = tables.setdefault("output", {})
    output["reorder"] = wishes.reorder or output.get("reorder", False)
    output["excel_safe"] = wishes.excel_safe or output.get("excel_safe", False)
    if wishes.dialect:
        tables["read"] = tables.get("read", {}) | wishes.dialect
    return replace(recipe, k=recipe.k if wishes.k is None else check_k(wishes.k), tables=tables)


def _masked(terminal: Terminal, source: Source, recipe: RecipeFile) -> Release:
    """Mask, and judge by the risk that the recipe asks for."""
    with terminal.bar("masking") as tell, recipe.blamed():
        frame = source.typed(recipe.masked(source.table.column_names))
        release = protect(frame, progress=tell, **recipe.arguments())
    with terminal.bar("measuring loss and risk") as tell, recipe.blamed("risk"):
        risk = release.risk_for(progress=tell, **recipe.table("risk"))
    return release.with_risk(risk)


def _reordered(table: pa.Table) -> pa.Table:
    """Sort the rows by all released columns: an order that anybody could make, and that tells nothing."""
    keys = {}
    for name in table.column_names:
        column = table[name]
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if not pa.types.is_nested(column.type):  # which has no order
            keys[name] = column
    order = pc.sort_indices(pa.table(keys), [(name, "ascending") for name in keys])
    return table.take(order)
