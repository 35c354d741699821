"""The records of a file on which a release is judged where not all of them fit: those of whole groups.

A group is drawn by its lowest row, so that the same are whoever masks the file, and in however many parts.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microagg import __version__
from microagg._kernels.alike import mixed
from microagg.assess import SAMPLE_ERROR
from microagg.beyond._figures import Outcome
from microagg.beyond._plan import Plan
from microagg.errors import InvalidData
from microagg.evaluate.loss import weighted_loss_of_release
from microagg.io import frames
from microagg.io.batches import Batches
from microagg.io.sources import Source
from microagg.io.stores import kept_address
from microagg.io.weighing import weights_in
from microagg.kinds import Nominal
from microagg.recipe import Recipe
from microagg.release import Release
from microagg.release_facts import WholeFile
from microagg.schema import Role
from microagg.weighting import Weighed, revealing_weights, weight_facts

Labels = NDArray[np.int64]

GROUPS = math.ceil((50.0 / SAMPLE_ERROR) ** 2)
"""Groups that are drawn: what a share of records deviates by is half of all at most, which bounds its error."""
RECORDS = 400_000  # that are drawn, at most, about


def share_drawn(n_records: int, n_groups: int) -> float:
    """Return the share of the groups to draw: 1 where less than half would be left out."""
    share = min(GROUPS / n_groups, RECORDS / n_records)
    return share if share < 0.5 else 1.0


def drawn_rows(leads: Labels, share: float) -> Labels:
    """Return the records, by place, whose group is drawn; `leads` are the lowest rows of their groups in the file."""
    if share >= 1.0:
        return np.arange(leads.size)
    return np.flatnonzero(mixed(leads.astype(np.uint64)) < np.uint64(share * 2.0**64))


class Drawn(NamedTuple):
    """Records that were drawn: their rows in the file, the lowest of their groups, what was stored and is released."""

    rows: Labels
    leads: Labels
    before: pa.Table
    after: pa.Table

    @classmethod
    def of(cls, start: int, leads: Labels, share: float, before: pa.Table, after: pa.Table) -> "Drawn":
        """Draw from the records of a table, which begins at a row of the file."""
        own = drawn_rows(leads, share)
        return cls(start + own, leads[own], before.take(own), after.take(own))

    @classmethod
    def joined(cls, parts: Sequence["Drawn"]) -> "Drawn":
        """Return the records of all parts, which are in the order of the file."""
        rows, leads = (np.concatenate([getattr(one, name) for one in parts]) for name in ("rows", "leads"))
        before, after = (
            pa.concat_tables([getattr(one, name) for one in parts]).combine_chunks() for name in ("before", "after")
        )
        return cls(rows, leads, before, after)


def release_of(drawn: Drawn, file: Batches, outcome: Outcome, recipe: Recipe, index_dropped: bool) -> Release[Any]:
    """Return the release of the records that were drawn, with what is known of the whole file."""
    plan, typed = outcome.plan, file.typed(drawn.before)
    frame = nw.from_native(typed, eager_only=True)
    units = None
    if plan.unit is not None:
        units = frames.units_of(frame, plan.unit, plan.in_part)._replace(joined=plan.joined_spellings)
    original, written = plan.coded(typed), plan.coded(drawn.after)
    whole = None if drawn.rows.size == outcome.n_records else _whole(plan, outcome)
    weighed, by_weight = _weighed(file, plan, typed), outcome.weights
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
        _original=original,
        _written=written,
        _units=units,
        _repeating=frames.shared_codes(frame, plan.schema.names(Role.IDENTIFIER, Role.DROP)),
        _weights=weights,
        _rows=drawn.rows,
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
