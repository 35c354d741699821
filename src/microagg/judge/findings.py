"""What was found of a release that deserves attention, the gravest first: for the page, a terminal or a program."""

from collections.abc import Sequence

from microagg.columns.roles import Role
from microagg.columns.weights import DOMINATED
from microagg.judge import Judgement
from microagg.judge.parts import Alone, Finding, JudgedGroups, JudgedRisk, WrittenFacts
from microagg.judge.run import JudgedRun
from microagg.judge.text import count, counted, first_of, listed, percent, quoted
from microagg.judge.topics import TOPICS, moments, origin, results, values, weights
from microagg.judge.topics.confidential import GivenAway
from microagg.judge.topics.sample import SAMPLE

CLOSE = 20.0
"""Percent of the records: above, it is a finding that all their values are close to the released ones."""

SOLVED = 0.01
"""Share of the units: above, it is a finding that values of theirs can be computed from means."""

CLOSELY = "within 1 to 10 % of the ranks of the column"
"""What it means that an original value is close to the released one."""

_MOST_APART = 2  # columns with unique values that have a finding each; more have one together


def findings(judgement: Judgement, written: WrittenFacts, holds: bool) -> tuple[Finding, ...]:
    """Return what deserves attention; not for the public."""
    found = [] if holds else [_broken()]
    found += _alone(judgement) + weights.findings(judgement) + weights.unused(judgement)
    found += [finding for one in TOPICS for finding in one.findings(judgement)]
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
        found += _constants(judgement) + _close(judgement) + _dominated(judgement.risk, moments.dominance(judgement))
    found += results.findings(judgement.results) + origin.missing_weights(judgement)
    found += values.large_losses(judgement) + values.missing(judgement) + values.totals(judgement)
    found += origin.differences(judgement) + origin.missing_codes(judgement, written) + origin.recoded(judgement)
    if not written.reordered and not (judgement.groups.units and judgement.groups.units.whole):
        found.append(_row_order(written))
    return tuple(sorted(found, key=lambda one: ("bad", "look", "note").index(one.state)))


def _row_order(written: WrittenFacts) -> Finding:
    rows, remedy = "The rows", "sort the rows by their released values."
    if written.reordered is None:
        rows, remedy = "In the frame, the rows", "sort the frame before you give it away. "
        remedy += "`microagg.write` sorts what it writes, unless the recipe says same_order."
    return Finding(
        "look", "row order",
        f"{rows} are in the original order. If anybody else may have a list in that order, {remedy}",
        "the rows are in the original order, which helps anybody who has a list in that order.",
    )  # fmt: skip


def _broken() -> Finding:
    return Finding(
        "bad", "promise",
        "The released file does not keep the promise. It may have been changed after masking.",
        "the released file does not keep the promise.",
    )  # fmt: skip


def _alone(judgement: Judgement) -> list[Finding]:
    """Return how many records are unique in all that is released, and in which columns alone."""
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
        words = few_units_words(groups, name, few)
        own = (
            "It is masked as categories: original values of it are released. " if name in run.names(Role.QUASI) else ""
        )
        remedy = "Name that column as the unit. Every group then holds k different units."
        found.append(Finding("look", "units", f"{words} {own}{remedy}", words))
    found += _rebuilt(run, groups) + _joined(groups) + _merged(run, groups) + _one_unit(run, groups)
    found += _lone_amounts(alone) + _rare(groups, alone) + _own_medians(groups, alone)
    if alone.by_all and run.names(Role.QUASI) and alone.by_column:
        found.append(_alone_by_all(run, groups, alone))
    if _more_together(alone):
        names, share = list(alone.by_column), percent(100.0 * alone.together / groups.records)
        strata = run.names(Role.STRATUM)
        within = f" and {strata_words(strata)}" if strata else ""
        found.append(
            Finding(
                "look", "released unchanged",
                f"{listed(names)}{within} are released unchanged. {share} of the records are unique in these columns "
                f"together: anybody who knows them of a person finds the record. Round these columns, put them into "
                f"classes, or release fewer of them.",
                f"{share} of the records are unique in what is released unchanged: {listed(names, 3)}{within}.",
            )
        )  # fmt: skip
    others = [one for one in by_column(run, groups, alone) if one[1] is not Role.WEIGHT]  # weights have their own
    return found + _alone_by_column(others)


def _rebuilt(run: JudgedRun, groups: JudgedGroups) -> list[Finding]:
    """Return how many units come together again, or that this is not known."""
    units = groups.units
    if units is None or units.whole:
        return []
    if units.rebuilt is None and run.unchanged:
        text = (
            "How many units can be put together again by columns that are released unchanged was not counted: only "
            "a sample of the groups is judged, and these do not hold whole units. Mask the file in memory to count it."
        )
        return [Finding("note", "units rebuilt", text, text)]
    if units.rebuilt is None or not units.rebuilt.units:
        return []
    words = rebuilt_words(groups)
    columns = sorted(units.rebuilt.by_column.items(), key=lambda one: -one[1])
    by = [f"{quoted(name)} ({counted(number, 'unit')})" for name, number in columns]
    alone = f" These columns do that by themselves: {first_of(by)}." if by else ""
    why = (
        f"They share a combination of such values that fewer than {groups.promised} units have. Whoever sees the "
        f"file knows that these rows are one unit, and an intruder who knows all rows of a unit can find it more "
        f"often than in one case in {groups.promised}.{alone}"
    )
    remedy = (
        "Mask or drop these columns, recode them, release weights by group, or protect whole units (unit release "
        "pseudonym)."
    )
    return [Finding("look", "units rebuilt", f"{words[0].upper()}{words[1:]}. {why} {remedy}", f"{words}.")]


def rebuilt_words(groups: JudgedGroups) -> str:
    """Return how many units come together again."""
    assert groups.units is not None
    assert groups.units.rebuilt is not None
    found = groups.units.rebuilt
    more = " or masked once a unit" if groups.units.once else ""
    return (
        f"the rows of {count(found.units)} of {counted(found.of, 'unit')} with several rows ({percent(found.percent)}) "
        f"can be put together again by columns that are released unchanged{more}"
    )


def _joined(groups: JudgedGroups) -> list[Finding]:
    """Return that units are spelt in several ways, and were joined."""
    if groups.units is None or not groups.units.joined:
        return []
    spellings = counted(groups.units.joined, "spelling")
    were = "was" if groups.units.joined == 1 else "were"
    words = f"{spellings} of units in {quoted(groups.units.named or '')} {were} taken for the same unit as another"
    why = (
        "They differ only in spaces, capital letters, zeros of numbers or the way in which accents are stored. If two "
        "units were joined that are not one, nobody is protected less. Write each unit in one way in the file."
    )
    return [Finding("look", "unit spellings", f"{words} spelling. {why}", f"{words} spelling.")]


def _merged(run: JudgedRun, groups: JudgedGroups) -> list[Finding]:
    """Return that units made one group of most of a stratum, which then has one set of values."""
    if groups.units is None or groups.units.merged is None:
        return []
    words = merged_words(run, groups)
    limit = (
        f"no unit may have more than 1/{groups.promised} of the rows of a group, and one unit has nearly that share of "
        f"all rows"
    )
    why = f"That happens where {limit}" if groups.units.in_part else "Units that have most of the rows can cause that"
    remedy = "Leave that unit out, or choose a method that does not form such groups, such as cbfs or iamat"
    if groups.units.in_part:
        remedy = "Accept groups in which one unit has most of the rows (unit share any), or leave that unit out"
    text = f"{words[0].upper()}{words[1:]}, and all of these get the same values. {why}. {remedy}."
    return [Finding("look", "large group", text, f"{words}.")]


def _one_unit(run: JudgedRun, groups: JudgedGroups) -> list[Finding]:
    """Return that one unit has nearly all rows of a group, so that its values are nearly what is released."""
    share = None if groups.units is None or groups.units.whole or run.weighted else groups.units.share
    if share is None or share <= 100.0 * DOMINATED:
        return []
    words = (
        f"one unit has {percent(share)} of the rows of a group, so that the means are nearly the values of this unit"
    )
    remedy = (
        "Let no unit have more than 1/k of the rows of a group (unit share limited), leave that unit out, or raise k"
    )
    return [Finding("look", "one unit", f"{words[0].upper()}{words[1:]}. {remedy}.", f"{words}.")]


def merged_words(run: JudgedRun, groups: JudgedGroups) -> str:
    """Return how much of a stratum, or of the file, one group holds."""
    assert groups.units is not None
    assert groups.units.merged is not None
    rows, share = groups.units.merged
    whole = "its stratum" if run.names(Role.STRATUM) else "all records"
    return f"one group holds {count(rows)} records, {percent(share)} of {whole}"


def _lone_amounts(alone: Alone) -> list[Finding]:
    """Return in which columns the mean of a group discloses the amount of one member."""
    columns = [f"{quoted(name)} ({counted(number, 'group')})" for name, number in alone.amounts.items()]
    return _in_columns(
        "single amounts", "the amount of one member can be worked out from the mean of the group", columns,
        "All other members of such a group have the spike, so the mean times the number of members gives that amount. "
        "Set spike totals to safe: a group then releases the spike if fewer than three members have another value.",
    )  # fmt: skip


def _rare(groups: JudgedGroups, alone: Alone) -> list[Finding]:
    """Return which columns release categories that fewer than k records, or units, have."""
    whose = "records" if groups.units is None else "units"
    columns = [f"{quoted(name)} ({counted(number, 'category', 'categories')})" for name, number in alone.rare.items()]
    return _in_columns(
        "rare categories", f"categories that fewer than {groups.promised} {whose} have are released", columns,
        "Anybody who knows that a person has such a category finds the person's group. Recode: put rare categories "
        "together with others.",
    )  # fmt: skip


def _own_medians(groups: JudgedGroups, alone: Alone) -> list[Finding]:
    """Return in which columns the released median is the record's original value."""
    return _in_columns(
        "medians", "released medians are original values, in percent of the records", own_medians(groups, alone),
        "A median is the value of one member, or lies between the values of two. If no original value may be in the "
        "file, release means (aggregate mean).",
    )  # fmt: skip


def own_medians(groups: JudgedGroups, alone: Alone) -> list[str]:
    """Return the columns in which a released median is the record's own value, and in how many records, most first."""
    ordered = sorted(alone.medians.items(), key=lambda one: -one[1])
    return [f"{quoted(name)} ({percent(100.0 * number / groups.records)})" for name, number in ordered]


def _in_columns(topic: str, what: str, columns: Sequence[str], more: str) -> list[Finding]:
    """Return what was found in some columns; nothing where there are none."""
    if not columns:
        return []
    words = f"{what}: {first_of(columns)}"
    return [Finding("look", topic, f"{words[0].upper()}{words[1:]}. {more}", f"{words}.")]


def alone_words(groups: JudgedGroups, alone: Alone) -> str:
    """Return how many records are unique in all that is released."""
    share = percent(100.0 * alone.by_all / groups.records)
    are = "is" if alone.by_all == 1 else "are"
    return (
        f"{count(alone.by_all)} of {count(groups.records)} records ({share}) {are} unique in all released columns "
        f"together"
    )


def few_units_words(groups: JudgedGroups, name: str, few: int) -> str:
    """Return that groups hold fewer than k different values of a column that looks like a unit, and is none of k's."""
    hold = "holds" if few == 1 else "hold"
    counts = "rows, not units" if groups.units is None else f"{quoted(groups.units.named or '')}, not {quoted(name)}"
    return (
        f"k counts {counts}: {count(few)} of {count(groups.groups)} groups {hold} fewer than {groups.promised} "
        f"different values of {quoted(name)}."
    )


def _alone_by_all(run: JudgedRun, groups: JudgedGroups, alone: Alone) -> Finding:
    words = alone_words(groups, alone)
    others = run.unchanged
    return Finding(
        "look", "alone",
        f"{words}: no other record has the same masked values and the same {listed(others, 6)}. k does not cover "
        f"{'this column' if len(others) == 1 else 'these columns'}. Anybody who knows "
        f"{'it' if len(others) == 1 else 'them'} of a person finds the record. Mask such columns, put them into "
        f"classes, or release fewer of them.",
        f"{words}.",
    )  # fmt: skip


def _more_together(alone: Alone) -> bool:
    """Return whether the columns released unchanged single out more records together than any does by itself."""
    return alone.together > max(alone.by_column.values(), default=0)


def by_column(run: JudgedRun, groups: JudgedGroups, alone: Alone) -> list[tuple[str, Role, float]]:
    """Return the columns released unchanged that have unique values, and in how many records, in percent."""
    return [
        (name, role, 100.0 * alone.by_column[name] / groups.records)
        for role in run.as_it_is
        for name in run.names(role)
        if alone.by_column.get(name)
    ]


def strata_words(strata: list[str]) -> str:
    """Return the strata as words of a sentence."""
    return f"the {'stratum' if len(strata) == 1 else 'strata'} {listed(strata)}"


def _alone_by_column(alone: list[tuple[str, Role, float]]) -> list[Finding]:
    """Return which single columns have unique values, whatever is masked."""
    if len(alone) > _MOST_APART:
        ordered = sorted(alone, key=lambda one: -one[2])
        columns = [
            f"{quoted(name)} ({percent(share)}{', confidential' if role is Role.CONFIDENTIAL else ''})"
            for name, role, share in ordered
        ]
        return [
            Finding(
                "look", "released unchanged",
                f"{len(alone)} columns are released unchanged and have unique values, in this percentage of the "
                f"records: {', '.join(columns)}. Anybody who knows such a value of a person finds the record. Round "
                f"these columns, or put them into classes.",
                f"unique values, released unchanged (percent of the records): {first_of(columns)}.",
            )
        ]  # fmt: skip
    found = []
    for name, role, share in alone:
        secret = role is Role.CONFIDENTIAL
        knows = (
            "an intruder is assumed not to know it, but an intruder who knows it finds the record"
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


def _restricted(risk: JudgedRisk) -> list[Finding]:
    if not risk.restricted:
        return []
    only = f"an intruder who knows only {listed(risk.keys)}"
    return [
        Finding(
            "look", "risk",
            f"The risk was measured for {only}. An intruder who knows other masked columns too can find more. Measure "
            f"the risk with all masked columns, unless nobody can know the others.",
            f"the risk was measured for {only}.",
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
            f"In some groups all records have one value: {', '.join(columns)}. Anybody who knows that a person is in "
            f"such a group knows the person's value. Demand different values (l), choose a larger k, or do not "
            f"release the column.",
            f"in some groups all records have one value: {', '.join(columns)}.",
        )
    ]  # fmt: skip


def constant_words(risk: JudgedRisk | None) -> str:
    """Return how many units have a value that the means of groups disclose; empty where hardly any has."""
    found = None if risk is None else risk.constants
    if found is None or found.solved is None or not found.solved > SOLVED * found.units:
        return ""
    are = "is" if len(found.columns) == 1 else "are"
    return (
        f"for {percent(100.0 * found.solved / found.units)} of the units, a value of {listed(found.columns, 3)}, which "
        f"{are} the same in all rows of a unit, can be computed from the means of the groups that these rows are in"
    )


def _constants(judgement: Judgement) -> list[Finding]:
    """Return what means disclose of units that are in many groups, or that it was not measured."""
    words = constant_words(judgement.risk)
    if words:
        return [
            Finding(
                "look", "units",
                f"{words[0].upper()}{words[1:]}, by an intruder who knows which rows are in which group. Mask such "
                f'columns once for each unit (unit_constant: "once", in memory), or choose a larger k.',
                f"{words}.",
            )
        ]  # fmt: skip
    units, risk = judgement.groups.units, judgement.risk
    if units is None or units.whole or risk is None:
        return []
    many = risk.constants is not None and risk.constants.solved is None
    if SAMPLE.of(judgement) is None and not many:
        return []
    short = "whether values that are the same in all rows of a unit can be computed from means was not measured"
    why = "the values of too many units depend on each other" if many else "only some of the records are in memory"
    return [Finding("look", "units", f"{short[0].upper()}{short[1:]}: {why}.", f"{short}.")]


def guessed_closely(judgement: Judgement) -> float:
    """Return the share of the records, in percent, all of whose values are close to the released ones."""
    return judgement.measures["ID"].value


def _close(judgement: Judgement) -> list[Finding]:
    """Return that released values are nearly the original ones; nothing where few records are like that."""
    share = guessed_closely(judgement)
    if not share > CLOSE:
        return []
    short = f"in {percent(share)} of the records all original values are close to the released ones"
    return [
        Finding(
            "look", "values guessed closely",
            f"{short[0].upper()}{short[1:]}, {CLOSELY}. Anybody who finds the group knows the "
            f"original values nearly. If that is too close, choose a larger k.",
            f"{short}.",
        )
    ]  # fmt: skip


def _dominated(risk: JudgedRisk, but: str) -> list[Finding]:
    """Return the column in which means most often disclose the largest value; nothing where they seldom do."""
    worst = max(risk.columns, key=lambda one: one.dominated or 0)
    if not worst.dominated or worst.dominated < 0.05 * risk.n_groups:
        return []
    share = percent(100.0 * worst.dominated / risk.n_groups)
    within = percent(risk.dominance_percent)
    return [
        Finding(
            "look", "dominance",
            f"In {share} of the groups, the member (a person, household or firm) with the second largest value of "
            f"{quoted(worst.column)} can estimate the largest value to within {within} of it: they know the mean and "
            f"their own value. {but + ' ' if but else ''}See the table of risk by column.",
            f"in {share} of the groups the member with the second largest value of {quoted(worst.column)} can estimate "
            f"the largest to within {within} of it.",
        )
    ]  # fmt: skip
