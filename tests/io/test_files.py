"""What replaces a file or folder is open to those that could see the former one, and to nobody else."""

import os
import stat
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from microagg.files import files
from microagg.files.files import narrow_to_folder, whole_file
from microagg.files.scratch import private_folder, put_in_place

SOMEBODY = 65534
as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file to another user or group")


@pytest.fixture(autouse=True)
def usual(monkeypatch):
    """Work under the umask that most systems set."""
    monkeypatch.setattr(files, "umask", lambda: 0o022)
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


def write(target, text="new"):
    with whole_file(target) as fresh:
        fresh.write_text(text)


def make(path, mode, text="old"):
    path.write_text(text)
    path.chmod(mode)
    return path


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o400])
def test_a_file_that_is_replaced_keeps_its_mode(tmp_path, mode):
    target = make(tmp_path / "out.csv", mode)
    write(target)
    assert target.read_text() == "new"
    assert mode_of(target) == mode


def test_a_private_file_is_never_open_while_it_is_replaced(tmp_path, monkeypatch):
    target = make(tmp_path / "out.csv", 0o600)
    seen = []
    chmod = files.Path.chmod
    monkeypatch.setattr(files.Path, "chmod", lambda path, mode: (seen.append(mode), chmod(path, mode)))
    write(target)
    assert seen == [0o600]


def test_a_new_file_gets_the_mode_of_new_files(tmp_path):
    (tmp_path / "dangling.csv").symlink_to("nowhere")
    for name in ("out.csv", "dangling.csv"):
        write(tmp_path / name)
        assert mode_of(tmp_path / name) == 0o644


@pytest.mark.parametrize("name", ["a" * 255, "ż" * 127])
def test_a_name_may_be_as_long_as_names_can_be(tmp_path, name):
    with whole_file(tmp_path / name) as file:
        file.write_text("all of it")
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_link_takes_permissions_away_and_gives_none(tmp_path):
    for mode, kept in ((0o666, 0o644), (0o600, 0o600), (0o000, 0o600)):
        (tmp_path / "link.csv").unlink(missing_ok=True)
        (tmp_path / "link.csv").symlink_to(make(tmp_path / f"{mode}.csv", mode))
        write(tmp_path / "link.csv")
        assert not (tmp_path / "link.csv").is_symlink()
        assert mode_of(tmp_path / "link.csv") == kept


@as_root
def test_somebody_elses_file_takes_permissions_away_and_gives_none(tmp_path):
    for mode, kept in ((0o666, 0o644), (0o640, 0o600), (0o604, 0o604)):
        target = make(tmp_path / "out.csv", mode)
        os.chown(target, SOMEBODY, SOMEBODY)
        write(target)
        assert (mode_of(target), target.stat().st_uid, target.stat().st_gid) == (kept, os.geteuid(), os.getegid())


@as_root
def test_the_group_is_kept(tmp_path):
    target = make(tmp_path / "out.csv", 0o640)
    os.chown(target, -1, SOMEBODY)
    write(target)
    assert (mode_of(target), target.stat().st_gid) == (0o640, SOMEBODY)


@pytest.mark.parametrize(("mode", "kept"), [(0o640, 0o600), (0o664, 0o644)])
def test_another_group_gets_no_more_than_everybody(tmp_path, monkeypatch, mode, kept):
    """Where the former group is not one of ours."""
    target = make(tmp_path / "out.csv", mode)
    former = os.stat_result([*target.stat()[:5], 4321, *target.stat()[6:]])
    look = files.Path.stat
    monkeypatch.setattr(
        files.Path, "stat", lambda path, **how: former if path == target else look(path, **how), raising=True
    )

    def refuse(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(files.os, "chown", refuse)
    write(target)
    monkeypatch.undo()
    assert mode_of(target) == kept


def test_an_access_list_is_kept(tmp_path):
    """Else the group would get what its mask, which the mode shows, lets others have."""
    target = make(tmp_path / "out.csv", 0o600)
    entries = [(1, 6, -1), (2, 4, SOMEBODY), (4, 0, -1), (16, 4, -1), (32, 0, -1)]
    packed = struct.pack("<I", 2) + b"".join(
        struct.pack("<HHI", tag, may, who & 0xFFFFFFFF) for tag, may, who in entries
    )
    try:
        os.setxattr(target, "system.posix_acl_access", packed)
    except (OSError, AttributeError):
        pytest.skip("this file system has no access lists")
    assert mode_of(target) == 0o640
    write(target)
    assert os.getxattr(target, "system.posix_acl_access") == packed
    (tmp_path / "link.csv").symlink_to(target)
    write(tmp_path / "link.csv")
    assert mode_of(tmp_path / "link.csv") == 0o600


KILLED = """
import os, signal, sys
from pathlib import Path
from microagg.files.files import whole_file
with whole_file(Path(sys.argv[1])) as fresh:
    fresh.write_text("half of it")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_later_run_removes_the_half_of_a_file_that_a_killed_one_left(tmp_path):
    subprocess.run([sys.executable, "-c", KILLED, tmp_path / "masked.csv"], check=False)
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(".masked.csv.")
    own = make(tmp_path / ".notes.part", 0o600)
    elsewhere = make(tmp_path / ".masked.csv.microagg-00000000-abcdefgh.part", 0o600)  # of another machine
    with whole_file(tmp_path / "other.csv") as fresh:
        write(tmp_path / "third.csv")  # a run that goes on keeps its own
        assert fresh.exists()
        fresh.write_text("all of it")
    assert {path.name for path in tmp_path.iterdir()} == {"other.csv", "third.csv", own.name, elsewhere.name}


def put(target, names, overwrite=True):
    """Put a folder with such files in place, as a run does."""
    with private_folder(target.parent) as private:
        whole = private / "whole"
        whole.mkdir()
        for name in names:
            (whole / name).parent.mkdir(exist_ok=True)
            write(whole / name)
        put_in_place(whole, target, overwrite=overwrite)


def modes_in(folder):
    return {str(path.relative_to(folder.parent)): mode_of(path) for path in (folder, *sorted(folder.rglob("*")))}


def test_a_new_folder_gets_the_mode_of_new_folders(tmp_path):
    put(tmp_path / "out", ["a.csv", "parts/0.parquet"])
    assert modes_in(tmp_path / "out") == {
        "out": 0o755,
        "out/a.csv": 0o644,
        "out/parts": 0o755,
        "out/parts/0.parquet": 0o644,
    }


@pytest.mark.parametrize(("mode", "file"), [(0o700, 0o600), (0o750, 0o640), (0o2770, 0o640), (0o711, 0o600)])
@pytest.mark.parametrize("overwrite", [False, True])
def test_an_empty_folder_keeps_its_mode_and_files_in_it_get_no_more(tmp_path, mode, file, overwrite):
    target = tmp_path / "out"
    target.mkdir()
    target.chmod(mode)
    put(target, ["a.csv", "parts/0.parquet"], overwrite)
    folder = 0o755 & mode
    assert modes_in(target) == {"out": mode, "out/a.csv": file, "out/parts": folder, "out/parts/0.parquet": file}


def test_a_folder_that_is_replaced_keeps_its_modes(tmp_path):
    target = tmp_path / "out"
    put(target, ["a.csv", "b.csv", "parts/0.parquet"])
    for name, mode in {"b.csv": 0o600, "parts/0.parquet": 0o640, "parts": 0o750, ".": 0o755}.items():
        (target / name).chmod(mode)
    put(target, ["a.csv", "b.csv", "c.csv", "parts/0.parquet", "parts/1.parquet"])
    assert modes_in(target) == {
        "out": 0o755,
        "out/a.csv": 0o644,
        "out/b.csv": 0o600,
        "out/c.csv": 0o644,
        "out/parts": 0o750,
        "out/parts/0.parquet": 0o640,
        "out/parts/1.parquet": 0o640,
    }


def test_a_folder_in_place_of_a_private_file_is_private_and_the_other_way(tmp_path):
    target = make(tmp_path / "masked", 0o600)
    put(target, ["0.parquet"])
    assert modes_in(target) == {"masked": 0o700, "masked/0.parquet": 0o600}
    put(tmp_path / "out", ["data/0.parquet"])
    (tmp_path / "out" / "data").chmod(0o700)
    put(tmp_path / "out", ["data"])
    assert modes_in(tmp_path / "out") == {"out": 0o755, "out/data": 0o600}


@as_root
def test_somebody_elses_folder_opens_nothing(tmp_path):
    target = tmp_path / "out"
    target.mkdir()
    target.chmod(0o777)
    make(target / "a.csv", 0o666)
    for path in (target, target / "a.csv"):
        os.chown(path, SOMEBODY, SOMEBODY)
    put(target, ["a.csv"])
    assert modes_in(target) == {"out": 0o755, "out/a.csv": 0o644}


def test_a_file_gets_no_more_than_its_folder(tmp_path):
    tmp_path.chmod(0o750)
    narrow_to_folder(make(tmp_path / "a.csv", 0o666))
    assert mode_of(tmp_path / "a.csv") == 0o640


def test_a_file_that_is_about_to_get_its_name_is_no_orphan(tmp_path, monkeypatch):
    named = Path.replace

    def while_another_looks(self, target):
        files._remove_orphans(self.parent)
        return named(self, target)

    monkeypatch.setattr(Path, "replace", while_another_looks)
    with files.whole_file(tmp_path / "out.txt") as fresh:
        fresh.write_text("whole")
    assert (tmp_path / "out.txt").read_text() == "whole"
