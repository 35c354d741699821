"""Candidate: one of the releases that are compared, with its figures; and by what they are ranked and drawn."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, fields, replace
from typing import Any

from microagg.base.frozen import ReadOnly, frozen
from microagg.checks import nearest
from microagg.errors import InvalidParameter, setting
from microagg.measures.analyses.analysis import Analysis
from microagg.measures.criterion import FROM_UTILITY, PMSE, SCORE, Criterion, scoring_index
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


NAMED = {
    "il": "IL",
    "il1s": "IL1s",
    "g_il": "G_IL",
    "rld": "RLD",
    "right_group": "right group",
    "interval": "ID",
    "g_dr": "G_DR",
}
"""The measures that are attributes of a candidate as well."""


@frozen()
class Candidate(ReadOnly):
    """One release and its figures; those that are attributes are better if lower, except for k and groups.

    Attributes
    ----------
    method : str
    k : int
    groups : int
    il, il1s, g_il : float
        Losses (see `LossMeasures`).
    rld, right_group, interval, g_dr : float
        Risks, in percent (see `DisclosureRisk`).
    score : float
        The scoring index.
    seconds : float
        Time of `protect`, without what compiling took.
    sampled : int or None
        How many records linkage was estimated on, where not all.
    standard_error : float
        Of `rld`; 0 where all records were linked.
    figures : mapping
        Every measure of loss and of risk by its name (see `LossMeasures.measures`), those above among them. Where
        analyses are declared or ranked by, also how far each of them moved (see `Judged.moved`), and how many estimates
        are within their intervals (see `Utility.measures`); pMSE where that is asked for.
    by : str
        The measure of loss that the score uses: G_IL, or IL where not all masked columns are numbers.
    k_reached : int or None
        The k that the release has, which may be more than was asked for.
    l, t : int or None, float or None
        What was demanded of confidential columns.
    l_reached, t_reached : int or None, float or None
        The fewest different values, and the greatest distance from the whole file, of any column of which that, or
        else anything, was demanded; None where nothing was.
    way : str
        How groups came to keep it; empty where nothing was demanded.

    Examples
    --------
    >>> import microagg as ma
    >>> survey = ma.datasets.survey(300, seed=0).select(["age", "income", "tax"])
    >>> one = ma.compare(survey, "mdav", 5).candidates[0]
    >>> one.method, one.k, one.groups
    ('mdav', 5, 60)
    """

    method: str
    k: int
    groups: int
    il: float
    il1s: float
    g_il: float
    rld: float
    right_group: float
    interval: float
    g_dr: float
    score: float
    seconds: float
    sampled: int | None = None
    standard_error: float = 0.0
    figures: Mapping[str, float] = field(default_factory=dict, repr=False, compare=False)
    by: str = "G_IL"
    k_reached: int | None = None
    l: int | None = None  # noqa: E741 (its name in the literature)
    t: float | None = None
    l_reached: int | None = None
    t_reached: float | None = None
    way: str = ""

    @property
    def line(self) -> str:
        """What it has in common with others that differ in k: the method, and l and t where those are demanded."""
        said = [f"{name}={value:g}" for name, value in (("l", self.l), ("t", self.t)) if value is not None]
        return " ".join([self.method, *said])

    @property
    def loss(self) -> float:
        """The figure of loss that the score uses, and the map where no other is chosen."""
        return self.g_il if self.by == "G_IL" else self.il

    def as_dict(self) -> dict[str, Any]:
        """Return everything that is known of the candidate as plain values."""
        return {one.name: getattr(self, one.name) for one in fields(self)} | {"figures": dict(self.figures)}


def candidate_of(name: str, release: Release[Any], ranking: Ranking, seconds: float) -> Candidate:
    """Return a release's figures, those among them that the ranking asks for."""
    loss, risk = release.loss, release.risk
    figures = ranking.figures(release) | {one.name: one.value for one in (*loss.measures, *risk.measures)}
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
