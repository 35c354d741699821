"""Which columns form the best groups."""

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.methods import groups_each_column, method_named
from microagg.algorithms.scores import standard_scores
from microagg.algorithms.selection import CHOICES, Selection, losses_of_subsets, select_columns, with_least_loss
from microagg.base.frozen import ReadOnly, frozen
from microagg.checks import check_enough_records, check_jobs, check_k, check_option, check_whole
from microagg.columns import frames
from microagg.errors import InvalidData, InvalidParameter, a_type
from microagg.work import Progress

_MOST_SUBSETS = 1_000_000


@frozen()
class SubsetLosses(ReadOnly):
    """The information loss of groups formed on each subset of the columns, and judged on all.

    Attributes
    ----------
    losses : mapping
        From each subset (a tuple of columns, by name or number) to its loss in percent, in the order of the
        columns.

    Examples
    --------
    >>> import microagg as ma
    >>> ma.best_subset(ma.datasets.survey(200, seed=0).select(["age", "hours", "wage"]), size=2, k=3)
    SubsetLosses: 3 subsets; best age, wage with 10.44 %, mean 14.78 %, worst hours, wage with 21.64 %
    """

    losses: Mapping[tuple[Any, ...], float]

    @property
    def best(self) -> tuple[Any, ...]:
        """The subset with the lowest loss; the first of those that tie."""
        return min(self.losses, key=self.losses.__getitem__)

    @property
    def worst(self) -> tuple[Any, ...]:
        """The subset with the highest loss; the first of those that tie."""
        return max(self.losses, key=self.losses.__getitem__)

    @property
    def mean(self) -> float:
        """The mean loss over all subsets."""
        return math.fsum(self.losses.values()) / len(self.losses)

    def __repr__(self) -> str:
        best, worst = self.best, self.worst
        return (
            f"SubsetLosses: {len(self.losses)} subsets; "
            f"best {', '.join(map(str, best))} with {self.losses[best]:.2f} %, "
            f"mean {self.mean:.2f} %, worst {', '.join(map(str, worst))} with {self.losses[worst]:.2f} %"
        )


def best_subset(
    X: Any,
    size: int,
    k: int,
    method: str = "mdav",
    *,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> SubsetLosses:
    """Try every subset of so many columns: form groups on it, and measure the loss over all columns.

    Parameters
    ----------
    X : array or dataframe of shape (n, d)
        Finite numbers. They are standardised.
    size : int
        How many columns form the groups.
    k : int
        The least number of records in a group.
    method : str
        A partitioner by the name that `protect` knows it by; its options may be added.
    n_jobs : int, optional
        Threads; by default one a core. The result does not depend on it.
    progress : callable, optional
        Called as progress(subsets done, subsets in all).

    Returns
    -------
    SubsetLosses

    Examples
    --------
    >>> import microagg as ma
    >>> table = ma.datasets.survey(200, seed=0).select(["age", "hours", "wage", "income", "tax"])
    >>> found = ma.best_subset(table, size=2, k=3)
    >>> found.best
    ('age', 'income')
    >>> len(found.losses)
    10
    """
    names, columns = frames.read_numbers(X)
    d = len(names)
    size = check_whole("size", size, 1, d, "Pass how many of the columns are to form groups.")
    if math.comb(d, size) > _MOST_SUBSETS:
        raise InvalidParameter(
            f"{math.comb(d, size)} subsets of {size} of {d} columns are too many to try (limit {_MOST_SUBSETS}). Lower "
            f"size, or let select_variables choose."
        )
    subsets = list(itertools.combinations(range(d), size))
    losses = _losses(columns, subsets, k, method, options, n_jobs, progress)
    return SubsetLosses({tuple(names[j] for j in subset): loss for subset, loss in zip(subsets, losses, strict=True)})


def select_variables(
    tree: Any,
    count: int | None = None,
    *,
    rule: str = "degree",
    choose: str = "first",
    X: Any = None,
    k: int | None = None,
    method: str = "mdav",
    n_jobs: int | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Selection:
    """Choose the columns that a dependence tree connects to most others.

    Parameters
    ----------
    tree : DependenceTree
        Fitted.
    count : int
        How many columns to take by `rule="degree"` (EMAD); 3 by default.
    rule : {"degree", "cover", "every"}
        Those of highest degree; the fewest of them whose degrees add up to the number of columns (AMA); or, of every
        set of `count` columns, the one with the least information loss, as with "lowest-loss".
    choose : {"first", "lowest-loss"}
        Among choices that tie: the one of the first columns, or the one with the least information loss
        when groups of `k` are formed on it by `method` (and its options) and judged on all columns of `X`.
    X : array or dataframe of shape (n, d), optional
        What the tree was fitted on; for "lowest-loss".
    k, method, n_jobs, progress : optional
        As in `best_subset`; for "lowest-loss".

    Returns
    -------
    Selection
        With `columns`, and every tied choice in `alternatives`.

    References
    ----------
    B. J. Oommen, E. Fayyoumi: On utilizing dependence-based information to enhance micro-aggregation for
    secure statistical databases. Pattern Analysis and Applications 16, 2013, algorithm 1.

    Examples
    --------
    >>> import microagg as ma
    >>> table = ma.datasets.dependence_tree([None, 0, 0, 0, 1, 1], n=2000, seed=0)
    >>> tree = ma.DependenceTree(width=100).fit(table)
    >>> ma.select_variables(tree, count=2)
    Selection: v1, v2 (the most edges of the dependence tree: 3, 3)
    >>> ma.select_variables(tree, count=3).n_alternatives
    4
    """
    check_option("choose", choose, CHOICES)
    if not hasattr(tree, "dependence_"):
        raise InvalidParameter(f"tree is {a_type(tree)} that holds no tree. Pass a fitted DependenceTree.")
    found = select_columns(tree.column_names(), tree.dependence_, rule, count)
    if choose == "first" and rule != "every":
        if X is not None or k is not None or options or method != "mdav" or n_jobs is not None or progress is not None:
            raise InvalidParameter(
                "X, k, method, n_jobs and progress work only with choose='lowest-loss'. Leave them out."
            )
        return found
    if X is None or k is None:
        asked = "rule='every'" if rule == "every" else "choose='lowest-loss'"
        raise InvalidParameter(f"{asked} needs the data and k. Pass X and k.")
    names, columns = frames.read_numbers(X)
    if names != tree.column_names():
        raise InvalidData("X has other columns than the tree. Pass the data that the tree was fitted on.")

    def losses(ways: Sequence[tuple[Any, ...]]) -> list[float]:
        subsets = [tuple(names.index(name) for name in way) for way in ways]
        return _losses(columns, subsets, k, method, options, n_jobs, progress)

    return with_least_loss(found, losses)


def _losses(
    columns: NDArray[np.float64],
    subsets: Sequence[tuple[int, ...]],
    k: int,
    method: str,
    options: Mapping[str, Any],
    n_jobs: int | None,
    progress: Progress | None,
) -> list[float]:
    """Return the information loss, in percent, of groups formed on each subset of the columns (d, n)."""
    k = check_k(k)
    _, partition = method_named(method).bound(options)
    if groups_each_column(method):
        raise InvalidParameter(
            f"method {method!r} groups each column by itself, so that no subset can represent all columns.",
            parameter="method",
        )
    if options.get("axis", "pca") not in ("pca", "zscores"):
        raise InvalidParameter("a column as axis would be a different one in each subset. Pass 'pca' or 'zscores'.")
    check_enough_records(columns.shape[1], k)
    return losses_of_subsets(standard_scores(columns), subsets, partition, k, check_jobs(n_jobs), progress)
