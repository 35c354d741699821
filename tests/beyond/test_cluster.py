"""The same result from a cluster as from one machine, whatever befalls it."""

import os
import signal
import stat
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from distributed import Client, LocalCluster
from numpy.testing import assert_array_equal

import microagg as ma
from microagg.errors import ClusterFailed, InvalidData, InvalidParameter, PromiseBroken, TooFewRecords
from microagg.jobs.process import insisting
from microagg.mask.engines.client import connected
from tests.beyond import frames as mixed_frames
from tests.beyond.frames import CHOICES, WAYS, assert_same, mixed
from tests.io.faults import spoil_parquet, spoilt
from tests.lengths import first_few
from tests.reference import weights as by_the_book

SURVEY = ma.datasets.survey(4000, seed=1)
ROLES = {"identifiers": ["person"], "weight": "weight", "strata": ["region"]}


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "survey.parquet"
    pq.write_table(SURVEY, path, row_group_size=130)
    return path


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def compare(source, tmp_path, cluster, k, **options):
    """Mask here and on the cluster; the files and all that is known of them must be equal."""
    partitions = options.pop("partitions", None)
    here = ma.protect_file(source, tmp_path / "here.parquet", k, overwrite=True, **options)
    there = ma.protect_file(
        source,
        tmp_path / "there.parquet",
        k,
        overwrite=True,
        engine="dask",
        scheduler=cluster,
        partitions=partitions,
        **options,
    )
    one, many = pq.read_table(tmp_path / "here.parquet"), pq.read_table(tmp_path / "there.parquet")
    assert many.to_pydict() == one.to_pydict()
    assert many.schema == one.schema
    assert (there.missing, there.rounded) == (here.missing, here.rounded)
    assert there.information == here.information
    assert there.recipe == here.recipe
    assert (there.n_records, there.n_groups, there.k_achieved) == (here.n_records, here.n_groups, here.k_achieved)
    assert there.path.is_dir()
    return there


def test_a_private_folder_of_parts_stays_private(source, tmp_path, cluster):
    target = tmp_path / "masked"
    target.mkdir(mode=0o700)
    for partitions in (2, 3):
        there = {"engine": "dask", "scheduler": cluster, "partitions": partitions, "overwrite": True}
        ma.protect_file(source, target, 3, **there, **ROLES)
        assert len(names_in(target)) == partitions
        assert stat.S_IMODE(target.stat().st_mode) == 0o700
        assert {stat.S_IMODE(part.stat().st_mode) for part in target.iterdir()} == {0o600}


@pytest.mark.parametrize("partitions", first_few(1, [3, 1000, 1, 31]))
def test_parts_do_not_show_in_the_result(source, tmp_path, cluster, partitions):
    found = compare(source, tmp_path, cluster, 4, max_block=100, partitions=partitions, **ROLES)
    parts = sorted(found.path.iterdir())
    assert len(parts) == min(partitions, 31)
    layout = [pq.ParquetFile(part).metadata.row_group(0).num_rows for part in parts]
    assert layout == [130] * len(parts[:-1]) + [130 if partitions < 31 else 100]
    assert {"here.parquet", "survey.parquet", "there.parquet"} == set(names_in(tmp_path))


@pytest.mark.campaign
@pytest.mark.parametrize(
    "options",
    [
        {**ROLES, "rounding": "auto", "aggregate": "median"},
        {**ROLES, "refine": "fast", "seed": 3},
        {"identifiers": ["person"], "keep": ["weight", "region"]},
        {**ROLES, "method": "iamat", "sizes": "variable"},
    ],
)
def test_roles_and_methods(source, tmp_path, cluster, options):
    compare(source, tmp_path, cluster, 3, max_block=150, partitions=7, **options)


@pytest.mark.parametrize(
    ("missing", "nominal", "partitions"),
    first_few(1, [("state", "balanced", 4), ("pattern", "draw", 1), ("pattern", "mode", 4), ("state", "balanced", 7)]),
)
def test_every_kind_of_column_comes_out_as_in_memory(tmp_path, cluster, missing, nominal, partitions):
    table = mixed(1500, 3)
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=170)
    options = {
        "missing": missing,
        "nominal": nominal,
        "nominal_seed": 5,
        "max_block": 60,
        **CHOICES,
        **mixed_frames.ROLES,
    }
    found = compare(tmp_path / "in.parquet", tmp_path, cluster, 4, partitions=partitions, **options)
    expected = ma.protect(table, 4, blocks="median", **options)
    assert_same(found, expected, pq.read_table(found.path))


@pytest.mark.parametrize("way", first_few(1, reversed(WAYS)))
def test_weights_come_out_as_in_memory(tmp_path, cluster, way):
    table = mixed_frames.weighted(mixed(1500, 3), 3)
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=170)
    options = {"max_block": 60, **CHOICES, **mixed_frames.ROLES, **WAYS[way]}
    found = compare(tmp_path / "in.parquet", tmp_path, cluster, 4, partitions=5, **options)
    expected = ma.protect(table, 4, blocks="median", **options)
    assert_same(found, expected, pq.read_table(found.path))
    assert found.weights == expected.weights


@pytest.mark.parametrize("unit", [None, "unit"])
def test_records_that_weigh_nothing_are_grouped_as_in_memory(tmp_path, cluster, unit):
    table = mixed_frames.weighted(mixed(1200, 5), 5).select(["age", "income", "sex", "w"])
    table = table.append_column("unit", pa.array(np.arange(1200) * 7 % 500))
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=170)
    options = {"weight": "w", "weight_cap": True, "max_block": 90, "quasi": ["age", "income", "sex"], "rest": "drop"}
    found = compare(tmp_path / "in.parquet", tmp_path, cluster, 5, partitions=4, unit=unit, **options)
    expected = ma.protect(table, 5, blocks="median", unit=unit, **options)
    assert_same(found, expected, pq.read_table(found.path))
    units = None if unit is None else table["unit"].to_pylist()
    assert by_the_book.light_groups(expected.groups.tolist(), table["w"].to_pylist(), 5, units) == 0


@pytest.mark.campaign
def test_ties_zeros_of_both_signs_and_constant_columns(tmp_path, cluster):
    rng = np.random.default_rng(3)
    n = 3000
    table = pa.table(
        {
            "few": rng.integers(-1, 2, n) * np.where(rng.random(n) < 0.5, 1.0, -1.0),
            "heavy": np.where(rng.random(n) < 0.9, -0.0, rng.exponential(size=n)),
            "same": np.full(n, 7.0),
            "kind": pa.array(rng.choice(["a", "b"], n, p=[0.95, 0.05])).dictionary_encode(),
        }
    )
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=250)
    found = compare(tmp_path / "in.parquet", tmp_path, cluster, 3, strata=["kind"], max_block=40, partitions=5)
    inside = ma.protect(table, 3, strata=["kind"], blocks="median", max_block=40)
    assert found.k_achieved == inside.k_achieved == ma.anonymity(pq.read_table(found.path)).k


@pytest.mark.campaign
@pytest.mark.parametrize("strata", [[], ["region"]])
def test_empty_row_groups_and_files(tmp_path, cluster, strata):
    folder = tmp_path / "in"
    folder.mkdir()
    sizes = [0, 1000, 0, 0, 2500, 500, 0]
    start = 0
    for number, size in enumerate(sizes):
        pq.write_table(SURVEY.slice(start, size), folder / f"{number}.parquet")
        start += size
    roles = {"identifiers": ["person"], "keep": ["weight"] + (["region"] if not strata else []), "strata": strata}
    for partitions in (1, 5):
        compare(folder, tmp_path, cluster, 3, max_block=300, partitions=partitions, **roles)


def test_a_folder_that_comes_to_be_there_meanwhile_is_left_alone(source, tmp_path, cluster):
    target = tmp_path / "masked"

    def meddle(done, total):
        if done > total / 2 and not target.exists():
            target.mkdir()
            (target / "thesis.docx").write_text("!")

    there = {"engine": "dask", "scheduler": cluster, "progress": meddle}
    with pytest.raises(InvalidParameter, match="more than"):
        ma.protect_file(source, target, 3, max_block=500, **there, **ROLES)
    assert names_in(target) == ["thesis.docx"]
    assert names_in(tmp_path) == ["masked", "survey.parquet"]


def test_the_original_is_never_replaced(tmp_path, cluster):
    folder = tmp_path / "data"
    folder.mkdir()
    pq.write_table(SURVEY, folder / "survey.parquet")
    with pytest.raises(InvalidParameter, match="contains the source"):
        ma.protect_file(folder / "survey.parquet", folder, 3, engine="dask", scheduler=cluster, overwrite=True, **ROLES)
    assert names_in(folder) == ["survey.parquet"]


@pytest.mark.campaign
def test_relative_paths(source, tmp_path, cluster, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = ma.protect_file(source.name, "masked", 3, max_block=500, engine="dask", scheduler=cluster, **ROLES)
    assert pq.read_table(found.path).num_rows == 4000


@pytest.mark.campaign
@pytest.mark.parametrize("workers", [1, 4])
def test_a_cluster_of_its_own(source, tmp_path, workers, caplog):
    told = []
    alone = ma.protect_file(source, tmp_path / "alone.parquet", 3, max_block=300, **ROLES)
    found = ma.protect_file(
        source,
        tmp_path / "masked",
        3,
        max_block=300,
        engine="dask",
        n_jobs=workers,
        progress=lambda *a: told.append(a),
        **ROLES,
    )
    assert pq.read_table(found.path).equals(pq.read_table(alone.path))
    assert told[-1] == (12_000, 12_000)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert "http://127.0.0.1:" in caplog.text


@pytest.mark.campaign
def test_a_dead_worker_costs_time_only(tmp_path, cluster):
    columns = np.random.default_rng(0).random((5, 30_000))
    table = pa.table({f"v{j}": column for j, column in enumerate(columns)})
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=1000)
    killed = []
    with Client(cluster, set_as_default=False) as client:

        def strike(done, total):
            if done > total * 4 / 9 and not killed:  # a third of the blocks are masked
                workers = client.run(os.getpid)
                killed.append(min(workers.values()))
                os.kill(killed[0], signal.SIGKILL)

        there = ma.protect_file(
            tmp_path / "in.parquet",
            tmp_path / "there",
            3,
            max_block=1000,
            engine="dask",
            scheduler=cluster,
            progress=strike,
        )
        assert killed
    here = ma.protect_file(tmp_path / "in.parquet", tmp_path / "here.parquet", 3, max_block=1000)
    assert pq.read_table(there.path).equals(pq.read_table(here.path))
    assert there.information == here.information
    groups = ma.protect(table, 3, blocks="median", max_block=1000).groups
    masked = np.array([pq.read_table(there.path)[name].to_numpy() for name in table.column_names])
    assert_array_equal(np.unique(masked, axis=1).shape[1], groups.max() + 1)
    for column in masked:  # one value a group
        assert_array_equal(column, column[np.unique(groups, return_index=True)[1]][groups])


SCRIPT = """
import microagg as ma, os, stat, sys, time
from pathlib import Path

def look(done, total):
    if done > total / 3:
        for folder in Path(sys.argv[2]).parent.glob(".microagg-*"):
            print(stat.S_IMODE(folder.stat().st_mode), flush=True)
        print("masking", flush=True)
        time.sleep(60)

if __name__ == "__main__":
    ma.protect_file(sys.argv[1], sys.argv[2], 3, keep=["region", "person", "weight"], max_block=300, engine="dask",
                    n_jobs=1, progress=look)
"""


@pytest.mark.campaign
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_client_that_is_stopped_leaves_nothing_that_looks_whole(source, tmp_path, number, cluster):
    (tmp_path / "script.py").write_text(SCRIPT)
    place = tmp_path / "place"
    place.mkdir()
    command = [sys.executable, str(tmp_path / "script.py"), str(source), str(place / "masked")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    lines = []
    while not lines or lines[-1] != "masking":
        lines.append(process.stdout.readline().strip())
        assert lines[-1] or process.poll() is None, process.stderr.read()
    assert lines[:2] == [str(0o700)] * 2
    process.send_signal(number)
    process.wait(timeout=30)
    process.stdout.close()
    process.stderr.close()
    assert process.returncode != 0
    left = names_in(place)
    assert "masked" not in left
    if number != signal.SIGKILL:
        assert left == []
    else:  # nothing could be done; the next run there does it
        assert len(left) == 2
        wait_until(lambda: not any((place / name / "workers").exists() and busy(place / name) for name in left))
        options = {"keep": ["region", "person", "weight"], "max_block": 300, "engine": "dask", "scheduler": cluster}
        ma.protect_file(source, place / "masked", 3, **options)
        assert names_in(place) == ["masked"]
        assert stat.S_IMODE((place / "masked").stat().st_mode) & 0o077 or os.umask(os.umask(0o022)) == 0o077


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_repeated_ctrl_c_ends_a_cluster_whose_workers_are_busy(tmp_path):
    def work():
        nonlocal cluster, workers, task
        with insisting(), connected(None, 1, tmp_path) as client:
            cluster, workers = client.cluster, client.run(os.getpid).values()
            task = client.submit(time.sleep, 600)
            wait_until(lambda: any(client.processing().values()))
            signal.raise_signal(signal.SIGINT)

    cluster, workers, task = None, (), None
    with pytest.raises(KeyboardInterrupt):
        work()
    assert workers
    assert cluster.status.name == "closed"  # else Dask waits for it when the process ends
    assert task.status != "finished"
    wait_until(lambda: not any(map(is_alive, workers)))


STARTING = """
import multiprocessing.process, os, signal, sys, threading, time
from pathlib import Path
from microagg.mask.engines.client import connected
from microagg.files.scratch import private_folder

def press():
    while not multiprocessing.process._children:
        time.sleep(0.01)
    time.sleep(0.3)
    os.killpg(os.getpgrp(), getattr(signal, sys.argv[2]))

if __name__ == "__main__":
    threading.Thread(target=press, daemon=True).start()
    try:
        with private_folder(Path(sys.argv[1])) as folder, connected(None, 1, folder):
            print("started")
    except KeyboardInterrupt:
        sys.exit(130)
"""


@pytest.mark.campaign
def test_ctrl_c_while_workers_start_leaves_no_folder_and_no_traceback(tmp_path):
    (tmp_path / "script.py").write_text(STARTING)
    place = tmp_path / "place"
    place.mkdir()
    command = [sys.executable, str(tmp_path / "script.py"), str(place), "SIGINT"]
    process = subprocess.run(command, capture_output=True, text=True, start_new_session=True, timeout=120, check=False)
    assert (process.returncode, process.stdout, process.stderr) == (130, "", "")
    assert names_in(place) == []


def busy(folder):
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    time.sleep(0.5)
    return before != {path: path.stat().st_mtime_ns for path in folder.rglob("*")}


def wait_until(holds):
    for _ in range(60):
        if holds():
            return
        time.sleep(0.5)
    raise AssertionError("workers outlive their client")


def test_bad_input_is_named_and_nothing_is_left(source, tmp_path, cluster):
    missing = SURVEY.set_column(4, SURVEY.column_names[4], pa.array([None] + [1.0] * 3999))
    pq.write_table(missing, tmp_path / "missing.parquet", row_group_size=130)
    there = {"engine": "dask", "scheduler": cluster}
    target = tmp_path / "masked"
    (tmp_path / "busy").mkdir()
    (tmp_path / "busy" / "thesis.docx").write_text("!")
    cases = [
        (InvalidParameter, "engine", lambda: ma.protect_file(source, target, 3, engine="spark", **ROLES)),
        (InvalidParameter, "work only with engine", lambda: ma.protect_file(source, target, 3, partitions=3, **ROLES)),
        (InvalidParameter, "partitions=0", lambda: ma.protect_file(source, target, 3, partitions=0, **there, **ROLES)),
        (
            InvalidData,
            "missing",
            lambda: ma.protect_file(tmp_path / "missing.parquet", target, 3, missing="error", **there, **ROLES),
        ),
        (TooFewRecords, "strata", lambda: ma.protect_file(source, target, 900, max_block=4000, **there, **ROLES)),
        (
            InvalidParameter,
            "more than .parquet",
            lambda: ma.protect_file(source, tmp_path / "busy", 3, overwrite=True, **there, **ROLES),
        ),
        (InvalidParameter, "folder of", lambda: ma.protect_file(source, tmp_path / "a.sav", 3, **there, **ROLES)),
    ]
    for kind, words, call in cases:
        with pytest.raises(kind, match=words):
            call()
    assert names_in(tmp_path) == ["busy", "missing.parquet", "survey.parquet"]


@pytest.mark.campaign
def test_no_scheduler_at_the_address(source, tmp_path):
    with pytest.raises(ClusterFailed, match="no scheduler answers"):
        ma.protect_file(source, tmp_path / "masked", 3, engine="dask", scheduler="tcp://127.0.0.1:9", **ROLES)
    assert names_in(tmp_path) == ["survey.parquet"]


def test_tasks_are_told_a_folder_and_numbers_only(source, tmp_path, monkeypatch, cluster):
    told = []
    submit = Client.submit

    def spy(self, function, *arguments, **more):
        told.append(arguments)
        return submit(self, function, *arguments, **more)

    monkeypatch.setattr(Client, "submit", spy)
    compare(source, tmp_path, cluster, 3, max_block=400, **ROLES)
    assert len(told) > 50
    plain = ("squares", "scores", "score squares")
    for folder, number, *more in told:
        assert folder.room.name.startswith(".microagg-")
        assert isinstance(number, int)
        assert all(isinstance(value, int) or value in plain for value in more)


def test_k_is_counted_on_values_and_not_by_groups(tmp_path, cluster):
    rng = np.random.default_rng(5)
    table = pa.table({"a": rng.integers(0, 3, 3000), "b": rng.integers(0, 2, 3000), "s": rng.choice(["x", "y"], 3000)})
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=250)
    options = {"strata": ["s"], "rounding": "auto", "max_block": 200}
    found = compare(tmp_path / "in.parquet", tmp_path, cluster, 3, partitions=5, **options)
    inside = ma.protect(table, 3, blocks="median", **options)
    assert found.k_achieved == inside.k_achieved > inside.smallest_group


@pytest.mark.parametrize(
    ("fault", "message"), [(spoilt, "shared by 1 record"), (lambda table, _: table.slice(1), "fewer records")]
)
def test_what_a_worker_spoils_is_noticed_and_nothing_is_left(source, tmp_path, monkeypatch, fault, message):
    spoil_parquet(monkeypatch, "income", fault)
    with (
        LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address="127.0.0.1:0") as here,
        pytest.raises(PromiseBroken, match=message),
    ):
        ma.protect_file(
            source, tmp_path / "out", 3, max_block=500, engine="dask", scheduler=here.scheduler_address, **ROLES
        )
    assert names_in(tmp_path) == ["survey.parquet"]
