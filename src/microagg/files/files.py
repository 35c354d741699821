"""Files: written whole or not at all, and open to no more people than those they replace."""

import functools
import os
import platform
import stat
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from microagg.base import ownership

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows: what a killed process leaves there is not noticed by the next
    fcntl = None

_ACCESS_LIST = "system.posix_acl_access"
# A lock of another machine may not be seen here, so that its files are known by their names.
_MARK = f".microagg-{zlib.crc32(platform.node().encode()):08x}-"
_PART = ".part"
_SHOWN = 50  # letters of a target's name, so that a long one is not too long with all else

Check = Callable[[Path], object]
"""Looks at a file that is whole and has not got its name yet; what it raises keeps it from getting it."""


@contextmanager
def whole_file(
    target: Path, beside: Path | None = None, check: Check | None = None, *, private: bool = False
) -> Iterator[Path]:
    """Return a name beside the target to write to; it becomes the target when all is well, and is removed otherwise.

    It gets the mode of the file that it replaces, or else that of new files, or 0600 where it is private. `beside` is
    another folder of the same file system, for targets whose folder must hold nothing else.
    """
    folder = target.parent if beside is None else beside
    _remove_orphans(folder)
    temporary, lock = _temporary(folder, target.name)
    try:
        yield temporary
        with temporary.open("rb+") as written:
            os.fsync(written.fileno())
        if check is not None:
            check(temporary)
        usual = 0o600 if private else 0o666 & ~umask()  # mkstemp lets only the owner read
        if not _keep_mode(temporary, target, usual):
            temporary.chmod(usual)
        # Locked until it has its name: another process would take it for an orphan. (Windows has no lock to let go.)
        temporary.replace(target)
        _let_go(lock)
    except BaseException:
        _let_go(lock)
        temporary.unlink(missing_ok=True)
        raise


def _temporary(folder: Path, name: str) -> tuple[Path, list[int]]:
    """Make a file for what is not whole yet, locked by this process until it ends; give the handle of the lock too."""
    while True:
        handle, made = tempfile.mkstemp(dir=folder, prefix=f".{name[:_SHOWN]}{_MARK}", suffix=_PART)
        path = Path(made)
        if fcntl is None:
            os.close(handle)
            return path, []
        with suppress(OSError):  # a file system without locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        with suppress(OSError):
            if path.stat().st_ino == os.fstat(handle).st_ino:
                return path, [handle]
        os.close(handle)  # another process took it for an orphan before it was locked


def _let_go(lock: list[int]) -> None:
    while lock:
        os.close(lock.pop())


def _remove_orphans(folder: Path) -> None:
    """Remove files that were not whole when the process was killed that wrote them, on this machine."""
    if fcntl is None or not ownership.KNOWN:
        return
    with suppress(OSError), os.scandir(folder) as inside:
        for one in inside:
            if one.name.startswith(".") and one.name.endswith(_PART) and _MARK in one.name:
                with suppress(OSError):
                    _remove_orphan(Path(one.path))


def _remove_orphan(path: Path) -> None:
    handle = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW)
    try:
        status = os.fstat(handle)
        if stat.S_ISREG(status.st_mode) and ownership.is_ours(status):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()
    finally:
        os.close(handle)


@functools.cache  # it can only be read by setting it, which other threads would notice
def umask() -> int:
    """Return the permissions that new files of this process do not get."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def keep_modes(made: Path, former: Path) -> None:
    """Return a folder and all in it the modes of what it is to replace; what is new there gets no more than its folder.

    If there is nothing to replace, nothing changes.
    """
    if not _keep_mode(made, former, _mode(made.stat())):
        return
    for path in list(made.iterdir()):
        _keep_modes_inside(path, former / path.name)


def _keep_modes_inside(made: Path, former: Path) -> None:
    if not _keep_mode(made, former, _mode(made.stat())):
        narrow_to_folder(made)
    for path in list(made.iterdir()) if made.is_dir() else []:
        _keep_modes_inside(path, former / path.name)


def narrow_to_folder(made: Path) -> None:
    """Let nobody else do more with a new file than with the folder that it is in."""
    made.chmod(_mode(made.stat()) & (_mode(made.parent.stat()) | ~0o077))


def _keep_mode(made: Path, former: Path, usual: int) -> bool:
    """Set the mode and the group of something new to those of what it replaces; return whether there is something.

    `usual` is the mode that it would have otherwise. What belongs to somebody else, is of another kind or is only led
    to by a link may have been put there to open ours: it can take permissions away and not give any.
    """
    try:
        old, is_link = former.stat(), former.is_symlink()
    except OSError:
        return False
    if not ownership.KNOWN:
        made.chmod(usual)
        return True
    new = made.stat()
    mode, is_folder = _mode(old), stat.S_ISDIR(new.st_mode)
    if is_folder and not stat.S_ISDIR(old.st_mode):
        mode |= (mode & 0o444) >> 2  # who may read a file may enter a folder
    is_alike = ownership.is_ours(old) and not is_link and stat.S_IFMT(old.st_mode) == stat.S_IFMT(new.st_mode)
    if not is_alike:
        mode = usual & (mode | ~0o077)
    access = _access_list(former)
    is_same_group = old.st_gid == new.st_gid or (is_alike and _give_group(made, old.st_gid))
    if access or not is_same_group:
        mode &= ~0o070 | (mode & 0o007) << 3  # another group may do what everybody may
    made.chmod(mode if is_folder else mode & 0o777)
    if access and is_alike and is_same_group:
        with suppress(OSError):
            os.setxattr(made, _ACCESS_LIST, access)
    return True


def _give_group(path: Path, group: int) -> bool:
    try:
        os.chown(path, -1, group)
    except OSError:  # not one of our groups
        return False
    return True


def _access_list(path: Path) -> bytes:
    """The list of further users and groups that may use a file; where there is one, the mode hides the group's."""
    try:
        return os.getxattr(path, _ACCESS_LIST)
    except (OSError, AttributeError):  # none, or no such lists here
        return b""


def _mode(status: os.stat_result) -> int:
    return stat.S_IMODE(status.st_mode)
