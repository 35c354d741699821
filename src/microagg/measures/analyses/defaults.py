"""Which analyses users of a file would probably do, guessed from the kinds and values of its columns."""

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.base.frozen import frozen
from microagg.columns.kinds import Date
from microagg.columns.table import Coded, Table
from microagg.measures.analyses.analysis import Analysis

MOST = 12
"""Analyses that are guessed, at most."""

_AMOUNTS, _ZEROS = 3, 2  # columns that are looked at in their mean and a regression, and in their zeros, at most
_LOOKED_AT = 50_000  # records, evenly over the file, that show what a column is
_FEWEST_VALUES = 15  # different numbers below which a column is rather a code or a count
_YOUNG, _OLDEST = 30, 120  # what the highest age is between
_FEW = 0.02  # share of records
_SKEWED = 1.0  # the least skewness of an amount: that of normal numbers is 0, of exponential ones 2
_FEWEST_IN_DOMAIN = 30  # records, on average
_MOST_LEVELS = 20
_PRESENT = 0.5  # share of values that a column of domains must have


@frozen()
class _Number:
    name: Any
    is_age: bool
    is_amount: bool
    zeros: float  # share


def guess_analyses(
    table: Table, *, weight: Any = None, unit: Any = None, masked: Collection[Any] | None = None
) -> tuple[Analysis, ...]:
    """Guess at most twelve analyses, in a fixed order: means by domains, zeros, inequality, a table, regressions.

    Parameters
    ----------
    table : Table
        The columns that both files have; a weight or unit among them is not analysed.
    weight, unit : name, optional
        As in `Analysis`.
    masked : names, optional
        The columns that were masked: results about others do not change, so these go first.
    """
    if not len(table):
        return ()
    step = -(-table.n_records // _LOOKED_AT)
    weights = next((one.values[::step] for one in table if one.name == weight), None)
    known = [one for one in table if one.name not in (weight, unit) and not _is_weight(one, step, weights)]
    changed = {one.name for one in known} if masked is None else set(masked)
    numbers = [one for one in (_number(column, step) for column in known if _counts(column)) if one is not None]
    ages = sorted((one for one in numbers if one.is_age), key=lambda one: one.name not in changed)
    # Masked columns first, then amounts, then those that most records have something of; the order of the file last.
    others = sorted(
        (one for one in numbers if not one.is_age),
        key=lambda one: (one.name not in changed, not one.is_amount, round(one.zeros, 2)),
    )[:_AMOUNTS]
    categories = _domains(known, step)
    return tuple(_listed(others, ages, categories, table.n_records, {"weight": weight, "unit": unit}))[:MOST]


def _listed(
    numbers: list[_Number], ages: list[_Number], categories: list[tuple[Any, int]], n: int, design: dict[str, Any]
) -> list[Analysis]:
    domains = [name for name, _ in categories[:2]]
    if n < _FEWEST_IN_DOMAIN * float(np.prod([levels for _, levels in categories[:2]])):
        domains = domains[:1]
    found = [Analysis("mean", one.name, by=domains, **design) for one in numbers]
    spiked = [one for one in numbers if 0.01 <= one.zeros <= 0.99][:_ZEROS]
    found += [Analysis("share", one.name, value="= 0", **design) for one in spiked]
    amount = next((one for one in numbers if one.is_amount), None)
    if amount is not None:
        found.append(Analysis("gini", amount.name, **design))
        if amount.zeros < 0.5:  # else the median is 0, and nobody is below it
            found.append(Analysis("poverty", amount.name, **design))
    if numbers:
        found.append(Analysis("quantile", (amount or numbers[0]).name, p=(0.1, 0.5, 0.9), **design))
    if len(categories) > 1:
        found.append(Analysis("table", [name for name, _ in categories[:2]], **design))
    terms: list[Any] = [term for one in ages[:1] for term in (one.name, f"{one.name}^2")]
    terms += [name for name, _ in categories[:2]]
    if terms:
        for one in numbers:
            response = f"log({one.name})" if one.is_amount else one.name
            found.append(Analysis("linear", [response, *terms], **design))
    return found


def _is_weight(column: Coded, step: int, weights: NDArray[np.float64] | None) -> bool:
    """Return whether a column is the weight again, as a household's is that of its persons."""
    return weights is not None and bool((column.values[::step] == weights).mean() > 1.0 - _FEW)


def _counts(column: Coded) -> bool:
    return column.kind.is_quantity and not isinstance(column.kind, Date)


def _number(column: Coded, step: int) -> _Number | None:
    """Look at a column of numbers; None where it has too few values to be a quantity."""
    values = column.values[::step]
    values = values[~np.isnan(values)]
    if values.size == 0 or np.unique(values).size < _FEWEST_VALUES:
        return None
    whole = bool((values == np.floor(values)).all())
    positive = float((values < 0).mean()) <= _FEW  # a few may be debts, or stand for a child not yet born
    is_age = positive and whole and _YOUNG < values.max() <= _OLDEST
    is_amount = positive and not is_age and _skewness(values) >= _SKEWED
    return _Number(column.name, is_age, is_amount, float((values == 0).mean()))


def _skewness(values: NDArray[np.float64]) -> float:
    """Return the skewness; it is 0 of a constant."""
    centred = values - values.mean()
    size = np.abs(centred).max()
    if size == 0:
        return 0.0
    centred = centred / size
    return float((centred**3).mean() / (centred**2).mean() ** 1.5)


def _domains(columns: list[Coded], step: int) -> list[tuple[Any, int]]:
    """Return the columns of categories that divide records most evenly, with how many categories each has."""
    found = []
    for column in columns:
        if not column.shown:
            continue
        values = column.values[::step]
        present = values[~np.isnan(values)].astype(np.int64)
        if present.size < _PRESENT * values.size:
            continue
        counts = np.bincount(present)
        counts = counts[counts > 0]
        if 2 <= counts.size <= _MOST_LEVELS:
            shares = counts / counts.sum()
            even = float(-(shares * np.log(shares)).sum() / np.log(counts.size))
            found.append((round(even, 3), column.name, int(counts.size)))
    found.sort(key=lambda one: -one[0])
    return [(name, levels) for _, name, levels in found]
