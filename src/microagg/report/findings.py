"""What was found of a release that deserves attention, the gravest first: for the page, a terminal or a program."""

from collections.abc import Sequence

from microagg.judgement import Judgement
from microagg.judgement.parts import Alone, GivenAway, Groups, Risk
from microagg.judgement.run import Run
from microagg.report import moments, origin, results, sample, values, weights
from microagg.report.parts import Finding, WrittenFacts
from microagg.report.text import count, counted, first_of, listed, percent, quoted
from microagg.schema import Role
from microagg.weights import DOMINATED

CLOSE = 20.0
"""Percent of the records: above, that all their values lie close to the released ones is told first."""

_MOST_APART = 2  # columns with values of their own that are told one by one; more are told together


def findings(judgement: Judgement, written: WrittenFacts, holds: bool) -> tuple[Finding, ...]:
    """List what deserves attention; not for the public."""
    found = [] if holds else [_broken()]
    found += _alone(judgement) + weights.findings(judgement) + moments.findings(judgement)
    found += (
        values.codes(judgement)
        + values.doubted(judgement)
        + values.codes_in_order(judgement)
        + values.idle_codes(judgement)
        + values.spikes(judgement)
        + values.left_out(judgement)
    )
    if judgement.risk is not None:
        found += _restricted(judgement.risk)
    found += _uniform(judgement.diversity)
    if judgement.risk is not None:
        found += _close(judgement) + _dominated(judgement.risk, moments.dominance(judgement))
    found += results.findings(judgement.results) + origin.missing_weights(judgement)
    found += values.large_losses(judgement) + values.missing(judgement) + values.totals(judgement)
    found += (
        origin.differences(judgement)
        + origin.missing_codes(judgement, written)
        + origin.recoded(judgement)
        + sample.findings(judgement)
    )
    if not written.reordered and not (judgement.groups.units and judgement.groups.units.whole):
        found.append(
            Finding(
                "look", "row order",
                "The rows are in the original order. Sort the rows by what is released if anybody else may hold a list "
                "in that order.",
                "the rows are in the original order, which helps anybody who holds a list in that order.",
            )
        )  # fmt: skip
    return tuple(sorted(found, key=lambda one: ("bad", "look", "note").index(one.state)))


def _broken() -> Finding:
    return Finding(
        "bad", "promise",
        "The promise: the released file does not keep it. It may have been changed after masking.",
        "the released file does not keep the promise.",
    )  # fmt: skip


def _alone(judgement: Judgement) -> list[Finding]:
    """Tell how many records can be told apart by everything that is released, and by which columns alone."""
    run, groups, alone = judgement.run, judgement.groups, judgement.alone
    found = []
    if groups.per_column and groups.unique:
        share = percent(100.0 * groups.unique / groups.records)
        found.append(
            Finding(
                "look", "whole records",
                f"{share} of the records are unique in their masked columns taken together. Consider a method that "
                f"groups whole records.",
                f"{share} of the records are unique in their masked columns taken together.",
            )
        )  # fmt: skip
    for name, few in alone.few_units.items():
        words = f"k counts rows, not units: {few_units_words(groups, name, few)}."
        remedy = "Name that column as the unit, so that every group holds k different ones."
        found.append(Finding("look", "units", f"{words} {remedy}", words))
    found += _merged(run, groups) + _one_unit(run, groups) + _lone_amounts(alone)
    found += _rare(groups, alone) + _own_medians(groups, alone)
    if alone.by_all and run.names(Role.QUASI) and alone.by_column:
        found.append(_alone_by_all(run, groups, alone))
    if _more_together(alone):
        names, share = list(alone.by_column), percent(100.0 * alone.together / groups.records)
        strata = run.names(Role.STRATUM)
        within = f" and {strata_words(strata)}" if strata else ""
        found.append(
            Finding(
                "look", "released unchanged",
                f"{listed(names)}{within} are released unchanged, and together they are unique in {share} of the "
                f"records: anybody who knows them of a person finds the record. Round columns, put them into classes, "
                f"or release fewer.",
                f"{share} of the records are alone by what is released unchanged: {listed(names, 3)}{within}.",
            )
        )  # fmt: skip
    others = [one for one in by_column(run, groups, alone) if one[1] is not Role.WEIGHT]  # told of by themselves
    return found + _alone_by_column(others)


def _merged(run: Run, groups: Groups) -> list[Finding]:
    """Tell that units made one group of most of a stratum, whose values are then much the same."""
    if groups.units is None or groups.units.merged is None:
        return []
    words = merged_words(run, groups)
    limit = f"no unit may have more than 1/{groups.promised} of a group, and one of them has nearly as much of all rows"
    why = f"That happens where {limit}" if groups.units.in_part else "Units that have most of the rows can do that"
    remedy = "Leave that unit out, or take a method that does not do so, such as cbfs or iamat"
    if groups.units.in_part:
        remedy = "Accept groups of which one unit has most of the rows (unit share any), or leave that unit out"
    text = f"{words[0].upper()}{words[1:]}, and all of these get one set of values. {why}. {remedy}."
    return [Finding("look", "large group", text, f"{words}.")]


def _one_unit(run: Run, groups: Groups) -> list[Finding]:
    """Tell that one unit has nearly all rows of a group, so that its values are nearly what is released."""
    share = None if groups.units is None or groups.units.whole or run.weighted else groups.units.share
    if share is None or share <= 100.0 * DOMINATED:
        return []
    words = f"one unit has {percent(share)} of the rows that are alike, so that their means are nearly its own values"
    remedy = "Let no unit have more than 1/k of a group (unit share limited), leave that unit out, or raise k"
    return [Finding("look", "one unit", f"{words[0].upper()}{words[1:]}. {remedy}.", f"{words}.")]


def merged_words(run: Run, groups: Groups) -> str:
    """Say how much of a stratum, or of the file, one group holds."""
    assert groups.units is not None
    assert groups.units.merged is not None
    rows, share = groups.units.merged
    whole = "its stratum" if run.names(Role.STRATUM) else "all"
    return f"one group holds {count(rows)} records, {percent(share)} of {whole}"


def _lone_amounts(alone: Alone) -> list[Finding]:
    """Tell in which columns the mean of a group gives one member's amount away."""
    columns = [f"{quoted(name)} ({counted(number, 'group')})" for name, number in alone.amounts.items()]
    return _in_columns(
        "single amounts", "one member's amount can be worked out from its group's mean", columns,
        "All others of such a group are at the spike, so the mean times the members is that amount. Release the spike "
        "where fewer than three members are off it: spike totals safe.",
    )  # fmt: skip


def _rare(groups: Groups, alone: Alone) -> list[Finding]:
    """Return which columns release categories that fewer than k records, or units, have."""
    whose = "records" if groups.units is None else "units"
    columns = [f"{quoted(name)} ({counted(number, 'category', 'categories')})" for name, number in alone.rare.items()]
    return _in_columns(
        "rare categories", f"categories that fewer than {groups.promised} {whose} have are released", columns,
        "Anybody who knows that a person has such a category finds the person's group: join rare categories with "
        "others by recoding.",
    )  # fmt: skip


def _own_medians(groups: Groups, alone: Alone) -> list[Finding]:
    """Tell in which columns medians leave records their own values."""
    return _in_columns(
        "medians", "medians leave records their own values", own_medians(groups, alone),
        "That is in so many of the records; a median is one member's own value, or lies between two. Release means "
        "(aggregate mean) if no original value may stand in the file.",
    )  # fmt: skip


def own_medians(groups: Groups, alone: Alone) -> list[str]:
    """Give each column in which a released median is the record's own value, and in how many records, most first."""
    ordered = sorted(alone.medians.items(), key=lambda one: -one[1])
    return [f"{quoted(name)} ({percent(100.0 * number / groups.records)})" for name, number in ordered]


def _in_columns(topic: str, what: str, columns: Sequence[str], more: str) -> list[Finding]:
    """Tell what was found in some columns; nothing where there are none."""
    if not columns:
        return []
    words = f"{what}: {first_of(columns)}"
    return [Finding("look", topic, f"{words[0].upper()}{words[1:]}. {more}", f"{words}.")]


def alone_words(groups: Groups, alone: Alone) -> str:
    """Say how many records everything that is released tells apart."""
    share = percent(100.0 * alone.by_all / groups.records)
    are = "is" if alone.by_all == 1 else "are"
    return f"{count(alone.by_all)} of {count(groups.records)} records ({share}) {are} alone by all that is released"


def few_units_words(groups: Groups, name: str, few: int) -> str:
    """Say how many groups hold fewer than k different values of a dropped column that repeats."""
    hold = "holds" if few == 1 else "hold"
    return f"{count(few)} of {count(groups.groups)} groups {hold} fewer than {groups.promised} different {quoted(name)}"


def _alone_by_all(run: Run, groups: Groups, alone: Alone) -> Finding:
    words = alone_words(groups, alone)
    others = run.unchanged
    return Finding(
        "look", "alone",
        f"{words}: nobody else has the same masked values together with {listed(others, 6)}. k does not cover those "
        f"columns. Anybody who knows them of a person finds the record: mask them, put them into classes, or release "
        f"fewer.",
        f"{words}.",
    )  # fmt: skip


def _more_together(alone: Alone) -> bool:
    """Return whether the columns released unchanged single out more records together than any does by itself."""
    return alone.together > max(alone.by_column.values(), default=0)


def by_column(run: Run, groups: Groups, alone: Alone) -> list[tuple[str, Role, float]]:
    """Give each column released unchanged in which records have a value of their own, and of how many, in percent."""
    return [
        (name, role, 100.0 * alone.by_column[name] / groups.records)
        for role in run.as_it_is
        for name in run.names(role)
        if alone.by_column.get(name)
    ]


def strata_words(strata: list[str]) -> str:
    """Name the strata in a sentence."""
    return f"the {'stratum' if len(strata) == 1 else 'strata'} {listed(strata)}"


def _alone_by_column(alone: list[tuple[str, Role, float]]) -> list[Finding]:
    """Return which single columns tell records apart, whatever is masked."""
    if len(alone) > _MOST_APART:
        ordered = sorted(alone, key=lambda one: -one[2])
        columns = [
            f"{quoted(name)} ({percent(share)}{', confidential' if role is Role.CONFIDENTIAL else ''})"
            for name, role, share in ordered
        ]
        return [
            Finding(
                "look", "released unchanged",
                f"{len(alone)} columns are released unchanged and hold unique values, in so many of the records: "
                f"{', '.join(columns)}. Anybody who knows such a value of a person finds the record. Round them, or "
                f"put them into classes.",
                f"unique values, released unchanged: {first_of(columns)}.",
            )
        ]  # fmt: skip
    found = []
    for name, role, share in alone:
        secret = role is Role.CONFIDENTIAL
        knows = (
            "an intruder is assumed not to know it, but one who does finds the record"
            if secret
            else "anybody who knows it of a person finds the record"
        )
        found.append(
            Finding(
                "look", "released unchanged",
                f"{quoted(name)} is {'confidential and ' if secret else ''}released unchanged, and its value is unique "
                f"in {percent(share)} of the records: {knows}. Round it, or put it into classes.",
                f"{percent(share)} of the records have a unique value of {quoted(name)}, which is released unchanged.",
            )
        )  # fmt: skip
    return found


def _restricted(risk: Risk) -> list[Finding]:
    if not risk.restricted:
        return []
    only = f"an intruder who knows only {listed(risk.keys)}"
    return [
        Finding(
            "look", "risk",
            f"The risk is that of {only}. An intruder who knows other masked columns too can link more: measure with "
            f"all of them, unless nobody can know them.",
            f"the risk is that of {only}.",
        )
    ]  # fmt: skip


def _uniform(diversity: Sequence[GivenAway]) -> list[Finding]:
    """Return which confidential columns are known to anybody who knows only a person's group."""
    columns = [
        f"{quoted(one.column)} in {counted(one.uniform_groups, 'group')} ({counted(one.uniform_records, 'record')})"
        for one in diversity
        if one.distinct <= 1
    ]
    if not columns:
        return []
    return [
        Finding(
            "look", "confidential columns",
            f"One value throughout a group: {', '.join(columns)}. A person known to be in such a group has that "
            f"value, whichever record is theirs. Demand different values of it (l), take a larger k, or do not release "
            f"the column.",
            f"one value throughout a group: {', '.join(columns)}.",
        )
    ]  # fmt: skip


def guessed_closely(judgement: Judgement) -> float:
    """Return the share of the records, in percent, all of whose values lie close to the released ones."""
    return judgement.measures["ID"].value


def _close(judgement: Judgement) -> list[Finding]:
    """Tell that released values are nearly the original ones; nothing where that is so of few records."""
    share = guessed_closely(judgement)
    if not share > CLOSE:
        return []
    short = f"in {percent(share)} of the records all masked values lie close to the released ones"
    return [
        Finding(
            "look", "values guessed closely",
            f"{short[0].upper()}{short[1:]}, within 1 to 10 % of the ranks: anybody who finds the group knows them "
            f"that closely. Take a larger k if that is too close.",
            f"{short}.",
        )
    ]  # fmt: skip


def _dominated(risk: Risk, but: str) -> list[Finding]:
    """Tell in which column the means most often give the largest member to the second; nothing where they seldom do."""
    worst = max(risk.columns, key=lambda one: one.dominated or 0)
    if not worst.dominated or worst.dominated < 0.05 * risk.n_groups:
        return []
    share = percent(100.0 * worst.dominated / risk.n_groups)
    within = percent(risk.dominance_percent)
    return [
        Finding(
            "look", "dominance",
            f"In {share} of the groups the second largest member in {quoted(worst.column)}, who knows its own value, "
            f"can work out the largest to within {within} from the mean. {but + ' ' if but else ''}See risk by column.",
            f"in {share} of the groups the second largest in {quoted(worst.column)} can work out the largest to within "
            f"{within}.",
        )
    ]  # fmt: skip
