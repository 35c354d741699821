"""By what compared releases are ranked, from which k on they may be the best, and the figures of each."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from microagg.checks import nearest
from microagg.errors import InvalidParameter, setting
from microagg.judge.comparison import NAMED, Candidate, Ranking
from microagg.measures.criterion import FROM_UTILITY, PMSE, SCORE, Criterion, scoring_index
from microagg.measures.definitions import defined
from microagg.recipe import Recipe
from microagg.release import Release


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


def candidate_of(name: str, release: Release[Any], ranking: Ranking, seconds: float) -> Candidate:
    """Return a release's figures, those among them that the ranking asks for."""
    loss, risk = release.loss, release.risk
    figures = _wanted(release, ranking) | {one.name: one.value for one in (*loss.measures, *risk.measures)}
    ranking.check(figures)
    named: dict[str, Any] = {attribute: figures[measure] for attribute, measure in NAMED.items()}
    return Candidate(
        method=name,
        k=release.recipe.k,
        k_reached=release.k_achieved,
        groups=release.n_groups,
        **named,
        score=scoring_index(loss.overall[1], risk.g_dr, release.recipe.compare.x),
        by=loss.overall[0],
        seconds=seconds,
        sampled=risk.sampled,
        standard_error=risk.standard_error,
        figures=figures,
        **_demanded(release),
    )


def seen_by(one: Candidate, ranking: Ranking, x: float) -> Candidate | None:
    """A candidate as another ranking sees it, with the score at that weight of the loss; nothing is masked again.

    None where it has no figure of what is ranked or drawn.
    """
    if any(criterion.name not in one.figures for criterion in ranking.criteria):
        return None
    return replace(one, score=scoring_index(one.loss, one.g_dr, x))


def _wanted(release: Release[Any], ranking: Ranking) -> dict[str, float]:
    """Return the figures of a release that are computed only where they are asked for."""
    found: dict[str, float] = {}
    if ranking.analyses or any(one in FROM_UTILITY for one in ranking.criteria):
        judged = release.utility(ranking.analyses or None)
        found |= {one.name: one.value for one in (*judged.moved, *judged.measures)}
    if PMSE in ranking.criteria:
        found[PMSE.name] = release.pmse().value
    return found


def _demanded(release: Release[Any]) -> dict[str, Any]:
    """Return what a release keeps of confidential columns: what was asked and reached, and the way."""
    facts = release.diversity
    if facts is None:
        return {}
    by_l = [name for name, own in facts.limits.items() if own.l is not None]
    by_t = [name for name, own in facts.limits.items() if own.t is not None]
    return {
        "l": release.recipe.diversity.l,
        "t": release.recipe.diversity.t,
        "l_reached": min(facts.after[name].distinct for name in by_l or facts.after),
        "t_reached": max(facts.after[name].t for name in by_t or facts.after),
        "way": facts.way,
    }
