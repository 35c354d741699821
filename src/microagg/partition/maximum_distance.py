"""MaximumDistance (MD): groups around the two records farthest from each other. For small files."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microagg._kernels.groups import FINISHED, group_rest, new_state, place_leftovers_together
from microagg._kernels.maximum_distance import BEST, pairs_of_groups
from microagg._kernels.records import Records
from microagg.partition._method import SEARCH, Method
from microagg.partition._run import SLICE, Run, records_and_k
from microagg.progress import Progress


def maximum_distance(
    X: ArrayLike | Records, k: int, *, search: str = "auto", progress: Progress | None = None
) -> NDArray[np.int64]:
    """Label each record of X (n, d) with its group by MaximumDistance."""
    records, k = records_and_k(X, k)
    run = Run(records, search, progress)
    partner = np.full(run.n, -1)
    reach = np.full(run.n, np.inf)
    state = new_state()
    state[BEST] = -1
    while run.remaining >= 2 * k:
        pairs_of_groups(run.pool, k, SLICE, partner, reach, state, run.labels)
        run.pause()
    if run.remaining >= k:
        group_rest(state[FINISHED], run.labels)
    elif run.remaining > 0:
        place_leftovers_together(*records, run.pool.sums / run.remaining, run.labels)
    return run.finish()


METHOD = Method(
    "maximum-distance", maximum_distance, "groups around the two most distant records", SEARCH, takes_codes=True
)
