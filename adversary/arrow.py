"""Parquet and Feather: every type, metadata of pandas that is none, and damage."""

import io
import json
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq

from adversary.case import Case
from adversary.commands import afterwards, drawn_command, other_command
from adversary.damage import damaged
from adversary.values import CALM, LEVELS, WILD, Column, Random, chance, draw_columns, one_of, secrets_of


def table_of(columns: list[Column]) -> pa.Table:
    """Make a table of columns; names may occur twice."""
    return pa.Table.from_arrays([array_of(column) for column in columns], [column.name for column in columns])


def array_of(column: Column) -> Any:
    """Make an array of a column; what cannot be of its type is text."""
    if column.type == "run-end":
        kept = pa.array(column.cells, pa.string())
        return pa.compute.run_end_encode(kept)
    try:
        return column.array()
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        try:  # dictionaries of lists and the like are made by a cast only
            return pa.array(column.cells).cast(column.type)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            return pa.array([None if cell is None else str(cell) for cell in column.cells], pa.string())


def _metadata(rng: Random, table: pa.Table) -> pa.Table:
    ways = [
        b"{",
        b"null",
        b"[1]",
        b"\xff",
        b'{"index_columns": 5}',
        b'{"columns": [{"name": 1}]}',
        b'{"index_columns": [{}]}',
    ]
    good = {"index_columns": [table.column_names[0]] if table.num_columns else [], "columns": []}
    more = {b"pandas": one_of(rng, [*ways, json.dumps(good).encode()])}
    if chance(rng, 0.3):
        more[one_of(rng, [b"ARROW:schema", b"geo", b"\xff", b""])] = one_of(rng, [b"x", b"\xff\xfe", b""])
    return table.replace_schema_metadata(more)


def parquet(rng: Random) -> Case:
    """Draw a Parquet file and a command line that masks it."""
    return _drawn(rng, "parquet", _as_parquet)


def feather(rng: Random) -> Case:
    """Draw a Feather or an Arrow file and a command line that masks it."""
    return _drawn(rng, "feather", _as_feather)


def _drawn(rng: Random, kind: str, written: Any) -> Case:
    level = one_of(rng, LEVELS)
    columns = draw_columns(rng, level)
    table = table_of(columns)
    if level != CALM and chance(rng, 0.25):
        table = _metadata(rng, table)
    try:
        content = written(rng, table, level)
    except (pa.ArrowException, ValueError, TypeError, OSError):  # not of this format: without what it does not know
        plain = [column for column in columns if column.use in ("category", "text", "row", "unit", "stratum", "weight")]
        columns = plain or [Column("a", [1.5, 2.5, 3.5, 4.5], pa.float64(), "number")]
        content = _as_parquet(rng, table_of(columns), CALM) if kind == "parquet" else _as_arrow(table_of(columns))
    whole = content
    if level == WILD and chance(rng, 0.5):
        content = damaged(rng, content)
    name = one_of(rng, ["in.parquet", "in.parquet", "in.pq"] if kind == "parquet" else ["in.feather", "in.arrow"])
    disk = chance(rng, 0.2 if kind == "parquet" else 0.03)
    command, files, chosen = drawn_command(rng, name, columns, level, disk=disk)
    chosen |= {"damaged": True} if content != whole else {}
    return Case(
        kind,
        {name: content, **files},
        [other_command(rng, command), *afterwards(rng, command)],
        chosen,
        secrets_of(columns),
    )


def _as_parquet(rng: Random, table: pa.Table, level: int) -> bytes:
    room = io.BytesIO()
    more = {} if level == CALM else {"row_group_size": int(rng.integers(1, 40)), "version": one_of(rng, ["1.0", "2.6"])}
    more["compression"] = one_of(rng, ["snappy", "none", "zstd", "gzip"])
    pq.write_table(table, room, use_dictionary=chance(rng, 0.5), store_schema=level == CALM or chance(rng, 0.8), **more)
    return room.getvalue()


def _as_feather(rng: Random, table: pa.Table, level: int) -> bytes:
    if chance(rng, 0.5):
        return _as_arrow(table)
    room = io.BytesIO()
    version = 1 if level == WILD and chance(rng, 0.2) else 2
    how = {} if version == 1 else {"compression": one_of(rng, ["lz4", "zstd", "uncompressed"])}
    pyarrow.feather.write_feather(table, room, version=version, **how)
    return room.getvalue()


def _as_arrow(table: pa.Table) -> bytes:
    room = io.BytesIO()
    with pa.ipc.new_file(room, table.schema) as writer:
        writer.write_table(table, max_chunksize=17)
    return room.getvalue()
