"""Ctrl-C that is not lost."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_AGAIN = 0.5  # seconds


@contextmanager
def insisting() -> Iterator[None]:
    """Repeat a Ctrl-C until it has been heeded.

    Python loses one that arrives while compiled code calls back: what is raised there goes nowhere, and LLVM calls
    back for every kernel that it has compiled. What must be put away to its end ignores the signal meanwhile.
    """
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    ):
        yield
        return
    heeded = threading.Event()
    repeater = threading.Thread(target=_repeat_until, args=(heeded,), daemon=True)

    def interrupt(number: int, frame: Any) -> None:
        if not repeater.is_alive():
            repeater.start()
        signal.default_int_handler(number, frame)

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        heeded.set()
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _repeat_until(heeded: threading.Event) -> None:
    while not heeded.wait(_AGAIN):
        if hasattr(signal, "pthread_kill"):  # which wakes the main thread from what it waits for
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        else:
            signal.raise_signal(signal.SIGINT)
