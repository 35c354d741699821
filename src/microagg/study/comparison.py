"""Several releases of one file compared: which is better overall."""

import html
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field, replace
from typing import Any

from narwhals.typing import IntoDataFrame

from microagg.algorithms.kernels._jit import compiling_seconds
from microagg.base.frozen import frozen
from microagg.checks import check_jobs
from microagg.errors import InvalidParameter
from microagg.files.sources import Source
from microagg.measures.criterion import Criterion, ranking_words
from microagg.measures.definitions import defined
from microagg.pictures.plots import cut_short, draw_map
from microagg.pipeline import protect
from microagg.recipe import OF_PROTECT, Recipe
from microagg.recipe._tables import takes
from microagg.release import Release
from microagg.study.candidate import NAMED, Candidate, Ranking, candidate_of, ranking_of
from microagg.study.variants import recipes_to_compare
from microagg.work import Progress, part, tell

_SHARES = 1000  # of one release in the progress of all


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


@takes(*OF_PROTECT)
def compare(
    frame: IntoDataFrame | Source,
    methods: Any = None,
    ks: Iterable[int] | int | None = None,
    *,
    ls: Iterable[int] | int | None = None,
    ts: Iterable[float] | float | None = None,
    recipe: Recipe | None = None,
    keys: Iterable[Any] | None = None,
    x: float | None = None,
    rank: str | None = None,
    map_axis: str | None = None,
    least_k: int | None = None,
    sample: int | None = None,
    sample_seed: int | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    **choices: Any,
) -> Comparison:
    """Mask a file by several methods, k, l and t, and judge the loss and the risk of each release.

    Parameters
    ----------
    frame : dataframe
    methods : list of str or estimators, or mapping
        As `protect` takes them; a mapping gives each a name of yours. In a mapping, a method may be a `Recipe`, or
        keywords of `protect`, such as {"method": "mdav", "refine": "fast"}. By default what the recipe's [compare]
        says, or "mdav", "cbfs", "vmdav" and "iamat".
    ks : list of int
        One that is repeated counts once. By default what the recipe's [compare] says, or 3, 5 and 10; recipes in a
        mapping keep their own.
    ls, ts : list of numbers, optional
        The levels of l and of t to compare, each with every other; 1 demands nothing. By default what the recipe's
        [compare] says, or those of `l` and `t` alone.
    recipe : Recipe, optional
        What all have in common; keywords change single choices.
    keys : list of names, optional
        The masked columns an intruder knows; by default all.
    x : float
        The weight of the loss in the score, from 0 to 1; one half by default.
    rank : str
        By what the best release is found: "score", by default; a measure of loss or risk, such as "IL"; "within",
        "overlap" or "changed", of the results of analyses; "pMSE"; or the name of a declared analysis.
    map_axis : str
        The loss by which releases are efficient, and on the axis of the map: as `rank`, but for score and risks. By
        default the loss that the score uses.
    least_k : int
        Only releases that reach this k can be the best, or efficient. By default the recipe's k where one is passed and
        some k that is compared has it; else all can be.
    sample : int, optional
        How many records to estimate linkage on; by default as many as `Release.risk_for` takes.
    sample_seed : int
        The seed of the sample.
    n_jobs : int, optional
        Threads; by default one a core.
    progress : callable, optional
        Called as progress(done, in all), often; what it raises stops the work.
    {choices}
    **options
        The methods' own options, for all of them.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import microagg as ma
    >>> survey = ma.datasets.survey(300, seed=0).select(["age", "income", "tax"])
    >>> [one.method for one in ma.compare(survey, ["mdav", "cbfs"], [3]).candidates]
    ['mdav', 'cbfs']
    """
    judged = {"keys": keys, "x": x, "rank": rank, "map_axis": map_axis, "least_k": least_k}
    judged |= {"sample": sample, "sample_seed": sample_seed}
    judged = {name: value for name, value in judged.items() if value is not None}
    recipes = recipes_to_compare(methods, ks, recipe, {**choices, **judged}, ls=ls, ts=ts)
    return comparison_of([one for one, _ in compare_each(frame, recipes, n_jobs=n_jobs, progress=progress)], recipes)


def compare_each(
    frame: IntoDataFrame | Source,
    recipes: Sequence[tuple[str, Recipe]],
    *,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    masked: Callable[[Release[Any], float], None] | None = None,
) -> Iterator[tuple[Candidate, Release[Any]]]:
    """Yield each release as it is made, with its figures; `recipes` are named by their method.

    `progress` is called from within every step; what it raises stops the work. `masked` is called with each release and
    the seconds it took, before its risk is measured.
    """
    threads = check_jobs(n_jobs)
    ranking = ranking_of(recipes)  # refused before any work
    in_all = _SHARES * len(recipes)
    for number, (name, recipe) in enumerate(recipes):
        grouped = _SHARES * number + _SHARES // 2
        began, compiled = time.perf_counter(), compiling_seconds()
        if number:  # the first has compared the file with that of the recipe
            recipe = replace(recipe, profile=None)
        release = protect(
            frame, recipe=recipe, n_jobs=threads, progress=part(progress, _SHARES * number, grouped, in_all)
        )
        # What compiling took is not the method's: it is paid once a machine.
        seconds = max(0.0, time.perf_counter() - began - (compiling_seconds() - compiled))
        if masked is not None:
            masked(release, seconds)
        with recipe.blamed():
            release = release.judged(n_jobs=threads, progress=part(progress, grouped, grouped + _SHARES // 2, in_all))
            found = candidate_of(name, release, ranking, seconds)
        yield found, release
        tell(progress, _SHARES * (number + 1), in_all)


def comparison_of(candidates: Sequence[Candidate], recipes: Sequence[tuple[str, Recipe]]) -> Comparison:
    """Return a comparison of the candidates of some recipes."""
    error = max(one.standard_error for one in candidates)
    x, sampled = recipes[0][1].compare.x, candidates[0].sampled
    return Comparison(tuple(candidates), x, sampled, error, ranking_of(recipes))
