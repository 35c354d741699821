"""Files in an object store, from the command line: what is internal stays here, and nothing secret is shown."""

import json

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import microagg as ma
from microagg.cli import app
from microagg.cli._options import as_option
from microagg.errors import InvalidParameter
from microagg.files.stores import place_at
from tests.io.object_store import ENVIRONMENT, KEY, SECRET, object_store


@pytest.fixture(scope="module")
def store():
    with object_store() as running, pytest.MonkeyPatch.context() as patch:
        for name, value in {**ENVIRONMENT, "AWS_ENDPOINT_URL": running.endpoint}.items():
            patch.setenv(name, value)
        with place_at("s3://bucket/survey.parquet").writing() as file:
            pq.write_table(ma.datasets.survey(600, seed=1), file, row_group_size=200)
        yield running


@pytest.fixture
def mask(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "recipe.toml").write_text(ma.Recipe(3).replace(quasi=["age", "income"], rest="keep").text())

    def run(*words, source="s3://bucket/survey.parquet"):
        return CliRunner().invoke(app, ["mask", source, "--recipe", "recipe.toml", *map(str, words)])

    return run


def names(folder):
    return [one.name for one, _, _ in place_at(folder).inside(deep=True)]


@pytest.mark.parametrize("engine", [["--engine", "memory"], ["--engine", "disk", "--same-order"]], ids=str)
def test_masked_data_goes_to_the_store_and_all_else_stays_here(store, mask, tmp_path, engine):
    target = f"s3://bucket/{engine[1]}/masked.parquet"
    done = mask(*engine, "-o", "out", "--to", target, "--json")
    assert done.exit_code == 0, f"{done.stderr}{done.exception!r}"
    told = json.loads(done.stdout)
    assert told["masked"] == target
    assert f"--to {target}" in told["command"]
    assert names(f"s3://bucket/{engine[1]}") == ["masked.parquet"]
    internal = {path.name for path in (tmp_path / "out" / "internal").iterdir()}
    assert {"recipe.toml", "rows.parquet"} <= internal
    assert not list((tmp_path / "out" / "release").glob("*.parquet"))
    shown = (
        done.stdout
        + done.stderr
        + "".join(path.read_text(errors="replace") for path in (tmp_path / "out").rglob("*") if path.is_file())
    )
    assert SECRET not in shown
    assert KEY not in shown
    assert store.endpoint not in shown


def test_what_does_not_go_is_refused(store, mask):
    before = store.counted.requests.get("PUT", 0)
    for words, said in [
        (["-o", "s3://bucket/out"], "place in the store for the masked data only: --to"),
        (["--scratch", "here"], "--scratch works only with --engine disk"),
        (["--to", "s3://bucket/a.csv"], "not Parquet"),
        (["--to", "s3://bucket/parts", "--engine", "dask", "--same-order"], "only you can read: --scratch"),
        (["--to", "s3://bucket/survey.parquet", "--force"], "source"),
        (["--to", "s3://u:geheim@bucket/a.parquet"], "user or a password"),
    ]:
        error = mask(*words).exception
        assert isinstance(error, InvalidParameter), words
        assert said in error.worded(as_option)
        assert "geheim" not in str(error)
    assert store.counted.requests.get("PUT", 0) == before


def test_data_in_the_store_goes_again_where_the_output_cannot_be_put_in_place(store, mask, monkeypatch):
    def refuse(*_, **__):
        raise InvalidParameter("no")

    monkeypatch.setattr("microagg.jobs.outputs.put_in_place", refuse)
    done = mask("--engine", "disk", "--same-order", "--to", "s3://bucket/gone/masked.parquet")
    assert isinstance(done.exception, InvalidParameter)
    assert names("s3://bucket/gone") == []
    assert store.counted.requests
