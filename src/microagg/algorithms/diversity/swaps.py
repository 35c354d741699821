"""Groups of near records that are made close to the file's distribution by swaps: k-anonymity first.

Soria-Comas, Domingo-Ferrer, Sánchez and Martínez (2015), algorithm 2, with the distance over values that is enforced in
place of theirs over ranks.
"""

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms._leftovers import place_together
from microagg.algorithms._run import SLICE, Run
from microagg.algorithms.diversity.demand import Confidential
from microagg.algorithms.kernels.groups import group_rest
from microagg.algorithms.kernels.records import Records
from microagg.algorithms.kernels.ways import groups_by_swaps, tables_of
from microagg.work import Progress

Labels = NDArray[np.int64]

_SLACK = 1e-12


def swapped(records: Records, k: int, t: float, column: Confidential, *, progress: Progress | None = None) -> Labels:
    """Group records as MDAV does, and swap members of each group for farther records until it is as close as t.

    The records are gone through by distance; each takes the place of the member where that makes the group closest, if
    it makes it closer. A missing value counts as the highest of an ordered column.
    """
    codes, counts, starts = column.levels()
    in_all = float(column.counts.sum())
    tables = np.empty((0, 0))
    limit = 2.0 * k * in_all * (len(starts) - 1) * (t + _SLACK)
    if column.ordered:
        below = np.cumsum(column.counts if column.counts[-1] else column.counts[:-1]).astype(np.float64)
        tables = tables_of(below, k, in_all)
        limit = k * in_all * max(1, below.size - 1) * (t + _SLACK)
    run = Run(records, k, "brute", progress)
    for least, paired in ((3 * k, True), (2 * k, False)):
        while run.remaining >= least:
            run.n_groups = groups_by_swaps(
                run.pool,
                run.shell,
                codes,
                tables,
                counts,
                starts,
                limit,
                k,
                least,
                paired,
                SLICE,
                run.n_groups,
                run.labels,
            )
            run.pause()
    if run.remaining >= k:
        group_rest(run.n_groups, run.labels)
    else:
        place_together(run, k)
    return run.finish()
