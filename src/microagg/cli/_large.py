"""Masking beyond memory: on disk, or on a cluster."""

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from microagg.cli import _roles
from microagg.cli._output import whole_output
from microagg.cli._record import spelt_out
from microagg.cli._terminal import Terminal
from microagg.errors import InvalidParameter
from microagg.io.databases import is_database
from microagg.recipe_file import RecipeFile, read_recipe, recipe_text
from microagg.scale import protect_file

if TYPE_CHECKING:
    from microagg.cli.mask import Wishes


def recipe_for_large(wishes: "Wishes") -> RecipeFile:
    """Read the recipe, and refuse what does not go with a file that is not read into memory."""
    if wishes.recipe is None:
        raise InvalidParameter(
            f"--engine {wishes.engine} needs a recipe, since the file is not read to guess. Run `microagg inspect` on "
            f"a part of it."
        )
    for option, asked in (
        ("--public", wishes.public),
        ("--reorder", wishes.reorder),
        ("--excel-safe", wishes.excel_safe),
    ):
        if asked:
            raise InvalidParameter(f"{option} does not go with --engine {wishes.engine}. Leave it out.")
    return read_recipe(wishes.recipe)


def mask_large(
    terminal: Terminal,
    address: str,
    wishes: "Wishes",
    recipe: RecipeFile,
    name: str,
) -> None:
    """Mask a Parquet or text file on disk or on a cluster."""
    given = _arguments(recipe, wishes.engine)
    if is_database(address):
        raise InvalidParameter(f"--engine {wishes.engine} reads files, not tables of databases. Leave it out.")
    if wishes.to is not None and is_database(wishes.to):
        raise InvalidParameter(f"--engine {wishes.engine} writes files, not tables of databases. Name one with --to.")
    if recipe.table("risk"):
        terminal.remark(f"Not used of the recipe: [risk]; --engine {wishes.engine} measures none. Use: microagg assess")
    logging.getLogger("microagg").setLevel(logging.INFO)
    with whole_output(wishes.output, wishes.to, wishes.force) as output:
        with terminal.bar("masking") as tell:
            release = protect_file(
                address,
                output.folder / name if wishes.to is None else wishes.to,
                engine="local" if wishes.engine == "disk" else "dask",
                scheduler=wishes.scheduler,
                read=recipe.table("read"),
                overwrite=wishes.force,
                progress=tell,
                **given,
            )
        output.data_is_written = True
        whole = spelt_out(recipe, release.recipe, dict(release.read), None)
        (output.folder / "recipe.toml").write_text(recipe_text(whole, Path(address).name), "utf-8")
    masked = str(wishes.output / name) if wishes.to is None else wishes.to
    if release.details:
        terminal.say(f"{Path(address).name}: {_roles.told(release.details)}")
    terminal.say(f"{release!r}\nMasked: {masked}\nRecipe: {wishes.output / 'recipe.toml'}")
    terminal.result(
        {
            "masked": masked,
            "recipe": str(wishes.output / "recipe.toml"),
            "details": dict(release.details),
            "records": release.n_records,
            "groups": release.n_groups,
            "k": recipe.k,
            "k_reached": release.k_achieved,
            "information_loss_percent": release.information.percent,
        }
    )


def _arguments(recipe: RecipeFile, engine: str) -> dict[str, Any]:
    """Give what `protect_file` is told of the recipe, and refuse what it cannot do."""
    unused = ["[select]"] if recipe.table("select") else []
    unused += [f"{name!r}" for name, wanted in recipe.table("output").items() if wanted]
    if unused:
        raise InvalidParameter(f"{unused[0]} in the recipe does not go with --engine {engine}. Leave it out.")
    given = recipe.arguments()
    if given.pop("scale", "standard") != "standard" or given.pop("missing", "error") != "error":
        raise InvalidParameter("on disk, columns are standardised and missing values refused. Say so in the recipe.")
    blocks = given.pop("blocks", "auto")
    if blocks not in ("auto", "median"):
        raise InvalidParameter(
            f"by = {blocks!r} in [blocks] of the recipe does not go with --engine {engine}, which cuts blocks by "
            f"median. Write by = 'median', or leave [blocks] out."
        )
    if given.pop("per_column", False) or "unit" in given:
        raise InvalidParameter("on disk, whole records are grouped, without units. Say so in the recipe.")
    return given
