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
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.base.frozen import frozen
from microagg.columns.kinds import Cells
from microagg.errors import ClusterFailed
from microagg.files.publishing import still_open
from microagg.files.stores import Place, Where, reached
from microagg.work import in_parallel

_SIGNED = 32  # bytes of a signature
_AT_ONCE = 32  # requests to a store


class ArraysHeld:
    """Arrays of a store that a process keeps, since it may be asked for them again: the last that it read or wrote."""

    def __init__(self, most: int) -> None:
        self.most = most  # bytes
        self.arrays: OrderedDict[Hashable, NDArray[Any]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, name: Hashable, read: Callable[[], NDArray[Any]]) -> NDArray[Any]:
        """Return an array that is kept under a name, or read it."""
        with self._lock:
            if name in self.arrays:
                self.arrays.move_to_end(name)
                return self.arrays[name]
        found = read()
        self.put(name, found)
        return found

    def put(self, name: Hashable, array: NDArray[Any]) -> None:
        """Keep an array, which nobody changes, under a name."""
        if array.nbytes > self.most // 2:  # it would take the place of all others
            return
        kept = array.view()
        kept.flags.writeable = False
        with self._lock:
            self.arrays[name] = kept
            while sum(one.nbytes for one in self.arrays.values()) > self.most:
                self.arrays.popitem(last=False)

    def has(self, name: Hashable) -> bool:
        """Return whether an array is kept under a name."""
        with self._lock:
            return name in self.arrays

    def clear(self) -> None:
        """Keep nothing any longer."""
        with self._lock:
            self.arrays.clear()


held = ArraysHeld(1 << 29)


@frozen()
class Folder:
    """A private folder on a disk."""

    place: Any

    at_once = 1  # requests
    signed = 0  # bytes of a signature: only its owner can write to a folder on a disk

    @property
    def room(self) -> Path | None:
        """The folder, if it is on a disk, where more can be put beside what is left."""
        return Path(self.place)

    def file(self, name: str, suffix: str = "") -> Any:
        """Return the place of a file."""
        return self.place / f"{name}{suffix}"

    def write(self, name: str, suffix: str, *content: Any) -> None:
        """Leave a file."""
        with _whole_file_in(self.file(name, suffix)) as file:
            for part in content:
                file.write(part)

    def sign(self, name: str, content: bytes) -> bytes:  # noqa: ARG002
        """Return the signature of an object under its name."""
        return b""

    def keep(self, name: str, **arrays: Any) -> None:
        """Leave arrays under a name."""
        content = io.BytesIO()
        np.savez(content, **arrays)
        self.write(name, ".npz", content.getbuffer())

    def kept(self, name: str) -> dict[str, NDArray[Any]]:
        """Return arrays that were left."""
        with np.load(io.BytesIO(self.file(name, ".npz").read_bytes())) as found:
            return dict(found)

    def keep_matrix(self, name: str, matrix: NDArray[Any], *, by_record: bool = False) -> None:  # noqa: ARG002
        """Leave one array such that parts of it can be read.

        `by_record` lays the values of each record, a column of the array, side by side in a store, where each stretch
        that is read costs a request.
        """
        with _whole_file_in(self.file(name, ".npy")) as file:
            np.save(_Plain(file), matrix)

    def matrix(self, name: str) -> NDArray[Any]:
        """Return an array that was left, to be read where it is looked at; from a store, all of it."""
        return np.asanyarray(np.load(self.file(name, ".npy"), mmap_mode="r"))

    def part(self, name: str, records: slice) -> NDArray[Any]:
        """Return some records, by the last axis, of an array that was left."""
        return np.asanyarray(self.matrix(name)[..., records])

    def rows(self, name: str) -> Callable[[int], NDArray[Any]]:
        """Return what gives single rows of an array that was left."""
        return self.matrix(name).__getitem__

    def matrices(self, name: str, count: int) -> Iterator[NDArray[Any]]:
        """Return the arrays that were left under each number, once."""
        return self.in_turn(lambda number: self.part(f"{name}-{number}", slice(None)), count)

    def keep_cells(self, name: str, number: int, cells: list[Cells]) -> None:
        """Leave the cells of all columns of a part or region."""
        self.keep_matrix(f"{name}-{number}", np.array([own.values for own in cells]), by_record=True)
        states = np.zeros((0, 0), dtype=np.uint8)
        if any(own.states is not None for own in cells):
            states = np.array([own.all_states for own in cells])
        self.keep_matrix(f"{name}-states-{number}", states, by_record=True)

    def cells(self, name: str, number: int, rows: slice = slice(None)) -> list[Cells]:
        """Return the cells of some rows, in all columns, that were left for a part or region."""
        names = f"{name}-{number}", f"{name}-states-{number}"
        if rows == slice(None):
            values, states = map(self.matrix, names)
        else:
            values, states = (self.part(own, rows) for own in names)
        own = [np.array(column) for column in states] if len(states) else [None] * len(values)
        return [
            Cells(np.array(column), None if kinds is None or not kinds.any() else kinds)
            for column, kinds in zip(values, own, strict=True)
        ]

    def keep_object(self, name: str, thing: Any) -> None:
        """Leave an object."""
        import cloudpickle  # comes with Dask; it also takes what a session at the prompt defines

        content = cloudpickle.dumps(thing)
        self.write(name, ".pickle", self.sign(name, content), content)

    def object(self, name: str) -> Any:
        """Return an object that was left, by somebody who may."""
        found = self.file(name, ".pickle").read_bytes()
        signature, content = found[: self.signed], found[self.signed :]
        if not hmac.compare_digest(signature, self.sign(name, content)):
            raise ClusterFailed(
                "somebody else has written to the folder for temporary files. Name one to which only you can write: "
                "scratch=."
            )
        return pickle.loads(content)

    def objects(self, name: str, count: int) -> Iterator[Any]:
        """Return the objects that were left under each number, one after the other."""
        return self.in_turn(lambda number: self.object(f"{name}-{number}"), count)

    def in_turn(self, read: Callable[[int], Any], count: int) -> Iterator[Any]:
        """Return what was left under each number; from a store some are read at a time, and never all."""
        for start in range(0, count, self.at_once):
            yield from self.several(read, range(start, min(start + self.at_once, count)))

    def several(self, work: Callable[[int], Any], numbers: Sequence[int]) -> list[Any]:
        """Return work(number) for each; from a store, where one waits more than works, many at a time."""

        def checked(number: int, look: Callable[[], None]) -> Any:
            look()
            return work(number)

        return in_parallel(checked, numbers, self.at_once)

    def forget(self, pattern: str) -> None:
        """Remove what was left under numbers, as "counts-3-*"."""
        for path in self.place.glob(pattern):
            path.unlink()


@frozen()
class InStore(Folder):
    """A private folder of a store.

    Whoever can write there could leave an object that runs a program when it is read. So objects are signed, with a key
    that only the scheduler passes on.
    """

    key: bytes = field(default_factory=lambda: os.urandom(_SIGNED), repr=False)

    at_once = _AT_ONCE
    signed = _SIGNED

    @property
    def room(self) -> None:
        """None: it is not on a disk."""

    def file(self, name: str, suffix: str = "") -> Place:  # noqa: ARG002
        """Return the place of a file; what is numbered lies in a folder, which a store removes at once."""
        group, dash, number = name.rpartition("-")
        place: Place = self.place / (f"{group}/{number}" if dash else number)
        return place

    def write(self, name: str, suffix: str, *content: Any) -> None:  # noqa: ARG002
        """Leave a file."""
        file = self.file(name)
        file.write_bytes(*content)
        still_open(self.place, file)

    def sign(self, name: str, content: bytes) -> bytes:
        """Return the signature of an object under its name."""
        return hmac.digest(self.key, name.encode() + b"\0" + content, "sha256")

    def keep_matrix(self, name: str, matrix: NDArray[Any], *, by_record: bool = False) -> None:
        """Leave one array such that parts of it can be read."""
        stored = np.asfortranarray(matrix) if by_record else np.ascontiguousarray(matrix)
        header = io.BytesIO()
        np.lib.format.write_array_header_1_0(header, np.lib.format.header_data_from_array_1_0(stored))
        content = stored.ravel(order="K").view(np.uint8) if stored.size else b""
        self.write(name, "", header.getbuffer(), content)
        held.put((self, name), stored if stored is not matrix and stored.base is None else stored.copy(order="K"))

    def matrix(self, name: str) -> NDArray[Any]:
        """Return all of an array that was left."""
        return held.get((self, name), lambda: _stored(self, name).all())

    def part(self, name: str, records: slice) -> NDArray[Any]:
        """Return some records, by the last axis, of an array that was left."""
        if held.has((self, name)):
            return self.matrix(name)[..., records]
        return _stored(self, name).part(records)

    def rows(self, name: str) -> Callable[[int], NDArray[Any]]:
        """Return what gives single rows of an array that was left."""
        if held.has((self, name)):
            return self.matrix(name).__getitem__
        return lambda row: held.get((self, name, row), lambda: _stored(self, name).row(row))

    def forget(self, pattern: str) -> None:
        """Remove what was left under numbers."""
        for group, is_folder, _ in self.place.inside():
            if is_folder and fnmatchcase(f"{group.name}-", pattern):
                group.remove()


def folder_at(place: Where) -> Folder:
    """Return the folder at a place."""
    return Folder(place) if isinstance(place, Path) else InStore(place)


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


@functools.lru_cache(maxsize=8)
def object_of(folder: Folder, name: str) -> Any:
    """Return an object that was left in the folder and stays the same, read once by each worker."""
    return folder.object(name)


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
