"""Digests of records, and the fewest records that have the same one."""

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.uint64]
"""What is equal where values are: of shape (n,), or (2, n) where each lane of a digest gets its own."""
Digests = NDArray[np.uint64]
"""128 bits a record, in two lanes: of shape (2, n). Where units are counted, a third lane holds a record's unit."""
NO_DIGESTS = np.empty((2, 0), dtype=np.uint64)

_BLOCK = 1 << 14  # records mixed at a time: they stay in the processor's cache
_AT_ONCE = 1 << 21  # records counted at a time, about


def float_bits(values: NDArray[np.float64]) -> Bits:
    """Numbers as integers that are equal where the numbers are: one for both zeros, one for all missing values."""
    plain = np.array(values)
    plain[np.isnan(plain)] = np.nan  # which has many patterns of bits
    plain += 0.0  # no negative zero
    return plain.view(np.uint64)


def digests_of(columns: Sequence[Bits], key: bytes) -> Digests:
    """Return a digest of each record's values.

    Records that differ in one column always differ in their digests. Others agree by a chance of about 2**-128, which
    nobody who does not know the key can help along.
    """
    n = columns[0].shape[-1]
    found = np.empty((2, n), dtype=np.uint64)
    for lane in range(2):
        _mix(columns, key, lane, found[lane])
    return found


def half_digests_of(columns: Sequence[Bits]) -> NDArray[np.uint64]:
    """Return the first lane alone of digests by a key that everybody knows: (n,)."""
    found = np.empty(columns[0].shape[-1], dtype=np.uint64)
    _mix(columns, b"", 0, found)
    return found


def _mix(columns: Sequence[Bits], key: bytes, lane: int, found: NDArray[np.uint64]) -> None:  # OUT: found
    """Write one lane of the digests."""
    seeds = np.frombuffer(hashlib.blake2b(key, digest_size=48).digest(), dtype=np.uint64).reshape(2, 3)
    start, *factors = seeds[lane]
    first, second = (factor | np.uint64(1) for factor in factors)  # an odd factor loses nothing
    for begin in range(0, found.size, _BLOCK):
        rows = slice(begin, begin + _BLOCK)
        state = found[rows]
        state[:] = start
        for column in columns:
            state ^= column[rows] if column.ndim == 1 else column[lane, rows]
            state ^= state >> np.uint64(32)
            state *= first
            state ^= state >> np.uint64(29)
            state *= second
            state ^= state >> np.uint64(32)


def digests_of_sets(found: Digests, owners: NDArray[Any]) -> Digests:
    """Return a digest of each owner's records, equal where these are, as often as each occurs, in whatever order.

    They are summed: 128 bits that nobody can foresee without the key make two sums agree by chance alone.
    """
    order = np.argsort(owners, kind="stable")
    starts = np.flatnonzero(np.concatenate([[True], owners[order][1:] != owners[order][:-1]]))
    return np.asarray(np.add.reduceat(found[:, order], starts, axis=1))


def in_order(found: Digests) -> Digests:
    """Return digests in the order of their first lane, as `fewest_alike` takes them."""
    return found[:, np.argsort(found[0])]


def with_units(found: Digests, units: NDArray[Any]) -> Digests:
    """Add each record's unit, an integer, to its digest."""
    return np.vstack([found, np.asarray(units).astype(np.uint64)])


def fewest_alike(parts: Sequence[Digests], in_part: bool = True) -> int:
    """Return the fewest records that have the same digest, or the fewest units where these are known; 0 for no records.

    With `in_part` units are counted by the one that has most rows: so many times its rows are there in all. Else those
    that differ are counted.

    Each part is in order by itself. One range of digests is looked up in all parts and counted, then the next, so that
    memory is that of some two million records, however many there are.
    """
    total = sum(int(part.shape[1]) for part in parts)
    bits = max(0, (total - 1) // _AT_ONCE).bit_length()
    inner = np.array([number << (64 - bits) for number in range(1, 1 << bits)], dtype=np.uint64)
    bounds = [np.concatenate([[0], np.searchsorted(part[0], inner), [part.shape[1]]]) for part in parts]
    fewest = total
    for number in range(1 << bits if total else 0):
        inside = [part[:, own[number] : own[number + 1]] for part, own in zip(parts, bounds, strict=True)]
        found = np.concatenate(inside, axis=1)
        if found.shape[1]:
            fewest = min(fewest, _fewest(found) if found.shape[0] == 2 else _fewest_units(found, in_part))
    return fewest


def fewest_in_groups(found: Digests, sizes: NDArray[np.int64]) -> int:
    """Return the fewest records that have the same digest, of groups of so many records with one digest each."""
    order, starts = _runs(found)
    return int(np.add.reduceat(sizes[order], starts).min())


def classes_of(found: Digests) -> NDArray[np.int64]:
    """Number records, from 0 without gaps, such that those with the same digest have the same number."""
    order, starts = _runs(found)
    classes = np.empty(order.size, dtype=np.int64)
    classes[order] = np.repeat(np.arange(starts.size), np.diff(starts, append=order.size))
    return classes


def _fewest(found: Digests) -> int:
    _, starts = _runs(found)
    return int(np.diff(starts, append=found.shape[1]).min())


def _runs(found: Digests) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return an order in which equal digests stand side by side, and where each run of them begins."""
    order = np.argsort(found[0], kind="stable")  # which merges what is in order already
    first, second = found[:, order]
    new = first[1:] != first[:-1]
    if (~new & (second[1:] != second[:-1])).any():  # two digests agree in the first lane
        order = np.lexsort(found)
        first, second = found[:, order]
        new = (first[1:] != first[:-1]) | (second[1:] != second[:-1])
    return order, np.concatenate([[0], np.flatnonzero(new) + 1])


def _fewest_units(found: Digests, in_part: bool) -> int:
    first, second, unit = found[:, np.lexsort(found[::-1])]
    other = (first[1:] != first[:-1]) | (second[1:] != second[:-1])
    runs = np.concatenate([[0], np.flatnonzero(other | (unit[1:] != unit[:-1])) + 1, [first.size]])  # of a unit each
    starts = np.searchsorted(runs[:-1], np.concatenate([[0], np.flatnonzero(other) + 1]))
    if not in_part:
        return int(np.diff(starts, append=runs.size - 1).min())
    rows = np.diff(runs)
    return int((np.add.reduceat(rows, starts) // np.maximum.reduceat(rows, starts)).min())


def mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread numbers evenly over all of 64 bits; the same wherever it is done."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
        numbers = (numbers + np.uint64(0x9E3779B97F4A7C15)) ^ (numbers >> np.uint64(shift))
        numbers = numbers * np.uint64(factor)
    return numbers
