"""What masking cost: overall, by column, in distributions, correlations and moments; and the least it could cost."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from microagg.algorithms.equivalence import codes_of
from microagg.checks import check_jobs
from microagg.columns import frames
from microagg.judge.drawn import MOST_DRAWN
from microagg.judge.parts import Bound, ColumnChange, ColumnLoss, Correlations, Loss, SpikeRow, figure, finite
from microagg.judge.run import JudgedRun
from microagg.judge.text import FIXED, first_of, listed, percent, points, quoted, shown
from microagg.measures.bound import LossBound, bound_of_release
from microagg.measures.columns import Everybody, changes_of
from microagg.measures.loss import InformationLoss
from microagg.measures.measure import Measure
from microagg.measures.utility import QUANTILES
from microagg.work import Progress, Work, stage

if TYPE_CHECKING:
    from microagg.release import Release


LOSS_WORDS = ((5.0, "small"), (20.0, "moderate"), (math.inf, "large"))
_CORRELATION_STEPS = (0.01, 0.05, 0.1, 0.2)
LOSS_SCALE = (
    "Small is below 5 %, moderate is 5 to 20 %, large is above 20 %. These words are a convention of this report."
)
_COMMON = 10.0  # percent of the records: a value that so many have is a spike, declared or not


def loss_word(value: float) -> str:
    """Return a loss, in percent, in a word."""
    return next(word for limit, word in LOSS_WORDS if value < limit or limit == math.inf)


def loss_of(release: "Release[Any]", progress: Progress | None = None) -> Loss:
    """Return the loss overall and of each column, the largest first, for the internal report."""
    found = release.loss
    bounding, comparing = (stage(progress, number, 2) for number in range(2))
    bound = judged_bound(release, bounding)
    original, written = release.pair
    changes = changes_of(original, written, release.groups, _weights(release), comparing, _everybody(release))
    columns = []
    for column in original:
        name, lost = column.name, found.per_column[column.name]
        one = ColumnLoss(shown(name), loss_word(lost), column.kind.name, finite(lost), change=changes[name])
        moves, rounded = found.quantiles.get(name), release.rounded.get(name)
        if moves is not None:  # a quantity
            at = int(np.argmax(np.abs(moves)))
            one = replace(
                one,
                mean=finite(found.means[name]),
                deviation=finite(found.deviations[name]),
                quantile=finite(moves[at]),
                quantile_at=100.0 * QUANTILES[at] if moves[at] else None,
            )
        if rounded is not None:
            one = replace(one, step=rounded.step, rounding_moved=finite(100.0 * rounded.moved))
        columns.append(one)
    columns = [
        replace(one, at="" if one.quantile_at is None else f"{one.quantile_at:g}{FIXED}%", own=_own_words(one))
        for one in columns
    ]
    columns.sort(key=lambda one: -(math.inf if one.percent is None else one.percent))
    return Loss(loss_word(found.percent), finite(found.percent), tuple(columns), len(columns), bound)


def _everybody(release: "Release[Any]") -> Everybody | None:
    """Return the whole original, where records were left out of the release."""
    found = release.pair.everybody
    weights = None if found is None else found.weighed.first
    return None if found is None else (found, None if weights is None else weights.values)


def _weights(release: "Release[Any]") -> tuple[Any, Any] | None:
    """Return the weights before and after masking, where what groups release is weighted."""
    if not release.recipe.weights.weighted or release.pair.weights is None:
        return None
    before, by_group = release.pair.weights.values, release.recipe.weights_by_group
    return before, frames.to_columns(frames.open_frame(release.data), by_group[:1])[0] if by_group else before


def correlations_of(release: "Release[Any]") -> Correlations | None:
    """Return the change of each correlation; the matrix where it can be drawn."""
    change = release.loss.correlations
    names = [shown(name) for name in release.loss.numbers]
    if len(names) < 2:
        return None
    rows, columns = np.triu_indices(len(names), 1)
    changes = change[rows, columns]
    order, mean = np.argsort(-np.abs(changes), kind="stable")[:6], float(np.abs(changes).mean())
    matrix = tuple(map(tuple, change.round(4).tolist())) if len(names) <= MOST_DRAWN else ()
    return Correlations(
        columns=tuple(names),
        change=matrix,
        largest=tuple((names[rows[i]], names[columns[i]], float(changes[i])) for i in order),
        mean=mean,
        text=moved(mean),
    )


def moved(mean: float, steps: Sequence[float] = _CORRELATION_STEPS) -> str:
    """Return in words how far a correlation moved on average: less than some step, or more than all."""
    limit = next((step for step in steps if mean < step), None)
    return f"more than {steps[-1]:g}" if limit is None else f"less than {limit:g}"


def bound_of(release: "Release[Any]", information: InformationLoss, progress: Progress | None = None) -> LossBound:
    """Return how little any grouping of the same file could lose, beside the loss of a release.

    Whatever groups release, at least k records of a stratum are released with the same values. So the bound holds for
    medians, weights, moments, rounding, units and demands too: each of them can only lose more.
    """
    recipe, units = release.recipe, release.pair.units
    if release.whole is not None:  # neighbours in a sample are too far
        why_not = "only some of the records are in memory"
        return LossBound(None, None, "information loss", recipe.k, why_not=why_not)
    alike, strata = release.groups, recipe.roles.strata
    if units is not None and units.slots is not None:  # of whole units, rows in the same slot get the same values
        alike = codes_of(alike * (int(units.slots.max()) + 1) + units.slots)
    original = release.pair.original
    none = np.zeros(original.n_records, dtype=np.int64)
    return bound_of_release(
        original,
        information,
        frames.category_codes(frames.open_frame(release.data), strata) if strata else none,
        alike,
        recipe.k,
        spike=recipe.masking.spike,
        weighted=release.weights is not None,
        work=Work(check_jobs(None), progress),
    )


def judged_bound(release: "Release[Any]", progress: Progress | None = None) -> Bound | None:
    """Return the bound of a release as plain values, with the sentence that says it."""
    found = release.loss.find_bound(progress)
    if found is None:
        return None
    return Bound(found.percent, None if found.reached is None else finite(found.reached), found.of, str(found))


def in_words(loss: Loss, run: JudgedRun, measures: Mapping[str, Measure], *, public: bool, some_left_out: bool) -> Loss:
    """Return a loss with what is said of it."""
    aside = _aside(loss, run, public)
    terms = any(one.kind != "number" or has_spike(one) for one in loss.columns)
    return replace(
        loss,
        meaning=_meaning(loss, run, some_left_out, aside),
        aside=aside,
        scale=LOSS_SCALE,
        bound_text="" if loss.bound is None else loss.bound.text.replace(" %", f"{FIXED}%"),
        figures=tuple(figure(one) for one in measures.values() if one.of == "loss"),
        mixed=not _only_numbers(loss),
        spikes=tuple(_spike_row(*one) for one in with_spike(loss)),
        in_own_terms=not public and terms,
    )


def _only_numbers(loss: Loss) -> bool:
    """Return whether all masked columns are quantities."""
    return all(one.kind in ("number", "semi") for one in loss.columns)


def _meaning(loss: Loss, run: JudgedRun, some: bool, aside: str) -> str:
    """Return of what the loss is a share, and what columns lost that are not in it."""
    share = (
        f"of the variation of the masked columns{' in the released records' if some else ''}"
        if _only_numbers(loss)
        else f"of the information that would be lost if all {'released ' if some else ''}records got the same values"
    )
    counted_by = ", where columns count by their importance" if run.importance else ""
    return f"{share}{counted_by}{aside}"


def _aside(loss: Loss, run: JudgedRun, public: bool) -> str:
    """Return what columns of importance 0 lost, which is not in the loss; in public only which they are."""
    names = run.left_aside
    if not names:
        return ""
    if public:
        return f", without {listed(names)} (importance 0)"
    own = [f"{quoted(one.column)} ({percent(one.percent)})" for one in loss.columns if one.column in names]
    return f", without what columns of importance 0 lost: {first_of(own)}"


def _own_words(one: ColumnLoss) -> str:
    """Return what became of a column in its own terms."""
    change = one.change
    if change is None:
        return ""
    words = []
    if change.mismatches is not None:
        words.append(f"{percent(change.mismatches)} of the records have another category")
    if change.levels is not None:
        words.append(f"levels moved by {percent(change.levels)} of the scale on average")
    if change.total is not None and abs(change.total) >= 0.005:
        words.append(f"total {points(change.total)}{FIXED}%")
    return "; ".join(words)


def has_spike(one: ColumnLoss) -> bool:
    """Return whether a column has a value that many records have, and others."""
    return one.change is not None and (one.kind == "semi" or _COMMON <= (one.change.common_before or 0.0) < 100.0)


def with_spike(loss: Loss) -> list[tuple[ColumnLoss, ColumnChange]]:
    """Return the columns that have a spike, those in which its share changed most first; none in public."""
    found = [(one, one.change) for one in loss.columns if one.change is not None and has_spike(one)]
    return sorted(found, key=lambda one: -abs(risen(one[1])))


def risen(change: ColumnChange) -> float:
    """Return by how many points the share of a column's commonest value rose; 0 where there is none."""
    return (change.common_after or 0.0) - (change.common_before or 0.0)


def _spike_row(one: ColumnLoss, change: ColumnChange) -> SpikeRow:
    value = "" if change.common is None else f"{change.common:g}"
    return SpikeRow(one.column, one.kind, value, change.common_before, change.common_after, risen(change))


def common_name(value: float | None) -> str:
    """Return the name of the value that most records have."""
    return "zeros" if value == 0 else "the commonest value"


def before_after(change: ColumnChange) -> str:
    """Return how many records have a column's commonest value, before and after masking."""
    return f"{percent(change.common_before)} before, {percent(change.common_after)} after"


def bound_as_json(found: LossBound | None) -> dict[str, Any] | None:
    """Return how little any grouping could lose, beside what this one loses in the same terms, with a sentence."""
    if found is None:
        return None
    return {"percent": found.percent, "of": found.of, "reached_percent": found.reached, "sentence": str(found) or None}
