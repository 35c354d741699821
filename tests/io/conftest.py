"""A database server for those tests that ask for one, and addresses in each kind of database."""

from urllib.parse import quote

import pytest

from tests.io.server import postgresql


@pytest.fixture(scope="session")
def server():
    with postgresql() as found:
        yield found


@pytest.fixture
def run(server):
    def execute(*statements, database="postgres", autocommit=False):
        dbapi = pytest.importorskip("adbc_driver_postgresql.dbapi")
        with dbapi.connect(server.address(database=database), autocommit=autocommit) as connection:
            found = None
            for statement in statements:
                with connection.cursor() as cursor:
                    cursor.execute(statement)
                    found = cursor.fetchall() if statement.startswith("SELECT") else None
            if not autocommit:
                connection.commit()
            return found

    ours = "WHERE schemaname !~ '^(pg_|information)'"
    left = f"SELECT format('VIEW IF EXISTS %I.%I CASCADE', schemaname, viewname) FROM pg_views {ours} UNION ALL "
    left += f"SELECT format('TABLE IF EXISTS %I.%I CASCADE', schemaname, tablename) FROM pg_tables {ours}"
    yield execute
    for (what,) in execute(left):
        execute(f"DROP {what}")  # a partition may have gone with its table


@pytest.fixture(params=["duckdb", "postgresql"])
def at(request, tmp_path):
    """Give the address of a table, in each kind of database."""
    if request.param == "duckdb":
        return lambda table: f"duckdb:///{tmp_path / 'file.db'}?table={quote(table)}"
    request.getfixturevalue("run")
    server = request.getfixturevalue("server")
    return lambda table: server.address(quote(table))
