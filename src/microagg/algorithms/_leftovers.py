"""Where records go that are left over when too few remain for a group."""

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms._run import Run
from microagg.algorithms.kernels.groups import (
    FREE,
    distances_to_groups,
    group_rest,
    number_groups,
    place_each_leftover,
    place_leftovers_together,
)
from microagg.algorithms.kernels.records import coordinates, take
from microagg.algorithms.merging import merge_short
from microagg.algorithms.units import Units

_AT_ONCE = 4_000_000  # distances held at a time


def place_each(run: Run, k: int) -> None:
    """Put each free record into the group with the nearest centroid, as the groups stood before.

    Where no unit may hold more than 1/k of a group, that is the nearest group without the record's unit, those placed
    before it counted. A record that fits nowhere joins the nearest, and groups are merged until all keep k units.
    """
    if run.units is None or not run.units.in_part:
        place_each_leftover(*run.records, run.labels)
    elif run.remaining:
        _place_apart(run, run.units, k)


def place_together(run: Run, k: int) -> None:
    """Put all free records into the group whose centroid is nearest to theirs.

    They go each by itself where two are of one unit. Where no unit may hold more than 1/k of a group, it is the nearest
    that holds none of theirs, and they go each by itself where there is none such.
    """
    if run.remaining == 0:
        return
    centroid = run.pool.sums / run.remaining
    if run.remaining > run.different:
        place_each(run, k)
    elif run.units is None or not run.units.in_part:
        place_leftovers_together(*run.records, centroid, run.labels)
    else:
        n_groups = number_groups(run.labels)
        free = np.flatnonzero(run.labels == FREE)
        full = _held(run.labels, run.units.codes, free, n_groups).any(axis=1)
        if full.all():
            place_each(run, k)
        else:
            distances = distances_to_groups(*run.records, centroid[None], run.labels, n_groups)[0]
            run.labels[free] = np.where(full, np.inf, distances).argmin()


def place_in(run: Run, group: int, k: int) -> None:
    """Put all free records into this group, or each by itself where units forbid it: two of one, or one it holds."""
    if run.units is not None:
        own = run.units.codes[run.labels == FREE]
        twice = run.remaining > run.different
        if twice or (run.units.in_part and np.isin(own, run.units.codes[run.labels == group]).any()):
            place_each(run, k)
            return
    group_rest(group, run.labels)


def _place_apart(run: Run, units: Units, k: int) -> None:
    n_groups = number_groups(run.labels)
    free = np.flatnonzero(run.labels == FREE)
    held = _held(run.labels, units.codes, free, n_groups)
    own = np.unique(units.codes[free], return_inverse=True)[1]
    targets = np.empty(free.size, dtype=np.int64)
    fits = True
    step = max(1, _AT_ONCE // n_groups)
    for start in range(0, free.size, step):
        points = np.ascontiguousarray(coordinates(take(run.records, free[start : start + step])).T)
        distances = distances_to_groups(*run.records, points, run.labels, n_groups)
        for i, to_groups in enumerate(distances, start):
            full = held[:, own[i]]
            fits &= not full.all()
            targets[i] = to_groups.argmin() if full.all() else np.where(full, np.inf, to_groups).argmin()
            held[targets[i], own[i]] = True
    run.labels[free] = targets
    if not fits:
        run.labels = merge_short(run.records, run.labels, k, units)


def _held(
    labels: NDArray[np.int64], codes: NDArray[np.int64], free: NDArray[np.int64], n_groups: int
) -> NDArray[np.bool_]:
    """Return which groups hold which of the units of free records, (groups, such units in order)."""
    wanted = np.unique(codes[free])
    rows = np.flatnonzero((labels != FREE) & np.isin(codes, wanted))
    held = np.zeros((n_groups, wanted.size), dtype=np.bool_)
    held[labels[rows], np.searchsorted(wanted, codes[rows])] = True
    return held
