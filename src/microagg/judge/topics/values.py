"""What was found of the released values: codes averaged, zeros lost, records left out, cells filled, totals moved."""

from microagg.judge import Judgement
from microagg.judge.done import rounding_moved
from microagg.judge.parts import ColumnChange, ColumnLoss, Finding
from microagg.judge.text import FIXED, at_most, count, counted, first_of, listed, percent, points, quoted
from microagg.judge.topics.loss import before_after, has_spike, risen
from microagg.judge.topics.weights import total_words

_FEW_POINTS = 2.0  # by which the share of a column's commonest value may change without a warning
_LEFT_OUT = 1.0  # percent of the records: fewer are noted only
_CHANGED_CELLS = 1.0  # percent of a column's cells: fewer that were filled or blanked are noted only
_MOVED_TOTAL = 0.5  # percent of a total: a smaller change is noted only
_NO_CHANGE = 0.005  # percent of a total: a smaller change is not mentioned

Changed = tuple[ColumnLoss, ColumnChange]


def _columns(judgement: Judgement) -> list[Changed]:
    """Return the columns with what became of them; none in public."""
    return [(one, one.change) for one in judgement.loss.columns if one.change is not None]


def columns_of_codes(judgement: Judgement) -> list[Changed]:
    """Return the columns that look like codes and were masked as numbers."""
    return [(one, change) for one, change in _columns(judgement) if change.coded]


def codes(judgement: Judgement) -> list[Finding]:
    """Return which columns look like codes and were masked as numbers."""
    columns = columns_of_codes(judgement)
    if not columns:
        return []
    names = listed([one.column for one, _ in columns], 4)
    look, masked = ("looks", "was masked as a number") if len(columns) == 1 else ("look", "were masked as numbers")
    unknown = max(change.unknown or 0.0 for _, change in columns)
    upto = "" if len(columns) == 1 else "up to "
    nobody = (
        f" In {upto}{percent(unknown)} of the records the released number is not one of the original codes."
        if unknown
        else ""
    )
    return [
        Finding(
            "look", "codes",
            f"{names} {look} like codes (few whole numbers, with gaps) and {masked}. The "
            f"{judgement.run.aggregate} of codes has no meaning.{nobody} If the numbers are codes, declare the column "
            f"nominal, or ordinal if the codes have an order.",
            f"{names} {look} like codes and {masked}.{nobody}",
        )
    ]  # fmt: skip


def doubted(judgement: Judgement) -> list[Finding]:
    """Return which other columns were masked as numbers and are probably no quantities."""
    coded = [one.column for one, _ in columns_of_codes(judgement)]
    columns = [f"{quoted(name)} ({why})" for name, why in judgement.doubted.items() if name not in coded]
    if not columns:
        return []
    were = (
        "was masked as a number, but is probably no quantity"
        if len(columns) == 1
        else "were masked as numbers, but are probably no quantities"
    )
    return [
        Finding(
            "look", "no quantities",
            f"{counted(len(columns), 'column')} {were}: {', '.join(columns)}. The {judgement.run.aggregate} of such "
            f"numbers has no meaning. Name a column that identifies persons as an identifier, and a weight as a "
            f"weight. Declare codes nominal. If a column is a quantity, declare it a number.",
            f"{were}: {first_of(columns)}.",
        )
    ]  # fmt: skip


def codes_in_order(judgement: Judgement) -> list[Finding]:
    """Return that t was measured by the order of numbers that are probably codes."""
    columns = [f"{quoted(name)} ({why})" for name, why in judgement.codes_in_order.items()]
    if not columns:
        return []
    words = "t is measured by the order of numbers that are probably codes"
    return [
        Finding(
            "look", "closeness",
            f"{words}: {', '.join(columns)}. If the values are compared without an order, groups are farther from the "
            f"whole file. Declare codes nominal (kinds), or declare a quantity a number, and mask again.",
            f"{words}: {first_of(columns)}.",
        )
    ]  # fmt: skip


def idle_codes(judgement: Judgement) -> list[Finding]:
    """Return which codes for missing values no record has: the right ones would then be averaged."""
    found = []
    absent = {name: codes for name, codes in judgement.idle_codes.items() if codes}
    if absent:
        columns = first_of([f"{quoted(name)} ({', '.join(codes)})" for name, codes in absent.items()])
        words = f"no record has these codes for missing values: {columns}"
        found.append(
            Finding(
                "look", "codes for missing values",
                f"{words[0].upper()}{words[1:]}. If the codes are written wrongly, the right ones were masked as "
                f"values.",
                f"{words}.",
            )
        )  # fmt: skip
    unmasked = [name for name, codes in judgement.idle_codes.items() if not codes]
    if unmasked:
        words = f"codes for missing values of {listed(unmasked, 4)} are not used: the column is not masked"
        found.append(Finding("look", "codes for missing values", f"{words[0].upper()}{words[1:]}.", f"{words}."))
    return found


def _with_spike(judgement: Judgement) -> list[Changed]:
    """Return the columns that have a spike; the commonest of codes is none, and codes have a finding of their own."""
    return [(one, change) for one, change in _columns(judgement) if has_spike(one) and not change.coded]


def lost_spikes(judgement: Judgement) -> list[Changed]:
    """Return the columns in which the share of the commonest value fell by more than a few points."""
    return [(one, change) for one, change in _with_spike(judgement) if risen(change) < -_FEW_POINTS]


def spikes(judgement: Judgement) -> list[Finding]:
    """Return in which columns zeros were averaged with other values, or values became zeros."""
    gained = [(one, change) for one, change in _with_spike(judgement) if risen(change) > _FEW_POINTS]
    zeros = [(one, change) for one, change in lost_spikes(judgement) if change.common == 0]
    others = [(one, change) for one, change in lost_spikes(judgement) if change.common != 0]
    lost = _moved_spikes("zeros", "lost", zeros) + _moved_spikes("the commonest value", "lost", others)
    return lost + _moved_spikes("spikes", "added", gained)


def _moved_spikes(what: str, done: str, columns: list[Changed]) -> list[Finding]:
    """Return for all columns at once that values at their spike were lost or added."""
    if not columns:
        return []
    names = first_of([f"{quoted(one.column)} ({before_after(change)})" for one, change in columns])
    verb = "is" if what == "the commonest value" else "are"
    if done == "added":
        remedy = "Release the spike only where all members of a group have it, or form groups on fewer columns."
    elif all(one.kind == "semi" for one, _ in columns):
        remedy = "Give the spike more weight, or form groups on fewer columns."
    else:
        remedy = "Declare such columns semi-continuous, so that groups do not mix the spike with other values."
    return [
        Finding(
            "look", what,
            f"{what[0].upper()}{what[1:]} {verb} {done} by masking, in percent of all records: {names}. This "
            f"changes shares, and regressions on logarithms. {remedy}",
            f"{what} {done}: {names}.",
        )
    ]  # fmt: skip


def left_out_share(judgement: Judgement) -> float:
    """Return the share of records left out, in percent, where it is not small; 0 otherwise, and in public."""
    share = judgement.left_out.percent or 0.0
    return share if share >= _LEFT_OUT and not judgement.public else 0.0


def left_out(judgement: Judgement) -> list[Finding]:
    """Return how many records were left out."""
    found = judgement.left_out
    if not found.records:
        return []
    share, units, moved = percent(found.percent), judgement.groups.units, totals_left_out(judgement)
    totals = first_of([f"{quoted(name)} {points(total)}{FIXED}%" for name, total in moved])
    totals = f" That alone changed {total_words(judgement).lower()}: {totals}." if moved else ""
    why, remedy = "a value is missing", " You can keep them: mask with missing values by pattern (missing pattern)."
    if units is not None and units.whole:
        why, remedy = f"fewer than {judgement.run.k} units have the same number of rows, or the same waves", ""
    return [
        Finding(
            "look" if left_out_share(judgement) else "note", "records left out",
            f"{share} of the records were left out because {why}.{totals} If they differ from the others, the release "
            f"no longer represents the file.{remedy}",
            f"{counted(found.records, 'record')} of {count(found.read or 0)} ({share}) left out because {why}.{totals}",
        )
    ]  # fmt: skip


def large_losses(judgement: Judgement) -> list[Finding]:
    """Return which columns lost much."""
    large = [one for one in judgement.loss.columns if one.word == "large"]
    if not large:
        return []
    return [
        Finding(
            "look", "large losses",
            f"{listed([one.column for one in large], 4)} lost more than 20 % of the information. Check whether "
            f"users can accept that.",
            f"large losses: {first_of([f'{quoted(one.column)} {percent(one.percent)}' for one in large])}.",
        )
    ]  # fmt: skip


def missing(judgement: Judgement) -> list[Finding]:
    """Return which columns have values where they had none, or none where they had some."""
    changed = [(one, change.filled, change.blanked) for one, change in _columns(judgement)]
    changed = sorted((one for one in changed if one[1] or one[2]), key=lambda one: -(one[1] + one[2]))
    if not changed:
        return []
    most = 100.0 * (changed[0][1] + changed[0][2]) / judgement.groups.records
    columns = first_of(
        [f"{quoted(one.column)} ({count(filled)}, {count(blanked)})" for one, filled, blanked in changed]
    )
    filled, blanked = judgement.missing.filled or 0, judgement.missing.blanked or 0
    short = (
        f"{counted(filled, 'empty cell was', 'empty cells were')} filled, and "
        f"{counted(blanked, 'value was', 'values were')} made empty"
    )
    return [
        Finding(
            "look" if most >= _CHANGED_CELLS else "note", "missing values",
            f"{short}, by column (filled, made empty): {columns}. A group releases one value for all of its members, "
            f"or none.",
            f"{short}.",
        )
    ]  # fmt: skip


def totals_left_out(judgement: Judgement) -> list[tuple[str, float]]:
    """Return the columns whose totals changed because records were left out, how far, and the farthest first."""
    moved = [(one.column, change.left_out or 0.0) for one, change in _columns(judgement)]
    return sorted((one for one in moved if abs(one[1]) >= _NO_CHANGE), key=lambda one: -abs(one[1]))


def moved_totals(judgement: Judgement) -> list[tuple[str, float]]:
    """Return the columns whose totals changed, and how far in percent, the farthest first."""
    moved = [(one.column, change.total or 0.0) for one, change in _columns(judgement)]
    return sorted((one for one in moved if abs(one[1]) >= _NO_CHANGE), key=lambda one: -abs(one[1]))


def totals(judgement: Judgement) -> list[Finding]:
    """Return how far totals changed, and how far by rounding."""
    moved = moved_totals(judgement)
    if not moved:
        return []
    columns = first_of([f"{quoted(name)} {points(total)}{FIXED}%" for name, total in moved])
    totals = f"{total_words(judgement)} changed"
    rounding = rounding_moved(judgement)
    by_rounding = f"Rounding alone changed them by {at_most(rounding)}." if rounding else "Rounding changed no total."
    left_out = totals_left_out(judgement)
    if left_out:
        by_rounding = f"Leaving out records alone changed them by {at_most(abs(left_out[0][1]))}. {by_rounding}"
    return [
        Finding(
            "look" if abs(moved[0][1]) >= _MOVED_TOTAL else "note", "totals",
            f"{totals}: {columns}. {by_rounding} Medians, spikes and missing values change totals too.",
            f"{totals[0].lower()}{totals[1:]}: {columns}.",
        )
    ]  # fmt: skip
