"""EMAD and AMA as scikit-learn estimators: groups on the columns that a dependence tree chooses."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.methods import BY_TREE, groups_each_column, method_named
from microagg.algorithms.selection import CHOICES, Selection, losses_of_subsets, select_columns, with_least_loss
from microagg.algorithms.units import Units
from microagg.checks import check_jobs, check_k, check_option, safe_to_square
from microagg.columns.dependence import dependence
from microagg.columns.table import Table
from microagg.errors import InvalidParameter
from microagg.estimators.partitioners import Partitioner, documented
from microagg.work import Progress


class _ByTree(Partitioner):
    """What both share: a tree of the columns of X, some of its columns, and groups on these."""

    _way: str
    measure: str
    width: Any
    bins: int | None
    choose: str
    search: str
    selection_: Selection

    def as_choices(self, k: int) -> dict[str, Any]:
        """Return the choices by which `protect` does the same to a file, with this k."""
        if self.k != k:
            raise InvalidParameter(
                f"k={k} was asked for, but the method is set to k={self.k}. Use the same k in both.", parameter="method"
            )
        name, options = self.as_named_method()
        said = {"count": self._count, "measure": self.measure, "width": self.width, "bins": self.bins}
        said |= {"rule": self._rule, "choose": self.choose}
        usual = {"rule": BY_TREE[self._way].rule, "choose": CHOICES[0]}
        changed = {key: value for key, value in said.items() if value is not None and usual.get(key) != value}
        return {"method": name, **options, "select": self._way, **changed}

    @property
    def _rule(self) -> str:
        return getattr(self, "rule", BY_TREE[self._way].rule)

    @property
    def _count(self) -> int | None:
        return getattr(self, "count", None)

    def _labels(self, matrix: NDArray[np.float64], units: Units | None) -> NDArray[np.int64]:
        """Choose columns of a matrix (n, d), and group its records on these."""
        check_option("choose", self.choose, CHOICES)
        names = list(getattr(self, "feature_names_in_", range(matrix.shape[1])))
        columns = np.ascontiguousarray(matrix.T)
        tree = dependence(Table.of_numbers(names, columns), self.measure, self.width, self.bins)
        found = select_columns(names, tree, self._rule, self._count)
        if (self.choose == "lowest-loss" or self._rule == "every") and found.n_alternatives > 1:
            found = self._with_least_loss(found, names, columns, units)
        self.selection_ = found
        chosen = sorted(names.index(name) for name in found.columns)
        return super()._labels(np.ascontiguousarray(matrix[:, chosen]), units)

    def _with_least_loss(
        self, found: Selection, names: list[Any], columns: NDArray[np.float64], units: Units | None
    ) -> Selection:
        """Form groups on each choice that ties, and return the one with the least loss over all columns of X."""
        name, options = self.as_named_method()
        _, partition = method_named(name).bound(options)
        if method_named(name).takes_units:
            partition = partial(partition, units=units)
        values, k = safe_to_square(columns), check_k(self.k)

        def losses(ways: Any) -> list[float]:
            subsets = [[names.index(column) for column in way] for way in ways]
            return losses_of_subsets(values, subsets, partition, k, check_jobs(None), self.progress)

        return with_least_loss(found, losses)


@documented
class EMAD(_ByTree):
    """EMAD: groups on the few columns that have the most edges in a dependence tree of all columns.

    The other columns follow from these. So the groups are found by a few columns, and all columns of X are
    averaged in them. `protect(frame, k, method="emad")` does the same to a file of any columns.

    Parameters
    ----------
    {k}
    count : int, optional
        How many columns form the groups; 3 by default, or all where there are fewer.
    measure : {"emim", "chi2", "normal", "vi"}
        How the dependence of two columns is weighed, as in `DependenceTree`.
    width : float or list of float, optional
        The width of the categories that columns are cut into, for all columns or for each, in the units of X.
    bins : int, optional
        The number of categories, instead of a width. With neither, ⌈log2 n⌉ + 1.
    rule : {"degree", "cover", "every"}
        The `count` columns with the most edges; the fewest whose edges add up to the number of columns; or of every
        set of `count` columns the one whose groups lose least over all columns of X.
    choose : {"first", "lowest-loss"}
        Where several choices tie: the one of the first columns; or, as in the paper, the one whose groups lose
        least over all columns of X.
    method : str or estimator, default "mdav"
        What forms the groups on the chosen columns: a method by the name that `protect` uses, or one of these
        estimators with its options.
    {search}
    progress : callable, optional
        Called as progress(done, in all).

    Attributes
    ----------
    {labels_, n_groups_}
    selection_ : Selection
        The columns that formed the groups, the degrees of all, the choices that tie, and their losses if tried.
    {search_}

    References
    ----------
    B. J. Oommen, E. Fayyoumi: On utilizing dependence-based information to enhance micro-aggregation for
    secure statistical databases. Pattern Analysis and Applications 16, 2013.

    Examples
    --------
    >>> import microagg as ma
    >>> X = ma.datasets.dependence_tree([None, 0, 0, 0, 1, 1], n=300, seed=0).to_pandas()
    >>> emad = ma.EMAD(k=3, count=2, width=100).fit(X)
    >>> emad.selection_
    Selection: v1, v2 (the most edges of the dependence tree: 3, 3)
    >>> emad.n_groups_
    100
    """

    _way = "emad"

    def __init__(
        self,
        k: int = 3,
        *,
        count: int | None = None,
        measure: str = "emim",
        width: Any = None,
        bins: int | None = None,
        rule: str = "degree",
        choose: str = "first",
        method: Any = "mdav",
        search: str = "auto",
        progress: Progress | None = None,
    ) -> None:
        self.k = k
        self.count = count
        self.measure = measure
        self.width = width
        self.bins = bins
        self.rule = rule
        self.choose = choose
        self.method = method
        self.search = search
        self.progress = progress

    def as_named_method(self) -> tuple[str, dict[str, Any]]:
        """Return the method that forms the groups, by name and options."""
        if isinstance(self.method, Partitioner) and not isinstance(self.method, _ByTree):
            if self.method.k != self.k:
                raise InvalidParameter(
                    f"k={self.k} was asked for, but the method is set to k={self.method.k}. Use the same k in both.",
                    parameter="method",
                )
            name, options = self.method.as_named_method()
            if options.get("axis", "pca") not in ("pca", "zscores"):
                raise InvalidParameter(
                    "a column as axis may not be among those that are chosen. Pass 'pca' or 'zscores'.",
                    parameter="method",
                )
            return name, options
        name = method_named(self.method).name if isinstance(self.method, str) else ""
        if not name or groups_each_column(name):
            shown = repr(name) if name else "that"
            raise InvalidParameter(
                f"EMAD cannot form groups by {shown}. Pass a method of whole records, by name or as one of our "
                "estimators.",
                parameter="method",
            )
        defaults = method_named(name).defaults
        return name, {**defaults, "search": self.search} if "search" in defaults else dict(defaults)


@documented
class AMA(_ByTree):
    """Approximate microaggregation: MDAV's groups on the key attributes of a dependence tree of all columns.

    The key attributes are the fewest columns whose edges add up to the number of columns; the tree is that of
    the least variation of information. MDAV's loop makes two groups a turn while 2k records remain.
    `protect(frame, k, method="ama")` does the same to a file of any columns.

    Parameters
    ----------
    {k}
    measure : {"vi", "emim", "chi2", "normal"}
        How the dependence of two columns is weighed, as in `DependenceTree`.
    width : float or list of float, optional
        The width of the categories that columns are cut into, for all columns or for each, in the units of X.
    bins : int, optional
        The number of categories, instead of a width. With neither, ⌈log2 n⌉ + 1.
    choose : {"first", "lowest-loss"}
        Where several choices tie: the one of the first columns, or the one whose groups lose least.
    {search}
    progress : callable, optional
        Called as progress(done, in all).

    Attributes
    ----------
    {labels_, n_groups_}
    selection_ : Selection
        The key attributes, the degrees of all columns, the choices that tie, and their losses if tried.
    {search_}

    References
    ----------
    X. Sun, H. Wang, J. Li, Y. Zhang: An approximate microaggregation approach for microdata protection. Expert
    Systems with Applications 39(2), 2012.

    Examples
    --------
    >>> import microagg as ma
    >>> X = ma.datasets.dependence_tree([None, 0, 0, 0, 1, 1], n=300, seed=0).to_pandas()
    >>> ma.AMA(k=3, width=100).fit(X).selection_.columns
    ('v1', 'v2')
    """

    _way = "ama"

    def __init__(
        self,
        k: int = 3,
        *,
        measure: str = "vi",
        width: Any = None,
        bins: int | None = None,
        choose: str = "first",
        search: str = "auto",
        progress: Progress | None = None,
    ) -> None:
        self.k = k
        self.measure = measure
        self.width = width
        self.bins = bins
        self.choose = choose
        self.search = search
        self.progress = progress

    def as_named_method(self) -> tuple[str, dict[str, Any]]:
        """Return the method that forms the groups, by name and options."""
        way = BY_TREE[self._way]
        return way.on.name, {**way.settings, "search": self.search}
