"""Tables of real databases: what is read, what is written whole or not at all, and what is never said."""

import datetime as dt
import signal
import subprocess
import sys
import time
from decimal import Decimal
from urllib.parse import quote

import pyarrow as pa
import pytest

import microagg as ma
from microagg.errors import InvalidData, InvalidParameter
from microagg.io import _duckdb, _postgresql
from microagg.io.databases import (
    check_table_target,
    is_database,
    read_table,
    same_table,
    without_credentials,
    write_table,
)
from tests.io.server import PASSWORD, USER, postgresql

duckdb = pytest.importorskip("duckdb")
dbapi = pytest.importorskip("adbc_driver_postgresql.dbapi")

WHEN = dt.datetime(2020, 2, 29, 23, 59, 59, 123456)
AWKWARD = pa.table(
    {
        "k": pa.array([3, None], pa.int32()),
        "big": pa.array([2**63 - 1, -(2**63)], pa.int64()),
        "unsigned": pa.array([2**64 - 1, 0], pa.uint64()),
        "code": ["007", None],
        "empty": ["", None],
        "שם המשפחה": ["כהן", "naïve 🙂"],
        'quote " and; drop': [1.5, float("nan")],
        "flag": [True, None],
        "price": pa.array([Decimal("1.10"), Decimal("-99999999.99")], pa.decimal128(10, 2)),
        "wide": pa.array([Decimal("1" * 38), None], pa.decimal128(38, 0)),
        "born": pa.array([dt.date(1899, 12, 31), None]),
        "seen": pa.array([WHEN, None], pa.timestamp("us")),
        "zoned": pa.array([WHEN, None], pa.timestamp("us", "UTC")),
        "noon": pa.array([dt.time(12), None], pa.time64("us")),
        "bytes": [b"\0\xff", b""],
        "kind": pa.array(["a", "b"]).dictionary_encode(),
        "nothing": pa.nulls(2),
    }
)


@pytest.fixture(scope="module")
def server():
    with postgresql() as found:
        yield found


@pytest.fixture
def run(server):
    def execute(*statements, database="postgres", autocommit=False):
        with dbapi.connect(server.address(database=database), autocommit=autocommit) as connection:
            found = None
            for statement in statements:
                with connection.cursor() as cursor:
                    cursor.execute(statement)
                    found = cursor.fetchall() if statement.startswith("SELECT") else None
            if not autocommit:
                connection.commit()
            return found

    tables = "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE schemaname !~ '^(pg_|information)'"
    yield execute
    for (name,) in execute(tables):
        execute(f"DROP TABLE {name} CASCADE")


@pytest.fixture(params=["duckdb", "postgresql"])
def at(request, tmp_path):
    """Give the address of a table, in each kind of database."""
    if request.param == "duckdb":
        return lambda table: f"duckdb:///{tmp_path / 'file.db'}?table={quote(table)}"
    request.getfixturevalue("run")
    server = request.getfixturevalue("server")
    return lambda table: server.address(quote(table))


def refused(kind, work, *arguments):
    """Give the message of an error that shows no secret, nor has any behind it."""
    with pytest.raises(kind) as caught:
        work(*arguments)
    error = caught.value
    assert error.__cause__ is None
    assert error.__context__ is None or not isinstance(error.__context__, (duckdb.Error, dbapi.Error, OSError))
    while error is not None:
        for secret in (PASSWORD, PASSWORD.replace("/", "%2F"), USER, "hush"):
            assert secret not in str(error)
        error = error.__context__
    return str(caught.value)


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
    assert pa.types.is_floating(back["price"].type)
    assert back["paid"].to_pylist() == prices


def test_a_table_that_exists_is_overwritten_only_if_asked(at):
    small = pa.table({"a": [1]})
    check_table_target(at("t"), False)
    write_table(small, at("t"), False)
    assert "exists" in refused(InvalidData, check_table_target, at("t"), False)
    assert "exists" in refused(InvalidData, write_table, AWKWARD, at("t"), False)
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
from microagg.io.databases import read_table, write_table
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


def test_ctrl_c_stops_a_long_query_of_duckdb(tmp_path):
    with duckdb.connect(str(tmp_path / "slow.db")) as connection:
        connection.execute(
            "CREATE VIEW slow AS SELECT sum(a.i * b.i % 7) s FROM range(5000000) a(i), range(1000000) b(i)"
        )
    assert interrupt(signal.SIGINT, "read", f"duckdb:///{tmp_path}/slow.db?table=slow", 2) == "interrupted\n"


def test_ctrl_c_stops_a_long_query_of_postgresql(server, run):
    run("CREATE VIEW slow AS SELECT 1 AS a FROM (SELECT pg_sleep(60)) s")
    try:
        assert interrupt(signal.SIGINT, "read", server.address("slow"), 2) == "interrupted\n"
    finally:
        run("DROP VIEW slow")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_write_that_is_stopped_leaves_the_old_table_or_the_new(at, number):
    old = pa.table({"a": [1]})
    write_table(old, at("t"), False)
    for after in (0.1, 0.3):
        interrupt(number, "write", at("t"), after)
        assert read_table(at("t"))[0].num_rows in (1, 3_000_000)


# DuckDB


def test_duckdb_keeps_the_order_of_rows(tmp_path):
    table = pa.table({"a": pa.array(range(1_000_000, 0, -1))})
    write_table(table, f"duckdb:///{tmp_path}/a.db?table=t", False)
    assert read_table(f"duckdb:///{tmp_path}/a.db?table=t")[0].equals(table)


def test_duckdb_types_that_arrow_lacks_are_not_mangled(tmp_path):
    with duckdb.connect(str(tmp_path / "main.db")) as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT 1::HUGEINT small, 99999999999999999999::HUGEINT wide, "
            "340282366920938463463374607431768211455::UHUGEINT widest, '12:00:00+01'::TIMETZ zoned, '101'::BIT bits, "
            "'infinity'::DATE forever, '2020-01-01'::TIMESTAMP_NS fine, '{\"a\": 1}'::JSON json, [1, 2] list, "
            "'b'::ENUM('a', 'b') letter, '1 month'::INTERVAL span, "
            "'00000000-0000-0000-0000-000000000001'::UUID id, NULL::HUGEINT none"
        )
        connection.execute("CREATE SCHEMA s")
        connection.execute("CREATE VIEW s.v AS SELECT 1 AS a")
    table = read_table(f"duckdb:///{tmp_path}/main.db?table=t")[0]
    row = {name: table[name].cast(pa.string())[0].as_py() for name in table.column_names}
    assert table["small"].type == pa.int64()
    assert table["wide"].type == pa.decimal128(38, 0)
    assert row["wide"] == "99999999999999999999"
    assert row["widest"] == "340282366920938463463374607431768211455"
    assert row["zoned"] == "12:00:00+01"
    assert row["bits"] == "101"
    assert row["forever"] == "infinity"
    assert table["fine"].type == pa.timestamp("ns")
    assert (row["json"], row["list"], row["letter"], row["span"]) == ('{"a": 1}', "[1, 2]", "b", "1 month")
    assert row["id"].endswith("0001")
    assert read_table(f"duckdb:///{tmp_path}/main.db?table=s.v")[0].to_pylist() == [{"a": 1}]
    address = f"duckdb:///{tmp_path}/main.db?table=s.v"
    assert "view" in refused(InvalidData, check_table_target, address, True)
    write_table(table, f"duckdb:///{tmp_path}/main.db?table=s.t", False)
    assert read_table(f"duckdb:///{tmp_path}/main.db?table=S.T")[0].equals(table)


def test_duckdb_relative_paths_have_three_slashes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_table(pa.table({"a": [1]}), "duckdb:///my%20file%3F.db?table=t", False)
    assert (tmp_path / "my file?.db").is_file()
    write_table(pa.table({"a": [1]}), "duckdb:///:memory:?table=t", False)
    assert (tmp_path / ":memory:").is_file()
    table, shown = read_table("duckdb:///my%20file%3F.db?table=t")
    assert (table.num_rows, shown) == (1, "duckdb:///my%20file%3F.db?table=t")


def test_no_file_or_variable_is_taken_for_a_table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cells.csv").write_text("a\n1\n")
    write_table(pa.table({"a": [1]}), "duckdb:///a.db?table=t", False)
    for name in ('"cells.csv"', "address", "AWKWARD"):
        assert "no table" in refused(InvalidData, read_table, f"duckdb:///a.db?table={quote(name)}")


def test_duckdb_files_that_cannot_be_used_are_told_apart(tmp_path):
    path = tmp_path / "a.db"
    address = f"duckdb:///{path}?table=t"
    assert "no file" in refused(InvalidData, read_table, address)
    check_table_target(address, False)
    assert not path.exists()
    assert "folder" in refused(InvalidData, check_table_target, f"duckdb:///{tmp_path}/none/a.db?table=t", False)
    assert "main" in refused(InvalidData, check_table_target, f"duckdb:///{path}?table=s.t", False)
    path.write_text("hush: not a database at all")
    for work in (read_table, lambda at: check_table_target(at, False), lambda at: write_table(AWKWARD, at, True)):
        assert "no DuckDB file" in refused(InvalidData, work, address)
    assert path.read_text().startswith("hush")
    path.unlink()
    with duckdb.connect(str(path)):
        assert "in this process" in refused(InvalidData, read_table, address)
    code = f"import duckdb, sys; c = duckdb.connect({str(path)!r}); print('open', flush=True); sys.stdin.read()"
    other = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert other.stdout.readline() == "open\n"
        assert "another process" in refused(InvalidData, read_table, address)
        assert "another process" in refused(InvalidData, check_table_target, address, False)
    finally:
        other.communicate("")


def test_a_duckdb_file_that_was_made_in_vain_is_removed(tmp_path):
    address = f"duckdb:///{tmp_path}/a.db?table=t"
    assert "case" in refused(InvalidData, write_table, pa.table({"a": [1], "A": [2]}), address, False)
    broken = pa.table({"a": pa.array([[1]], pa.list_(pa.int32()))})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_duckdb, "_check_free", lambda *_: True)  # and so drops what is not there
        refused(InvalidData, write_table, broken, address, False)
    assert not list(tmp_path.iterdir())


# PostgreSQL


def test_numerics_are_exact_decimals_where_arrow_has_them(server, run):
    run(
        "CREATE DOMAIN euros AS numeric(9,2)",
        "CREATE TABLE n (p numeric(10,2), free numeric, wide numeric(50,5), over numeric, nan numeric, far numeric, "
        "e euros, m money, none numeric, tiny numeric)",
        "INSERT INTO n VALUES (1.10, 1, 12.5, 1e40, 'NaN', 'NaN', 5, 1234.56, NULL, 1e-20), "
        "(-2, -0.125, -1, 1, 0.1, 1234567890.123456789, 0.5, -1, NULL, 0)",
    )
    table = read_table(server.address("n"))[0]
    run("DROP TABLE n", "DROP DOMAIN euros")
    decimal = pa.decimal128
    expected = [decimal(10, 2), decimal(4, 3), decimal(7, 5), pa.string(), pa.float64(), pa.string(), decimal(9, 2)]
    assert [*table.schema.types[:7]] == expected
    rows = table.select(["p", "free", "wide", "over", "far", "e", "m", "tiny"]).to_pylist()
    d = Decimal
    assert [*rows[0].values()] == [d("1.10"), 1, d("12.5"), "1" + "0" * 40, "NaN", 5, d("1234.56"), d("1e-20")]
    assert [*rows[1].values()][:3] == [-2, d("-0.125"), -1]
    assert table["none"].null_count == 2


def test_postgresql_types_that_arrow_lacks_are_not_mangled(server, run):
    run(
        "CREATE TYPE mood AS ENUM ('sad', 'ok')",
        "CREATE TABLE odd (until date, ts timestamp, mood mood, ip inet, id uuid, j jsonb, list int[], span interval, "
        "zoned timetz, o oid, padded char(4), gone int)",
        "INSERT INTO odd VALUES ('infinity', '-infinity', 'ok', '127.0.0.1', '00000000-0000-0000-0000-000000000001', "
        "'{\"a\": 1}', '{1,NULL}', '1 mon 2 days', '12:00+01', 4294967295, 'ab', 1)",
        "INSERT INTO odd VALUES ('2020-01-31', '2020-01-01')",
        "ALTER TABLE odd DROP COLUMN gone",
    )
    table = read_table(server.address("odd"))[0]
    run("DROP TABLE odd", "DROP TYPE mood")
    first, second = table.to_pylist()
    expected = ["infinity", "-infinity", "ok", "127.0.0.1/32", "00000000-0000-0000-0000-000000000001", '{"a": 1}']
    assert [*first.values()] == [*expected, "{1,NULL}", "1 mon 2 days", "12:00:00+01", 4294967295, "ab  "]
    assert second["until"] == "2020-01-31"


def test_text_of_other_encodings_is_read_as_what_it_says(server, run):
    for name in ("LATIN1", "SQL_ASCII"):
        run(f"CREATE DATABASE {name} ENCODING '{name}' TEMPLATE template0 LOCALE 'C'", autocommit=True)
    run("CREATE TABLE t AS SELECT chr(233) AS a", database="latin1")
    assert read_table(server.address("t", "latin1"))[0].to_pylist() == [{"a": "é"}]
    run("CREATE TABLE t AS SELECT convert_from('\\xe9', 'SQL_ASCII') AS a", database="sql_ascii")
    assert refused(InvalidData, read_table, server.address("t", "sql_ascii"))


def test_schemas_views_and_rights_of_postgresql(server, run):
    at = server.address
    run(
        'CREATE SCHEMA "s.1"',
        "CREATE ROLE guest LOGIN PASSWORD 'hush'",
        "CREATE TABLE locked (a int)",
        "CREATE VIEW v AS SELECT 7 AS a",
    )
    guest = f"postgresql://guest:hush@127.0.0.1:{server.port}/postgres?table="
    assert read_table(at("v"))[0].to_pylist() == [{"a": 7}]
    assert "view" in refused(InvalidData, check_table_target, at("v"), True)
    write_table(pa.table({"a": [1]}), at("%22s.1%22.t"), False)
    assert read_table(at("%22s.1%22.t"))[0].num_rows == 1
    assert "not permitted" in refused(InvalidData, read_table, guest + "locked")
    assert "may not create" in refused(InvalidData, check_table_target, guest + "mine", False)
    assert "may not create" in refused(InvalidData, check_table_target, guest + "locked", True)
    more = "&options=-cdefault_transaction_read_only%3Don"
    assert "read-only" in refused(InvalidData, check_table_target, at("t", more=more), False)
    run("CREATE VIEW w AS SELECT * FROM locked")
    assert "depends" in refused(InvalidData, write_table, pa.table({"a": [1]}), at("locked"), True)
    # A table of the system's is no target by accident.
    check_table_target(at("pg_class"), False)


def test_what_postgresql_would_round_or_cut_is_refused(server, run):
    del run
    fine = pa.table({"a": pa.array([1], pa.timestamp("ns"))})
    assert "microsecond" in refused(InvalidData, write_table, fine, server.address("t"), False)
    assert "63" in refused(InvalidData, write_table, pa.table({"ü" * 32: [1]}), server.address("t"), False)
    assert "63" in refused(InvalidParameter, write_table, AWKWARD, server.address("t" * 64), False)
    assert "text" in refused(InvalidData, write_table, pa.table({"a": [{"b": 1}]}), server.address("t"), False)
    nul = pa.table({"a": ["hush\0"]})
    assert "SQLSTATE" in refused(InvalidData, write_table, nul, server.address("t"), False)
    assert "no table" in refused(InvalidData, read_table, server.address("t"))


def test_cells_in_a_server_s_complaint_are_not_passed_on(server, run):
    run("CREATE VIEW broken AS SELECT ('hu' || 'sh')::text::int AS a FROM generate_series(1, 2)")
    try:
        refused(InvalidData, read_table, server.address("broken"))
    finally:
        run("DROP VIEW broken")


def test_a_server_that_is_down_or_does_not_let_in(server, tmp_path):
    right = server.address("t")
    wrong = [
        right.replace("Wort", "hush"),
        right.replace(USER, "hush"),
        right.replace("/postgres?", "/hush?"),
        right.replace(str(server.port), "1"),
        right.replace("127.0.0.1", "nowhere.invalid"),
        right + "&hush=hush",
        f"postgresql://{USER}:hush@/db?host={tmp_path}&table=t",
    ]
    for address in wrong:
        shown = without_credentials(address)
        for work in (read_table, lambda at: check_table_target(at, True), lambda at: write_table(AWKWARD, at, True)):
            with pytest.raises(InvalidData, match="cannot be reached") as caught:
                work(address)
            assert caught.value.__context__ is None
            assert PASSWORD not in str(caught.value)
            assert str(caught.value).replace(repr(shown), "").count("hush") == 0


def test_a_socket_and_another_spelling_reach_the_same_server(server, run):
    run("CREATE TABLE t AS SELECT 1 AS a")
    password = PASSWORD.replace("/", "%2F")
    address = f"POSTGRES://{USER}:{password}@/postgres?host={quote(str(server.folder), '')}&port={server.port}&table=t"
    assert read_table(address)[0].num_rows == 1
    assert same_table(address, server.address("public.t"))


# Addresses


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://hush:hush@host/db",
        "postgresql://hush:hush@host/db?table=",
        "postgresql://hush:hush@host/db?table=a&table=b",
        "postgresql://hush:hu@sh@host/db?table=t",
        "postgresql://hush:hu/sh@host/db?table=t",
        "postgresql://hush:hu?sh@host/db?table=t",
        "postgresql://hush:hu#sh@host/db?table=t",
        "postgresql://hush:hush/db?table=t",
        "postgresql://hush:hush@[host/db?table=t",
        "postgresql://hush:hush@host/db?table=a.b.c",
        "postgresql://hush:hush@host/db?table=.b",
        "postgresql://hush:hush@host/db?table=a.",
        "postgresql://hush:hush@host/db?table=%22a",
        "postgresql://hush:hush@host/db?table=a%00b",
        "postgresql://hush:hush@host/db?table=%ff",
        "postgresql+psycopg2://hush:hush@host/db?table=t",
        "postgresql:hush:hush@host/db?table=t",
        "duckdb://hush.db?table=t",
        "duckdb:///hush.db",
        "duckdb:///?table=t",
        "duckdb:///hush/?table=t",
        "duckdb:///hush.db?table=t&password=hush",
    ],
)
def test_malformed_addresses_are_refused_and_not_shown(address):
    assert is_database(address)
    for work in (read_table, lambda at: check_table_target(at, True), lambda at: write_table(AWKWARD, at, True)):
        refused(InvalidParameter, work, address)
    assert "hush" not in without_credentials(address)


def test_addresses_are_shown_without_credentials():
    assert not is_database("postgresql.csv")
    assert without_credentials("folder/a@b.csv") == "folder/a@b.csv"
    assert without_credentials("mysql://hush:hush@host/db") == "mysql://"
    full = "postgres://me:hush@host:1/db?sslmode=require&user=hush&password=hush&table=s.t&sslkey=hush&options=hush"
    assert without_credentials(full) == "postgresql://host:1/db?sslmode=require&table=s.t"
    assert "hush" not in repr(_duckdb.Address("postgresql", "t", None, "", uri="hush"))


def test_the_same_table_is_known_by_other_addresses(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "b.db").symlink_to(tmp_path / "a.db")
    assert same_table("duckdb:///a.db?table=t", f"duckdb:///{tmp_path}/b.db?table=main.T")
    assert not same_table("duckdb:///a.db?table=t", "duckdb:///a.db?table=u")
    assert same_table("postgres://a:b@HOST/db?table=t", "postgresql://c@host:5432/db?table=public.t&sslmode=require")
    assert same_table("postgresql://localhost/db?table=t", "postgresql:///x?dbname=db&table=t")
    assert not same_table("postgresql://host/db?table=t", "postgresql://host/db?table=T")
    assert not same_table("postgresql://host/db?table=t", "postgresql://host/db2?table=t")
    assert not same_table("t.csv", "t.csv")


@pytest.mark.parametrize("address", ["duckdb:///a.db?table=t", "postgresql://hush:hush@host/db?table=t"])
def test_a_missing_extra_is_named(address, monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    monkeypatch.setitem(sys.modules, "adbc_driver_postgresql.dbapi", None)
    for work in (read_table, lambda at: check_table_target(at, True), lambda at: write_table(AWKWARD, at, True)):
        assert "pip install 'microagg[sql]'" in refused(InvalidParameter, work, address)
