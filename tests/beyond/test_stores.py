"""Files beyond memory whose source, target and scratch lie in an object store."""

import os
import pickle

import numpy as np
import pyarrow.parquet as pq
import pytest
from distributed import Client, LocalCluster

import microagg as ma
from microagg.errors import ClusterFailed, InvalidParameter, PromiseBroken, StoreFailed
from microagg.files.stores import place_at
from microagg.mask.engines.folder import Folder, InStore
from microagg.mask.engines.folder import held as _held
from tests.beyond.frames import CHOICES, mixed
from tests.io.object_store import BUCKET, ENVIRONMENT, KEY, SECRET, keys_in, object_store

SURVEY = ma.datasets.survey(1200, seed=1)
ROLES = {"identifiers": ["person"], "weight": "weight", "strata": ["region"]}


@pytest.fixture(scope="module")
def store():
    with object_store() as running, pytest.MonkeyPatch.context() as patch:
        for name, value in {**ENVIRONMENT, "AWS_ENDPOINT_URL": running.endpoint}.items():
            patch.setenv(name, value)
        with place_at("s3://bucket/survey.parquet").writing() as file:
            pq.write_table(SURVEY, file, row_group_size=130)
        yield running


@pytest.fixture(scope="module")
def cluster():
    """Two workers in threads of this process: they share its environment, and the store."""
    with LocalCluster(
        2, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0", silence_logs=50
    ) as running:
        yield running.scheduler_address


@pytest.fixture
def place(store, request):
    yield f"s3://{BUCKET}/{request.node.name}"
    store.counted.before = None


def left(store):
    return [key for key in keys_in(store.endpoint) if ".microagg-" in key]


def contents(folder):
    return {one.name: one.read_bytes() for one, _, _ in place_at(folder).inside()}


def on_cluster(cluster, target, scratch, source="s3://bucket/survey.parquet", **more):
    how = {"engine": "dask", "scheduler": cluster, "partitions": 3, **ROLES, **more}
    return ma.protect_file(source, target, 3, scratch=scratch, **how)


def test_one_machine_writes_the_same_bytes_to_a_store(store, place, tmp_path):
    here = ma.protect_file("s3://bucket/survey.parquet", tmp_path / "masked.parquet", 3, **ROLES)
    there = ma.protect_file("s3://bucket/survey.parquet", f"{place}/masked.parquet", 3, scratch=tmp_path, **ROLES)
    assert place_at(f"{place}/masked.parquet").read_bytes() == (tmp_path / "masked.parquet").read_bytes()
    assert str(there.path) == f"{place}/masked.parquet"
    assert (there.k_achieved, there.information, there.recipe) == (here.k_achieved, here.information, here.recipe)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["masked.parquet"]
    assert left(store) == []


@pytest.mark.campaign
def test_a_cluster_writes_the_same_bytes_by_a_store_as_by_a_folder(store, cluster, place, tmp_path):
    pq.write_table(SURVEY, tmp_path / "survey.parquet", row_group_size=130)
    here = on_cluster(cluster, tmp_path / "parts", tmp_path, tmp_path / "survey.parquet")
    there = on_cluster(cluster, f"{place}/parts", f"{place}/scratch")
    assert contents(f"{place}/parts") == {one.name: one.read_bytes() for one in (tmp_path / "parts").iterdir()}
    assert (there.k_achieved, there.information, there.recipe) == (here.k_achieved, here.information, here.recipe)
    assert left(store) == []
    assert not _held.arrays
    with pytest.raises(InvalidParameter, match="exists"):
        on_cluster(cluster, f"{place}/parts", f"{place}/scratch")
    on_cluster(cluster, f"{place}/parts", f"{place}/scratch", overwrite=True, partitions=2)
    assert len(contents(f"{place}/parts")) == 2
    assert pq.read_table(tmp_path / "parts") == ma.read(f"{place}/parts").table


@pytest.mark.campaign
def test_every_kind_of_column_passes_through_a_store(store, cluster, place, tmp_path):
    path = tmp_path / "mixed.parquet"
    pq.write_table(mixed(600, 5), path, row_group_size=70)
    how = {"engine": "dask", "scheduler": cluster, "partitions": 4, "identifiers": ["name"], "strata": ["region"]}
    ma.protect_file(path, tmp_path / "parts", 3, **how, **CHOICES)
    ma.protect_file(path, f"{place}/parts", 3, scratch=f"{place}/scratch", **how, **CHOICES)
    assert contents(f"{place}/parts") == {one.name: one.read_bytes() for one in (tmp_path / "parts").iterdir()}
    assert left(store) == []


def test_what_does_not_go_is_refused_before_any_work(store, cluster, place, tmp_path):
    before = store.counted.requests.get("PUT", 0)
    source, local = "s3://bucket/survey.parquet", tmp_path / "masked.parquet"
    for target, how, words in [
        (f"{place}/masked.parquet", {}, "Name a folder that only you can read: scratch"),
        (f"{place}/parts", {"engine": "dask"}, "Name a folder that only you can read: scratch"),
        (local, {"scratch": f"{place}/scratch"}, "on this machine"),
        (f"{place}/masked.csv", {"scratch": tmp_path}, "is not a .parquet file"),
        (f"s3://{BUCKET}", {"scratch": tmp_path, "engine": "dask"}, "Name one"),
        (source, {"scratch": tmp_path, "overwrite": True}, "is the source"),
        (f"s3://{BUCKET}/survey.parquet/x", {"scratch": tmp_path, "engine": "dask"}, "is the source"),
        (
            f"{place}/parts",
            {"scratch": f"{place}/parts/x", "engine": "dask"},
            "the folder for temporary files is in the target",
        ),
        (f"{place}/parts?secret_key=x", {"scratch": tmp_path}, "might be a secret"),
        (f"{place}/parts", {"scratch": "s3://a:b@bucket/x", "engine": "dask"}, "user or a password"),
    ]:
        with pytest.raises(InvalidParameter, match=words):
            ma.protect_file(source, target, 3, **how, **ROLES)
    with pytest.raises(StoreFailed, match="NO_SUCH_BUCKET"):
        ma.protect_file(source, "s3://nobucket/masked.parquet", 3, scratch=tmp_path, **ROLES)
    assert store.counted.requests.get("PUT", 0) == before + 1  # to the bucket that there is not
    place_at(f"{place}/notes/read.me").write_bytes(b"x")
    with pytest.raises(InvalidParameter, match=r"more than \.parquet"):
        on_cluster(cluster, f"{place}/notes", tmp_path, overwrite=True)


@pytest.mark.campaign
def test_what_breaks_the_promise_leaves_nothing(store, cluster, place, monkeypatch):
    monkeypatch.setattr("microagg.mask.engines.cluster.fewest_alike", lambda *_: 1)
    with pytest.raises(PromiseBroken):
        on_cluster(cluster, f"{place}/parts", f"{place}/scratch")
    assert contents(f"{place}/parts") == {}
    assert left(store) == []


@pytest.mark.campaign
def test_a_store_that_refuses_midway_leaves_nothing(store, cluster, place):
    refused = []

    def refuse(environ):
        if "/masked/" in environ["PATH_INFO"] and environ["REQUEST_METHOD"] == "PUT":
            refused.append(environ["PATH_INFO"])
            return "403 Forbidden"
        return None

    store.counted.before = refuse
    with pytest.raises(StoreFailed, match="ACCESS_DENIED"):
        on_cluster(cluster, f"{place}/parts", f"{place}/scratch")
    assert refused
    assert contents(f"{place}/parts") == {}
    assert left(store) == []


def test_a_worker_that_cannot_do_its_part_is_named(store, cluster, place, monkeypatch):
    for what, words in [("target", "cannot reach the folder of the target"), ("store", "cannot reach the store")]:
        monkeypatch.setattr("microagg.mask.engines.tasks.look", lambda _, what=what: (ma.__version__, [what]))
        with pytest.raises(ClusterFailed, match=words):
            on_cluster(cluster, f"{place}/parts", f"{place}/scratch")
    assert left(store) == []


@pytest.mark.campaign
def test_nothing_secret_passes_through_the_scheduler(cluster, place):
    """What is sent with a task is the place and the key of this run's signatures, and neither is shown."""
    folder = InStore(place_at(f"{place}/scratch"))
    sent = pickle.dumps(folder)
    assert KEY.encode() not in sent
    assert SECRET.encode() not in sent
    assert repr(folder.key) not in repr(folder)
    with Client(cluster, set_as_default=False) as client:
        on_cluster(cluster, f"{place}/parts", f"{place}/scratch")
        logs = repr(client.get_scheduler_logs()) + repr(client.get_worker_logs()) + repr(client.get_events())
    assert SECRET not in logs
    assert KEY not in logs


def test_objects_that_others_have_put_there_are_not_run(place):
    folder = InStore(place_at(f"{place}/scratch"))
    (folder.place / "~open").write_bytes(b"")
    folder.keep_object("work", [1, 2])
    folder.keep_object("found-1", [3])
    assert folder.object("work") == [1, 2]
    one, other = folder.file("work").read_bytes(), folder.file("found-1").read_bytes()
    for content in (pickle.dumps([4]), other, one[:-1] + b"!", b""):
        folder.file("work").write_bytes(content)
        with pytest.raises(ClusterFailed, match="somebody else has written"):
            folder.object("work")


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize("by_record", [False, True])
@pytest.mark.parametrize("matrix", [np.arange(21.0).reshape(3, 7), np.arange(7, dtype=np.int32), np.zeros((0, 0))])
def test_parts_of_an_array_are_read_as_from_a_disk(tmp_path, matrix, by_record):
    there = InStore(place_at(f"s3://{BUCKET}/arrays/{os.urandom(4).hex()}"))
    (there.place / "~open").write_bytes(b"")
    for folder in (Folder(tmp_path), there):
        folder.keep_matrix("a-1", matrix, by_record=by_record)
        np.testing.assert_array_equal(folder.matrix("a-1"), matrix)
        for part in (slice(0, 3), slice(2, 7), slice(4, 4)):
            np.testing.assert_array_equal(folder.part("a-1", part), matrix[..., part])
        for row in range(len(matrix) if matrix.ndim == 2 else 0):
            np.testing.assert_array_equal(folder.rows("a-1")(row), matrix[row])
        assert folder.matrix("a-1").dtype == matrix.dtype
        folder.forget("a-*")
    assert [one.name for one, _, _ in there.place.inside()] == ["~open"]
    assert list(tmp_path.iterdir()) == []


def test_what_is_kept_of_a_store_has_a_limit(monkeypatch):
    monkeypatch.setattr(_held, "most", 100)
    _held.clear()
    for number in range(5):
        _held.get(number, lambda number=number: np.full(5, float(number)))
    assert list(_held.arrays) == [3, 4]
    assert _held.get(3, lambda: pytest.fail("it is kept"))[0] == 3.0
    _held.clear()
