"""What the original file shows: columns recoded before masking, kinds of missing values, missing weights."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from microagg.columns import frames
from microagg.columns.labels import Labels, without_declared_missing
from microagg.columns.numbers import is_text, without_marks
from microagg.columns.roles import Role
from microagg.files.sources import Source
from microagg.judge.names import shown
from microagg.judge.parts import MissingCodes, RecodedColumn
from microagg.judge.run import JudgedRun, columns_of

if TYPE_CHECKING:
    from microagg.release import Release


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
