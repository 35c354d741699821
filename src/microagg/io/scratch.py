"""Folders that nobody else can look into and that do not outlive their owner."""

import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from microagg.errors import InvalidParameter

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows: what a killed process leaves there is not noticed by the next
    fcntl = None

_PREFIX = ".microagg-"
_LOCK = "owner.lock"


@contextmanager
def private_folder(parent: Path) -> Iterator[Path]:
    """Make a folder of mode 0700 that is removed on exit, on an error and on a signal.

    Only SIGKILL or a power cut can leave one behind; the next run in the same place removes it. Its owner holds
    a lock on a file in it, which the system lets go with the process.
    """
    _remove_orphans(parent)
    try:
        folder = Path(tempfile.mkdtemp(dir=parent, prefix=_PREFIX))
    except OSError:
        raise InvalidParameter("no folder can be made in the one for scratch. Pass another one as scratch=.") from None
    lock = (folder / _LOCK).open("w")
    try:
        _try_lock(lock)
        with _signals_raise():
            yield folder
    finally:
        for _ in range(20):  # a worker of another machine may still be writing
            shutil.rmtree(folder, ignore_errors=True)
            if not folder.exists():
                break
        lock.close()


def _remove_orphans(parent: Path) -> None:
    """Remove what processes that were killed have left."""
    for folder in parent.glob(f"{_PREFIX}*"):
        with suppress(OSError), (folder / _LOCK).open("r+") as lock:
            if _try_lock(lock):
                shutil.rmtree(folder, ignore_errors=True)


def _try_lock(lock: Any) -> bool:
    if fcntl is None:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


@contextmanager
def _signals_raise() -> Iterator[None]:
    """Turn the signals that would end the process at once into an exception, so that things are put away."""
    caught = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    if threading.current_thread() is not threading.main_thread():
        caught = []
    before = {number: signal.getsignal(number) for number in caught}

    def leave(number: int, frame: Any) -> None:  # noqa: ARG001
        raise SystemExit(128 + number)

    for number, handler in before.items():
        if handler == signal.SIG_DFL:
            signal.signal(number, leave)
    try:
        yield
    finally:
        for number, handler in before.items():
            if handler is not None:
                signal.signal(number, handler)


def put_in_place(folder: Path, target: Path, aside: Path) -> None:
    """Rename a finished folder to its place; what was there goes `aside`, and comes back if that fails."""
    mask = os.umask(0o077)
    os.umask(mask)
    folder.chmod(0o777 & ~mask)
    if target.exists() or target.is_symlink():
        target.rename(aside)
    try:
        folder.rename(target)
    except OSError:
        if aside.exists() and not target.exists():
            aside.rename(target)
        raise
