"""What the original file shows, in words: columns recoded before masking, kinds of missing values, weights."""

from collections.abc import Sequence

from microagg.judge import Judgement
from microagg.judge.parts import MissingCodes
from microagg.report.parts import Finding, WrittenFacts
from microagg.report.text import count, counted, first_of, percent, quoted

_KEPT = "Recoded columns and dates keep no such codes; other columns keep those that the recipe names, or up to 30."
_LISTED = 4  # differences to the file of the recipe that a line names
_USERS = "Inform users: they can no longer see why a value is missing."


def recoded(judgement: Judgement) -> list[Finding]:
    """Return which columns were recoded, which is no part of the loss."""
    if not judgement.recoded:
        return []
    columns = [f"{quoted(one.column)} ({counted(one.changed or 0, 'cell')})" for one in judgement.recoded]
    short = f"recoded before masking: {first_of(columns)}"
    return [
        Finding(
            "note", "recoded",
            f"{short[0].upper()}{short[1:]}. Loss and risk compare the masked file with the recoded one: they do not "
            f"include what recoding lost.",
            f"{short}; the loss does not count it.",
        )
    ]  # fmt: skip


def differences(judgement: Judgement) -> list[Finding]:
    """Return how the file differs from the one that the recipe was written for."""
    if not judgement.differences:
        return []
    more = len(judgement.differences) - _LISTED
    words = "; ".join(one.rstrip(".") for one in judgement.differences[:_LISTED])
    short = f"the recipe was written for another file: {words}{f'; and {more} more' if more > 0 else ''}"
    return [
        Finding(
            "look", "another file",
            f"The recipe was written for another file. Differences: {' '.join(judgement.differences)} Check that every "
            f"choice of the recipe still fits.",
            f"{short}.",
        )
    ]  # fmt: skip


def missing_weights(judgement: Judgement) -> list[Finding]:
    """Return which sampling weights are missing in some of the released records."""
    records = judgement.groups.records
    return [
        Finding(
            "look", "weights",
            f"The weight {quoted(name)} is missing in {counted(number, 'released record')} "
            f"({percent(100.0 * number / records)} of the records). Weighted figures leave these records out, and so "
            f"represent fewer people. Complete the weight, or leave these records out before masking.",
            f"the weight {quoted(name)} is missing in {counted(number, 'released record')}.",
        )
        for name, number in judgement.missing_weights.items()
    ]  # fmt: skip


def missing_codes(judgement: Judgement, written: WrittenFacts) -> list[Finding]:
    """Return in which columns the file's codes for missing values no longer mean what they did."""
    codes = judgement.missing_codes
    other_kind = written.kind not in (None, "stata")
    gone = [one for one in codes if one.package != "spss" and (other_kind or one.package == "sas")]
    cells = {one.column: one.lost + (one.kept if one in gone else 0) for one in codes}
    whys = [_KEPT] if any(one.lost for one in codes) else []
    if any(one.kept for one in gone):
        whys.append("Only a Stata file that is written from a Stata file keeps .a to .z.")
    stand = [one for one in codes if one.package == "spss" and one.kept and written.kind not in (None, "spss")]
    return _plain({name: number for name, number in cells.items() if number}, whys) + _values(stand)


def _plain(cells: dict[str, int], whys: list[str]) -> list[Finding]:
    if not cells:
        return []
    columns = [f"{quoted(name)} ({count(number)})" for name, number in cells.items()]
    short = f"codes for missing values became simple missing values (number of cells): {first_of(columns)}"
    return [
        Finding(
            "look", "missing codes",
            f"{short[0].upper()}{short[1:]}. {' '.join(whys)} {_USERS}",
            f"{short}.",
        )
    ]  # fmt: skip


def _values(columns: Sequence[MissingCodes]) -> list[Finding]:
    if not columns:
        return []
    cells = first_of([f"{quoted(one.column)} ({count(one.kept)})" for one in columns])
    short = f"values that the SPSS file declares missing are released as normal values (number of cells): {cells}"
    return [
        Finding(
            "look", "missing codes",
            f"{short[0].upper()}{short[1:]}. Another kind of file cannot declare them missing, and users would average "
            f"them. Inform users which values mean missing, or write an SPSS file.",
            f"{short}.",
        )
    ]  # fmt: skip
