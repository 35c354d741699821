"""Folders that nobody else can look into and that do not outlive their owner."""

import platform
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from microagg.errors import InvalidParameter
from microagg.io.files import umask

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows: what a killed process leaves there is not noticed by the next
    fcntl = None

_PREFIX, _UNFINISHED = ".microagg-", ".making-microagg-"
_LOCK = "owner.lock"
_REPLACED = "replaced"
_OLD = 600.0  # seconds after which a folder without a lock belongs to nobody


@contextmanager
def private_folder(parent: Path, what: str = "scratch") -> Iterator[Path]:
    """Make a folder of mode 0700 that is removed on exit, on an error and on a signal.

    Only SIGKILL or a power cut can leave one behind; the next run in the same place, on the same machine, removes it.
    Its owner holds a lock on a file in it, which the system lets go with the process.
    """
    parent = parent.resolve()  # others may work in another folder
    _remove_orphans(parent)
    try:
        unfinished = Path(tempfile.mkdtemp(dir=parent, prefix=_UNFINISHED))
        lock = (unfinished / _LOCK).open("w")
        lock.write(platform.node())
        lock.flush()
        _try_lock(lock)
        # Only now may others see it: before, they could have taken it for an orphan.
        folder = unfinished.rename(parent / unfinished.name.replace(_UNFINISHED, _PREFIX))
    except OSError:
        raise InvalidParameter(f"no folder can be made in the one for {what}. Name another.") from None
    try:
        with _signals_raise():
            yield folder
    finally:
        with _signals_wait():
            _remove(folder)
        lock.close()


def _remove(folder: Path) -> None:
    """Remove a folder, its lock last; a worker of another machine may still be writing."""
    for _ in range(20):
        for inside in list(folder.iterdir()) if folder.exists() else []:
            if inside.is_dir() and not inside.is_symlink():
                shutil.rmtree(inside, ignore_errors=True)
            elif inside.name != _LOCK:
                inside.unlink(missing_ok=True)
        if not folder.exists() or {path.name for path in folder.iterdir()} <= {_LOCK}:
            break
        time.sleep(0.25)
    shutil.rmtree(folder, ignore_errors=True)


def _remove_orphans(parent: Path) -> None:
    """Remove what processes that were killed have left, and put back what they had moved aside."""
    for folder in parent.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if not (folder / _LOCK).exists():
                if time.time() - folder.stat().st_mtime > _OLD:
                    shutil.rmtree(folder, ignore_errors=True)
                continue
            with (folder / _LOCK).open("r+") as lock:
                if _try_lock(lock) and lock.read() == platform.node():
                    _put_back(folder)
                    _remove(folder)


def _put_back(folder: Path) -> None:
    """Bring what was to be replaced back to its place, if nothing is there."""
    for replaced in (folder / _REPLACED).glob("*"):
        if not (folder.parent / replaced.name).exists():
            replaced.rename(folder.parent / replaced.name)


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

    def leave(number: int, frame: Any) -> None:  # noqa: ARG001
        raise SystemExit(128 + number)

    with _handled(("SIGTERM", "SIGHUP"), leave, only_default=True):
        yield


@contextmanager
def _signals_wait() -> Iterator[None]:
    """Put things away to the end, whatever else is sent."""
    with _handled(("SIGINT", "SIGTERM", "SIGHUP"), signal.SIG_IGN, only_default=False):
        yield


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


def put_in_place(whole: Path, target: Path, *, overwrite: bool) -> None:
    """Rename a finished folder, which lies in a private one, to its place.

    What was there is moved into the private folder first, and comes back if anything goes wrong.
    """
    private = whole.parent
    whole.chmod(0o777 & ~umask())
    with _signals_wait():
        if overwrite and (target.exists() or target.is_symlink()):
            (private / _REPLACED).mkdir()
            target.rename(private / _REPLACED / target.name)
        try:
            whole.rename(target)
        except OSError:
            _put_back(private)
            raise InvalidParameter(
                f"the target {target.name!r} has come to be there while its content was made. Name another."
            ) from None
