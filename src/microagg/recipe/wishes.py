"""What a recipe says of single columns, brought together; and what was settled, as a recipe says it."""

from collections.abc import Mapping, Sequence
from typing import Any

from microagg.io.coding import Asked, Coder
from microagg.io.taxonomies import read_taxonomy
from microagg.kinds import Semi
from microagg.recipe._parts import Kinds
from microagg.recipe._recipe import Recipe


def asked_of(recipe: Recipe, names: Sequence[Any], labelled: Mapping[Any, Any]) -> dict[Any, Asked]:
    """Give what a recipe says of each column to mask; `labelled` has those whose numbers a file has labels for."""
    found = {}
    for name in names:
        kin = recipe.taxonomy.taxonomy.get(name)
        found[name] = Asked(
            kind=recipe.kinds.kinds.get(name),
            codes=recipe.missing_codes.codes.get(name, ()),
            kin=read_taxonomy(kin, name) if isinstance(kin, str) else kin,
            importance=recipe.importance.importance.get(name, 1.0),
            labelled=bool(labelled.get(name)),
        )
    return found


def settled_kinds(recipe: Recipe, coders: Mapping[Any, Coder]) -> Kinds:
    """Give the kinds as they were settled: a spike that was found is named."""
    kinds = dict(recipe.kinds.kinds)
    for name, coder in coders.items():
        if isinstance(coder.kind, Semi):
            spike = coder.kind.spike
            kinds[name] = {"spike": int(spike) if spike.is_integer() else spike}
    return Kinds(kinds)
