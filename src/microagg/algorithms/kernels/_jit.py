"""How kernels are compiled, and where the compiled code is kept: said here once.

Nothing compiles at import, and Numba hears of a kernel when it is needed. A kernel compiles at its first call and is
kept on disk under a name that holds a digest of every kernel's source, because Numba's own check looks at the calling
file alone and would go on using code compiled from an older callee.
"""

import functools
import gc
import hashlib
import logging
import os
import stat
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core import config, event
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.untyped_passes import InlineInlinables, RewriteSemanticConstants

from microagg.algorithms.kernels._keeping import KernelCache
from microagg.base import ownership


class _Pruning(CompilerBase):  # type: ignore[misc]
    """Compiles as Numba does, and leaves out what the type of a pool rules out in inlined functions too."""

    def define_pipelines(self) -> list[Any]:
        """Return the steps: what is known by types is found once more when inlined functions are there."""
        steps = DefaultPassBuilder.define_nopython_pipeline(self.state)
        steps.add_pass_after(RewriteSemanticConstants, InlineInlinables)
        steps.finalize()
        return [steps]


# No fastmath and no contraction: every comparison that decides must see the same bits everywhere.
# Nobody calls a kernel as a function of C.
_OPTIONS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, "pipeline_class": _Pruning}


class _Kernel:
    """A function that is passed to Numba when it is first called, or when a kernel that calls it is compiled.

    Numba takes a sixth of a millisecond for each of two hundred, of which a run needs ten.
    """

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        self.py_func, self._options, self._made = function, options, None
        functools.update_wrapper(self, function)
        _known.append(self)

    def __call__(self, *given: Any) -> Any:
        return (self._made or self.made())(*given)

    def made(self) -> Any:
        """Return what Numba makes of the function, the same to all threads."""
        if self._made is None:
            made = _compiled(self.py_func, self._options)
            with _one_at_a_time:
                self._made = self._made or made
        return self._made


_known: list[_Kernel] = []
_one_at_a_time = threading.Lock()


def _make_all() -> None:
    """Put what Numba makes of kernels in their place, wherever one that is compiled may look for them."""
    for names in {id(one.py_func.__globals__): one.py_func.__globals__ for one in _known}.values():
        for name, value in list(names.items()):
            if isinstance(value, _Kernel):
                names[name] = value.made()


def kernel(function: Callable[..., Any]) -> Any:
    """Compile at first call, release the GIL, and keep the result on disk where that is possible."""
    return _Kernel(function)


def inner(function: Callable[..., Any]) -> Any:
    """Make a kernel that only other kernels call: it compiles faster without an entry from Python."""
    return _Kernel(function, no_cpython_wrapper=True)


def inlined(function: Callable[..., Any]) -> Any:
    """Mark a small function to be written into the kernels that call it.

    An array passed to a real call costs more than the few operations inside.
    """
    return _Kernel(function, inline="always")


class _Compiling(event.Listener):  # type: ignore[misc]
    """Says that Numba compiles, and makes ready for it.

    Python's garbage collector is kept still: it would look at a growing heap in vain.
    """

    def __init__(self) -> None:
        self._depth, self._was_on = 0, False
        self._began, self.seconds = 0.0, 0.0

    def on_start(self, event: Any) -> None:  # noqa: ARG002
        if self._depth == 0:
            announce_compiling()
            _make_all()
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
    """Return how long this process has compiled kernels so far."""
    return _compiling.seconds


def _compiled(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    made = numba.njit(**_OPTIONS, **options)(function)
    directory = None if "inline" in options else _cache_directory()
    if directory is None:
        return made
    with _one_at_a_time:
        before = config.CACHE_DIR
        config.CACHE_DIR = directory
        try:
            made._cache = KernelCache(function)
        finally:
            config.CACHE_DIR = before
    return made


def _cache_directory() -> str | None:
    """Return a writable folder that belongs to exactly these kernel sources, and to us alone, or None."""
    return _found_cache()[0]


@functools.cache
def _found_cache() -> tuple[str | None, str]:
    """Return the folder to keep compiled kernels in, or None and why there is none."""
    digest = hashlib.sha256(numba.__version__.encode())
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.name.encode())
        digest.update(source.read_bytes())
    try:
        root = _cache_root()
        directory = root / digest.hexdigest()[:16]
        weak = _made_weakly(root, directory)
        if weak is not None:
            return None, (
                f"{str(weak)!r} is a link, or others own it or can write to it, and could run code as you through it. "
                f"Remove it, or set NUMBA_CACHE_DIR to a folder that only you can write to"
            )
        tempfile.TemporaryFile(dir=directory).close()
    except (OSError, RuntimeError):  # read-only, full, or no home folder: compile in memory
        return None, "no folder to keep them in can be written"
    return str(directory), ""


def _cache_root() -> Path:
    """Name the folder of the caches of all versions, free of links above it."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return Path(chosen).resolve() / "microagg"
    import platformdirs

    return Path(platformdirs.user_cache_dir("microagg")).resolve() / "kernels"


def _made_weakly(root: Path, directory: Path) -> Path | None:
    """Make the cache in its root, and return what of it others can change, if they can.

    Numba reads its cache by unpickling, which runs code. So both folders must be ours alone.
    """
    root.parent.mkdir(parents=True, exist_ok=True)
    weak = _weak_parent(root)
    if weak is not None:
        return weak
    for folder in (root, directory):
        folder.mkdir(exist_ok=True, mode=0o700)
        if not _is_good(folder, ownership.is_ours_alone):
            return folder
    is_closed = not directory.lstat().st_mode & 0o077  # then, by whatever umask Numba writes, nobody else gets there
    rule = ownership.is_ours if is_closed else ownership.is_ours_alone
    return next((path for path in directory.rglob("*") if not _is_good(path, rule)), None)


def _weak_parent(root: Path) -> Path | None:
    """Find a folder above the cache in which somebody else could put another in its place.

    Nothing is asked of the user's home and what is above it: who can exchange that needs no cache to run code.
    """
    if not ownership.KNOWN:
        return None
    try:
        home = Path.home().resolve()
    except RuntimeError:
        home = Path("/")
    for folder in root.parents:
        if folder not in (home, *home.parents) and _lets_others_rename(folder.stat()):
            return folder
    return None


def _lets_others_rename(status: os.stat_result) -> bool:
    """Whether somebody else can rename what is ours in a folder: its owner, or who may write without a sticky bit.

    The group that our own files get is not counted: under a umask of 002 it can write to all of them.
    """
    if status.st_uid not in (os.geteuid(), 0, Path("/").stat().st_uid):  # in a container, root may have another number
        return True
    group = stat.S_IWGRP if status.st_gid != os.getegid() else 0
    return bool(status.st_mode & (stat.S_IWOTH | group)) and not status.st_mode & stat.S_ISVTX


def _is_good(path: Path, rule: Callable[[os.stat_result], bool]) -> bool:
    try:
        status = path.lstat()
    except FileNotFoundError:  # a temporary file of another process
        return True
    return not stat.S_ISLNK(status.st_mode) and rule(status)


@functools.cache
def announce_compiling() -> None:
    """Say once, where it applies, why the first call takes its time."""
    if is_cold():
        directory, why = _found_cache()
        kept = "and keeping them on disk" if directory else f"anew, as {why}"
        logging.getLogger("microagg").warning("compiling kernels for this machine (some 10 s) %s", kept)


def is_lacking(function: Callable[..., Any]) -> bool:
    """Return whether a compiled form of this kernel could be kept on disk and there is none yet."""
    directory = _cache_directory()
    name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
    return directory is not None and not any(Path(directory).glob(f"*/{name}-*.nbi"))


def is_cold() -> bool:
    """Return whether nothing has been compiled and kept yet, so that first calls will take seconds."""
    directory = _cache_directory()
    return directory is None or not any(Path(directory).rglob("*.nbi"))
