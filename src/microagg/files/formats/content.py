"""A file's bytes, read once: looked at, parsed and summed up from memory."""

import hashlib
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from pathlib import Path

import pyarrow as pa

from microagg.errors import InvalidData
from microagg.files.formats.kinds import COMPRESSED


class Content:
    """The bytes of a file, and its checksum, which is taken while they are parsed.

    Where a path is opened for reading, a content is too; the file may change or go in the meantime.
    """

    def __init__(self, path: Path) -> None:
        self.name, self.suffix, self.suffixes = path.name, path.suffix, path.suffixes
        try:
            self._data = path.read_bytes()
        except OSError:
            raise InvalidData(f"{path.name!r} cannot be read. Check the path, and whether you may read it.") from None
        beside = ThreadPoolExecutor(1)
        self._summed: Future[str] = beside.submit(lambda: hashlib.sha256(self._data).hexdigest())
        beside.shutdown(wait=False)

    def open(self) -> pa.NativeFile:
        """Open the bytes for reading, removing the compression that the name says."""
        return pa.input_stream(pa.BufferReader(self._data), compression=COMPRESSED.get(self.suffix.lower()))

    @cached_property
    def sha256(self) -> str:
        """The checksum of the bytes."""
        return self._summed.result()


Readable = Path | Content
"""What text is read from: a file that is read in parts, or one that was read as a whole."""


def open_bytes(path: Readable) -> pa.NativeFile:
    """Open a file for reading, removing the compression that its name says."""
    if isinstance(path, Content):
        return path.open()
    return pa.input_stream(str(path), compression=COMPRESSED.get(path.suffix.lower()))
