"""How compiled kernels are kept on disk, such that a process that finds them loads little else.

Numba prepares for all that it could compile before it loads what was compiled: a third of a second, most of it for
SciPy. Compiled code needs the memory manager alone, and whatever compiles prepares by itself.
"""

import hashlib
import pickle
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile
from numba.core.environment import Environment, lookup_environment
from numba.core.runtime import rtsys


class _Kept(CompileResultCacheImpl):  # type: ignore[misc]
    """Keeps a kernel without the modules of Numba's own functions in it, which would be imported with it."""

    def reduce(self, compiled: Any) -> tuple[Any, ...]:
        """Return the parts of a compiled kernel, of which the last are the surroundings of functions in it."""
        *parts, surroundings = super().reduce(compiled)
        return (*parts, [_Nameless(one) if _is_of_numba(one) else one for one in surroundings])


class _Files(IndexDataCacheFile):  # type: ignore[misc]
    """Names files such that no two processes choose the same one, and takes those that are damaged for absent.

    Numba counts them. Of two processes that compile a kernel for different types at the same time, one would write its
    code into the file that the other's index names, and the wrong code would be run.

    A file begins with a digest of its name and of what follows: damaged code would be run, and end the process.
    """

    def _data_name(self, number: int) -> str:  # noqa: ARG002
        return f"{self._index_name.removesuffix('.nbi')}.{uuid.uuid4().hex}.nbc"

    def save(self, key: Any, data: Any) -> None:
        """Keep a kernel, where there is room for it."""
        with suppress(OSError):
            super().save(key, data)

    def _load_index(self) -> dict[Any, str]:
        found = self._read(self._index_name)
        known = found is not None and found[:2] == (self._version, self._source_stamp)
        return dict(found[2]) if known else {}

    def _save_index(self, overloads: dict[Any, str]) -> None:
        self._save_data(self._index_name, (self._version, self._source_stamp, overloads))

    def _load_data(self, name: str) -> Any:
        found = self._read(name)
        if found is None:
            raise FileNotFoundError
        return found

    def _save_data(self, name: str, data: Any) -> None:
        content = self._dump(data)
        with self._open_for_write(self._data_path(name)) as file:
            file.write(_digest(name, content))
            file.write(content)

    def _read(self, name: str) -> Any:
        """Return what a file holds; None if it is not there, or not as it was written."""
        try:
            whole = Path(self._data_path(name)).read_bytes()
            content = whole[_DIGEST:]
            return pickle.loads(content) if whole[:_DIGEST] == _digest(name, content) else None
        except Exception:  # noqa: BLE001 - whatever a file of another make brings about
            return None


_DIGEST = hashlib.sha256().digest_size


def _digest(name: str, content: bytes) -> bytes:
    return hashlib.sha256(name.encode() + b"\0" + content).digest()


class KernelCache(FunctionCache):  # type: ignore[misc]
    """Keeps the compiled forms of one kernel."""

    _impl_class = _Kept

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        found = self._impl
        self._cache_file = _Files(self._cache_path, found.filename_base, found.locator.get_source_stamp())

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Load what was compiled for a signature; None if nothing was."""
        rtsys.initialize(target)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(signature, target)


class _Nameless:
    """Stands for the surroundings of a function of Numba when they are written.

    Compiled code reads constants there, and never looks up a name.
    """

    def __init__(self, surroundings: Environment) -> None:
        self._surroundings = surroundings

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return _nameless, (
            self._surroundings.globals["__name__"],
            self._surroundings.consts,
            self._surroundings.env_name,
        )


def _nameless(module: str, constants: list[Any], name: str) -> Environment:
    """Make the surroundings of a function, of whose module they hold the name alone."""
    made = lookup_environment(name)
    if made is None:
        made = Environment({"__name__": module})
        made.consts[:] = constants
        made.env_name = name
        Environment._memo[name] = made
    return made


def _is_of_numba(surroundings: Environment) -> bool:
    return bool(surroundings.globals["__name__"].startswith("numba."))
