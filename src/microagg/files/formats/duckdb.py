"""Tables in a file of DuckDB."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from microagg.checks import Extra
from microagg.errors import InvalidData, InvalidParameter, MicroaggError
from microagg.files.files import whole_file
from microagg.files.formats.apart import Stop
from microagg.files.formats.database_addresses import Address, is_source, may_be_source, table_exists
from microagg.files.promise import Promise, check_written
from microagg.files.scratch import private_folder

_BATCH = 1 << 17
_NUMBERS = "TINYINT SMALLINT INTEGER BIGINT UTINYINT USMALLINT UINTEGER UBIGINT FLOAT DOUBLE".split()
_DATES = ["DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE"]
_KEPT = {*_NUMBERS, *_DATES, "BOOLEAN", "VARCHAR", "BLOB", "TIME"}
# Arrow has none so wide; DuckDB would hand them over as decimals of 38 digits, and silently wrong where they are more.
_WIDE = ("HUGEINT", "UHUGEINT", "BIGNUM", "VARINT")
# Nothing is fetched for a view in somebody's file, and no variable of Python is taken for a table that it names.
_CONFIG = {"autoinstall_known_extensions": "false", "python_enable_replacements": "false"}
# Nor does a view read other files here, which whoever made it may not read, and would find in the release. It is said
# when a file is open: before, it keeps DuckDB from the journals of some.
_ALONE = "SET enable_external_access = false"
_EXTRA = Extra(("duckdb",), "duckdb:// needs the duckdb package. Run: pip install 'microagg[sql]'")


def driver() -> Any:
    """Import duckdb, or say how to install it."""
    return _EXTRA.load("duckdb")


def read(address: Address, stop: Stop) -> pa.Table:
    """Read a table or view, in its stored order."""
    duckdb = driver()
    if not address.path.is_file():
        raise InvalidData(f"there is no file for {address.shown!r}. Check the path; a fourth slash begins at the root.")
    with duckdb.connect(str(address.path), read_only=True, config=_CONFIG) as connection, stop.by(connection.interrupt):
        connection.execute(_ALONE)
        kind = _kind(connection, address)
        if kind is None:
            raise InvalidData(f"there is no table {address.shown!r}. Check its name and its schema.")
        source = _qualified(connection, address)
        relation = connection.sql(f"SELECT * FROM {source} LIMIT 0")
        types = dict(zip(relation.columns, map(str, relation.types), strict=True))
        columns = ", ".join(_expression(connection, source, name, kind) for name, kind in types.items())
        reader = _reader(connection, f"SELECT {columns} FROM {source}")
        return pa.Table.from_batches(list(reader), schema=reader.schema)


def _reader(connection: Any, query: str) -> Any:
    rows = connection.sql(query)
    return rows.to_arrow_reader(_BATCH) if hasattr(rows, "to_arrow_reader") else rows.fetch_arrow_reader(_BATCH)


def _expression(connection: Any, source: str, name: str, kind: str) -> str:
    """Say how a column is selected so that Arrow holds what is there."""
    column = quoted(name)
    target = None if kind in _KEPT or kind.startswith("DECIMAL(") else "VARCHAR"
    if kind in _WIDE:
        query = f"SELECT min({column})::VARCHAR, max({column})::VARCHAR FROM {source}"
        ends = [abs(int(end)) for end in connection.execute(query).fetchall()[0] if end is not None]
        largest = max(ends, default=0)
        target = "BIGINT" if largest < 2**63 else "DECIMAL(38,0)" if largest < 10**38 else "VARCHAR"
    elif kind in _DATES:
        query = f"SELECT coalesce(bool_or(isinf({column})), false) FROM {source}"
        target = "VARCHAR" if connection.execute(query).fetchall()[0][0] else None
    return column if target is None else f"CAST({column} AS {target}) AS {column}"


def check_target(address: Address, overwrite: bool, source: Address | None, stop: Stop) -> None:
    """Refuse a target that cannot be written, or must not be, and leave no trace."""
    driver()
    _check_name(address, source)
    is_there = address.path.exists()
    folder = address.path.parent
    if is_there and not _replaces(address, overwrite, source, stop):
        return
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise InvalidData(f"the folder of {address.shown!r} does not exist or cannot be written to. Create it first.")
    if not is_there and (address.schema or "main").lower() != "main":
        raise InvalidData(
            f"{address.shown!r} would be a new file, and the only schema of a new file is main. Leave the schema out."
        )


def _replaces(address: Address, overwrite: bool, source: Address | None, stop: Stop) -> bool:
    """Return whether a table is to be replaced; refuse one that must not be."""
    with driver().connect(str(address.path), config=_CONFIG) as connection, stop.by(connection.interrupt):
        connection.execute(_ALONE)
        connection.execute("BEGIN")
        try:
            is_taken = _check_free(connection, address, overwrite)
            if is_taken:
                _drop(connection, address, source)
        finally:
            connection.execute("ROLLBACK")
    return is_taken


def write(
    table: pa.Table,
    address: Address,
    overwrite: bool,
    source: Address | None,
    stop: Stop,
    promise: Promise | None = None,
) -> None:
    """Write a table in one transaction; a file that was made for it goes when it fails."""
    names = [name.lower() for name in table.column_names]
    if len(set(names)) < len(names):  # one would silently be called something else
        raise InvalidData(
            "the names of two columns differ only in upper and lower case, which DuckDB does not "
            "distinguish. Rename one."
        )
    driver()
    _check_name(address, source)
    is_new = not address.path.exists()
    try:
        if not is_new and _replaces(address, overwrite, source, stop):
            with _without_table(address, stop) as fresh:
                _add(table, fresh, address, stop, promise)
        else:
            _add(table, address.path, address, stop, promise)
    except BaseException:
        if is_new:
            address.path.unlink(missing_ok=True)
            _journal(address.path).unlink(missing_ok=True)
        raise


@contextmanager
def _without_table(address: Address, stop: Stop) -> Iterator[Path]:
    """Return a fresh copy of a database without a table; it takes the place of the database when all is well.

    A table that is only dropped stays in the file, in blocks that are free and that anybody can read.
    """
    before = _stamp(address.path)
    with private_folder(address.path.parent, "the database") as folder, whole_file(address.path, folder) as fresh:
        fresh.unlink()  # DuckDB makes its files itself
        with_blocks = folder / "with_blocks"
        _copy(address.path, with_blocks, address, stop, drop=True)
        _copy(with_blocks, fresh, address, stop)
        yield fresh
        if _journal(address.path).exists() or _stamp(address.path) != before:
            raise InvalidData(
                f"the file of {address.shown!r} was changed while its table was to be replaced. Run again when nobody "
                f"writes to it."
            )


def _copy(old: Path, new: Path, address: Address, stop: Stop, *, drop: bool = False) -> None:
    duckdb = driver()
    with duckdb.connect(":memory:", config=_CONFIG) as connection, stop.by(connection.interrupt):
        for path, name in ((old, "former"), (new, "fresh")):
            connection.execute(f"ATTACH '{str(path).replace(chr(39), chr(39) * 2)}' AS {name}")
        connection.execute(_ALONE)
        try:
            connection.execute("COPY FROM DATABASE former TO fresh")
        except duckdb.InterruptException:
            raise
        except duckdb.Error as error:
            raise InvalidData(
                f"the file of {address.shown!r} cannot be copied without that table ({type(error).__name__}), and "
                "the earlier rows would stay in the file. Write to another file."
            ) from None
        if drop:
            connection.execute(f"DROP TABLE fresh.{quoted(address.schema or 'main')}.{quoted(address.table)}")
        connection.execute("CHECKPOINT fresh")


def _stamp(path: Path) -> tuple[int, int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns, status.st_ino


def _journal(path: Path) -> Path:
    return path.with_name(path.name + ".wal")


def _add(table: pa.Table, path: Path, address: Address, stop: Stop, promise: Promise | None) -> None:
    """Add a table to a file, in one transaction."""
    with driver().connect(str(path), config=_CONFIG) as connection:
        connection.execute("BEGIN")
        try:
            with stop.by(connection.interrupt):
                _check_free(connection, address, overwrite=False)
                _create(connection, table, address)
                if promise is not None:
                    columns = ", ".join(map(quoted, promise.columns))
                    found = _reader(connection, f"SELECT {columns} FROM {_qualified(connection, address)}")
                    tables = (pa.Table.from_batches([batch]) for batch in found)
                    check_written(promise, tables, table.num_rows, address.shown)
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")


def _create(connection: Any, table: pa.Table, address: Address) -> None:
    target = _qualified(connection, address)
    view = f"microagg_{os.urandom(8).hex()}"
    connection.register(view, table)
    connection.execute(f"CREATE TABLE {target} AS SELECT * FROM {view}")
    connection.unregister(view)


def _check_name(address: Address, source: Address | None) -> None:
    """Refuse another name of the source's file: its journal lies beside one of them, and would no longer fit."""
    if source is None or address.path == source.path or not (address.path.exists() and source.path.exists()):
        return
    if address.path.samefile(source.path):
        raise InvalidParameter(
            f"the file of {address.shown!r} is the file that holds the source, under another name. Use the same name "
            "as for the source, or write to another file."
        )


def _drop(connection: Any, address: Address, source: Address | None) -> None:
    """Drop the table, unless the source cannot be read without it: a view does not keep DuckDB from dropping it."""
    beside = source if source is not None and source.path == address.path else None
    if beside is not None and not _is_readable(connection, beside):
        raise may_be_source(address.shown, "the source is no longer there, or cannot be read")
    connection.execute(f"DROP TABLE {_qualified(connection, address)}")
    if beside is not None and not _is_readable(connection, beside):
        raise is_source(address.shown)


def _is_readable(connection: Any, address: Address) -> bool:
    """Return whether all that a table or view reads is there; nothing is read."""
    try:
        connection.execute(f"EXPLAIN SELECT * FROM {_qualified(connection, address)}").fetchall()
    except driver().Error:
        return False
    return True


def _check_free(connection: Any, address: Address, overwrite: bool) -> bool:
    """Refuse a name that is taken; return whether there is a table to overwrite."""
    schemas = connection.execute(
        "SELECT count(*) FROM information_schema.schemata "
        "WHERE catalog_name = current_database() AND lower(schema_name) = lower(?)",
        [address.schema or "main"],
    )
    if not schemas.fetchall()[0][0]:
        raise InvalidData(f"there is no schema for {address.shown!r}. Create it, or leave it out for main.")
    kind = _kind(connection, address)
    if kind is None:
        return False
    if kind != "BASE TABLE":
        raise InvalidData(f"{address.shown!r} is a view, which is not replaced. Choose another name.")
    if not overwrite:
        raise table_exists(address.shown)
    return True


def _kind(connection: Any, address: Address) -> str | None:
    found = connection.execute(
        "SELECT table_type FROM information_schema.tables WHERE table_catalog = current_database() "
        "AND lower(table_schema) = lower(?) AND lower(table_name) = lower(?)",
        [address.schema or "main", address.table],
    ).fetchall()
    return found[0][0] if found else None


def _qualified(connection: Any, address: Address) -> str:
    """Return the full name: a shorter one might be taken for a file, or for a variable of Python."""
    catalog = connection.execute("SELECT current_database()").fetchall()[0][0]
    return ".".join(map(quoted, (catalog, address.schema or "main", address.table)))


def quoted(name: str) -> str:
    """Quote an identifier."""
    return '"' + name.replace('"', '""') + '"'


def explain(error: BaseException, address: Address) -> MicroaggError | None:
    """Put a failure into our words; the driver's may show a cell."""
    duckdb = driver()
    if isinstance(error, duckdb.ConnectionException):
        return InvalidData(f"the file of {address.shown!r} is open in this process already. Close it there first.")
    if isinstance(error, duckdb.IOException) and "lock" in str(error):
        return InvalidData(f"the file of {address.shown!r} is in use by another process. Wait for it, or close it.")
    if isinstance(error, (duckdb.IOException, duckdb.SerializationException)):
        return InvalidData(
            f"the file of {address.shown!r} cannot be opened, read or written: it is not a DuckDB file, it is of a "
            "newer DuckDB, you have no right to it, or the disk is full. Check the path, the permissions, and the "
            "disk."
        )
    if isinstance(error, duckdb.PermissionException):
        return InvalidData(
            f"{address.shown!r} reads other files, or an address of the network. microagg does not do that for a "
            "view in a database, since its author may not be allowed to read them. Make a table of it with DuckDB "
            "first."
        )
    if isinstance(error, getattr(duckdb, "DependencyException", ())):  # which older versions do not distinguish
        return InvalidData(f"something else depends on the table {address.shown!r}. Choose another name.")
    if isinstance(error, (duckdb.Error, pa.ArrowException, OSError)):
        kind = type(error).__name__
        return InvalidData(f"DuckDB failed on {address.shown!r} ({kind}). Check the table with DuckDB itself.")
    return None
