"""CBFS: centroid-based fixed size."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microagg._kernels.groups import place_each_leftover
from microagg._kernels.records import Records
from microagg.partition._method import SEARCH, Method
from microagg.partition._run import Run, records_and_k
from microagg.progress import Progress


def cbfs(
    X: ArrayLike | Records, k: int, *, search: str = "auto", progress: Progress | None = None
) -> NDArray[np.int64]:
    """Label each record of X (n, d) with its group by CBFS."""
    records, k = records_and_k(X, k)
    run = Run(records, search, progress)
    run.form_groups_from_outside(k, least=k, paired=False)
    place_each_leftover(*records, run.labels)
    return run.finish()


METHOD = Method(
    "cbfs", cbfs, "groups of k, each around the record farthest from the centroid", SEARCH, takes_codes=True
)
