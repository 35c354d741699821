"""Several releases of one file, one after the other as they come."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from microagg.jobs.opening import Opened
from microagg.judge.comparison import Candidate, Ranking
from microagg.recipe import Compare, Recipe
from microagg.release import Release
from microagg.study.candidate import ranking_of
from microagg.study.comparison import compare_each
from microagg.study.comparison import comparison_of as comparison_of
from microagg.study.variants import KS_COMPARED, recipes_to_compare
from microagg.work import Progress


def each_candidate(
    opened: Opened,
    recipes: Sequence[tuple[str, Recipe]],
    progress: Progress | None = None,
    masked: Callable[[Release[Any], float], None] | None = None,
) -> Iterator[tuple[Candidate, Release[Any]]]:
    """A release and its figures for each recipe, named by its method; `masked` gets it before risk is measured."""
    return compare_each(opened.source, recipes, progress=progress, masked=masked)


def lowest_k(asked: Compare) -> int:
    """Return the lowest k that is compared: that of a file of which nothing is said but what to compare."""
    return min(asked.ks or KS_COMPARED)


def variants(recipe: Recipe) -> list[tuple[str, Recipe]]:
    """Return the recipes to compare on a file, named by their method: what [compare] of a recipe says."""
    return recipes_to_compare(None, None, recipe, {})


def ranking_by(recipe: Recipe) -> Ranking:
    """Return how releases are ranked and drawn, as [compare] of a recipe says."""
    return ranking_of([("", recipe)])


def not_used(recipe: Recipe, methods: Sequence[str]) -> list[str]:
    """Say which choices of a recipe have no part in a comparison of these methods."""
    name, options, said = recipe.method.name, recipe.method.options, recipe.diversity
    levels = (("l", said.l, recipe.compare.ls), ("t", said.t, recipe.compare.ts))
    found = [
        f"{one} = {value:g}; several levels of it are compared" for one, value, listed in levels if value and listed
    ]
    if recipe.compare.least_k is None and recipe.k > max(recipe.compare.ks or KS_COMPARED):
        found.append(f"k = {recipe.k}, which is above every k that is compared; any of these can be the best")
    if name in methods:
        return found
    with_options = f" and its {', '.join(options)}" if options else ""
    return [*found, f"the method {name}{with_options}, which is not among those compared"]
