"""What was asked of a run. Nothing else in this package, nor the report, reads the recipe of a release."""

import os
import platform
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from microagg.algorithms.methods import METHODS
from microagg.base.frozen import ReadOnly, frozen
from microagg.columns.kinds import Kind, Semi, Taxonomy
from microagg.columns.recoding import Recoding
from microagg.columns.roles import Role
from microagg.judge.text import shown

if TYPE_CHECKING:
    from microagg.release import Release

UNCHANGED = (Role.WEIGHT, Role.KEEP, Role.CONFIDENTIAL)
"""The roles of columns that are released unchanged, besides strata."""

_RELEASED = (Role.QUASI, Role.STRATUM, *UNCHANGED)


@frozen()
class JudgedBlocks:
    """How a file was cut into pieces that were grouped each by itself."""

    by: str
    count: int
    max_block: int | None


@frozen()
class Refined:
    """How groups were refined."""

    effort: str | None  # None: a number of moves was asked
    moves: int
    seed: int


@frozen()
class KindFacts:
    """Of which kind a masked column is."""

    name: str
    said: str  # what a group releases
    spike: float | None = None  # of a semi-continuous column
    with_taxonomy: bool = False


@frozen()
class JudgedRun(ReadOnly):
    """What was asked of a run, with every default; names as they may be displayed."""

    k: int
    per_column: bool
    method: str
    said: str | None  # what the method does; None where it comes from outside microagg
    options: Mapping[str, Any]  # the method's own, without how it searches
    search: str | None
    blocks: JudgedBlocks | None
    refined: Refined | None
    scale: str
    importance: Mapping[str, float]  # of the masked columns for which it is not 1
    aggregate: str
    rounding: str
    moments: str  # what of variation is kept: "none", "variance" or "covariance"
    moments_clip: bool  # whether values beyond the range of the original are cut back
    recoded: Mapping[str, str]  # what was done to each released column before masking, in words
    kinds: Mapping[str, KindFacts]  # of each masked column
    missing: str  # what becomes of missing values
    nominal: str  # which category a group releases
    spike_totals: str  # when a group releases the spike
    spike_weight: float  # how much being the spike weighs in distances
    weighted: bool  # whether what groups release is weighted
    weights_by_group: bool  # whether weights are released as the means of groups
    calibrated: tuple[str, ...]  # the categories whose weighted totals the weights of groups were adjusted to keep
    roles: Mapping[Role, tuple[str, ...]]  # in public of released columns alone
    has_identifiers: bool
    index_dropped: bool  # False in public
    grouped_on: tuple[str, ...] | None  # None: all masked columns
    reason: str  # why those; empty in public
    ties: int  # choices as good; 1 in public
    tried: bool  # whether groups were formed on each of them
    versions: Mapping[str, str]

    @property
    def left_aside(self) -> list[str]:
        """The masked columns with importance 0: they form no groups, and the loss of the file is without them."""
        return [name for name, own in self.importance.items() if own == 0]

    @property
    def as_it_is(self) -> tuple[Role, ...]:
        """The roles of columns that are released unchanged, besides strata."""
        return tuple(role for role in UNCHANGED if role is not Role.WEIGHT or not self.weights_by_group)

    @property
    def unchanged(self) -> list[str]:
        """The columns that are released unchanged, besides strata."""
        return [name for role in self.as_it_is for name in self.names(role)]

    def names(self, role: Role) -> list[str]:
        """List the columns of a role."""
        return list(self.roles.get(role, ()))


def columns_of(release: "Release[Any]", *roles: Role) -> list[Any]:
    """List the columns of some roles as the file calls them."""
    return [name for role in roles for name in release.recipe.roles.of(role.value)]


def _kind_of(kind: Kind) -> KindFacts:
    spike = kind.spike if isinstance(kind, Semi) else None
    return KindFacts(kind.name, kind.said, spike, isinstance(kind, Taxonomy))


def _rule_of(name: Any, said: Mapping[str, Any]) -> str:
    """Return in words how a column was recoded; a table of categories is not read again."""
    if isinstance(said.get("join"), (str, os.PathLike)):
        return "values joined by a table"
    return Recoding.of({name: said}).words[name]


def run_of(release: "Release[Any]", public: bool) -> JudgedRun:
    """Return what was asked; in public neither why columns were chosen nor which were dropped."""
    recipe, selection = release.recipe, release.selection
    method, blocks, refine = recipe.method, recipe.blocks, recipe.refine
    known = METHODS.get(method.name)
    released = columns_of(release, *_RELEASED)
    effort = refine.effort if isinstance(refine.effort, str) else None
    return JudgedRun(
        k=recipe.k,
        per_column=recipe.masking.per_column,
        method=shown(method.name),
        said=known.said if known else None,
        options={name: value for name, value in method.options.items() if name != "search"},
        search=method.options.get("search"),
        blocks=JudgedBlocks(shown(blocks.by), release.n_blocks, blocks.max_block) if release.n_blocks else None,
        refined=None if refine.effort is None else Refined(effort, release.moves, refine.seed),
        scale=recipe.masking.scale,
        importance={shown(one.name): one.importance for one in release.pair.original if one.importance != 1.0},
        aggregate=recipe.masking.aggregate,
        rounding=recipe.masking.rounding if isinstance(recipe.masking.rounding, str) else "by column",
        moments=recipe.masking.moments,
        moments_clip=recipe.masking.moments_clip,
        recoded={shown(name): _rule_of(name, said) for name, said in recipe.recode.recode.items() if name in released},
        kinds={shown(column.name): _kind_of(column.kind) for column in release.pair.original},
        missing=recipe.masking.missing,
        nominal=recipe.masking.nominal,
        spike_totals=recipe.masking.spike_totals,
        spike_weight=recipe.masking.spike,
        weighted=bool(recipe.weights.weighted),
        weights_by_group=bool(recipe.weights_by_group),
        calibrated=tuple(map(shown, recipe.weights.calibrate)),
        roles={role: tuple(map(shown, columns_of(release, role))) for role in Role if role in _RELEASED or not public},
        has_identifiers=bool(columns_of(release, Role.IDENTIFIER)),
        index_dropped=release.index_dropped and not public,
        grouped_on=None if selection is None else tuple(map(shown, selection.columns)),
        reason="" if public or selection is None else selection.reason,
        ties=1 if public or selection is None else selection.ties,
        tried=not public and selection is not None and bool(selection.losses),
        versions={
            "microagg": shown(release.version),
            "Python": platform.python_version(),
            "NumPy": np.__version__,
        },
    )
