"""Groups of l different values, by choosing among the nearest records."""

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms._run import SLICE, Run
from microagg.algorithms.kernels.groups import place_each_leftover
from microagg.algorithms.kernels.records import Records
from microagg.algorithms.kernels.shell import WORN_OUT
from microagg.algorithms.kernels.ways import groups_of_values
from microagg.algorithms.units import Units
from microagg.work import Progress

Labels = NDArray[np.int64]


def candidates(
    records: Records,
    k: int,
    wanted: int,
    codes: Labels,
    missing: int,
    *,
    search: str = "auto",
    progress: Progress | None = None,
) -> Labels:
    """Group records such that each group has so many different `codes` (n,) as wanted, of which `missing` is none.

    Groups start as MDAV's do. One takes the records nearest to its first: any while more places are free than values
    are wanting, then only those of a new value; it has k records, or one a value where that is more. When fewer records
    or values remain, each record left joins the group with the nearest centroid. There must be as many values.
    """
    size = max(k, wanted)
    run = Run(records, size, search, progress, Units(codes, in_part=False))
    for least, paired in ((3 * size, True), (size, False)):
        while True:
            before = run.n_groups
            plain = run.pool._replace(marks=np.empty(0, dtype=np.int64), tally=np.empty((2, 0), dtype=np.int64))
            run.n_groups = groups_of_values(
                run.pool, plain, run.shell, size, wanted, missing, least, paired, SLICE, run.n_groups, run.labels
            )
            worn = bool(run.shell.state[WORN_OUT])
            run.pause()
            if run.n_groups == before and not worn:
                break
    place_each_leftover(*run.records, run.labels)
    return run.finish()
