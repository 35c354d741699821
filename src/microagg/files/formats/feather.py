"""Feather files, which are Arrow's own."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from microagg.errors import InvalidData
from microagg.files.files import whole_file
from microagg.files.formats.kinds import Stored, Writing, to_path
from microagg.work import Progress


def read(address: Any, reading: Mapping[str, Any], progress: Progress | None) -> Stored:
    """Return what a file holds."""
    return Stored(read_feather(to_path(address)))


def read_feather(path: Path) -> pa.Table:
    """Read a file of Feather, or of Arrow, be it a file or a stream."""
    try:
        with pa.OSFile(str(path)) as file:
            try:
                table = pa.ipc.open_file(file).read_all()
            except pa.ArrowInvalid:
                file.seek(0)
                table = pa.ipc.open_stream(file).read_all()
        table.validate(full=True)  # damaged offsets would be read as they are
    except (pa.ArrowException, OSError, UnicodeDecodeError):  # the last of damaged names
        raise InvalidData(
            f"{path.name!r} cannot be read as Feather or Arrow. It may be incomplete, or of another kind; write it "
            "again."
        ) from None
    return pa.table(table.columns, table.column_names)


def write(table: pa.Table, path: Path, how: Writing) -> None:
    """Write a file of Feather or Arrow."""
    # .arrow is left as it lies in memory, so that others can map it.
    compression = "lz4" if path.suffix.lower() == ".feather" else None
    with whole_file(path, check=how.check) as fresh, pa.OSFile(str(fresh), "wb") as file:
        options = pa.ipc.IpcWriteOptions(compression=compression, unify_dictionaries=True)
        with pa.ipc.new_file(file, table.schema, options=options) as writer:
            writer.write_table(table)


def read_back(path: Path, target: Any, schema: pa.Schema, names: list[str], _: Any) -> Iterator[pa.Table]:
    """Return some columns of a file that was just written, a part at a time."""
    options = pa.ipc.IpcReadOptions(included_fields=[schema.get_field_index(name) for name in names])
    with pa.OSFile(str(path)) as file:
        reader = pa.ipc.open_file(file, options=options)
        for number in range(reader.num_record_batches):
            table = pa.Table.from_batches([reader.get_batch(number)]).select(names)
            table.validate(full=True)
            yield table


def size(path: Path, reading: Mapping[str, Any]) -> tuple[int, int] | None:
    """Estimate the records of a file from its first part, as nothing else says how many; return its columns too.

    That part may be the whole file, so that only one of its columns is read.
    """
    try:
        with pa.memory_map(str(path)) as file:
            columns = len(pa.ipc.open_file(file).schema)
            first = pa.ipc.open_file(file, options=pa.ipc.IpcReadOptions(included_fields=[0][:columns]))
            parts = first.num_record_batches
            return first.get_batch(0).num_rows * parts if parts else 0, columns
    except (pa.ArrowException, OSError):  # a stream, or damaged: who reads it will say so
        return None
