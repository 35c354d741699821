"""Parquet: a file, a folder of files, or an object in a store."""

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from microagg.files.batches import Batches, parquet_writer, read_row_groups
from microagg.files.formats.kinds import Stored, Writing
from microagg.files.stores import Where
from microagg.work import Progress


def read(address: Any, reading: Mapping[str, Any], progress: Progress | None) -> Stored:
    """Return what is stored."""
    file = Batches(address)
    table = pa.concat_tables(list(file.tables()) or [file.schema.empty_table()])
    details = {"files": str(len(file.parts))} if file.path.is_dir() else {}
    if file.index_columns:
        details["pandas index"] = ", ".join(file.index_columns)
    return Stored(table, details)


def write(table: pa.Table, path: Where, how: Writing) -> None:
    """Write a file, or an object."""
    with parquet_writer(path, table.schema, check=how.check) as writer:
        writer.write_table(table)


def read_back(path: Where, target: Any, schema: pa.Schema, names: list[str], _: Any) -> Iterator[pa.Table]:
    """Return some columns of what was just written, a part at a time."""
    return (table.select(names) for table in read_row_groups(path, None, names))


def size(address: Any, reading: Mapping[str, Any]) -> tuple[int, int]:
    """Return the records and the columns."""
    file = Batches(address)
    return file.count(), len(file.names)
