"""IAMAT: groups by association and interaction between records, formed in `interacting_groups`.

B. J. Oommen, E. Fayyoumi: On utilizing association and interaction concepts for enhancing microaggregation in secure
statistical databases. IEEE Transactions on Systems, Man, and Cybernetics B 40(1), 2010 (algorithm 1); and the same
authors' paper at ICICS 2007. "moving" and "variable" are what the papers leave to future work.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microagg.algorithms._run import SLICE, Run, from_outside
from microagg.algorithms.kernels.groups import FINISHED, SIZE, new_state
from microagg.algorithms.kernels.partitioners import interacting_groups
from microagg.algorithms.kernels.records import Records, squared_distances
from microagg.algorithms.kernels.sums import exact_sum, exact_sums
from microagg.algorithms.method import by_search
from microagg.algorithms.units import Units
from microagg.checks import check_matrix, check_option
from microagg.errors import InvalidData, InvalidParameter, a_type
from microagg.work import Progress

CENTROIDS = ("fixed", "moving")
SIZES = ("fixed", "variable")


def iamat(
    X: ArrayLike | Records,
    k: int,
    *,
    centroid: str = "fixed",
    sizes: str = "fixed",
    search: str = "auto",
    progress: Progress | None = None,
    units: Units | None = None,
) -> NDArray[np.int64]:
    """Label each record of X (n, d) with its group by IAMAT.

    `centroid` is that of the whole file ("fixed") or of the records that remain ("moving"); with
    `sizes="variable"` a group takes up to 2k - 1 records.

    With `units` a group takes only records whose unit it does not hold, while k units remain; whether it takes one more
    than k is decided against the group that this record would found with its k - 1 nearest of other units. Where sizes
    are fixed, what is left over joins the last group if no unit comes in twice by that; else each joins the nearest
    group that does not hold its unit.
    """
    check_option("centroid", centroid, CENTROIDS)
    check_option("sizes", sizes, SIZES)
    run = Run.of(X, k, search, progress, units)
    order = from_outside(run.records) if centroid == "fixed" else np.empty(0, dtype=np.int64)
    state = new_state()
    members = np.empty((2 * run.k, run.records.entries.shape[0]))
    totals = np.empty(run.n)
    while run.different >= run.k or state[SIZE] > 0:
        variable = sizes == "variable"
        interacting_groups(run.pool, run.shell, order, run.k, variable, SLICE, state, members, totals, run.labels)
        run.pause()
    if sizes == "variable":
        run.place_each()
    else:
        run.place_in(int(state[FINISHED]) - 1)
    return run.finish()


def association(X: ArrayLike, Y: ArrayLike, alpha: float | None = None) -> NDArray[np.float64]:
    """Return the association exp(-d²/α) between each record of X and each of Y.

    Parameters
    ----------
    X : array of shape (n, d)
    Y : array of shape (m, d)
    alpha : float, optional
        The scaling factor; by default √n over the mean squared distance of X to its centroid.

    Returns
    -------
    array of shape (n, m), between 0 and 1

    References
    ----------
    B. J. Oommen, E. Fayyoumi: On utilizing association and interaction concepts for enhancing
    microaggregation in secure statistical databases. IEEE Trans. SMC-B 40(1), 2010, equations 1 and 2.

    Examples
    --------
    >>> import microagg as ma
    >>> ma.association([[0.0], [1.0], [3.0]], [[0.0], [1.0]], alpha=2.0).round(3)
    array([[1.   , 0.607],
           [0.607, 1.   ],
           [0.011, 0.135]])
    """
    records, others = _two_matrices(X, Y)
    scale = _alpha(records, alpha)
    return np.exp(-_pairwise(records, others) / scale)


def interaction(X: ArrayLike, members: ArrayLike, alpha: float | None = None) -> NDArray[np.float64]:
    """Return each record's interaction with a group: the product of its associations with the members.

    Parameters
    ----------
    X : array of shape (n, d)
    members : array of shape (m, d)
    alpha : float, optional
        The scaling factor; by default √n over the mean squared distance of X to its centroid.

    Returns
    -------
    array of shape (n,), between 0 and 1

    Notes
    -----
    The product may underflow to 0 for distant members. `IAMAT` itself compares the sums of squared
    distances, which decide the same and never underflow.

    References
    ----------
    B. J. Oommen, E. Fayyoumi: On utilizing association and interaction concepts for enhancing
    microaggregation in secure statistical databases. IEEE Trans. SMC-B 40(1), 2010, equation 5.

    Examples
    --------
    >>> import microagg as ma
    >>> ma.interaction([[0.0], [1.0], [3.0]], [[0.0], [1.0]], alpha=2.0).round(4)
    array([0.6065, 0.6065, 0.0015])
    """
    records, others = _two_matrices(X, members)
    scale = _alpha(records, alpha)
    return np.asarray(np.exp(-_pairwise(records, others).sum(axis=1) / scale))


def _two_matrices(X: ArrayLike, Y: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    records, others = check_matrix(X), check_matrix(Y)
    for matrix in (records, others):
        if matrix.size and not 2.0**-480 < np.abs(matrix).max() < 2.0**480 and matrix.any():
            raise InvalidData("squared distances of such magnitudes leave the range of float64. Standardise first.")
    if records.shape[1] != others.shape[1]:
        raise InvalidData(
            f"the two matrices have {records.shape[1]} and {others.shape[1]} columns. Pass the same columns in both."
        )
    return records, others


def _alpha(records: NDArray[np.float64], alpha: Any) -> float:
    """Return the scaling factor; without one, as the papers print it: it depends on the units of the columns."""
    if alpha is not None:
        if isinstance(alpha, bool) or not isinstance(alpha, (int, float, np.number)) or not 0 < alpha < np.inf:
            shown = alpha if isinstance(alpha, (int, float, np.number)) else a_type(alpha)
            raise InvalidParameter(
                f"alpha={shown} must be a positive number. Leave it out for the papers' choice.", parameter="alpha"
            )
        return float(alpha)
    columns = np.ascontiguousarray(records.T)
    d, n = columns.shape
    if d and n:
        distances = np.empty(n)
        squared_distances(columns, 0, n, exact_sums(columns) / n, distances)
        mean = exact_sum(distances) / n
        if mean > 0:
            return float(np.sqrt(n) / mean)
    raise InvalidData("all records are equal, so the scaling factor is not defined. Pass alpha.")


def _pairwise(records: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    columns = np.ascontiguousarray(records.T)
    distances = np.empty((others.shape[0], records.shape[0]))
    for i, point in enumerate(others):
        squared_distances(columns, 0, columns.shape[1], np.ascontiguousarray(point), distances[i])
    return distances.T


METHOD = by_search(
    "iamat",
    iamat,
    "groups grow by the record closest to all their members",
    {
        "centroid": "fixed or moving: whether it follows the records that remain",
        "sizes": "fixed: k records to a group; variable: up to 2k - 1",
    },
    {"centroid": CENTROIDS, "sizes": SIZES},
)
