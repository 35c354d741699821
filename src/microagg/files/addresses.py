"""Addresses of files and databases: the kind, size and checksum of what is there, and what may be written there."""

import hashlib
import os
from pathlib import Path
from typing import Any

from microagg.base.frozen import frozen
from microagg.checks import check_absent
from microagg.errors import InvalidData, InvalidParameter
from microagg.files import databases
from microagg.files.databases import is_database
from microagg.files.formats.kinds import FORMAT, KINDS, check_apart, kind_of, to_path
from microagg.files.publishing import check_writable
from microagg.files.stores import Place, Where, digest_of, is_store, listed, place_at, where, where_of_parquet

_ONLY_PARQUET = (
    "only Parquet is read from a store or written to it. Copy the file to this machine, or convert it to Parquet"
)


def kind_at(address: str | os.PathLike[str]) -> str:
    """Return the kind of what is, or is to be, at an address, in the words of `Source.kind`."""
    if is_database(address):
        return "duckdb" if str(address).lower().startswith("duckdb") else "postgresql"
    path = where_of_parquet(address, _ONLY_PARQUET)
    return "parquet" if isinstance(path, Place) or path.is_dir() else kind_of(path)


def is_text_file(address: str | os.PathLike[str]) -> bool:
    """Return whether an address is that of a text file, to which options of reading apply."""
    return kind_at(address) == "csv"


def file_of(address: str | os.PathLike[str]) -> Path | None:
    """Return the file or folder that an address is of, a database's too; None of a server or a store."""
    if is_store(address):
        return None
    return databases.database_file(str(address)) if is_database(address) else to_path(address)


def check_apart_from(path: Where, source: str | os.PathLike[str]) -> None:
    """Refuse to write over the file of a source, by whatever name."""
    if isinstance(path, Place):
        read = place_at(str(source)) if is_store(source) else None
        if read is not None and (path.lies_in(read) or read.lies_in(path)):
            raise InvalidParameter(
                f"{path.name!r} is the source itself, contains it, or is a part of it. The source is never "
                "overwritten. Pass another name."
            )
        return
    file = file_of(source)
    if file is not None:
        check_apart(path, file)


def check_target(
    address: str | os.PathLike[str], source: str | os.PathLike[str] | None = None, *, overwrite: bool = False
) -> None:
    """Refuse a place that cannot be written to, or must not be, before any work is done.

    Parameters
    ----------
    address : str or path
        Where a table is to be written.
    source : str or path, optional
        Where the data comes from: it is never written over, by whatever name.
    overwrite : bool
        Whether a file that is there may be replaced.

    Raises
    ------
    InvalidParameter
    """
    if is_database(address):
        file = file_of(address)
        if file is not None and source is not None and not is_database(source):
            check_apart_from(file, source)
        databases.check_table_target(str(address), overwrite, None if source is None else str(source))
        return
    path = where_of_parquet(address, _ONLY_PARQUET)
    if path.is_dir():
        raise InvalidParameter(f"{path.name!r} is a folder. Pass the name of a file to write.")
    kind = kind_of(path)
    if isinstance(path, Place):
        if source is not None:
            check_apart_from(path, source)
        check_absent(path, "the target", overwrite=overwrite)
        check_writable(path.parent)
        return
    if not FORMAT[kind].is_written:
        raise InvalidParameter(
            f"{path.name!r} is a {FORMAT[kind].title} file, which can be read but not written. Write Stata's .dta, "
            ".csv or .parquet."
        )
    extra = getattr(FORMAT[kind].module, "EXTRA", None)
    if extra is not None:
        extra.check()
    if not path.parent.is_dir():
        raise InvalidParameter(f"the folder that {path.name!r} is to be in does not exist. Create it first.")
    if source is not None:
        check_apart_from(path, source)
    check_absent(path, "the target", overwrite=overwrite)
    if not os.access(path.parent, os.W_OK):
        raise InvalidParameter(f"the folder that {path.name!r} is to be in cannot be written to. Choose another.")


def file_digest(address: str | os.PathLike[str]) -> str | None:
    """Return the SHA-256 of a file, or of the digests of a folder's Parquet files in the order of their names.

    Parameters
    ----------
    address : str or path

    Returns
    -------
    str or None
        In hexadecimal; None for a database.
    """
    if is_database(address):
        return None
    path = where(address)
    try:
        if path.is_dir():
            parts = [part for part, _ in listed(path) if KINDS.get(part.suffix.lower()) == "parquet"]
            return hashlib.sha256(b"".join(digest_of(part) for part in parts)).hexdigest()
        return digest_of(path).hex()
    except OSError:
        raise InvalidData(f"{path.name!r} cannot be read. Check the path, and whether you may read it.") from None


@frozen()
class Extent:
    """How large a table is: exact for Parquet, else an estimate."""

    records: int
    columns: int


def extent_of(address: str | os.PathLike[str], **reading: Any) -> Extent | None:
    """Return how large a file is without reading it; None of a database. `reading` is how a text file is written."""
    if is_database(address):
        return None
    kind = kind_at(address)
    size = FORMAT[kind].module.size(address if kind == "parquet" else to_path(address), reading)
    return None if size is None else Extent(*size)


def in_parts(address: str | os.PathLike[str]) -> bool:
    """Return whether a file can be read, and masked, a part at a time."""
    return not is_database(address) and kind_at(address) in ("csv", "parquet")
