"""Work that a database's driver or a child process does: stopped by Ctrl-C, and failing in our words alone."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from microagg.errors import MicroaggError
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
