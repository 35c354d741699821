"""Which columns of a file depend on which, and a few that represent all."""

from collections.abc import Mapping
from typing import Any

from microagg.algorithms.dependence import Dependence
from microagg.algorithms.methods import BY_TREE
from microagg.algorithms.selection import Selection, select_columns
from microagg.base.frozen import frozen
from microagg.errors import InvalidData, InvalidParameter, setting
from microagg.jobs.opening import Opened
from microagg.pipeline import selection_of
from microagg.recipe import Recipe
from microagg.work import Progress


@frozen()
class ColumnTree:
    """The dependence tree of the columns to mask, and the columns that form groups.

    Attributes
    ----------
    names : list of str
    dependence : Dependence
    chosen : Selection
        As the recipe chooses them.
    covering : Selection
        The fewest columns whose edges add up to the number of columns.
    """

    names: list[str]
    dependence: Dependence
    chosen: Selection
    covering: Selection


def by_a_tree(recipe: Recipe | None, chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Return choices with EMAD's way to select, unless they or a recipe select columns by a tree already."""
    if not isinstance(chosen.get("select", ""), str):
        raise InvalidParameter(
            f"the tree chooses columns itself. Choose {setting('select', 'emad')} or {setting('select', 'ama')}, or "
            "leave it out.",
            parameter="select",
        )
    former = Recipe(2) if recipe is None else recipe
    by_method = {chosen.get("method", former.method.name), former.select.by} & BY_TREE.keys()
    return {**({} if by_method else {"select": "emad"}), **chosen}


def column_tree(opened: Opened, progress: Progress | None = None) -> ColumnTree:
    """Span the tree of the columns to mask, and choose those that form groups as the recipe says."""
    masked = opened.recipe.masked(opened.source.table.column_names)
    if len(masked) < 2:
        raise InvalidData(f"a tree needs two columns; {len(masked)} is to be masked. Name more in a recipe.")
    chosen = selection_of(opened.source, opened.recipe, progress)
    names = list(chosen.degrees)  # in the order of the file, in which ties are broken
    assert chosen.tree is not None
    return ColumnTree(names, chosen.tree, chosen, select_columns(names, chosen.tree, "cover"))
