"""Where a masked file beyond memory goes, and its scratch: refused before any work where that is not safe.

One file is written part by part, and counted before it gets its name.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from microagg.checks import check_absent
from microagg.errors import InvalidParameter, a_type, setting
from microagg.files.batches import Batches
from microagg.files.formats.kinds import is_text_name, kind_of
from microagg.files.promise import Promise, check_written
from microagg.files.publishing import check_replaceable_in_store, check_writable, look_for_orphans
from microagg.files.sources import read_back
from microagg.files.stores import Place, Where, where
from microagg.mask.engines.scratch import Scratch
from microagg.work import Progress, tell


def check_scratch(scratch: Any, path: Where, engine: str) -> Where:
    """Return the folder for scratch, or say why it must be named or cannot be there."""
    if scratch is None and isinstance(path, Place):
        why = "files without names" if engine == "disk" else "whoever may read there could read it"
        raise InvalidParameter(
            "the target is in a store, and temporary files, which hold original values, are not put beside it: "
            f"{why}. Name a folder that only you can read: {setting('scratch')}.",
            parameter="scratch",
        )
    place = path.parent if scratch is None else where(scratch)
    if engine == "disk" and isinstance(place, Place):
        raise InvalidParameter(
            f"{setting('engine', 'disk')} has its temporary files on this machine. Name a folder here: "
            f"{setting('scratch')}.",
            parameter="scratch",
        )
    if isinstance(place, Place) and place.lies_in(path):
        raise InvalidParameter(
            "the folder for temporary files is in the target. Name another place for it.", parameter="scratch"
        )
    if engine == "disk" and isinstance(path, Place):  # what is written last is tried first
        check_writable(path.parent)
    return place


def _check_place(place: Place, file: Batches, overwrite: bool, *, folder: bool) -> Place:
    """Refuse a target in a store that must not be written to."""
    if folder and place.suffix.lower() not in (".parquet", ".pq", ""):
        raise InvalidParameter(f"the target {place.name!r} must be a folder of .parquet files. Change its name.")
    if not place.key or (not folder and place.suffix.lower() not in (".parquet", ".pq")):
        raise InvalidParameter(f"the target {place.name!r} is in a store and is not a .parquet file. Name one.")
    if any(place.lies_in(part) for part in (file.path, *file.parts)):
        raise InvalidParameter("the target is the source, or is in it. The original is never overwritten.")
    if isinstance(file.path, Place) and file.path.lies_in(place):
        raise InvalidParameter(f"the target {place.name!r} holds the source. Name another folder.")
    look_for_orphans(place.parent)  # which may be what is in the way
    check_absent(place, "the target", overwrite=overwrite)
    if not folder and place.is_dir():
        raise InvalidParameter(f"the target {place.name!r} is a folder. Name a file.")
    if folder:
        if place.is_file():
            raise InvalidParameter(f"the target {place.name!r} is a file, and must be a folder. Name another.")
        check_replaceable(place)
    return place


def check_target(target: Any, file: Batches, overwrite: bool, *, in_parts: bool) -> Where:
    """Return the place of the target, or say why it must not be written to.

    `in_parts` it is a folder of Parquet files, unless it is text by its name.
    """
    if not isinstance(target, (str, os.PathLike, Place)):
        raise InvalidParameter(f"the target is {a_type(target)}. Pass the path of the file to write.")
    path = where(target)
    if isinstance(path, Place):
        return _check_place(path, file, overwrite, folder=in_parts)
    folder = in_parts and not is_text_name(path)
    if folder and path.suffix.lower() not in (".parquet", ".pq", ""):
        raise InvalidParameter(
            f"the target {path.name!r} is neither a folder of .parquet files nor a .csv. Name it as one of them."
        )
    if not folder and (path.is_dir() or kind_of(path) not in ("parquet", "csv")):
        raise InvalidParameter(f"the target {path.name!r} is neither a .parquet file nor a .csv. Name one.")
    if not path.parent.is_dir():
        raise InvalidParameter(f"there is no folder for the target {path.name!r}. Create it first.")
    if isinstance(file.path, Path) and file.path.is_dir() and path.parent.samefile(file.path):
        raise InvalidParameter("the target is in the folder that is read. Write it to another one.")
    parts = [part for part in (file.path, *file.parts) if isinstance(part, Path)]
    if path.exists() and any(path.samefile(part) for part in parts):
        raise InvalidParameter("the target is the source. The original is never overwritten; name another file.")
    check_absent(path, "the target", overwrite=overwrite)
    if folder:
        inside = [path.resolve(), path.absolute()]
        if path.resolve() == Path.cwd() or any(place in part.resolve().parents for part in parts for place in inside):
            raise InvalidParameter(
                f"the target {path.name!r} contains the source or is the present folder. Name another folder."
            )
        check_replaceable(path)
    return path


def check_replaceable(path: Where) -> None:
    """Refuse to replace a folder that is not a former target."""
    if isinstance(path, Place):
        check_replaceable_in_store(path)
    elif path.is_dir() and (
        path.is_symlink() or any(p.suffix != ".parquet" or not p.is_file() for p in path.iterdir())
    ):
        raise InvalidParameter(f"the target {path.name!r} holds more than .parquet files. Name another folder.")


def write_counted(
    file: Batches,
    path: Where,
    schema: pa.Schema,
    promise: Promise,
    n: int,
    tables: Iterable[pa.Table],
    scratch: Scratch,
    progress: Progress | None,
) -> int:
    """Write tables of n records in all, in the manner of the source; return how many records or units are the same.

    They are counted on what was written and is read back; with fewer than promised, nothing is left.
    """
    fewest = 0

    def count(fresh: Where) -> None:
        nonlocal fewest
        room = scratch.array((2 if promise.units is None else 3, n), np.uint64)
        found = read_back(fresh, path, schema, promise.columns, file.dialect_of(path))
        fewest = check_written(
            promise, found, n, path.name, room=room, tell=lambda read: tell(progress, n + read, 2 * n)
        )

    with file.writer(path, schema, count) as write:
        written = 0
        for table in tables:
            write(table)
            written += table.num_rows
            tell(progress, written, 2 * n)
    return fewest
