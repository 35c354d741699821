"""Opening a file: by a recipe, or with a guess of what each column is."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from microagg.errors import InvalidData
from microagg.io.sources import Source, read_source
from microagg.recipe import Comments, Recipe, choices
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


def open_file(address: str, recipe: Recipe | None = None, *, k: int | None = None, **chosen: Any) -> Opened:
    """Read a file and see that a recipe fits it, or guess one; see `read_file` and `open_source`."""
    return open_source(address, read_file(address, recipe, **chosen), recipe, k=k, **chosen)


def read_file(address: str, recipe: Recipe | None = None, **chosen: Any) -> Source:
    """Read a file as a recipe says it is written; choices of reading that are passed have the last word."""
    asked = _changed(Recipe(DEFAULT_K) if recipe is None else recipe, chosen, "read")
    with asked.blamed():
        return read_source(address, **asked.reading.said)


def open_source(
    address: str, source: Source, recipe: Recipe | None = None, *, k: int | None = None, **chosen: Any
) -> Opened:
    """See that a recipe fits a file, or guess the roles of its columns.

    Parameters
    ----------
    address : str
    source : Source
        What is there.
    recipe : Recipe, optional
        Without one, and without `quasi` among the choices, roles are guessed: of the columns that nothing is said of.
    k : int, optional
        It goes before the recipe's; 5 without either.
    **chosen
        Choices that go before the recipe's, as `protect` takes them.
    """
    changes = chosen if k is None else {**chosen, "k": k}
    if recipe is not None or "quasi" in chosen:
        asked = (Recipe(DEFAULT_K) if recipe is None else recipe).replace(**changes)
        asked.check_columns(source.table.column_names)
        return Opened(address, source, asked)
    asked = Recipe(DEFAULT_K).replace(**changes)
    labels = source.labels
    inspection = inspect_table(
        source.typed(), asked.k, labels.values if labels else None, labels.measures if labels else None
    )
    found = guessed(inspection, asked, keep_missing="missing" in chosen)
    found.check_columns(source.table.column_names)
    return Opened(address, source, found, inspection)


def _changed(recipe: Recipe, chosen: Mapping[str, Any], *tables: str) -> Recipe:
    known = choices(*tables)
    return recipe.replace(**{name: value for name, value in chosen.items() if name in known})


def guessed(inspection: Inspection, asked: Recipe, *, keep_missing: bool = False) -> Recipe:
    """Give a recipe with guessed roles, the reason of each beside it; what was asked for stays."""
    said = {name for _, name in asked.roles.named}
    roles: dict[str, Any] = {}
    reasons: dict[tuple[str, ...], str] = {}
    for role, named in inspection.roles.items():
        alone = isinstance(named, str)
        names = [name for name in ([named] if alone else named) if name not in said]
        if not names or (alone and getattr(asked.roles, role) is not None):
            continue
        roles[role] = names[0] if alone else [*asked.roles.of(role), *names]
        for name in names:
            reasons[("roles", role) if alone else ("roles", role, name)] = inspection.reasons[name]
    if not roles.get(Role.QUASI.value):
        raise InvalidData(
            "no column is left to mask: each is an identifier, empty or left out. Check how the file was read, or name "
            "columns in quasi."
        )
    if not keep_missing:
        roles["missing"] = "drop" if inspection.incomplete else "error"
    return asked.replace(**roles).commented(Comments(beside=reasons))


def guessed_values(inspection: Inspection, asked: Recipe) -> dict[str, Any]:
    """Give what was guessed of the values of columns that nothing was said of, in the words of a recipe.

    `kinds` maps columns to a kind, or to ``{"spike": value}``; `missing_codes` maps them to lists of values.
    """
    said = {name for _, name in asked.roles.named}
    found: dict[str, Any] = {}
    for choice in ("kinds", "missing_codes"):
        of_columns = {name: value for name, value in getattr(inspection, choice).items() if name not in said}
        if of_columns:
            found[choice] = of_columns
    return found
