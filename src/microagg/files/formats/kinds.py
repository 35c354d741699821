"""Kinds of files, by their names."""

import importlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from urllib.parse import unquote, urlsplit

from microagg.base.frozen import frozen
from microagg.errors import InvalidParameter, a_type

if TYPE_CHECKING:
    import pyarrow as pa

    from microagg.columns.labels import Labels, MaskedColumns
    from microagg.files.formats.dialect import Dialect
    from microagg.files.sources import Source

COMPRESSED = {".gz": "gzip", ".zst": "zstd"}


@frozen()
class Format:
    """A kind of files.

    Attributes
    ----------
    kind : str
        In the words of `Source.kind`.
    title : str
        As people call it.
    suffixes : tuple of str
        How names of such files end; the first is the usual one.
    home : str
        The module of this folder that reads and writes such files: `read`, `write`, `read_back`, `size`, and `EXTRA`
        where it needs packages that not everybody has. It is imported when such a file is met.
    is_written : bool
        Whether such files are written, not only read.
    remark : str
        What a help text adds.
    """

    kind: str
    title: str
    suffixes: tuple[str, ...]
    home: str
    is_written: bool = True
    remark: str = ""

    @property
    def module(self) -> Any:
        """The module that reads and writes such files."""
        return importlib.import_module(f"microagg.files.formats.{self.home}")


class Stored(NamedTuple):
    """What a file holds, and how it is written."""

    table: "pa.Table"
    details: Mapping[str, str] = {}
    labels: "Labels | None" = None
    dialect: "Dialect | None" = None
    sha256: str | None = None  # where it is of the very bytes that were read


class Writing(NamedTuple):
    """How a file is to be written."""

    like: "Source"
    dialect: "Dialect"
    masked: "MaskedColumns"
    excel_safe: bool
    check: "Callable[[Any], object] | None"


FORMATS = (
    Format("csv", "CSV, TSV", (".csv", ".tsv", ".txt"), "text", remark=", ".join(COMPRESSED)),
    Format(
        "parquet",
        "Parquet",
        (".parquet", ".pq"),
        "parquet",
        remark="file or folder, also s3://, gs://, abfs://, hdfs://",
    ),
    Format("feather", "Feather", (".feather", ".arrow"), "feather"),
    Format("spss", "SPSS", (".sav", ".zsav"), "statistics"),
    Format("stata", "Stata", (".dta",), "statistics"),
    Format("sas", "SAS", (".sas7bdat",), "statistics", is_written=False),
    Format("excel", "Excel", (".xlsx",), "excel"),
)
FORMAT = {one.kind: one for one in FORMATS}
KINDS = {suffix: one.kind for one in FORMATS for suffix in one.suffixes}
SUFFIXES = {one.kind: one.suffixes[0] for one in FORMATS if one.is_written}
"""The kinds that can be written, each with the usual end of a name."""

TITLES = {one.kind: one.title for one in FORMATS} | {"duckdb": "DuckDB", "postgresql": "PostgreSQL"}
"""Each kind as people call it."""

_OF_KINDS = {
    "sheet": ("excel",),
    "header": ("csv", "excel"),
}  # the kinds that an option of reading goes with; else text
_FILES = {"csv": "text files", "excel": "Excel files"}
_NAMED = frozenset(map(chr, range(0xD800, 0xE000)))  # as Python names bytes that are no text
_DATABASES = "duckdb:///file.db?table=t or postgresql://host/db?table=t"


def known_addresses() -> str:
    """List what can be read, for a help text."""
    files = [one.title + (f" ({one.remark})" if one.remark else "") for one in FORMATS]
    return f"{', '.join(files)}, {_DATABASES}"


def to_path(address: Any) -> Path:
    """Make a path of what was passed as one."""
    if not isinstance(address, (str, os.PathLike)):
        raise InvalidParameter(f"{a_type(address)} is not an address. Pass the path of a file, or a database.")
    if isinstance(address, str) and "://" in address:
        scheme = address.split("://", 1)[0]  # the rest may hold a password
        if not address.startswith(("file:///", "file://localhost/")):
            raise InvalidParameter(
                f"{scheme}:// is not a kind of address that can be read. Pass a file, duckdb://, postgresql:// or "
                "s3://."
            )
        address = unquote(urlsplit(address).path)
    path = Path(address)
    if not _NAMED.isdisjoint(str(path)):
        raise InvalidParameter(
            f"the path of {path.name!r} is not UTF-8, so that its name cannot be written to a file or passed to a "
            "program. Rename it."
        )
    return path


class Named(Protocol):
    """What has a name that shows its kind: a path, or a place in a store."""

    @property
    def name(self) -> str:
        """All of the name."""

    @property
    def stem(self) -> str:
        """The name without its end."""

    @property
    def suffix(self) -> str:
        """The end of the name, with its dot."""


def base_suffix(path: Named) -> str:
    """Return the suffix that shows the kind, without one of compression."""
    suffix = Path(path.stem).suffix if path.suffix.lower() in COMPRESSED else path.suffix
    return suffix.lower()


def kind_of(path: Named) -> str:
    """Return the kind of a file by its name."""
    kind = KINDS.get(base_suffix(path))
    if kind is None or (kind != "csv" and path.suffix.lower() in COMPRESSED):
        raise InvalidParameter(
            f"the name of {path.name!r} does not end in a known way. Known endings are {', '.join(KINDS)}, and for "
            "text also .gz or .zst after them. Convert or rename it."
        )
    return kind


def is_text_name(path: Path) -> bool:
    """Return whether a file is text by its name."""
    return KINDS.get(base_suffix(path)) == "csv"


def refuse_options(options: Mapping[str, Any], kind: str) -> None:
    """Refuse an option of reading that does not go with the kind of a file."""
    for given, value in options.items():
        of_kinds = _OF_KINDS.get(given, ("csv",))
        if value is not None and kind not in of_kinds:
            files = " and ".join(_FILES[one] for one in of_kinds)
            raise InvalidParameter(
                f"{given} is for {files}, and this is {TITLES[kind]}. Leave it out.", parameter=given
            )


def check_apart(path: Path, source: Path) -> None:
    """Refuse to write over a source, or into one, by whatever name."""
    if not source.exists():
        return
    is_same = path.exists() and path.samefile(source)
    is_inside = source.is_dir() and source.resolve() in path.resolve().parents
    if is_same or is_inside or path.resolve() == source.resolve():
        raise InvalidParameter(
            f"{path.name!r} is the source itself, or a part of it. The source is never overwritten. Pass another name."
        )
    inside = source.iterdir() if source.is_dir() else ()
    if path.exists() and any(part.samefile(path) for part in inside):
        raise InvalidParameter(
            f"{path.name!r} is a part of the source. The source is never overwritten. Pass another name."
        )
