"""Scratch in a shared folder: whatever others put or rename there, nothing of ours is moved or removed by it."""

import os
import platform
import shutil
import signal
import stat
import time
from pathlib import Path

import pytest

from microagg.errors import InvalidParameter
from microagg.files import scratch
from microagg.files.scratch import private_folder, put_in_place

SOMEBODY = 65534
as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file to another user")


@pytest.fixture
def shared(tmp_path):
    """Give a folder that others can write to."""
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o1777)
    return folder


@pytest.fixture
def own(tmp_path):
    """Give a folder of ours that nobody else should touch."""
    folder = tmp_path / "own"
    folder.mkdir(mode=0o700)
    (folder / "thesis.txt").write_text("all of it")
    return folder


def orphan(folder, owner=None):
    """Make what a process that was killed leaves, with a former output that it had moved aside."""
    folder.mkdir(mode=0o700)
    (folder / "owner.lock").write_text(platform.node() if owner is None else owner)
    (folder / "columns.npy").write_text("values")
    (folder / "replaced" / "out").mkdir(parents=True)
    (folder / "replaced").chmod(0o700)
    (folder / "replaced" / "out" / "former.csv").write_text("former")
    return folder


def run_in(folder):
    with private_folder(folder) as private:
        assert stat.S_IMODE(private.stat().st_mode) == 0o700


def files_in(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def aged(folder):
    before = time.time() - 2 * scratch._OLD
    os.utime(folder, (before, before))
    return folder


def test_what_a_killed_run_leaves_is_put_away(shared):
    orphan(shared / ".microagg-a")
    run_in(shared)
    assert files_in(shared) == ["out", "out/former.csv"]


def test_what_is_in_its_place_again_is_not_replaced_by_what_a_killed_run_left(shared):
    orphan(shared / ".microagg-a")
    (shared / "out").symlink_to("nowhere")
    run_in(shared)
    assert files_in(shared) == ["out"]
    assert (shared / "out").is_symlink()


def writable_by_others(folder):
    folder.chmod(0o777)


def writable_by_the_group(folder):
    folder.chmod(0o770)


def somebody_elses(folder):
    os.chown(folder, SOMEBODY, -1)


def with_somebody_elses_lock(folder):
    os.chown(folder / "owner.lock", SOMEBODY, -1)


def with_somebody_elses_aside(folder):
    os.chown(folder / "replaced", SOMEBODY, -1)


def with_an_aside_that_others_can_write_to(folder):
    (folder / "replaced").chmod(0o777)


def reached_by_a_link(folder):
    target = folder.parent.parent / "elsewhere"
    folder.rename(target)
    folder.symlink_to(target)


def with_a_link_for_a_lock(folder):
    target = folder.parent.parent / "name"
    (folder / "owner.lock").rename(target)
    (folder / "owner.lock").symlink_to(target)


def with_a_pipe_for_a_lock(folder):
    (folder / "owner.lock").unlink()
    os.mkfifo(folder / "owner.lock")


@pytest.mark.parametrize(
    "planted",
    [
        writable_by_others,
        writable_by_the_group,
        with_an_aside_that_others_can_write_to,
        reached_by_a_link,
        with_a_link_for_a_lock,
        with_a_pipe_for_a_lock,
        pytest.param(somebody_elses, marks=as_root),
        pytest.param(with_somebody_elses_lock, marks=as_root),
        pytest.param(with_somebody_elses_aside, marks=as_root),
    ],
)
def test_only_what_we_alone_can_have_left_is_recovered(shared, planted):
    planted(orphan(shared / ".microagg-a"))
    before = files_in(shared.parent)
    run_in(shared)
    assert files_in(shared.parent) == before


@pytest.mark.parametrize("mode", [0o700, 0o777])
def test_no_link_makes_us_move_a_private_folder_into_a_shared_one(shared, own, mode):
    folder = orphan(shared / ".microagg-a")
    shutil.rmtree(folder / "replaced")
    (folder / "replaced").symlink_to(own)
    folder.chmod(mode)
    run_in(shared)
    assert files_in(own) == ["thesis.txt"]
    assert not (shared / "thesis.txt").exists()


@as_root
def test_somebody_elses_link_does_not_make_us_move_a_private_folder_either(shared, own):
    folder = orphan(shared / ".microagg-a")
    shutil.rmtree(folder / "replaced")
    (folder / "replaced").symlink_to(own)
    for path in (folder, folder / "owner.lock", folder / "replaced"):
        os.chown(path, SOMEBODY, SOMEBODY, follow_symlinks=False)
    run_in(shared)
    assert files_in(own) == ["thesis.txt"]
    assert not (shared / "thesis.txt").exists()


def test_links_in_what_is_removed_are_not_followed(shared, own):
    folder = orphan(shared / ".microagg-a")
    (folder / "link").symlink_to(own)
    (folder / "deep").mkdir()
    (folder / "deep" / "link").symlink_to(own)
    with private_folder(shared) as private:
        (private / "link").symlink_to(own)
    assert files_in(shared) == ["out", "out/former.csv"]
    assert files_in(own) == ["thesis.txt"]


def test_a_folder_of_ours_that_somebody_has_renamed_is_not_taken_for_scratch(shared, own):
    """Without the sticky bit anybody can do that."""
    aged(own.rename(shared / ".microagg-a"))
    run_in(shared)
    assert files_in(shared) == [".microagg-a", ".microagg-a/thesis.txt"]


def test_a_folder_that_was_put_in_place_of_the_scratch_is_not_removed(shared, own):
    with private_folder(shared) as private:
        (private / "columns.npy").write_text("values")
        private.rename(shared / "away")
        own.rename(private)
    assert files_in(private) == ["thesis.txt"]
    assert files_in(shared / "away") == []


@pytest.mark.parametrize("has_lock", [False, True])
def test_a_run_killed_while_it_made_its_folder_leaves_nothing_for_long(shared, has_lock):
    folder = shared / ".microagg-0123456789abcdef-a"
    folder.mkdir(mode=0o700)
    if has_lock:
        (folder / "owner.lock").touch()
    run_in(shared)
    assert folder.exists()
    aged(folder)
    run_in(shared)
    assert files_in(shared) == []


def test_a_folder_of_the_users_own_stays_though_it_is_called_as_scratch_is(shared):
    own = shared / ".microagg-settings"
    own.mkdir(mode=0o700)
    aged(own)
    run_in(shared)
    assert files_in(shared) == [".microagg-settings"]


def test_runs_that_go_on_and_those_of_other_machines_are_left_alone(shared):
    orphan(shared / ".microagg-a", owner="elsewhere")
    before = files_in(shared)
    with private_folder(shared) as private:
        (private / "columns.npy").write_text("values")
        run_in(shared)
        assert files_in(private) == ["columns.npy", "owner.lock"]
    assert files_in(shared) == before


def test_no_room_for_a_lock_leaves_nothing(shared, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(scratch.os, "write", full)
    with pytest.raises(InvalidParameter, match="no folder can be created"):
        run_in(shared)
    assert files_in(shared) == []


def test_without_owners_scratch_works_and_nothing_is_recovered(shared, monkeypatch):
    """As on Windows."""
    orphan(shared / ".microagg-a")
    before = files_in(shared)
    monkeypatch.setattr(scratch.ownership, "KNOWN", False)
    with private_folder(shared) as private:
        (private / "whole").mkdir()
        (private / "whole" / "masked.csv").write_text("masked")
        put_in_place(private / "whole", shared / "target", overwrite=True)
    assert files_in(shared) == [*before, "target", "target/masked.csv"]


def test_nothing_is_lost_if_somebody_takes_the_place_meanwhile(shared, monkeypatch):
    target = shared / "out"
    target.mkdir()
    (target / "former.csv").write_text("former")
    rename = scratch.Path.rename

    def race(self, to):
        moved = rename(self, to)
        if self == target:
            target.mkdir()
            (target / "squatter").touch()
        return moved

    monkeypatch.setattr(scratch.Path, "rename", race)
    with private_folder(shared) as private:
        (private / "whole").mkdir()
        with pytest.raises(InvalidParameter, match=r"What was there before is in 'out.former-") as caught:
            put_in_place(private / "whole", target, overwrite=True)
    beside = next(shared.glob("out.former-*"))
    assert beside.name in str(caught.value)
    assert files_in(shared) == [
        "out",
        beside.name,
        f"{beside.name}/out",
        f"{beside.name}/out/former.csv",
        "out/squatter",
    ]


def test_what_was_to_be_replaced_comes_back(shared, monkeypatch):
    target = shared / "out"
    target.mkdir()
    (target / "former.csv").write_text("former")
    rename = scratch.Path.rename

    def fail(self, to):
        if self.name == "whole":
            raise OSError(28, "No space left on device")
        return rename(self, to)

    monkeypatch.setattr(scratch.Path, "rename", fail)
    with private_folder(shared) as private:
        (private / "whole").mkdir()
        with pytest.raises(InvalidParameter):
            put_in_place(private / "whole", target, overwrite=True)
    assert files_in(shared) == ["out", "out/former.csv"]


def test_what_is_written_while_a_folder_is_removed_goes_too(tmp_path, monkeypatch):
    """A worker that was given up may write between the emptying of a folder and its removal."""
    late = ["one", "two"]
    rmdir = os.rmdir

    def with_a_late_writer(path, **rest):
        if late:
            (tmp_path / Path(path).name / late.pop()).write_bytes(b"late")
        rmdir(path, **rest)

    monkeypatch.setattr(os, "rmdir", with_a_late_writer)
    with private_folder(tmp_path) as folder:
        (folder / "scratch").write_bytes(b"secret")
    assert not late
    assert list(tmp_path.iterdir()) == []


def test_what_threads_still_use_at_the_end_of_the_process_goes_and_what_was_replaced_comes_back(shared):
    with private_folder(shared) as private:
        (private / "whole").mkdir()
        (private / "whole" / "half.csv").write_text("half")
        (private / "replaced" / "out").mkdir(parents=True)
        (private / "replaced").chmod(0o700)
        (private / "replaced" / "out" / "former.csv").write_text("former")
        scratch.abandon()
        assert [path.name for path in shared.iterdir()] == ["out"]
        assert (shared / "out" / "former.csv").read_text() == "former"
    scratch.abandon()  # nothing is in use any more
    assert [path.name for path in shared.iterdir()] == ["out"]


def test_a_signal_waits_for_the_end_of_what_must_not_be_broken_off():
    done = []

    def work():
        with scratch.signals_later() as sent:
            signal.raise_signal(signal.SIGINT)
            done.append("to the end")
        done.append(f"beyond {sent}")  # not reached

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["to the end"]
    with scratch.signals_later() as sent:
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    assert (sent, signal.SIGINT in blocked) == ([], True)  # for the processes that start within
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
