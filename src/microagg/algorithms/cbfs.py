"""CBFS: centroid-based fixed size."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microagg.algorithms._run import Run, place_each, records_and_k
from microagg.algorithms.kernels.records import Records
from microagg.algorithms.method import SEARCH, SEARCHES, Method
from microagg.algorithms.units import Units, check_units
from microagg.work import Progress


def cbfs(
    X: ArrayLike | Records,
    k: int,
    *,
    search: str = "auto",
    progress: Progress | None = None,
    units: Units | None = None,
) -> NDArray[np.int64]:
    """Label each record of X (n, d) with its group by CBFS.

    With `units` a group takes its nearest records of different units, while k units remain.
    """
    records, k = records_and_k(X, k)
    check_units(units, records.entries.shape[1], k)
    run = Run(records, k, search, progress, units)
    run.form_groups_from_outside(k, least=k, paired=False)
    place_each(run, k)
    return run.finish()


METHOD = Method(
    "cbfs",
    cbfs,
    "groups of k, each around the record farthest from the centroid",
    SEARCH,
    SEARCHES,
    takes_codes=True,
    takes_units=True,
)
