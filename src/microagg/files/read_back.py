"""Files that were just written, and have not got their names yet: read to be checked, a part at a time."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from microagg.errors import InvalidData
from microagg.files.batches import read_row_groups
from microagg.files.formats.dialect import Dialect
from microagg.files.formats.excel import read_columns
from microagg.files.formats.kinds import COMPRESSED, kind_of
from microagg.files.formats.statistics import require_extra
from microagg.files.formats.text import read_written_text
from microagg.files.stores import Place, Where

_CELLS = 1 << 21  # read of a statistics package's file at a time: about a quarter of a second, which Ctrl-C waits for


def read_back(
    path: Where, target: Where, schema: pa.Schema, names: list[str], dialect: Dialect | None = None
) -> Iterator[pa.Table]:
    """Return some columns of a file that will be called `target`; values that are equal in it are equal here.

    Parameters
    ----------
    path : Path or Place
        Where the file is.
    target : Path or Place
        It shows its kind.
    schema : pyarrow.Schema
        Of the table that was written. Names may have been changed in the file, so that columns of text are known by
        their places.
    names : list of str
        The columns to read, in this order.
    dialect : Dialect, optional
        In which a text file was written.
    """
    kind = kind_of(target)
    if isinstance(path, Place) or kind == "parquet":
        return (table.select(names) for table in read_row_groups(path, None, names))
    if kind == "csv":
        places = {schema.get_field_index(name): _type_in_text(schema.field(name).type) for name in names}
        compression = COMPRESSED.get(target.suffix.lower())
        return read_written_text(path, compression, dialect or Dialect(), len(schema), places)
    if kind == "feather":
        return _feather(path, schema, names)
    if kind == "excel":  # in this process: the file is our own
        return iter([read_columns(path, [schema.get_field_index(name) for name in names], names)])
    return _statistics(path, kind, names)


def _type_in_text(kind: pa.DataType) -> pa.DataType:
    """Numbers are compared as such: 0 and -0 are one. Whole ones are not made floats, which hold fewer of them."""
    if pa.types.is_integer(kind):
        return pa.uint64() if pa.types.is_uint64(kind) else pa.int64()
    return pa.float64() if pa.types.is_floating(kind) else pa.string()


def _feather(path: Path, schema: pa.Schema, names: list[str]) -> Iterator[pa.Table]:
    options = pa.ipc.IpcReadOptions(included_fields=[schema.get_field_index(name) for name in names])
    with pa.OSFile(str(path)) as file:
        reader = pa.ipc.open_file(file, options=options)
        for number in range(reader.num_record_batches):
            table = pa.Table.from_batches([reader.get_batch(number)]).select(names)
            table.validate(full=True)
            yield table


def _statistics(path: Path, kind: str, names: list[str]) -> Iterator[pa.Table]:
    package = require_extra()  # in this process: the file is our own, and none of others that may crash it
    read = {"spss": package.read_sav, "stata": package.read_dta}[kind]
    rows = max(1, _CELLS // len(names))
    start, found = 0, rows
    while found == rows:
        try:
            stored, meta = read(
                str(path),
                output_format="dict",
                usecols=names,
                row_offset=start,
                row_limit=rows,
                user_missing=True,
                disable_datetime_conversion=True,
            )
            columns = [_stored(stored[name], meta.readstat_variable_types[name], kind) for name in names]
        except Exception as error:  # pyreadstat's own errors are plain Exceptions
            if isinstance(error, MemoryError):
                raise
            raise InvalidData(f"{path.name!r} cannot be read completely.") from None
        found = len(columns[0])
        start += found
        yield pa.table(columns, names)


def _stored(values: list[Any], stored_as: str, kind: str) -> pa.Array:
    if stored_as == "string":
        return pa.array(values, pa.string(), from_pandas=True)
    if kind == "stata":  # whose missing values .a to .z come as letters
        values = [None if isinstance(value, str) else value for value in values]
    return pa.array(values, pa.float64(), from_pandas=True)
