"""What a recipe says of single columns, brought together; and what was settled, as a recipe says it."""

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
from microagg.files.sources import Source
from microagg.recipe._by_column import Kinds, Missing
from microagg.recipe._recipe import Recipe


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
