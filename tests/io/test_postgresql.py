"""Tables of a real PostgreSQL server: types, rights, and what is never said."""

from decimal import Decimal
from urllib.parse import quote

import pyarrow as pa
import pytest

from microagg.errors import InvalidData, InvalidParameter
from microagg.files.databases import check_table_target, read_table, same_table, without_credentials, write_table
from tests.io.database_cases import AWKWARD, refused
from tests.io.server import PASSWORD, USER


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
    assert "you have no right to do that" in refused(InvalidData, read_table, guest + "locked")
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
