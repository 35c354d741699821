"""Ranking: by what compared releases are ranked and drawn, and from which k on they may be the best."""

from collections.abc import Iterable, Sequence
from typing import Any

from microagg.base.frozen import frozen
from microagg.checks import nearest
from microagg.errors import InvalidParameter, setting
from microagg.measures.analyses.analysis import Analysis
from microagg.measures.criterion import FROM_UTILITY, PMSE, SCORE, Criterion
from microagg.measures.definitions import defined
from microagg.recipe import Recipe
from microagg.release import Release

MOST_ANALYSES = 4
"""So many declared analyses have a column in the table; all are figures of each candidate."""


@frozen()
class Ranking:
    """By what compared releases are ranked and drawn, and from which k on they may be the best.

    Attributes
    ----------
    rank : Criterion
        By which the best one is found.
    axis : Criterion or None
        The loss by which releases are efficient, and on the map's axis; None: the one that the score uses.
    least_k : int or None
        Only a release that reaches this k can be the best, or efficient.
    analyses : tuple of Analysis
        Those that are declared: each candidate has a figure of them.
    """

    rank: Criterion = SCORE
    axis: Criterion | None = None
    least_k: int | None = None
    analyses: tuple[Analysis, ...] = ()

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """What the table has a column of beside the usual measures: rank, axis, and the first declared analyses."""
        wanted = (self.rank, self.axis, *self._declared[:MOST_ANALYSES])
        return tuple(dict.fromkeys(one for one in wanted if one is not None and not one.is_score))

    @property
    def not_shown(self) -> int:
        """How many declared analyses have no column in the table."""
        return len({*self._declared} - {*self.criteria})

    @property
    def _declared(self) -> list[Criterion]:
        return list(dict.fromkeys(Criterion.of_analysis(one.name) for one in self.analyses))

    def figures(self, release: Release[Any]) -> dict[str, float]:
        """Return the figures of a release that are computed only where they are asked for."""
        found: dict[str, float] = {}
        if self.analyses or any(one in FROM_UTILITY for one in self.criteria):
            judged = release.utility(self.analyses or None)
            found |= {one.name: one.value for one in (*judged.moved, *judged.measures)}
        if PMSE in self.criteria:
            found[PMSE.name] = release.pmse().value
        return found

    def check(self, figures: Iterable[str]) -> None:
        """Refuse to rank or draw by a measure that a release has no figure of, as of weights where it has none."""
        for parameter, one in (("rank", self.rank), ("map_axis", self.axis)):
            if one is not None and not one.is_score and one.name not in figures:
                raise InvalidParameter(
                    f"{parameter}={one.name!r} is a measure that cannot be computed for this file. Choose another.",
                    parameter=parameter,
                )


def known_criteria(recipe: Recipe) -> tuple[list[Criterion], list[Criterion]]:
    """Return what can be ranked by, and what can be on the map's axis: some need more of a file than it may have."""
    losses = [*_measures(), *_declared(recipe)]
    return [*_risks()[::-1], *losses], losses


def _measures() -> list[Criterion]:
    return [*map(Criterion.of, defined("loss")), *FROM_UTILITY, PMSE]


def _risks() -> list[Criterion]:
    return [*map(Criterion.of, defined("risk")), SCORE]


def _declared(recipe: Recipe) -> list[Criterion]:
    return [Criterion.of_analysis(one.name) for one in recipe.analyses.analyses]


def ranking_of(recipes: Sequence[tuple[str, Recipe]]) -> Ranking:
    """Return how the releases of some recipes are ranked, as the first of these says, or say what is unknown."""
    recipe = recipes[0][1]
    analyses = recipe.analyses.analyses
    with recipe.blamed():
        measures, risks = _measures(), _risks()
        for one in analyses:
            if any(one.name == other.name for other in (*measures, *risks)):
                raise InvalidParameter(
                    f"an analysis is called {one.name!r}, which is the name of a measure. Give it another name.",
                    parameter="analyses",
                )
        measures += _declared(recipe)
        rank, axis = recipe.compare.rank, recipe.compare.map_axis
        return Ranking(
            rank=_known("rank", rank, (*measures, *risks)),
            axis=None if axis is None else _known("map_axis", axis, measures),
            least_k=recipe.compare.least_k,
            analyses=analyses,
        )


def _known(parameter: str, name: str, known: Sequence[Criterion]) -> Criterion:
    """Find a criterion by its name, or say which there are."""
    found = next((one for one in known if one.name == name), None)
    if found is not None:
        return found
    names = [one.name for one in known]
    what = "a measure of loss" if parameter == "map_axis" else "a measure"
    hint = nearest(name, names) or f" It can be {', '.join(map(repr, names))}."
    raise InvalidParameter(
        f"{parameter}={name!r} is not {what}, nor the name of a declared analysis.{hint} An analysis is declared by "
        f"{setting('analyses')}.",
        parameter=parameter,
    )


def with_floor(recipes: Sequence[tuple[str, Recipe]], usual: int | None) -> list[tuple[str, Recipe]]:
    """Settle from which k on a release may be the best: as was said, or the `usual` k where one that is compared is.

    A floor that no k is below says nothing, unless somebody asked for it.
    """
    first, ks = recipes[0][1], [recipe.k for _, recipe in recipes]
    least = first.compare.least_k
    if least is None:
        if usual is None or not min(ks) < usual <= max(ks):
            return list(recipes)
        least = usual
    if least > max(ks):
        with first.blamed():
            raise InvalidParameter(
                f"least_k={least} is above every k that is compared, and the largest of these is {max(ks)}: none "
                f"could be the best. Compare a larger k, or lower least_k: {setting('least_k', max(ks))}.",
                parameter="least_k",
            )
    return [(name, recipe.replace(least_k=least)) for name, recipe in recipes]
