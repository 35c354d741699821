"""The archive that an .xlsx file is: looked through before a library reads it, so that none can fill the memory."""

import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from microagg.errors import InvalidData

MOST_BYTES = 4 << 30
"""Bytes of an unpacked file: a full sheet of ten columns has less."""

_MOST_APART = 20_000_000  # cells from the first to the last, empty ones too: as many are held at once
_SHARE = 20  # of which one at least must be there, beyond that
_OLD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # how .xls files begin, and all that have a password
_PART = 1 << 20
_SHEETS = "xl/worksheets/"
_PLACE = re.compile(rb"""\br\s*=\s*["']([A-Z]{0,3})([0-9]{1,7})["']""")
_OVERLAP = 64  # bytes: longer than any place of a cell


def check_archive(path: Path) -> None:
    """Refuse a file that is no archive, is damaged, has a password, or is far larger than it looks."""
    with path.open("rb") as file:
        if file.read(len(_OLD)) == _OLD:
            raise InvalidData(
                f"{path.name!r} has a password, or is an older .xls file. Save it as .xlsx, without a password."
            )
        try:
            listed = zipfile.ZipFile(file).infolist()
            if sum(one.file_size for one in listed) > MOST_BYTES:
                raise InvalidData(
                    f"{path.name!r} is larger than {MOST_BYTES >> 30} GB when it is unpacked. Save it as .csv instead."
                )
            for one in listed:
                _look_through(file, one, path)
        except InvalidData:
            raise
        except (zipfile.BadZipFile, zlib.error, struct.error, NotImplementedError, EOFError, ValueError):
            raise cannot_be_read(path) from None


def unpacked_size(path: Path) -> int:
    """Return how many bytes the sheets of a file say that they have."""
    try:
        return sum(one.file_size for one in zipfile.ZipFile(path).infolist() if one.filename.startswith(_SHEETS))
    except (zipfile.BadZipFile, NotImplementedError, ValueError):  # who reads it will say so
        return 0


def cannot_be_read(path: Path) -> InvalidData:
    """Return the error of a file that is damaged, or no Excel file."""
    return InvalidData(
        f"{path.name!r} cannot be read as an Excel file. It may be cut off, or of another kind; write it anew."
    )


def _look_through(file: BinaryIO, one: zipfile.ZipInfo, path: Path) -> None:
    """Unpack one file of the archive part by part: it must have the size that it says, and no cells far apart."""
    size, rows, columns, cells = 0, 0, set[bytes](), 0
    end = b""
    for part in _unpacked(file, one):
        size += len(part)
        if size > one.file_size:
            raise cannot_be_read(path)
        if one.filename.startswith(_SHEETS):
            places = _PLACE.findall(end + part)
            cells += len(places)
            rows = max([rows, *(int(row) for _, row in places)])
            columns |= {column for column, _ in places}
            end = part[-_OVERLAP:]
    if size != one.file_size:
        raise cannot_be_read(path)
    apart = rows * max(map(_number, columns), default=0)
    if apart > max(_MOST_APART, _SHARE * cells):
        raise InvalidData(
            f"the cells of a sheet of {path.name!r} lie far apart, with nothing between. Delete what lies below or "
            f"beside the table."
        )


def _unpacked(file: BinaryIO, one: zipfile.ZipInfo) -> Iterator[bytes]:
    """Return the bytes of a file of the archive, to the end that they have, whatever the archive says of it."""
    file.seek(one.header_offset)
    head = file.read(30)
    mark, name, extra = struct.unpack("<4s22xHH", head)
    if mark != b"PK\x03\x04" or one.flag_bits & 1 or one.compress_type not in (0, 8):
        raise zipfile.BadZipFile
    file.seek(one.header_offset + 30 + name + extra)
    left, unpacking = one.compress_size, zlib.decompressobj(-15) if one.compress_type else None
    while left:
        read = file.read(min(_PART, left))
        if not read:
            raise EOFError
        left -= len(read)
        while unpacking is not None and read:
            yield unpacking.decompress(read, 4 * _PART)
            read = unpacking.unconsumed_tail
        if unpacking is None:
            yield read
    if unpacking is not None:
        yield unpacking.flush()
        if not unpacking.eof:
            raise EOFError


def _number(letters: bytes) -> int:
    """Return the number of a column by its letters."""
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number
