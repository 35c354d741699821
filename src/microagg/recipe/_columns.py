"""The parts of a recipe that speak of columns by name, of units and of what confidential columns may disclose.

Kinds, recoding, importance, codes and taxonomies; what is promised beside k; analyses that must survive and relations
that must hold.
"""

import math
import os
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from microagg.algorithms.diversity.demand import Limits
from microagg.algorithms.diversity.ways import WAYS
from microagg.base.frozen import frozen
from microagg.checks import nearest
from microagg.columns.kinds import KINDS
from microagg.columns.recoding import Recoding
from microagg.errors import InvalidParameter, RoleError, blamed, setting
from microagg.measures.analyses.analysis import Analysis
from microagg.recipe._choice import BY_COLUMN, LISTED, NAME, NAMES, NUMBER, NUMBERS, WHOLE, WORD, Part, choose
from microagg.recipe.relations import Relation

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


def _each(said: str, **more: Any) -> Any:
    """Declare a table of columns, which is empty unless somebody fills it."""
    return choose({}, BY_COLUMN, said, **more)


@frozen()
class Kinds(Part):
    """Of which kind columns are, where their type does not say it."""

    by_column = "kinds"
    kinds: Mapping[Any, Any] = _each(
        "the kind of each column, if its type does not show it",
        element=as_kind,
        more='"number", "date", "ordinal", "nominal" or "semi"; a list of levels in their order is an ordinal column; '
        '``{"spike": 0}`` a semi-continuous one whose spike is 0.',
    )


@frozen()
class Recode(Part):
    """How columns are recoded before anything else."""

    by_column = "recode"
    recode: Mapping[Any, Any] = _each(
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
    importance: Mapping[Any, Any] = _each(
        "how much a column counts in distances and in the loss; by default 1",
        element=as_weight,
        more="0: the column is not used to form groups, but is still masked.",
    )


@frozen()
class Missing(Part):
    """Values that stand for a kind of missing value."""

    codes: Mapping[Any, Any] = _each(
        "values of a column that stand for a kind of missing value, such as a refusal",
        keyword="missing_codes",
        element=as_codes,
        more='``{"income": [-8, -9]}``: each is a state of its own, and is released unchanged.',
    )


@frozen()
class TaxonomyChoices(Part):
    """Trees of the categories of nominal columns."""

    by_column = "taxonomy"
    taxonomy: Mapping[Any, Any] = _each(
        "the ancestors of each category: a CSV file, or a table from a value to its ancestors",
        element=as_taxonomy,
        more="Each line of the file holds a value, its ancestor, that one's ancestor, and so on to the root.",
    )


def as_relation(said: Any) -> Relation:
    """Return a relation that is one already, or that a text or a table says."""
    if isinstance(said, Relation):
        return said
    if not isinstance(said, Mapping):
        return Relation.of(said)
    for name in said:
        if name not in ("holds", "tolerance"):
            raise InvalidParameter(f"a relation has no {name!r}. It has holds and tolerance.", parameter=name)
    if "holds" not in said:
        raise InvalidParameter(
            "a relation needs holds, which says what is true. Add it: holds = 'income = wage + benefits'.",
            parameter="holds",
        )
    try:
        return Relation.of(said["holds"], said.get("tolerance", 0.0))
    except InvalidParameter as error:
        error.parameter = "holds" if error.parameter == "relations" else error.parameter  # its key
        raise


@frozen()
class Analyses(Part):
    """What users of the file will compute."""

    listed = "analyses"
    analyses: tuple[Analysis, ...] = choose(
        (),
        LISTED,
        "what users will compute: the results before and after masking are compared",
        element=Analysis.of,
        spelt=lambda one: one.said,
        more="Each is an `Analysis`, or a mapping that says the same. By default some are guessed.",
    )


@frozen()
class Relations(Part):
    """What holds between the numbers of a record."""

    listed = "relations"
    relations: tuple[Relation, ...] = choose(
        (),
        LISTED,
        "relations between columns: kept where the values of a group can keep them, and counted",
        element=as_relation,
        spelt=lambda one: {"holds": one.said} | ({"tolerance": one.tolerance} if one.tolerance else {}),
        more='Such as "income = wage + benefits" or "size >= adults"; or a `Relation`, or a mapping with `holds` and '
        "`tolerance`.",
    )


def check_released(analysis: Analysis, released: Collection[Any], unit: Any) -> None:
    """Refuse an analysis that nobody could do on the release."""
    from microagg.measures.analyses.judge import columns_read

    columns_read([analysis], released)
    if analysis.unit is not None and analysis.unit != unit and analysis.unit not in released:
        what = "is neither the recipe's unit nor released. Name another, or leave it out."
        error = RoleError(
            f"the unit {analysis.unit!r} of an analysis {what}", parameter="unit", columns=(analysis.unit,)
        )
        raise blamed(analysis, error)


@frozen()
class UnitChoices(Part):
    """What is promised of units, and what is released of them, if one is named."""

    share: str = choose(
        "limited",
        WORD,
        "the share of a group that one unit may have",
        words=("limited", "any"),
        keyword="unit_share",
        more='"limited": at most 1/k of the rows of the group, so that it holds k different units; "any": k different '
        "units, one of which may have most of the rows.",
    )
    release: str = choose(
        "drop",
        WORD,
        "whether users can see which rows belong to the same unit",
        words=("drop", "pseudonym"),
        keyword="unit_release",
        more='"pseudonym": units get numbers that follow from what is released, and k units have identical rows, all '
        'of them; that costs several times the loss of "drop".',
    )
    constant: str = choose(
        "auto",
        WORD,
        "how masked columns are masked that have one value for all rows of a unit",
        words=("auto", "row", "once"),
        keyword="unit_constant",
        more='"once": units are grouped by these columns first, and all rows of a unit release the same; "row": each '
        "row with its own group, so that a unit with many rows is in many groups, whose means can disclose its value. "
        '"auto": "once" if units have more than three rows on average and a number or date is constant in them, and '
        'always with ``unit_release="pseudonym"``.',
    )
    household: tuple[Any, ...] = choose(
        (),
        NAMES,
        "masked columns with one value for all rows of a unit, such as a household's income; others are detected",
    )
    wave: Any = choose(None, NAME, "the column that numbers the rows of a unit, such as the year of a panel")
    order: tuple[Any, ...] = choose(
        (),
        NAMES,
        "the masked columns by which the rows of a unit are sorted, the largest first",
        keyword="unit_order",
        more="By default the first column of numbers that is not the household's, then the others.",
    )
    small: str = choose(
        "suppress",
        WORD,
        "what is done with units if fewer than k of them have the same number of rows, or the same waves",
        words=("suppress", "error"),
        keyword="small_units",
    )


@frozen()
class DiversityChoices(Part):
    """What records that look the same may together disclose of confidential columns."""

    l: int | None = choose(  # noqa: E741 (its name in the literature)
        None,
        WHOLE,
        "how many different values each confidential column must have among records that look the same, at least",
        least=2,
        more="Distinct l-diversity, or p-sensitivity.",
    )
    entropy: float | None = choose(
        None,
        NUMBER,
        "as l, but it also counts how often each value occurs: exp(entropy) of the values is at least this",
        keyword="entropy_l",
        more="Entropy l-diversity.",
    )
    recursive: tuple[float, int] | None = choose(
        None,
        NUMBERS,
        "two numbers c and l, such as 3,2: the most frequent value has fewer records than c times all records from the "
        "l-th most frequent value on",
        keyword="recursive_l",
        more="Recursive (c, l)-diversity.",
    )
    l_columns: tuple[Any, ...] = choose(
        (), NAMES, "the confidential columns that l, entropy_l and recursive_l apply to; by default all"
    )
    t: float | None = choose(
        None,
        NUMBER,
        "how far the values of records that look the same may at most be from those of the whole file: above 0, below "
        "1",
        more="t-closeness: by the earth mover's distance if values have an order, or a taxonomy; otherwise by half the "
        "sum of absolute differences.",
    )
    t_columns: tuple[Any, ...] = choose((), NAMES, "the confidential columns that t applies to; by default all")
    way: str = choose(
        "auto",
        WORD,
        "how groups are made to keep l and t",
        words=("auto", *WAYS),
        keyword="diversity",
        more="; ".join(f'"{way}": {said}' for way, said in WAYS.items())
        + '. "auto" tries those that fit and takes the one with the lowest loss.',
    )

    @property
    def limits(self) -> Limits:
        """What is demanded of a column to which all of it applies."""
        return Limits(self.l, self.entropy, self.recursive, self.t)

    @property
    def demanded(self) -> bool:
        """Whether anything is demanded."""
        return self.limits != Limits()

    def _check(self) -> None:
        self.limits.check()
        if self.recursive is not None:
            c, rank = self.recursive
            object.__setattr__(self, "recursive", (c, int(rank)))  # as a command line writes it, both are fractions

    @property
    def facts(self) -> dict[str, Any]:
        """What is said of choices that do not go together."""
        return {"way": setting("diversity", self.way)}
