"""Where the rows of a masked file come from: kept in the internal folder of its output, for you alone.

With it `assess` sets rows that were sorted beside their originals again, and `mask` knows an earlier release of the
same file.
"""

import json
import stat
from dataclasses import asdict, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from microagg.base import ownership
from microagg.base.frozen import frozen
from microagg.files.addresses import file_digest, file_of
from microagg.files.databases import is_database, without_credentials
from microagg.files.files import whole_file
from microagg.jobs.again import one_line
from microagg.jobs.outputs import INTERNAL, RELEASE, ROWS
from microagg.recipe import Recipe

_KEY = b"microagg"
_COLUMN = "original_row"
_MOST = 1000  # folders beside an output that are looked at


@frozen()
class RowOrigin:
    """Which rows of a source a masked file has.

    Attributes
    ----------
    source, sha256 : str, str or None
        The source's name and its checksum; a database has none.
    records : int
        Of the source.
    masked_sha256 : str or None
        The checksum of the masked file; None of a database's table.
    rows : array
        The row of the source, from 0, that each row of the masked file was; empty where that was not read.
    """

    source: str
    sha256: str | None
    records: int
    masked_sha256: str | None
    rows: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64), compare=False, repr=False)

    def write(self, path: Path) -> None:
        """Write it to a file that only you can read."""
        told = {name: value for name, value in asdict(self).items() if name != "rows"}
        table = pa.table({_COLUMN: pa.array(self.rows, pa.int64())})
        with whole_file(path, private=True) as fresh:
            pq.write_table(table.replace_schema_metadata({_KEY: json.dumps(told)}), fresh)


def read_origin(path: Path, *, rows: bool = True) -> RowOrigin | None:
    """Read where rows come from; None where there is no such file, or none that can be read or that is not ours."""
    try:
        if not stat.S_ISREG((status := path.lstat()).st_mode) or not ownership.is_ours(status):
            return None  # a pipe would be waited for
        schema = pq.read_schema(path)
        told = json.loads((schema.metadata or {})[_KEY])
        if not rows:
            return RowOrigin(**told)
        column = pq.read_table(path)[_COLUMN]
        return (
            RowOrigin(**told, rows=column.to_numpy()) if column.type == pa.int64() and not column.null_count else None
        )
    except (OSError, KeyError, ValueError, TypeError, RecursionError, pa.ArrowException):
        return None


def origin_of(masked: str, recipe: Recipe | None) -> RowOrigin | None:
    """Find where the rows of a masked file come from: by the output that it lies in, or that its recipe does.

    None if nothing says it, or the file was changed after it was written.
    """
    path = file_of(masked)
    places = []
    if path is not None and not is_database(masked) and path.resolve().parent.name == RELEASE:
        places.append(path.resolve().parent.parent)
    if recipe is not None and recipe.origin is not None and recipe.origin.folder is not None:
        places.append(recipe.origin.folder.parent)
    digest = file_digest(masked)
    for place in places:
        found = read_origin(place / INTERNAL / ROWS)
        if found is not None and found.rows.size and found.masked_sha256 == digest:
            return found
    return None


def earlier_releases(folder: Path, own: RowOrigin) -> list[str]:
    """Name the folders beside an output that hold another release of the same source, as far as they can be read."""
    place = folder.resolve()
    try:
        beside = sorted(path for path in place.parent.iterdir() if path.is_dir())[:_MOST]
    except OSError:  # it may be entered and not listed
        return []
    found = {path.name: read_origin(path / INTERNAL / ROWS, rows=False) for path in beside if path != place}
    return [name for name, other in found.items() if other is not None and _is_another(own, other)]


def _is_another(own: RowOrigin, other: RowOrigin) -> bool:
    """Return whether two masked files are of one source, and not the same."""
    known = own.sha256 is not None and other.sha256 is not None
    same_source = own.sha256 == other.sha256 if known else own.source == other.source
    same_release = own.masked_sha256 is not None and own.masked_sha256 == other.masked_sha256
    return same_source and not same_release


def earlier_words(names: list[str], address: str) -> list[str]:
    """Warn of earlier releases; nothing where there are none."""
    if not names:
        return []
    listed = ", ".join(map(repr, names[:5])) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    hold = "holds another release" if len(names) == 1 else "hold other releases"
    return [
        f"beside the output, {listed} {hold} of the same file. Somebody who gets several releases "
        "learns more than from any one of them. Before you give out a second, measure both together: "
        f"{one_line(['microagg', 'assess', without_credentials(address)])} MASKED MASKED"
    ]
