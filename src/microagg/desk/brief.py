"""What spares a process time that runs for a second."""

import atexit
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from microagg import _pandas

_MANY = 200_000  # new objects before Python looks for some to throw away; imports make as many, and they stay


@contextmanager
def brief() -> Iterator[None]:
    """Look seldom for what can be thrown away, not at all at the end, and keep pandas aside."""
    gc.set_threshold(_MANY, *gc.get_threshold()[1:])  # and never back: that would set off the search it spares
    atexit.register(_leave_the_rest)
    with _pandas.kept_aside():
        yield


def _leave_the_rest() -> None:
    """Let what is still there at the end be given up as it is: Python would look through all of it twice before."""
    if "duckdb" not in sys.modules:  # which takes what it is not told to throw away for leaks, and lists them
        gc.freeze()
