"""Files that need not fit into memory: tables read and written a part at a time."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from microagg.errors import InvalidData

_CSV = (".csv", ".tsv", ".txt")


class Batches:
    """A Parquet file, a folder of them, or a CSV file, as a sequence of tables in the order of its rows."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        if not self.path.exists():
            raise InvalidData(f"there is no file {self.path.name!r}. Check the path.")
        self._is_csv = self.path.suffix.lower() in _CSV
        self._parts: list[Path] = []
        if self._is_csv:
            self.schema = self._first_csv_schema()
            return
        self._parts = sorted(self.path.glob("*.parquet")) if self.path.is_dir() else [self.path]
        if not self._parts:
            raise InvalidData(f"the folder {self.path.name!r} holds no .parquet file. Point at the data itself.")
        schemas = [_open_parquet(part).schema_arrow.remove_metadata() for part in self._parts]
        for part, schema in zip(self._parts, schemas, strict=True):
            if schema != schemas[0]:
                raise InvalidData(f"{part.name!r} has other columns or types than {self._parts[0].name!r}. Unify them.")
        self.schema = schemas[0]

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self.schema.names)

    def tables(self, columns: list[str] | None = None) -> Iterator[pa.Table]:
        """Give the file table by table; of Parquet, row group by row group."""
        if self._is_csv:
            for batch in self._csv_reader():
                table = pa.Table.from_batches([batch])
                yield table if columns is None else table.select(columns)
            return
        for part in self._parts:
            file = _open_parquet(part)
            for group in range(file.num_row_groups):
                yield file.read_row_group(group, columns=columns, use_threads=True).replace_schema_metadata(None)

    def _csv_reader(self) -> Any:
        from pyarrow import csv

        delimiter = "\t" if self.path.suffix.lower() == ".tsv" else ","
        options = csv.ReadOptions(block_size=1 << 24)
        try:
            return csv.open_csv(self.path, read_options=options, parse_options=csv.ParseOptions(delimiter=delimiter))
        except (pa.ArrowInvalid, OSError):  # whose message may show a cell
            raise InvalidData(f"{self.path.name!r} cannot be read as CSV. Check its delimiter and encoding.") from None

    def _first_csv_schema(self) -> pa.Schema:
        return self._csv_reader().schema


def _open_parquet(path: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(path, memory_map=False)
    except (pa.ArrowInvalid, OSError):
        raise InvalidData(
            f"{path.name!r} cannot be read as Parquet. It may be truncated, or of another kind."
        ) from None


@contextmanager
def parquet_writer(target: str | os.PathLike[str], schema: pa.Schema) -> Iterator[pq.ParquetWriter]:
    """Write a Parquet file under a temporary name beside its place, and rename it when all is well."""
    path = Path(target)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    os.close(handle)
    try:
        with pq.ParquetWriter(temporary, schema) as writer:
            yield writer
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
