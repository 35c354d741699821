"""How kernels are compiled, and where the compiled code is kept: said here once.

Nothing compiles at import. A kernel compiles at its first call and is kept on disk under a name that
holds a digest of every kernel's source, because Numba's own check looks at the calling file alone and
would go on using code compiled from an older callee.
"""

import functools
import gc
import hashlib
import logging
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core import config, event

# No fastmath and no contraction: every comparison that decides must see the same bits everywhere.
_OPTIONS = {"nogil": True, "error_model": "numpy"}


def kernel(function: Callable[..., Any]) -> Any:
    """Compile at first call, release the GIL, and keep the result on disk where that is possible."""
    return _compiled(function, {})


def inner(function: Callable[..., Any]) -> Any:
    """Make a kernel that only other kernels call: it compiles faster without an entry from Python."""
    return _compiled(function, {"no_cpython_wrapper": True, "no_cfunc_wrapper": True})


def inlined(function: Callable[..., Any]) -> Any:
    """Mark a small function to be written into the kernels that call it.

    An array passed to a real call costs more than the few operations inside.
    """
    return numba.njit(inline="always", **_OPTIONS)(function)


class _Compiling(event.Listener):  # type: ignore[misc]
    """Says that Numba compiles, and keeps Python's garbage collector still: it would look at a growing heap in vain."""

    def __init__(self) -> None:
        self._depth, self._was_on = 0, False
        self._began, self.seconds = 0.0, 0.0

    def on_start(self, event: Any) -> None:  # noqa: ARG002
        if self._depth == 0:
            announce_compiling()
            self._was_on = gc.isenabled()
            self._began = time.perf_counter()
            gc.disable()
        self._depth += 1

    def on_end(self, event: Any) -> None:  # noqa: ARG002
        self._depth -= 1
        if self._depth == 0:
            self.seconds += time.perf_counter() - self._began
        if self._depth == 0 and self._was_on:
            gc.enable()


_compiling = _Compiling()
event.register("numba:compile", _compiling)


def compiling_seconds() -> float:
    """Give how long this process has compiled kernels so far."""
    return _compiling.seconds


def _compiled(function: Callable[..., Any], more: dict[str, bool]) -> Any:
    directory = _cache_directory()
    if directory is None:
        return numba.njit(**_OPTIONS, **more)(function)
    before = config.CACHE_DIR
    config.CACHE_DIR = directory
    try:
        return numba.njit(cache=True, **_OPTIONS, **more)(function)
    finally:
        config.CACHE_DIR = before


@functools.cache
def _cache_directory() -> str | None:
    """Return a writable folder that belongs to exactly these kernel sources, or None."""
    digest = hashlib.sha256(numba.__version__.encode())
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.name.encode())
        digest.update(source.read_bytes())
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    try:
        if chosen:
            root = Path(chosen) / "microagg"
        else:
            import platformdirs

            root = Path(platformdirs.user_cache_dir("microagg")) / "kernels"
        directory = root / digest.hexdigest()[:16]
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        tempfile.TemporaryFile(dir=directory).close()
    except (OSError, RuntimeError):  # read-only, full, or no home folder: compile in memory
        return None
    return str(directory)


@functools.cache
def announce_compiling() -> None:
    """Say once, where it applies, why the first call takes its time."""
    if is_cold():
        kept = "and keeping them on disk" if _cache_directory() else "anew, as no folder to keep them in can be written"
        logging.getLogger("microagg").warning("compiling kernels for this machine (some 20 s) %s", kept)


def is_cold() -> bool:
    """Tell whether nothing has been compiled and kept yet, so that first calls will take seconds."""
    directory = _cache_directory()
    return directory is None or not any(Path(directory).rglob("*.nbi"))
