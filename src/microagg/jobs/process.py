"""The process that works: Ctrl-C that is not lost, what saves time where it runs for a second, and its remarks."""

import atexit
import gc
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from microagg.base.imports import pandas_kept_aside

_AGAIN = 0.5  # seconds
_MANY = 200_000  # new objects before Python looks for some to throw away; imports make as many, and they stay
_LOGGER = "microagg"

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


@contextmanager
def brief() -> Iterator[None]:
    """Look seldom for what can be thrown away, not at all at the end, and keep pandas aside."""
    gc.set_threshold(_MANY, *gc.get_threshold()[1:])  # and never back: that would set off the search it spares
    atexit.register(_leave_the_rest)
    with pandas_kept_aside():
        yield


def _leave_the_rest() -> None:
    """Leave what is still in memory at the end: Python would otherwise look through all of it twice."""
    if "duckdb" not in sys.modules:  # which takes everything that is not released for a leak, and lists it
        gc.freeze()


class _Handler(logging.Handler):
    """Passes remarks on to one listener."""

    def __init__(self, listener: Callable[[str], None]) -> None:
        super().__init__()
        self._listener = listener

    def emit(self, record: logging.LogRecord) -> None:
        """Pass a remark on."""
        self._listener(record.getMessage())


def listen(listener: Callable[[str], None]) -> None:
    """Pass remarks of the library to this listener, and to no earlier one."""
    logger = logging.getLogger(_LOGGER)
    for former in [one for one in logger.handlers if isinstance(one, _Handler)]:
        logger.removeHandler(former)
    logger.addHandler(_Handler(listener))


def listen_closely() -> None:
    """Let the library also remark what it does step by step."""
    logging.getLogger(_LOGGER).setLevel(logging.INFO)
