"""Which column is what."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Any

from microagg.base.frozen import frozen
from microagg.checks import nearest, shown_name
from microagg.errors import RoleError


class Role(Enum):
    """What a column is to a release."""

    QUASI = "quasi"
    """Could identify a person together with others: masked."""
    IDENTIFIER = "identifiers"
    """Identifies a person by itself: dropped."""
    CONFIDENTIAL = "confidential"
    """Sensitive and not known to an intruder: released unchanged."""
    WEIGHT = "weight"
    """A sampling weight: it weights what groups release, and is never grouped on."""
    STRATUM = "strata"
    """Microaggregation stays within its values: released unchanged."""
    UNIT = "unit"
    """The person or firm a row belongs to: groups hold k different ones; dropped."""
    KEEP = "keep"
    """Harmless: released unchanged."""
    DROP = "drop"
    """Left out of the release."""


DROPPED = (Role.IDENTIFIER, Role.UNIT, Role.DROP)


@frozen()
class Column:
    """A column's name and role."""

    name: Any
    role: Role


@frozen()
class Schema:
    """The role of every column, in the order of the file."""

    columns: tuple[Column, ...]

    def names(self, *roles: Role) -> list[Any]:
        """Return the names of the columns with one of these roles, in file order."""
        return [column.name for column in self.columns if column.role in roles]

    @property
    def released(self) -> list[Any]:
        """The names of the columns that appear in the release."""
        return [column.name for column in self.columns if column.role not in DROPPED]

    @property
    def released_with_units(self) -> list[Any]:
        """The same and the column of units, where their numbers are released."""
        return [column.name for column in self.columns if column.role not in DROPPED or column.role is Role.UNIT]

    @classmethod
    def assign(
        cls,
        names: Sequence[Any],
        *,
        quasi: Iterable[Any] | None = None,
        rest: str | None = None,
        **roles: Iterable[Any],
    ) -> Schema:
        """Return each column its role.

        Without `quasi`, every column that has no other role is a quasi-identifier. With it, a column
        without a role is an error, unless `rest` is "keep" or "drop".
        """
        found: dict[Any, Role] = {}
        asked = [(Role(word), list(columns)) for word, columns in roles.items()]
        asked.append((Role.QUASI, [] if quasi is None else list(quasi)))
        for role, columns in asked:
            for name in columns:
                _check_known(name, names, role)
                if name in found:
                    twice = "is named twice" if found[name] is role else f"is already in {found[name].value}"
                    raise RoleError(f"column {name!r} in {role.value} {twice}. Give each column one role.")
                found[name] = role
        unassigned = [name for name in names if name not in found]
        default = Role.QUASI if quasi is None else Role.KEEP if rest == "keep" else Role.DROP
        if quasi is not None and rest is None and unassigned:
            listed = ", ".join(repr(name) for name in unassigned[:10])
            more = f" and {len(unassigned) - 10} more" if len(unassigned) > 10 else ""
            raise RoleError(
                f"{len(unassigned)} column(s) have no role: {listed}{more}. Name them in quasi, identifiers, "
                f"confidential, keep or drop, or pass rest='keep' or rest='drop'."
            )
        schema = cls(tuple(Column(name, found.get(name, default)) for name in names))
        if not schema.names(Role.QUASI):
            raise RoleError("no column is left to mask. Name at least one in quasi.")
        return schema


NO_COLUMNS = Schema(())


def _check_known(name: Any, names: Sequence[Any], role: Role) -> None:
    if name in names:
        return
    hint = nearest(name, names) or f" Check its spelling; the file has {len(names)} columns."
    raise RoleError(f"column {shown_name(name)} in {role.value} is not in the file.{hint}")
