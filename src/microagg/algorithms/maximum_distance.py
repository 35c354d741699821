"""MaximumDistance (MD): groups around the two records farthest from each other. For small files."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microagg.algorithms._run import SLICE, Run
from microagg.algorithms.kernels.groups import FINISHED, new_state
from microagg.algorithms.kernels.partitioners import BEST, pairs_of_groups
from microagg.algorithms.kernels.records import Records
from microagg.algorithms.method import by_search
from microagg.algorithms.units import Units
from microagg.work import Progress


def maximum_distance(
    X: ArrayLike | Records,
    k: int,
    *,
    search: str = "auto",
    progress: Progress | None = None,
    units: Units | None = None,
) -> NDArray[np.int64]:
    """Label each record of X (n, d) with its group by MaximumDistance.

    With `units` a group takes its nearest records of different units, and the loop counts units. What remains is
    grouped as MDAV does it (`mdav`).
    """
    run = Run.of(X, k, search, progress, units)
    partner = np.full(run.n, -1)
    reach = np.full(run.n, np.inf)
    state = new_state()
    state[BEST] = -1
    while run.different >= 2 * run.k:
        pairs_of_groups(run.pool, run.k, SLICE, partner, reach, state, run.labels)
        run.pause()
    run.n_groups = int(state[FINISHED])
    run.form_groups_while_units_repeat()
    run.group_rest()
    return run.finish()


METHOD = by_search("maximum-distance", maximum_distance, "groups around the two most distant records")
