"""The page in a few sentences: what was promised, whether it holds, what it cost, what to look at first."""

from microagg.columns.roles import Role
from microagg.judge import Judgement
from microagg.judge.findings import (
    CLOSE,
    CLOSELY,
    alone_words,
    by_column,
    constant_words,
    few_units_words,
    findings,
    guessed_closely,
    merged_words,
    rebuilt_words,
    strata_words,
)
from microagg.judge.parts import Alone, Fact, JudgedGroups, State, Verdict, WrittenFacts
from microagg.judge.run import JudgedRun
from microagg.judge.text import at_most, count, counted, listed, percent, quoted, sentence
from microagg.judge.topics import confidential, results, values, weights
from microagg.judge.topics.loss import before_after, common_name, with_spike
from microagg.judge.topics.risk import sample_words

_MOST_FIRST = 20
_MOST_SPIKES = 3  # columns whose spikes the verdict names
_HALF = 50.0  # percent of the records: a column in which so many have a unique value is in the headline


def verdict(judgement: Judgement, written: WrittenFacts) -> Verdict:
    """Return in a few sentences what a committee must know."""
    groups, public = judgement.groups, judgement.public
    counted_again = groups.reached if groups.per_column or groups.counted is None else groups.counted
    keeps_k = min(groups.reached, counted_again) >= groups.promised
    holds = keeps_k and (judgement.kept is None or judgement.kept.holds)
    if not holds and keeps_k:
        headline = (
            "The promise is broken: records with the same masked values disclose more of a confidential column than "
            "was allowed. Do not release this file."
        )
    elif not holds:
        whose = counted(counted_again, "record" if groups.units is None else "unit")
        headline = (
            f"The promise is broken: k = {groups.promised} was asked, but somewhere only {whose} "
            f"{'has' if counted_again == 1 else 'have'} the same masked values. Do not release this file."
        )
    elif groups.per_column:
        headline = f"k = {groups.promised} holds for each column separately, not for whole records."
    elif groups.units is not None:
        headline = f"The promise holds: {_kept_by_units(groups)}."
    else:
        headline = (
            f"The promise holds: every record has the same masked values as at least {groups.reached - 1} others."
        )
    if holds:
        headline = sentence([headline, confidential.headline(judgement), *_not_covered(judgement)])
    found = () if public else findings(judgement, written, holds)
    lines = [
        Fact("Promised", sentence([_promised(judgement.run, groups), confidential.headline(judgement)])),
        Fact("Kept", sentence([_kept(groups, holds), confidential.reached(judgement.kept)])),
        Fact("Lost", _lost(judgement)),
        *_values(judgement),
        *results.facts(judgement.results),
        Fact("An intruder", _intruder(judgement)),
    ]
    return Verdict(
        state="bad" if not holds else _state(judgement),
        headline=headline,
        lines=tuple(lines),
        look_first=tuple(one.text for one in found if one.state in ("bad", "look"))[:_MOST_FIRST],
        findings=found,
        alone_percent=None if public else 100.0 * judgement.alone.by_all / groups.records,
    )


def _kept_by_units(groups: JudgedGroups) -> str:
    """Return what holds of units."""
    units, k, others = groups.units, count(groups.reached), count(groups.reached - 1)
    assert units is not None
    named = f"units ({quoted(units.named)})" if units.named else "units (persons, households or firms)"
    if units.whole:
        return f"every unit has the same masked rows as at least {others} other {named}"
    same = f"every record has the same masked values as records of at least {others} other {named}"
    if not units.in_part:
        most = "" if units.share is None else f"; one unit may have most of these rows (up to {percent(units.share)})"
        return f"{same}{most}"
    return f"{same}, and no unit has more than 1/{k} of these rows"


def _state(judgement: Judgement) -> State:
    """Return whether a promise that holds leaves something open."""
    apart = bool(judgement.run.unchanged) if judgement.public else judgement.alone.by_all > 0
    apart = apart or bool(weights.findings(judgement)) or bool(judgement.alone.medians)
    uniform = any(one.distinct <= 1 for one in judgement.diversity)
    measured = judgement.risk is not None and (judgement.risk.restricted or guessed_closely(judgement) > CLOSE)
    measured = measured or bool(constant_words(judgement.risk))
    damaged = (
        judgement.doubted
        or judgement.codes_in_order
        or values.columns_of_codes(judgement)
        or values.lost_spikes(judgement)
        or values.left_out_share(judgement)
        or any(one.state == "look" for one in results.findings(judgement.results))
        or (judgement.groups.units is not None and judgement.groups.units.merged)
        or _are_rebuilt(judgement.groups)
    )
    return (
        "look"
        if apart or judgement.alone.few_units or uniform or judgement.groups.per_column or measured or damaged
        else "good"
    )


def _not_covered(judgement: Judgement) -> list[str]:
    """Return, for the headline, what the promise does not cover, and what was lost on the way to it."""
    unchanged = judgement.run.unchanged
    if judgement.public:
        covered = unchanged and not judgement.groups.per_column
        what = "It does" if judgement.kept is None else "k does"
        are = "which is" if len(unchanged) == 1 else "which are"
        found = [f"{what} not cover {listed(unchanged, 3)}, {are} released unchanged."] if covered else []
        rows = "It counts rows: several rows may belong to one person, household or firm."
        return [*found, rows] if judgement.repeats else found
    alone = _alone(judgement.run, judgement.groups, judgement.alone)
    few = [few_units_words(judgement.groups, *one) for one in judgement.alone.few_units.items()]
    about_units = [
        rebuilt_words(judgement.groups) if _are_rebuilt(judgement.groups) else "",
        constant_words(judgement.risk),
    ]
    doubts = [*few, *(f"{words}." for words in about_units if words)]
    if doubts and not alone:
        doubts[0] = f"But {doubts[0]}"
    found = [alone, *weights.headline(judgement), *(_begun(words) for words in doubts)]
    if judgement.groups.units is not None and judgement.groups.units.merged:
        words = merged_words(judgement.run, judgement.groups)
        found.append(f"{words[0].upper()}{words[1:]}.")
    if values.left_out_share(judgement):
        records, percentage = judgement.left_out.records or 0, percent(judgement.left_out.percent)
        moved = values.totals_left_out(judgement)
        totals = weights.total_words(judgement).lower()
        by = f", which changes {totals} by {at_most(abs(moved[0][1]))}" if moved else ""
        found.append(f"{counted(records, 'record is', 'records are')} left out ({percentage} of the file){by}.")
    lost = [(one.column, change.common) for one, change in values.lost_spikes(judgement)]
    zeros = [name for name, common in lost if common == 0]
    others = [name for name, common in lost if common != 0]
    found.append(f"Zeros are lost in {listed(zeros, 3)}." if zeros else "")
    found.append(f"The commonest value is lost in {listed(others, 3)}." if others else "")
    codes = [one.column for one, _ in values.columns_of_codes(judgement)]
    if codes:
        looks = "looks like codes and was masked as a number"
        found.append(
            f"{listed(codes, 3)} {looks if len(codes) == 1 else 'look like codes and were masked as numbers'}."
        )
    return found


def _begun(words: str) -> str:
    """Return a sentence with its capital letter; k has none."""
    return words if words.startswith("k ") else f"{words[0].upper()}{words[1:]}"


def _alone(run: JudgedRun, groups: JudgedGroups, alone: Alone) -> str:
    """Return, for the headline, how many records are unique in all that is released; empty where none is."""
    if not alone.by_all:
        return ""
    gaps = [name for name, _, own in by_column(run, groups, alone) if own >= _HALF]
    each = "each of " if len(gaps) > 1 else ""
    also = f"; in {each}{listed(gaps, 3)} alone, half of the records or more are unique" if gaps else ""
    return f"But {alone_words(groups, alone)}{also}."


def _values(judgement: Judgement) -> list[Fact]:
    """Return what became of zeros, of missing values and of totals; in public nothing."""
    if judgement.public:
        return []
    found = _spikes(judgement)
    missing = judgement.missing
    if missing.filled or missing.blanked:
        filled = counted(missing.filled or 0, "empty cell was", "empty cells were")
        found.append(f"{filled} filled, and {counted(missing.blanked or 0, 'value was', 'values were')} made empty.")
    elif missing.cells:
        found.append("No empty cell was filled, and no value was made empty.")
    moved = values.moved_totals(judgement)
    if moved:
        totals = weights.total_words(judgement)
        found.append(f"{totals} changed by {at_most(abs(moved[0][1]))} of the original total ({quoted(moved[0][0])}).")
    return [Fact("Values", sentence(found))] if found else []


def _spikes(judgement: Judgement) -> list[str]:
    """Return what became of the spikes of semi-continuous columns: the few that moved most; a table has the others."""
    words = [
        f"{common_name(change.common)} of {quoted(one.column)} {before_after(change)}"
        for one, change in with_spike(judgement.loss)
        if one.kind == "semi"
    ]
    if not words:
        return []
    others = len(words) - _MOST_SPIKES
    more = f"; the table of spikes has {counted(others, 'more column')}" if others > 0 else ""
    return [f"In percent of all records: {'; '.join(words[:_MOST_SPIKES])}{more}."]


def _promised(run: JudgedRun, groups: JudgedGroups) -> str:
    masked, strata = run.names(Role.QUASI), run.names(Role.STRATUM)
    k = groups.promised
    if groups.per_column:
        return f"k = {k} for each of {counted(len(masked), 'masked column')} separately."
    within = f" and {strata_words(strata)}" if strata else ""
    within += f" and the weight {listed(run.names(Role.WEIGHT))}" if run.weights_by_group else ""
    columns = f"all {len(masked)} masked columns" if len(masked) > 1 else f"the masked column {quoted(masked[0])}"
    whose = "records" if groups.units is None else "whole units" if groups.units.whole else "different units"
    return f"k = {k}: at least {k} {whose} have the same values in {columns}{within}."


def _kept(groups: JudgedGroups, holds: bool) -> str:
    if groups.per_column:
        whole = "Whole records may be unique."
        if groups.counted is not None and groups.unique is not None:
            unique = counted(groups.unique, "record is", "records are")
            whole = (
                f"Of whole records, the smallest number with the same masked values is {count(groups.counted)}; "
                f"{unique} unique."
            )
        return f"In every column at least {count(groups.reached)} records have the same value. {whole}"
    word = "Yes" if holds else "No"
    if groups.units is not None:
        whose = "whole units" if groups.units.whole else "units"
        return (
            f"{word}. Counted again in the rows of the released file, with the units of the original, the smallest "
            f"number of {whose} with the same masked values is {count(groups.reached)}."
        )
    return (
        f"{word}. Counted again in the released file, the smallest number of records with the same masked values is "
        f"{count(groups.counted or 0)}."
    )


def _lost(judgement: Judgement) -> str:
    loss, moved = judgement.loss, judgement.moved
    correlations = f"Correlations changed by {moved} on average." if moved else ""
    if judgement.public:
        return sentence([_lost_in_public(judgement), correlations])
    words = [f"The loss of information is {loss.word}: {percent(loss.percent)} {loss.meaning}."]
    words += [
        weights.lost(judgement),
        "" if judgement.kept is None else judgement.kept.cost,
        _once(judgement),
        _least(judgement),
    ]
    worst, least = loss.columns[0], loss.columns[-1]
    if len(loss.columns) > 1 and worst.percent != least.percent:
        words.append(
            f"{quoted(worst.column)} lost most ({percent(worst.percent)}), and {quoted(least.column)} lost least "
            f"({percent(least.percent)})."
        )
    return sentence([*words, correlations])


def _once(judgement: Judgement) -> str:
    """Return what it cost to mask columns once for each unit; empty where that was not done."""
    units = judgement.groups.units
    if units is None or units.loss_by_row is None or units.loss_once is None:
        return ""
    before = "rounding" if judgement.run.refined is None else "groups were refined and values rounded"
    return (
        f"{listed(units.once, 3)} {'is' if len(units.once) == 1 else 'are'} the same in all rows of a unit and masked "
        f"once for each unit, so that means of many groups do not disclose a unit's value. That raised the loss from "
        f"{percent(units.loss_by_row)} to {percent(units.loss_once)} (both before {before})."
    )


def _least(judgement: Judgement) -> str:
    """Return how little any grouping could lose, where that is known of the information loss itself."""
    bound = judgement.loss.bound
    known = bound is not None and bound.percent is not None and bound.of == "information loss"
    return judgement.loss.bound_text if known else ""


def _lost_in_public(judgement: Judgement) -> str:
    loss, moments = judgement.loss, judgement.run.moments
    if loss.told == len(loss.columns):
        return f"The loss of information is {loss.word}{loss.aside}."
    where = "in some" if loss.told else "in each"
    see = f" This page shows the loss of {counted(loss.told, 'column')}." if loss.told else ""
    if moments != "none":
        return (
            f"This page does not show the loss of information as a whole: {moments}s are kept, and together with "
            f"them the loss would reveal how much values vary inside groups.{see}"
        )
    return (
        f"This page does not show the loss of information as a whole: {where} of the columns a single group of records "
        f"could have caused it, and the figure would reveal that group.{see}"
    )


def _intruder(judgement: Judgement) -> str:
    """Return what an intruder could still do; in public only what follows from k."""
    groups, risk = judgement.groups, judgement.risk
    if risk is None:
        if groups.per_column:
            return (
                "An intruder who knows several masked columns of a person may find the one record that fits this "
                "person."
            )
        return (
            f"An intruder who knows the masked columns of a person finds {_fitting(groups)} that fit equally well, and "
            f"learns what these records have in common. Columns released unchanged may still show which record is the "
            f"right one{_or_units(judgement)}."
        )
    full, group = (judgement.measures[name].value for name in ("full keys", "full group"))
    bound = "" if groups.per_column else f" (k allows at most {percent(100.0 / groups.promised)})"
    whose = "of everybody" if risk.units is None else "of everybody, in all rows of a unit,"
    learns = ", and then knows the values that the group releases" if group else ""
    finds = f"finds {risk.right} {_in_of(full)}{bound}, and the right group {_in_of(group)}{learns}."
    known = "the masked column" if len(risk.columns) == 1 else "all masked columns"
    if risk.restricted:
        known = f"only {listed(risk.keys)}, {len(risk.keys)} of {len(risk.columns)} masked columns,"
    linked = f"An intruder who knows {known} {whose} {finds}"
    return sentence(
        [
            linked,
            sample_words(risk, risk.full_error),
            weights.linked(judgement),
            "An intruder who knows more masked columns can find more; that risk was not measured."
            if risk.restricted
            else "",
            f"In {percent(guessed_closely(judgement))} of the records all original values are close to the released "
            f"ones: {CLOSELY}.",
        ]
    )


def _are_rebuilt(groups: JudgedGroups) -> bool:
    """Return whether the rows of some units can be put together again."""
    return groups.units is not None and groups.units.rebuilt is not None and groups.units.rebuilt.units > 0


def _or_units(judgement: Judgement) -> str:
    """Return, in public, that rows of a unit may be recognised as such; whether they can be is not said."""
    units = judgement.groups.units
    return ", and which records belong to one unit" if units and not units.whole and judgement.run.unchanged else ""


def _fitting(groups: JudgedGroups) -> str:
    """Return how many records, or units, an intruder finds at least."""
    if groups.units is None:
        return f"at least {groups.reached} records"
    return f"{'' if groups.units.whole else 'records of '}at least {groups.reached} units"


def _in_of(value: float | None) -> str:
    return "never" if value == 0 else f"in {percent(value)} of the cases"
