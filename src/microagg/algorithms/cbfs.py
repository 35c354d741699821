"""CBFS: centroid-based fixed size."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microagg.algorithms._run import Run
from microagg.algorithms.kernels.records import Records
from microagg.algorithms.method import by_search
from microagg.algorithms.units import Units
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
    run = Run.of(X, k, search, progress, units)
    run.form_groups_from_outside(least=run.k, paired=False)
    run.place_each()
    return run.finish()


METHOD = by_search("cbfs", cbfs, "groups of k, each around the record farthest from the centroid")
