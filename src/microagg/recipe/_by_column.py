"""The parts of a recipe that say something of columns by name: kinds, recoding, importance, codes, taxonomies."""

import math
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from microagg.base.frozen import frozen
from microagg.checks import nearest
from microagg.columns.kinds import KINDS
from microagg.columns.recoding import Recoding
from microagg.recipe._choice import BY_COLUMN, Part, choose

_MOST_CODES = 30
MOST_WEIGHT = 1e6  # beyond, squares of what weighs less vanish beside it


def as_kind(value: Any) -> Any:
    """Return a column's kind as it is kept: a word, levels, or a spike."""
    if isinstance(value, str) and value in KINDS:
        return value
    if isinstance(value, Mapping) and set(value) == {"spike"} and _is_number(value["spike"]):
        return {"spike": value["spike"]}
    if isinstance(value, (list, tuple)) and all(isinstance(one, (str, int, float)) for one in value):
        if len(value) < 2 or len(set(value)) < len(value):
            raise ValueError("levels must be two or more different values, in their order.")
        return tuple(value)
    near = nearest(value, list(KINDS)) if isinstance(value, str) else ""
    raise ValueError(f"must be {', '.join(KINDS)}, a list of levels, or {{spike = 0}}.{near}")


def as_rule(value: Any) -> dict[str, Any]:
    """Return how a column is recoded as it is kept; `Recoding` checks what it says."""
    if not isinstance(value, Mapping) or not value:
        raise ValueError("must be a table, such as {width = 5}.")
    return {
        word: _kept(own) if not isinstance(own, Mapping) else {new: _kept(old) for new, old in own.items()}
        for word, own in value.items()
    }


def _kept(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def as_weight(value: Any) -> float:
    """Return an importance as it is kept."""
    if not _is_number(value) or not (value == 0 or 1 / MOST_WEIGHT <= value <= MOST_WEIGHT):
        raise ValueError(f"must be 0, or a number from {1 / MOST_WEIGHT:g} to {MOST_WEIGHT:g}.")
    return float(value)


def as_codes(value: Any) -> tuple[Any, ...]:
    """Return codes for missing values as they are kept."""
    listed = tuple(value) if isinstance(value, (list, tuple)) else (value,)
    if not listed or not all(isinstance(one, (str, int, float)) for one in listed) or len(set(listed)) < len(listed):
        raise ValueError("must be a list of different values.")
    if len(listed) > _MOST_CODES:
        raise ValueError(f"has {len(listed)} codes for missing values; at most {_MOST_CODES} are possible.")
    return listed


def as_power_of_ten(value: Any) -> float:
    """Return a step of rounding as it is kept."""
    if not _is_number(value) or not 0 < value < math.inf or value != float(f"1e{round(math.log10(value))}"):
        raise ValueError("must be a power of ten, such as 0.01, 1 or 100.")
    return float(value)


def as_taxonomy(value: Any) -> Any:
    """Return a taxonomy as it is kept: a path, or each value's ancestors."""
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    if isinstance(value, Mapping) and value:
        found = {str(leaf): tuple(up) if isinstance(up, (list, tuple)) else (up,) for leaf, up in value.items()}
        if len({len(up) for up in found.values()}) == 1:
            return found
        raise ValueError("must have the same number of ancestors for every value.")
    raise ValueError("must be the path of a CSV file, or a table from each value to its ancestors.")


def _is_number(value: Any) -> bool:
    if not isinstance(value, (int, float, np.number)) or isinstance(value, (bool, complex)):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number that is no float64
        return False


@frozen()
class Kinds(Part):
    """Of which kind columns are, where their type does not say it."""

    by_column = "kinds"
    kinds: Mapping[Any, Any] = choose(
        {},
        BY_COLUMN,
        "the kind of each column, if its type does not show it",
        element=as_kind,
        more='"number", "date", "ordinal", "nominal" or "semi"; a list of levels in their order is an ordinal column; '
        '``{"spike": 0}`` a semi-continuous one whose spike is 0.',
    )


@frozen()
class Recode(Part):
    """How columns are recoded before anything else."""

    by_column = "recode"
    recode: Mapping[Any, Any] = choose(
        {},
        BY_COLUMN,
        "how a column is recoded before it is masked: classes, limits, joined categories",
        element=as_rule,
        more='``{"age": {"width": 5}, "income": {"top": 200000}, "job": {"join": {"other": ["x", "y"]}}}``; see the '
        "guide to recoding.",
    )

    def _check(self) -> None:
        Recoding.of(self.recode)


@frozen()
class Importance(Part):
    """How much columns count."""

    by_column = "importance"
    importance: Mapping[Any, Any] = choose(
        {},
        BY_COLUMN,
        "how much a column counts in distances and in the loss; by default 1",
        element=as_weight,
        more="0: the column is not used to form groups, but is still masked.",
    )


@frozen()
class Missing(Part):
    """Values that stand for a kind of missing value."""

    codes: Mapping[Any, Any] = choose(
        {},
        BY_COLUMN,
        "values of a column that stand for a kind of missing value, such as a refusal",
        keyword="missing_codes",
        element=as_codes,
        more='``{"income": [-8, -9]}``: each is a state of its own, and is released unchanged.',
    )


@frozen()
class Taxonomy(Part):
    """Trees of the categories of nominal columns."""

    by_column = "taxonomy"
    taxonomy: Mapping[Any, Any] = choose(
        {},
        BY_COLUMN,
        "the ancestors of each category: a CSV file, or a table from a value to its ancestors",
        element=as_taxonomy,
        more="Each line of the file holds a value, its ancestor, that one's ancestor, and so on to the root.",
    )
