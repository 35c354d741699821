"""What is done apart from this thread: the work of a database's driver, and the reading of files that may be damaged.

A driver works in a thread of its own: Ctrl-C stops it, and it fails in our words alone. Files of statistics packages
and of Excel are read by a child process. The libraries that read them are not written in Python: a damaged file can
make one crash, or take all memory. A child reads with them, and hands over the finished table by a pipe: nothing is
written to disk. The child has our rights, so that it is no guard against a file that was made to attack; it keeps our
work from one that is broken.
"""

import atexit
import errno
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from microagg.base.imports import pandas_kept_aside
from microagg.columns.labels import Labels
from microagg.errors import InvalidParameter, MicroaggError
from microagg.files.formats import excel as _excel
from microagg.files.formats import statistics as _statistics
from microagg.work import Progress, tell

T = TypeVar("T")


class Stop:
    """Stops a driver."""

    def __init__(self) -> None:
        self._cancel: Callable[[], object] | None = None
        self._wanted = False

    @contextmanager
    def by(self, cancel: Callable[[], object]) -> Iterator[None]:
        """Say how to stop what is done within."""
        before, self._cancel = self._cancel, cancel
        try:
            if self._wanted:
                raise KeyboardInterrupt
            yield
        finally:
            self._cancel = before

    def now(self) -> None:
        """Stop what is being done, or what is to begin."""
        self._wanted = True
        cancel = self._cancel
        if cancel is not None:
            cancel()


def run(
    work: Callable[[Stop], T],
    explain: Callable[[BaseException], MicroaggError | None],
    progress: Progress | None = None,
) -> T:
    """Do some work in a thread of its own and wait for it; `progress` is called meanwhile, and may stop it.

    A driver in the main thread may not let Ctrl-C through until it is done (DuckDB), or reports it as an error of its
    own (ADBC). What interrupts is raised when the work has ended, so that nothing goes on behind; `came_too_late` says
    that work was done in spite of it. And an error that is raised here, not where the driver's was caught, has none
    behind it: the driver's words may hold the password or a cell.
    """
    stop, done = Stop(), threading.Event()
    results: list[T] = []
    failures: list[BaseException] = []

    def body() -> None:
        try:
            results.append(work(stop))
        except BaseException as error:  # noqa: BLE001 - raised in the thread that waits
            failures.append(error)
        finally:
            done.set()

    threading.Thread(target=body, name="microagg-waits", daemon=True).start()
    interruption = _wait(done, stop, progress)
    if interruption is not None:
        interruption.__dict__["came_too_late"] = bool(results)
        raise interruption
    if not failures:
        return results[0]
    failure = failures.pop()
    raise (explain(failure) or failure) from None


def came_too_late(interruption: BaseException) -> bool:
    """Return whether the work that was interrupted had been done nevertheless."""
    return bool(interruption.__dict__.get("came_too_late"))


def _wait(done: threading.Event, stop: Stop, progress: Progress | None) -> BaseException | None:
    """Wait for some work, and give what interrupted it: Ctrl-C, a signal that ends the process, or `progress`."""
    interruption: BaseException | None = None
    while True:
        try:
            if interruption is not None:
                stop.now()
            while not done.wait(0.1):
                if interruption is None:
                    tell(progress, 0, 0)
                else:
                    stop.now()  # again and again: between two statements there is nothing to stop
            return interruption
        except BaseException as error:  # noqa: BLE001 - raised when the work has ended
            interruption = interruption or error


_Answer = tuple[pa.Table, Any] | BaseException
_Request = tuple[str, str, dict[str, Any]]
_CHILD = (
    "import pickle, signal, sys\n"
    "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"  # Ctrl-C reaches it too, and it is for us to end it then
    "sys.path[:] = pickle.load(sys.stdin.buffer)\n"
    "from microagg.files.formats.apart import serve\n"
    "serve()"
)
_LARGE = 1 << 24  # bytes of a table: a child that has read more keeps memory that we may need, and is let go
_OWN_ENDS = (0, 1, 2)  # exit codes of Python itself; whatever else a process ends with, it has crashed
_KILLED = -9  # by SIGKILL, as the system does where memory runs out
_PATIENCE = 5.0  # seconds for a process to end that has closed its pipe


def read_apart(path: Path, kind: str, progress: Progress | None = None) -> tuple[pa.Table, Labels]:
    """Read a file of a statistics package, as `read_statistics` does, by a child process.

    Nobody knows how far it is; `progress` is called meanwhile since what it raises stops the reading.
    """
    _statistics.EXTRA.check()
    return _asked(path, kind, {}, progress)


def read_excel_apart(
    path: Path, sheet: str | None, header: bool | None, progress: Progress | None = None
) -> tuple[pa.Table, dict[str, str]]:
    """Read a file of Excel, as `read_excel` does, by a child process."""
    _excel.EXTRA.check()
    return _asked(path, "excel", {"sheet": sheet, "header": header}, progress)


def _asked(path: Path, kind: str, options: dict[str, Any], progress: Progress | None) -> tuple[pa.Table, Any]:
    request = (str(path.absolute()), kind, options)
    found = run(lambda stop: _read(request, stop), lambda _: None, progress)
    if isinstance(found, tuple):
        return found
    raise found


def _read(request: _Request, stop: Stop) -> _Answer:
    """Return what a child answers: the one that waits, or else a new one."""
    child = _take_idle()
    if child is not None:
        with suppress(_Gone):  # an earlier file may have broken it; only a new process shows whether this one does
            return child.ask(request, stop)
    try:
        return _Child().ask(request, stop)
    except _Gone as gone:
        if gone.code in _OWN_ENDS:
            raise _cannot_start() from None
        if gone.code == _KILLED:
            raise MemoryError from None
        path, kind = Path(request[0]), request[1]
        raise (_excel.cannot_be_read(path) if kind == "excel" else _statistics.cannot_be_read(path, kind)) from None


class _Gone(Exception):
    """A child has ended without an answer; `code` is what it has ended with."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class _Child:
    """A process that answers requests until its standard input is closed, be it by our own end."""

    def __init__(self) -> None:
        # Without an interpreter nothing is read, rather than in this process: that would crash for the same file, with
        # all the work that it holds, or go on with damaged memory and break what it promises of a release.
        if not sys.executable or getattr(sys, "frozen", False):  # a frozen program would start itself once more
            raise _cannot_start()
        try:
            self._greeting = pickle.dumps([os.path.abspath(place) for place in sys.path])  # noqa: PTH100 - strings
            self._process = subprocess.Popen(
                # -P: no modules from the present folder, which may hold files of others.
                [sys.executable, "-I" if sys.flags.isolated else "-P", "-c", _CHILD],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=Path(sys.executable).anchor,  # so that it keeps hold of no folder of the user's
            )
        except OSError as error:
            raise (MemoryError() if error.errno == errno.ENOMEM else _cannot_start()) from None
        self._asked, self._answers = self._process.stdin, self._process.stdout

    def ask(self, request: _Request, stop: Stop) -> _Answer:
        """Return the answer to a request; the child stays for the next one if all is well, and is ended otherwise."""
        well = False
        try:
            with stop.by(self._process.kill):
                answer = self._answer_to(request)
            well = isinstance(answer, tuple) and answer[0].nbytes <= _LARGE
            return answer
        finally:
            if not (well and _keep_idle(self)):
                self.end()

    def _answer_to(self, request: _Request) -> _Answer:
        assert self._asked is not None
        assert self._answers is not None
        try:
            self._asked.write(self._greeting + pickle.dumps(request))
            self._asked.flush()
            self._greeting = b""
            answer: _Answer = pickle.load(self._answers)
            return answer
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001 - its end, or the half of an answer
            with suppress(subprocess.TimeoutExpired):
                raise _Gone(self._process.wait(_PATIENCE)) from None
            raise _Gone(-signal.SIGABRT) from None  # it has lost its mind, and lives

    def end(self) -> None:
        """Kill it, and leave nothing of it behind."""
        self._process.kill()
        self.let_go()
        self._process.wait()

    def let_go(self) -> None:
        """Close our ends of its pipes."""
        for pipe in (self._asked, self._answers):
            with suppress(OSError):  # it has closed its own
                pipe.close()  # type: ignore[union-attr]

    def forget(self) -> None:
        """Have nothing to do with it, as it is the child of the process that we were forked from."""
        self.let_go()
        self._process.returncode = 0


def _cannot_start() -> InvalidParameter:
    return InvalidParameter(
        "files of SPSS, Stata, SAS and Excel are read by a process of their own, since a damaged one may crash it, "
        "and Python cannot start one here. Read the file with the command microagg, or save it as .csv or .parquet."
    )


_idle: list[_Child] = []  # at most one
_guard = threading.Lock()


def _take_idle() -> _Child | None:
    with _guard:
        return _idle.pop() if _idle else None


def _keep_idle(child: _Child) -> bool:
    with _guard:
        if not _idle:
            _idle.append(child)
        return _idle[0] is child


@atexit.register
def end_idle() -> None:
    """End the child that waits for a request, if there is one."""
    child = _take_idle()
    if child is not None:
        child.end()


def _after_fork() -> None:
    global _guard  # another thread may have held it
    _guard = threading.Lock()
    while _idle:
        _idle.pop().forget()


if hasattr(os, "register_at_fork"):  # which has two processes with one child
    os.register_at_fork(after_in_child=_after_fork)


def serve() -> None:
    """Answer requests until nobody can ask any more: what the child does."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    with pandas_kept_aside():
        while True:
            try:
                path, kind, options = pickle.load(sys.stdin.buffer)
            except EOFError:
                return
            pickle.dump(_answer(Path(path), kind, options), answers, pickle.HIGHEST_PROTOCOL)  # which copies no buffers
            answers.flush()


def _answer(path: Path, kind: str, options: dict[str, Any]) -> _Answer:
    try:
        if kind == "excel":
            return _excel.read_excel(path, **options)
        return _statistics.read_statistics(path, kind)
    except MicroaggError as error:
        return error
    except MemoryError:
        return MemoryError()
    except Exception as error:  # noqa: BLE001 - a fault of ours: its words may hold a cell, and may not survive a pipe
        return RuntimeError(type(error).__name__)
