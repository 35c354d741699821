"""Compiled kernels are kept only where nobody else can put code: Numba runs what it finds there."""

import os
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from microagg.algorithms.kernels import _jit, _keeping

SOMEBODY = 65534
as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file to another user")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Give a folder for caches, as if nothing had been found out yet."""
    monkeypatch.setattr(_jit, "_found_cache", _jit._found_cache.__wrapped__)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def warm(cache):
    """Give the folder with kernels in it."""
    kernels = Path(_jit._cache_directory()) / "kernels_0"
    kernels.mkdir()
    (kernels / "kernel.nbi").touch()
    assert not _jit.is_cold()
    return cache


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("umask", [0o022, 0o002])
def test_what_we_make_is_ours_alone_under_any_umask(cache, umask):
    before = os.umask(umask)
    try:
        directory = Path(_jit._cache_directory())
        assert _jit.is_cold()
        (directory / "kernels_0").mkdir()
        (directory / "kernels_0" / "kernel.nbi").touch()
        assert not _jit.is_cold()
    finally:
        os.umask(before)
    assert directory.parent == cache / "microagg"
    assert (mode_of(directory), mode_of(directory.parent)) == (0o700, 0o700)


@pytest.mark.usefixtures("cache")
def test_the_users_own_cache_is_used(tmp_path, monkeypatch):
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    root = tmp_path / "xdg" / "microagg" / "kernels"
    assert Path(_jit._cache_directory()).parent == root
    root.chmod(0o770)
    assert _jit._cache_directory() is None


def directory_in(cache):
    return next((cache / "microagg").iterdir())


def with_a_root_for_all(cache):
    (cache / "microagg").chmod(0o777)


def with_a_root_for_a_group(cache):
    (cache / "microagg").chmod(0o775)


def with_a_folder_for_all(cache):
    directory_in(cache).chmod(0o777)


def with_open_files_in_an_open_folder(cache):
    directory_in(cache).chmod(0o755)
    (directory_in(cache) / "kernels_0" / "kernel.nbi").chmod(0o666)


def in_a_folder_for_all(cache):
    cache.chmod(0o777)


def with_a_link_for_a_root(cache):
    (cache / "microagg").rename(cache / "another")
    (cache / "microagg").symlink_to(cache / "another")


def with_a_link_for_a_folder(cache):
    directory = directory_in(cache)
    directory.rename(cache / "another")
    directory.symlink_to(cache / "another")


def with_a_link_inside(cache):
    kernels = directory_in(cache) / "kernels_0"
    kernels.rename(cache / "another")
    kernels.symlink_to(cache / "another")


def with_somebody_elses_root(cache):
    os.chown(cache / "microagg", SOMEBODY, -1)


def with_somebody_elses_folder(cache):
    os.chown(directory_in(cache), SOMEBODY, -1)


def with_somebody_elses_file(cache):
    os.chown(directory_in(cache) / "kernels_0" / "kernel.nbi", SOMEBODY, -1)


def in_somebody_elses_folder(cache):
    os.chown(cache, SOMEBODY, -1)


def in_a_folder_for_another_group(cache):
    os.chown(cache, -1, SOMEBODY)
    cache.chmod(0o770)


@pytest.mark.parametrize(
    "spoil",
    [
        with_a_root_for_all,
        with_a_root_for_a_group,
        with_a_folder_for_all,
        with_open_files_in_an_open_folder,
        in_a_folder_for_all,
        with_a_link_for_a_root,
        with_a_link_for_a_folder,
        with_a_link_inside,
        pytest.param(with_somebody_elses_root, marks=as_root),
        pytest.param(with_somebody_elses_folder, marks=as_root),
        pytest.param(with_somebody_elses_file, marks=as_root),
        pytest.param(in_somebody_elses_folder, marks=as_root),
        pytest.param(in_a_folder_for_another_group, marks=as_root),
    ],
)
def test_a_cache_that_others_can_change_is_not_used(warm, spoil):
    spoil(warm)
    assert _jit._cache_directory() is None
    assert _jit.is_cold()
    why = _jit._found_cache()[1]
    assert str(warm) in why
    assert "NUMBA_CACHE_DIR" in why


def test_nothing_is_made_where_a_link_leads(tmp_path, cache):
    (tmp_path / "theirs").mkdir()
    cache.mkdir()
    (cache / "microagg").symlink_to(tmp_path / "theirs")
    assert _jit._cache_directory() is None
    assert list((tmp_path / "theirs").iterdir()) == []


def test_a_shared_folder_with_the_sticky_bit_serves(warm):
    warm.chmod(0o1777)
    assert not _jit.is_cold()


def test_the_users_home_is_not_questioned_and_what_is_in_it_is(tmp_path, cache, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    tmp_path.chmod(0o777)
    assert _jit._cache_directory() is not None
    cache.chmod(0o777)
    assert _jit._cache_directory() is None


def test_links_above_the_cache_are_followed_once(tmp_path, warm, monkeypatch):
    (tmp_path / "link").symlink_to(warm)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "link"))
    assert Path(_jit._cache_directory()).parent == warm / "microagg"


def test_where_owners_are_not_known_the_folder_is_used(warm, monkeypatch):
    """As on Windows."""
    (warm / "microagg").chmod(0o777)
    monkeypatch.setattr(_jit.ownership, "KNOWN", False)
    assert not _jit.is_cold()


CALL = """
import numpy as np
from microagg.algorithms.kernels.groups import group_rest, number_groups
group_rest(0, np.array([1, -1]))
number_groups(np.array([1, 0]))
"""


def test_planted_code_does_not_run_and_the_reason_is_told_once(tmp_path):
    cache, trace = tmp_path / "cache", tmp_path / "trace"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}

    def call():
        return subprocess.run(
            [sys.executable, "-c", CALL], capture_output=True, text=True, check=True, env=environment
        ).stderr

    assert "keeping them on disk" in call()
    indexes = list(cache.rglob("*.nbi"))
    for index in indexes:
        index.write_bytes(b"cposix\nsystem\n(Vtouch " + str(trace).encode() + b"\ntR.")
    assert indexes
    (cache / "microagg").chmod(0o777)
    said = call()
    assert not trace.exists()
    assert said.count("could run code as you") == said.count("compiling kernels") == 1
    assert str(cache / "microagg") in said


NEEDED = """
from microagg.algorithms.kernels import _jit, linkage, partitioners
known = len(_jit._known)
assert known > 50 and not any(one._made for one in _jit._known)
{call}
print(sum(one._made is not None for one in _jit._known) - {made}, len(_jit._known) - known)
"""


def test_numba_hears_of_all_kernels_only_if_one_is_compiled(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    for made in ("len(_jit._known)", "2"):  # the second time both are kept, and nothing else is made
        program = NEEDED.format(call=CALL, made=made)
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment
        )
        assert done.stdout.split() == ["0", "0"]


def test_threads_that_call_a_kernel_first_share_it_and_numbas_setting_is_left(cache):
    @_jit.kernel
    def doubled(x):
        return 2 * x

    together = threading.Barrier(8)

    def call(x):
        together.wait()
        return doubled(x), doubled._made

    with ThreadPoolExecutor(8) as several:
        found = list(several.map(call, range(8)))
    _jit._known.remove(doubled)
    assert [one for one, _ in found] == [2 * x for x in range(8)]
    assert len({id(made) for _, made in found}) == 1
    assert _jit.config.CACHE_DIR in ("", str(cache))  # as the environment says, when Numba last read it
    assert list((cache / "microagg").rglob("*.nbi"))


def test_processes_that_keep_two_forms_of_a_kernel_at_the_same_time_do_not_mix_them_up(tmp_path, monkeypatch):
    first, second = (_keeping._Files(str(tmp_path), "kernel-1.py311", "stamp") for _ in range(2))
    with monkeypatch.context() as before:
        before.setattr(_keeping._Files, "_load_index", lambda _: {})  # as both have read it
        first.save("whole numbers", "code for whole numbers")
        named = next(tmp_path.glob("*.nbi")).read_bytes()
        second.save("numbers", "code for numbers")
    assert second.load("numbers") == "code for numbers"
    assert second.load("whole numbers") is None
    next(tmp_path.glob("*.nbi")).write_bytes(named)  # whichever index is written last
    assert first.load("whole numbers") == "code for whole numbers"
    first.save("numbers", "code for numbers")
    assert [second.load(of) for of in ("numbers", "whole numbers")] == ["code for numbers", "code for whole numbers"]


DAMAGED = {
    "nothing": lambda _: b"",
    "cut off": lambda whole: whole[: len(whole) // 2],
    "one byte short": lambda whole: whole[:-1],
    "zeros": lambda whole: bytes(len(whole)),
    "one bit": lambda whole: whole[:-20] + bytes([whole[-20] ^ 1]) + whole[-19:],
    "another pickle": lambda _: b"\x80\x04N.",
    "code": lambda _: b"cposix\nsystem\n(Vtouch trace\ntR.",
}


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_file_is_taken_for_absent_and_written_anew(tmp_path, monkeypatch, suffix, damage):
    monkeypatch.chdir(tmp_path)
    files = _keeping._Files(str(tmp_path), "kernel-1.py311", "stamp")
    code = bytes(range(256)) * 4
    files.save("numbers", code)
    path = next(tmp_path.glob(f"*{suffix}"))
    path.write_bytes(DAMAGED[damage](path.read_bytes()))
    assert files.load("numbers") is None
    assert not (tmp_path / "trace").exists()
    files.save("numbers", code)
    assert files.load("numbers") == code


def test_code_of_another_kernel_and_a_folder_in_the_place_of_a_file_are_taken_for_absent(tmp_path):
    files, other = (_keeping._Files(str(tmp_path), name, "stamp") for name in ("kernel-1.py311", "other-1.py311"))
    files.save("numbers", "ours")
    other.save("numbers", "theirs")
    ours, theirs = (next(tmp_path.glob(f"{name}*.nbc")) for name in ("kernel", "other"))
    ours.write_bytes(theirs.read_bytes())
    assert files.load("numbers") is None
    ours.unlink()
    ours.mkdir()
    files.save("numbers", "ours")  # there is no room for it
    assert files.load("numbers") is None


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
def test_kernels_are_compiled_anew_where_all_that_is_kept_is_damaged(tmp_path, suffix):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}

    def call():
        return subprocess.run([sys.executable, "-c", CALL], capture_output=True, text=True, check=True, env=environment)

    call()
    for path in tmp_path.rglob(f"*{suffix}"):
        whole = path.read_bytes()
        path.write_bytes(whole[:64] + bytes(len(whole) - 64))
    call()
    names = {path.name for path in tmp_path.rglob(f"*{suffix}")}
    digests = [path.read_bytes()[64:] for path in tmp_path.rglob(f"*{suffix}")]
    assert names
    assert any(any(digest) for digest in digests)
