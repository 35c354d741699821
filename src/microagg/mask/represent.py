"""What groups release of each column: a value each, with moments kept, rounded, and relations between columns kept."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from microagg.columns import frames
from microagg.columns.representatives import Represented, represent
from microagg.columns.roles import Role
from microagg.columns.rounding import Rounded, round_means
from microagg.columns.table import Table
from microagg.mask.demands import check_weighing, weighing_demand
from microagg.mask.groups import Groups, rule_of
from microagg.mask.moments import MomentFacts, match_moments
from microagg.mask.relations import KeptRelation, keep_relations
from microagg.mask.weights import ReleasedWeights, check_dominance, released_weights
from microagg.mask.whole_units import represent_whole
from microagg.recipe import Recipe
from microagg.work import Work


class Values(NamedTuple):
    """What is released.

    Attributes
    ----------
    records : Table
        Of each record.
    represented : Represented
        What groups release before moments are kept and anything is rounded.
    moments : MomentFacts or None
        Where moments are kept, what is known of them before anything is written.
    rounded : mapping
        How each quantity was rounded.
    chosen : tuple of KeptRelation
    weights : ReleasedWeights
    """

    records: Table
    represented: Represented
    moments: MomentFacts | None
    rounded: Mapping[Any, Rounded]
    chosen: tuple[KeptRelation, ...]
    weights: ReleasedWeights


def values_of_groups(table: Table, groups: Groups, recipe: Recipe, forming: Work, rounding: Work) -> Values:
    """Return what records release; the last step of `forming` finds representatives, which are then rounded."""
    rule = rule_of(recipe, table)
    if groups.shared is None:
        found = represent(table, groups.of_cells, rule, forming.last, table.representing)
    else:
        found = represent_whole(table, groups, rule, forming._replace(progress=None))
    _check_weights(table, groups, found, recipe)
    weights = table.weighed.representing
    known = None if weights is None else weights.values
    of_groups, moments, labels = found.groups, None, groups.of_cells
    if recipe.masking.moments != "none":
        of_groups, moments = match_moments(table, of_groups, labels, rule, recipe.masking)
    released, rounded = round_means(table, of_groups, labels, recipe.masking.rounding, known, rounding.progress)
    released, rounded, chosen = keep_relations(recipe.relations.relations, table, released, labels, rounded, known)
    dropped = table.schema.names(Role.DROP) if table.weighed.weighing.by_group else ()
    own = released_weights(table, groups, released, recipe.k, frames.shared_codes(table.frame, dropped))
    return Values(released, found, moments, rounded, chosen, own)


def _check_weights(table: Table, groups: Groups, found: Represented, recipe: Recipe) -> None:
    """Refuse groups in which too few weigh something, or one member weighs nearly all."""
    of_units, enough = table.units is not None, weighing_demand(table, recipe.k)
    if enough is not None:
        together = np.atleast_2d(groups.released_together.T)
        light = max(int(np.count_nonzero(enough.breach(own))) for own in together)
        check_weighing(light, groups.number, recipe.k, of_units=of_units)
    check_dominance(found.dominated, groups.number, table.weighed.weighing, of_units=of_units)
