"""Places in an object store: addresses without secrets, files that appear whole, and what a killed run has left."""

import json
import os
import pickle
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import microagg as ma
from microagg.errors import InvalidData, InvalidParameter, PromiseBroken, StoreFailed
from microagg.files import publishing
from microagg.files.addresses import kind_at
from microagg.files.databases import without_credentials
from microagg.files.publishing import private_place, publish, still_open, whole_object
from microagg.files.stores import Place, is_store, place_at, shown_address, where
from tests.io.object_store import ENVIRONMENT, SECRET, keys_in, object_store

TABLE = pa.table({"wage": [1.5, 1.5, 2.0, 2.0], "code": ["a", "b", "c", "d"]})


@pytest.fixture(scope="module")
def store():
    with object_store() as running, pytest.MonkeyPatch.context() as patch:
        for name, value in {**ENVIRONMENT, "AWS_ENDPOINT_URL": running.endpoint}.items():
            patch.setenv(name, value)
        yield running


@pytest.fixture
def folder(store, request):
    """A folder of the store for one test."""
    yield place_at("s3://bucket") / request.node.name.replace("[", "-").strip("]")
    store.counted.before = None


def names(folder):
    return [one.key.removeprefix(f"{folder.key}/") for one, _, _ in folder.inside(deep=True)]


def put(place, table=TABLE):
    with place.writing() as file:
        pq.write_table(table, file)


def no_check(_):
    pass


@pytest.mark.parametrize(
    ("address", "root", "key", "said"),
    [
        ("s3://bucket/a/b.parquet", "s3://bucket", "a/b.parquet", ""),
        ("S3://bucket/a/", "s3://bucket", "a", ""),
        ("s3://bucket", "s3://bucket", "", ""),
        ("s3://b/a%20b%23?region=eu-west-1", "s3://b", "a b#", "region=eu-west-1"),
        ("s3://b/a?endpoint_override=h:9&scheme=http", "s3://b", "a", "endpoint_override=h:9&scheme=http"),
        ("abfs://cont@acc.dfs.core.windows.net/a", "abfs://cont@acc.dfs.core.windows.net", "a", ""),
        ("hdfs://host:8020/a/b", "hdfs://host:8020", "a/b", ""),
    ],
)
def test_an_address_is_taken_apart_and_put_together(address, root, key, said):
    place = place_at(address)
    assert place == Place(root, key, said)
    assert place_at(str(place)) == place
    assert pickle.loads(pickle.dumps(place)) == place


@pytest.mark.parametrize(
    "address",
    [
        "s3://key:geheim@bucket/a",
        "s3://geheim@bucket/a",
        "abfs://cont:geheim@acc.dfs.core.windows.net/a",
        "s3://bucket/a?secret_key=geheim",
        "s3://bucket/a?access_key=x&secret_key=geheim",
        "s3://bucket/a?X-Amz-Signature=geheim",
        "s3://bucket/a?endpoint_override=u:geheim@host",
        "s3://bucket/a?geheim",
        "s3://bucket/a#geheim",
        "s3://bucket/a/../geheim",
        "s3://bucket/a//geheim",
        "s3://bucket/a%0Ageheim",
        "s3:geheim",
        "s3:///geheim",
        "s3://[geheim/a",
    ],
)
def test_an_address_that_may_hold_a_secret_or_is_malformed_is_refused_and_not_shown(address):
    assert is_store(address)
    with pytest.raises(InvalidParameter) as refused:
        where(address)
    assert "geheim" not in str(refused.value)
    assert "geheim" not in shown_address(address)
    assert "geheim" not in without_credentials(address)
    with pytest.raises(InvalidParameter) as refused:
        ma.read(address)
    assert "geheim" not in str(refused.value)


def test_a_file_address_is_a_path(tmp_path):
    pq.write_table(TABLE, tmp_path / "a b.parquet")
    assert ma.read((tmp_path / "a b.parquet").as_uri()).table == TABLE
    with pytest.raises(InvalidParameter, match="ftp://"):
        ma.read("ftp://host/geheim.parquet")


def test_parquet_is_read_and_written_in_memory(folder):
    put(folder / "in" / "b.parquet", TABLE.slice(2))
    put(folder / "in" / "a.parquet", TABLE.slice(0, 2))
    source = ma.read(str(folder / "in"))
    assert source.table == TABLE
    assert (source.name, source.kind, source.details["files"]) == ("in", "parquet", "2")
    release = ma.protect(source, k=2, quasi=["wage"], keep=["code"])
    ma.write(release, str(folder / "out.parquet"))
    assert ma.read(str(folder / "out.parquet")).table.column("wage").to_pylist() == [1.5, 1.5, 2.0, 2.0]
    assert names(folder) == ["in/a.parquet", "in/b.parquet", "out.parquet"]
    with pytest.raises(InvalidParameter, match="exists"):
        ma.write(release, str(folder / "out.parquet"))
    ma.write(release, str(folder / "out.parquet"), overwrite=True)
    for target in (folder / "in" / "a.parquet", folder / "in" / "c.parquet"):
        with pytest.raises(InvalidParameter, match="source"):
            ma.write(release, str(target), overwrite=True)


def test_what_is_not_parquet_is_refused_before_any_request(store, folder):
    before = store.counted.counted()
    for address in (f"{folder}/survey.csv", f"{folder}/survey.sav"):
        with pytest.raises(InvalidParameter, match="not Parquet"):
            kind_at(address)
        with pytest.raises(InvalidParameter, match="not Parquet"):
            ma.protect_file(address, "masked.csv", 3)
    assert store.counted.counted() == before


def test_faults_of_a_store_are_told_without_its_words(store, folder):
    with pytest.raises(InvalidData, match=r"no file 'nothing\.parquet'"):
        ma.read(str(folder / "nothing.parquet"))
    with pytest.raises(StoreFailed, match="NO_SUCH_BUCKET") as failed:
        place_at("s3://nobucket/a").write_bytes(b"x")
    assert "Request ID" not in str(failed.value)
    store.counted.before = lambda _: "403 Forbidden"
    with pytest.raises(StoreFailed, match="ACCESS_DENIED") as failed:
        ma.read(str(folder / "a.parquet"))
    assert SECRET not in str(failed.value)


@pytest.mark.campaign  # a store that does not answer is asked for six seconds
@pytest.mark.usefixtures("store")
def test_a_store_that_does_not_answer_is_told():
    with pytest.raises(StoreFailed, match="does not answer"):
        place_at("s3://bucket/a?endpoint_override=127.0.0.1:1&scheme=http").exists()


def test_a_file_appears_when_it_is_whole(folder):
    with pytest.raises(ZeroDivisionError):
        _break_off(folder / "a")
    assert names(folder) == []
    seen = []
    with whole_object(folder / "a", check=lambda fresh: seen.append((fresh.read_bytes(), names(folder)))) as file:
        file.write(b"whole")
    assert seen[0][0] == b"whole"
    assert "a" not in seen[0][1]
    assert (names(folder), (folder / "a").read_bytes()) == (["a"], b"whole")


def _break_off(place):
    with whole_object(place) as file:
        file.write(b"x" * 20_000_000)  # more than one part of an upload
        raise ZeroDivisionError


def test_what_breaks_the_promise_is_not_left(folder, monkeypatch):
    release = ma.protect(TABLE, k=2, quasi=["wage"], keep=["code"])
    monkeypatch.setattr("microagg.files.sources.check_written", _broken)
    with pytest.raises(PromiseBroken):
        ma.write(release, str(folder / "out.parquet"))
    assert names(folder) == []


def _broken(*_, **__):
    raise PromiseBroken("broken")


def test_a_private_folder_goes_and_what_comes_too_late_is_taken_back(folder):
    with private_place(folder) as private:
        (private / "a").write_bytes(b"1")
        still_open(private, private / "a")
        assert len(names(folder)) == 3
    assert names(folder) == []
    (private / "late").write_bytes(b"1")
    with pytest.raises(StoreFailed, match="has ended"):
        still_open(private, private / "late")
    assert names(folder) == []


def _publish(folder, parts, *, overwrite=False):
    with private_place(folder) as private:
        for name, content in parts.items():
            (private / "whole" / name).write_bytes(content)
        publish(private / "whole", folder / "out", overwrite=overwrite, check=no_check)


def _content(place):
    return {one.name: one.read_bytes() for one, _, _ in place.inside()}


FORMER = {"part-0.parquet": b"old 0", "part-1.parquet": b"old 1", "part-2.parquet": b"old 2"}
FRESH = {"part-0.parquet": b"new 0", "part-1.parquet": b"new 1", "part-3.parquet": b"new 3"}


def test_a_folder_is_published_and_replaced_as_a_whole(folder):
    _publish(folder, FORMER)
    assert _content(folder / "out") == FORMER
    with pytest.raises(InvalidParameter, match="was created by somebody else"):
        _publish(folder, FRESH)
    assert _content(folder / "out") == FORMER
    _publish(folder, FRESH, overwrite=True)
    assert _content(folder / "out") == FRESH
    assert names(folder) == sorted(f"out/{name}" for name in FRESH)


@pytest.mark.parametrize(
    ("former", "refused"), [*(({}, number) for number in (1, 2, 3)), *((FORMER, number) for number in (1, 2, 3, 4))]
)
def test_a_folder_that_cannot_be_published_is_as_it_was(store, folder, former, refused):
    if former:
        _publish(folder, former)
    done = []

    def refuse(environ):
        """Refuse one of the requests by which new parts come and old ones go."""
        into = environ["PATH_INFO"].startswith(f"/bucket/{folder.key}/out/part")
        if into and environ["REQUEST_METHOD"] in ("PUT", "DELETE"):
            done.append(environ["REQUEST_METHOD"])
            if len(done) == refused:
                return "403 Forbidden"
        return None

    store.counted.before = refuse
    with pytest.raises(StoreFailed):
        _publish(folder, FRESH, overwrite=True)
    assert len(done) >= refused
    assert _content(folder / "out") == former
    assert names(folder) == sorted(f"out/{name}" for name in former)


def test_two_runs_that_publish_to_one_place_do_not_mix(folder, monkeypatch):
    """Somebody else's parts come between the look at the target and the first copy."""
    write = Place.write_bytes

    def meanwhile(place, *content):
        write(place, *content)
        if place.name.startswith("_microagg_unfinished"):
            write(folder / "out" / "part-0.parquet", b"theirs")

    monkeypatch.setattr(Place, "write_bytes", meanwhile)
    with pytest.raises(InvalidParameter, match="was created by somebody else"):
        _publish(folder, FRESH)
    assert _content(folder / "out") == {"part-0.parquet": b"theirs"}


KILLED = """
import os, signal
from microagg.files import publishing
from microagg.files.stores import Place, place_at
from tests.io.test_stores import FRESH, _publish
folder = place_at({folder!r})
copy = Place.copy_to
def killing(self, other):
    copy(self, other)
    if other.key.endswith({last!r}):
        os.kill(os.getpid(), signal.SIGKILL)
Place.copy_to = killing
_publish(folder, FRESH, overwrite=True)
"""


@pytest.mark.parametrize("former", [{}, FORMER], ids=["new", "replaced"])
def test_a_run_that_is_killed_while_it_publishes_leaves_no_release(store, folder, former):
    if former:
        _publish(folder, former)
    program = KILLED.format(folder=str(folder), last="out/part-3.parquet")
    ended = subprocess.run([sys.executable, "-c", program], env=os.environ, check=False)
    assert ended.returncode == -9
    assert publishing.is_unfinished(one.name for one, _, _ in (folder / "out").inside())
    with pytest.raises(InvalidData, match="when its run was killed"):
        ma.read(str(folder / "out"))
    with pytest.raises(InvalidParameter, match="is not a release"):
        publishing.check_replaceable_in_store(folder / "out")
    _publish(folder, FORMER, overwrite=True)  # the next run finds what was left, puts back what was there, and goes on
    assert _content(folder / "out") == FORMER
    assert names(folder) == sorted(f"out/{name}" for name in FORMER)
    assert not [key for key in keys_in(store.endpoint) if ".microagg-" in key]


def test_what_others_have_left_is_named_and_stays(folder, caplog, monkeypatch):
    left = folder / f".microagg-{'a' * 32}"
    own = {**publishing._this_process(), "process": 2**22 + 1}  # a number that no process has
    (left / "columns").write_bytes(b"x")
    for owner, said in [
        ({**own, "machine": "another"}, True),
        ({**own, "boot": "another"}, False),
        ({**own, "user": 4242}, False),
        ({**own, "process": os.getpid()}, False),
        ("nonsense", True),
    ]:
        (left / "~owner.json").write_bytes(json.dumps(owner).encode())
        for age, expected in ((0.0, False), (2 * 86400.0, said)):
            caplog.clear()
            monkeypatch.setattr(publishing.time, "time", lambda age=age: _NOW() + age)
            with private_place(folder):
                pass
            assert (left.name in caplog.text) == expected
            assert len(names(folder)) == 2
    monkeypatch.setattr(publishing.time, "time", _NOW)
    (left / "~owner.json").write_bytes(json.dumps(own).encode())
    with private_place(folder):
        pass
    assert names(folder) == []


_NOW = publishing.time.time


def test_a_large_file_is_copied_through_this_machine_where_the_store_does_not(store, folder, monkeypatch):
    monkeypatch.setattr("microagg.files.stores._COPIED", 10)
    (folder / "a").write_bytes(b"x" * 1000)
    store.counted.before = lambda environ: "400 Bad Request" if "HTTP_X_AMZ_COPY_SOURCE" in environ else None
    (folder / "a").copy_to(folder / "b")
    assert (folder / "b").read_bytes() == b"x" * 1000
    monkeypatch.setattr("microagg.files.stores._COPIED", 10_000)
    with pytest.raises(StoreFailed):
        (folder / "a").copy_to(folder / "c")
