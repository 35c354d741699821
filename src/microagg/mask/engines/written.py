"""One file that is written part by part, and counted before it gets its name."""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from microagg.files.batches import Batches
from microagg.files.promise import Promise, check_written
from microagg.files.sources import read_back
from microagg.files.stores import Where
from microagg.mask.engines.store import Scratch
from microagg.work import Progress, tell


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
