"""Groups that keep a demand on confidential columns: the ways to form them, and which of them loses least.

Two are of Soria-Comas, Domingo-Ferrer, Sánchez and Martínez (2015). Algorithm 2, k-anonymity first: groups of near
records are made close to the file's distribution by swaps, with the distance over values that is enforced in place of
theirs over ranks. Algorithm 3, t-closeness first: the records are cut into as many subsets by the confidential column
as a group shall have records, and each group takes one from every subset.
"""

import math

import numpy as np

from microagg.algorithms._run import SLICE, Run
from microagg.algorithms.diversity.demand import Confidential, Demand
from microagg.algorithms.kernels.diversity import SLACK
from microagg.algorithms.kernels.groups import number_groups, place_each_leftover
from microagg.algorithms.kernels.records import Records, coordinates
from microagg.algorithms.kernels.shell import WORN_OUT
from microagg.algorithms.kernels.ways import (
    CHANGES,
    PASSES,
    exchange_some,
    groups_by_swaps,
    groups_of_values,
    groups_over_subsets,
    ready_to_exchange,
    tables_of,
)
from microagg.algorithms.units import Labels, Units, merge_worst, with_units
from microagg.checks import check_option
from microagg.work import Progress, tell

WAYS = {
    "merge": "groups that break the demand join the nearest until all keep it",
    "candidates": "a group takes the nearest records that bring the values it still needs",
    "swap": "members of a group change places with farther records until it is close enough to the file",
    "closeness": "each group takes a record from every part of the confidential column's distribution",
}
"""Each way to keep a demand by its name, and what it does. All end by merging, which repairs what is left."""

MOST_SWAPPED = 20_000
"""Records up to which `swap` is worth its time, which grows with their square."""

_PASSES, _ENOUGH = 50, 2_000_000_000  # passes over all pairs, and coordinates that those may look at


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


def candidates(
    records: Records,
    k: int,
    wanted: int,
    codes: Labels,
    missing: int,
    *,
    search: str = "auto",
    progress: Progress | None = None,
) -> Labels:
    """Group records such that each group has so many different `codes` (n,) as wanted, of which `missing` is none.

    Groups start as MDAV's do. One takes the records nearest to its first: any while more places are free than values
    are wanting, then only those of a new value; it has k records, or one a value where that is more. When fewer records
    or values remain, each record left joins the group with the nearest centroid. There must be as many values.
    """
    size = max(k, wanted)
    run = Run(records, size, search, progress, Units(codes, in_part=False))
    for least, paired in ((3 * size, True), (size, False)):
        while True:
            before = run.n_groups
            plain = run.pool._replace(marks=np.empty(0, dtype=np.int64), tally=np.empty((2, 0), dtype=np.int64))
            run.n_groups = groups_of_values(
                run.pool, plain, run.shell, size, wanted, missing, least, paired, SLICE, run.n_groups, run.labels
            )
            worn = bool(run.shell.state[WORN_OUT])
            run.pause()
            if run.n_groups == before and not worn:
                break
    place_each_leftover(*run.records, run.labels)
    return run.finish()


def size_for_closeness(n: int, k: int, t: float) -> int:
    """How many records each group is to have so that groups are as close as t over ranks, where that divides n."""
    size = max(k, math.ceil(n / (2 * (n - 1) * t + 1)))
    return size + n % size // (n // size)


def cut_by_rank(codes: Labels, size: int) -> Labels:
    """Cut records into so many subsets by their codes, ties by row; what is over goes into the middle ones."""
    each, over = divmod(codes.size, size)
    sizes = np.full(size, each)
    if size % 2:
        sizes[size // 2] += over
    else:
        sizes[size // 2 - 1] += over // 2
        sizes[size // 2] += over - over // 2
    subsets = np.empty(codes.size, dtype=np.int64)
    subsets[np.argsort(codes, kind="stable")] = np.repeat(np.arange(size), sizes)
    return subsets


def closeness(
    records: Records,
    k: int,
    t: float,
    codes: Labels,
    *,
    swaps: bool = True,
    search: str = "auto",
    progress: Progress | None = None,
) -> Labels:
    """Group records such that each group takes its records from all parts of the distribution of `codes` (n,).

    With `swaps`, records of the same part change places between groups where that lowers the squared error; not where
    there are so many that looking at all pairs would take many seconds.
    """
    n = codes.size
    size = size_for_closeness(n, k, t)
    subsets = cut_by_rank(codes, size)
    run = Run(records, size, search, progress, Units(subsets, in_part=False))
    while run.n_groups < n // size:
        run.n_groups = groups_over_subsets(run.pool, run.shell, n // size, SLICE, run.n_groups, run.labels)
        run.pause()
    if swaps and run.n_groups > 1:
        _exchange(records, subsets, run.labels, progress)
    return run.finish()


def _exchange(records: Records, subsets: Labels, labels: Labels, progress: Progress | None) -> None:
    """Let records of the same subset change places until no pair gains by it."""
    number_groups(labels)
    points = coordinates(records).T
    sizes = np.bincount(subsets)
    looked_at = int((sizes * sizes // 2).sum()) * points.shape[1]
    passes = min(_PASSES, _ENOUGH // max(1, looked_at))  # none where pairs are too many
    exchange = ready_to_exchange(points, subsets, labels)
    while exchange.state[PASSES] < passes:
        exchange.state[CHANGES] = 0
        while not exchange_some(exchange, SLICE // (8 * points.shape[1]), labels):
            tell(progress, labels.size, labels.size)
        if exchange.state[CHANGES] == 0:
            break


def swapped(records: Records, k: int, t: float, column: Confidential, *, progress: Progress | None = None) -> Labels:
    """Group records as MDAV does, and swap members of each group for farther records until it is as close as t.

    The records are gone through by distance; each takes the place of the member where that makes the group closest, if
    it makes it closer. A missing value counts as the highest of an ordered column.
    """
    codes, counts, starts = column.levels()
    in_all = float(column.counts.sum())
    tables = np.empty((0, 0))
    limit = 2.0 * k * in_all * (len(starts) - 1) * (t + SLACK)
    if column.ordered:
        below = np.cumsum(column.counts if column.counts[-1] else column.counts[:-1]).astype(np.float64)
        tables = tables_of(below, k, in_all)
        limit = k * in_all * max(1, below.size - 1) * (t + SLACK)
    compared = codes, tables, counts, starts, limit
    run = Run(records, k, "brute", progress)
    for least, paired in ((3 * k, True), (2 * k, False)):
        while run.remaining >= least:
            run.n_groups = groups_by_swaps(
                run.pool, run.shell, *compared, k, least, paired, SLICE, run.n_groups, run.labels
            )
            run.pause()
    run.group_rest()
    return run.finish()
