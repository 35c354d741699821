"""The sections of a report: what was found, with the words for it."""

from microagg.evaluate.measure import HIGHER, Measure
from microagg.judgement import Judgement
from microagg.judgement.parts import (
    Alternative,
    Alternatives,
    ColumnChange,
    ColumnLoss,
    Criterion,
    Distribution,
    GivenAway,
    Moved,
    Risk,
    SizeCount,
    finite,
)
from microagg.report.parts import (
    CorrelationsSection,
    DistributionPicture,
    DiversityRow,
    Figure,
    GroupsSection,
    LeftOutSection,
    LossRow,
    LossSection,
    MapRow,
    MapSection,
    RecordsPicture,
    RiskSection,
    SizeRow,
    SpikeRow,
    worded,
)
from microagg.report.text import FIXED, count, counted, listed, percent, points, sentence

LOSS_SCALE = "Small: below 5 %; moderate: 5 to 20 %; large: above. A convention of this report."
_COMMON = 10.0  # percent of the records: a value that so many have is a spike, declared or not
_UNDRAWN = {
    "": "",
    "constant": "one value throughout",
    "nearly constant": "nearly all records have one value",
    "few": "too few records to show in bins",
}
_CHANCES = {
    50.0: "half of the records: up to",
    90.0: "nine in ten: up to",
    99.0: "99 in 100: up to",
    100.0: "the highest of all",
}


def groups(judgement: Judgement) -> GroupsSection:
    """Name the sizes of groups."""
    return worded(GroupsSection, judgement.groups, sizes=tuple(map(_size, judgement.groups.sizes)))


def _size(one: SizeCount) -> SizeRow:
    return worded(SizeRow, one, size=count(one.least) + (f" to {count(one.most)}" if one.most > one.least else ""))


def left_out(judgement: Judgement) -> LeftOutSection:
    """Tell how many records were left out; in public not exactly where they are few."""
    found, units = judgement.left_out, judgement.groups.units
    whole = units is not None and units.whole
    if found.records == 0:
        return worded(LeftOutSection, found, text="No record was left out.")
    if found.records is None or found.read is None:
        amount = f"About {found.percent:g} % were" if found.below is None else f"Fewer than {found.below} records were"
        why = "too few units have as many rows, or the same waves" if whole else "a value is missing"
        return worded(LeftOutSection, found, text=f"{amount} left out because {why}.")
    why = "had no value in a masked or stratum column"
    if whole:
        why = f"belonged to units with a number of rows, or waves, that fewer than {judgement.run.k} units share"
    return worded(
        LeftOutSection,
        found,
        text=f"{counted(found.records, 'record')} of {count(found.read)} ({percent(found.percent)}) {why} and "
        f"{'is' if found.records == 1 else 'are'} not in the release. If such records differ from the others, the "
        f"release no longer represents the file.",
    )


def loss(judgement: Judgement) -> LossSection:
    """Explain the figures of loss."""
    columns = tuple(
        worded(LossRow, one, at="" if one.quantile_at is None else f"{one.quantile_at:g}{FIXED}%", own=_own_words(one))
        for one in judgement.loss.columns
    )
    return worded(
        LossSection,
        judgement.loss,
        columns=columns,
        meaning=loss_meaning(judgement),
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
    """Say of what the loss is a share."""
    return (
        "of the variation of the masked columns" if only_numbers(judgement) else "of what one value for all would lose"
    )


def bound_words(judgement: Judgement) -> str:
    """Say how little any grouping could lose, or why that is not known; in public nothing."""
    bound = judgement.loss.bound
    return "" if bound is None else bound.text.replace(" %", f"{FIXED}%")


def _own_words(one: ColumnLoss) -> str:
    """Say what became of a column in its own terms."""
    change = one.change
    if change is None:
        return ""
    words = []
    if change.mismatches is not None:
        words.append(f"{percent(change.mismatches)} of the records have another category")
    if change.levels is not None:
        words.append(f"a level moved by {percent(change.levels)} of the scale on average")
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
    """Name the value that most records have."""
    return "zeros" if value == 0 else "the commonest value"


def before_after(change: ColumnChange) -> str:
    """Say how many records have a column's commonest value, before and after masking."""
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
    """Say what a column lost, or why it is not drawn."""
    lost = "" if one.lost_percent is None else percent(one.lost_percent)
    return worded(DistributionPicture, one, note=_UNDRAWN[one.undrawn], lost=lost)


def correlations(judgement: Judgement) -> CorrelationsSection | None:
    """Say how far correlations moved."""
    if judgement.correlations is None:
        return None
    return worded(CorrelationsSection, judgement.correlations, text=moved_words(judgement.moved))


def moved_words(moved: Moved | None) -> str:
    """Say how far a correlation moved on average; nothing where that is not told."""
    return "" if moved is None else f"{'less' if moved.less else 'more'} than {moved.than:g}"


def risk(judgement: Judgement) -> RiskSection | None:
    """Explain the figures of risk, and by what they were measured."""
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
    return worded(RiskSection, found, figures=figures, how=_how_linked(found), records=records)


def _bound_words(judgement: Judgement) -> str:
    k = judgement.run.k
    if judgement.run.per_column:
        return "k holds for single columns only, so it has no upper bound."
    whole = judgement.risk is not None and judgement.risk.units is not None
    alike = "whole units" if whole else "records"
    return f"It cannot exceed {percent(100.0 / k)}: {k} {alike} or more are released alike."


def _how_linked(found: Risk) -> str:
    linkage = found.linkage
    whole = linkage.sets == linkage.of_sets
    sets = f"all {count(linkage.sets)}" if whole else f"{count(linkage.sets)} of the {count(linkage.of_sets)}"
    links = "He links each person to the nearest released record."
    if found.units is not None:
        links = (
            "He follows units through all their rows, and links each to the nearest released unit with as many rows, "
            "or the same waves: linkage is of whole units."
        )
    if found.restricted:
        words = [
            f"The intruder is assumed to know the original values of only {listed(found.keys)} (the keys), "
            f"{count(len(found.keys))} of {counted(len(found.columns), 'masked column')}, and the strata, of "
            f"everybody. {links} One who knows other masked columns too can link more than is shown here."
        ]
    else:
        words = [f"The intruder knows the original values of masked columns, and the strata, of everybody. {links}"]
    if linkage.of_sets > 1:
        what = "keys" if found.restricted else "columns"
        words.append(f"Nobody can say which {what} he knows: {sets} sets of them were tried, and the results averaged.")
    if linkage.sets_error:
        words.append(f"The sets were drawn with seed 0; standard error {percent(linkage.sets_error)}.")
    words.append(sample_words(found, found.standard_error))
    return sentence(words)


def sample_words(found: Risk, error: float) -> str:
    """Say on which records linkage was estimated, and its standard error; nothing where all were linked."""
    if found.sampled is None:
        return ""
    drawn = counted(found.sampled, "record" if found.units is None else "unit")
    return f"Estimated on {drawn} drawn with seed {found.seed}; standard error {percent(error)}."


def diversity(own: GivenAway) -> DiversityRow:
    """Say what the groups have in common in a confidential column."""
    return worded(DiversityRow, own, text=_diversity_words(own))


def _diversity_words(own: GivenAway) -> str:
    if own.distinct <= 1:
        groups = counted(own.uniform_groups, "group has", "groups have")
        return (
            f"{groups} one value throughout, {counted(own.uniform_records, 'record')} in all: a person known to "
            f"be in such a group has that value."
        )
    if own.distinct == 2:
        return "Some group has two values only."
    return f"Every group has at least {count(own.distinct)} different values."


def risk_map(found: Alternatives) -> MapSection:
    """Mark the best of the releases that were compared, and say what the score is."""
    words = f"Score = {found.x:g} · {found.by} + {1 - found.x:g} · G_DR; lower is better."
    words += f" {found.ranked}" if found.ranked else ""
    if found.sampled is not None:
        words += (
            f" Linkage estimated on {count(found.sampled)} records; standard error up to "
            f"{percent(found.standard_error)}."
        )
    rows = tuple(_map_row(one, found.rank) for one in found.candidates)
    return MapSection(rows, found.frontier, words, found.compared, found.axis, found.rank.head, found.least_k)


def _map_row(one: Alternative, rank: Criterion) -> MapRow:
    return MapRow(
        method=one.method,
        k=one.k,
        score=one.score,
        best=one.best,
        mark=rank.mark if one.best else "efficient" if one.efficient else "",
        figures=dict(one.figures),
        l_reached=one.l_reached,
        t_reached=one.t_reached,
        way=one.way,
    )
