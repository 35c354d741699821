"""Every measure of loss and of risk, by its name: how it is computed, and the words for it wherever it is shown."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from microagg.checks import Columns
from microagg.measures.criterion import scoring_index
from microagg.measures.measure import Definition, Measure

if TYPE_CHECKING:
    from microagg.measures.risk import DisclosureRisk
    from microagg.measures.utility import LossMeasures

_SHARE = (0.0, 100.0)


def _linked(risk: "DisclosureRisk") -> str:
    """Return by whom records are linked, and what of that was estimated."""
    tried = len(risk.per_set)
    average = (
        f"{tried} sets of them" if tried == risk.n_sets else f"{tried} of {risk.n_sets} sets (± {risk.sets_error:.2g})"
    )
    linked = "Records linked to the right one"
    if risk.n_units is not None:
        linked = "Whole units linked to the right one, by all their rows,"
    sampled = (
        f" This was estimated on {risk.sampled} {_what(risk)}s drawn with seed {risk.seed}, ± "
        f"{risk.standard_error:.2g}."
        if risk.sampled
        else ""
    )
    known = f"{len(risk.keys)} keys, averaged over {average}" if len(risk.keys) > 1 else "one key"
    only = f"only {known}, of {len(risk.columns)} columns" if risk.restricted else known
    return f"{linked} by an intruder who knows {only}.{sampled}"


def _what(risk: "DisclosureRisk") -> str:
    return "record" if risk.n_units is None else "unit"


def _known(risk: "DisclosureRisk") -> str:
    return "keys" if risk.restricted else "columns"


def _lost(loss: "LossMeasures") -> str:
    if len(loss.numbers) == len(loss.columns):
        return "Squared change of the cells, as a share of the variation of the columns."
    return "What columns lost, each measured by its kind, as a share of the loss if all records had the same values."


_LOSS = (
    Definition("IL", "loss", "information loss", _lost, lambda loss: loss.percent, unit="%"),
    Definition(
        "IL_w", "loss", "information loss by weight", "The same, with weights in all sums.",
        lambda loss: None if loss.weighted is None else loss.weighted.percent, unit="%", compared=False,
    ),
    Definition(
        "IL1s", "loss", "change of a cell", "Mean change of a cell, divided by √2 standard deviations of its column.",
        lambda loss: loss.il1s, compared=False,
    ),
    Definition(
        "M1", "loss", "relative change of cells", "Mean relative change of a cell.", lambda loss: loss.m1,
        compared=False,
    ),
    Definition(
        "M2", "loss", "… of means", "Mean relative change of a column's mean.", lambda loss: loss.m2, compared=False
    ),
    Definition(
        "M3", "loss", "… of variances", "Mean relative change of a column's variance.", lambda loss: loss.m3,
        compared=False,
    ),
    Definition(
        "M4", "loss", "… of covariances", "Mean relative change of a variance or covariance.", lambda loss: loss.m4,
        compared=False,
    ),
    Definition(
        "M5", "loss", "change of correlations", "Mean absolute change of a correlation.", lambda loss: loss.m5,
        bounds=(0.0, 2.0), compared=False,
    ),
    Definition(
        "G_IL", "loss", "all five together", "100 times the mean of M1 to M5.", lambda loss: loss.g_il, unit="%"
    ),
)  # fmt: skip

_RISK = (
    Definition(
        "RLD", "risk", lambda risk: f"right {_what(risk)}, some {_known(risk)} known", _linked,
        lambda risk: risk.rld, bounds=_SHARE, unit="%",
        explained=lambda risk: f"The average over sets of known {_known(risk)}.",
    ),
    Definition(
        "full keys", "risk", lambda risk: f"right {_what(risk)}, all {_known(risk)} known",
        "The same, by an intruder who knows all keys.", lambda risk: risk.full_keys, bounds=_SHARE, unit="%",
        explained="",  # the report says what k allows
        compared=False,
    ),
    Definition(
        "expected links", "risk", lambda risk: f"right {_what(risk)}, sample",
        lambda risk: f"{_what(risk).capitalize()}s linked to the right one by an intruder who finds everybody's group, "
        "but cannot know who is in the sample.",
        lambda risk: None if risk.expected_links is None else 100.0 * risk.expected_links / risk.n_linked,
        bounds=_SHARE, unit="%",
        explained="Expected if an intruder finds everybody's group, but cannot know who is in the sample: the weights "
        "show among how many persons they must choose.",
        compared=False,
    ),
    Definition(
        "right group", "risk", lambda risk: f"right group, some {_known(risk)} known",
        lambda risk: f"Links to a {_what(risk)} with the same masked values as the right one, averaged like RLD.",
        lambda risk: risk.right_group, bounds=_SHARE, unit="%",
        explained=lambda risk: f"The average over sets of known {_known(risk)}.", compared=False,
    ),
    Definition(
        "full group", "risk", lambda risk: f"right group, all {_known(risk)} known",
        "The same, by an intruder who knows all keys.", lambda risk: risk.full_group, bounds=_SHARE, unit="%",
        explained="The intruder then knows what the group releases: its averages.", compared=False,
    ),
    Definition(
        "ID", "risk", "all values guessed closely", "Records whose values are all within 1 to 10 % of the ranks.",
        lambda risk: risk.interval, bounds=_SHARE, unit="%",
        explained="All original values of a record are within 1 to 10 % of the ranks around the released values. An "
        "intruder needs no link to guess them.",
    ),
    Definition(
        "ID, ties alike", "risk", "… equal values with one rank", "The same, if equal values have the same rank.",
        lambda risk: risk.interval_tied, bounds=_SHARE, unit="%",
        explained="The same, if equal values have the same rank. The order of rows then does not matter.",
        compared=False,
    ),
    Definition(
        "ID, deviations", "risk", "… by size", "The same, within 1 to 10 % of a standard deviation.",
        lambda risk: risk.interval_deviation, bounds=_SHARE, unit="%",
        explained="The same, within 1 to 10 % of a standard deviation of the column.", compared=False,
    ),
    Definition(
        "unit constants", "risk", "values of units that means disclose",
        lambda risk: "Units whose value, in a column that all their rows have in common, follows from the means of the "
        "groups that these rows are in" + ("." if risk.constants.converged else ", or more of them."),
        lambda risk: None if risk.constants is None else risk.constants.percent,
        bounds=_SHARE, unit="%",
        explained="Computed exactly, or to within their rounding, by an intruder who knows which rows are in which "
        "group. A value that changes from row to row in a known way, such as age, is not counted.",
        compared=False,
    ),
    Definition(
        "G_DR", "risk", "linkage and guessing together", "The mean of RLD and ID.", lambda risk: risk.g_dr,
        bounds=_SHARE, unit="%",
    ),
)  # fmt: skip

_BOTH = (
    Definition(
        "SI", "both", "loss and risk together", "The scoring index: the mean of G_DR and G_IL (or IL).",
        lambda loss, risk: scoring_index(loss.overall[1], risk.g_dr), unit="%",
    ),
)  # fmt: skip

DEFINITIONS: dict[str, Definition] = {one.name: one for one in (*_LOSS, *_RISK, *_BOTH)}
"""Each measure by its name. One that is entered is shown wherever figures are."""


def defined(of: Literal["loss", "risk", "both"]) -> list[Definition]:
    """Return the measures of loss, of risk, or of both together, in the order in which they are shown."""
    return [one for one in DEFINITIONS.values() if one.of == of]


def measures_of(of: Literal["loss", "risk", "both"], *results: Any) -> tuple[Measure, ...]:
    """Return the figures of a result, or of the two that those of both are of."""
    found = (one.measured(*results) for one in defined(of))
    return tuple(measure for measure in found if measure is not None)


def measures_of_both(loss: "LossMeasures", risk: "DisclosureRisk") -> tuple[Measure, ...]:
    """Return every figure of a release: of loss, of risk, and of both together."""
    return (*loss.measures, *risk.measures, *measures_of("both", loss, risk))


def computed(of: Literal["loss", "risk"], original: Columns, masked: Columns, names: Sequence[Any]) -> dict[str, float]:
    """Return the measures that are computed from the columns and not from the results; mostly there are none."""
    return {
        one.name: float(one.from_columns(original, masked, names))
        for one in defined(of)
        if one.from_columns is not None
    }
