"""Folders that nobody else can look into and that do not outlive their owner, and files that nobody else can read.

They may lie in a folder that is shared, such as /tmp. There others can put anything under any name and, without the
sticky bit, rename what is ours. So a folder is removed or recovered through a handle, never through a link, and
recovered only if it belongs to us and nobody else can write to it.
"""

import os
import platform
import re
import secrets
import shutil
import signal
import stat
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from microagg.base import ownership
from microagg.base.frozen import frozen
from microagg.errors import InvalidParameter, MicroaggError
from microagg.files.files import Check, keep_modes, umask

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows: what a killed process leaves there is not noticed by the next
    fcntl = None

_PREFIX = ".microagg-"
_MADE = re.compile(re.escape(_PREFIX) + "[0-9a-f]{16}-.+")  # as nobody calls a folder of their own
_LOCK = "owner.lock"
_REPLACED = "replaced"
_OLD = 600.0  # seconds after which a folder that names no owner belongs to nobody
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_FOLDER = os.O_RDONLY | _NO_LINK | getattr(os, "O_DIRECTORY", 0)
_ENDING = ("SIGINT", "SIGTERM", "SIGHUP")
_OPEN: "dict[Path, _Folder]" = {}  # those of this process that are in use


@contextmanager
def private_folder(parent: Path, what: str = "scratch") -> Iterator[Path]:
    """Make a folder of mode 0700 that is removed on exit, on an error and on a signal.

    Only SIGKILL or a power cut can leave one behind; the next run of the same user in the same place, on the same
    machine, removes it. Its owner holds a lock on a file in it, which the system lets go with the process.
    """
    parent = parent.resolve()  # others may work in another folder
    _remove_orphans(parent)
    try:
        path = Path(tempfile.mkdtemp(dir=parent, prefix=f"{_PREFIX}{secrets.token_hex(8)}-"))
        folder, lock = _claim(path)
    except OSError:
        raise InvalidParameter(f"no folder can be created in the folder for {what}. Name another.") from None
    _OPEN[path] = folder
    try:
        with signals_raise():
            yield path
    finally:
        with signals_wait():
            _OPEN.pop(path, None)
            is_empty = folder.empty()
            os.close(lock)  # first: Windows does not remove an open file, and NFS leaves another in its place
            # A worker that was not reached in time may write once more in between.
            while is_empty and not folder.remove():
                is_empty = folder.empty()
            folder.close()


def abandon() -> None:
    """Remove the private folders that threads of this process still use, since it ends now and they would not."""
    for folder in list(_OPEN.values()):
        if folder.handle is None:  # Windows, where nothing can be brought back by a handle
            continue
        with suppress(OSError), _opened(folder.path.parent) as place:
            _put_back(place, folder.handle)
            if folder.empty():
                folder.remove()


@contextmanager
def private_file(target: Path, what: str) -> Iterator[IO[str]]:
    """Return a text file to write that only its owner can read; it becomes the target when all is well.

    A link in the target's place is replaced, not followed.
    """
    place = target.parent.resolve() / target.name
    with private_folder(place.parent, what) as folder:
        fresh = folder / "whole"
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            yield file
            file.flush()
            os.fsync(handle)
        fresh.replace(place)


@frozen()
class _Folder:
    """A folder and an open handle to it: others can rename the one, but not exchange the other.

    Windows opens no folders. There the handle is None, and everything goes by the path.
    """

    path: Path
    handle: int | None
    place: int | None = None  # a handle of the folder that the path starts from, if it is not the working folder

    def inside(self, name: str) -> Path:
        """Name something in the folder as functions want it that are given the handle too."""
        return self.path / name if self.handle is None else Path(name)

    def content(self) -> list[tuple[str, bool]]:
        """List what is there beside the lock, and whether each is a folder; a link is none."""
        try:
            with os.scandir(self.path if self.handle is None else self.handle) as found:
                return [(one.name, one.is_dir(follow_symlinks=False)) for one in found if one.name != _LOCK]
        except FileNotFoundError:
            return []

    def empty(self) -> bool:
        """Remove all but the lock; a worker of another machine may still be writing. Return whether nothing is left."""
        for _ in range(20):
            for name, is_folder in self.content():
                if is_folder:
                    shutil.rmtree(self.inside(name), ignore_errors=True, dir_fd=self.handle)
                else:
                    with suppress(OSError):
                        os.unlink(self.inside(name), dir_fd=self.handle)
            if not self.content():
                return True
            time.sleep(0.25)
        return False  # the lock stays, so that the next run tries again

    def remove(self) -> bool:
        """Remove the lock and the folder, which holds nothing else; another one that took its place stays.

        Return whether nothing came to be in it meanwhile.
        """
        with suppress(OSError):
            os.unlink(self.inside(_LOCK), dir_fd=self.handle)
        with suppress(OSError):
            os.rmdir(self.path, dir_fd=self.place)
        return not self.content()

    def close(self) -> None:
        """Let the handle go."""
        if self.handle is not None:
            os.close(self.handle)


def _claim(path: Path) -> tuple[_Folder, int]:
    """Open a folder that was just made, and a file in it that names this machine and stays locked."""
    try:
        folder = _Folder(path, os.open(path, _FOLDER) if ownership.KNOWN else None)
    except OSError:
        path.rmdir()
        raise
    try:
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | _NO_LINK
        lock = os.open(folder.inside(_LOCK), flags, 0o600, dir_fd=folder.handle)
        try:
            if fcntl is not None:
                with suppress(OSError):  # a file system without locks: the next run gets none either
                    fcntl.flock(lock, fcntl.LOCK_EX)
            os.write(lock, platform.node().encode())  # only now, as without a name nobody takes it for an orphan
        except BaseException:
            os.close(lock)
            raise
    except BaseException:
        folder.remove()
        folder.close()
        raise
    return folder, lock


def _remove_orphans(parent: Path) -> None:
    """Remove what our processes that were killed have left, and put back what they had moved aside."""
    if fcntl is None or not ownership.KNOWN:
        return
    with suppress(OSError), _opened(parent) as place:
        for name in os.listdir(place):  # noqa: PTH208 - Path takes no handle
            if name.startswith(_PREFIX):
                with suppress(OSError), _opened_ours(name, place) as handle:
                    _recover(_Folder(Path(name), handle, place), place, handle)


@contextmanager
def _opened(path: Path | str, within: int | None = None, flags: int = _FOLDER) -> Iterator[int]:
    """Open a folder, or a file with other flags, that is not a link."""
    handle = os.open(path, flags, dir_fd=within)
    try:
        yield handle
    finally:
        os.close(handle)


@contextmanager
def _opened_ours(name: str, within: int) -> Iterator[int]:
    """Open a folder that is not a link, belongs to us and can be written to by nobody else."""
    with _opened(name, within) as handle:
        if not ownership.is_ours_alone(os.fstat(handle)):
            raise PermissionError
        yield handle


def _recover(folder: _Folder, place: int, handle: int) -> None:
    """Put a folder away if the process that made it, on this machine, is no more."""
    is_old = time.time() - os.fstat(handle).st_mtime > _OLD
    if _LOCK not in os.listdir(handle):  # it was just made, or was just being removed, or is no folder of ours
        if is_old and _MADE.fullmatch(folder.path.name) and not folder.content():
            folder.remove()
        return
    with _opened(_LOCK, handle, os.O_RDWR | os.O_NONBLOCK | _NO_LINK) as lock:
        status = os.fstat(lock)
        if not (stat.S_ISREG(status.st_mode) and ownership.is_ours(status) and _try_lock(lock)):
            return
        owner = os.read(lock, 1 << 10).decode(errors="replace")
        if owner == platform.node():
            _put_back(place, handle)
            if folder.empty():
                folder.remove()
        elif not owner and is_old and not folder.content():
            folder.remove()


def _put_back(place: int, folder: int) -> None:
    """Bring what was to be replaced back to its place, if nothing is there."""
    if _REPLACED not in os.listdir(folder):
        return
    with _opened_ours(_REPLACED, folder) as replaced:
        for name in os.listdir(replaced):  # noqa: PTH208
            try:
                os.stat(name, dir_fd=place, follow_symlinks=False)
            except FileNotFoundError:
                os.rename(name, name, src_dir_fd=replaced, dst_dir_fd=place)


def _try_lock(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


@contextmanager
def signals_raise() -> Iterator[None]:
    """Turn the signals that would end the process at once into an exception, so that things are put away."""

    def leave(number: int, frame: Any) -> None:  # noqa: ARG001
        raise SystemExit(128 + number)

    with _handled(("SIGTERM", "SIGHUP"), leave, only_default=True):
        yield


@contextmanager
def signals_wait() -> Iterator[None]:
    """Put things away to the end, whatever else is sent."""
    with _handled(_ENDING, signal.SIG_IGN, only_default=False):
        yield


@contextmanager
def signals_later() -> Iterator[list[int]]:
    """Do something to its end, whatever is sent, and heed the first signal then; processes that it starts get none.

    What is sent to a terminal's group reaches them too, and they would show how they break off. Gives a list, which
    holds the signals that have been sent.
    """
    sent: list[int] = []
    try:
        with _handled(_ENDING, lambda number, _: sent.append(number), only_default=False), _hidden(signal.SIGINT):
            yield sent
    finally:
        if sent:
            signal.raise_signal(sent[0])


@contextmanager
def _hidden(number: int) -> Iterator[None]:
    """Block a signal in this thread, and so in threads and processes that begin within."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {number})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _handled(names: tuple[str, ...], handler: Any, *, only_default: bool) -> Iterator[None]:
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    if threading.current_thread() is not threading.main_thread():
        numbers = []
    before = {number: signal.getsignal(number) for number in numbers}
    for number, old in before.items():
        if old == signal.SIG_DFL or not only_default:
            signal.signal(number, handler)
    try:
        yield
    finally:
        for number, old in before.items():
            if old is not None:
                signal.signal(number, old)


def put_in_place(whole: Path, target: Path, *, overwrite: bool, check: Check | None = None) -> None:
    """Rename a finished folder, which lies in a private one, to its place; its mode becomes that of what was there.

    Where nothing was, it is that of new folders.

    What was there is moved into the private folder first, and comes back if anything goes wrong. There `check` looks at
    it: somebody may have put something into it meanwhile.
    """
    aside = whole.parent / _REPLACED
    whole.chmod(0o777 & ~umask())
    keep_modes(whole, target)
    with signals_wait():
        former = None
        if overwrite and os.path.lexists(target):
            aside.mkdir(mode=0o700)
            former = target.rename(aside / target.name)
        try:
            if former is not None and check is not None:
                check(former)
            whole.rename(target)
        except MicroaggError:
            if former is not None:
                _bring_back(former, target)
            raise
        except OSError:
            where = "" if former is None else _bring_back(former, target)
            raise InvalidParameter(
                f"the target {target.name!r} was created by somebody else while its content was made. {where}Name "
                "another."
            ) from None


def _bring_back(former: Path, target: Path) -> str:
    """Put back what was to be replaced, or else beside its place, as the private folder goes; return where it is."""
    if not os.path.lexists(target):
        former.rename(target)
        return ""
    beside = Path(tempfile.mkdtemp(dir=target.parent, prefix=f"{target.name}.former-"))
    former.rename(beside / target.name)
    return f"What was there before is in {beside.name!r}. "
