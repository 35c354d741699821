"""The promise of k, counted on what was written before it takes its name."""

import hashlib
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import field, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microagg.algorithms.diversity.demand import Demand
from microagg.algorithms.equivalence import first_of_each
from microagg.algorithms.kernels.alike import (
    NO_DIGESTS,
    Bits,
    Digests,
    classes_of,
    digests_of,
    digests_of_sets,
    fewest_alike,
    float_bits,
    in_order,
    with_units,
)
from microagg.base.frozen import frozen
from microagg.columns.numbers import is_text
from microagg.errors import InvalidData, PromiseBroken, RoleError

_ROWS = 1 << 17  # records whose digests are made together
_PART = 1 << 20  # records whose digests are put in order and stored together, about
_MISSING = np.array([[0], [1]], dtype=np.uint64)  # no number has this pair: its lanes are equal

_REMEDY = "It is not released. Run again; if that does not help, write another format, and report the error."


@frozen()
class Promise:
    """That at least k records share each combination of released values, wherever these are written.

    Zeros of both signs are equal, and a missing value is equal to a missing one only.

    Attributes
    ----------
    k : int
    masked, strata : tuple of str
        The columns that are counted together.
    per_column : bool
        Whether each masked column is counted by itself, with the strata.
    units : array of shape (n,), optional
        The unit of each row that is written, in the order of rows: k then counts units.
    pseudonym : str
        The column of the numbers of units, where these are written: k counts units that have the same rows.
    in_part : bool
        Whether no unit holds more than 1/k of the rows that share a combination; else k different ones are enough.
    demand : Demand, optional
        What records that share a combination must keep of confidential columns, in the order of the rows.
    weighing : Demand, optional
        That k records, or units, that share a combination weigh something, where means are weighted.

    Examples
    --------
    >>> promise = Promise(2, ("wage",), ("region",))
    >>> table = pa.table({"wage": [1.5, 1.5, 2.0], "region": ["N", "N", "S"]})
    >>> check_written(promise, [table], 3, "pay.csv")
    Traceback (most recent call last):
    ...
    microagg.errors.PromiseBroken: 'pay.csv' was read back, and a combination of its ... shared by 1 record(s) ...
    """

    k: int
    masked: tuple[str, ...]
    strata: tuple[str, ...] = ()
    per_column: bool = False
    units: NDArray[Any] | None = field(default=None, compare=False, repr=False)
    in_part: bool = True
    pseudonym: str = ""
    demand: Demand | None = field(default=None, compare=False, repr=False)
    weighing: Demand | None = field(default=None, compare=False, repr=False)

    def of_units(self, units: NDArray[Any], in_part: bool) -> "Promise":
        """Return the same promise of units, in the order of the rows that are written."""
        return replace(self, units=units, in_part=in_part)

    def sorted_by(self, order: NDArray[np.int64]) -> "Promise":
        """Return the same promise of rows that are written in another order."""
        return replace(
            self,
            units=None if self.units is None else self.units[order],
            demand=None if self.demand is None else self.demand.take(order),
            weighing=None if self.weighing is None else self.weighing.take(order),
        )

    @property
    def columns(self) -> list[str]:
        """The names of the columns that are counted, in the order in which `digests` takes them."""
        return [*self.masked, *self.strata, *([self.pseudonym] if self.pseudonym else []), *self.confidential]

    @property
    def confidential(self) -> list[str]:
        """The confidential columns that anything is demanded of."""
        return [] if self.demand is None else [column.name for column in self.demand.columns]

    def check_columns(self, names: Collection[str]) -> None:
        """Refuse a table without a column that must be counted."""
        for name in self.columns:
            if name not in names:
                raise RoleError(f"the table has no column {name!r}, for which k is promised. Check its spelling.")

    def digests(self, table: pa.Table, key: bytes) -> list[Digests]:
        """The digests of a table's records; one array, or where each column is counted by itself one for each."""
        bits = [bits_of(column, key) for column in table.columns[: len(self.masked) + len(self.strata)]]
        bits = bits or [np.zeros(table.num_rows, dtype=np.uint64)]  # one of two files may have none of the columns
        own, strata = bits[: len(self.masked)], bits[len(self.masked) :]
        return [digests_of([one, *strata], key) for one in own] if self.per_column else [digests_of(bits, key)]

    def check(self, fewest: int, name: str, *, of_units: bool = False) -> None:
        """Refuse what was written where fewer than k records, or units, share a combination of values."""
        if fewest < self.k:
            counted = "a value of a masked column" if self.per_column else "a combination of its masked values"
            whose = "unit(s)" if of_units or self.units is not None or self.pseudonym else "record(s)"
            raise PromiseBroken(
                f"{name!r} was read back, and {counted}{' and strata' if self.strata else ''} is shared by {fewest} "
                f"{whose} only, where at least {self.k} must share it. {_REMEDY}"
            )

    def check_demand(self, found: Digests, confidential: Sequence[Bits], name: str) -> None:
        """Refuse what was written if identical records break the demand on confidential columns, or on weights.

        `found` are the digests of all records, and `confidential` the bits of the values that were written: where these
        are equal, the values that the demand was kept for must have been.
        """
        if self.weighing is not None and not self.weighing.kept(classes_of(found)):
            raise PromiseBroken(
                f"{name!r} was read back, and fewer than {self.weighing.limits[0].l} of those who share all masked "
                f"values have a weight above 0. {_REMEDY}"
            )
        if self.demand is None:
            return
        for column, bits in zip(self.demand.columns, confidential, strict=True):
            classes = classes_of(bits)
            lost = (bits == _MISSING).all(axis=0) & ~column.missing  # some formats have no empty text, say
            if lost.any() or not np.array_equal(column.codes[first_of_each(classes)][classes], column.codes):
                raise PromiseBroken(
                    f"{name!r} was read back, and column {column.name!r} does not have, row by row, the values for "
                    f"which l or t was kept. {_REMEDY}"
                )
        if not self.demand.kept(classes_of(found)):
            raise PromiseBroken(
                f"{name!r} was read back, and records that share all masked values disclose more of a confidential "
                f"column than l or t allows. {_REMEDY}"
            )


def digests_written(
    promise: Promise, tables: Iterable[pa.Table], records: int, name: str, key: bytes
) -> Iterator[list[Digests]]:
    """Return the digests of what was written, part by part, as `Promise.digests` does.

    Parameters
    ----------
    promise : Promise
    tables : iterable of pyarrow.Table
        What was written, read back: the columns of the promise, in its order.
    records : int
        How many were written.
    name : str
        Of the file or table, to show.
    key : bytes
        The same for all parts of a file, and secret.

    Raises
    ------
    PromiseBroken
        If there are more or fewer records, or they cannot be read.
    """
    found = 0
    try:
        for table in tables:
            found += table.num_rows
            if found > records:
                break
            for start in range(0, table.num_rows, _ROWS):
                yield promise.digests(table.slice(start, _ROWS), key)
    except (InvalidData, pa.ArrowException, OSError, UnicodeError):  # whose messages may show cells
        raise PromiseBroken(
            f"{name!r} was written and cannot be read back, so that its values cannot be checked. {_REMEDY}"
        ) from None
    if found != records:
        raise PromiseBroken(
            f"{name!r} was read back and has {'more' if found > records else 'fewer'} records than the {records} that "
            f"were written. {_REMEDY}"
        )


def check_written(
    promise: Promise,
    tables: Iterable[pa.Table],
    records: int,
    name: str,
    *,
    room: Digests | None = None,
    tell: Callable[[int], None] | None = None,
) -> int:
    """The fewest records, or units, that share one combination of values in what was written; refuse fewer than k.

    Parameters
    ----------
    promise, tables, records, name
        See `digests_written`.
    room : array of shape (2, records), or (3, records) where units are counted, optional
        Where to keep the digests of a file that does not fit into memory, unless columns are counted one by one.
    tell : callable, optional
        Called with the number of records that have been read.

    Raises
    ------
    PromiseBroken
        If fewer than k records share a combination; or as by `digests_written`.
    """
    if promise.pseudonym:
        return _check_whole_units(promise, tables, records, name)
    tallies = [_Tally(None) for _ in promise.masked] if promise.per_column else [_Tally(room)]
    as_written, key = [NO_DIGESTS], os.urandom(16)
    confidential: list[list[Bits]] = [[NO_DIGESTS] for _ in promise.confidential]

    def seen() -> Iterator[pa.Table]:
        for table in tables:
            for own, column in zip(confidential, table.columns[table.num_columns - len(confidential) :], strict=True):
                own.append(bits_of(column, key))
            yield table

    for found in digests_written(promise, seen(), records, name, key):
        start = tallies[0].records
        for tally, digests in zip(tallies, found, strict=True):
            own = None if promise.units is None else promise.units[start : start + digests.shape[1]]
            tally.add(digests if own is None else with_units(digests, own))
        if promise.demand is not None or promise.weighing is not None:
            as_written.append(found[0])
        if tell is not None:
            tell(tallies[0].records)
    fewest = min(tally.fewest(promise.in_part) for tally in tallies)
    promise.check(fewest, name)
    values = [np.concatenate(own, axis=1) for own in confidential]
    promise.check_demand(np.concatenate(as_written, axis=1), values, name)
    return fewest


def _check_whole_units(promise: Promise, tables: Iterable[pa.Table], records: int, name: str) -> int:
    """Return the fewest units that have the same rows in what was written; refuse fewer than k."""
    _, alike = _units_written(promise, tables, records, name, os.urandom(16))
    fewest = fewest_alike([in_order(alike)])
    promise.check(fewest, name)
    return fewest


def _units_written(
    promise: Promise, tables: Iterable[pa.Table], records: int, name: str, key: bytes
) -> tuple[Bits, Digests]:
    """Return the units of what was written, in order, and a digest of the rows of each."""
    units, found = [], [NO_DIGESTS]

    def seen() -> Iterator[pa.Table]:
        for table in tables:
            numbers = table.column(table.num_columns - 1).cast(pa.int64())  # some files hold all numbers as floats
            units.append(bits_of(numbers, b"")[0])
            yield table

    for (digests,) in digests_written(promise, seen(), records, name, key):
        found.append(digests)
    owners = np.concatenate(units)
    return np.unique(owners), digests_of_sets(np.concatenate(found, axis=1), owners)


class WrittenFile(NamedTuple):
    """A file that was written and has not got its name yet: what reads some of its columns, and its records."""

    read: Callable[[list[str]], Iterable[pa.Table]]
    names: Collection[str]
    records: int
    name: str


def check_written_apart(promise: Promise, persons: WrittenFile, households: WrittenFile) -> int:
    """Return the fewest units that are identical in two files: in their rows of one and their single row of the other.

    Parameters
    ----------
    promise : Promise
        Of both together, with a pseudonym, which is a column of each.
    persons, households : WrittenFile

    Raises
    ------
    PromiseBroken
        If fewer than k units are identical, or the files do not have the same units, or the second not one row of each;
        or as by `digests_written`.
    """
    key, found = os.urandom(16), []
    for file in (persons, households):
        own = replace(
            promise,
            masked=tuple(name for name in promise.masked if name in file.names),
            strata=tuple(name for name in promise.strata if name in file.names),
        )
        found.append(_units_written(own, file.read(own.columns), file.records, file.name, key))
    (units, rows), (others, single) = found
    if others.size != households.records or not np.array_equal(units, others):
        raise PromiseBroken(
            f"{persons.name!r} and {households.name!r} were read back, and the second does not have exactly one row "
            f"for each household of the first. {_REMEDY}"
        )
    fewest = fewest_alike([in_order(digests_of([rows, single], key))])
    promise.check(fewest, f"{persons.name} with {households.name}")
    return fewest


class _Tally:
    """The digests of a file: 16 bytes a record, in parts that are in order."""

    def __init__(self, room: Digests | None) -> None:
        self.records = 0
        self._room = room
        self._stored = 0
        self._waiting: list[Digests] = []
        self._parts: list[Digests] = []

    def add(self, digests: Digests) -> None:
        """Take the digests of some more records."""
        self._waiting.append(digests)
        self.records += digests.shape[1]
        if self.records - self._stored >= _PART:
            self._store()

    def _store(self) -> None:
        part = in_order(np.concatenate(self._waiting, axis=1))
        if self._room is not None:
            place = self._room[:, self._stored : self.records]
            place[:] = part
            part = place
        self._parts.append(part)
        self._waiting, self._stored = [], self.records

    def fewest(self, in_part: bool) -> int:
        """Return the smallest number of records, or units, that are identical."""
        if self._waiting:
            self._store()
        return fewest_alike(self._parts, in_part)


def bits_of(column: pa.ChunkedArray, key: bytes) -> Bits:
    """Return what is equal where values of a column are, (2, n)."""
    return np.concatenate([NO_DIGESTS, *(_bits(chunk, key) for chunk in column.chunks)], axis=1)


def _bits(array: Any, key: bytes) -> Bits:
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        return _bits(array.storage, key)
    if pa.types.is_dictionary(kind):
        return _bits(array.dictionary_decode(), key)
    if pa.types.is_floating(kind):
        values = array.cast(pa.float64()).to_numpy(zero_copy_only=False)  # NaN where a value is missing
        return np.broadcast_to(float_bits(values), (2, len(array)))
    if pa.types.is_boolean(kind):
        array = array.cast(pa.int8())
    elif pa.types.is_temporal(kind) and kind.bit_width in (32, 64):  # a clock shows two instants as one when set back
        array = array.view(pa.int32() if kind.bit_width == 32 else pa.int64())
    if pa.types.is_integer(array.type):
        whole = pa.uint64() if pa.types.is_uint64(array.type) else pa.int64()
        bits = array.fill_null(0).cast(whole).to_numpy(zero_copy_only=False).view(np.uint64)
        if array.null_count == 0:
            return np.broadcast_to(bits, (2, len(array)))
        return np.where(np.asarray(array.is_null()), _MISSING, bits)
    if is_text(kind):
        array = array.cast(pa.large_string())
    encoded = array.dictionary_encode()
    hashes = b"".join(_hash(value, key) for value in encoded.dictionary.to_pylist())
    bits = np.concatenate([np.frombuffer(hashes, dtype=np.uint64).reshape(-1, 2).T, _MISSING], axis=1)
    return bits[:, encoded.indices.fill_null(len(encoded.dictionary)).to_numpy(zero_copy_only=False)]


def _hash(value: Any, key: bytes) -> bytes:
    text = value if isinstance(value, (bytes, str)) else repr(value)
    return hashlib.blake2b(text.encode() if isinstance(text, str) else text, digest_size=16, key=key).digest()
