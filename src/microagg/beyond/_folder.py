"""What workers and the client hand each other: files in a folder that all of them see.

What is left there is written under another name and renamed when whole.
"""

import functools
import os
import pickle
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray


class _Plain:
    """A file that NumPy does not know for one: it then writes in a way that tells when the disk is full."""

    def __init__(self, file: BinaryIO) -> None:
        self.write = file.write


@contextmanager
def whole_file_in(path: Path) -> Iterator[BinaryIO]:
    """Open a file that appears when it is whole."""
    handle, temporary = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def keep(folder: Path, name: str, **arrays: Any) -> None:
    """Leave arrays in the folder under a name."""
    with whole_file_in(folder / f"{name}.npz") as file:
        np.savez(file, **arrays)


def kept(folder: Path, name: str) -> dict[str, NDArray[Any]]:
    """Give arrays that were left in the folder."""
    with np.load(folder / f"{name}.npz") as found:
        return dict(found)


def keep_matrix(folder: Path, name: str, matrix: NDArray[Any]) -> None:
    """Leave one array such that parts of it can be read."""
    with whole_file_in(folder / f"{name}.npy") as file:
        np.save(_Plain(file), matrix)


def matrix_of(folder: Path, name: str) -> NDArray[Any]:
    """Give an array that was left in the folder, to be read where it is looked at."""
    return np.asanyarray(np.load(folder / f"{name}.npy", mmap_mode="r"))


def keep_object(folder: Path, name: str, thing: Any) -> None:
    """Leave an object."""
    import cloudpickle  # comes with Dask; it also takes what a session at the prompt defines

    with whole_file_in(folder / f"{name}.pickle") as file:
        cloudpickle.dump(thing, file)


def object_in(folder: Path, name: str) -> Any:
    """Give an object that was left in the folder, to which only its owner can write."""
    return pickle.loads((folder / f"{name}.pickle").read_bytes())


@functools.lru_cache(maxsize=8)
def object_of(folder: Path, name: str) -> Any:
    """Give an object that was left in the folder and stays the same, read once by each worker."""
    return object_in(folder, name)
