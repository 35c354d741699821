"""A recipe and its data: what follows from files that were joined, what is said of single columns, what was settled."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from microagg.columns.coders import Coder
from microagg.columns.finders import ColumnChoices
from microagg.columns.kinds import Semi
from microagg.columns.kinds.taxonomy import read_taxonomy
from microagg.columns.labels import Labels
from microagg.columns.recoding import Recoding
from microagg.columns.rounding import power_asked
from microagg.errors import InvalidParameter, setting
from microagg.files.databases import without_credentials
from microagg.files.joining import Joined
from microagg.files.sources import Source
from microagg.recipe._columns import Kinds, Missing
from microagg.recipe._parts import Join
from microagg.recipe._recipe import Recipe
from microagg.recipe.combine import Combination, refuse


def with_declared_codes(recipe: Recipe, source: Source, names: Sequence[Any]) -> Recipe:
    """Return a recipe with the values that the file declares missing, of those of the columns that it has no codes of.

    A column that becomes text has none: the file declares numbers.
    """
    said = recipe.missing_codes.codes
    others = [*said, *Recoding.of(recipe.recode.recode).text]
    found = source.declared_missing([name for name in names if name not in others])
    return replace(recipe, missing_codes=Missing({**found, **said})) if found else recipe


def asked_of(recipe: Recipe, names: Sequence[Any], labels: Labels | None = None) -> dict[Any, ColumnChoices]:
    """Return what a recipe says of each column to mask, and what the file says of its values."""
    found = {}
    for name in names:
        kin = recipe.taxonomy.taxonomy.get(name)
        codes = recipe.missing_codes.codes.get(name, ())
        found[name] = ColumnChoices(
            kind=recipe.kinds.kinds.get(name),
            power=power_asked(name, recipe.masking.rounding),
            codes=codes,
            kin=read_taxonomy(kin, name) if isinstance(kin, str) else kin,
            importance=recipe.importance.importance.get(name, 1.0),
            labels=labels.values.get(name, {}) if labels else {},
            reserved=labels.reserved(name) if labels and codes else (),
        )
    return found


def settled_kinds(recipe: Recipe, coders: Mapping[Any, Coder]) -> Kinds:
    """Return the kinds as they were settled: a spike that was found is named."""
    kinds = dict(recipe.kinds.kinds)
    for name, coder in coders.items():
        if isinstance(coder.kind, Semi):
            spike = coder.kind.spike
            kinds[name] = {"spike": int(spike) if spike.is_integer() else spike}
    return Kinds(kinds)


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
