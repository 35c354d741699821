"""Places in stores that PyArrow's file systems reach: S3 and what speaks like it, Google Cloud, Azure, HDFS.

An address is like ``s3://bucket/folder/survey.parquet``. It never holds a secret: keys and passwords come from the
environment, a profile or the machine's role, as the store's own library finds them. What else an address may say stands
behind a question mark (``?endpoint_override=host:9000&scheme=http&region=...``). What addresses reserve is written
with %.

A store has no rename, no locks and no permissions of a file: `microagg.files.publishing` says what is done about that.
"""

import functools
import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

import pyarrow as pa

from microagg.base.frozen import frozen
from microagg.errors import InvalidData, InvalidParameter, StoreFailed
from microagg.files.formats.kinds import to_path

# What says where, and nothing else: a list of what is secret would never be whole.
_SAID = {
    "s3": ("region", "scheme", "endpoint_override"),
    "gs": ("scheme", "endpoint_override"),
    "gcs": ("scheme", "endpoint_override"),
    "abfs": (),
    "abfss": (),
    "hdfs": (),
    "viewfs": (),
}
_PARQUET = (".parquet", ".pq")
_CONTAINERS = ("abfs", "abfss")  # abfs://container@account...: what stands before the @ is no user
_OF_HADOOP = ("hdfs", "viewfs")  # without a host, they are what the configuration of Hadoop says
_SAYING_WHO = ("AWS_", "GOOGLE_", "AZURE_", "HADOOP_")
_STORE = re.compile(f"({'|'.join(_SAID)}):", re.IGNORECASE)
_FAULT = re.compile(r"AWS Error ([A-Z_]+)")
_REGION = re.compile("[a-z0-9-]+")
_AZURE = re.compile(r"(?:[^@]*@)?[a-z0-9]+\.(?:dfs|blob)\.core\.windows\.net")
_CHUNK = 1 << 23  # bytes that pass through this machine at a time


@frozen()
class Place:
    """A file or folder in a store; it is called like a `Path` where both can do the same.

    Attributes
    ----------
    root : str
        The store: its scheme, bucket or host.
    key : str
        The place within it, without a slash at either end.
    said : str
        What else the address says, behind its question mark.

    Examples
    --------
    >>> place = place_at("s3://bucket/folder/survey.parquet?region=eu-west-1")
    >>> place.name, str(place.parent / "masked")
    ('survey.parquet', 's3://bucket/folder/masked?region=eu-west-1')
    """

    root: str
    key: str
    said: str = ""

    def __str__(self) -> str:
        return f"{self.root}/{quote(self.key)}{'?' if self.said else ''}{self.said}"

    def __truediv__(self, name: str) -> "Place":
        return replace(self, key=f"{self.key}/{name}" if self.key else name)

    @property
    def name(self) -> str:
        """The last part of the address."""
        return PurePosixPath(self.key).name or self.root.rpartition("/")[2] or self.root

    @property
    def stem(self) -> str:
        """The name without its end."""
        return PurePosixPath(self.name).stem

    @property
    def suffix(self) -> str:
        """The end of the name, with its dot."""
        return PurePosixPath(self.key).suffix

    @property
    def parent(self) -> "Place":
        """The folder that it is in."""
        return replace(self, key=self.key.rpartition("/")[0])

    def lies_in(self, other: object) -> bool:
        """Return whether this is another place, or is in it; what else the addresses say does not count."""
        if not isinstance(other, Place) or self.root != other.root:
            return False
        return self.key == other.key or not other.key or self.key.startswith(f"{other.key}/")

    def resolve(self) -> "Place":
        """Return the same: a place has one address, wherever it is asked for."""
        return self

    @property
    def _system(self) -> tuple[Any, str]:
        """The file system and the path in it."""
        # Who says by environment who they are may change that, as in a notebook, when they were refused.
        who = hash(tuple(item for item in os.environ.items() if item[0].startswith(_SAYING_WHO)))
        system, start = _system_of(self.root, self.said, who)
        return system, f"{start}{'/' if start and not start.endswith('/') else ''}{self.key}"

    def _info(self) -> Any:
        system, path = self._system
        with reached(self):
            return system.get_file_info(path)

    def exists(self) -> bool:
        """Return whether something is there."""
        from pyarrow.fs import FileType

        return bool(self._info().type != FileType.NotFound)

    def is_file(self) -> bool:
        """Return whether it is a file."""
        return bool(self._info().is_file)

    def is_dir(self) -> bool:
        """Return whether it is a folder: anything has an address that starts with its own."""
        from pyarrow.fs import FileType

        return bool(self._info().type == FileType.Directory)

    def stamp(self) -> tuple[int, int, int]:
        """Return what changes when the file does; zeros where there is none."""
        found = self._info()
        return (found.size or 0, found.mtime_ns or 0, 0)

    def inside(self, *, deep: bool = False) -> list[tuple["Place", bool, int]]:
        """List what is in a folder, in the order of names: the place, whether it is a folder, its size.

        `deep` lists what is in its folders too, and no folders. Of what is not there the list is empty.
        """
        from pyarrow.fs import FileSelector, FileType

        system, path = self._system
        with reached(self):
            found = system.get_file_info(FileSelector(path, allow_not_found=True, recursive=deep))
        start = len(path.rstrip("/")) + 1
        listed = [(self / one.path[start:], one.type == FileType.Directory, one.size or 0) for one in found]
        return sorted((one for one in listed if not (deep and one[1])), key=lambda one: one[0].key)

    def open(self) -> pa.NativeFile:
        """Open a file to read from any place in it."""
        system, path = self._system
        with reached(self):
            return system.open_input_file(path)

    def read_bytes(self) -> bytes:
        """Read all of a file."""
        with reached(self), self.open() as file:
            return bytes(file.read())

    @contextmanager
    def writing(self) -> Iterator[pa.NativeFile]:
        """Return a file to write; it appears when it is whole.

        Where the work breaks off, PyArrow completes what was written so far: it is removed then. So write under a name
        that nobody looks at and nobody else writes to, and let `copy_to` give the right one.
        """
        try:
            with reached(self, "written"), self._output() as file:
                yield file
        except BaseException:
            self.discard()
            raise

    def write_bytes(self, *content: Any) -> None:
        """Write a file that appears when it is whole: these bytes, one after the other."""
        with reached(self, "written"), self._output() as file:
            for one in content:
                file.write(one)

    def _output(self) -> pa.NativeFile:
        system, path = self._system
        if system.type_name == "hdfs":  # which has folders
            system.create_dir(path.rpartition("/")[0])
        return system.open_output_stream(path)

    def copy_to(self, other: "Place") -> None:
        """Copy a file within the store; the copy appears when it is whole, in the place of what was there."""
        system, path = self._system
        try:
            with reached(other, "written"):
                system.copy_file(path, other._system[1])
        except StoreFailed:
            size = self._info().size
            if size is None or size <= _COPIED:
                raise
            with reached(self), self.open() as file, other.writing() as copy:
                while chunk := file.read_buffer(_CHUNK):
                    copy.write(chunk)

    def unlink(self) -> None:
        """Remove a file, if it is there."""
        system, path = self._system
        with reached(self, "removed"), suppress(FileNotFoundError):
            system.delete_file(path)

    def discard(self) -> None:
        """Remove a file, as far as the store lets us."""
        with suppress(StoreFailed):
            self.unlink()

    def remove(self) -> None:
        """Remove a folder and all in it, as far as the store lets us."""
        system, path = self._system
        with suppress(StoreFailed), reached(self, "removed"), suppress(FileNotFoundError):
            system.delete_dir(path)

    def digest(self) -> bytes:
        """Return the SHA-256 of a file."""
        found = hashlib.sha256()
        with reached(self), self.open() as file:
            while chunk := file.read_buffer(_CHUNK):
                found.update(chunk)
        return found.digest()


_COPIED = 5 * 10**9  # bytes: S3 copies no more at a time

Where = Path | Place
"""A file or folder on this machine, or in a store."""


@functools.lru_cache(maxsize=64)  # each has connections of its own
def _system_of(root: str, said: str, who: int) -> tuple[Any, str]:  # noqa: ARG001 - another one, another connection
    """Return the file system of a store, and the path in it that the address without a key has."""
    from pyarrow.fs import FileSystem, HadoopFileSystem

    scheme, _, host = root.partition("://")
    if not host:
        with reached(Place(root, "", said)):
            return HadoopFileSystem("default"), "/"
    # Small files take one request then, not three; versions that do not know the word are asked without it.
    words = [said, "allow_delayed_open=true"] if scheme == "s3" else [said]
    for tried in ("&".join(filter(None, words)), said):
        with suppress(pa.ArrowInvalid, pa.ArrowNotImplementedError):
            with reached(Place(root, "", said)):
                system, path = FileSystem.from_uri(f"{root}/{'?' if tried else ''}{tried}")
            return system, path
    raise InvalidParameter(f"{root!r} is not an address that PyArrow understands. Check its spelling.")


def is_store(address: object) -> bool:
    """Return whether an address is one of a store, well formed or not.

    Examples
    --------
    >>> is_store("s3://bucket/survey.parquet"), is_store("survey.parquet")
    (True, False)
    """
    return isinstance(address, Place) or (isinstance(address, str) and _STORE.match(address) is not None)


def place_at(address: str) -> Place:
    """Take the address of a place in a store apart.

    Raises
    ------
    InvalidParameter
        If it is malformed, or may hold a secret, which is not shown.
    """
    scheme = address.partition(":")[0].lower()
    example = f"{scheme}://bucket/folder/survey.parquet"
    try:
        parts = urlsplit(address)
        said = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        user, _, host = parts.netloc.rpartition("@")
    except ValueError:
        raise InvalidParameter(f"an address of {scheme}:// is malformed. Pass one like {example}.") from None
    if (user and scheme not in _CONTAINERS) or ":" in user:
        raise InvalidParameter(
            f"an address of {scheme}:// holds a user or a password, which would end up in logs. Leave it out: set "
            "your identity by the environment, a profile or the role of the machine."
        )
    known = _SAID[scheme]
    if any(name not in known for name, _ in said) or parts.fragment:
        listed = f"it may hold {', '.join(known)}" if known else "it may hold nothing"
        raise InvalidParameter(
            f"an address of {scheme}:// holds more than a place, and that might be a secret: after a question mark "
            f"{listed}. Set everything else in the environment or a profile."
        )
    if any("@" in value for _, value in said):
        raise InvalidParameter(f"an endpoint of {scheme}:// holds a user or a password. Leave it out.")
    key = unquote(parts.path).strip("/")
    nowhere = not host and not (key and scheme in _OF_HADOOP)
    if nowhere or (key and any(part in ("", ".", "..") for part in key.split("/"))) or not key.isprintable():
        raise InvalidParameter(f"an address of {scheme}:// is malformed. Pass one like {example}.")
    return Place(f"{scheme}://{parts.netloc}", key, urlencode(said, safe=":/"))


def without_endpoint(address: str) -> str:
    """Return the address of a place in a store by its bucket alone, on the servers of who runs such stores.

    Requests bear a key or a token, and where these are sent is not for a recipe to say, nor whether they are encrypted.

    Examples
    --------
    >>> without_endpoint("s3://bucket/a.parquet?endpoint_override=host:9000&scheme=http&region=eu-west-1")
    's3://bucket/a.parquet?region=eu-west-1'
    """
    place = place_at(address)
    region = [(name, of) for name, of in parse_qsl(place.said) if name == "region" and _REGION.fullmatch(of)]
    scheme, _, host = place.root.partition("://")
    if scheme in _CONTAINERS and re.search("[.:]", host) and not _AZURE.fullmatch(host):
        return f"{scheme}://{quote(place.key)}"  # a server of somebody's: the container is the first part of the key
    if scheme in _CONTAINERS and "@" in host and not _AZURE.fullmatch(host):
        return f"{scheme}://{host.partition('@')[0]}/{quote(place.key)}"
    if scheme in _OF_HADOOP and host:
        return f"{scheme}:///{quote(place.key)}"
    kept = replace(place, said=urlencode(region))
    return address if kept == place else str(kept)


def where(address: Any) -> Where:
    """Make a place of what was passed as an address: in a store, or a path of this machine."""
    if isinstance(address, Place):
        return address
    return place_at(address) if isinstance(address, str) and is_store(address) else to_path(address)


def where_of_parquet(address: Any, why: str) -> Where:
    """Make a place of an address that, in a store, must be one of Parquet; `why` says what is not done with others."""
    place = where(address)
    if isinstance(place, Place) and place.suffix.lower() not in ("", *_PARQUET):
        raise InvalidParameter(f"{place.name!r} is in a store and is not Parquet, judged by its name: {why}.")
    return place


def kept_address(place: Where) -> str | Path:
    """Return what `Source.address` holds of a place."""
    return str(place) if isinstance(place, Place) else place


def digest_of(place: Where) -> bytes:
    """Return the SHA-256 of a file."""
    if isinstance(place, Place):
        return place.digest()
    with place.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


def stamp_of(place: Where) -> tuple[int, int, int]:
    """Return what changes when a file does; zeros where there is none."""
    if isinstance(place, Place):
        return place.stamp()
    try:
        status = place.stat()
    except FileNotFoundError:
        return (0, 0, 0)
    return (status.st_size, status.st_mtime_ns, status.st_ino)


def listed(place: Where) -> list[tuple[Where, bool]]:
    """List what is in a folder, in the order of names, and whether each is a folder."""
    if isinstance(place, Place):
        return [(one, is_folder) for one, is_folder, _ in place.inside()]
    return [(one, one.is_dir()) for one in sorted(place.iterdir())]


def is_plain_file(place: Where) -> bool:
    """Whether what was listed in a folder is a file, and no link that leads nowhere or pipe; a store has none."""
    return isinstance(place, Place) or place.is_file()


def check_there(place: Where) -> None:
    """Refuse to read what is not there, and what may have no end."""
    if not place.exists():
        raise InvalidData(f"there is no file {place.name!r}. Check the path.")
    if isinstance(place, Path) and not (place.is_file() or place.is_dir()):
        raise InvalidData(f"{place.name!r} is a device or a pipe, which may have no end. Save the data in a file.")


@contextmanager
def reached(place: Place, to_be: str = "read") -> Iterator[None]:
    """Say what a fault of a store means; its own words may hold more than a log should."""
    try:
        yield
    except FileNotFoundError:
        raise InvalidData(f"there is no file {place.name!r} in the store. Check the address.") from None
    except OSError as error:
        found = _FAULT.search(str(error))
        fault = f" ({found.group(1)})" if found else ""
        raise StoreFailed(f"{place.name!r} cannot be {to_be} in the store{fault}. {_remedy(fault)}") from None


def _remedy(fault: str) -> str:
    known: dict[str, str] = {
        "ACCESS_DENIED": "Check that your key or role may do that there.",
        "NO_SUCH_BUCKET": "There is no such bucket; check the address.",
        "NETWORK_CONNECTION": "It does not answer: check the network, and the endpoint if you named one.",
    }
    return next((words for name, words in known.items() if name in fault), "Check the address, and who you are there.")


def shown_address(address: str | os.PathLike[str]) -> str:
    """What of an address of a store may be shown: the scheme alone where it is malformed or may hold a secret."""
    try:
        return str(place_at(str(address)))
    except InvalidParameter:
        return f"{str(address).partition(':')[0].lower()}://"
