"""The source is never written over, by whatever name the target goes: what is there is compared, not the spelling."""

import os
import subprocess
import sys
import threading
import time
from urllib.parse import quote

import pyarrow as pa
import pytest

from microagg.errors import InvalidData, InvalidParameter
from microagg.files.addresses import check_target
from microagg.files.databases import read_table, write_table
from microagg.files.sources import read_source, write_target
from tests.io.database_cases import duckdb, refused
from tests.io.server import PASSWORD, USER, standby
from tests.lengths import first_few

OLD, NEW = pa.table({"a": [1, 2, 3]}), pa.table({"a": [2, 2, 2]})
ITSELF, DOUBTFUL = "the source itself", "it cannot be found out whether it is the source"


def check(target, source):
    """Ask before any work."""
    check_target(target, source, overwrite=True)


def check_kept(source, target, said=ITSELF):
    """See that a target is refused before any work, as it is written, and as the command line writes it."""
    before = read_table(source)[0]
    assert said in refused(InvalidParameter, check, target, source)
    assert said in refused(InvalidParameter, lambda: write_target(NEW, target, read_source(source), overwrite=True))
    assert said in refused(InvalidParameter, write_table, NEW, target, True, source)
    assert read_table(source)[0].equals(before)


def check_replaced(source, target):
    """See that a target that is not the source is written over."""
    before = read_table(source)[0]
    check(target, source)
    write_target(NEW, target, read_source(source), overwrite=True)
    assert read_table(target)[0].equals(NEW)
    assert read_table(source)[0].equals(before)


def test_another_table_is_written_over(at):
    write_table(OLD, at("source"), False)
    write_table(OLD, at("target"), False)
    check_replaced(at("source"), at("target"))
    check(at("new"), at("source"))
    write_table(NEW, at("new"), True, at("source"))


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Give the folder of a DuckDB file with a table and what is read from it."""
    monkeypatch.chdir(tmp_path)
    with duckdb.connect("a.db") as connection:
        connection.execute("CREATE TABLE t AS SELECT unnest([1, 2, 3]) AS a")
        connection.execute('CREATE SCHEMA s; CREATE TABLE s.t AS SELECT 7 AS a; CREATE TABLE "plain" AS FROM t')
        connection.execute("CREATE VIEW v AS SELECT a FROM t; CREATE VIEW s.w AS SELECT * FROM a.main.v WHERE a > 1")
        connection.execute("CREATE MACRO m() AS TABLE SELECT * FROM t; CREATE VIEW x AS SELECT * FROM m()")
        connection.execute("CREATE VIEW y AS SELECT (SELECT max(a) FROM t) AS a FROM s.t")
        connection.execute('CREATE VIEW z AS SELECT * FROM "plain"')
    return tmp_path


SOURCES = ["t", "T", "main.t", "v", "s.w", "S.W", "x", "y"]
TARGETS = ["a.db?table=T", "./b/../a.db?table=main.t", "link.db?table=MAIN.T"]
ROUND = [(source, TARGETS[(place + turn) % 3]) for turn in range(3) for place, source in enumerate(SOURCES)]


@pytest.mark.parametrize(("source", "target"), first_few(len(SOURCES), ROUND))
def test_a_table_that_a_view_of_duckdb_reads_is_kept(here, source, target):
    (here / "b").mkdir()
    (here / "link.db").symlink_to("a.db")
    check_kept(f"duckdb:///a.db?table={source}", f"duckdb:///{target}")
    assert sorted(path.name for path in here.iterdir()) == ["a.db", "b", "link.db"]


def test_no_variable_of_python_is_taken_for_a_table_that_is_dropped(here):
    del here
    check_kept("duckdb:///a.db?table=z", "duckdb:///a.db?table=plain")


def test_other_tables_of_duckdb_are_written_over(here):
    del here
    write_table(OLD, "duckdb:///other.db?table=t", False)
    check_replaced("duckdb:///a.db?table=v", "duckdb:///other.db?table=t")
    check_replaced("duckdb:///a.db?table=t", "duckdb:///a.db?table=plain")
    check_replaced("duckdb:///a.db?table=v", "duckdb:///a.db?table=s.t")


@pytest.mark.parametrize("table", ["t", "T", "new"])
def test_a_hard_link_to_a_file_of_duckdb_is_not_written_to(here, table):
    os.link(here / "a.db", here / "hard.db")
    # What another process has not yet written to the file is in a journal, which lies beside one of the names.
    code = "import duckdb, os; duckdb.connect('a.db').execute('INSERT INTO t VALUES (4)'); os._exit(0)"
    subprocess.run([sys.executable, "-c", code], check=True)
    check_kept("duckdb:///a.db?table=t", f"duckdb:///hard.db?table={table}", "under another name")
    assert read_table("duckdb:///a.db?table=t")[0]["a"].to_pylist() == [1, 2, 3, 4]


def test_a_source_of_duckdb_that_is_gone_leaves_a_doubt(here):
    del here
    source, target = "duckdb:///a.db?table=v", "duckdb:///a.db?table=plain"
    like = read_source(source)
    check(target, source)
    with duckdb.connect("a.db") as connection:
        connection.execute('DROP VIEW v; CREATE VIEW v AS SELECT * FROM "plain"')
    assert ITSELF in refused(InvalidParameter, lambda: write_target(NEW, target, like, overwrite=True))
    with duckdb.connect("a.db") as connection:
        connection.execute("DROP VIEW v")
    message = refused(InvalidParameter, lambda: write_target(NEW, target, like, overwrite=True))
    assert DOUBTFUL in message
    assert "Choose another name" in message
    assert read_table(target)[0].equals(OLD.cast(pa.schema([("a", pa.int32())])))


def test_the_file_of_a_database_is_no_target(here):
    (here / "a.db").rename(here / "a.csv")
    source = "duckdb:///a.csv?table=t"
    os.link(here / "a.csv", here / "hard.csv")
    before = (here / "a.csv").read_bytes()
    for name in ("a.csv", "hard.csv"):
        with pytest.raises(InvalidParameter, match=ITSELF):
            check(here / name, source)
        with pytest.raises(InvalidParameter, match=ITSELF):
            write_target(NEW, here / name, read_source(source), overwrite=True)
    assert (here / "a.csv").read_bytes() == before
    (here / "empty.csv").touch()  # which DuckDB would make a database of
    with pytest.raises(InvalidParameter, match=ITSELF):
        check("duckdb:///empty.csv?table=t", here / "empty.csv")
    assert (here / "empty.csv").read_bytes() == b""


@pytest.fixture
def ann(server, run):
    """Give a user's schema with a table of her own, and the same table by other addresses."""
    run("DROP SCHEMA IF EXISTS ann CASCADE", "DROP ROLE IF EXISTS ann", "CREATE ROLE ann LOGIN PASSWORD 'hush'")
    run("CREATE SCHEMA ann AUTHORIZATION ann", "CREATE TABLE ann.t AS SELECT generate_series(1, 3) AS a")
    run("ALTER TABLE ann.t OWNER TO ann")
    password = PASSWORD.replace("/", "%2F")
    as_ann = f"postgresql://ann:hush@127.0.0.1:{server.port}/postgres?table="
    socket = f"postgresql://{USER}:{password}@/postgres?host={quote(str(server.folder), '')}&port={server.port}&table="
    alias = f"postgresql://{USER}:{password}@alias.example:{server.port}/postgres?hostaddr=127.0.0.1&table="
    local = server.address("").replace("127.0.0.1", "localhost")
    return as_ann, {
        "127.0.0.1": server.address("x")[:-1],
        "socket": socket,
        "alias": alias,
        "localhost": local + "?table=",
    }


@pytest.mark.parametrize("host", first_few(1, ["socket", "alias", "127.0.0.1", "localhost"]))
def test_one_relation_of_postgresql_is_known_by_any_name(ann, run, host):
    as_ann, others = ann
    # Her search path begins with the schema of her name.
    check_kept(as_ann + "t", others[host] + "ann.t")
    check_kept(others[host] + "ann.t", as_ann + "t")
    check_kept(others[host] + "t&options=-csearch_path%3Dann", as_ann + "ann.t")
    run("CREATE TABLE public.t AS SELECT 1 AS a")
    check_replaced(as_ann + "ann.t", others[host] + "public.t")
    run("DROP TABLE ann.t")
    assert "no table" in refused(InvalidData, read_table, as_ann + "ann.t")
    write_table(NEW, as_ann + "ann.t", True, others[host] + "ann.none")  # there is nothing to write over


@pytest.mark.parametrize(
    ("statements", "source", "target"),
    [
        (["CREATE VIEW v AS SELECT a FROM base"], "v", "base"),
        (["CREATE VIEW v AS SELECT a FROM base", "CREATE VIEW w AS SELECT max(a) AS a FROM v"], "w", "base"),
        (["CREATE VIEW v AS SELECT (SELECT max(a) FROM base) AS a"], "v", "base"),
        (["CREATE MATERIALIZED VIEW v AS SELECT a FROM base"], "v", "base"),
        (["CREATE TABLE child () INHERITS (base)"], "base", "child"),
        (["CREATE TABLE child () INHERITS (base)"], "child", "base"),
        (["CREATE TABLE child () INHERITS (base)", "CREATE VIEW v AS SELECT a FROM base"], "v", "child"),
        (["CREATE TABLE part PARTITION OF whole FOR VALUES FROM (0) TO (9)"], "part", "whole"),
        (["CREATE TABLE part PARTITION OF whole FOR VALUES FROM (0) TO (9)"], "whole", "part"),
        (
            [
                "CREATE TABLE upper PARTITION OF whole FOR VALUES FROM (0) TO (9) PARTITION BY RANGE (a)",
                "CREATE TABLE part PARTITION OF upper FOR VALUES FROM (0) TO (5)",
                "CREATE VIEW v AS SELECT a FROM part",
            ],
            "v",
            "whole",
        ),
    ],
)
def test_what_a_source_of_postgresql_is_read_from_is_kept(server, run, statements, source, target):
    run("CREATE TABLE base AS SELECT generate_series(1, 3) AS a", "CREATE TABLE whole (a int) PARTITION BY RANGE (a)")
    run(*statements)
    run(f"INSERT INTO {source if source in ('child', 'whole', 'part') else target} VALUES (1), (2)")
    check_kept(server.address(source), server.address(f"public.{target}"))


@pytest.mark.campaign
def test_what_cannot_be_looked_into_leaves_a_doubt(server, run):
    at = server.address
    run("CREATE TABLE base AS SELECT 1 AS a", "CREATE TABLE other AS SELECT 1 AS a")
    run("CREATE FUNCTION grown(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 + 1'")
    run("CREATE FUNCTION largest() RETURNS int LANGUAGE sql AS 'SELECT max(a) FROM other'")
    run("CREATE VIEW safe AS SELECT grown(a) AS a FROM base", "CREATE VIEW open AS SELECT largest() AS a FROM base")
    run("CREATE FOREIGN DATA WRAPPER blind", "CREATE SERVER far FOREIGN DATA WRAPPER blind")
    run("CREATE FOREIGN TABLE away (a int) SERVER far", "CREATE VIEW veil AS SELECT a FROM away")
    try:
        check_kept(at("open"), at("other"), "a function that is not declared IMMUTABLE")
        for source in ("away", "veil"):
            assert "foreign table" in refused(InvalidParameter, check, at("other"), at(source))
        check(at("new"), at("veil"))
        check_replaced(at("safe"), at("other"))
    finally:
        run("DROP FOREIGN DATA WRAPPER blind CASCADE", "DROP FUNCTION grown CASCADE", "DROP FUNCTION largest CASCADE")


@pytest.mark.campaign
def test_another_database_is_told_apart_though_all_its_numbers_are_the_same(server, run):
    run("CREATE DATABASE first", autocommit=True)
    run("CREATE TABLE t AS SELECT generate_series(1, 3) AS a", database="first")
    run("CREATE DATABASE second TEMPLATE first", autocommit=True)
    check_replaced(server.address("t", "first"), server.address("t", "second"))


@pytest.mark.campaign
def test_a_server_that_does_not_say_which_it_is_leaves_a_doubt(server, run):
    run("CREATE DATABASE sealed", "DROP ROLE IF EXISTS bob", "CREATE ROLE bob LOGIN PASSWORD 'hush'", autocommit=True)
    run(
        "CREATE TABLE t AS SELECT 1 AS a",
        "CREATE TABLE u AS SELECT 1 AS a",
        "GRANT SELECT ON t TO bob",
        "REVOKE SELECT ON pg_locks FROM PUBLIC",
        database="sealed",
    )
    as_bob = f"postgresql://bob:hush@127.0.0.1:{server.port}/sealed?table="
    check_kept(as_bob + "t", server.address("u", "sealed"), DOUBTFUL)
    check_kept(as_bob + "t", server.address("t", "sealed"))  # by its spelling
    down = server.address("t").replace(str(server.port), "1")
    message = refused(InvalidParameter, check, server.address("u", "sealed"), down)
    assert "Choose another name" in message
    check(server.address("new", "sealed"), down)


@pytest.mark.campaign
def test_a_standby_is_known_for_its_primary(server, run):
    run("CREATE TABLE t AS SELECT generate_series(1, 3) AS a", "CREATE TABLE u AS SELECT 1 AS a")
    with standby(server) as port:
        there = server.address("t").replace(str(server.port), str(port))
        check_kept(there, server.address("t"))
        assert "read-only" in refused(InvalidData, check, there, server.address("u"))
        check(server.address("u"), there)


def test_a_source_that_takes_the_target_s_name_meanwhile_is_kept(server, run):
    """Nobody renames a table between the last look at it and its end."""
    dbapi = pytest.importorskip("adbc_driver_postgresql.dbapi")
    run("CREATE TABLE s AS SELECT generate_series(1, 3) AS a", "CREATE TABLE m AS SELECT 1 AS a")
    source, target = server.address("s"), server.address("m")
    check(target, source)
    like, said = read_source(source), []

    def write():
        said.append(refused(InvalidParameter, lambda: write_target(NEW, target, like, overwrite=True)))

    with dbapi.connect(server.address()) as connection, connection.cursor() as cursor:
        cursor.execute("ALTER TABLE m RENAME TO old")
        cursor.execute("ALTER TABLE s RENAME TO m")
        writing = threading.Thread(target=write)
        writing.start()
        waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted"
        while writing.is_alive() and not run(waiting)[0][0]:
            time.sleep(0.05)
        connection.commit()
    writing.join(30)
    assert [DOUBTFUL in text for text in said] == [True]
    assert run("SELECT count(*) FROM m") == [(3,)]
