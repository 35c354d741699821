"""What is written takes its place as a whole, whatever interrupts, and whatever comes to be there meanwhile."""

import os
import signal
import time

import pytest

import microagg as ma
from microagg import jobs as desk
from microagg.errors import InvalidData, InvalidParameter
from microagg.files.databases import read_table
from microagg.files.formats import duckdb as _duckdb
from microagg.jobs import writing
from tests.cli import files_in

duckdb = pytest.importorskip("duckdb")
ENDS = {signal.SIGINT: KeyboardInterrupt, signal.SIGTERM: SystemExit}


@pytest.fixture
def opened(tmp_path):
    ma.write(ma.datasets.survey(60, frame="pyarrow").select(["age", "tax"]), tmp_path / "in.parquet")
    return desk.open_file(str(tmp_path / "in.parquet"), ma.Recipe.of(3, quasi=["age", "tax"]))


def interrupt(number):
    """Send a signal, and give the main thread the time to hear of it."""
    os.kill(os.getpid(), number)
    time.sleep(0.2)


@pytest.mark.parametrize("number", ENDS, ids=lambda one: one.name)
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_signal_leaves_both_or_neither(opened, tmp_path, monkeypatch, number, when):
    add = _duckdb._add

    def interrupted(*arguments):
        if when == "before":
            interrupt(number)
        add(*arguments)
        if when == "after":
            interrupt(number)

    address = f"duckdb:///{tmp_path}/a.db?table=t"
    release = desk.judge(desk.mask(opened))
    with duckdb.connect(str(tmp_path / "a.db")) as connection:
        connection.execute("CREATE TABLE t AS SELECT 'former' AS a")
    monkeypatch.setattr(_duckdb, "_add", interrupted)
    with pytest.raises(ENDS[number]):
        writing.write(release, opened, tmp_path / "out", to=address, overwrite=True)
    written = ["age", "tax"] if when == "after" else ["a"]
    assert read_table(address)[0].column_names == written
    left = {"a.db", "in.parquet"} | ({"out"} if when == "after" else set())
    assert {path.name for path in tmp_path.iterdir()} == left
    if when == "after":
        internal = ["internal/recipe.toml", "internal/report.html", "internal/rows.parquet"]
        assert files_in(tmp_path / "out") == [*internal, "release/recipe.toml"]


def test_what_somebody_puts_into_a_former_output_meanwhile_is_not_deleted(opened, tmp_path):
    def put(*_):
        (tmp_path / "out" / "thesis.txt").write_text("all of it")

    release = desk.judge(desk.mask(opened))
    writing.write(release, opened, tmp_path / "out")
    former = (tmp_path / "out" / "internal" / "recipe.toml").stat().st_mtime_ns
    with pytest.raises(InvalidParameter, match="contains files that are not from an earlier output"):
        writing.write(release, opened, tmp_path / "out", overwrite=True, progress=put)
    assert (tmp_path / "out" / "thesis.txt").read_text() == "all of it"
    assert (tmp_path / "out" / "internal" / "recipe.toml").stat().st_mtime_ns == former
    assert {path.name for path in tmp_path.iterdir()} == {"in.parquet", "out"}


def test_what_stops_the_work_between_both_is_said(opened, tmp_path):
    def stop(done, total):
        if done == total - 1:
            raise KeyboardInterrupt

    address = f"duckdb:///{tmp_path}/a.db?table=t"
    release = desk.judge(desk.mask(opened))
    with pytest.raises(
        InvalidData, match=r"The work was stopped\. The masked data is already in 'duckdb:.*, but the output"
    ):
        writing.write(release, opened, tmp_path / "out", to=address, progress=stop)
    assert not (tmp_path / "out").exists()
