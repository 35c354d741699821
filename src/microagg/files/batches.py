"""Files that need not fit into memory: tables read and written a part at a time."""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from microagg.columns.numbers import NumbersSeen, named_numbers, to_be_numbers, without_marks
from microagg.columns.traces import without_views
from microagg.errors import InvalidData, InvalidParameter, a_type
from microagg.files.files import whole_file
from microagg.files.formats.database_addresses import is_database
from microagg.files.formats.dialect import Dialect, dialect_for, text_details
from microagg.files.formats.kinds import COMPRESSED, KINDS, base_suffix, kind_of, refuse_options, to_path
from microagg.files.formats.text import read_text_parts, scan_text, text_writer
from microagg.files.publishing import is_unfinished, whole_object
from microagg.files.stores import (
    Place,
    Where,
    check_there,
    is_plain_file,
    kept_address,
    listed,
    stamp_of,
    where_of_parquet,
)
from microagg.work import Progress, tell

_PARQUET = (".parquet", ".pq")
_INDEX = re.compile("__index_level_[0-9]+__")  # as pandas calls an index without a name


class Batches:
    """A Parquet file, a folder of them, or a text file, as a sequence of tables in the order of its rows.

    Every column of a text file is text until `read_as_numbers` has found otherwise. `read` says how it is written,
    where that is known: its delimiter, encoding, decimal, thousands and header.

    Attributes
    ----------
    is_parquet : bool
        Whether it is Parquet, so that its row groups can be read apart.
    index_columns : list of str
        Columns that hold a pandas index: row labels, which may identify.
    """

    def __init__(self, path: str | os.PathLike[str], read: Mapping[str, Any] | None = None) -> None:
        if not isinstance(path, (str, os.PathLike)):
            raise InvalidParameter(f"{a_type(path)} is not a path. Pass the path of a file or folder.")
        if is_database(path):  # which may hold a password
            raise InvalidParameter("a table of a database cannot be read in parts. Pass the path of a file or folder.")
        self.path = where_of_parquet(
            path, "text can be read in parts on this machine only. Copy it here, or convert it"
        )
        check_there(self.path)
        is_folder = self.path.is_dir()
        kind = "parquet" if is_folder else KINDS.get(base_suffix(self.path))
        if kind not in ("parquet", "csv") or (kind == "parquet" and self.path.suffix.lower() in COMPRESSED):
            raise InvalidData(
                f"{self.path.name!r} is neither Parquet nor text, judged by its name. Convert it to Parquet."
            )
        self.parts = self._parts_of_folder() if is_folder else [self.path]
        self._stamp = self._stamps()
        self._read = dict(read or {})
        self._numeric: dict[str, pa.DataType] = {}
        self._dates: list[str] = []
        self.is_parquet = kind == "parquet"
        self.index_columns: list[str] = []
        refuse_options(self._read if self.is_parquet else {"sheet": self._read.pop("sheet", None)}, kind)
        if self.is_parquet:
            self.index_columns = _pandas_index(_open_parquet(self.parts[0]).schema_arrow)
            self._stored_schema = self._schema_of_parts()

    @cached_property
    def _text(self) -> tuple[list[str], int, Dialect]:
        """The names, the number of records and the dialect of a text file, which is read to its end to know them."""
        return scan_text(self._file, **self._read)

    @property
    def _file(self) -> Path:
        """A text file, which lies on this machine."""
        return to_path(self.path)

    @property
    def kind(self) -> str:
        """Its kind, in the words of `Source.kind`."""
        return "parquet" if self.is_parquet else "csv"

    @property
    def dialect(self) -> Dialect | None:
        """How a text file is written."""
        return None if self.is_parquet else self._text[2]

    @property
    def schema(self) -> pa.Schema:
        """The columns and their types."""
        if self.is_parquet:
            return self._stored_schema
        return pa.schema([(name, self._numeric.get(name, pa.string())) for name in self._text[0]])

    def _schema_of_parts(self) -> pa.Schema:
        schemas = [_open_parquet(part).schema_arrow.remove_metadata() for part in self.parts]
        for part, schema in zip(self.parts, schemas, strict=True):
            if schema != schemas[0]:
                first = self.parts[0].name
                raise InvalidData(f"{part.name!r} has other columns or types than {first!r}. Make them the same.")
        if len(set(schemas[0].names)) < len(schemas[0].names):
            raise InvalidData(f"{self.path.name!r} has two columns with the same name. Rename one of them.")
        return without_views(schemas[0].empty_table()).schema

    def _parts_of_folder(self) -> list[Where]:
        inside = listed(self.path)
        parts = [part for part, _ in inside if part.suffix.lower() in _PARQUET and is_plain_file(part)]
        if is_unfinished(part.name for part, _ in inside):
            raise InvalidData(
                f"the folder {self.path.name!r} was being written when its run was killed, and holds only a part of "
                "the data. Run it again."
            )
        if any(is_folder for _, is_folder in inside):
            raise InvalidData(f"the folder {self.path.name!r} contains folders, which are not read. Name one of them.")
        if not parts:
            raise InvalidData(
                f"the folder {self.path.name!r} contains no .parquet file. Name the folder or file of the data itself."
            )
        return parts

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self.schema.names)

    def check_unchanged(self) -> None:
        """Refuse a source that has changed since it was opened: values of two versions would be mixed."""
        if self._stamps() != self._stamp:
            raise InvalidData(f"{self.path.name!r} changed while it was read. Run again when nobody writes to it.")

    def _stamps(self) -> list[tuple[int, int, int]]:
        return [stamp_of(part) for part in self.parts]

    def row_groups(self) -> list[tuple[Where, int, int]]:
        """List the row groups of Parquet, in order: the file, the number within it, the records."""
        found = []
        for part in self.parts:
            metadata = _open_parquet(part).metadata
            found += [(part, group, metadata.row_group(group).num_rows) for group in range(metadata.num_row_groups)]
        return found

    def count(self) -> int:
        """Count the records."""
        if not self.is_parquet:
            return self._text[1]
        return sum(_open_parquet(part).metadata.num_rows for part in self.parts)

    def tables(self, columns: list[str] | None = None) -> Iterator[pa.Table]:
        """Return the file table by table; of Parquet, row group by row group."""
        return map(self.typed, self.stored(columns))

    def stored(self, columns: list[str] | None = None) -> Iterator[pa.Table]:
        """Return the file table by table as it is stored: of text, every column as text."""
        if self.dialect is None:
            for part in self.parts:
                yield from read_row_groups(part, None, columns)
            return
        yield from read_text_parts(self._file, self.dialect, self.names, self.names if columns is None else columns)

    def typed(self, table: pa.Table) -> pa.Table:
        """Return a stored table with those columns of text as numbers that `read_as_numbers` has found to be such."""
        if self.dialect is None:
            return table
        return pa.table([self._as_typed(table[name], name) for name in table.column_names], table.column_names)

    def _as_typed(self, column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
        if name in self._dates:
            return without_marks(column)
        if name not in self._numeric:
            return column
        return self._numbers(column, name).cast(self._numeric[name], safe=False)

    def _numbers(self, column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
        return named_numbers(column, self._text[2].marks, name, self.path.name, whole=False)

    def as_numbers(self, column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
        """Return a column of text, which stays text in the tables, as numbers; any other unchanged."""
        return column if self.dialect is None else self._numbers(column, name)

    def read_as_numbers(self, names: list[str], kinds: Mapping[str, Any] | None = None) -> None:
        """Take those columns of text for numbers that are such, or are said to be, as `Source.typed_for` does."""
        if self.dialect is None:
            return
        self._numeric, self._dates = {}, []  # what was found before is text again
        must, may = to_be_numbers(kinds or {}, names)
        seen = {name: NumbersSeen(self._text[2].marks, codes=name in must) for name in (*must, *may)}
        for table in self.tables(list(seen)) if seen else ():
            for name in seen if table.num_rows else ():
                if name in must:
                    self._numbers(table[name], name)  # or say that it is none
                seen[name].see(table[name])
        self._numeric = {name: one.type for name, one in seen.items() if one.type is not None}
        self._dates = [name for name in names if (kinds or {}).get(name) == "date"]

    def as_parquet(self, target: Where, beside: Any, progress: Progress | None = None) -> "Batches":
        """Copy a text file as it is stored to Parquet, a row group for each table; return the copy.

        `beside` is a private folder to write it in.
        """
        schema = pa.schema([(name, pa.string()) for name in self.names])
        copied, n = 0, self.count()
        with parquet_writer(target, schema, beside) as writer:
            for table in self.stored():
                writer.write_table(table, row_group_size=max(1, table.num_rows))
                copied += table.num_rows
                tell(progress, copied, n)
        self.check_unchanged()
        return Batches(kept_address(target))

    @property
    def details(self) -> dict[str, str]:
        """How a text file is written, to show a person."""
        return {} if self.dialect is None else text_details(self._file, self.dialect)

    def dialect_of(self, target: Where) -> Dialect:
        """Return the dialect in which a text file is written in the manner of this one."""
        return dialect_for(target, self.path, self.dialect)

    @contextmanager
    def writer(
        self, target: Where, schema: pa.Schema, check: Callable[[Any], object] | None = None
    ) -> Iterator[Callable[[pa.Table], None]]:
        """A function that writes table after table to a file of Parquet, or of text in the manner of this one."""
        if isinstance(target, Path) and kind_of(target) == "csv":
            with text_writer(target, schema.names, self.dialect_of(target), check=check) as write:
                yield write
            return
        with parquet_writer(target, schema, check=check) as writer:
            yield lambda table: writer.write_table(table, row_group_size=max(1, table.num_rows))


def read_row_groups(path: Where, groups: list[int] | None, columns: list[str] | None) -> Iterator[pa.Table]:
    """Return some row groups of a Parquet file, or all, one after the other."""
    file = _open_parquet(path)
    try:
        for group in range(file.num_row_groups) if groups is None else groups:
            table = file.read_row_group(group, columns=columns)
            table.validate(full=True)  # damaged text would be read as it is
            yield without_views(table).replace_schema_metadata(None)
    except (pa.ArrowException, OSError, ValueError):
        raise InvalidData(f"{path.name!r} cannot be read completely. It may be incomplete; write it again.") from None


def _open_parquet(path: Where) -> pq.ParquetFile:
    file = path.open() if isinstance(path, Place) else path
    try:
        # From a store columns that lie side by side come together, and several at a time.
        return pq.ParquetFile(file, pre_buffer=isinstance(path, Place))
    except (pa.ArrowException, OSError, ValueError):  # names in a damaged schema may be no text
        raise InvalidData(
            f"{path.name!r} cannot be read as Parquet. It may be truncated, or of another kind."
        ) from None


def _pandas_index(schema: pa.Schema) -> list[str]:
    """Name the columns that hold a pandas index: row labels, which may identify."""
    try:
        listed = json.loads((schema.metadata or {}).get(b"pandas", b"{}")).get("index_columns", [])
    except (ValueError, AttributeError, RecursionError):  # not as pandas writes it
        listed = None
    if not isinstance(listed, list):
        listed = [name for name in schema.names if _INDEX.fullmatch(name)]
    return [name for name in listed if isinstance(name, str) and name in schema.names]


@contextmanager
def parquet_writer(
    target: Where, schema: pa.Schema, beside: Any = None, check: Callable[[Any], object] | None = None
) -> Iterator[pq.ParquetWriter]:
    """Write a Parquet file under a temporary name beside its place, or elsewhere, and rename it when all is well."""
    if isinstance(target, Place):
        with whole_object(target, beside, check) as file, pq.ParquetWriter(file, schema) as writer:
            yield writer
        return
    with whole_file(target, beside, check) as fresh, pq.ParquetWriter(fresh, schema) as writer:
        yield writer
