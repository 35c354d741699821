"""The dependence tree as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from microagg.algorithms.dependence import Dependence, Edge
from microagg.algorithms.selection import Selection
from microagg.checks import check_names, shown_name
from microagg.columns import frames
from microagg.columns.dependence import dependence
from microagg.columns.table import Table
from microagg.errors import InvalidParameter
from microagg.estimators._matrix import as_matrix
from microagg.pictures.plots import draw_tree, draw_weights

_LABELS = {
    "emim": "mutual information (nats)",
    "chi2": "chi-squared",
    "normal": "mutual information of a normal pair (nats)",
    "vi": "variation of information (bits; 0: same)",
}


class DependenceTree(BaseEstimator):  # type: ignore[misc]
    """The spanning tree of columns that depend on each other most: which columns speak for which.

    Parameters
    ----------
    measure : {"emim", "chi2", "normal", "vi"}
        How the dependence of two columns is weighed: expected mutual information; chi-squared; the mutual
        information of two normal columns with that correlation; or the variation of information, which is
        a distance.
    width : float or list of float, optional
        The width of a category, for all columns or for each. Not for "normal".
    bins : int, optional
        The number of equal intervals to cut each column into, instead of a width. With neither, there are
        ⌈log2 n⌉ + 1; a column with no more distinct values than that is taken unchanged.

    Attributes
    ----------
    edges_ : tuple of (first, second, weight)
        The tree, strongest edge first; columns by number. Columns of one value (by "vi" of
        one category) show nothing and are left out.
    degrees_ : array of shape (d,)
        How many edges end at each column.
    weights_ : array of shape (d, d)
        The weight of every pair, rounded to ten decimals.
    total_weight_ : float
        The sum of the weights of the tree.
    categories_ : array of shape (d,)
        How many categories each column has; 0 for "normal".
    feature_names_in_ : array of shape (d,)
        Only where X has column names that are text.
    dependence_ : Dependence
        All of this as one plain value.

    References
    ----------
    C. K. Chow, C. N. Liu: Approximating discrete probability distributions with dependence trees. IEEE
    Transactions on Information Theory 14(3), 1968.
    B. J. Oommen, E. Fayyoumi: On utilizing dependence-based information to enhance micro-aggregation for
    secure statistical databases. Pattern Analysis and Applications 16, 2013.

    Examples
    --------
    >>> import microagg as ma
    >>> table = ma.datasets.dependence_tree([None, 0, 0, 1], n=5000, seed=0)
    >>> tree = ma.DependenceTree(measure="emim", width=100).fit(table)
    >>> sorted((edge.first, edge.second) for edge in tree.edges_)
    [(0, 1), (0, 2), (1, 3)]
    >>> tree.degrees_
    array([2, 2, 1, 1])
    """

    edges_: tuple[Edge, ...]
    degrees_: NDArray[np.int64]
    weights_: NDArray[np.float64]
    categories_: NDArray[np.int64]
    total_weight_: float
    dependence_: Dependence
    n_features_in_: int
    _names: list[Any]

    def __init__(self, measure: str = "emim", *, width: Any = None, bins: int | None = None) -> None:
        self.measure = measure
        self.width = width
        self.bins = bins

    def fit(self, X: Any, y: Any = None) -> DependenceTree:  # noqa: ARG002
        """Weigh every pair of columns of X (n, d) and span the tree.

        Parameters
        ----------
        X : array or dataframe of shape (n, d)
            Finite numbers, unscaled: a width is in their units.
        y : ignored

        Returns
        -------
        self
        """
        if frames.is_frame(X):
            self._names, columns = frames.read_numbers(X)
            self.n_features_in_ = len(self._names)
            if all(isinstance(name, str) for name in self._names):  # as scikit-learn has it
                self.feature_names_in_ = np.array(self._names, dtype=object)
            elif hasattr(self, "feature_names_in_"):
                del self.feature_names_in_
        else:
            columns = np.ascontiguousarray(as_matrix(self, X).T)
            self._names = list(range(columns.shape[0]))
        tree = dependence(Table.of_numbers(range(len(columns)), columns), self.measure, self.width, self.bins)
        self.dependence_ = tree
        self.edges_ = tree.edges
        self.degrees_ = tree.degrees
        self.weights_ = tree.weights
        self.categories_ = tree.categories
        self.total_weight_ = tree.total_weight
        return self

    def plot(self, chosen: Any = (), *, ax: Any = None) -> Any:
        """Draw the tree: columns grow with their degree, the chosen ones are filled, strong edges are thick.

        Parameters
        ----------
        chosen : Selection, or names of columns (numbers, where they have none)
        ax : Matplotlib axes, optional
            Where to draw; else on a new figure (`.figure.savefig(...)`).

        Returns
        -------
        Matplotlib axes
        """
        names = self.column_names()
        wanted = chosen.columns if isinstance(chosen, Selection) else check_names(chosen)
        unknown = [name for name in wanted if name not in names]
        if unknown:
            raise InvalidParameter(
                f"column {shown_name(unknown[0])} is not in the tree. Choose among its {len(names)} columns."
            )
        numbers = {names.index(name) for name in wanted}
        return draw_tree([str(name) for name in names], self.edges_, numbers, ax)

    def plot_weights(self, *, ax: Any = None) -> Any:
        """Draw the weights of all pairs of columns as a heat map.

        Parameters
        ----------
        ax : Matplotlib axes, optional
            Where to draw; else on a new figure.

        Returns
        -------
        Matplotlib axes
        """
        names = [str(name) for name in self.column_names()]
        return draw_weights(names, self.weights_, _LABELS[self.dependence_.measure], ax)

    def column_names(self) -> list[Any]:
        """Return the columns' names, or their numbers where they have none."""
        check_is_fitted(self, "dependence_")
        return list(self._names)
