"""What is known of a file before it is read: how large it is, and how it begins."""

import os
from pathlib import Path
from typing import Any

import pyarrow as pa

from microagg.base.frozen import frozen
from microagg.files.addresses import kind_at
from microagg.files.batches import Batches
from microagg.files.databases import is_database
from microagg.files.formats.archive import unpacked_size
from microagg.files.formats.content import open_bytes
from microagg.files.formats.dialect import SAMPLE, find_dialect, text_details
from microagg.files.formats.kinds import COMPRESSED, to_path
from microagg.files.formats.text import read_text
from microagg.files.sources import Source
from microagg.files.stores import kept_address

_UNPACKED = 5  # bytes of text for each one that is compressed: a guess
_WRITTEN = 20  # bytes of a cell in a sheet of Excel, its place and its marks counted
_STORED = 8  # bytes of a cell in files of statistics packages, where nothing is packed


@frozen()
class Extent:
    """How large a table is: exact for Parquet, else an estimate."""

    records: int
    columns: int


def extent_of(address: str | os.PathLike[str], **reading: Any) -> Extent | None:
    """Return how large a file is without reading it; None of a database. `reading` is how a text file is written."""
    if is_database(address):
        return None
    kind = kind_at(address)
    if kind == "parquet":
        file = Batches(address)
        return Extent(file.count(), len(file.names))
    path = to_path(address)
    if kind == "csv":
        return _extent_of_text(path, **reading)
    if kind == "feather":
        return _extent_of_feather(path)
    if kind == "excel":
        return Extent(unpacked_size(path) // _WRITTEN, 1)
    return Extent(path.stat().st_size // _STORED, 1)  # cells: that is what counts


def _extent_of_text(path: Path, **reading: Any) -> Extent:
    """Estimate from the length of the first lines how many there are."""
    with open_bytes(path) as file:
        start = file.read(SAMPLE)
    size = path.stat().st_size * (_UNPACKED if path.suffix.lower() in COMPRESSED else 1)
    lines = max(2, start.count(b"\n"))
    rows = lines if len(start) < SAMPLE else size * lines // len(start)
    return Extent(rows - 1, find_dialect(path, **reading).fields)


def _extent_of_feather(path: Path) -> Extent | None:
    """Estimate from the first part of a file how large all are, since nothing else says how many records it has.

    That part may be the whole file, so that only one of its columns is read.
    """
    try:
        with pa.memory_map(str(path)) as file:
            columns = len(pa.ipc.open_file(file).schema)
            first = pa.ipc.open_file(file, options=pa.ipc.IpcReadOptions(included_fields=[0][:columns]))
            parts = first.num_record_batches
            return Extent(first.get_batch(0).num_rows * parts if parts else 0, columns)
    except (pa.ArrowException, OSError):  # a stream, or damaged: who reads it will say so
        return None


def in_parts(address: str | os.PathLike[str]) -> bool:
    """Return whether a file can be read, and masked, a part at a time."""
    return not is_database(address) and kind_at(address) in ("csv", "parquet")


def read_beginning(address: str | os.PathLike[str], records: int, **reading: Any) -> Source:
    """Read the first records of a Parquet or text file."""
    if kind_at(address) == "csv":
        path = to_path(address)
        table, dialect = read_text(path, records, **reading)
        return Source(table, path.name, "csv", text_details(path, dialect), None, dialect, path)
    file, tables, found = Batches(address), [], 0
    for table in file.tables():
        tables.append(table)
        found += table.num_rows
        if found >= records:
            break
    table = pa.concat_tables(tables or [file.schema.empty_table()]).slice(0, records)
    return Source(table, file.path.name, "parquet", {}, None, None, kept_address(file.path))
