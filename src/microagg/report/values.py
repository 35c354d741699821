"""What was found of the released values: codes averaged, zeros lost, records left out, cells filled, totals moved."""

from microagg.judgement import Judgement
from microagg.judgement.parts import ColumnChange, ColumnLoss
from microagg.report.parts import Finding
from microagg.report.text import FIXED, at_most, count, counted, first_of, listed, percent, points, quoted
from microagg.report.worded import before_after, common_name

_FEW_POINTS = 2.0  # by which the share of a column's commonest value may change without a warning
_LEFT_OUT = 1.0  # percent of the records: fewer are noted only
_CHANGED_CELLS = 1.0  # percent of a column's cells: fewer that were filled or blanked are noted only
_MOVED_TOTAL = 0.5  # percent of a total: a smaller change is noted only
_NO_CHANGE = 0.005  # percent of a total: a smaller change is not told

Changed = tuple[ColumnLoss, ColumnChange]


def _columns(judgement: Judgement) -> list[Changed]:
    """Give the columns with what became of them; none in public."""
    return [(one, one.change) for one in judgement.loss.columns if one.change is not None]


def columns_of_codes(judgement: Judgement) -> list[Changed]:
    """Give the columns that look like codes and were masked as numbers."""
    return [(one, change) for one, change in _columns(judgement) if change.coded]


def codes(judgement: Judgement) -> list[Finding]:
    """Tell which columns look like codes and were masked as numbers."""
    found = []
    for one, change in columns_of_codes(judgement):
        nobody = ""
        if change.unknown:
            nobody = f" {percent(change.unknown)} of the records are released with a number that no record had."
        found.append(
            Finding(
                "look", "codes",
                f"{quoted(one.column)} looks like codes (few whole numbers, with gaps) and was masked as a number: the "
                f"{judgement.run.aggregate} of codes means nothing.{nobody} If they are codes, declare the column "
                f"nominal, or ordinal where they have an order.",
                f"{quoted(one.column)} looks like codes and was masked as a number.{nobody}",
            )
        )  # fmt: skip
    return found


def lost_spikes(judgement: Judgement) -> list[Changed]:
    """Give the columns in which the share of the commonest value fell by more than a few points."""
    return [(one, change) for one, change in _columns(judgement) if _risen(change) < -_FEW_POINTS]


def _risen(change: ColumnChange) -> float:
    """Give by how many points the share of a column's commonest value rose; 0 where there is none."""
    return (change.common_after or 0.0) - (change.common_before or 0.0)


def spikes(judgement: Judgement) -> list[Finding]:
    """Tell in which columns zeros were averaged away, or values became zeros."""
    found = []
    for one, change in _columns(judgement):
        risen = _risen(change)
        if abs(risen) <= _FEW_POINTS:
            continue
        if risen > 0:
            remedy = "Release the spike only where all members have it, or form groups on fewer columns."
        elif one.kind == "semi":
            remedy = "Give being at the spike more weight, or form groups on fewer columns."
        else:
            remedy = "Declare the column semi-continuous, so that groups keep to its spike."
        what, shares = common_name(change.common), before_after(change)
        verb, done = "are" if what == "zeros" else "is", "added" if risen > 0 else "lost"
        found.append(
            Finding(
                "look", "zeros" if what == "zeros" else "commonest value",
                f"{what[0].upper()}{what[1:]} {verb} {done} in {quoted(one.column)}: {shares} masking, of all records. "
                f"Shares, and regressions on logarithms, follow. {remedy}",
                f"{what} {done} in {quoted(one.column)}: {shares}.",
            )
        )  # fmt: skip
    return found


def left_out_share(judgement: Judgement) -> float:
    """Give the share of records left out, in percent, where it is no trifle; 0 otherwise, and in public."""
    share = judgement.left_out.percent or 0.0
    return share if share >= _LEFT_OUT and not judgement.public else 0.0


def left_out(judgement: Judgement) -> list[Finding]:
    """Tell how many records were left out."""
    found = judgement.left_out
    if not found.records:
        return []
    share = percent(found.percent)
    return [
        Finding(
            "look" if left_out_share(judgement) else "note", "records left out",
            f"{share} of the records were left out for want of a value. If they differ from the others, so does the "
            f"file. They can be kept, grouped by what they lack.",
            f"{counted(found.records, 'record')} of {count(found.read or 0)} ({share}) left out for want of a value.",
        )
    ]  # fmt: skip


def large_losses(judgement: Judgement) -> list[Finding]:
    """Tell which columns lost much."""
    large = [one for one in judgement.loss.columns if one.word == "large"]
    if not large:
        return []
    return [
        Finding(
            "look", "large losses",
            f"{listed([one.column for one in large], 4)}: more than 20 % of the information lost. See whether users "
            f"can do with that.",
            f"large losses: {first_of([f'{quoted(one.column)} {percent(one.percent)}' for one in large])}.",
        )
    ]  # fmt: skip


def missing(judgement: Judgement) -> list[Finding]:
    """Tell which columns have values where they had none, or none where they had some."""
    changed = [(one, change.filled, change.blanked) for one, change in _columns(judgement)]
    changed = sorted((one for one in changed if one[1] or one[2]), key=lambda one: -(one[1] + one[2]))
    if not changed:
        return []
    most = 100.0 * (changed[0][1] + changed[0][2]) / judgement.groups.records
    columns = first_of(
        [f"{quoted(one.column)} ({count(filled)}, {count(blanked)})" for one, filled, blanked in changed]
    )
    filled, blanked = judgement.missing.filled or 0, judgement.missing.blanked or 0
    short = f"{counted(filled, 'missing cell')} filled, {count(blanked)} blanked"
    return [
        Finding(
            "look" if most >= _CHANGED_CELLS else "note", "missing values",
            f"{short}: {columns}. A group releases one value for all of its members, or none.",
            f"{short}.",
        )
    ]  # fmt: skip


def moved_totals(judgement: Judgement) -> list[tuple[str, float]]:
    """Give the columns whose totals moved to speak of, and how far in percent, the farthest first."""
    moved = [(one.column, change.total or 0.0) for one, change in _columns(judgement)]
    return sorted((one for one in moved if abs(one[1]) >= _NO_CHANGE), key=lambda one: -abs(one[1]))


def totals(judgement: Judgement) -> list[Finding]:
    """Tell how far totals moved, and how far by rounding."""
    moved = moved_totals(judgement)
    if not moved:
        return []
    columns = first_of([f"{quoted(name)} {points(total)}{FIXED}%" for name, total in moved])
    rounding = max((abs(one.rounding_moved or 0.0) for one in judgement.loss.columns), default=0.0)
    by_rounding = f"By rounding alone, {at_most(rounding)}." if rounding else "Rounding moved none."
    return [
        Finding(
            "look" if abs(moved[0][1]) >= _MOVED_TOTAL else "note", "totals",
            f"Totals moved: {columns}. {by_rounding} Medians, spikes and missing values move them too.",
            f"totals moved: {columns}.",
        )
    ]  # fmt: skip
