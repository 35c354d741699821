"""The release of the records that were drawn of a file that does not fit into memory."""

from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from microagg import __version__
from microagg.columns import frames
from microagg.columns.kinds import Nominal
from microagg.columns.roles import Role
from microagg.columns.weights import Weighed, weights_in
from microagg.errors import InvalidData
from microagg.files.batches import Batches
from microagg.files.sources import Source
from microagg.files.stores import kept_address
from microagg.mask.engines.figures import Outcome
from microagg.mask.engines.plan import Plan
from microagg.mask.engines.sample import Drawn
from microagg.mask.facts import WholeFile
from microagg.mask.groups import Groups
from microagg.mask.masked import Masked
from microagg.mask.weights import revealing_weights, weight_facts
from microagg.measures.loss import weighted_loss_of_release
from microagg.recipe import Recipe
from microagg.release import Release


def release_of(drawn: Drawn, file: Batches, outcome: Outcome, recipe: Recipe, index_dropped: bool) -> Release[Any]:
    """Return the release of the records that were drawn, with what is known of the whole file."""
    plan, typed = outcome.plan, file.typed(drawn.before)
    frame = nw.from_native(typed, eager_only=True)
    units = None
    if plan.unit is not None:
        units = frames.units_of(frame, plan.unit, plan.in_part)._replace(joined=plan.joined_spellings)
    original = replace(
        plan.coded(typed),
        schema=plan.schema,
        units=units,
        weighed=_weighed(file, plan, typed),
        rows=drawn.rows,
        dropped=frames.shared_codes(frame, plan.schema.names(Role.IDENTIFIER, Role.DROP)),
    )
    written, whole = plan.coded(drawn.after), None if drawn.rows.size == outcome.n_records else _whole(plan, outcome)
    weighed, by_weight = original.weighed, outcome.weights
    weights = weighed.first
    if (
        weights is not None and by_weight is None and whole is None
    ):  # it is not used, and the loss is reported by it all the same
        by_weight = weight_facts(weighted_loss_of_release(original, written, weights), 0, {}, None)
    groups = np.unique(drawn.leads, return_inverse=True)[1].astype(np.int64).ravel()
    if by_weight is not None and plan.weighing.by_group:
        after = {name: weights_in(drawn.after[name], name) for name in weighed.values}
        dropped = frames.shared_codes(frame, plan.schema.names(Role.DROP))
        found = revealing_weights(weighed.values, after, original, groups, groups, plan.k, units, dropped)
        by_weight = replace(by_weight, revealing=found)
    return Release(
        data=drawn.after,
        groups=groups,
        information=outcome.information,
        k_achieved=outcome.k_achieved,
        recipe=recipe,
        n_blocks=outcome.n_blocks,
        moves=outcome.figures.moves,
        version=__version__,
        index_dropped=index_dropped,
        missing=outcome.missing,
        rounded=outcome.rounded,
        weights=by_weight,
        source=Source(
            drawn.before, file.path.name, file.kind, file.details, dialect=file.dialect, address=kept_address(file.path)
        ),
        whole=whole,
        _masked=Masked(original, Groups(groups, plan.grouping, recipe.blocks), written, recipe),
    )


def _weighed(file: Batches, plan: Plan, table: pa.Table) -> Weighed:
    """Return the weights of some records; none if there are none, or they are only released."""
    names = dict.fromkeys([*plan.weighing.used, *plan.weighing.names[:1]])
    try:
        numbers = pa.table({name: file.as_numbers(table[name], name) for name in names})
    except InvalidData:
        return Weighed(plan.weighing, {})
    return Weighed.of(nw.from_native(numbers, eager_only=True), plan.weighing)


def _whole(plan: Plan, outcome: Outcome) -> WholeFile:
    known = list(zip(plan.columns, outcome.known.facts, strict=True))
    return WholeFile(
        records=outcome.n_records,
        group_sizes=dict(sorted(outcome.figures.sizes.items())),
        strata=tuple(outcome.patterns.strata_sizes.tolist()),
        missing_cells=int(outcome.lost.missing.sum()),
        counts={column.name: facts.counts for column, facts in known if isinstance(column.kind, Nominal)},
        states={column.name: frozenset(np.flatnonzero(facts.states).tolist()) for column, facts in known},
    )
