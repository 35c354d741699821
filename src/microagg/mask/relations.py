"""Released values that keep relations between columns, such as income = wage + benefits or size >= adults.

Means of groups keep sums by themselves; rounding, medians, spikes and maps that restore variances break them. Where one
column stands alone on a side, a group may release for it what the other side gives. That is made of values that are
released anyway, so it discloses nothing more, and members stay identical, so k holds. But for one case: a total shows
what a spike hides of its parts. So a part is not made of its total where a group hides it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.equivalence import distinct_of
from microagg.base.frozen import ReadOnly, frozen
from microagg.checks import shown_name
from microagg.columns.kinds import Number, Ordinal, Semi
from microagg.columns.rounding import Rounded, to_power_of_ten
from microagg.columns.table import Coded, Table
from microagg.errors import InvalidData
from microagg.recipe.grammar import Values
from microagg.recipe.relations import Relation

Labels = NDArray[np.int64]

_LIMITS = {"<=": -1, ">=": 1}  # to which side the other one lies, seen from the left
_PASSES = 4  # a value that one relation asks for may break another


@frozen()
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
    """Return the numbers of a column, those of levels too; None where it has none."""
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
    """Refuse, before any work, a relation of a column without numbers; `is_number` knows those that are not masked."""
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


class Chosen(NamedTuple):
    """What is released once relations are kept, to which steps, and which relations that changed."""

    released: Table
    rounded: dict[Any, Rounded]
    facts: tuple[KeptRelation, ...]


def keep_relations(
    relations: Sequence[Relation],
    original: Table,
    released: Table,
    labels: Labels,
    rounded: Mapping[Any, Rounded],
    weights: Values | None = None,
) -> Chosen:
    """Return what is released, with relations kept that every member of a group keeps and its released values break.

    No choice is taken that breaks another relation which the members keep.

    Parameters
    ----------
    relations : list of Relation
    original, released : Table
    labels : array of shape (n,), or (n, d) where columns have groups of their own
        Records of one label release the same.
    rounded : mapping
        The step to which each quantity is rounded. What is chosen is rounded the same way, of a sum as its finest part.
    weights : array of shape (n,), optional
        By which totals are taken, to know how far they moved.
    """
    if not relations:
        return Chosen(released, dict(rounded), ())
    before, values = _numbers(original), _numbers(released)
    columns = {column.name: column for column in released}
    counted = [one for one in relations if all(name in values for name in one.columns)]
    wanted = [one for one in (_Wanted.of(one, columns, released.names, labels, rounded) for one in counted) if one]
    broken_before = [relation.violated(before) for relation in counted]
    changed = [np.zeros(original.n_records, dtype=bool) for _ in wanted]
    for _ in range(_PASSES):
        mended_any = False
        for own, place in zip(changed, wanted, strict=True):
            mended, trial = place.mended(values, counted, broken_before)
            own |= mended
            values[place.target] = np.where(mended, trial, values[place.target])
            mended_any |= bool(mended.any())
        if not mended_any:
            break
    facts, steps = [], dict(rounded)
    for own, place in zip(changed, wanted, strict=True):
        was, now = columns[place.target].values, values[place.target]
        own &= (now != was) & ~place.relation.violated(values)
        if own.any():
            place.check_hidden(own, before[place.target])
            moved = _share_moved(was, np.where(own, now, was), weights)
            facts.append(KeptRelation(place.relation.said, place.target, int(np.count_nonzero(own)), moved))
            if place.power is not None and place.power < steps[place.target].power:
                steps[place.target] = replace(steps[place.target], power=place.power)
    fresh = {fact.column for fact in facts}
    table = Table(
        tuple(
            column.with_cells(column.cells._replace(values=values[column.name])) if column.name in fresh else column
            for column in released
        )
    )
    return Chosen(table, steps, tuple(facts))


class _Wanted(NamedTuple):
    """A relation that a choice can keep: whose values are chosen, for which groups, and rounded to which power."""

    relation: Relation
    target: Any
    column: Coded
    labels: Labels
    power: int | None

    @classmethod
    def of(
        cls,
        relation: Relation,
        columns: Mapping[Any, Coded],
        names: list[Any],
        labels: Labels,
        rounded: Mapping[Any, Rounded],
    ) -> "_Wanted | None":
        """Find the column that stands alone on a side; None where there is none whose values can be chosen."""
        if relation.sign not in ("=", *_LIMITS):
            return None
        for name in relation.alone:
            if name is None or isinstance(columns[name].kind, Ordinal):
                continue
            own = labels if labels.ndim == 1 else np.ascontiguousarray(labels[:, names.index(name)])
            steps = [rounded[one].power for one in relation.columns if one in rounded]
            power = None if name not in rounded else min(steps) if relation.sign == "=" else rounded[name].power
            return cls(relation, name, columns[name], own, power)
        return None

    def mended(
        self, values: Mapping[Any, Values], others: Sequence[Relation], broken_before: Sequence[NDArray[np.bool_]]
    ) -> tuple[NDArray[np.bool_], Values]:
        """Return for which records a choice keeps the relation, and what is chosen."""
        sound = {one: ~_by_group(own, self.labels) for one, own in zip(others, broken_before, strict=True)}
        broken = self.relation.violated(values) & sound[self.relation]
        chosen = self._chosen(values)
        trial = {**values, self.target: np.where(broken, chosen, values[self.target])}
        refused = self.relation.violated(trial) | _is_reserved(self.column, chosen)
        for one in others:
            if self.target in one.columns:
                refused |= one.violated(trial) & ~one.violated(values) & sound[one]
        # Where other columns have other groups, what is chosen may differ among members: then it is not taken.
        first = np.unique(self.labels, return_index=True)[1][self.labels]
        refused |= (chosen != chosen[first]) | (broken != broken[first])
        return broken & ~_by_group(refused, self.labels), chosen

    def check_hidden(self, changed: NDArray[np.bool_], before: Values) -> None:
        """Refuse a choice that gives back what a group hides: few members' amounts, by releasing the spike for all."""
        kind = self.column.kind
        if self.relation.sign != "=" or not isinstance(kind, Semi):
            return
        amounts = _by_group(~np.isnan(before) & (before != kind.spike), self.labels)
        hidden = changed & amounts & (self.column.values == kind.spike)
        if hidden.any():
            groups = distinct_of(self.labels[hidden]).size
            raise InvalidData(
                f"the relation {self.relation.said!r} would disclose the amounts of {shown_name(self.target)} that "
                f"{groups} group(s) hide by its spike. Write it with the total alone on a side, as in income = wage + "
                f"rent, or leave it out.",
                parameter="relations",
                columns=(self.target,),
            )

    def _chosen(self, values: Mapping[Any, Values]) -> Values:
        """Return the values with which the relation just holds."""
        is_left = self.relation.alone[0] == self.target
        other = self.relation.sides(values)[1 if is_left else 0]
        if self.power is None:
            return other
        nearest = to_power_of_ten(other, self.power)
        if self.relation.sign not in _LIMITS:
            return nearest
        side = _LIMITS[self.relation.sign] * (1 if is_left else -1)
        beyond = side * nearest < side * other  # rounded to the wrong side of a limit
        return np.where(beyond, to_power_of_ten(nearest + side * 10.0**self.power, self.power), nearest)


def _by_group(found: NDArray[np.bool_], labels: Labels) -> NDArray[np.bool_]:
    """Return which records share a group with one that something was found of."""
    return np.asarray(np.bincount(labels, found, int(labels.max()) + 1)[labels] > 0)


def _numbers(table: Table) -> dict[Any, Values]:
    return {column.name: own for column in table if (own := numbers_of(column)) is not None}


def _is_reserved(column: Coded, values: Values) -> NDArray[np.bool_]:
    """Return which values would be read as missing."""
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
