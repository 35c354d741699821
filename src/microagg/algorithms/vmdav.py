"""V-MDAV: MDAV with groups of variable size."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microagg.algorithms._run import SLICE, Run, from_outside
from microagg.algorithms.kernels.groups import SIZE, new_state
from microagg.algorithms.kernels.partitioners import extended_groups
from microagg.algorithms.kernels.records import Records
from microagg.algorithms.method import by_search
from microagg.algorithms.units import Units
from microagg.errors import InvalidParameter, a_type
from microagg.work import Progress


def vmdav(
    X: ArrayLike | Records,
    k: int,
    *,
    gamma: Any = 0.2,
    search: str = "auto",
    progress: Progress | None = None,
    units: Units | None = None,
) -> NDArray[np.int64]:
    """Label each record of X (n, d) with its group by V-MDAV.

    A record joins a full group when its distance to it is less than `gamma` times its distance to
    the nearest other free record: 0.2 suits scattered data, 1.1 clustered data.

    With `units` a group takes its nearest records of different units, while k units remain. It is extended by a record
    whose unit it does not hold; the nearest other free record is one of another unit, with which that record could be
    grouped, and there must be one.
    """
    if isinstance(gamma, bool) or not isinstance(gamma, (int, float, np.number)) or not 0 <= gamma < np.inf:
        shown = gamma if isinstance(gamma, (int, float, np.number)) else a_type(gamma)
        raise InvalidParameter(
            f"gamma={shown} must be a number of 0 or more. Pass 0.2 (scattered) or 1.1 (clustered).", parameter="gamma"
        )
    run = Run.of(X, k, search, progress, units)
    order = from_outside(run.records)
    state = new_state()
    members = np.empty((2 * run.k, run.records.entries.shape[0]))
    closest = np.empty(run.n)
    while run.different >= run.k or state[SIZE] > 0:
        extended_groups(run.pool, order, run.k, float(gamma), SLICE, state, members, closest, run.labels)
        run.pause()
    run.place_each()
    return run.finish()


METHOD = by_search(
    "vmdav",
    vmdav,
    "groups of k to 2k − 1: a group takes one more record where that one is far from other free records",
    {"gamma": "how readily a group takes one more record"},
)
