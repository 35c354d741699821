"""A recipe that joins a file of households to one of persons: what it needs, and what follows for other choices."""

from typing import Any

from microagg.errors import InvalidParameter, setting
from microagg.files.databases import without_credentials
from microagg.files.joining import Joined
from microagg.recipe._parts import Join
from microagg.recipe._recipe import Recipe
from microagg.recipe.combine import Combination, refuse


def key_of(recipe: Recipe) -> Any:
    """Return the column that files are joined by, where the recipe says it; refuse one that is not the unit."""
    refuse("key", Combination(recipe=recipe))
    return recipe.roles.unit if recipe.join.on is None else recipe.join.on


def check_join(recipe: Recipe) -> None:
    """Refuse, before any work, to join files in a recipe that does not release households by pseudonyms."""
    key_of(recipe)
    refuse("join", Combination(recipe=recipe))


def with_join(recipe: Recipe, joined: Joined | None) -> Recipe:
    """Return a recipe with what follows from files that were joined: the unit, and the columns of households.

    Raises
    ------
    InvalidParameter
        If the recipe joins files and these were not joined, or the other way does not release pseudonyms.
    """
    if joined is None:
        if recipe.join.households is None:
            return recipe
        raise InvalidParameter(
            f"the recipe joins a file of households ({setting('households')}), and only one table is passed. Read both "
            f"files with microagg.read(path, recipe=recipe), and pass what it returns.",
            parameter="households",
        )
    address = recipe.join.households or str(joined.households.address)
    asked = recipe.replace(join=Join(without_credentials(address), recipe.join.on or joined.on))
    check_join(asked)
    if key_of(asked) != joined.on:
        raise InvalidParameter(
            f"the files were joined by {joined.on!r}, and the recipe joins them by {key_of(asked)!r}. Read them again "
            f"with this recipe.",
            parameter="on",
        )
    asked = asked.replace(unit=joined.on)
    masked = asked.masked(joined.names)
    own = [name for name in joined.of_households if name in masked]
    return asked.replace(household=list(dict.fromkeys([*asked.units.household, *own])))
