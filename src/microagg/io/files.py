"""Files: written whole or not at all."""

import functools
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

Check = Callable[[Path], object]
"""Looks at a file that is whole and has not got its name yet; what it raises keeps it from getting it."""


@contextmanager
def whole_file(target: Path, beside: Path | None = None, check: Check | None = None) -> Iterator[Path]:
    """Give a name beside the target to write to; it becomes the target when all is well, and is removed otherwise.

    `beside` is another folder of the same file system, for targets whose folder must hold nothing else.
    """
    handle, name = tempfile.mkstemp(
        dir=target.parent if beside is None else beside, prefix=f".{target.name}.", suffix=".part"
    )
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with temporary.open("rb+") as written:
            os.fsync(written.fileno())
        if check is not None:
            check(temporary)
        temporary.chmod(0o666 & ~umask())  # mkstemp lets only the owner read
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@functools.cache  # it can only be read by setting it, which other threads would notice
def umask() -> int:
    """Give the permissions that new files of this process do not get."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
