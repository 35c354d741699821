"""MDAV: maximum distance to average vector."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microagg.algorithms._run import Run
from microagg.algorithms.kernels.records import Records
from microagg.algorithms.method import by_search
from microagg.algorithms.units import Units
from microagg.checks import check_option
from microagg.work import Progress

TAILS = ("3k", "2k")


def mdav(
    X: ArrayLike | Records,
    k: int,
    *,
    tail: str = "3k",
    search: str = "auto",
    progress: Progress | None = None,
    units: Units | None = None,
) -> NDArray[np.int64]:
    """Label each record of X (n, d) with its group by MDAV.

    `tail="3k"` is the usual algorithm; `tail="2k"` is the loop of approximate microaggregation (AMA).

    With `units` a group takes its nearest records of different units, and the two loops count units. Then groups are
    formed one by one while k units remain and one of them has several records; once each has one, the rest is grouped
    as without units. Fewer than k units left over join the nearest group that holds none of them.
    """
    check_option("tail", tail, TAILS)
    run = Run.of(X, k, search, progress, units)
    run.form_groups_from_outside(least=(3 if tail == "3k" else 2) * run.k, paired=True)
    run.form_groups_while_units_repeat()
    if tail == "3k":
        run.form_groups_from_outside(least=2 * run.k, paired=False)
    run.group_rest()
    return run.finish()


METHOD = by_search(
    "mdav",
    mdav,
    "groups of k around the record farthest from the centroid, and around the record farthest from that one",
    {"tail": "how many records are left when the last groups are formed: 3k as usual, 2k as in ama"},
    {"tail": TAILS},
)
