"""Files that need not fit into memory: tables read and written a part at a time."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from microagg.errors import InvalidData, InvalidParameter, RoleError
from microagg.io.files import whole_file

_CSV = (".csv", ".tsv")
_PARQUET = (".parquet", ".pq")


class Batches:
    """A Parquet file, a folder of them, or a CSV file, as a sequence of tables in the order of its rows."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        if not isinstance(path, (str, os.PathLike)):
            raise InvalidParameter(f"a {type(path).__name__} is not a path. Pass the path of a file or folder.")
        self.path = Path(path)
        if not self.path.exists():
            raise InvalidData(f"there is no file {self.path.name!r}. Check the path.")
        self._is_csv = self.path.suffix.lower() in _CSV and self.path.is_file()
        self.parts = [self.path] if self.path.is_file() else self._parts_of_folder()
        if not self._is_csv and self.path.is_file() and self.path.suffix.lower() not in _PARQUET:
            raise InvalidData(f"{self.path.name!r} is neither .parquet nor .csv nor .tsv. Convert it to Parquet first.")
        self.index_columns: list[str] = []
        if self._is_csv:
            self.schema: pa.Schema = self._csv_reader().schema
        else:
            schemas = [_open_parquet(part).schema_arrow for part in self.parts]
            for part, schema in zip(self.parts, schemas, strict=True):
                if schema.remove_metadata() != schemas[0].remove_metadata():
                    first = self.parts[0].name
                    raise InvalidData(f"{part.name!r} has other columns or types than {first!r}. Unify them.")
            self.index_columns = _pandas_index(schemas[0])
            self.schema = schemas[0].remove_metadata()
        if len(set(self.schema.names)) < len(self.schema.names):
            # The names may be a first row of data: they are not shown.
            raise RoleError(f"{self.path.name!r} has two columns of one name. Give each its own, in a header.")
        self._stamp = self._stamps()

    def _parts_of_folder(self) -> list[Path]:
        inside = sorted(self.path.iterdir())
        parts = [part for part in inside if part.suffix.lower() in _PARQUET and part.is_file()]
        if any(part.is_dir() for part in inside):
            raise InvalidData(f"the folder {self.path.name!r} holds folders, which are not read. Point at one of them.")
        if not parts:
            raise InvalidData(f"the folder {self.path.name!r} holds no .parquet file. Point at the data itself.")
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
        found = [part.stat() for part in self.parts if part.exists()]
        return [(stat.st_size, stat.st_mtime_ns, stat.st_ino) for stat in found]

    @property
    def is_parquet(self) -> bool:
        """Whether it is Parquet, so that its row groups can be read apart."""
        return not self._is_csv

    def row_groups(self) -> list[tuple[Path, int, int]]:
        """List the row groups of Parquet, in order: the file, the number within it, the records."""
        found = []
        for part in self.parts:
            metadata = _open_parquet(part).metadata
            found += [(part, group, metadata.row_group(group).num_rows) for group in range(metadata.num_row_groups)]
        return found

    def count(self) -> int:
        """Count the records."""
        if self._is_csv:
            return sum(table.num_rows for table in self.tables(self.names[:1]))
        return sum(_open_parquet(part).metadata.num_rows for part in self.parts)

    def tables(self, columns: list[str] | None = None) -> Iterator[pa.Table]:
        """Give the file table by table; of Parquet, row group by row group."""
        try:
            if self._is_csv:
                for batch in self._csv_reader():
                    table = pa.Table.from_batches([batch])
                    yield table if columns is None else table.select(columns)
                return
            for part in self.parts:
                yield from read_row_groups(part, None, columns)
        except (pa.ArrowException, OSError):  # whose message may show a cell
            raise InvalidData(
                f"{self.path.name!r} cannot be read to its end: a row has too many fields, or a column changes from "
                f"whole numbers to others or to text. Mend it, or convert it to Parquet."
            ) from None

    def _csv_reader(self) -> Any:
        from pyarrow import csv

        delimiter = "\t" if self.path.suffix.lower() == ".tsv" else ","
        try:
            return csv.open_csv(
                self.path,
                read_options=csv.ReadOptions(block_size=1 << 24),
                parse_options=csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            )
        except (pa.ArrowInvalid, OSError):
            raise InvalidData(
                f"{self.path.name!r} cannot be read as text with fields between {delimiter!r}, in UTF-8. Convert it."
            ) from None


def read_row_groups(path: Path, groups: list[int] | None, columns: list[str] | None) -> Iterator[pa.Table]:
    """Give some row groups of a Parquet file, or all, one after the other."""
    file = _open_parquet(path)
    try:
        for group in range(file.num_row_groups) if groups is None else groups:
            yield file.read_row_group(group, columns=columns).replace_schema_metadata(None)
    except (pa.ArrowException, OSError):
        raise InvalidData(f"{path.name!r} cannot be read to its end. It may be cut off; write it anew.") from None


def _open_parquet(path: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(path)
    except (pa.ArrowInvalid, OSError):
        raise InvalidData(
            f"{path.name!r} cannot be read as Parquet. It may be truncated, or of another kind."
        ) from None


def _pandas_index(schema: pa.Schema) -> list[str]:
    """Name the columns that hold a pandas index: row labels, which may identify."""
    stored = (schema.metadata or {}).get(b"pandas")
    if stored is None:
        return []
    listed = json.loads(stored).get("index_columns", [])
    return [name for name in listed if isinstance(name, str) and name in schema.names]


@contextmanager
def parquet_writer(target: Path, schema: pa.Schema, beside: Path | None = None) -> Iterator[pq.ParquetWriter]:
    """Write a Parquet file under a temporary name beside its place, or elsewhere, and rename it when all is well."""
    with whole_file(target, beside) as fresh, pq.ParquetWriter(fresh, schema) as writer:
        yield writer
