"""Several releases of one file compared: which is better overall."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from narwhals.typing import IntoDataFrame

from microagg.algorithms.kernels._jit import compiling_seconds
from microagg.checks import check_jobs
from microagg.files.sources import Source
from microagg.judge.comparison import Candidate, Comparison
from microagg.pipeline import protect
from microagg.recipe import OF_PROTECT, Recipe
from microagg.recipe._tables import takes
from microagg.release import Release
from microagg.study.candidate import candidate_of, ranking_of
from microagg.study.variants import recipes_to_compare
from microagg.work import Progress, part, tell

_SHARES = 1000  # of one release in the progress of all


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
