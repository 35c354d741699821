"""One thread that does the work, one job after the other, so that pages answer meanwhile."""

import gc
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from microagg.jobs.messages import Told
from microagg.jobs.process import listen
from microagg.work import Progress

TRY, READ, LOOK, COMPARE, DRAW, EXPORT = "try", "read", "look", "compare", "draw", "export"
PREPARE = "prepare"
"""Kinds of jobs. A new one takes the place of one of its kind, but for an export, which is never stopped by another."""

_TELLING = 10  # the part of the work, one in so many, from which the rest can be judged: it begins slowly


class Cancelled(BaseException):
    """Raised within `progress`, which stops the work; nothing is left behind."""


class Busy(Exception):
    """There is a job that waits already and may not be replaced."""


@dataclass
class Job:
    """A piece of work: `work(job)` is called on the worker's thread.

    Attributes
    ----------
    kind : str
        One of the kinds above.
    title : str
        What is being done, for a person; `phase` changes it.
    work : callable
        It passes `job.progress` on to `microagg.jobs`. What it raises is passed to `failed`.
    failed : callable, optional
        Called with what is said of an error; a cancelled job has none.
    stopped : str
        What is said when somebody has cancelled it.
    """

    kind: str
    title: str
    work: Callable[["Job"], None]
    failed: Callable[[Told, BaseException], None] | None = None
    cancelled: bool = False
    done: int = 0
    total: int = 0
    started: float = field(default_factory=time.monotonic)
    remark: str = ""
    changed: Callable[[], None] = lambda: None
    stopped: str = "Cancelled. Nothing was changed."

    @property
    def progress(self) -> Progress:
        """What work calls to report how far it is; it raises when somebody has cancelled the job."""

        def tell(done: int, total: int) -> None:
            if self.cancelled:
                raise Cancelled
            self.done, self.total = done, total

        return tell

    def phase(self, title: str) -> None:
        """Begin another part of the work."""
        if self.cancelled:
            raise Cancelled
        self.title, self.done, self.total, self.started, self.remark = title, 0, 0, time.monotonic(), ""
        self.changed()

    @property
    def percent(self) -> int | None:
        """How much of this part is done; None where that is not known."""
        return min(100, 100 * self.done // self.total) if self.total else None

    @property
    def seconds_left(self) -> int | None:
        """How long this part will take, as it went so far; None while too little of it is done to know."""
        spent = time.monotonic() - self.started
        known = spent > 1 and _TELLING * self.done >= self.total > 0
        return round(spent * (self.total - self.done) / self.done) if known else None


class Worker:
    """Runs one job, while at most one other waits.

    `changed` is called, on either thread, whenever a page may have something else to show.
    """

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._lock = threading.Condition()
        self._running: Job | None = None
        self._waiting: Job | None = None
        self._ending = False
        self.fault: Told | None = None
        self.said = ""
        self._thread = threading.Thread(target=self._work, name="microagg-worker", daemon=True)
        self._thread.start()
        listen(self._remark)

    @property
    def job(self) -> Job | None:
        """The job that runs."""
        return self._running

    @property
    def state(self) -> str:
        """Idle, running, cancelling or failed."""
        job = self._running
        if job is not None:
            return "cancelling" if job.cancelled else "running"
        return "idle" if self.fault is None else "failed"

    def has(self, kind: str) -> bool:
        """Return whether a job of this kind runs, and was not cancelled, or waits."""
        with self._lock:
            running = self._running
            runs = running is not None and running.kind == kind and not running.cancelled
            return runs or (self._waiting is not None and self._waiting.kind == kind)

    def submit(self, job: Job) -> None:
        """Do this as soon as may be; a running job of its kind is stopped, and one that waits is forgotten."""
        with self._lock:
            if self._waiting is not None and self._waiting.kind == EXPORT:
                raise Busy
            job.changed = self._changed
            if self._running is not None and self._running.kind == job.kind != EXPORT:
                self._running.cancelled, self._running.stopped = True, ""  # nobody has pressed Cancel
            self._waiting = job
            self.fault, self.said = None, ""
            self._lock.notify_all()
        self._changed()

    def cancel(self, *kinds: str) -> None:
        """Stop what runs and forget what waits: of these kinds, or all."""
        with self._lock:
            if self._waiting is not None and (not kinds or self._waiting.kind in kinds):
                self._waiting = None
            if self._running is not None and (not kinds or self._running.kind in kinds):
                self._running.cancelled = True
                self._running.stopped = "" if kinds else self._running.stopped  # nobody has pressed Cancel
        self._changed()

    def settle(self, seconds: float) -> bool:
        """Wait until nothing runs or waits; return whether that is so. Not for the thread that serves pages."""
        with self._lock:
            return self._lock.wait_for(lambda: self._running is None and self._waiting is None, seconds)

    @property
    def full(self) -> bool:
        """Whether a job waits, whose place another would take."""
        return self._waiting is not None

    @property
    def idle(self) -> bool:
        """Whether nothing runs or waits."""
        return self._running is None and self._waiting is None

    def end(self, seconds: float = 5.0) -> bool:
        """Cancel everything and wait for the thread; return whether it has ended."""
        with self._lock:
            self._ending = True
            self._lock.notify_all()
        self.cancel()
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _work(self) -> None:
        while True:
            with self._lock:
                self._lock.wait_for(lambda: self._waiting is not None or self._ending)
                if self._ending:
                    return
                job, self._waiting = self._waiting, None
                self._running = job
            assert job is not None
            job.started = time.monotonic()
            self._changed()
            self._do(job)
            with self._lock:
                self._running = None
                self._lock.notify_all()
            self._changed()

    def _do(self, job: Job) -> None:
        try:
            job.work(job)
            self.said = ""
        except Cancelled:
            self.said = job.stopped
        except Exception as error:  # noqa: BLE001 - what is said of it is decided in one place
            self._tell(job, error)
        else:
            return
        gc.collect()  # what was stopped half-way holds itself by its frames, a file's worth of memory each time

    def _tell(self, job: Job, error: Exception) -> None:
        """Hand in what is said of an error; what goes wrong with that must not end the thread."""
        from microagg.app.words import said

        found = said(error)
        error.__traceback__ = None  # its frames hold the data, and what follows may need the memory
        if job.failed is None:
            self.fault = found
            return
        try:
            job.failed(found, error)
        except Exception as other:  # noqa: BLE001 - what is said of it is decided in one place
            self.fault = said(other)
            other.__traceback__ = None

    def _remark(self, text: str) -> None:
        if self._running is not None:
            self._running.remark = text
            self._changed()
