"""Workers that share nothing but a scheduler and a store, one of which may die: the same bytes as one process."""

import os
import signal
import subprocess
import sys
import time

import pyarrow.parquet as pq
import pytest
from distributed import LocalCluster

import microagg as ma
from microagg.files.stores import place_at
from tests.beyond.machines import ROOT, machines

SURVEY = ma.datasets.survey(9000, seed=1)
HOW = {
    "k": 3,
    "identifiers": ["person"],
    "weight": "weight",
    "strata": ["region"],
    "max_block": 400,
    "engine": "dask",
    "partitions": 6,
}
pytestmark = pytest.mark.campaign


@pytest.fixture(scope="module")
def there(tmp_path_factory):
    with machines(tmp_path_factory.mktemp("machines")) as running, pytest.MonkeyPatch.context() as patch:
        for name, value in running.environment.items():
            patch.setenv(name, value)
        pq.write_table(SURVEY, running.client / "survey.parquet", row_group_size=300)
        place_at(f"{running.bucket}/survey.parquet").write_bytes((running.client / "survey.parquet").read_bytes())
        running.wait()
        yield running


@pytest.fixture(scope="module")
def expected(there):
    """What one process writes on one machine."""
    with LocalCluster(
        1, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0", silence_logs=50
    ) as alone:
        source, target = there.client / "survey.parquet", there.client / "alone"
        ma.protect_file(source, target, scheduler=alone.scheduler_address, **HOW)
    return {one.name: one.read_bytes() for one in target.iterdir()}


def written(address):
    return {one.name: one.read_bytes() for one, _, _ in place_at(address).inside()}


def left(there):
    return [one.key for one, _, _ in place_at(there.bucket).inside(deep=True) if ".microagg-" in one.key]


def mask(there, name, **more):
    return ma.protect_file(
        f"{there.bucket}/survey.parquet",
        f"{there.bucket}/{name}",
        scratch=f"{there.bucket}/scratch",
        scheduler=there.scheduler,
        **HOW,
        **more,
    )


def test_workers_on_machines_of_their_own_give_the_same_bytes(there, expected):
    release = mask(there, "whole")
    assert written(f"{there.bucket}/whole") == expected
    assert release.k_achieved >= 3
    assert left(there) == []
    homes = sorted(there.client.parent.glob("machine-*"))
    names = [path.name for home in homes for path in home.rglob("*") if path.suffix in (".npy", ".npz", ".parquet")]
    assert (len(homes), names) == (3, [])


def test_a_folder_of_the_client_is_not_seen(there):
    if not there.networks:
        pytest.skip("left out: this user may not hide folders from workers")
    with pytest.raises(ma.errors.ClusterFailed, match="cannot reach the folder for temporary files"):
        ma.protect_file(f"{there.bucket}/survey.parquet", there.client / "masked", scheduler=there.scheduler, **HOW)
    with pytest.raises(ma.errors.ClusterFailed, match="cannot reach the folder of the target"):
        ma.protect_file(
            f"{there.bucket}/survey.parquet",
            there.client / "masked",
            scratch=f"{there.bucket}/scratch",
            scheduler=there.scheduler,
            **HOW,
        )
    assert left(there) == []


PROGRAM = """
import sys
import microagg as ma
from tests.beyond.test_machines import HOW
bucket, scheduler = sys.argv[1:]
def tell(done, total):
    if done > total // 3:
        print("masking", flush=True)
ma.protect_file(f"{bucket}/survey.parquet", f"{bucket}/broken", scratch=f"{bucket}/scratch", scheduler=scheduler,
                progress=tell, **HOW)
"""


@pytest.mark.parametrize("sent", ["SIGINT", "SIGTERM", "SIGKILL"])
def test_a_client_that_is_ended_leaves_no_release_and_the_next_run_no_scratch(there, expected, sent):
    words = [sys.executable, "-c", PROGRAM, there.bucket, there.scheduler]
    with subprocess.Popen(words, cwd=ROOT, stdout=-1, stderr=-3, text=True) as client:
        assert client.stdout.readline() == "masking\n"
        client.send_signal(getattr(signal, sent))
        client.stdout.read()
    assert client.returncode != 0
    assert written(f"{there.bucket}/broken") == {}
    end = time.monotonic() + 20  # a task that was under way takes back what it leaves
    while sent != "SIGKILL" and left(there) and time.monotonic() < end:
        time.sleep(0.5)
    assert bool(left(there)) == (sent == "SIGKILL")
    if sent == "SIGKILL":
        mask(there, "next")
        assert written(f"{there.bucket}/next") == expected
        assert left(there) == []


def test_a_worker_that_is_killed_changes_nothing(there, expected):
    killed = []

    def kill(done, total):
        if done > total // 3 and not killed:
            os.kill(there.workers[0].pid, signal.SIGKILL)
            killed.append(done)

    mask(there, "killed", progress=kill)
    assert killed
    assert there.workers[0].wait(10) == -signal.SIGKILL
    assert written(f"{there.bucket}/killed") == expected
    assert left(there) == []
