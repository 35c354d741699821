"""Groups close to the file's distribution by how they are formed: t-closeness first.

Soria-Comas, Domingo-Ferrer, Sánchez and Martínez (2015), algorithm 3. The records are cut into as many subsets by the
confidential column as a group shall have records, and each group takes one from every subset.
"""

import math

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms._run import SLICE, Run
from microagg.algorithms.kernels.groups import number_groups
from microagg.algorithms.kernels.records import Records, coordinates
from microagg.algorithms.kernels.ways import CHANGES, PASSES, exchange_some, groups_over_subsets, ready_to_exchange
from microagg.algorithms.units import Units
from microagg.work import Progress, tell

Labels = NDArray[np.int64]

_PASSES, _ENOUGH = 50, 2_000_000_000  # passes over all pairs, and coordinates that those may look at


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
