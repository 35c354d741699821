"""IAMAT: groups by association and interaction between records."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microagg._kernels.brute import squared_distances
from microagg._kernels.groups import group_rest, number_groups, place_each_leftover
from microagg._kernels.iamat import interacting_groups
from microagg._kernels.sums import exact_sum, exact_sums
from microagg.checks import check_matrix, check_option, matrix_and_k
from microagg.errors import InvalidData, InvalidParameter
from microagg.partition._outside import from_outside
from microagg.partition._progress import SLICE, Progress, remaining, start, tell


def iamat(
    X: ArrayLike, k: int, *, centroid: str = "fixed", sizes: str = "fixed", progress: Progress | None = None
) -> NDArray[np.int64]:
    """Label each record of X (n, d) with its group by IAMAT.

    `centroid` is that of the whole file ("fixed") or of the records that remain ("moving"); with
    `sizes="variable"` a group takes up to 2k - 1 records.
    """
    check_option("centroid", centroid, ("fixed", "moving"))
    check_option("sizes", sizes, ("fixed", "variable"))
    columns, k = matrix_and_k(X, k)
    n = columns.shape[1]
    order = from_outside(columns) if centroid == "fixed" else np.empty(0, dtype=np.int64)
    pool, labels = start(columns)
    state = np.zeros(2, dtype=np.int64)
    while remaining(pool) >= k:
        interacting_groups(pool, order, k, sizes == "variable", SLICE, state, labels)
        tell(progress, n - remaining(pool), n)
    if sizes == "variable":
        place_each_leftover(columns, labels)
    else:
        group_rest(state[1] - 1, labels)
    number_groups(labels)
    tell(progress, n, n)
    return labels


def association(X: ArrayLike, Y: ArrayLike, alpha: float | None = None) -> NDArray[np.float64]:
    """Give the association exp(-d²/α) between each record of X and each of Y.

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
    """Give each record's interaction with a group: the product of its associations with the members.

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
    if records.shape[1] != others.shape[1]:
        raise InvalidData(
            f"the two matrices have {records.shape[1]} and {others.shape[1]} columns. Pass the same columns in both."
        )
    return records, others


def _alpha(records: NDArray[np.float64], alpha: float | None) -> float:
    if alpha is not None:
        if not 0 < alpha < np.inf:
            raise InvalidParameter(f"alpha={alpha} must be a positive number.")
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
