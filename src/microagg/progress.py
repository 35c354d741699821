"""How long work reports its progress to the caller."""

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

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


class Told:
    """Adds up the progress of threads that work side by side."""

    def __init__(self, progress: Progress | None, in_all: int) -> None:
        self._progress, self._in_all, self._done = progress, in_all, 0
        self._lock = threading.Lock()

    def __call__(self, more: int) -> None:
        """Report that this much more is done."""
        with self._lock:
            self._done += more
            tell(self._progress, self._done, self._in_all)
