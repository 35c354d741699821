"""The sections of a report: what was found, with the words for it."""

import math

from microagg.judge import Judgement
from microagg.judge.parts import (
    ColumnChange,
    ColumnLoss,
    Distribution,
    Figure,
    JudgedMove,
    JudgedRisk,
    SizeCount,
    finite,
    worded,
)
from microagg.judge.text import FIXED, count, counted, first_of, listed, percent, points, quoted, sentence
from microagg.measures.measure import HIGHER, Measure
from microagg.report.parts import (
    CorrelationsSection,
    DistributionPicture,
    GroupsSection,
    LeftOutSection,
    LossRow,
    LossSection,
    RecordsPicture,
    RiskSection,
    SizeRow,
    SpikeRow,
)

LOSS_SCALE = (
    "Small is below 5 %, moderate is 5 to 20 %, large is above 20 %. These words are a convention of this report."
)
_COMMON = 10.0  # percent of the records: a value that so many have is a spike, declared or not
_UNDRAWN = {
    "": "",
    "constant": "all records have one value",
    "nearly constant": "nearly all records have one value",
    "few": "too few records to show in bins",
}
_CHANCES = {
    50.0: "half of the records: at most",
    90.0: "90 of 100 records: at most",
    99.0: "99 of 100 records: at most",
    100.0: "the highest chance of all records",
}


def groups(judgement: Judgement) -> GroupsSection:
    """Return the sizes of groups with their words."""
    return worded(GroupsSection, judgement.groups, sizes=tuple(map(_size, judgement.groups.sizes)))


def _size(one: SizeCount) -> SizeRow:
    return worded(SizeRow, one, size=count(one.least) + (f" to {count(one.most)}" if one.most > one.least else ""))


def left_out(judgement: Judgement) -> LeftOutSection:
    """Return how many records were left out; in public not exactly where they are few."""
    found, units = judgement.left_out, judgement.groups.units
    whole = units is not None and units.whole
    if found.records == 0:
        return worded(LeftOutSection, found, text="No record was left out.")
    if found.records is None or found.read is None:
        amount = f"Fewer than {found.below} records were"
        if found.below is None:
            amount = f"About {found.percent:g} % of the records were"
        why = "too few units have the same number of rows, or the same waves" if whole else "a value is missing"
        return worded(LeftOutSection, found, text=f"{amount} left out because {why}.")
    why = "had no value in a masked column or a stratum"
    if whole:
        why = f"belonged to units whose number of rows, or whose waves, fewer than {judgement.run.k} units have"
    return worded(
        LeftOutSection,
        found,
        text=f"{counted(found.records, 'record')} of {count(found.read)} ({percent(found.percent)}) {why} and "
        f"{'is' if found.records == 1 else 'are'} not in the release. If such records differ from the others, the "
        f"release no longer represents the file. Loss and linkage compare record by record: they are those of the "
        f"released records. Totals, distributions, correlations and results are compared with the whole original.",
    )


def loss(judgement: Judgement) -> LossSection:
    """Return the figures of loss with what they mean."""
    columns = tuple(
        worded(LossRow, one, at="" if one.quantile_at is None else f"{one.quantile_at:g}{FIXED}%", own=_own_words(one))
        for one in judgement.loss.columns
    )
    return worded(
        LossSection,
        judgement.loss,
        columns=columns,
        meaning=loss_meaning(judgement),
        aside=left_aside(judgement),
        scale=LOSS_SCALE,
        bound_text=bound_words(judgement),
        figures=tuple(_figure(one) for one in judgement.measures.values() if one.of == "loss"),
        mixed=not only_numbers(judgement),
        spikes=tuple(_spike_row(*one) for one in with_spike(judgement)),
        in_own_terms=not judgement.public and any(one.kind != "number" or has_spike(one) for one in columns),
    )


def only_numbers(judgement: Judgement) -> bool:
    """Return whether all masked columns are quantities."""
    return all(one.kind in ("number", "semi") for one in judgement.loss.columns)


def loss_meaning(judgement: Judgement) -> str:
    """Return of what the loss is a share, and what columns lost that are not in it."""
    some = bool(judgement.left_out.records)
    share = (
        f"of the variation of the masked columns{' in the released records' if some else ''}"
        if only_numbers(judgement)
        else f"of the information that would be lost if all {'released ' if some else ''}records got the same values"
    )
    counted_by = ", where columns count by their importance" if judgement.run.importance else ""
    return f"{share}{counted_by}{left_aside(judgement)}"


def left_aside(judgement: Judgement) -> str:
    """Return what columns of importance 0 lost, which is not in the loss; in public only which they are."""
    names = judgement.run.left_aside
    if not names:
        return ""
    if judgement.public:
        return f", without {listed(names)} (importance 0)"
    own = [f"{quoted(one.column)} ({percent(one.percent)})" for one in judgement.loss.columns if one.column in names]
    return f", without what columns of importance 0 lost: {first_of(own)}"


def bound_words(judgement: Judgement) -> str:
    """Return how little any grouping could lose, or why that is not known; in public nothing."""
    bound = judgement.loss.bound
    return "" if bound is None else bound.text.replace(" %", f"{FIXED}%")


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


def with_spike(judgement: Judgement) -> list[tuple[ColumnLoss, ColumnChange]]:
    """Return the columns that have a spike, those in which its share changed most first; none in public."""
    found = [(one, one.change) for one in judgement.loss.columns if one.change is not None and has_spike(one)]
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


def _figure(measure: Measure, more: str = "") -> Figure:
    return Figure(
        name=measure.title or measure.name,
        symbol=measure.name,
        value=finite(measure.value),
        unit=measure.unit,
        meaning=sentence([measure.explained, more, HIGHER if measure.better == "higher" else ""]),
        better=measure.better,
    )


def distribution(one: Distribution) -> DistributionPicture:
    """Return what a column lost, or why it is not drawn."""
    lost = "" if one.lost_percent is None else percent(one.lost_percent)
    return worded(DistributionPicture, one, note=_UNDRAWN[one.undrawn], lost=lost)


def correlations(judgement: Judgement) -> CorrelationsSection | None:
    """Return how far correlations changed."""
    if judgement.correlations is None:
        return None
    return worded(CorrelationsSection, judgement.correlations, text=moved_words(judgement.moved))


def moved_words(moved: JudgedMove | None) -> str:
    """Return how far a correlation changed on average; nothing where that is not shown."""
    return "" if moved is None else f"{'less' if moved.less else 'more'} than {moved.than:g}"


def risk(judgement: Judgement) -> RiskSection | None:
    """Return the figures of risk with what they mean, and how they were measured."""
    found = judgement.risk
    if found is None:
        return None
    figures = tuple(
        _figure(one, _bound_words(judgement) if one.name == "full keys" else "")
        for one in judgement.measures.values()
        if one.of != "loss"
    )
    quantiles = tuple((_CHANCES[share], chance) for share, chance in found.records.chances)
    records = worded(RecordsPicture, found.records, quantiles=quantiles)
    both = math.hypot(found.standard_error, found.linkage.sets_error)  # of the records and of the sets that were drawn
    return worded(
        RiskSection,
        found,
        figures=figures,
        how=_how_linked(found),
        right=right_words(judgement),
        error=_error_words(both),
        records=records,
    )


def right_words(judgement: Judgement) -> str:
    """Return what an intruder finds who links rightly: of units, any of their rows is right."""
    if judgement.risk is not None and judgement.risk.units is not None:
        return "the right unit"
    return "the right record" if judgement.groups.units is None else "a record of the right unit"


def _bound_words(judgement: Judgement) -> str:
    k = judgement.run.k
    if judgement.run.per_column:
        return "k holds for single columns only, so this figure has no upper limit below 100 %."
    whole = judgement.risk is not None and judgement.risk.units is not None
    what = "whole units" if whole else "records" if judgement.groups.units is None else "different units"
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
