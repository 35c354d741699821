"""Opening a file: by a recipe, or with a guess of what each column is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from microagg.errors import InvalidData
from microagg.io.sources import Source, read_source
from microagg.recipe import Comments, Recipe
from microagg.schema import Role
from microagg.study.inspection import Inspection, inspect_table

DEFAULT_K = 5


@dataclass(frozen=True)
class Opened:
    """A file that was read, and the recipe to mask it by.

    Attributes
    ----------
    address : str
        Where it is.
    source : Source
    recipe : Recipe
        The one that was given, or one of guesses.
    inspection : Inspection or None
        The guesses, where the recipe is made of them.
    """

    address: str
    source: Source
    recipe: Recipe
    inspection: Inspection | None = None


def open_file(
    address: str,
    recipe: Recipe | None = None,
    *,
    k: int | None = None,
    reading: Mapping[str, Any] | None = None,
    on_read: Callable[[Source], None] | None = None,
) -> Opened:
    """Read a file and see that a recipe fits it, or guess one.

    Parameters
    ----------
    address : str
        Of a file, or of a table in a database.
    recipe : Recipe, optional
        Without one the roles of the columns are guessed.
    k : int, optional
        For the guess: what may be a stratum depends on it.
    reading : mapping, optional
        How a text file is written, where that is known; it has the last word over the recipe.
    on_read : callable, optional
        Called with the source once it is read, before it is looked at.
    """
    given = dict(reading or {})
    if recipe is not None:
        recipe = recipe.replace(**given)
        with recipe.blamed():
            source = read_source(address, **recipe.reading.said)
        if on_read is not None:
            on_read(source)
        recipe.check_columns(source.table.column_names)
        return Opened(address, source, recipe)
    blank = Recipe(DEFAULT_K if k is None else k).replace(**given)
    source = read_source(address, **blank.reading.said)
    if on_read is not None:
        on_read(source)
    inspection = inspect_table(source.typed(), blank.k, source.labels.values if source.labels else None)
    return Opened(address, source, guessed(inspection, blank), inspection)


def guessed(inspection: Inspection, recipe: Recipe) -> Recipe:
    """Give a recipe with guessed roles, the reason of each beside it."""
    if not inspection.roles.get(Role.QUASI.value):
        raise InvalidData(
            "no column of numbers is left to mask. Check how the file was read, or encode categories as numbers."
        )
    reasons: dict[tuple[str, ...], str] = {}
    for role, named in inspection.roles.items():
        alone = isinstance(named, str)
        for name in [named] if alone else named:
            reasons[("roles", role) if alone else ("roles", role, name)] = inspection.reasons[name]
    made = recipe.replace(**inspection.roles, missing="drop" if inspection.incomplete else "error")
    return made.commented(Comments(beside=reasons))
