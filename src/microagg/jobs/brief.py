"""What saves time in a process that runs for a second."""

import atexit
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from microagg.base.imports import pandas_kept_aside

_MANY = 200_000  # new objects before Python looks for some to throw away; imports make as many, and they stay


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
