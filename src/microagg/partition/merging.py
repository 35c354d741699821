"""Merging groups until each keeps a promise: the last step where nothing else does."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from microagg._kernels.groups import mean_of, number_groups
from microagg._kernels.records import Records, squared_distances
from microagg.partition._units import check_units
from microagg.units import Units, held_by

Labels = NDArray[np.int64]
Breach = Callable[[Labels, Labels, int], NDArray[np.float64]]
"""How badly groups break a promise: breach(rows, labels, n_groups), where labels, from 0, are the groups of these rows.
It gives for each group a number above 0, the larger the worse, or 0 where the group keeps the promise."""


def merge_short(records: Records, labels: Labels, k: int, units: Units) -> Labels:
    """Merge groups until each keeps k units, as `Held.short` counts; give the labels, numbered by lowest row.

    The worst is the one in which a unit has the largest share, or the one of fewest units where shares do not matter.
    Merging two groups that keep the promise gives one that keeps it, and so does one group of all.
    """
    check_units(units, labels.size, k)

    def breach(rows: Labels, own: Labels, n_groups: int) -> NDArray[np.float64]:
        held = held_by(own, units.codes[rows], n_groups)
        how_bad = held.largest / held.rows if units.in_part else (k - held.units).astype(np.float64)
        return np.where(held.short(k, units.in_part), how_bad, 0.0)

    return merge_worst(records, labels, breach)


def merge_worst(records: Records, labels: Labels, breach: Breach) -> Labels:
    """While a group breaks a promise, let the worst join the group with the nearest centroid, the lowest on ties.

    A merged group has the lower number of the two, so groups stay numbered by lowest row. Ends with one group at the
    latest.
    """
    labels = labels.copy()
    n_groups = number_groups(labels)
    breaches = breach(np.arange(labels.size), labels, n_groups)
    if not breaches.any():
        return labels
    rows = np.split(np.argsort(labels, kind="stable"), np.cumsum(np.bincount(labels))[:-1])
    centroids = np.stack([mean_of(*records, own) for own in rows], axis=1)  # (D, groups)
    gone = np.zeros(n_groups, dtype=np.bool_)
    distances = np.empty(n_groups)
    while breaches.any() and not gone[1:].all():
        worst = int(breaches.argmax())
        squared_distances(centroids, 0, n_groups, np.ascontiguousarray(centroids[:, worst]), distances)
        distances[gone] = np.inf
        distances[worst] = np.inf
        kept, joined = sorted((worst, int(distances.argmin())))
        rows[kept] = np.sort(np.concatenate([rows[kept], rows[joined]]))
        labels[rows[kept]] = kept
        centroids[:, kept] = mean_of(*records, rows[kept])
        gone[joined] = True
        breaches[joined] = 0.0
        breaches[kept] = breach(rows[kept], np.zeros(rows[kept].size, dtype=np.int64), 1)[0]
    number_groups(labels)
    return labels
