"""The partitioners as scikit-learn estimators: thin wrappers around the plain functions."""

from __future__ import annotations

import re
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin

from microagg.algorithms.kernels.records import plain_records
from microagg.algorithms.methods import METHODS, choose_search, records_and_k, settled_search
from microagg.algorithms.units import Units, merge_short
from microagg.checks import check_option, safe_to_square
from microagg.columns.representatives import released_values
from microagg.estimators._matrix import as_matrix, as_units
from microagg.work import Progress

Estimator = TypeVar("Estimator", bound="Partitioner")


class Partitioner(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """What all partitioners share: X is grouped unchanged, with no hidden scaling.

    Parameters
    ----------
    k : int, default 3
        The least number of records in a group.
    search : {"auto", "tree", "brute"}
        How records are found; the groups are the same. "auto" takes what was measured to be faster.
    progress : callable, optional
        Called as progress(records done, records in all).

    Attributes
    ----------
    labels_ : array of shape (n,)
        The group of each record; groups are numbered by their lowest row.
    n_groups_ : int
    search_ : str
        "tree" or "brute", as chosen.
    """

    _method_name: str
    k: int
    progress: Progress | None
    labels_: NDArray[np.int64]
    n_groups_: int
    n_features_in_: int

    def fit(self, X: Any, y: Any = None, units: Any = None) -> Partitioner:  # noqa: ARG002
        """Group the records of X (n, d).

        Parameters
        ----------
        X : array or dataframe of shape (n, d)
            Finite numbers. Standardise them first where columns should count equally.
        y : ignored
        units : array of shape (n,), optional
            The person, household or firm that each record belongs to, where one may have several: k counts those then,
            and none of them holds more than 1/k of a group's records. Pass `Units` to ask for k different ones only.

        Returns
        -------
        self
        """
        self._group(X, units)
        return self

    def fit_predict(self, X: Any, y: Any = None, units: Any = None, **kwargs: Any) -> NDArray[np.int64]:  # noqa: ARG002
        """Group the records of X (n, d) and return the group of each, numbered by lowest row; `units` as in `fit`."""
        self._group(X, units)
        return self.labels_

    def fit_transform(self, X: Any, y: Any = None, units: Any = None) -> NDArray[np.float64]:  # noqa: ARG002
        """Group the records of X (n, d) and return each one's group mean in its place; `units` as in `fit`."""
        columns = np.ascontiguousarray(self._group(X, units).T)
        return np.ascontiguousarray(released_values(columns, self.labels_).T)

    def as_named_method(self) -> tuple[str, dict[str, Any]]:
        """Return the name and options by which `protect` knows this partitioner."""
        options = self.get_params(deep=False)
        del options["k"], options["progress"]
        return self._method_name, options

    def _group(self, X: Any, units: Any) -> NDArray[np.float64]:
        """Check X, set the fitted attributes, and return the matrix that was grouped."""
        matrix = as_matrix(self, X)
        own = as_units(units, matrix.shape[0])
        self.labels_ = self._labels(matrix, own)
        self.n_groups_ = int(self.labels_.max(axis=0).min()) + 1
        return matrix

    def _labels(self, matrix: NDArray[np.float64], units: Units | None) -> NDArray[np.int64]:
        """Group the records of a matrix (n, d)."""
        name, options = self.as_named_method()
        if name == "projection" and options["axis"] in getattr(self, "feature_names_in_", ()):
            options["axis"] = list(self.feature_names_in_).index(options["axis"])
        if "search" in options:
            self.search_ = options["search"] = self._settled(options["search"], matrix)
        method = METHODS[name]
        if method.takes_units:
            options["units"] = units
        labels: NDArray[np.int64] = method.function(matrix, self.k, progress=self.progress, **options)
        if units is not None and not method.takes_units:
            labels = _merged(matrix, labels, self.k, units)
        return labels

    def _settled(self, search: str, matrix: NDArray[np.float64]) -> str:
        """Return the way to search, by the records only where their number does not decide."""
        chosen = choose_search(search, *matrix.shape)
        return chosen if chosen != "auto" else settled_search(search, *records_and_k(matrix, self.k))


def _merged(matrix: NDArray[np.float64], labels: NDArray[np.int64], k: int, units: Units) -> NDArray[np.int64]:
    """Make labels (n,), or those of each column (n, d), keep k units."""
    columns = safe_to_square(np.ascontiguousarray(matrix.T))
    if labels.ndim == 1:
        return merge_short(plain_records(columns), labels, k, units)
    merged = [merge_short(plain_records(columns[j : j + 1]), own, k, units) for j, own in enumerate(labels.T)]
    return np.column_stack(merged)


def documented(cls: type[Estimator]) -> type[Estimator]:
    """Let the docstring of a class say in full what it names in braces of `Partitioner`'s."""
    if cls.__doc__ and Partitioner.__doc__:
        entries = dict(re.findall(r"^    (\w+)( :.*\n(?: {8}.*\n)*)", Partitioner.__doc__, flags=re.M))
        cls.__doc__ = re.sub(
            r"^    \{([\w, ]+)\}\n",
            lambda named: "".join(f"    {name}{entries[name]}" for name in named[1].split(", ")),
            cls.__doc__,
            flags=re.M,
        )
    return cls


@documented
class MDAV(Partitioner):
    """Maximum distance to average vector: the standard heuristic of fixed-size microaggregation.

    While 3k records remain: r is the one farthest from their centroid, s the one farthest from r; r and
    its k - 1 nearest form a group, then s and its k - 1 nearest of the rest. Of 2k to 3k - 1 remaining,
    the farthest from their centroid forms one more; the others are the last group.

    Parameters
    ----------
    {k}
    tail : {"3k", "2k"}
        "2k" is the loop of approximate microaggregation (AMA): two groups a turn while 2k remain; what
        is left is a group, or joins the nearest one if fewer than k.
    {search, progress}

    Attributes
    ----------
    {labels_, n_groups_, search_}

    References
    ----------
    J. Domingo-Ferrer, V. Torra: Ordinal, continuous and heterogeneous k-anonymity through
    microaggregation. Data Mining and Knowledge Discovery 11(2), 2005.

    Examples
    --------
    >>> import microagg as ma
    >>> ma.MDAV(k=2).fit_predict([[1.0], [9.0], [2.0], [8.0], [8.5]])
    array([0, 1, 0, 1, 1])
    >>> ma.MDAV(k=2).fit_transform([[1.0], [9.0], [2.0], [8.0], [8.5]]).ravel()
    array([1.5, 8.5, 1.5, 8.5, 8.5])
    >>> ma.MDAV(k=2).fit_predict([[1.0], [9.0], [2.0], [8.0]], units=["Ann", "Bob", "Ann", "Cem"])
    array([0, 1, 1, 0])
    """

    _method_name = "mdav"

    def __init__(self, k: int = 3, *, tail: str = "3k", search: str = "auto", progress: Progress | None = None) -> None:
        self.k = k
        self.tail = tail
        self.search = search
        self.progress = progress


@documented
class CBFS(Partitioner):
    """Centroid-based fixed size: one group a turn, around the record farthest from the centroid.

    Leftovers, fewer than k, join the group with the nearest centroid. The IAMAT papers call this MDAV.

    Parameters
    ----------
    {k, search, progress}

    Attributes
    ----------
    {labels_, n_groups_, search_}

    References
    ----------
    M. Laszlo, S. Mukherjee: Minimum spanning tree partitioning algorithm for microaggregation. IEEE
    Transactions on Knowledge and Data Engineering 17(7), 2005.

    Examples
    --------
    >>> import microagg as ma
    >>> ma.CBFS(k=2).fit_predict([[1.0], [9.0], [2.0], [8.0], [8.5]])
    array([0, 1, 0, 1, 1])
    """

    _method_name = "cbfs"

    def __init__(self, k: int = 3, *, search: str = "auto", progress: Progress | None = None) -> None:
        self.k = k
        self.search = search
        self.progress = progress


@documented
class VMDAV(Partitioner):
    """V-MDAV: groups of k to 2k - 1 records, extended by near records that have no nearer company.

    Parameters
    ----------
    {k}
    gamma : float, default 0.2
        A record joins when its distance to the group is below gamma times its distance to the nearest
        other free record: 0.2 suits scattered data, 1.1 clustered data.
    {search, progress}

    Attributes
    ----------
    {labels_, n_groups_, search_}

    References
    ----------
    A. Solanas, A. Martínez-Ballesté: V-MDAV: a multivariate microaggregation with variable group size.
    COMPSTAT 2006.

    Examples
    --------
    >>> import microagg as ma
    >>> ma.VMDAV(k=2, gamma=1.1).fit_predict([[1.0], [9.0], [2.0], [8.0], [8.5]])
    array([0, 1, 0, 1, 1])
    """

    _method_name = "vmdav"

    def __init__(
        self, k: int = 3, *, gamma: float = 0.2, search: str = "auto", progress: Progress | None = None
    ) -> None:
        self.k = k
        self.gamma = gamma
        self.search = search
        self.progress = progress


@documented
class IAMAT(Partitioner):
    """Interactive-associative microaggregation: a group grows by the record closest to all its members.

    Each group starts from the record least associated with the centroid; the next member is the free
    record with the largest interaction, the product of its associations with the members so far.

    Parameters
    ----------
    {k}
    centroid : {"fixed", "moving"}
        The centroid of the whole file, as published, or of the records that remain.
    sizes : {"fixed", "variable"}
        Groups of k, as published, or of k to 2k - 1: a full group takes the next record too if that
        adds less error there than in a group of its own.
    {search, progress}

    Attributes
    ----------
    {labels_, n_groups_, search_}

    References
    ----------
    B. J. Oommen, E. Fayyoumi: On utilizing association and interaction concepts for enhancing
    microaggregation in secure statistical databases. IEEE Trans. SMC-B 40(1), 2010.

    Examples
    --------
    >>> import microagg as ma
    >>> ma.IAMAT(k=2).fit_predict([[1.0], [9.0], [2.0], [8.0], [8.5]])
    array([0, 1, 0, 1, 1])
    """

    _method_name = "iamat"

    def __init__(
        self,
        k: int = 3,
        *,
        centroid: str = "fixed",
        sizes: str = "fixed",
        search: str = "auto",
        progress: Progress | None = None,
    ) -> None:
        self.k = k
        self.centroid = centroid
        self.sizes = sizes
        self.search = search
        self.progress = progress


@documented
class MaximumDistance(Partitioner):
    """MD: two groups a turn, around the two remaining records farthest from each other. For small files.

    Parameters
    ----------
    {k, search, progress}

    Attributes
    ----------
    {labels_, n_groups_, search_}

    References
    ----------
    J. Domingo-Ferrer, J. M. Mateo-Sanz: Practical data-oriented microaggregation for statistical
    disclosure control. IEEE Transactions on Knowledge and Data Engineering 14(1), 2002.

    Examples
    --------
    >>> import microagg as ma
    >>> ma.MaximumDistance(k=2).fit_predict([[1.0], [9.0], [2.0], [8.0], [8.5]])
    array([0, 1, 0, 1, 1])
    """

    _method_name = "maximum-distance"

    def __init__(self, k: int = 3, *, search: str = "auto", progress: Progress | None = None) -> None:
        self.k = k
        self.search = search
        self.progress = progress


@documented
class Univariate(Partitioner):
    """Each column grouped on its own: k holds within each column, not for whole records.

    Parameters
    ----------
    {k}
    method : {"optimal", "ranking"}
        "optimal" cuts the sorted column into runs of k to 2k - 1 with the least squared error;
        "ranking" cuts after every k values (individual ranking).
    {progress}

    Attributes
    ----------
    labels_ : array of shape (n,), or (n, d) for d > 1 columns
        The group of each value; groups are numbered by their lowest row.
    n_groups_ : int
        The number of groups, of the column with the fewest.

    References
    ----------
    S. Hansen, S. Mukherjee: A polynomial algorithm for univariate optimal microaggregation. IEEE
    Transactions on Knowledge and Data Engineering 15(4), 2003.

    Examples
    --------
    >>> import microagg as ma
    >>> ma.Univariate(k=2).fit_predict([[1.0], [9.0], [2.0], [8.0], [2.5]])
    array([0, 1, 0, 1, 0])
    >>> ma.Univariate(k=2, method="ranking").fit_transform([[1.0, 5.0], [9.0, 6.0], [2.0, 1.0], [8.0, 2.0]])
    array([[1.5, 5.5],
           [8.5, 5.5],
           [1.5, 1.5],
           [8.5, 1.5]])
    """

    _method_name = "univariate"

    def __init__(self, k: int = 3, *, method: str = "optimal", progress: Progress | None = None) -> None:
        self.k = k
        self.method = method
        self.progress = progress

    def as_named_method(self) -> tuple[str, dict[str, Any]]:
        """Return the name and options by which `protect` knows this partitioner."""
        check_option("method", self.method, ("optimal", "ranking"))
        return ("ranking" if self.method == "ranking" else "univariate"), {}


@documented
class Projection(Partitioner):
    """Records ordered along one axis, then cut into the runs of k to 2k - 1 with the least squared error.

    The axis gives the order alone; the error counts all columns.

    Parameters
    ----------
    {k}
    axis : {"pca", "zscores"} or column
        The first principal component, the sum of z-scores, or one column by number (or by name where X
        is a dataframe).
    {progress}

    Attributes
    ----------
    {labels_, n_groups_}

    References
    ----------
    J. Domingo-Ferrer, J. M. Mateo-Sanz: Practical data-oriented microaggregation for statistical
    disclosure control. IEEE Transactions on Knowledge and Data Engineering 14(1), 2002.

    Examples
    --------
    >>> import microagg as ma
    >>> ma.Projection(k=2, axis=0).fit_predict([[1.0, 4.0], [9.0, 4.0], [2.0, 4.0], [8.0, 4.0]])
    array([0, 1, 0, 1])
    """

    _method_name = "projection"

    def __init__(self, k: int = 3, *, axis: str | int = "pca", progress: Progress | None = None) -> None:
        self.k = k
        self.axis = axis
        self.progress = progress
