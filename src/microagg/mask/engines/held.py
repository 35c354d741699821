"""Arrays of a store that a process keeps, since it may be asked for them again: the last that it read or wrote."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any

from numpy.typing import NDArray

_MOST = 1 << 29  # bytes
_lock = threading.Lock()
_arrays: "OrderedDict[Hashable, NDArray[Any]]" = OrderedDict()


def get(name: Hashable, read: Callable[[], NDArray[Any]]) -> NDArray[Any]:
    """Return an array that is kept under a name, or read it."""
    with _lock:
        if name in _arrays:
            _arrays.move_to_end(name)
            return _arrays[name]
    found = read()
    put(name, found)
    return found


def put(name: Hashable, array: NDArray[Any]) -> None:
    """Keep an array, which nobody changes, under a name."""
    if array.nbytes > _MOST // 2:  # it would take the place of all others
        return
    kept = array.view()
    kept.flags.writeable = False
    with _lock:
        _arrays[name] = kept
        while sum(one.nbytes for one in _arrays.values()) > _MOST:
            _arrays.popitem(last=False)


def has(name: Hashable) -> bool:
    """Return whether an array is kept under a name."""
    with _lock:
        return name in _arrays


def clear() -> None:
    """Keep nothing any longer."""
    with _lock:
        _arrays.clear()
