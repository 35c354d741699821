"""What each masked column costs: how much less the others would lose without it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.base.frozen import frozen
from microagg.columns import frames
from microagg.errors import InvalidData, InvalidParameter
from microagg.files.sources import Source
from microagg.pipeline import protect
from microagg.recipe import Recipe
from microagg.work import Progress, tell

_SAMPLE = 2000
_MANY = 8  # masked columns from which the text says that each more costs the others
_DEAREST = 5  # columns at most that are tried to be left out together
_CHEAPER = 0.9  # of the loss that is left, from which leaving columns out is worth a word

Losses = dict[Any, float]


@frozen()
class ColumnCost:
    """What masking one column does to the others.

    Attributes
    ----------
    name : str
    with_it, without_it : float
        The mean loss of the other masked columns, in percent, where this one is masked and where it is left out.
    """

    name: Any
    with_it: float
    without_it: float

    @property
    def ratio(self) -> float:
        """How many times as much the others lose because of it; 1 where it costs nothing."""
        if self.without_it > 0:
            return self.with_it / self.without_it
        return 1.0 if self.with_it <= 0 else float("inf")


@frozen()
class ColumnCosts:
    """What each masked column costs the others, on a sample.

    Attributes
    ----------
    columns : tuple of ColumnCost
        In the order of the recipe.
    sampled : int
        How many records were masked to find out. A sample loses more than its file, so ratios count, not losses.
    dearest : tuple of str
        The columns, five at most, without which the others lose least.
    with_them, without_them : float
        The mean loss of the others, in percent, with those columns masked and with all of them left out.
    left_aside : tuple of str
        Masked columns that a sample cannot judge: too few of its records share a category.
    """

    columns: tuple[ColumnCost, ...]
    sampled: int
    dearest: tuple[Any, ...] = ()
    with_them: float = 0.0
    without_them: float = 0.0
    left_aside: tuple[Any, ...] = ()


def column_costs(
    frame: Any,
    recipe: Recipe,
    *,
    sample: int = _SAMPLE,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> ColumnCosts:
    """Mask a sample with every column and without each of them, and return what each costs the others.

    Parameters
    ----------
    frame : dataframe or Source
    recipe : Recipe
        With the columns to mask named in quasi.
    sample : int
        The most records to mask. Strata of fewer than 2k sampled records are left aside.
    seed : int
        The seed of the sample.
    n_jobs : int, optional
        Threads; by default one a core.
    progress : callable, optional
        Called as progress(releases done, releases in all); what it raises stops the work.

    Returns
    -------
    ColumnCosts

    Examples
    --------
    >>> import microagg as ma
    >>> survey = ma.datasets.survey(300, seed=0)
    >>> recipe = ma.Recipe.of(5, quasi=["age", "wage", "income", "tax"], rest="drop")
    >>> found = column_costs(survey, recipe)
    >>> max(found.columns, key=lambda column: column.ratio).name
    'wage'
    """
    recipe = replace(recipe, profile=None)  # of a whole file: a sample would differ from it
    quasi = list(recipe.roles.quasi or ())
    if len(quasi) < 2:
        raise InvalidParameter(
            f"there are {len(quasi)} column(s) in quasi, and costs need at least two. Name the columns to mask.",
            parameter="quasi",
        )
    table = frame.table if isinstance(frame, Source) else frame
    rows = _sampled_rows(frames.open_frame(table), list(recipe.roles.strata), recipe.k, sample, seed)
    part = _rows_of(frame, rows)
    try:
        return _costs_on(part, recipe, quasi, n_jobs, progress)
    except InvalidData as error:
        rare = [name for name in quasi if name in error.columns]
        if not rare or len(quasi) - len(rare) < 2:
            raise
        found = column_costs(
            frame, _leaving_out(recipe, rare), sample=sample, seed=seed, n_jobs=n_jobs, progress=progress
        )
        return replace(found, left_aside=(*rare, *found.left_aside))


def _costs_on(
    part: Any, recipe: Recipe, quasi: Sequence[Any], n_jobs: int | None, progress: Progress | None
) -> ColumnCosts:
    """Mask a sample with every column and without each of them."""
    n_records = frames.open_frame(part.table if isinstance(part, Source) else part).shape[0]
    in_all, done = len(quasi) + 2, 0

    def losses(left_out: Sequence[Any]) -> Losses:
        nonlocal done
        asked = _leaving_out(recipe, left_out)
        found = dict(protect(part, recipe=asked, n_jobs=n_jobs).information.per_column)
        done += 1
        tell(progress, done, in_all)
        return found

    whole = losses([])
    costs = tuple(_cost(name, quasi, whole, losses([name])) for name in quasi)
    most = min(_DEAREST, len(quasi) // 2)
    dearest = [one.name for one in sorted(costs, key=lambda one: -one.ratio)[:most] if one.ratio > 1]
    if not dearest:
        tell(progress, in_all, in_all)
        return ColumnCosts(costs, n_records)
    together = _cost(dearest[0], [name for name in quasi if name not in dearest[1:]], whole, losses(dearest))
    in_order = tuple(name for name in quasi if name in dearest)
    return ColumnCosts(costs, n_records, in_order, together.with_it, together.without_it)


def _cost(name: Any, quasi: Sequence[Any], whole: Losses, without: Losses) -> ColumnCost:
    others = [one for one in quasi if one != name]
    return ColumnCost(
        name, float(np.mean([whole[one] for one in others])), float(np.mean([without[one] for one in others]))
    )


def _leaving_out(recipe: Recipe, left_out: Sequence[Any]) -> Recipe:
    """Return a recipe that drops some masked columns, grouped as quickly as can be."""
    quasi = [name for name in recipe.roles.quasi or () if name not in left_out]
    drop = [*recipe.roles.drop, *left_out]
    household, order = (
        [name for name in names if name in quasi] for names in (recipe.units.household, recipe.units.order)
    )
    return recipe.replace(
        quasi=quasi, drop=drop, household=household, unit_order=order, select=None, refine=None, blocks="none"
    )


def _sampled_rows(frame: Any, strata: list[Any], k: int, sample: int, seed: int) -> NDArray[np.int64]:
    """Draw rows, in their order, and leave out strata that too few of them are in."""
    n = frame.shape[0]
    rows = np.arange(n)
    if n > sample:
        rows = np.sort(np.random.default_rng(seed).choice(n, sample, replace=False))
    cells = frames.category_codes(frame, strata)[rows]
    large = np.bincount(cells) >= 2 * k
    return rows[large[cells]] if large.any() else rows


def _rows_of(frame: Any, rows: NDArray[np.int64]) -> Any:
    if isinstance(frame, Source):
        return frame.take(rows)
    mask = np.zeros(frames.open_frame(frame).shape[0], dtype=bool)
    mask[rows] = True
    return frames.keep_rows(frames.open_frame(frame), mask).to_native()


def costs_in_words(costs: ColumnCosts, shown: Callable[[Any], str] = str) -> str:
    """Say in one short paragraph what the masked columns cost; `shown` makes names fit to be printed."""
    number = len(costs.columns) + len(costs.left_aside)
    said = [f"{number} columns are masked."]
    if costs.dearest and costs.without_them <= _CHEAPER * costs.with_them:
        listed = ", ".join(shown(name) for name in costs.dearest)
        said.append(
            f"Without {listed} the loss of the others falls from {costs.with_them:.1f} to {costs.without_them:.1f} % "
            f"(on {costs.sampled} records)."
        )
    if number >= _MANY:
        said.append(
            "The more columns are masked together, the more each of them loses. Mask the columns that an intruder "
            "can know. Drop the others, or move them to confidential, which releases them unchanged."
        )
    return " ".join(said)
