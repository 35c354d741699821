"""Masking beyond memory: on disk, or on a cluster."""

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from microagg.cli._terminal import Terminal
from microagg.errors import InvalidParameter
from microagg.recipe_file import RecipeFile, read_recipe
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


def mask_large(terminal: Terminal, address: str, wishes: "Wishes", recipe: RecipeFile) -> None:
    """Mask a Parquet or CSV file on disk or on a cluster."""
    recipe = recipe if wishes.k is None else replace(recipe, k=wishes.k)
    unused = [name for name in ("select", "read", "risk", "refine") if recipe.table(name)]
    unused += [name for name, wanted in recipe.table("output").items() if wanted]
    if unused:
        raise InvalidParameter(f"{unused[0]!r} in the recipe does not go with --engine {wishes.engine}. Leave it out.")
    given: dict[str, Any] = recipe.arguments()
    if given.pop("scale", "standard") != "standard" or given.pop("missing", "error") != "error":
        raise InvalidParameter("on disk, columns are standardised and missing values refused. Say so in the recipe.")
    if given.pop("blocks", "auto") not in ("auto", "median") or given.pop("per_column", False) or "unit" in given:
        raise InvalidParameter(
            "on disk, blocks are cut by median, for whole records, without units. Say so in the recipe."
        )
    target = wishes.to if wishes.to is not None else str(wishes.output)
    logging.getLogger("microagg").setLevel(logging.INFO)
    with terminal.bar("masking") as tell:
        engine = "local" if wishes.engine == "disk" else "dask"
        release = protect_file(
            address,
            target,
            engine=engine,
            scheduler=wishes.scheduler,
            overwrite=wishes.force,
            progress=tell,
            **given,
        )
    terminal.say(f"{release!r}\nMasked: {target}")
    terminal.result(
        {
            "masked": target,
            "records": release.n_records,
            "groups": release.n_groups,
            "k": recipe.k,
            "k_reached": release.k_achieved,
            "information_loss_percent": release.information.percent,
        }
    )
