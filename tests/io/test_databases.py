"""Tables of real databases of each kind: what is read, what is written whole or not at all, and what is never said."""

import signal
import subprocess
import sys
import time
from decimal import Decimal
from functools import partial

import pyarrow as pa
import pytest

import microagg as ma
from microagg.errors import InvalidData, InvalidParameter
from microagg.files.databases import check_table_target, read_table, without_credentials, write_table
from microagg.files.formats import duckdb as _duckdb
from microagg.files.formats import postgresql as _postgresql
from tests.io.database_cases import AWKWARD, duckdb, refused


def test_awkward_columns_come_out_as_they_went_in(at):
    write_table(AWKWARD, at("awkward"), False)
    table, shown = read_table(at("awkward"))
    assert table.column_names == AWKWARD.column_names
    changed = {"unsigned", "kind", "nothing", "zoned", 'quote " and; drop'}
    for name in set(AWKWARD.column_names) - changed:
        assert table[name].type == AWKWARD[name].type, name
        assert table[name].equals(AWKWARD[name]), name
    assert [int(value) for value in table["unsigned"].to_pylist()] == [2**64 - 1, 0]
    assert table["kind"].to_pylist() == ["a", "b"]
    assert table["nothing"].null_count == 2
    assert table["zoned"].cast(pa.timestamp("us", "UTC")).equals(AWKWARD["zoned"])
    assert str(table['quote " and; drop'].to_pylist()) == "[1.5, nan]"
    assert shown == without_credentials(at("awkward"))
    write_table(table, at("again"), False)
    assert (
        read_table(at("again"))[0].drop_columns(['quote " and; drop']).equals(table.drop_columns(['quote " and; drop']))
    )


def test_a_table_is_masked_and_the_rest_comes_out_the_same(at):
    prices = [Decimal(n) / 100 for n in range(1000, 1020)]
    source = pa.table({"price": pa.array(prices, pa.decimal128(8, 2)), "k": range(20), "paid": pa.array(prices)})
    write_table(source, at("source"), False)
    table, _ = read_table(at("source"))
    release = ma.protect(table, k=5, quasi=["price", "k"], rest="keep")
    write_table(release.data, at("release"), False)
    back, _ = read_table(at("release"))
    assert back.schema.field("price").type == table.schema.field("price").type
    assert back["paid"].to_pylist() == prices


def test_a_table_that_exists_is_overwritten_only_if_asked(at):
    small = pa.table({"a": [1]})
    check_table_target(at("t"), False)
    write_table(small, at("t"), False)
    for action in (check_table_target, partial(write_table, AWKWARD)):
        message = refused(InvalidParameter, action, at("t"), False)
        assert "exists" in message
        assert "--force, or overwrite=True" in message
    assert read_table(at("t"))[0].equals(small)
    check_table_target(at("t"), True)
    write_table(pa.table({"b": ["x"]}), at("t"), True)
    assert read_table(at("t"))[0].column_names == ["b"]


@pytest.mark.parametrize("name", ['x"; DROP TABLE victim; --', "a b;c", "'; DROP TABLE victim; --", "SELECT", "%s$1"])
def test_a_name_does_no_harm(at, name):
    victim = pa.table({"a": [1]})
    write_table(victim, at("victim"), False)
    hostile = pa.table({name: [1], 'y" int); DROP TABLE victim; --': ["'; DROP TABLE victim; --"]})
    assert "no table" in refused(InvalidData, read_table, at(name))
    write_table(hostile, at(name), False)
    write_table(hostile, at(name), True)
    assert read_table(at(name))[0].equals(hostile)
    assert read_table(at("victim"))[0].equals(victim)


def test_a_failed_overwrite_leaves_the_old_table(at, monkeypatch):
    old = pa.table({"a": [1]})
    write_table(old, at("t"), False)

    def fail(*_):
        raise OSError("hush")

    monkeypatch.setattr(_duckdb.os, "urandom", fail)
    if "postgresql" in at("t"):
        monkeypatch.undo()
        monkeypatch.setattr(_postgresql, "_storable", lambda table: (table, {"other": "text"}))
    message = refused(InvalidData, write_table, pa.table({"a": ["hush"]}), at("t"), True)
    monkeypatch.undo()
    assert message
    assert read_table(at("t"))[0].equals(old)


def test_tables_that_no_database_takes_are_refused(at):
    for table in (pa.table({}), pa.table([[1], [2]], names=["a", "a"]), pa.table({"": [1]})):
        assert "name" in refused(InvalidData, write_table, table, at("t"), False)


def test_missing_tables_and_schemas_are_said_to_be(at):
    write_table(pa.table({"a": [1]}), at("t"), False)
    assert "no table" in refused(InvalidData, read_table, at("other"))
    assert "no table" in refused(InvalidData, read_table, at("nowhere.t"))
    assert "no schema" in refused(InvalidData, check_table_target, at("nowhere.t"), False)
    assert "no schema" in refused(InvalidData, write_table, AWKWARD, at("nowhere.t"), False)


INTERRUPTED = """
import sys
import numpy as np, pyarrow as pa
import duckdb, adbc_driver_postgresql.dbapi
from microagg.files.databases import read_table, write_table
numbers = pa.array(np.arange(3_000_000))
table = pa.table({"a": numbers, "b": numbers.cast(pa.string())})
print("ready", flush=True)
try:
    read_table(sys.argv[2]) if sys.argv[1] == "read" else write_table(table, sys.argv[2], True)
    print("done")
except KeyboardInterrupt:
    print("interrupted")
"""


def interrupt(number, doing, address, after):
    running = subprocess.Popen([sys.executable, "-c", INTERRUPTED, doing, address], stdout=subprocess.PIPE, text=True)
    assert running.stdout.readline() == "ready\n"
    time.sleep(after)
    running.send_signal(number)
    began = time.monotonic()
    said = running.communicate(timeout=60)[0]
    assert time.monotonic() - began < 10
    return said


@pytest.mark.campaign
def test_ctrl_c_stops_a_long_query_of_duckdb(tmp_path):
    with duckdb.connect(str(tmp_path / "slow.db")) as connection:
        connection.execute(
            "CREATE VIEW slow AS SELECT sum(a.i * b.i % 7) s FROM range(5000000) a(i), range(1000000) b(i)"
        )
    assert interrupt(signal.SIGINT, "read", f"duckdb:///{tmp_path}/slow.db?table=slow", 2) == "interrupted\n"


@pytest.mark.campaign
def test_ctrl_c_stops_a_long_query_of_postgresql(server, run):
    run("CREATE VIEW slow AS SELECT 1 AS a FROM (SELECT pg_sleep(60)) s")
    try:
        assert interrupt(signal.SIGINT, "read", server.address("slow"), 2) == "interrupted\n"
    finally:
        run("DROP VIEW slow")


@pytest.mark.campaign
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_write_that_is_stopped_leaves_the_old_table_or_the_new(at, number):
    old = pa.table({"a": [1]})
    write_table(old, at("t"), False)
    for after in (0.1, 0.3):
        interrupt(number, "write", at("t"), after)
        assert read_table(at("t"))[0].num_rows in (1, 3_000_000)
