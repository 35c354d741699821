"""What an intruder could still do: overall, by record and by column."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from microagg.columns.table import Table
from microagg.judge.parts import ColumnRisk, ConstantsFound, JudgedLinkage, JudgedRisk, RecordRisk, finite
from microagg.judge.run import JudgedRun
from microagg.judge.text import shown
from microagg.measures.dominance import measure_dominance
from microagg.work import Progress

if TYPE_CHECKING:
    from microagg.measures.constants import UnitConstants
    from microagg.release import Release

_DOMINANCE = 10.0  # percent: the p of the p percent rule
_SHARES = (50.0, 90.0, 99.0)  # of the records, in percent: the highest chance of each share of them is shown


def risk_of(release: "Release[Any]", run: JudgedRun, progress: Progress | None = None) -> JudgedRisk:
    """Return what an intruder could do, for the internal report; the figures are among the judgement's measures."""
    found = release.risk
    dominated = _dominated(release, run, progress)
    columns = [
        ColumnRisk(shown(name), finite(found.drivers.get(name, math.nan)), dominated.get(name))
        for name in found.columns
    ]
    columns.sort(key=lambda one: -(one.driver or 0.0))
    return JudgedRisk(
        keys=tuple(shown(name) for name in found.columns if name in found.keys),  # in the file's order
        restricted=found.restricted,
        units=found.n_units,
        sampled=found.sampled,
        seed=found.seed,
        standard_error=found.standard_error,
        full_error=found.full_error,
        linkage=JudgedLinkage(len(found.per_set), found.n_sets, found.sets_error),
        records=_record_risk(found.per_record, None if run.per_column else 100.0 / run.k),
        columns=tuple(columns),
        dominance_percent=_DOMINANCE,
        n_groups=release.n_groups,
        constants=_constants(found.constants),
    )


def _constants(found: "UnitConstants | None") -> ConstantsFound | None:
    """Return the units with a value that follows from means; None where no column is constant in units."""
    if found is None or not found.columns:
        return None
    return ConstantsFound(tuple(map(shown, found.columns)), found.n_units, found.solved)


def _dominated(release: "Release[Any]", run: JudgedRun, progress: Progress | None) -> dict[Any, int]:
    """Count, for each column without negative values, the groups that fail the p percent rule.

    The rule is about totals: those of whole groups, which their means show and their medians do not.
    """
    if release.groups.ndim == 2 or run.aggregate != "mean":
        return {}
    quantities = [column for column in release._both()[0] if column.kind.is_quantity]
    if not quantities:
        return {}
    amounts = np.nan_to_num(Table(tuple(quantities)).matrix(), copy=False)  # what is missing adds nothing
    names = [column.name for column in quantities]
    weights = release._weights.values if run.weighted and release._weights is not None else None
    return dict(measure_dominance(amounts, release.groups, names, _DOMINANCE, weights, progress).failing)


def _record_risk(per_record: NDArray[np.float64], bound: float | None) -> RecordRisk:
    """Spread the records' chances over bins, in percent."""
    chances = 100.0 * per_record[np.isfinite(per_record)]
    highest = float(chances.max())
    edges = np.linspace(0.0, max(bound or 0.0, highest, 0.01), 21)
    counts = np.bincount(np.clip(np.searchsorted(edges, chances, side="right") - 1, 0, 19), minlength=20)
    return RecordRisk(
        edges=tuple(edges.round(4).tolist()),
        shares=tuple((100.0 * counts / chances.size).round(3).tolist()),
        chances=(*((share, float(np.quantile(chances, share / 100))) for share in _SHARES), (100.0, highest)),
        bound=bound,
    )
