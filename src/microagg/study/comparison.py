"""Many releases of one file beside each other: which is the better one overall."""

import html
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from narwhals.typing import IntoDataFrame

from microagg._kernels._jit import compiling_seconds
from microagg.checks import check_jobs
from microagg.evaluate.definitions import defined
from microagg.evaluate.measure import Definition
from microagg.evaluate.score import scoring_index
from microagg.io.sources import Source
from microagg.pipeline import protect
from microagg.plots import draw_map
from microagg.progress import Progress, tell
from microagg.readonly import ReadOnly
from microagg.recipe import OF_PROTECT, Recipe
from microagg.recipe._signature import takes
from microagg.release import Release
from microagg.study.variants import recipes_to_compare

_SHARES = 1000  # of one release in the progress of all

_NAMED = {
    "il": "IL",
    "il1s": "IL1s",
    "g_il": "G_IL",
    "rld": "RLD",
    "right_group": "right group",
    "interval": "ID",
    "g_dr": "G_DR",
}
"""The measures that are attributes of a candidate as well."""


@dataclass(frozen=True)
class Candidate(ReadOnly):
    """One release and its figures; all but k and groups are better when lower.

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
        Every measure of loss and of risk by its name (see `LossMeasures.measures`), those above among them.
    by : str
        The measure of loss that the score and the map use: G_IL, or IL where not all masked columns are numbers.
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
        """The figure of loss that the score and the map use."""
        return self.g_il if self.by == "G_IL" else self.il

    def as_dict(self) -> dict[str, Any]:
        """Give everything that is known of the candidate as plain values."""
        return {one.name: getattr(self, one.name) for one in fields(self)} | {"figures": dict(self.figures)}


@dataclass(frozen=True)
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

    @property
    def by(self) -> str:
        """The measure of loss that the score and the map use."""
        return self.candidates[0].by

    @property
    def best(self) -> Candidate:
        """The candidate with the lowest score; the first of those that tie."""
        return min(self.candidates, key=lambda candidate: candidate.score)

    @property
    def frontier(self) -> tuple[Candidate, ...]:
        """The efficient candidates, by loss. No other has less loss without more risk, or the other way."""
        efficient = [
            one
            for one in self.candidates
            if not any(
                other.loss <= one.loss and other.g_dr <= one.g_dr and (other.loss < one.loss or other.g_dr < one.g_dr)
                for other in self.candidates
            )
        ]
        return tuple(sorted(efficient, key=lambda candidate: (candidate.loss, candidate.g_dr)))

    def as_dict(self) -> dict[str, list[Any]]:
        """Give the figures column by column, as any dataframe library takes them."""
        rows = [candidate.as_dict() for candidate in self.candidates]
        others = [name for name in rows[0].pop("figures") if name not in _NAMED.values()]
        found = {name: [row[name] for row in rows] for name in rows[0]}
        return found | {name: [one.figures.get(name) for one in self.candidates] for name in others}

    @property
    def compared(self) -> tuple[Definition, ...]:
        """The measures of loss, then those of risk, that the table has a column of."""
        return tuple(
            one
            for one in (*defined("loss"), *defined("risk"))
            if one.compared and all(one.name in candidate.figures for candidate in self.candidates)
        )

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the risk–utility map: each method a line through its k, the efficient candidates ringed.

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
            lines.setdefault(one.line, []).append((one.k, one.loss, one.g_dr))
        return draw_map(lines, [(one.loss, one.g_dr) for one in self.frontier], ax, self.by)

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
        figures = [f"{one.name} {one.unit}".rstrip() for one in self.compared]
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
                *(f"{one.figures[measure.name]:.2f}" for measure in self.compared),
                f"{one.score:.2f}",
                f"{one.seconds:.2f}",
                "lowest score" if one is best else "efficient" if one in efficient else "",
            )
            for place, one in enumerate(self.candidates)
        ]

    def _note(self) -> str:
        weights = f"score = {self.x:g} · {self.by} + {1 - self.x:g} · G_DR; lower is better."
        if self.sampled is None:
            return weights
        return f"{weights} RLD estimated on {self.sampled} records (standard error up to {self.standard_error:.2g})."


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
    sample : int, optional
        How many records to estimate linkage on; by default 20 000 where there are more than 200 000.
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
    judged = {"keys": keys, "x": x, "sample": sample, "sample_seed": sample_seed}
    judged = {name: value for name, value in judged.items() if value is not None}
    recipes = recipes_to_compare(methods, ks, recipe, {**choices, **judged}, ls=ls, ts=ts)
    return comparison_of([one for one, _ in compare_each(frame, recipes, n_jobs=n_jobs, progress=progress)], recipes)


def compare_each(
    frame: IntoDataFrame | Source,
    recipes: Sequence[tuple[str, Recipe]],
    *,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Iterator[tuple[Candidate, Release[Any]]]:
    """Give each release as it comes, with its figures; `recipes` are named by their method.

    `progress` is called from within every step; what it raises stops the work.
    """
    threads = check_jobs(n_jobs)
    in_all = _SHARES * len(recipes)
    for number, (name, recipe) in enumerate(recipes):
        grouped = _SHARES * number + _SHARES // 2
        began, compiled = time.perf_counter(), compiling_seconds()
        release = protect(
            frame, recipe=recipe, n_jobs=threads, progress=_part(progress, _SHARES * number, grouped, in_all)
        )
        # What compiling took is not the method's: it is paid once a machine.
        seconds = max(0.0, time.perf_counter() - began - (compiling_seconds() - compiled))
        with recipe.blamed():
            release = release.judged(n_jobs=threads, progress=_part(progress, grouped, grouped + _SHARES // 2, in_all))
        yield _candidate(name, release, recipe.compare.x, seconds), release
        tell(progress, _SHARES * (number + 1), in_all)


def _part(progress: Progress | None, start: int, stop: int, in_all: int) -> Progress | None:
    """Give a progress of one step as a part of the whole."""
    if progress is None:
        return None
    return lambda done, total: progress(start + (stop - start) * done // max(1, total), in_all)


def _candidate(name: str, release: Release[Any], x: float, seconds: float) -> Candidate:
    loss, risk = release.loss, release.risk
    figures = {one.name: one.value for one in (*loss.measures, *risk.measures)}
    named: dict[str, Any] = {attribute: figures[measure] for attribute, measure in _NAMED.items()}
    return Candidate(
        method=name,
        k=release.recipe.k,
        groups=release.n_groups,
        **named,
        score=scoring_index(loss.overall[1], risk.g_dr, x),
        by=loss.overall[0],
        seconds=seconds,
        sampled=risk.sampled,
        standard_error=risk.standard_error,
        figures=figures,
        **_demanded(release),
    )


def _demanded(release: Release[Any]) -> dict[str, Any]:
    """Give what a release keeps of confidential columns: what was asked and reached, and the way."""
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


def comparison_of(candidates: Sequence[Candidate], recipes: Sequence[tuple[str, Recipe]]) -> Comparison:
    """Put the candidates of some recipes beside each other."""
    error = max(one.standard_error for one in candidates)
    return Comparison(tuple(candidates), recipes[0][1].compare.x, candidates[0].sampled, error)
