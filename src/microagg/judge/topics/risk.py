"""What an intruder could still do: overall, by record and by column."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from microagg.columns.table import Table
from microagg.judge.parts import ColumnRisk, ConstantsFound, JudgedLinkage, JudgedRisk, RecordRisk, figure, finite
from microagg.judge.run import JudgedRun
from microagg.judge.text import count, counted, listed, percent, sentence, shown
from microagg.measures.dominance import measure_dominance
from microagg.measures.measure import Measure
from microagg.work import Progress

if TYPE_CHECKING:
    from microagg.measures.constants import UnitConstants
    from microagg.measures.risk import DisclosureRisk
    from microagg.release import Release

_DOMINANCE = 10.0  # percent: the p of the p percent rule
_SHARES = (50.0, 90.0, 99.0)  # of the records, in percent: the highest chance of each share of them is shown
_CHANCES = {
    50.0: "half of the records: at most",
    90.0: "90 of 100 records: at most",
    99.0: "99 of 100 records: at most",
    100.0: "the highest chance of all records",
}


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
    quantities = [column for column in release.pair.original if column.kind.is_quantity]
    if not quantities:
        return {}
    amounts = np.nan_to_num(Table(tuple(quantities)).matrix(), copy=False)  # what is missing adds nothing
    names = [column.name for column in quantities]
    weights = release.pair.weights.values if run.weighted and release.pair.weights is not None else None
    return dict(measure_dominance(amounts, release.groups, names, _DOMINANCE, weights, progress).failing)


def _record_risk(per_record: NDArray[np.float64], bound: float | None) -> RecordRisk:
    """Spread the records' chances over bins, in percent."""
    chances = 100.0 * per_record[np.isfinite(per_record)]
    highest = float(chances.max())
    edges = np.linspace(0.0, max(bound or 0.0, highest, 0.01), 21)
    counts = np.bincount(np.clip(np.searchsorted(edges, chances, side="right") - 1, 0, 19), minlength=20)
    spread = (*((share, float(np.quantile(chances, share / 100))) for share in _SHARES), (100.0, highest))
    return RecordRisk(
        edges=tuple(edges.round(4).tolist()),
        shares=tuple((100.0 * counts / chances.size).round(3).tolist()),
        chances=spread,
        bound=bound,
        quantiles=tuple((_CHANCES[share], chance) for share, chance in spread),
    )


def in_words(found: JudgedRisk, run: JudgedRun, measures: Mapping[str, Measure], *, by_units: bool) -> JudgedRisk:
    """Return a risk with what is said of it."""
    both = math.hypot(found.standard_error, found.linkage.sets_error)  # of the records and of the sets that were drawn
    bound = _bound_words(found, run, by_units)
    return replace(
        found,
        figures=tuple(
            figure(one, bound if one.name == "full keys" else "") for one in measures.values() if one.of != "loss"
        ),
        how=_how_linked(found),
        right=_right(found, by_units),
        error=_error_words(both),
    )


def _right(found: JudgedRisk, by_units: bool) -> str:
    """Return what an intruder finds who links rightly: of units, any of their rows is right."""
    if found.units is not None:
        return "the right unit"
    return "the right record" if not by_units else "a record of the right unit"


def _bound_words(found: JudgedRisk, run: JudgedRun, by_units: bool) -> str:
    k = run.k
    if run.per_column:
        return "k holds for single columns only, so this figure has no upper limit below 100 %."
    what = "whole units" if found.units is not None else "different units" if by_units else "records"
    return f"It cannot be more than {percent(100.0 / k)}, because at least {k} {what} have the same masked values."


def _how_linked(found: JudgedRisk) -> str:
    linkage = found.linkage
    whole = linkage.sets == linkage.of_sets
    sets = f"all {count(linkage.sets)}" if whole else f"{count(linkage.sets)} of the {count(linkage.of_sets)}"
    links = "The intruder links each person to the nearest released record."
    if found.units is not None:
        links = (
            "The intruder follows units through all their rows, and links each unit to the nearest released unit with "
            "the same number of rows, or the same waves: linkage is of whole units."
        )
    if found.restricted:
        words = [
            f"The intruder is assumed to know the strata of everybody, and the original values of only "
            f"{listed(found.keys)} (the keys), {count(len(found.keys))} of "
            f"{counted(len(found.columns), 'masked column')}. {links} An intruder who knows other masked columns too "
            f"can link more than this page shows."
        ]
    else:
        words = [
            f"The intruder is assumed to know the strata and the original values of masked columns of everybody. "
            f"{links}"
        ]
    if linkage.of_sets > 1:
        what = "keys" if found.restricted else "columns"
        words.append(
            f"It is not known which {what} an intruder knows: {sets} sets of {what} were tried, and the results "
            f"averaged."
        )
    if linkage.sets_error:
        words.append(f"The sets were drawn with seed 0{_error_words(linkage.sets_error)}.")
    words.append(sample_words(found, found.standard_error))
    return sentence(words)


def sample_words(found: JudgedRisk, error: float) -> str:
    """Return on which records linkage was estimated, and its standard error; nothing where all were linked."""
    if found.sampled is None:
        return ""
    drawn = counted(found.sampled, "record" if found.units is None else "unit")
    return f"This was estimated on {drawn} drawn with seed {found.seed}{_error_words(error)}."


def _error_words(error: float) -> str:
    """Return the standard error of a percentage: in points, or it would be read as percent of the figure."""
    return f" (standard error {error:.2f} percentage points)" if error else ""


def as_json(risk: "DisclosureRisk") -> dict[str, Any]:
    """Return the figures of risk, with the columns that the intruder knows and the sample they were estimated on."""
    return {
        "keys": [name for name in risk.columns if name in risk.keys],
        "linkage_of": "records" if risk.n_units is None else "whole units",
        "record_linkage_percent": risk.rld,
        "record_linkage_all_keys_percent": risk.full_keys,
        "right_group_all_keys_percent": risk.full_group,
        "sampled": risk.sampled,
        "seed": risk.seed,
        "standard_error": math.hypot(risk.standard_error, risk.sets_error),
        "standard_error_all_keys": risk.full_error,
        "interval_disclosure_percent": risk.interval,
        "g_dr": risk.g_dr,
        **({} if risk.expected_links is None else {"expected_links": risk.expected_links}),
    }
