"""Merging groups until each keeps a promise: the last step where nothing else does."""

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.kernels.diversity import DISTINCT, UNITS, UNITS_IN_PART, Asked, nothing_asked
from microagg.algorithms.kernels.groups import number_groups
from microagg.algorithms.kernels.merging import ALIVE, follow, merge_some, ready_to_merge
from microagg.algorithms.kernels.records import Records
from microagg.algorithms.units import Units, check_units
from microagg.work import Progress, tell

Labels = NDArray[np.int64]

_SLICE = 50_000_000  # coordinates looked at between two calls of progress


def merge_short(records: Records, labels: Labels, k: int, units: Units) -> Labels:
    """Merge groups until each keeps k units, as `Held.short` counts; give the labels, numbered by lowest row.

    The worst is the one in which a unit has the largest share, or the one of fewest units where shares do not matter.
    Merging two groups that keep the promise gives one that keeps it, and so does one group of all.
    """
    check_units(units, labels.size, k)
    return merge_worst(records, labels, with_units(nothing_asked(), k, units))


def with_units(asked: Asked, k: int, units: Units | None) -> Asked:
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


def merge_worst(records: Records, labels: Labels, asked: Asked, progress: Progress | None = None) -> Labels:
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
