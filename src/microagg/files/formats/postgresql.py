"""Tables of a PostgreSQL server, by ADBC."""

import os
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from microagg.checks import Extra
from microagg.columns.numbers import is_text
from microagg.errors import InvalidData, MicroaggError
from microagg.files.formats.apart import Stop
from microagg.files.formats.database_addresses import Address, is_source, may_be_source, table_exists
from microagg.files.formats.duckdb import quoted
from microagg.files.promise import Promise, check_written

_DATES = ("date", "timestamp", "timestamptz")
_KEPT = {*"bool int2 int4 int8 float4 float8 text varchar bpchar name bytea time".split(), *_DATES}
_DIGITS = 38  # of Arrow's decimal128
_LONGEST = 63  # bytes of a name that PostgreSQL keeps

_COLUMNS = """
SELECT a.attname::text,
       CASE WHEN n.nspname = 'pg_catalog' THEN b.typname::text ELSE '' END,
       CASE WHEN t.typtype = 'd' THEN t.typtypmod ELSE a.atttypmod END
FROM pg_catalog.pg_attribute a
JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
JOIN pg_catalog.pg_type b ON b.oid = CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END
JOIN pg_catalog.pg_namespace n ON n.oid = b.typnamespace
WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum
"""
_RELATION = """
SELECT c.relkind::text, pg_has_role(c.relowner, 'USAGE')
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = $1 AND c.relname = $2
"""
# What a table or view is read from: what a view selects from, partitions and other children. Where one of these is on
# another server, or a view calls somebody's own function, it cannot be known; one that is immutable reads no table.
_READ_FROM = """
WITH RECURSIVE selected AS (
    SELECT w.ev_class, d.refclassid, d.refobjid
    FROM pg_catalog.pg_rewrite w
    JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.objid = w.oid
    WHERE w.ev_type = '1'
), found(oid) AS (
    SELECT to_regclass($1)::oid
    UNION
    SELECT further.oid FROM found CROSS JOIN LATERAL (
        SELECT refobjid FROM selected WHERE ev_class = found.oid AND refclassid = 'pg_catalog.pg_class'::regclass
        UNION ALL
        SELECT inhrelid FROM pg_catalog.pg_inherits WHERE inhparent = found.oid
    ) further(oid)
)
SELECT c.oid::bigint, c.relkind = 'f' OR EXISTS (
    SELECT FROM selected s JOIN pg_catalog.pg_proc p ON p.oid = s.refobjid
    WHERE s.ev_class = c.oid AND s.refclassid = 'pg_catalog.pg_proc'::regclass AND p.provolatile <> 'i'
)
FROM found JOIN pg_catalog.pg_class c ON c.oid = found.oid
"""
_DROPPED = """
WITH RECURSIVE found(oid) AS (
    SELECT to_regclass($1)::oid
    UNION
    SELECT i.inhrelid FROM found JOIN pg_catalog.pg_inherits i ON i.inhparent = found.oid
)
SELECT oid::bigint FROM found
"""
_THIS_DATABASE = "SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database()"
_IS_LOCKED = f"""
SELECT EXISTS (
    SELECT FROM pg_catalog.pg_locks
    WHERE locktype = 'advisory' AND objsubid = 1 AND granted AND database = ({_THIS_DATABASE})
    AND (classid::bigint << 32 | objid::bigint) = $1::bigint
)
"""
_SERVER = f"SELECT system_identifier, ({_THIS_DATABASE})::bigint FROM pg_catalog.pg_control_system()"
_REASONS = {
    "42501": "you have no right to do that. Ask the owner of the table for it",
    "42P01": "there is no such table. Check its name and its schema",
    "3F000": "there is no such schema. Check its name",
    "42P07": "a table of that name was created meanwhile. Choose another name",
    "2BP01": "something else depends on the table. Choose another name",
    "57014": "the server stopped it at its own time limit. Ask for a longer limit",
    "53100": "the disk of the server is full. Ask its administrator",
}
_EXTRA = Extra(("adbc_driver_postgresql",), "postgresql:// needs an ADBC driver. Run: pip install 'microagg[sql]'")


def driver() -> Any:
    """Import ADBC's driver, or say how to install it."""
    return _EXTRA.load("adbc_driver_postgresql.dbapi")


def read(address: Address, stop: Stop) -> pa.Table:
    """Read a table or view as it is at one moment, in no order."""
    with driver().connect(address.uri) as connection, stop.by(connection.adbc_cancel):
        _execute(connection, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        _execute(connection, "SET LOCAL datestyle TO 'ISO, YMD'")
        source = _qualified(address.schema, address.table)
        columns = _rows(connection, _COLUMNS, [source])
        if not columns:
            raise InvalidData(f"there is no table {address.shown!r}, or it has no columns. Check its name and schema.")
        infinite = _infinite(connection, source, [name for name, kind, _ in columns if kind in _DATES])
        listed = ", ".join(_expression(name, "" if name in infinite else kind) for name, kind, _ in columns)
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT {listed} FROM {source}")
            reader = cursor.fetch_record_batch()
            table = pa.Table.from_batches(list(reader), schema=reader.schema)
        connection.rollback()
    table.validate(full=True)  # a database without an encoding holds any bytes as text
    arrays = [
        _decimals(column, typmod) if kind in ("numeric", "money") else column
        for column, (_, kind, typmod) in zip(table.columns, columns, strict=True)
    ]
    return pa.table(arrays, names=[name for name, _, _ in columns])


def _expression(name: str, kind: str) -> str:
    """Say how a column is selected so that Arrow holds what is there."""
    column = quoted(name)
    if kind in _KEPT:
        return f"{column}::pg_catalog.{kind} AS {column}"  # out of a domain
    if kind == "money":  # which ADBC gives in hundredths
        return f"{column}::numeric::text AS {column}"
    return f"{column}::{'bigint' if kind == 'oid' else 'text'} AS {column}"


def _infinite(connection: Any, source: str, names: Sequence[str]) -> set[str]:
    """Name the columns with an infinite date, which Arrow would hold as another."""
    if not names:
        return set()
    tests = ", ".join(f"coalesce(bool_or(NOT isfinite({quoted(name)})), false)" for name in names)
    found = _rows(connection, f"SELECT {tests} FROM {source}")[0]
    return {name for name, is_infinite in zip(names, found, strict=True) if is_infinite}


def _decimals(text: pa.ChunkedArray, typmod: int) -> pa.ChunkedArray:
    """Turn the text of numerics into numbers that show the same, or leave it."""
    precision, scale = ((typmod - 4) >> 16) & 0xFFFF, (typmod - 4) & 0x7FF
    if pc.any(pc.match_substring_regex(text, "[a-z]")).as_py():  # NaN, Infinity
        finite = text.filter(pc.invert(pc.match_substring_regex(text, "[a-z]")))
        digits = _most(pc.utf8_ltrim(pc.replace_substring_regex(finite, "[-.]", ""), "0"))
        return text.cast(pa.float64()) if digits <= 15 else text
    if typmod < 4 or not 0 <= scale <= precision <= _DIGITS:
        scale = _most(pc.replace_substring_regex(text, r"^[^.]*\.?", ""))
        precision = max(1, scale + _most(pc.replace_substring_regex(text, r"^-?0*|\..*$", "")))
    return text.cast(pa.decimal128(precision, scale)) if precision <= _DIGITS else text


def _most(text: pa.ChunkedArray) -> int:
    return pc.max(pc.utf8_length(text)).as_py() or 0


def check_target(address: Address, overwrite: bool, source: Address | None, stop: Stop) -> None:
    """Refuse a target that cannot be written, or must not be."""
    with driver().connect(address.uri) as connection, stop.by(connection.adbc_cancel):
        schema, exists = _check_free(connection, address, overwrite)
        if exists and source is not None:
            _check_apart(connection, _qualified(schema, address.table), address, source, stop)
        connection.rollback()


def write(
    table: pa.Table,
    address: Address,
    overwrite: bool,
    source: Address | None,
    stop: Stop,
    promise: Promise | None = None,
) -> None:
    """Write a table in one transaction."""
    ready, types = _storable(table)
    with driver().connect(address.uri) as connection:
        try:
            with stop.by(connection.adbc_cancel), connection.cursor() as cursor:
                _execute(connection, "SET TRANSACTION ISOLATION LEVEL READ COMMITTED")  # what is there by now
                schema, exists = _check_free(connection, address, overwrite)
                target = _qualified(schema, address.table)
                if exists:
                    # Until the end, no other table gets this name, nor this one another.
                    _execute(connection, f"LOCK TABLE {target} IN ACCESS EXCLUSIVE MODE")
                    if source is not None:
                        _check_apart(connection, target, address, source, stop)
                    _execute(connection, f"DROP TABLE {target}")
                # ADBC's own would be numeric without precision and lose the zeros of 1.10.
                columns = ", ".join(f"{quoted(name)} {kind}" for name, kind in types.items())
                _execute(connection, f"CREATE TABLE {target} ({columns})")
                cursor.adbc_ingest(address.table, ready, mode="append", db_schema_name=schema)
                if promise is not None:
                    cursor.execute(f"SELECT {', '.join(map(quoted, promise.columns))} FROM {target}")
                    tables = (pa.Table.from_batches([batch]) for batch in cursor.fetch_record_batch())
                    check_written(promise, tables, table.num_rows, address.shown)
        except BaseException:
            connection.rollback()
            raise
        connection.commit()


def _check_free(connection: Any, address: Address, overwrite: bool) -> tuple[str, bool]:
    """Refuse a name that is taken; give the schema, and whether there is a table to overwrite."""
    if _rows(connection, "SELECT current_setting('transaction_read_only')")[0][0] == "on":
        raise InvalidData(f"the server of {address.shown!r} is read-only. Choose one that can be written to.")
    schema = address.schema or _rows(connection, "SELECT current_schema()::text")[0][0]
    query = "SELECT has_schema_privilege(oid, 'CREATE') FROM pg_catalog.pg_namespace WHERE nspname = $1"
    permitted = _rows(connection, query, [schema]) if schema else []
    if not permitted:
        raise InvalidData(f"there is no schema for {address.shown!r}. Create it, or name another: ?table=schema.name.")
    found = _rows(connection, _RELATION, [schema, address.table])
    if found and found[0][0] not in "rp":
        raise InvalidData(
            f"{address.shown!r} is a view or something similar, which is not replaced. Choose another name."
        )
    if found and not overwrite:
        raise table_exists(address.shown)
    if not permitted[0][0] or (found and not found[0][1]):
        raise InvalidData(f"you may not create {address.shown!r}. Ask for the right, or name another schema.")
    return schema, bool(found)


def _check_apart(connection: Any, target: str, address: Address, source: Address, stop: Stop) -> None:
    """Refuse to drop a table that the source is read from, or may be; the servers decide that, not names."""
    try:
        with driver().connect(source.uri) as other, stop.by(other.adbc_cancel):
            read = _rows(other, _READ_FROM, [_qualified(source.schema, source.table)])
            is_same = _is_same_database(connection, other)
        dropped = {oid for (oid,) in _rows(connection, _DROPPED, [target])}
    except driver().Error:
        read, is_same, dropped = [], None, set()
    # Not raised above: an error would carry the driver's with it, which may show the password.
    if is_same is None:
        raise may_be_source(address.shown, "a server cannot be reached, or does not say which database it is")
    if not read:
        raise may_be_source(address.shown, "the source is no longer there")
    if is_same and not dropped.isdisjoint(oid for oid, _ in read):
        raise is_source(address.shown)
    if any(is_hidden for _, is_hidden in read):
        raise may_be_source(
            address.shown, "the source is read from a foreign table, or by a function that is not declared IMMUTABLE"
        )


def _is_same_database(first: Any, second: Any) -> bool | None:
    """Whether two connections lead to one database, by whatever host, port or user; None if neither can be shown.

    A lock that is taken here and seen there is proof, and any user may take and see it. A standby shows none of its
    primary's locks, but has its identifier.
    """
    key = [str(int.from_bytes(os.urandom(7)))]
    _rows(first, "SELECT pg_advisory_xact_lock($1::bigint)", key)
    if not _rows(first, _IS_LOCKED, key)[0][0]:
        return None
    if _rows(second, _IS_LOCKED, key)[0][0]:
        return True
    if not _rows(second, "SELECT pg_is_in_recovery()")[0][0]:
        return False
    return bool(_rows(first, _SERVER) == _rows(second, _SERVER))


def _storable(table: pa.Table) -> tuple[pa.Table, dict[str, str]]:
    """Bring the columns into types that PostgreSQL has, nothing lost, and name these."""
    arrays, types = [], {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        length = len(name.encode())
        if length > _LONGEST:
            raise InvalidData(f"a column's name has {length} bytes: PostgreSQL keeps {_LONGEST}. Shorten it.")
        arrow, types[name] = _type_for(name, column.type)
        cast = _cast(column, arrow)
        if cast is None:
            raise InvalidData(
                f"column {name!r} ({column.type}) holds a value that PostgreSQL's {types[name]} cannot. Its finest "
                f"unit of time is the microsecond: round it, or make it text."
            )
        arrays.append(cast)
    return pa.table(arrays, names=table.column_names), types


def _cast(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray | None:
    try:
        return column if column.type == kind else column.cast(kind)
    except pa.ArrowInvalid:  # whose message shows the cell
        return None


def _type_for(name: str, kind: pa.DataType) -> tuple[pa.DataType, str]:
    fixed = {
        pa.bool_(): (kind, "boolean"),
        pa.int8(): (pa.int16(), "smallint"),
        pa.int16(): (kind, "smallint"),
        pa.int32(): (kind, "integer"),
        pa.int64(): (kind, "bigint"),
        pa.uint8(): (pa.int16(), "smallint"),
        pa.uint16(): (pa.int32(), "integer"),
        pa.uint32(): (pa.int64(), "bigint"),
        pa.uint64(): (pa.decimal128(20, 0), "numeric(20,0)"),  # which ADBC would let overflow
        pa.float16(): (pa.float32(), "real"),
        pa.float32(): (kind, "real"),
        pa.float64(): (kind, "double precision"),
        pa.date32(): (kind, "date"),
        pa.date64(): (pa.date32(), "date"),
    }
    if kind in fixed:
        return fixed[kind]
    if pa.types.is_decimal(kind) and 0 <= kind.scale <= kind.precision:
        return kind, f"numeric({kind.precision},{kind.scale})"
    if is_text(kind):
        return pa.large_string(), "text"
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind):
        return pa.large_binary(), "bytea"
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", kind.tz), "timestamptz" if kind.tz else "timestamp"
    if pa.types.is_time(kind):
        return pa.time64("us"), "time"
    raise InvalidData(f"column {name!r} ({kind}) has no matching type in PostgreSQL. Turn it into numbers or text.")


def _rows(connection: Any, query: str, values: Sequence[str] = ()) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(query, list(values)) if values else cursor.execute(query)
        return list(cursor.fetchall())


def _execute(connection: Any, statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


def _qualified(schema: str | None, table: str) -> str:
    return quoted(table) if schema is None else f"{quoted(schema)}.{quoted(table)}"


def explain(error: BaseException, address: Address) -> MicroaggError | None:
    """Put a failure into our words; the driver's may show the password or a cell."""
    if isinstance(error, driver().Error):
        state = getattr(error, "sqlstate", None)
        if state in _REASONS:
            return InvalidData(f"PostgreSQL refused {address.shown!r}: {_REASONS[state]}.")
        if state is not None:
            return InvalidData(
                f"PostgreSQL failed on {address.shown!r} (SQLSTATE {state}). Look up the state in the manual of "
                "PostgreSQL, and the failure in the log of the server."
            )
        return InvalidData(
            f"the server of {address.shown!r} cannot be reached, or refuses the connection. Check that it runs, the "
            "host, the port, the database, the parameters, the user and the password."
        )
    if isinstance(error, (pa.ArrowException, OSError)):
        return InvalidData(
            f"{address.shown!r} could not be read or written completely: the connection broke, or Arrow cannot hold "
            "a value. Try again, or read it through a view that casts the columns in question to text."
        )
    return None
