"""MDAV: maximum distance to average vector."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microagg._kernels.groups import group_rest, place_leftovers_together
from microagg._kernels.records import Records
from microagg.checks import check_option
from microagg.partition._method import SEARCH, Method
from microagg.partition._run import Run, records_and_k
from microagg.progress import Progress


def mdav(
    X: ArrayLike | Records, k: int, *, tail: str = "3k", search: str = "auto", progress: Progress | None = None
) -> NDArray[np.int64]:
    """Label each record of X (n, d) with its group by MDAV.

    `tail="3k"` is the usual algorithm; `tail="2k"` is the loop of approximate microaggregation (AMA).
    """
    check_option("tail", tail, ("3k", "2k"))
    records, k = records_and_k(X, k)
    run = Run(records, search, progress)
    run.form_groups_from_outside(k, least=3 * k if tail == "3k" else 2 * k, paired=True)
    if tail == "3k":
        run.form_groups_from_outside(k, least=2 * k, paired=False)
    if run.remaining >= k:
        group_rest(run.n_groups, run.labels)
    elif run.remaining > 0:
        place_leftovers_together(*records, run.pool.sums / run.remaining, run.labels)
    return run.finish()


METHOD = Method(
    "mdav",
    mdav,
    "groups of k around the record farthest from the centroid, and around the one farthest from that",
    {"tail": "when the last groups are formed: 3k records left as usual, 2k as in ama", **SEARCH},
    takes_codes=True,
)
