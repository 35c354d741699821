"""Relations that hold between the numbers of a record, such as income = wage + benefits: read, and counted."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.base.frozen import frozen
from microagg.checks import check_between
from microagg.errors import InvalidParameter
from microagg.recipe.grammar import COMPARED, LARGEST, Expression, Name, Reader, Values

_NOISE = 1e-9  # of the values that are compared: sums of floats differ by that without meaning anything
_HOW = (
    "Write two sums of columns with =, !=, <=, >=, < or > between them, such as 'income = wage + 2 * benefits'; put "
    "names that are not one word in quotes."
)


@frozen()
class Relation:
    """A relation between columns.

    Attributes
    ----------
    said : str
        As it was written.
    columns : tuple of str
        The columns that it names, in that order.
    alone : tuple of two
        The column that is all there is on the left, and on the right, where it is not on the other side too; else None.
    sign : str
        "=", "!=", "<=", ">=", "<" or ">".
    tolerance : float
        By how much the two sides of =, <= and >= may differ, such as the step to which released means are rounded; a
        billionth of their size is always allowed.

    Examples
    --------
    >>> import microagg as ma
    >>> ma.Relation.of("income = wage + 'child benefit'").columns
    ('income', 'wage', 'child benefit')
    """

    said: str
    columns: tuple[str, ...]
    alone: tuple[str | None, str | None]
    sign: str
    tolerance: float
    read_from: ClassVar[Any] = None  # the table of a recipe that says it
    _sides: tuple[Expression, Expression] = field(compare=False, repr=False)

    @classmethod
    def of(cls, said: Any, tolerance: Any = 0.0) -> "Relation":
        """Read a relation, or say what is wrong with it."""
        tolerance = check_between("tolerance", tolerance, 0.0, LARGEST, "It is in the units of the columns.")
        if not isinstance(said, str):
            raise InvalidParameter(f"a relation is of type {type(said).__name__}. {_HOW}", parameter="relations")
        reader = Reader(said, "relation", "relations", _HOW)
        left = reader.sum()
        sign = reader.take(*COMPARED)
        right = reader.sum()
        reader.end()
        columns = tuple(dict.fromkeys([*left.columns(), *right.columns()]))
        if not columns:
            raise reader.wrong("it names no column")
        alone = _alone(left, right), _alone(right, left)
        return cls(said, columns, alone, "=" if sign == "==" else sign, tolerance, (left, right))

    def violated(self, values: Mapping[Any, Values]) -> NDArray[np.bool_]:
        """Return which records break it; one that lacks a value of its columns breaks nothing.

        Strict signs stay strict.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            left, right = self.sides(values)
            size = np.maximum(np.abs(left), np.abs(right))
            slack = self.tolerance + _NOISE * np.where(np.isfinite(size), size, 0.0)
            known = ~np.isnan(left) & ~np.isnan(right)
            broken = {
                "=": np.abs(left - right) > slack,
                "!=": left == right,
                "<=": left > right + slack,
                ">=": left < right - slack,
                "<": left >= right,
                ">": left <= right,
            }[self.sign]
        return np.asarray(broken & known)

    def sides(self, values: Mapping[Any, Values]) -> tuple[Values, Values]:
        """Return what stands left and right of the sign, for each record."""
        shape = values[self.columns[0]].shape
        with np.errstate(over="ignore", invalid="ignore"):  # what is beyond float64 is infinite
            left, right = (np.broadcast_to(side.values(values.__getitem__), shape) for side in self._sides)
        return left, right

    def known(self, values: Mapping[Any, Values]) -> int:
        """Count the records that have a value in all of its columns."""
        return int(np.count_nonzero(~np.isnan(np.array([values[name] for name in self.columns])).any(axis=0)))


def _alone(side: Expression, other: Expression) -> str | None:
    return side.name if isinstance(side, Name) and side.name not in other.columns() else None


class RelationCounts(NamedTuple):
    """How many records break a relation.

    Attributes
    ----------
    relation : str
        As it was written.
    before, after : int
        Records that break it in the original, and in the masked file.
    fresh : int
        Those that break it in the masked file alone.
    known_before, known_after : int
        Records that have a value in all of its columns.

    Examples
    --------
    >>> import microagg as ma
    >>> survey = ma.datasets.survey(300, seed=0).select(["age", "income", "tax"])
    >>> found, = ma.relations(survey, ma.protect(survey, k=3).data, ["tax <= income"])
    >>> found.reading
    'tax <= income: holds in the masked file.'
    """

    relation: str
    before: int
    after: int
    fresh: int
    known_before: int
    known_after: int

    @property
    def reading(self) -> str:
        """What was counted, in words."""
        if not self.after:
            return f"{self.relation}: holds in the masked file."
        more = f", {self.fresh} of them because of masking" if self.fresh else ", as in the original"
        return f"{self.relation}: broken by {self.after} of {self.known_after} masked records{more}."


def count_violations(
    relations: Sequence[Relation],
    original: Mapping[Any, Values],
    masked: Mapping[Any, Values],
) -> tuple[RelationCounts, ...]:
    """Count the records that break relations, in two files that hold the same records in the same order."""
    found = []
    for relation in relations:
        was, now = relation.violated(original), relation.violated(masked)
        found.append(
            RelationCounts(
                relation.said,
                int(np.count_nonzero(was)),
                int(np.count_nonzero(now)),
                int(np.count_nonzero(now & ~was)),
                relation.known(original),
                relation.known(masked),
            )
        )
    return tuple(found)
