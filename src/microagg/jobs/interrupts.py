"""Ctrl-C that is not lost."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_AGAIN = 0.5  # seconds


INTERRUPTED = 130
"""The exit code of what was stopped by Ctrl-C, as shells have it."""


@contextmanager
def ending_at_once() -> Iterator[None]:
    """Let a Ctrl-C end the process without a trace while nothing but imports has begun.

    Raised within an import it would be shown with a traceback, or be taken for a module that cannot be loaded.
    """
    if not _is_ours():
        yield
        return
    signal.signal(signal.SIGINT, _end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(*_: Any) -> None:
    os.write(2, b"Aborted.\n")
    os._exit(INTERRUPTED)


def _is_ours() -> bool:
    """Return whether nobody else handles Ctrl-C here."""
    return (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )


@contextmanager
def insisting() -> Iterator[None]:
    """Repeat a Ctrl-C until it has been heeded.

    Python loses one that arrives while compiled code calls back: what is raised there goes nowhere, and LLVM calls
    back for every kernel that it has compiled. What must be put away to its end ignores the signal meanwhile.
    """
    from microagg.files.scratch import signals_raise

    if not _is_ours():
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
        with signals_raise():  # what is half-written is put away on SIGTERM and a closed terminal too
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
