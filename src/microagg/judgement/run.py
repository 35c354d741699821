"""What was asked of a run. Nothing else in this room, nor the report, reads the recipe of a release."""

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from microagg.evaluate.measure import ReadOnly
from microagg.judgement.names import shown
from microagg.partition import METHODS
from microagg.schema import Role

if TYPE_CHECKING:
    from microagg.release import Release

AS_IT_IS = (Role.WEIGHT, Role.KEEP, Role.CONFIDENTIAL)
"""The roles of columns that are released as they are, besides strata."""

_RELEASED = (Role.QUASI, Role.STRATUM, *AS_IT_IS)


@dataclass(frozen=True)
class Blocks:
    """How a file was cut into pieces that were grouped each by itself."""

    by: str
    count: int
    max_block: int | None


@dataclass(frozen=True)
class Refined:
    """How groups were refined."""

    effort: str | None  # None: a number of moves was asked
    moves: int
    seed: int


@dataclass(frozen=True)
class Run(ReadOnly):
    """What was asked of a run, with every default; names as they may be displayed."""

    k: int
    per_column: bool
    method: str
    said: str | None  # what the method does; None where it is the caller's own
    options: Mapping[str, Any]  # the method's own, without how it searches
    search: str | None
    blocks: Blocks | None
    refined: Refined | None
    scale: str
    aggregate: str
    integers: str
    roles: Mapping[Role, tuple[str, ...]]  # in public of released columns alone
    has_identifiers: bool
    index_dropped: bool  # False in public
    grouped_on: tuple[str, ...] | None  # None: all masked columns
    reason: str  # why those; empty in public
    ties: int  # choices as good; 1 in public
    versions: Mapping[str, str]

    def names(self, role: Role) -> list[str]:
        """List the columns of a role."""
        return list(self.roles.get(role, ()))


def columns_of(release: "Release", *roles: Role) -> list[Any]:
    """List the columns of some roles as the file calls them."""
    return [name for role in roles for name in release.recipe.roles.get(role.value, ())]


def run_of(release: "Release", public: bool) -> Run:
    """Tell what was asked; in public neither why columns were chosen nor which were dropped."""
    recipe, selection = release.recipe, release.selection
    known = METHODS.get(recipe.method)
    blocks, refined = recipe.blocks, recipe.refine
    return Run(
        k=recipe.k,
        per_column=recipe.per_column,
        method=shown(recipe.method),
        said=known.said if known else None,
        options={name: value for name, value in recipe.options.items() if name != "search"},
        search=recipe.options.get("search"),
        blocks=Blocks(shown(blocks["by"]), blocks["count"], blocks.get("max_block")) if blocks else None,
        refined=_refined(refined) if refined else None,
        scale=recipe.scale,
        aggregate=recipe.aggregate,
        integers=recipe.integers,
        roles={role: tuple(map(shown, columns_of(release, role))) for role in Role if role in _RELEASED or not public},
        has_identifiers=bool(columns_of(release, Role.IDENTIFIER)),
        index_dropped=release.index_dropped and not public,
        grouped_on=None if selection is None else tuple(map(shown, selection.columns)),
        reason="" if public or selection is None else selection.reason,
        ties=1 if public or selection is None else selection.n_alternatives,
        versions={
            "microagg": shown(recipe.version),
            "Python": platform.python_version(),
            "NumPy": np.__version__,
        },
    )


def _refined(asked: Mapping[str, Any]) -> Refined:
    effort = asked["effort"]
    return Refined(effort if isinstance(effort, str) else None, asked.get("moves", 0), asked["seed"])
