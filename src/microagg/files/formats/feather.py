"""Feather files, which are Arrow's own."""

from pathlib import Path

import pyarrow as pa

from microagg.errors import InvalidData
from microagg.files.files import Check, whole_file


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


def write_feather(table: pa.Table, path: Path, check: Check | None = None) -> None:
    """Write a file of Feather or Arrow."""
    # .arrow is left as it lies in memory, so that others can map it.
    compression = "lz4" if path.suffix.lower() == ".feather" else None
    with whole_file(path, check=check) as fresh, pa.OSFile(str(fresh), "wb") as file:
        options = pa.ipc.IpcWriteOptions(compression=compression, unify_dictionaries=True)
        with pa.ipc.new_file(file, table.schema, options=options) as writer:
            writer.write_table(table)
