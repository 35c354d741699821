"""Tables of DuckDB: order, types that Arrow lacks, and files that cannot be used."""

import stat
import subprocess
import sys
from urllib.parse import quote

import pyarrow as pa
import pytest

from microagg.errors import InvalidData, PromiseBroken
from microagg.files.databases import check_table_target, read_table, write_table
from microagg.files.formats import duckdb as _duckdb
from microagg.files.promise import Promise
from tests.io.database_cases import AWKWARD, duckdb, refused


def test_duckdb_keeps_the_order_of_rows(tmp_path):
    table = pa.table({"a": pa.array(range(1_000_000, 0, -1))})
    write_table(table, f"duckdb:///{tmp_path}/a.db?table=t", False)
    assert read_table(f"duckdb:///{tmp_path}/a.db?table=t")[0].equals(table)


def test_duckdb_types_that_arrow_lacks_are_not_mangled(tmp_path):
    with duckdb.connect(str(tmp_path / "main.db")) as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT 1::HUGEINT small, 99999999999999999999::HUGEINT wide, "
            "340282366920938463463374607431768211455::UHUGEINT widest, '12:00:00+01'::TIMETZ zoned, '101'::BIT bits, "
            "'infinity'::DATE forever, '2020-01-01'::TIMESTAMP_NS fine, '{\"a\": 1}'::JSON AS \"json\", [1, 2] list, "
            "'b'::ENUM('a', 'b') letter, '1 month'::INTERVAL span, "
            "'00000000-0000-0000-0000-000000000001'::UUID id, NULL::HUGEINT AS \"none\""
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
        assert "not a DuckDB file" in refused(InvalidData, work, address)
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
        patch.setattr(_duckdb, "_create", lambda connection, *_: connection.execute("DROP TABLE hush"))
        refused(InvalidData, write_table, broken, address, False)
    assert not list(tmp_path.iterdir())


def test_what_was_overwritten_is_no_longer_in_the_file(tmp_path):
    path = tmp_path / "it's a.db"
    address = f"duckdb:///{quote(str(path))}?table=t"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t AS SELECT 'SECRET' || md5(i::VARCHAR) AS name FROM range(1000) r(i)")
        connection.execute("CREATE TABLE other (i INTEGER PRIMARY KEY, j INTEGER DEFAULT 7)")
        connection.execute("INSERT INTO other (i) SELECT 10 - i FROM range(5) r(i)")
        connection.execute("CREATE VIEW v AS SELECT * FROM t")
        connection.execute("CREATE SCHEMA s")
        connection.execute("CREATE TABLE s.t AS SELECT 1 AS a")
    path.chmod(0o640)
    before = path.read_bytes()
    assert b"SECRET" in before
    with pytest.raises(PromiseBroken):
        write_table(pa.table({"a": [1, 2]}), address, True, promise=Promise(2, ("a",)))
    assert path.read_bytes() == before
    write_table(pa.table({"a": [1, 1]}), address, True, promise=Promise(2, ("a",)))
    assert b"SECRET" not in path.read_bytes()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert [one.name for one in tmp_path.iterdir()] == [path.name]
    with duckdb.connect(str(path)) as connection:
        assert connection.execute("FROM v").fetchall() == [(1,), (1,)]
        assert connection.execute("FROM other").fetchall() == [(10 - i, 7) for i in range(5)]
        assert connection.execute("FROM s.t").fetchall() == [(1,)]
        with pytest.raises(duckdb.ConstraintException):
            connection.execute("INSERT INTO other VALUES (10, 1)")


def test_a_view_reads_no_other_files(tmp_path):
    (tmp_path / "private.csv").write_text("hush\n1\n")
    with duckdb.connect(str(tmp_path / "a.db")) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS a")
        connection.execute("CREATE VIEW plain AS SELECT a + 1 AS a FROM t")
        for name, reads in {"text": "read_text", "cells": "read_csv", "names": "glob"}.items():
            connection.execute(f"CREATE VIEW {name} AS SELECT * FROM {reads}('{tmp_path}/private.csv')")
    for name in ("text", "cells", "names"):
        assert "reads other files" in refused(InvalidData, read_table, f"duckdb:///{tmp_path}/a.db?table={name}")
    assert read_table(f"duckdb:///{tmp_path}/a.db?table=plain")[0].to_pydict() == {"a": [2]}
    write_table(pa.table({"a": [5]}), f"duckdb:///{tmp_path}/a.db?table=t", True)
    assert read_table(f"duckdb:///{tmp_path}/a.db?table=plain")[0].to_pydict() == {"a": [6]}
