"""Units: the persons, households or firms that rows belong to, where one may have several.

Where nothing else does, groups are merged until each keeps its promise of units, or its demand.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.kernels.diversity import DISTINCT, UNITS, UNITS_IN_PART, Tracks, nothing_asked
from microagg.algorithms.kernels.groups import number_groups
from microagg.algorithms.kernels.merging import ALIVE, follow, merge_some, ready_to_merge
from microagg.algorithms.kernels.records import Records
from microagg.errors import InvalidParameter, TooFewRecords, setting
from microagg.work import Progress, tell

Labels = NDArray[np.int64]

_SLICE = 50_000_000  # coordinates looked at between two calls of progress


class Units(NamedTuple):
    """Whose rows they are, and what a group must keep of it.

    Attributes
    ----------
    codes : array of shape (n,)
        The unit of each row, numbered from 0.
    in_part : bool
        Whether no unit may hold more than 1/k of a group's rows; else k different units in a group are enough.
    slots : array of shape (n,) or None
        The place of each row in its unit, where whole units are released with the same rows.
    joined : int
        How many spellings of units were taken for the same unit as another spelling.
    """

    codes: Labels
    in_part: bool = True
    slots: Labels | None = None
    joined: int = 0

    def take(self, rows: Labels) -> "Units":
        """Return the units of some rows, numbered anew."""
        codes = np.unique(self.codes[rows], return_inverse=True)[1].astype(np.int64).ravel()
        return self._replace(codes=codes, slots=None if self.slots is None else self.slots[rows])

    @property
    def n_units(self) -> int:
        """How many different ones there are."""
        return int(self.codes.max(initial=-1)) + 1


class Held(NamedTuple):
    """What groups hold: of each one the rows, the different units, and the rows of the unit that has most."""

    rows: Labels
    units: Labels
    largest: Labels

    def short(self, k: int, in_part: bool) -> NDArray[np.bool_]:
        """Return which groups break the promise of k units."""
        return np.asarray(self.units < k if not in_part else self.largest * k > self.rows)

    def join(self, other: "Held") -> "Held":
        """Return what groups hold in all, where `other` has counted the rows of other units."""
        return Held(self.rows + other.rows, self.units + other.units, np.maximum(self.largest, other.largest))


def held_by(labels: Labels, codes: NDArray[Any], n_groups: int, counts: Labels | None = None) -> Held:
    """Count the units of groups; each record has a label, below n_groups, and the code of its unit.

    With `counts`, an entry stands for so many records.
    """
    order = np.lexsort((codes, labels))
    labels, codes = labels[order], codes[order]
    new = np.ones(labels.size, dtype=bool)
    new[1:] = (labels[1:] != labels[:-1]) | (codes[1:] != codes[:-1])
    starts = np.flatnonzero(new)
    own = np.diff(starts, append=labels.size) if counts is None else _summed(counts[order], starts)
    owners = labels[starts]
    largest = np.zeros(n_groups, dtype=np.int64)
    np.maximum.at(largest, owners, own)
    rows = np.bincount(owners, weights=own, minlength=n_groups).astype(np.int64)
    return Held(rows, np.bincount(owners, minlength=n_groups), largest)


def _summed(counts: Labels, starts: Labels) -> Labels:
    return np.asarray(np.add.reduceat(counts, starts) if starts.size else counts)


def check_units(units: Units | None, n: int, k: int) -> None:
    """Refuse units of n records that leave no way to keep k of them in a group."""
    if units is None:
        return
    if units.codes.shape != (n,):
        raise InvalidParameter(
            f"units have shape {units.codes.shape}, but there are {n} records. Pass one unit a record.",
            parameter="unit",
        )
    counts = np.bincount(units.codes)
    found, most = np.count_nonzero(counts), int(counts.max())
    if found < k:
        raise TooFewRecords(
            f"{n} record(s) of {found} unit(s) cannot fill a group of k={k} units. Merge strata or lower k.",
            parameter="unit",
        )
    if units.in_part and most * k > n:
        raise TooFewRecords(
            f"one unit has {most} of {n} records, and at most {n // k} may be of one where k={k}: it would hold more "
            f"than 1/k of some group. Merge strata, or ask for k different units and no more "
            f"({setting('unit_share', 'any')}).",
            parameter="unit",
        )


def merge_short(records: Records, labels: Labels, k: int, units: Units) -> Labels:
    """Merge groups until each keeps k units, as `Held.short` counts; give the labels, numbered by lowest row.

    The worst is the one in which a unit has the largest share, or the one of fewest units where shares do not matter.
    Merging two groups that keep the promise gives one that keeps it, and so does one group of all.
    """
    check_units(units, labels.size, k)
    return merge_worst(records, labels, with_units(nothing_asked(), k, units))


def with_units(asked: Tracks, k: int, units: Units | None) -> Tracks:
    """Return what is asked of groups, and that each keeps k units."""
    if units is None:
        return asked
    limits = np.zeros((1, 5))
    limits[0, DISTINCT] = k
    kind, none = UNITS_IN_PART if units.in_part else UNITS, np.zeros(1, dtype=np.int64)
    codes = asked.codes if asked.kinds.size else np.empty((0, units.codes.size), dtype=np.int64)
    return asked._replace(
        codes=np.concatenate([codes, units.codes[None]]),
        kinds=np.append(asked.kinds, kind),
        limits=np.concatenate([asked.limits, limits]),
        levels=np.concatenate([asked.levels, none]),
        values=np.concatenate([asked.values, none]),
        starts=np.concatenate([asked.starts, none]),
    )


def merge_worst(records: Records, labels: Labels, asked: Tracks, progress: Progress | None = None) -> Labels:
    """While a group breaks what is asked, let the worst join the group with the nearest centroid, the lowest on ties.

    A merged group has the lower number of the two, so groups stay numbered by lowest row; its centroid is the mean of
    theirs, weighted by their records. Ends with one group at the latest.
    """
    labels = labels.copy()
    n_groups = number_groups(labels)
    merging = ready_to_merge(records, labels, n_groups, asked)
    while merge_some(asked, _SLICE, merging):
        tell(progress, n_groups - int(merging.state[ALIVE]), n_groups)
    follow(merging.into, labels)
    number_groups(labels)
    return labels
