"""Long work: what it reports to the caller, and pieces of it side by side in threads.

Kernels let go of Python's lock, so that threads work at once.
"""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, NamedTuple, TypeVar

One = TypeVar("One")

Progress = Callable[[int, int], None]
"""Called as progress(done, in all), often; what it raises stops the work, and nothing is left behind."""


def tell(progress: Progress | None, done: int, total: int) -> None:
    """Report progress to whoever asked for it."""
    if progress is not None:
        progress(done, total)


def stage(progress: Progress | None, number: int, of: int) -> Progress | None:
    """Return the progress of one of so many stages, numbered from 0, that each look at all records."""
    if progress is None:
        return None
    return lambda done, total: progress(number * total + done, of * total)


def part(progress: Progress | None, start: int, stop: int, in_all: int) -> Progress | None:
    """The progress of a step that takes the whole from `start` to `stop`; equal ones only let it be stopped."""
    if progress is None:
        return None
    return lambda done, total: progress(start + (stop - start) * done // max(1, total), in_all)


def each(things: Sequence[One], progress: Progress | None) -> Iterator[One]:
    """Yield things one by one, and report before each how many are done."""
    for done, one in enumerate(things):
        tell(progress, done, len(things))
        yield one


class SharedProgress:
    """Adds up the progress of threads that work side by side."""

    def __init__(self, progress: Progress | None, in_all: int) -> None:
        self._progress, self._in_all, self._done = progress, in_all, 0
        self._lock = threading.Lock()

    def __call__(self, more: int) -> None:
        """Report that this much more is done."""
        with self._lock:
            self._done += more
            tell(self._progress, self._done, self._in_all)


Item = TypeVar("Item")
Result = TypeVar("Result")


_MANY = 20_000  # records: below it threads cost more than they spare


def threads_for(n_records: int) -> int:
    """Return how many threads pay for quick work on so many records: every core, or one."""
    return (os.cpu_count() or 1) if n_records >= _MANY else 1


class Stopped(Exception):
    """Ends a piece of work whose result nobody waits for any more."""


def in_parallel(
    work: Callable[[Item, Callable[[], None]], Result],
    items: Sequence[Item],
    n_jobs: int,
    progress: Progress | None = None,
) -> list[Result]:
    """Return work(item, check) for each item, in their order; report each that is done to `progress`.

    The first error, or Ctrl-C, stops the rest: those that have begun end when they next call check().
    """
    stop = threading.Event()

    def check() -> None:
        if stop.is_set():
            raise Stopped

    workers = min(len(items), n_jobs)
    results: dict[int, Result] = {}
    if workers <= 1:
        for number, item in enumerate(items):
            results[number] = work(item, check)
            tell(progress, number + 1, len(items))
        return list(results.values())
    running: dict[Future[Result], int] = {}
    with ThreadPoolExecutor(workers) as executor:
        try:
            # Few are started at a time, so that few must be called back.
            for number, item in enumerate(items):
                if len(running) >= 2 * workers:
                    _collect(running, results)
                    tell(progress, len(results), len(items))
                running[executor.submit(work, item, check)] = number
            while running:
                _collect(running, results)
                tell(progress, len(results), len(items))
        except BaseException:
            stop.set()
            executor.shutdown(cancel_futures=True)
            raise
    return [results[number] for number in range(len(items))]


def _collect(running: dict[Future[Result], int], results: dict[int, Result]) -> None:
    """Wait until some work is done, and keep its results; raise what it raised."""
    for future in wait(running, return_when=FIRST_COMPLETED).done:
        results[running.pop(future)] = future.result()


class Work(NamedTuple):
    """How long work is done: by so many threads, and reported to whom. It is made at the edge, and passed on whole."""

    n_jobs: int = 1
    progress: Progress | None = None

    def tell(self, done: int, total: int) -> None:
        """Report how much is done."""
        tell(self.progress, done, total)

    def stage(self, number: int, of: int) -> "Work":
        """Return one of so many stages, numbered from 0, that each look at all records."""
        return self._replace(progress=stage(self.progress, number, of))

    def stages(self, of: int) -> list["Work"]:
        """Return all of so many stages."""
        return [self.stage(number, of) for number in range(of)]

    def part(self, start: int, stop: int, in_all: int) -> "Work":
        """Return a step that takes the whole from `start` to `stop`; where these are equal, it can only be stopped."""
        return self._replace(progress=part(self.progress, start, stop, in_all))

    @property
    def unseen(self) -> "Work":
        """A first step that does not count, and can be stopped."""
        return self.part(0, 0, 1)

    @property
    def last(self) -> "Work":
        """A last step that does not count, and can be stopped."""
        return self.part(1, 1, 1)

    def each(self, act: Callable[[Item, Callable[[], None]], Result], items: Sequence[Item]) -> list[Result]:
        """Return act(item, check) for each item, as `in_parallel` does, and report each that is done."""
        return in_parallel(act, items, self.n_jobs, self.progress)


ALONE = Work()
"""One thread, which reports nothing."""


def one_thread_for_matrices() -> AbstractContextManager[Any]:
    """Let products of small matrices be computed by one thread.

    Several wait for each other so often that they take forty times as long where other work has the processors.
    """
    return _controller().limit(limits=1, user_api="blas")  # type: ignore[no-any-return]


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()  # which looks through all libraries, so once is enough
