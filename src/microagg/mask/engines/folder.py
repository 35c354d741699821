"""What workers and the client hand each other: files in a folder that all of them see, on a shared disk or in a store.

What is left there appears when it is whole: on a disk it is written under another name and renamed. A task that is run
again leaves the same under the same name, so that nothing changes there, and what was read from a store may be kept.
"""

import functools
import hmac
import io
import os
import pickle
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.base.frozen import frozen
from microagg.errors import ClusterFailed
from microagg.files.publishing import still_open
from microagg.files.stores import Place, reached
from microagg.mask.engines import held
from microagg.work import in_parallel

_SIGNED = 32  # bytes of a signature
_AT_ONCE = 32  # requests to a store


@frozen()
class InStore:
    """A private folder of a store.

    Whoever can write there could leave an object that runs a program when it is read. So objects are signed, with a key
    that only the scheduler passes on.
    """

    place: Place
    key: bytes = field(default_factory=lambda: os.urandom(_SIGNED), repr=False)

    def file(self, name: str) -> Place:
        """Return the place of a file; what is numbered lies in a folder, which a store removes at once."""
        group, dash, number = name.rpartition("-")
        return self.place / (f"{group}/{number}" if dash else number)

    def write(self, name: str, *content: Any) -> None:
        """Leave a file."""
        file = self.file(name)
        file.write_bytes(*content)
        still_open(self.place, file)

    def sign(self, name: str, content: bytes) -> bytes:
        """Return the signature of an object under its name."""
        return hmac.digest(self.key, name.encode() + b"\0" + content, "sha256")


Folder = Path | InStore
"""Where scratch is."""


class _Plain:
    """A file that NumPy does not recognise as one: it then writes in a way that reports a full disk."""

    def __init__(self, file: BinaryIO) -> None:
        self.write = file.write


@contextmanager
def _whole_file_in(path: Path) -> Iterator[BinaryIO]:
    """Open a file that appears when it is whole."""
    handle, temporary = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def keep(folder: Folder, name: str, **arrays: Any) -> None:
    """Leave arrays in the folder under a name."""
    if isinstance(folder, InStore):
        content = io.BytesIO()
        np.savez(content, **arrays)
        folder.write(name, content.getbuffer())
        return
    with _whole_file_in(folder / f"{name}.npz") as file:
        np.savez(file, **arrays)


def kept(folder: Folder, name: str) -> dict[str, NDArray[Any]]:
    """Return arrays that were left in the folder."""
    source = io.BytesIO(folder.file(name).read_bytes()) if isinstance(folder, InStore) else folder / f"{name}.npz"
    with np.load(source) as found:
        return dict(found)


def keep_matrix(folder: Folder, name: str, matrix: NDArray[Any], *, by_record: bool = False) -> None:
    """Leave one array such that parts of it can be read.

    `by_record` lays the values of each record, a column of the array, side by side in a store, where each stretch that
    is read costs a request.
    """
    if isinstance(folder, InStore):
        stored = np.asfortranarray(matrix) if by_record else np.ascontiguousarray(matrix)
        header = io.BytesIO()
        np.lib.format.write_array_header_1_0(header, np.lib.format.header_data_from_array_1_0(stored))
        folder.write(name, header.getbuffer(), stored.ravel(order="K").view(np.uint8) if stored.size else b"")
        held.put((folder, name), stored if stored is not matrix and stored.base is None else stored.copy(order="K"))
        return
    with _whole_file_in(folder / f"{name}.npy") as file:
        np.save(_Plain(file), matrix)


def matrix_of(folder: Folder, name: str) -> NDArray[Any]:
    """Return an array that was left in the folder, to be read where it is looked at; from a store, all of it."""
    if isinstance(folder, InStore):
        return held.get((folder, name), lambda: _stored(folder, name).all())
    return np.asanyarray(np.load(folder / f"{name}.npy", mmap_mode="r"))


def part_of(folder: Folder, name: str, records: slice) -> NDArray[Any]:
    """Return some records, by the last axis, of an array that was left in the folder."""
    if isinstance(folder, InStore):
        if held.has((folder, name)):
            return matrix_of(folder, name)[..., records]
        return _stored(folder, name).part(records)
    return np.asanyarray(matrix_of(folder, name)[..., records])


def rows_of(folder: Folder, name: str) -> Callable[[int], NDArray[Any]]:
    """Return what gives single rows of an array that was left in the folder."""
    if isinstance(folder, InStore):
        if held.has((folder, name)):
            return matrix_of(folder, name).__getitem__
        return lambda row: held.get((folder, name, row), lambda: _stored(folder, name).row(row))
    return matrix_of(folder, name).__getitem__


class _Stored(NamedTuple):
    """An array in a store, of which stretches can be read."""

    place: Place
    file: Any
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    by_record: bool
    start: int

    def _read(self, first: int, count: int) -> NDArray[Any]:
        size = self.dtype.itemsize
        with reached(self.place):
            return np.frombuffer(self.file.read_at(count * size, self.start + first * size), self.dtype, count)

    def all(self) -> NDArray[Any]:
        """Read all of it."""
        found = self._read(0, int(np.prod(self.shape)))
        return found.reshape(self.shape, order="F" if self.by_record else "C")

    def part(self, records: slice) -> NDArray[Any]:
        """Read some records."""
        first, last, _ = records.indices(self.shape[-1])
        if len(self.shape) == 1:
            return self._read(first, last - first)
        width = self.shape[0]
        if self.by_record:
            return self._read(first * width, (last - first) * width).reshape((width, last - first), order="F")
        rows = [self._read(row * self.shape[1] + first, last - first) for row in range(width)]
        return np.array(rows, dtype=self.dtype).reshape(width, last - first)

    def row(self, row: int) -> NDArray[Any]:
        """Read one row."""
        return self.all()[row] if self.by_record else self._read(row * self.shape[1], self.shape[1])


def in_turn(folder: Folder, read: Callable[[int], Any], count: int) -> Iterator[Any]:
    """Return what was left under each number; from a store some are read at a time, and never all."""
    step = _AT_ONCE if isinstance(folder, InStore) else 1
    for start in range(0, count, step):
        yield from several(folder, read, range(start, min(start + step, count)))


def several(folder: Folder, work: Callable[[int], Any], numbers: Sequence[int]) -> list[Any]:
    """Yield work(number) for each; from a store, where one waits more than works, many at a time."""

    def checked(number: int, look: Callable[[], None]) -> Any:
        look()
        return work(number)

    return in_parallel(checked, numbers, _AT_ONCE if isinstance(folder, InStore) else 1)


@functools.lru_cache(maxsize=1 << 12)  # what an array looks like is asked for once
def _stored(folder: InStore, name: str) -> _Stored:
    """Look at an array in a store."""
    place = folder.file(name)
    file = place.open()
    with reached(place):
        header = io.BytesIO(file.read_at(1 << 8, 0))
    np.lib.format.read_magic(header)
    shape, by_record, dtype = np.lib.format.read_array_header_1_0(header)
    return _Stored(place, file, shape, dtype, by_record, header.tell())


def keep_object(folder: Folder, name: str, thing: Any) -> None:
    """Leave an object."""
    import cloudpickle  # comes with Dask; it also takes what a session at the prompt defines

    if isinstance(folder, InStore):
        content = cloudpickle.dumps(thing)
        folder.write(name, folder.sign(name, content), content)
        return
    with _whole_file_in(folder / f"{name}.pickle") as file:
        cloudpickle.dump(thing, file)


def object_in(folder: Folder, name: str) -> Any:
    """Return an object that was left in the folder, to which only its owner can write."""
    if isinstance(folder, Path):
        return pickle.loads((folder / f"{name}.pickle").read_bytes())
    found = folder.file(name).read_bytes()
    signature, content = found[:_SIGNED], found[_SIGNED:]
    if not hmac.compare_digest(signature, folder.sign(name, content)):
        raise ClusterFailed(
            "somebody else has written to the folder for temporary files. Name one to which only you can write: "
            "scratch=."
        )
    return pickle.loads(content)


@functools.lru_cache(maxsize=8)
def object_of(folder: Folder, name: str) -> Any:
    """Return an object that was left in the folder and stays the same, read once by each worker."""
    return object_in(folder, name)


def is_left(folder: Folder, name: str) -> bool:
    """Return whether an object was left in the folder."""
    return (folder.file(name) if isinstance(folder, InStore) else folder / f"{name}.pickle").exists()


def forget(folder: Folder, pattern: str) -> None:
    """Remove what was left under numbers, as "counts-3-*"."""
    if isinstance(folder, Path):
        for path in folder.glob(pattern):
            path.unlink()
        return
    for group, is_folder, _ in folder.place.inside():
        if is_folder and fnmatchcase(f"{group.name}-", pattern):
            group.remove()


@contextmanager
def forgetting() -> Iterator[None]:
    """Let go, at the end, of all that this process has read."""
    try:
        yield
    finally:
        forget_all()


def forget_all() -> None:
    """Let go of all that this process has read."""
    object_of.cache_clear()
    _stored.cache_clear()
    held.clear()
