"""Arrays that a process has read from a store and keeps, since it may be asked for them again; the last ones used."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any

from numpy.typing import NDArray

_MOST = 1 << 28  # bytes
_lock = threading.Lock()
_arrays: "OrderedDict[Hashable, NDArray[Any]]" = OrderedDict()


def get(name: Hashable, read: Callable[[], NDArray[Any]]) -> NDArray[Any]:
    """Give an array that is kept under a name, or read it."""
    with _lock:
        if name in _arrays:
            _arrays.move_to_end(name)
            return _arrays[name]
    found = read()
    with _lock:
        _arrays[name] = found
        while sum(one.nbytes for one in _arrays.values()) > _MOST:
            _arrays.popitem(last=False)
    return found


def clear() -> None:
    """Keep nothing any longer."""
    with _lock:
        _arrays.clear()
