"""What spares a process time that runs for a second."""

import atexit
import gc
from collections.abc import Iterator
from contextlib import contextmanager

from microagg import _pandas

_MANY = 50_000  # new objects before Python looks for some to throw away; imports make hundreds of thousands that stay


@contextmanager
def brief() -> Iterator[None]:
    """Look seldom for what can be thrown away, not at all at the end, and keep pandas aside."""
    usual = gc.get_threshold()
    gc.set_threshold(_MANY, *usual[1:])
    atexit.register(gc.freeze)  # else all that is still there would be looked through twice, and then given up anyway
    try:
        with _pandas.kept_aside():
            yield
    finally:
        gc.set_threshold(*usual)
