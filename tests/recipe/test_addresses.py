"""A recipe may come from somebody else: no address in it sends a secret of yours anywhere."""

import contextlib
import socket
import threading
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import microagg as ma
from microagg.errors import InvalidParameter
from microagg.files.databases import in_recipes
from microagg.jobs.again import command, program, script, shell, unsaid
from microagg.recipe._file import read_candidates
from tests.cli import call, complaint
from tests.io.object_store import ENVIRONMENT, object_store

RECIPE = """k = 3
[roles]
quasi = ["age"]
unit = "hid"
[units]
release = "pseudonym"
[join]
households = '{}'
"""


@pytest.fixture
def foreign(monkeypatch):
    """A server of somebody else, which counts who comes."""
    for name, value in {**ENVIRONMENT, "PGPASSWORD": "geheim", "PGUSER": "ann"}.items():
        monkeypatch.setenv(name, value)
    server = socket.create_server(("127.0.0.1", 0))
    found = SimpleNamespace(port=server.getsockname()[1], requests=0)

    def serve():
        with contextlib.suppress(OSError):
            while True:
                one, _ = server.accept()
                found.requests += 1
                one.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield found
    server.shutdown(socket.SHUT_RDWR)
    server.close()
    thread.join()


FOREIGN = [
    "s3://bucket/homes.parquet?endpoint_override=127.0.0.1:{port}&scheme=http",
    "s3://bucket/homes.parquet?endpoint_override=127.0.0.1:{port}",
    "s3://bucket/homes.parquet?scheme=http",
    "s3://bucket/homes.parquet?region=x.127.0.0.1:{port}/",
    "s3://key:secret@bucket/homes.parquet",
    "s3://bucket/homes.parquet?profile=work",
    "gs://bucket/homes.parquet?endpoint_override=127.0.0.1:{port}&scheme=http",
    "abfs://account@127.0.0.1:{port}/container/homes.parquet",
    "abfss://container@account.dfs.example.org/homes.parquet",
    "abfs://container@evil/homes.parquet",
    "hdfs://127.0.0.1:{port}/homes.parquet",
    "hdfs://evil/homes.parquet",
    "viewfs://evil:{port}/homes.parquet",
    "postgresql://127.0.0.1:{port}/db?table=homes",
    "postgresql://ann:secret@/db?table=homes",
    "postgresql:///db?table=homes&host=127.0.0.1&port={port}",
    "postgresql:///db?table=homes&hostaddr=127.0.0.1&port={port}",
    "postgresql:///db?table=homes&service=work",
    "postgresql:///db?table=homes&passfile=/home/ann/.pgpass",
    "postgres:///db?sslmode=disable&table=homes",
    "//server/share/homes.csv",
    "\\\\server\\share\\homes.csv",
]


@pytest.mark.parametrize("address", FOREIGN)
def test_a_recipe_that_would_send_a_secret_is_refused_with_its_line_and_nothing_is_asked(tmp_path, foreign, address):
    (tmp_path / "theirs.toml").write_text(RECIPE.format(address.format(port=foreign.port)))
    kind = "parquet" if "parquet" in address else "csv"
    ma.write(pa.table({"hid": [1, 2, 3], "age": [4, 5, 6]}), tmp_path / f"people.{kind}")
    for words in (["mask", "-o", tmp_path / "out"], ["compare"]):
        said = complaint(words[0], tmp_path / f"people.{kind}", "--recipe", tmp_path / "theirs.toml", *words[1:])
        assert "theirs.toml, line 8: in [join], " in said
        assert "secret" not in said.replace("might be a secret", "")
    for read in (ma.Recipe.read, read_candidates):
        with pytest.raises(InvalidParameter, match="line 8"):
            read(tmp_path / "theirs.toml")
    assert foreign.requests == 0


def test_a_candidate_is_refused_too_and_so_is_a_taxonomy_elsewhere(tmp_path):
    (tmp_path / "a.toml").write_text(
        'k = 3\n[[candidates]]\nname = "a"\nk = 3\n[candidates.join]\nhouseholds = "s3://b/a?scheme=http"\n'
    )
    with pytest.raises(InvalidParameter, match="line 6"):
        read_candidates(tmp_path / "a.toml")
    (tmp_path / "b.toml").write_text("k = 3\n[taxonomy]\njob = '//server/share/jobs.csv'\n")
    with pytest.raises(InvalidParameter, match=r"b\.toml, line 3: in \[taxonomy\], a path begins with two slashes"):
        ma.Recipe.read(tmp_path / "b.toml")


@pytest.mark.parametrize(
    "address",
    [
        "homes.csv",
        "/data/homes.csv",
        "s3://bucket/a folder/h%C3%B6mes.parquet?region=eu-west-1",
        "gs://bucket/homes.parquet",
        "abfss://container@account.dfs.core.windows.net/homes.parquet",
        "abfs://container/homes.parquet",
        "hdfs:///data/homes.parquet",
        "viewfs:///homes.parquet",
        "duckdb:///survey.db?table=homes",
        'postgresql:///db?table=survey."a.b"',
    ],
)
def test_an_address_that_says_only_where_the_data_is_is_read_and_written(tmp_path, address):
    (tmp_path / "recipe.toml").write_text(RECIPE.format(address))
    recipe = ma.Recipe.read(tmp_path / "recipe.toml")
    assert recipe.join.households == in_recipes(address) == address
    recipe.write(tmp_path / "again.toml")
    assert ma.Recipe.read(tmp_path / "again.toml").join.households == address
    assert unsaid(recipe) is None


@pytest.mark.parametrize(
    ("address", "kept"),
    [
        ("hdfs://node:8020/data/homes.parquet", "hdfs:///data/homes.parquet"),
        ("viewfs://cluster/homes.parquet", "viewfs:///homes.parquet"),
        ("abfs://container@evil/homes.parquet", "abfs://container/homes.parquet"),
    ],
)
def test_the_error_says_what_of_an_address_a_recipe_may_hold(address, kept):
    with pytest.raises(InvalidParameter, match=f"names a server.*Write '{kept}' in the recipe"):
        ma.Recipe.parse(RECIPE.format(address))
    assert in_recipes(kept) == kept


def test_what_the_command_line_says_of_a_server_is_not_written_into_the_recipe():
    whole = "postgresql://ann:secret@host:5433/db?table=homes&sslmode=require"
    recipe = ma.Recipe(3).replace(unit_release="pseudonym", unit="hid", quasi=["age"], households=whole)
    assert 'households = "postgresql:///db?table=homes"' in recipe.text()
    shown = "postgresql://host:5433/db?table=homes&sslmode=require"
    assert unsaid(recipe) == shown
    for text in (shell("people.csv", recipe), command("people.csv", "r.toml", "out", households=unsaid(recipe))):
        assert f"--households '{shown}'" in text
    for text in (program("people.csv", recipe), script("people.csv", "r.toml", "m.csv", joined=unsaid(recipe))):
        assert f"households={shown!r}" in text


def test_an_endpoint_of_the_command_line_is_used_and_the_run_can_be_repeated(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people = pa.table({"hid": [row // 2 for row in range(60)], "age": [row % 7 for row in range(60)]})
    homes = pa.table({"hid": list(range(30)), "rooms": [row % 5 for row in range(30)]})
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    with object_store() as store:
        address = f"s3://bucket/homes.parquet?endpoint_override={store.endpoint.removeprefix('http://')}&scheme=http"
        ma.write(homes, address)
        pq.write_table(people, "people.parquet")
        asked = ["--unit", "hid", "--unit-release", "pseudonym", "-k", 3, "--quasi", "age,rooms"]
        call("mask", "people.parquet", "--households", address, *asked, "-o", "out")
        assert "endpoint" not in (tmp_path / "out" / "internal" / "recipe.toml").read_text()
        call("mask", "people.parquet", "--households", address, "--recipe", "out/internal/recipe.toml", "-o", "more")
        monkeypatch.setenv("AWS_ENDPOINT_URL", store.endpoint)
        call("mask", "people.parquet", "--recipe", "out/internal/recipe.toml", "-o", "again")
    for other in ("more", "again"):
        for name in ("people_masked.parquet", "homes_masked.parquet"):
            first, second = ((tmp_path / one / "release" / name).read_bytes() for one in ("out", other))
            assert first == second
