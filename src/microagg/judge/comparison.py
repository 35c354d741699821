"""Releases of one file beside each other: their figures, by what they are ranked and drawn, and which is the best."""

import html
import math
from collections.abc import Iterable, Mapping
from dataclasses import field, fields
from typing import Any

from microagg.base.frozen import ReadOnly, frozen
from microagg.errors import InvalidParameter
from microagg.measures.analyses.analysis import Analysis
from microagg.measures.criterion import SCORE, Criterion, ranking_words
from microagg.measures.definitions import defined
from microagg.pictures.plots import cut_short, draw_map

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

    def check(self, figures: Iterable[str]) -> None:
        """Refuse to rank or draw by a measure that a release has no figure of, as of weights where it has none."""
        for parameter, one in (("rank", self.rank), ("map_axis", self.axis)):
            if one is not None and not one.is_score and one.name not in figures:
                raise InvalidParameter(
                    f"{parameter}={one.name!r} is a measure that cannot be computed for this file. Choose another.",
                    parameter=parameter,
                )


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


@frozen()
class Comparison:
    """Releases of one file by several methods, k, l and t.

    Attributes
    ----------
    candidates : tuple of Candidate
        In the order of methods, then of k, then of l and t.
    x : float
        The weight of the loss in the score.
    sampled : int or None
        How many records linkage was estimated on, where not all.
    standard_error : float
        The largest one of any `rld`; 0 where all records were linked.
    ranking : Ranking
        By what they are ranked (`rank`) and drawn (`axis`), and the k that the best one must reach (`least_k`).

    Examples
    --------
    >>> import microagg as ma
    >>> survey = ma.datasets.survey(300, seed=0).select(["age", "income", "tax"])
    >>> found = ma.compare(survey, ["mdav", "iamat"], [3, 5])
    >>> len(found.candidates), found.best.k
    (4, 5)
    """

    candidates: tuple[Candidate, ...]
    x: float
    sampled: int | None
    standard_error: float
    ranking: Ranking = field(default_factory=Ranking)

    @property
    def by(self) -> str:
        """The measure of loss that the score uses, and the map where no other is chosen."""
        return self.candidates[0].by

    @property
    def eligible(self) -> tuple[Candidate, ...]:
        """The candidates that can be the best, or efficient: those that reach the least k; all where none is set."""
        least = self.ranking.least_k or 0
        return tuple(one for one in self.candidates if least <= (one.k if one.k_reached is None else one.k_reached))

    @property
    def best(self) -> Candidate:
        """The best of those that reach the least k: with the lowest score, or by what they are ranked.

        The first of those that tie.
        """
        rank = self.ranking.rank
        if not self.eligible:
            raise InvalidParameter(
                f"no release reaches least_k={self.ranking.least_k}. Compare a larger k, or lower least_k.",
                parameter="least_k",
            )
        return min(self.eligible, key=lambda one: rank.loss(one.score if rank.is_score else one.figures[rank.name]))

    @property
    def frontier(self) -> tuple[Candidate, ...]:
        """The efficient candidates, by loss. No other has less loss without more risk, or the other way.

        Loss is what the map has on its axis. Candidates that do not reach the least k are not among them.
        """
        places = [(self.axis.loss(self.across(one)), one.g_dr, one) for one in self.eligible]
        efficient = [
            (loss, risk, one)
            for loss, risk, one in places
            if not any(x <= loss and y <= risk and (x < loss or y < risk) for x, y, _ in places)
        ]
        return tuple(one for _, _, one in sorted(efficient, key=lambda place: place[:2]))

    @property
    def axis(self) -> Criterion:
        """The loss that is on the map's axis."""
        return self.ranking.axis or Criterion(self.by, "%", title="information loss")

    def across(self, one: Candidate) -> float:
        """Return a candidate's figure on the map's axis."""
        return one.loss if self.ranking.axis is None else one.figures[self.ranking.axis.name]

    def as_dict(self) -> dict[str, list[Any]]:
        """Return the figures column by column, as any dataframe library takes them."""
        rows = [candidate.as_dict() for candidate in self.candidates]
        others = [name for name in rows[0].pop("figures") if name not in NAMED.values()]
        found = {name: [row[name] for row in rows] for name in rows[0]}
        more = {name: [one.figures.get(name) for one in self.candidates] for name in others if name not in found}
        return found | more

    @property
    def compared(self) -> tuple[Criterion, ...]:
        """What the table has a column of: measures of loss, then of risk, then what is ranked, drawn and declared."""
        usual = [Criterion.of(one) for one in (*defined("loss"), *defined("risk")) if one.compared]
        return tuple(
            one
            for one in dict.fromkeys((*usual, *self.ranking.criteria))
            if all(one.name in candidate.figures for candidate in self.candidates)
        )

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the risk–utility map: each method a line through its k, the efficient candidates ringed.

        Where more is better of what is on the axis, it falls to the right: the better ones are always on the left.

        Parameters
        ----------
        ax : Matplotlib axes, optional
            Where to draw; else on a new figure (`.figure.savefig(...)`).

        Returns
        -------
        Matplotlib axes
        """
        lines: dict[str, list[tuple[int, float, float]]] = {}
        for one in self.candidates:
            if math.isfinite(self.across(one)):
                lines.setdefault(one.line, []).append((one.k, self.across(one), one.g_dr))
        efficient = [(self.across(one), one.g_dr) for one in self.frontier if math.isfinite(self.across(one))]
        return draw_map(lines, efficient, ax, self.axis.label, falling=self.axis.higher)

    def __repr__(self) -> str:
        rows = [self._heads(), *self._cells()]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            row[0].ljust(widths[0])
            + "".join(f"  {cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True))
            for row in rows
        ]
        return "\n".join(line.rstrip() for line in [*lines, self._note()])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(name)}</th>" for name in self._heads())
        rows = "".join(
            "<tr>" + "".join(f"<td style='text-align:right'>{html.escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self._cells()
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table><p>{html.escape(self._note())}</p>"

    def _heads(self) -> tuple[str, ...]:
        figures = [f"{cut_short(one.name)} {one.unit}".rstrip() for one in self.compared]
        return ("method", "k", *(head for head, _ in self._demands), "groups", *figures, "score", "seconds", "")

    @property
    def _demands(self) -> list[tuple[str, list[str]]]:
        """What was demanded of confidential columns and reached, column by column; none where nothing was."""
        found = []
        for head in ("l", "t"):
            asked = [getattr(one, head) for one in self.candidates]
            reached = [getattr(one, f"{head}_reached") for one in self.candidates]
            if any(one is not None for one in asked):
                found.append((head, ["" if one is None else f"{one:g}" for one in asked]))
            if any(one is not None for one in reached):
                found.append((f"{head} reached", ["" if one is None else f"{one:.3g}" for one in reached]))
        ways = [one.way for one in self.candidates]
        return [*found, ("way", ways)] if any(ways) else found

    def _cells(self) -> list[tuple[str, ...]]:
        efficient, best, demands = self.frontier, self.best, self._demands
        return [
            (
                one.method,
                str(one.k),
                *(cells[place] for _, cells in demands),
                str(one.groups),
                *(measure.shown(one.figures[measure.name]) for measure in self.compared),
                f"{one.score:.2f}",
                f"{one.seconds:.2f}",
                ", ".join([self.ranking.rank.mark] * (one is best) + ["efficient"] * (one in efficient)),
            )
            for place, one in enumerate(self.candidates)
        ]

    @property
    def ranked(self) -> str:
        """By what they are ranked, where not by the score, and which of them cannot be the best."""
        below = len(self.candidates) - len(self.eligible)
        own = self.ranking
        return ranking_words(own.rank, own.axis, own.least_k, below, len(self.candidates))

    def _note(self) -> str:
        said = [f"score = {self.x:g} · {self.by} + {1 - self.x:g} · G_DR; lower is better.", self.ranked]
        if self.ranking.not_shown:
            said.append(f"Further analyses are figures of each candidate: {self.ranking.not_shown}.")
        if self.sampled is not None:
            error = f"standard error up to {self.standard_error:.2g}"
            said.append(f"RLD estimated on {self.sampled} records ({error}).")
        return " ".join(filter(None, said))
