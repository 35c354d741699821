"""A recipe for everybody who uses a release: how it was masked, and nothing of what was not released."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from microagg.files.files import whole_file
from microagg.recipe._by_column import Importance, Kinds
from microagg.recipe._file import text_of
from microagg.recipe._promised import UnitChoices
from microagg.recipe._recipe import Recipe
from microagg.recipe._tables import OF_PROTECT

TITLE = (
    "How this file was masked, for everybody who uses it.",
    "Left out: columns that are not released, original values, the seed of what was drawn, and the reasons for each",
    "choice. So you cannot make the masked file again with it.",
)
_TABLES = [table for table in OF_PROTECT if table not in ("recode", "missing", "taxonomy", "relation", "analysis")]


def public_recipe(recipe: Recipe) -> Recipe:
    """Return what of a recipe may be published with its release.

    Names of columns stay if these are released. Recoding, levels, taxonomies, codes for missing values and relations
    name values, some of which are rare; reading, joining and judging are about the original. A seed of what was drawn
    is a secret; that of refining is not, since it discloses nothing of the values.
    """
    roles, whole = recipe.roles, recipe.units.release == "pseudonym"
    masked, rounding = roles.quasi or (), recipe.masking.rounding
    if isinstance(rounding, Mapping):
        rounding = {name: step for name, step in rounding.items() if name in masked} or "auto"
    kinds = {name: kind for name, kind in recipe.kinds.kinds.items() if name in masked and isinstance(kind, str)}
    weights = {name: weight for name, weight in recipe.importance.importance.items() if name in masked}
    return Recipe(
        recipe.k,
        roles=replace(roles, identifiers=(), drop=(), unit=roles.unit if whole else None, rest=None),
        kinds=Kinds(kinds),
        importance=Importance(weights),
        units=UnitChoices(release=recipe.units.release),
        diversity=recipe.diversity,
        method=recipe.method,
        masking=replace(recipe.masking, nominal_seed=None, rounding=rounding),
        weights=recipe.weights,
        select=recipe.select,
        blocks=recipe.blocks,
        refine=recipe.refine,
    )


def write_public(recipe: Recipe, path: Path, made_for: str | None) -> Path:
    """Write what of a recipe may be published to a new file, whole or not at all."""
    with whole_file(path) as file:
        file.write_text(
            text_of(public_recipe(recipe), made_for, TITLE, _TABLES, of_units=recipe.roles.unit is not None),
            "utf-8",
            newline="\n",
        )
    return path
