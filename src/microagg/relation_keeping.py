"""Released values that keep relations between columns, such as income = wage + benefits or size >= adults.

Means of groups keep sums by themselves; rounding, medians, spikes and maps that restore variances break them. Where one
column stands alone on a side, a group may release for it what the other side gives. That is made of values that are
released anyway, so it tells nothing more, and members stay identical, so k holds.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.checks import shown_name
from microagg.errors import InvalidData
from microagg.evaluate.relations import Relation, Values
from microagg.kinds import Number, Ordinal, Semi
from microagg.readonly import ReadOnly
from microagg.rounding import Rounded, to_power_of_ten
from microagg.table import Coded, Table

Labels = NDArray[np.int64]

_LIMITS = {"<=": -1, ">=": 1}  # to which side the other one lies, seen from the left
_PASSES = 4  # a value that one relation asks for may break another


@dataclass(frozen=True)
class KeptRelation(ReadOnly):
    """A relation that groups kept by what they release; not for publication.

    Attributes
    ----------
    relation : str
    column : any
        Whose released values were chosen so that it holds.
    records : int
        How many records that changed.
    moved : float
        By how much of itself the total of the column moved.

    Examples
    --------
    >>> import microagg as ma
    >>> survey = ma.datasets.survey(300, seed=0).select(["age", "wage"])
    >>> ma.protect(survey, k=5, moments="variance", relations=["wage >= 0"]).chosen
    (KeptRelation(relation='wage >= 0', column='wage', records=..., moved=...),)
    """

    relation: str
    column: Any
    records: int
    moved: float


def numbers_of(column: Coded) -> Values | None:
    """Give the numbers of a column, those of levels too; None where it has none."""
    if type(column.kind) in (Number, Semi):  # not dates
        return column.values
    if not isinstance(column.kind, Ordinal):
        return None
    try:
        levels = np.array([float(level) for level in column.shown] or [np.nan])
    except ValueError:
        return None
    known = np.nan_to_num(column.values).astype(np.int64)
    return np.where(np.isnan(column.values), np.nan, levels[known])


def check_numbers(relations: Sequence[Relation], masked: Table, is_number: Callable[[Any], bool]) -> None:
    """Refuse, before any work, a relation of a column without numbers; `is_number` tells of one that is not masked."""
    known = {column.name: numbers_of(column) is not None for column in masked}
    for relation in relations:
        for name in relation.columns:
            if not (known[name] if name in known else is_number(name)):
                raise InvalidData(
                    f"column {shown_name(name)} of the relation {relation.said!r} holds no numbers. Leave the relation "
                    f"out, or name another column.",
                    parameter="relations",
                    columns=(name,),
                )


def keep_relations(
    relations: Sequence[Relation],
    original: Table,
    released: Table,
    labels: Labels,
    rounded: Mapping[Any, Rounded],
    weights: Values | None = None,
) -> tuple[Table, tuple[KeptRelation, ...]]:
    """Give what is released, with relations kept that every member of a group keeps and its released values break.

    Parameters
    ----------
    relations : list of Relation
    original, released : Table
    labels : array of shape (n,)
        Records of one label release the same.
    rounded : mapping
        The step to which each quantity is rounded; what is chosen is rounded alike.
    weights : array of shape (n,), optional
        By which totals are taken, to tell how far they moved.
    """
    before = _numbers(original)
    columns = {column.name: column for column in released}
    values = {name: own.copy() for name, own in _numbers(released).items()}
    wanted = [(one, target) for one in relations if (target := _target(one, columns, values)) is not None]
    changed = {relation.said: np.zeros(labels.size, dtype=bool) for relation, _ in wanted}
    sound = {
        relation.said: np.bincount(labels, relation.violated(before), int(labels.max()) + 1)[labels] == 0
        for relation, _ in wanted
    }
    for _ in range(_PASSES):
        again = False
        for relation, name in wanted:
            broken = relation.violated(values) & sound[relation.said]
            if not broken.any():
                continue
            column, step = columns[name], rounded.get(name)
            chosen = _chosen(relation, name, values, None if step is None else step.power)
            trial = values | {name: np.where(broken, chosen, values[name])}
            mended = broken & ~relation.violated(trial) & ~_is_reserved(column, chosen)
            values[name] = np.where(mended, chosen, values[name])
            changed[relation.said] |= mended
            again |= bool(mended.any())
        if not again:
            break
    moved = {name: _share_moved(columns[name].values, own, weights) for name, own in values.items()}
    facts = [
        KeptRelation(relation.said, name, int(np.count_nonzero(changed[relation.said])), moved[name])
        for relation, name in wanted
        if changed[relation.said].any()
    ]
    fresh = {fact.column for fact in facts}
    table = Table(
        tuple(
            column.with_cells(column.cells._replace(values=values[column.name])) if column.name in fresh else column
            for column in released
        )
    )
    return table, tuple(facts)


def _numbers(table: Table) -> dict[Any, Values]:
    return {column.name: own for column in table if (own := numbers_of(column)) is not None}


def _target(relation: Relation, columns: Mapping[Any, Coded], values: Mapping[Any, Values]) -> Any:
    """Give the column whose values can be chosen so that a relation holds; None where there is none.

    All of its columns must be masked: with another one, what is chosen would differ among members.
    """
    if relation.sign not in ("=", *_LIMITS) or not all(name in values for name in relation.columns):
        return None
    for name in relation.alone:
        if name is not None and not isinstance(columns[name].kind, Ordinal):
            return name
    return None


def _chosen(relation: Relation, name: Any, values: Mapping[Any, Values], power: int | None) -> Values:
    """Give the values of a column with which a relation just holds."""
    is_left = relation.alone[0] == name
    other = relation.sides(values)[1 if is_left else 0]
    if power is None:
        return other
    nearest = to_power_of_ten(other, power)
    side = _LIMITS.get(relation.sign, 0) * (1 if is_left else -1)
    beyond = side * nearest < side * other  # rounded to the wrong side of a limit
    return np.where(beyond, to_power_of_ten(nearest + side * 10.0**power, power), nearest)


def _is_reserved(column: Coded, values: Values) -> NDArray[np.bool_]:
    """Tell which values would be read as missing."""
    hit = np.zeros(values.size, dtype=bool)
    for low, high in column.reserved:
        hit |= (values >= low) & (values <= high)
    return hit


def _share_moved(before: Values, after: Values, weights: Values | None) -> float:
    known = ~np.isnan(before)
    weights = np.ones(before.size) if weights is None else weights
    total = float(np.sum(weights[known] * before[known]))
    moved = float(np.sum(weights[known] * (after[known] - before[known])))
    return moved / total if total else 0.0
