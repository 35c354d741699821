"""Groups that keep a demand on confidential columns: the ways to form them, and which of them loses least."""

import math

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.diversity.candidates import candidates
from microagg.algorithms.diversity.closeness import closeness
from microagg.algorithms.diversity.demand import Demand
from microagg.algorithms.diversity.swaps import swapped
from microagg.algorithms.kernels.records import Records
from microagg.algorithms.merging import merge_worst, with_units
from microagg.algorithms.units import Units
from microagg.checks import check_option
from microagg.work import Progress

Labels = NDArray[np.int64]

WAYS = {
    "merge": "groups that break the demand join the nearest until all keep it",
    "candidates": "a group takes the nearest records that bring the values it still needs",
    "swap": "members of a group change places with farther records until it is close enough to the file",
    "closeness": "each group takes a record from every part of the confidential column's distribution",
}
"""Each way to keep a demand by its name, and what it does. All end by merging, which repairs what is left."""

MOST_SWAPPED = 20_000
"""Records up to which `swap` is worth its time, which grows with their square."""


def fitting(n: int, demand: Demand, units: Units | None = None) -> tuple[str, ...]:
    """Name the ways that fit a demand on n records; those that choose members look at one column each."""
    if units is not None:
        return ("merge",)
    most = {"swap": MOST_SWAPPED}
    return tuple(
        way for way in WAYS if way == "merge" or (chosen_by(way, demand) is not None and n <= most.get(way, n))
    )


def chosen_by(way: str, demand: Demand) -> int | None:
    """Return by which column a way chooses members: the first that it can; None where there is none."""
    for number, (column, limits) in enumerate(zip(demand.columns, demand.limits, strict=True)):
        can = {
            "candidates": limits.counts_values,
            "swap": limits.t is not None,
            "closeness": bool(limits.t) and column.ordered,
        }
        if can.get(way, False):
            return number
    return None


def form_diverse(
    records: Records,
    k: int,
    labels: Labels,
    demand: Demand,
    way: str,
    *,
    units: Units | None = None,
    progress: Progress | None = None,
) -> Labels:
    """Group the records of one piece such that every group keeps a demand, in one of the `WAYS`.

    `labels` (n,) are any partition into groups of at least k, of k units where those are known; `merge` starts from it.
    No groups of a piece keep what the piece as a whole does not: then they are left as they were formed.
    """
    check_option("diversity", way, fitting(labels.size, demand, units))
    formed = labels if way == "merge" else _form(records, k, demand, way, progress)
    whole = np.zeros(labels.size, dtype=np.int64)
    if demand.kept(whole):
        formed = merge_worst(records, formed, with_units(demand.asked, k, units), progress)
    return formed


def _form(records: Records, k: int, demand: Demand, way: str, progress: Progress | None) -> Labels:
    number = chosen_by(way, demand) or 0
    column, limits = demand.columns[number], demand.limits[number]
    if way == "candidates":
        wanted = max(limits.l or 2, math.ceil(limits.entropy or 2), (limits.recursive or (0, 2))[1])
        here = np.unique(column.codes[~column.missing]).size
        return candidates(records, k, min(wanted, here), column.codes, column.n_values, progress=progress)
    t = limits.t or 0.0
    if way == "swap":
        return swapped(records, k, t, column, progress=progress)
    return closeness(records, k, t, column.codes, progress=progress)
