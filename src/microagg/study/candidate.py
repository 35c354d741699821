"""Candidate: one of the releases that are compared, with its figures."""

from collections.abc import Mapping
from dataclasses import field, fields, replace
from typing import Any

from microagg.base.frozen import ReadOnly, frozen
from microagg.measures.score import scoring_index
from microagg.release import Release
from microagg.study.ranking import Ranking

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
