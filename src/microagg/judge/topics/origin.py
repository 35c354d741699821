"""What the original file shows: columns recoded before masking, kinds of missing values, missing weights."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from microagg.base.frozen import frozen
from microagg.columns import frames
from microagg.columns.labels import Labels, without_declared_missing
from microagg.columns.numbers import is_text, without_marks
from microagg.columns.roles import Role
from microagg.files.sources import Source
from microagg.judge.parts import Finding, WrittenFacts
from microagg.judge.run import JudgedRun, columns_of
from microagg.judge.text import count, counted, first_of, percent, quoted, shown

if TYPE_CHECKING:
    from microagg.judge.judgement import Judgement
    from microagg.release import Release

_KEPT = "Recoded columns and dates keep no such codes; other columns keep those that the recipe names, or up to 30."
_LISTED = 4  # differences to the file of the recipe that a line names
_USERS = "Inform users: they can no longer see why a value is missing."


@frozen()
class RecodedColumn:
    """A released column that was recoded before anything was masked."""

    column: str
    rule: str  # in words, as the recipe says it
    changed: int | None  # cells that have another value; None in public


@frozen()
class MissingCodes:
    """A released column in which the file distinguishes several kinds of missing values. None in public."""

    column: str
    package: str  # "spss", which declares values missing, "stata" or "sas", which have .a to .z
    lost: int  # cells whose kind was lost: they are plain missing values
    kept: int  # cells that still have theirs, if the kind of file that is written can hold it


def recoded_of(release: "Release[Any]", run: JudgedRun, public: bool) -> tuple[RecodedColumn, ...]:
    """Return which released columns were recoded; in public the rules alone, as a top code counts the few above it."""
    changed = {shown(name): cells for name, cells in release.recoded.items()}
    return tuple(RecodedColumn(name, rule, None if public else changed.get(name)) for name, rule in run.recoded.items())


def missing_codes_of(release: "Release[Any]") -> tuple[MissingCodes, ...]:
    """Count the cells of released columns that the file says are missing in a way of their own."""
    source = release.source
    if source is None or source.labels is None:
        return ()
    labels, known = source.labels, source.table.column_names
    counted = _declared if labels.kind == "spss" else _tagged
    found = []
    for name in release.data.column_names:
        lost, kept = counted(release, source.table, labels, name) if name in known else (0, 0)
        if lost or kept:
            found.append(MissingCodes(shown(name), labels.kind, lost, kept))
    return tuple(found)


def _tagged(release: "Release[Any]", _: pa.Table, labels: Labels, name: str) -> tuple[int, int]:
    """Count cells of .a to .z that are lost and kept: a masked column has those that it releases."""
    tags, masked = labels.tags.get(name), release.masked
    own = 0 if tags is None else len(tags) - tags.null_count
    if name not in masked.names:
        return 0, own
    if name not in masked.tags:
        return own, 0
    return 0, len(masked.tags[name]) - masked.tags[name].null_count


def _declared(release: "Release[Any]", table: pa.Table, labels: Labels, name: str) -> tuple[int, int]:
    """Count cells that SPSS declares missing: a masked column keeps those that are codes in the recipe."""
    declared, masked = labels.missing.get(name, []), release.masked
    if name not in masked.names:
        return 0, _made_null(table[name], declared)
    codes = masked.codes.get(name, ())
    return _made_null(table[name], declared, codes), _made_null(release.data[name], declared) if codes else 0


def _made_null(column: pa.ChunkedArray, declared: list[Any], kept: Collection[Any] = ()) -> int:
    return int(without_declared_missing(column, declared, kept).null_count - column.null_count)


def missing_weights_of(release: "Release[Any]") -> dict[str, int]:
    """Count the released records without a sampling weight, for each weight that lacks any."""
    names = columns_of(release, Role.WEIGHT)
    data = release.data if release.source is None else _without_marks(release.data, release.source, names)
    lacking = frames.missing_rows(frames.open_frame(data), names)
    return {shown(name): int(np.count_nonzero(rows)) for name, rows in lacking.items()}


def _without_marks(table: pa.Table, source: Source, names: Sequence[str]) -> pa.Table:
    """Make null of what stands for a missing number in the file: NA in text, what SPSS declares missing."""
    for name in names:
        column = table[name]
        if source.kind == "csv" and is_text(column.type):
            column = without_marks(column)
        elif source.labels is not None:
            column = without_declared_missing(column, source.labels.missing.get(name, []))
        table = table.set_column(table.column_names.index(name), name, column)
    return table


def recoded(judgement: "Judgement") -> list[Finding]:
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


def differences(judgement: "Judgement") -> list[Finding]:
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


def missing_weights(judgement: "Judgement") -> list[Finding]:
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


def missing_codes(judgement: "Judgement", written: WrittenFacts) -> list[Finding]:
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
