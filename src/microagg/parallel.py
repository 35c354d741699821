"""Independent pieces of work side by side, in threads: kernels let go of Python's lock."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class Stopped(Exception):
    """Ends a piece of work whose result nobody waits for any more."""


def in_parallel(work: Callable[[Item, Callable[[], None]], Result], items: Sequence[Item], n_jobs: int) -> list[Result]:
    """Give work(item, check) for each item, in their order.

    The first error, or Ctrl-C, stops the rest: those that have begun end when they next call check().
    """
    stop = threading.Event()

    def check() -> None:
        if stop.is_set():
            raise Stopped

    workers = min(len(items), n_jobs)
    if workers <= 1:
        return [work(item, check) for item in items]
    with ThreadPoolExecutor(workers) as executor:
        futures = [executor.submit(work, item, check) for item in items]
        try:
            return [future.result() for future in futures]
        except BaseException:
            stop.set()
            executor.shutdown(cancel_futures=True)
            raise
