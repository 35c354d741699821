"""The page in a few sentences: what was promised, whether it holds, what it cost, what to look at first."""

from collections.abc import Sequence

from microagg.judgement import Judgement
from microagg.judgement.parts import Alone, DiversityFacts, Groups, Loss, Risk
from microagg.judgement.run import AS_IT_IS, Run
from microagg.report.parts import Fact, State, Verdict, WrittenFacts
from microagg.report.text import count, counted, listed, percent, quoted, sentence
from microagg.report.worded import moved_words, sample_words
from microagg.schema import Role

_MOST_FIRST = 8
_HALF = 50.0  # percent of the records: a column in which so many have a value of their own stands in the headline
_CLOSE = 20.0  # percent of the records: above, that all their values lie close to the released ones is told first
_MOST_APART = 2  # columns with values of their own that are told one by one; more are told together


def verdict(judgement: Judgement, written: WrittenFacts) -> Verdict:
    """Say in a few sentences what a committee must know."""
    groups, alone, public = judgement.groups, judgement.alone, judgement.public
    counted_again = groups.reached if groups.per_column or groups.counted is None else groups.counted
    holds = min(groups.reached, counted_again) >= groups.promised
    released = [name for role in AS_IT_IS for name in judgement.run.names(role)]
    if not holds:
        headline = (
            f"The promise is broken: k = {groups.promised} was asked, and only {counted(counted_again, 'record')} "
            f"share their masked values. Do not release this file."
        )
    elif groups.per_column:
        headline = f"k = {groups.promised} holds for each column on its own, not for whole records."
    else:
        headline = (
            f"The promise holds: every record shares its masked values with at least {groups.reached - 1} others."
        )
        if public and released:
            headline += f" It does not cover {listed(released, 3)}, released unchanged."
        else:
            headline += _not_covered(judgement.run, groups, alone)
    first = [] if public else _look_first(judgement, written, holds)
    lines = [
        Fact("Promised", _promised(judgement.run, groups)),
        Fact("Kept", _kept(groups, holds)),
        Fact("Lost", _lost(judgement.loss, moved_words(judgement.moved), public)),
        Fact("An intruder", _intruder(judgement)),
    ]
    apart = bool(released) if public else alone.together > 0  # who is found by one column is found by all
    uniform = any(one.distinct == 1 for one in judgement.diversity)
    measured = judgement.risk is not None and (judgement.risk.restricted or _guessed_closely(judgement) > _CLOSE)
    open_questions = apart or uniform or groups.per_column or measured
    state: State = "bad" if not holds else "look" if open_questions else "good"
    return Verdict(state, headline, tuple(lines), tuple(first[:_MOST_FIRST]))


def _not_covered(run: Run, groups: Groups, alone: Alone) -> str:
    """Say for the headline what tells half of the records or more apart, whatever is masked; empty where nothing."""
    share = 100.0 * alone.together / groups.records
    if share < _HALF:
        return ""
    gaps = [name for name, _, own in _by_column(run, groups, alone) if own >= _HALF]
    if not gaps:
        strata = run.names(Role.STRATUM)
        by = f", with {_strata_words(strata)}," if strata else " together"
        return (
            f" It does not cover {listed(list(alone.by_column), 3)}, by which{by} {percent(share)} of the records "
            f"could be told apart."
        )
    more = f"; by all that is released as it is, {percent(share)}" if _more_together(alone) else ""
    return f" It does not cover {listed(gaps, 3)}, by which half of the records or more could be told apart{more}."


def _more_together(alone: Alone) -> bool:
    """Tell whether the columns released as they are single out more records together than any does by itself."""
    return alone.together > max(alone.by_column.values(), default=0)


def _by_column(run: Run, groups: Groups, alone: Alone) -> list[tuple[str, Role, float]]:
    """Give each column released as it is in which records have a value of their own, and of how many, in percent."""
    return [
        (name, role, 100.0 * alone.by_column[name] / groups.records)
        for role in AS_IT_IS
        for name in run.names(role)
        if alone.by_column.get(name)
    ]


def _strata_words(strata: list[str]) -> str:
    return f"the {'stratum' if len(strata) == 1 else 'strata'} {listed(strata)}"


def _alone_words(run: Run, groups: Groups, alone: Alone) -> list[str]:
    """Say by which columns records could be found, whatever is masked."""
    found = []
    if _more_together(alone):
        names, strata = list(alone.by_column), run.names(Role.STRATUM)
        within = f" and {_strata_words(strata)}" if strata else ""
        found.append(
            f"{listed(names)}{within} are released as they are, and together they are nobody else's in "
            f"{percent(100.0 * alone.together / groups.records)} of the records: who knows them needs nothing more. "
            "Round columns, put them into classes, or release fewer."
        )
    return found + _words_by_column(_by_column(run, groups, alone))


def _words_by_column(alone: list[tuple[str, Role, float]]) -> list[str]:
    """Say the same of single columns."""
    if len(alone) > _MOST_APART:
        ordered = sorted(alone, key=lambda one: -one[2])
        columns = [
            f"{quoted(name)} ({percent(share)}{', confidential' if role is Role.CONFIDENTIAL else ''})"
            for name, role, share in ordered
        ]
        return [
            f"{len(alone)} columns are released as they are and hold values that are nobody else's, in so many of the "
            f"records: {', '.join(columns)}. Who knows one of those values needs nothing more. Round them, or put them "
            f"into classes."
        ]
    found = []
    for name, role, share in alone:
        secret = role is Role.CONFIDENTIAL
        knows = (
            "an intruder is taken not to know it, but who does needs nothing more"
            if secret
            else "who knows it needs nothing more"
        )
        found.append(
            f"{quoted(name)} is {'confidential and ' if secret else ''}released as it is, and in {percent(share)} of "
            f"the records its value is nobody else's: {knows}. Round it, or put it into classes."
        )
    return found


def _promised(run: Run, groups: Groups) -> str:
    masked, strata = run.names(Role.QUASI), run.names(Role.STRATUM)
    k = groups.promised
    if groups.per_column:
        return f"k = {k} for each of {counted(len(masked), 'masked column')} by itself."
    within = f" and {_strata_words(strata)}" if strata else ""
    columns = f"all {len(masked)} masked columns" if len(masked) > 1 else f"the masked column {quoted(masked[0])}"
    return f"k = {k}: at least {k} records alike in {columns}{within}."


def _kept(groups: Groups, holds: bool) -> str:
    if groups.per_column:
        whole = "Whole records may be unique."
        if groups.counted is not None and groups.unique is not None:
            unique = counted(groups.unique, "record is", "records are")
            whole = f"In whole records the fewest alike are {count(groups.counted)}; {unique} unique."
        return f"In every column at least {count(groups.reached)} records share a value. {whole}"
    word = "Yes" if holds else "No"
    return f"{word}. Counted again in the released file, the fewest records alike are {count(groups.counted or 0)}."


def _lost(loss: Loss, moved: str, public: bool) -> str:
    correlations = f"Correlations moved by {moved} on average." if moved else ""
    if public:
        if not loss.told:
            return (
                "The loss of information is not told: in each column one group of records could make it, and be read "
                "off it."
            )
        whole = loss.told == len(loss.columns)
        part = "" if whole else f" in the {counted(loss.told, 'column')} of which it can be told"
        return sentence([f"The loss of information is {loss.word}{part}.", correlations])
    words = [f"The loss of information is {loss.word}: {percent(loss.percent)} of the variation of the masked columns."]
    worst, least = loss.columns[0], loss.columns[-1]
    if len(loss.columns) > 1 and worst.percent != least.percent:
        words.append(
            f"{quoted(worst.column)} lost most ({percent(worst.percent)}), {quoted(least.column)} least "
            f"({percent(least.percent)})."
        )
    return sentence([*words, correlations])


def _intruder(judgement: Judgement) -> str:
    """Say what an intruder could still do; in public only what follows from k."""
    groups, risk = judgement.groups, judgement.risk
    if risk is None:
        if groups.per_column:
            return "Knowing several masked columns of a person, he may find the one record that fits."
        return (
            f"Knowing the masked columns of a person, he finds at least {groups.reached} records that fit alike. What "
            f"those have in common he learns. What is released unmasked may still tell them apart."
        )
    some, full, group = (judgement.measures[name].value for name in ("RLD", "full keys", "right group"))
    bound = "" if groups.per_column else f", of at most {percent(100.0 / groups.promised)}"
    if len(risk.columns) == 1:
        linked = f"Knowing the masked column of everybody, he picks the right record {_in_of(full)}{bound}."
    elif not risk.restricted:
        linked = (
            f"Knowing some masked columns of everybody, he picks the right record {_in_of(some)}; knowing all of them, "
            f"{_in_of(full)}{bound}."
        )
    elif len(risk.keys) == 1:
        linked = (
            f"An intruder who knows only {quoted(risk.keys[0])}, 1 of {len(risk.columns)} masked columns, of everybody "
            f"picks the right record {_in_of(full)}{bound}."
        )
    else:
        linked = (
            f"An intruder who knows only {listed(risk.keys)}, {len(risk.keys)} of {len(risk.columns)} masked columns, "
            f"of everybody picks the right record {_in_of(some)} by some of them, {_in_of(full)} by all{bound}."
        )
    return sentence(
        [
            linked,
            sample_words(risk),
            "One who knows more was not measured, and can link more." if risk.restricted else "",
            f"He finds the right group {_in_of(group)}, and then knows what it releases.",
            f"In {percent(_guessed_closely(judgement))} of the records all values lie close to the released ones.",
        ]
    )


def _in_of(value: float | None) -> str:
    return "never" if value == 0 else f"in {percent(value)} of cases"


def _uniform_words(diversity: Sequence[DiversityFacts]) -> str:
    """Say which confidential columns are given away outright to who knows only a person's group."""
    columns = [
        f"{quoted(one.column)} in {counted(one.uniform_groups, 'group')} ({counted(one.uniform_records, 'record')})"
        for one in diversity
        if one.distinct == 1
    ]
    if not columns:
        return ""
    return (
        f"One value throughout a group: {', '.join(columns)}. Who is known to be in such a group has that value, "
        f"whichever record is his. Take a larger k, or do not release the column."
    )


def _guessed_closely(judgement: Judgement) -> float:
    """Give the share of the records, in percent, all of whose values lie close to the released ones."""
    return judgement.measures["ID"].value


def _close_words(judgement: Judgement) -> str:
    """Say that released values are nearly the original ones; empty where that is so of few records."""
    share = _guessed_closely(judgement)
    if share <= _CLOSE:
        return ""
    return (
        f"In {percent(share)} of the records all masked values lie close to the released ones, within 1 to 10 % of the "
        f"ranks: who finds the group knows them about as well. Take a larger k if that is too close."
    )


def _worst_dominated(risk: Risk) -> str:
    """Say in which column the means most often give the largest member to the second; empty where they seldom do."""
    worst = max(risk.columns, key=lambda one: one.dominated or 0)
    if not worst.dominated or worst.dominated < 0.05 * risk.n_groups:
        return ""
    share = percent(100.0 * worst.dominated / risk.n_groups)
    return (
        f"In {share} of the groups the second largest member in {quoted(worst.column)}, who knows its own value, can "
        f"work out the largest to within {percent(risk.dominance_percent)} from the mean. See risk by column."
    )


def _look_first(judgement: Judgement, written: WrittenFacts, holds: bool) -> list[str]:
    """List what deserves attention, the gravest first."""
    groups, risk = judgement.groups, judgement.risk
    found = []
    if not holds:
        found.append("The promise: the released file does not keep it. It may have been changed after masking.")
    if groups.per_column and groups.unique:
        found.append(
            f"{percent(100.0 * groups.unique / groups.records)} of the records are unique in their masked columns "
            f"taken together. Consider a method that groups whole records."
        )
    found += _alone_words(judgement.run, groups, judgement.alone)
    if risk is not None and risk.restricted:
        found.append(
            f"The risk is that of an intruder who knows only {listed(risk.keys)}. Whoever can know another masked "
            f"column can link more: measure for all of them, unless nobody can know them."
        )
    found.append(_uniform_words(judgement.diversity))
    if risk is not None:
        found.append(_close_words(judgement))
        found.append(_worst_dominated(risk))
    large = [one.column for one in judgement.loss.columns if one.word == "large"]
    if large:
        found.append(f"{listed(large, 4)}: more than 20 % of the variation lost. See whether users can do with that.")
    share = judgement.left_out.percent or 0.0
    if share >= 5.0:
        found.append(f"{percent(share)} of the records were left out for want of a value.")
    if not written.reordered:
        found.append(
            "The rows are in the original order. Sort the rows by what is released if anybody else may hold a list in "
            "that order."
        )
    return [text for text in found if text]
