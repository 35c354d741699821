"""What spares a process time that runs for a second."""

import atexit
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from microagg import _pandas

_MANY = 50_000  # new objects before Python looks for some to throw away; imports make hundreds of thousands that stay


@contextmanager
def brief() -> Iterator[None]:
    """Look seldom for what can be thrown away, not at all at the end, and keep pandas aside."""
    usual = gc.get_threshold()
    gc.set_threshold(_MANY, *usual[1:])
    atexit.register(_leave_the_rest)
    try:
        with _pandas.kept_aside():
            yield
    finally:
        gc.set_threshold(*usual)


def _leave_the_rest() -> None:
    """Let what is still there at the end be given up as it is: Python would look through all of it twice before."""
    if "duckdb" not in sys.modules:  # which takes what it is not told to throw away for leaks, and lists them
        gc.freeze()
