"""The ways of cutting a file into blocks, as scikit-learn estimators."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from microagg.algorithms.blockings import median_blocks, orthant_blocks, univariate_blocks
from microagg.algorithms.orthants import OrthantNode, orthant_nodes
from microagg.checks import check_names
from microagg.errors import InvalidParameter
from microagg.estimators._matrix import as_matrix
from microagg.pictures.plots import draw_leaves


class _Blocks(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """What all ways of cutting share: X is cut unchanged, with no hidden scaling."""

    labels_: NDArray[np.int64]
    n_blocks_: int
    n_features_in_: int

    def fit(self, X: Any, y: Any = None) -> _Blocks:  # noqa: ARG002
        """Cut the records of X (n, d) into blocks.

        Parameters
        ----------
        X : array or dataframe of shape (n, d)
            Finite numbers. Standardise them first where columns should count equally.
        y : ignored

        Returns
        -------
        self
        """
        matrix = as_matrix(self, X)
        self.labels_ = self._cut(np.ascontiguousarray(matrix.T))
        self.n_blocks_ = int(self.labels_.max()) + 1
        return self

    def fit_predict(self, X: Any, y: Any = None, **kwargs: Any) -> NDArray[np.int64]:  # noqa: ARG002
        """Cut the records of X (n, d) and return the block of each, numbered by lowest row."""
        return self.fit(X).labels_

    def _cut(self, columns: NDArray[np.float64]) -> NDArray[np.int64]:
        raise NotImplementedError

    def _chosen(self, columns: NDArray[np.float64], wanted: Iterable[Any] | None) -> NDArray[np.float64]:
        """Return the columns to cut by, named or numbered."""
        return columns if wanted is None else np.ascontiguousarray(columns[self._numbers(wanted)])

    def _numbers(self, wanted: Iterable[Any]) -> list[int]:
        """Return the numbers of columns of X that are named or numbered."""
        names, d = list(getattr(self, "feature_names_in_", ())), self.n_features_in_
        numbers = []
        for column in check_names(wanted):
            number = names.index(column) if column in names else column
            if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or not 0 <= number < d:
                raise InvalidParameter(f"columns names one that X does not have. Choose among its {d} columns.")
            numbers.append(int(number))
        if not numbers:
            raise InvalidParameter("columns is empty. Name at least one, or leave it out for all.")
        return numbers


class OrthantTree(_Blocks):
    """The 2^d-tree: a block with more than `max_block` records is cut at the midpoint of every column.

    Only parts that hold records are made. Records that are all equal are not cut. Then blocks of fewer than `k` records
    are fused with others.

    Parameters
    ----------
    max_block : int, default 10000
        The most records of a block, before small ones are fused.
    k : int, default 3
        The least number of records of a block.
    columns : list of names or numbers, optional
        The columns to cut by, the d of the tree; all by default.
    fusion : {"nearest", "limited"}
        "nearest": in rounds, every block of fewer than `k` records joins that with the nearest centroid, which may
        then have more than `max_block`. "limited": it joins the nearest that has room for it; where none has, it takes
        records from the nearest. So no block has more than `max_block`, unless records are all equal.
    max_leaf : int, optional
        The former name of `max_block`; where it is given, it counts.

    Attributes
    ----------
    labels_ : array of shape (n,)
        The block of each record; blocks are numbered by their lowest row.
    n_blocks_ : int
    nodes_ : tuple of OrthantNode
        The root, and every part that was made of it: `parent`, `level`, `n_records`, the limits `lower` and
        `upper` of its box, its `centroid`, and of a leaf the `block` that it became a part of.
    depth_ : int
        The highest level; the root has 0.

    References
    ----------
    A. Solanas, A. Martínez-Ballesté, J. Domingo-Ferrer, J. M. Mateo-Sanz: A 2^d-tree-based blocking method for
    microaggregating very large data sets. ARES 2006.

    Examples
    --------
    >>> import microagg as ma
    >>> tree = ma.OrthantTree(max_block=100, k=3).fit(ma.datasets.uniform(1000, 2, seed=0))
    >>> tree.n_blocks_, tree.depth_
    (16, 2)
    >>> leaves = [node for node in tree.nodes_ if node.is_leaf]
    >>> len(leaves), sum(leaf.n_records for leaf in leaves)
    (16, 1000)
    """

    nodes_: tuple[OrthantNode, ...]
    depth_: int

    def __init__(
        self,
        max_block: int = 10_000,
        k: int = 3,
        *,
        columns: Iterable[Any] | None = None,
        fusion: str = "nearest",
        max_leaf: int | None = None,
    ) -> None:
        self.max_block = max_block
        self.k = k
        self.columns = columns
        self.fusion = fusion
        self.max_leaf = max_leaf

    def _cut(self, columns: NDArray[np.float64]) -> NDArray[np.int64]:
        max_block = self.max_block if self.max_leaf is None else self.max_leaf
        cut_by = self._chosen(columns, self.columns)
        labels = orthant_blocks(cut_by, max_block, self.k, fusion=self.fusion)
        self.nodes_ = orthant_nodes(cut_by, int(max_block), labels)
        self.depth_ = max(node.level for node in self.nodes_)
        return labels

    def plot(self, columns: tuple[Any, Any] | None = None, *, X: Any = None, ax: Any = None) -> Any:
        """Draw the leaves by two columns: boxes, small ones filled, lines between those that were fused.

        If the tree cuts more than two columns, boxes that differ in the others lie on each other.

        Parameters
        ----------
        columns : two names or numbers, optional
            Among those that the tree cuts; the first two by default.
        X : array or dataframe of shape (n, d), optional
            What the tree was fitted on, to draw its records too.
        ax : Matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        Matplotlib axes

        Examples
        --------
        >>> import microagg as ma
        >>> X = ma.datasets.normal(500, 2, seed=0)
        >>> ma.OrthantTree(max_block=50, k=10).fit(X).plot(X=X).get_title()
        '22 leaves of at most 50 records, 7 of them of fewer than k = 10'
        """
        check_is_fitted(self)
        cut = list(range(self.n_features_in_)) if self.columns is None else self._numbers(self.columns)
        two = cut[:2] if columns is None else self._numbers(columns if isinstance(columns, Iterable) else [columns])
        if len(two) != 2 or not set(two) <= set(cut):
            raise InvalidParameter(
                f"columns names {len(two)} column(s), and two of the {len(cut)} that the tree cuts can be drawn. Name "
                "two of them.",
                parameter="columns",
            )
        points = None if X is None else as_matrix(self, X, reset=False)[:, two]
        max_block = self.max_block if self.max_leaf is None else self.max_leaf
        names = [str(getattr(self, "feature_names_in_", range(self.n_features_in_))[number]) for number in two]
        places = [cut.index(number) for number in two]
        return draw_leaves(self.nodes_, places, names, max_block, self.k, points, ax)


class MedianTree(_Blocks):
    """Cuts by rank in the widest column, into blocks that are nearly full.

    ⌈n / max_block⌉ blocks of nearly equal size, multiples of k but for one, whatever the data look like.

    Parameters
    ----------
    max_block : int, default 50000
        The most records of a block.
    k : int, default 3
        Sizes are multiples of this, so that groups of k leave no records over.
    columns : list of names or numbers, optional
        The columns to cut by; all by default.
    max_leaf : int, optional
        The former name of `max_block`; where it is given, it counts.

    Attributes
    ----------
    labels_ : array of shape (n,)
        The block of each record; blocks are numbered by their lowest row.
    n_blocks_ : int

    Examples
    --------
    >>> import microagg as ma
    >>> import numpy as np
    >>> np.bincount(ma.MedianTree(max_block=300, k=5).fit_predict(ma.datasets.uniform(1000, 2, seed=0)))
    array([250, 250, 250, 250])
    """

    def __init__(
        self, max_block: int = 50_000, k: int = 3, *, columns: Iterable[Any] | None = None, max_leaf: int | None = None
    ) -> None:
        self.max_block = max_block
        self.k = k
        self.columns = columns
        self.max_leaf = max_leaf

    def _cut(self, columns: NDArray[np.float64]) -> NDArray[np.int64]:
        max_block = self.max_block if self.max_leaf is None else self.max_leaf
        return median_blocks(self._chosen(columns, self.columns), max_block, self.k)


class UnivariateBlocks(_Blocks):
    """Intervals of one column: ⌈n / max_block⌉ of equal width, small ones joined, or of equal count.

    Parameters
    ----------
    max_block : int, default 10000
        The most records of a block; intervals of equal width may hold more.
    k : int, default 3
        The least number of records of a block.
    column : name or number, default 0
        The column to cut by.
    by : {"width", "count"}

    Attributes
    ----------
    labels_ : array of shape (n,)
        The block of each record; blocks are numbered by their lowest row.
    n_blocks_ : int

    Examples
    --------
    >>> import microagg as ma
    >>> ma.UnivariateBlocks(max_block=4, k=2).fit_predict([[0.0], [9.0], [1.0], [2.0], [8.0], [7.0]])
    array([0, 1, 0, 0, 1, 1])
    """

    def __init__(self, max_block: int = 10_000, k: int = 3, *, column: Any = 0, by: str = "width") -> None:
        self.max_block = max_block
        self.k = k
        self.column = column
        self.by = by

    def _cut(self, columns: NDArray[np.float64]) -> NDArray[np.int64]:
        return univariate_blocks(self._chosen(columns, [self.column]), self.max_block, self.k, by=self.by)
