"""Synthetic data with a known dependence tree."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.checks import check_option, check_whole
from microagg.datasets._frame import as_frame
from microagg.errors import InvalidParameter, a_type

TREES: dict[str, tuple[int | None, ...]] = {
    "eight": (None, 0, 0, 1, 1, 2, 2, 5),
    "sixteen": (None, 0, 0, 0, 1, 1, 2, 2, 2, 3, 4, 4, 6, 9, 9, 13),
    "twenty-two": (None, 0, 0, 0, 0, 1, 1, 2, 2, 2, 3, 4, 4, 5, 7, 7, 7, 10, 11, 11, 14, 18),
}
"""Trees of 8, 16 and 22 columns, by each column's parent: stars, chains and some of both."""

# Pr(x_1 = 0), then for each other column its parent and Pr(x = 0 | parent = 0), Pr(x = 0 | parent = 1).
_ROOT = 0.40
_RELATED = ((0, 0.30, 0.10), (0, 0.70, 0.90), (0, 0.20, 0.60), (2, 0.80, 0.40), (2, 0.15, 0.76))
_UNRELATED = ((0, 0.30, 0.10), (0, 0.60, 0.70), (0, 0.20, 0.60), (2, 0.40, 0.50), (2, 0.15, 0.76))


def dependence_tree(
    parents: str | Sequence[int | None],
    n: int = 5000,
    *,
    categories: int = 10,
    width: int = 100,
    seed: int = 0,
    frame: str = "pyarrow",
) -> Any:
    """Draw records whose columns depend on each other along a given tree, by random conditional tables.

    A column's category depends on its parent's alone; within a category the value is a whole number,
    equally likely: category c holds c · width + 1 to (c + 1) · width.

    Parameters
    ----------
    parents : {"eight", "sixteen", "twenty-two"} or list
        For each column the number of its parent, which comes before it; None for the first.
    n : int
        Records.
    categories, width : int
        How many categories a column has, and how wide each is.
    seed : int
        Draws the tables and the records.
    frame : {"pyarrow", "pandas", "polars"}

    Returns
    -------
    dataframe of n rows, with columns `v1`, `v2`, ...

    References
    ----------
    B. J. Oommen, E. Fayyoumi: On utilizing dependence-based information to enhance micro-aggregation for
    secure statistical databases. Pattern Analysis and Applications 16, 2013, section 4.1.

    Examples
    --------
    >>> import microagg as ma
    >>> table = ma.datasets.dependence_tree([None, 0, 0, 1], n=1000, seed=0)
    >>> table.column_names
    ['v1', 'v2', 'v3', 'v4']
    >>> ma.DependenceTree(width=100).fit(table).edges_[0][:2]
    (0, 1)
    """
    links = _check_parents(parents)
    check_whole("n", n, 1)
    check_whole("categories", categories, 2)
    check_whole("width", width, 1)
    rng = np.random.default_rng(seed)
    drawn: list[NDArray[np.int64]] = []
    for parent in links:
        if parent is None:
            table = _shares(rng.random((1, categories)))
            above = np.zeros(n, dtype=np.int64)
        else:
            table = _shares(rng.random((categories, categories)))
            above = drawn[parent]
        drawn.append(_draw(table, above, rng))
    columns = {f"v{j}": c * width + rng.integers(1, width + 1, n) for j, c in enumerate(drawn, start=1)}
    return as_frame(columns, frame)


def binary_tree(n: int = 5000, *, siblings: str = "related", seed: int = 0, frame: str = "pyarrow") -> Any:
    """Draw six columns of zeros and ones along the tree 1-2, 1-3, 1-4, 3-5, 3-6.

    Parameters
    ----------
    n : int
        Records.
    siblings : {"related", "unrelated"}
        Whether the second column's probabilities and the third's add up to 1, or are free.
    seed : int
    frame : {"pyarrow", "pandas", "polars"}

    Returns
    -------
    dataframe of n rows, with columns `x1` to `x6`

    References
    ----------
    B. J. Oommen, E. Fayyoumi: On utilizing dependence-based information to enhance micro-aggregation for
    secure statistical databases. Pattern Analysis and Applications 16, 2013, tables 2 and 3.

    Examples
    --------
    >>> import microagg as ma
    >>> ma.datasets.binary_tree(1000, seed=0).column_names
    ['x1', 'x2', 'x3', 'x4', 'x5', 'x6']
    """
    check_whole("n", n, 1)
    check_option("siblings", siblings, ("related", "unrelated"))
    rng = np.random.default_rng(seed)
    drawn = [_draw(np.array([[_ROOT, 1.0]]), np.zeros(n, dtype=np.int64), rng)]
    for parent, if_zero, if_one in _RELATED if siblings == "related" else _UNRELATED:
        drawn.append(_draw(np.array([[if_zero, 1.0], [if_one, 1.0]]), drawn[parent], rng))
    return as_frame({f"x{j}": values for j, values in enumerate(drawn, start=1)}, frame)


def _shares(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Make each row of positive numbers a cumulative distribution."""
    cumulative = np.cumsum(table, axis=1)
    return np.asarray(cumulative / cumulative[:, -1:])


def _draw(table: NDArray[np.float64], above: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw a category for each record, by the row of the table that its parent's category names."""
    chances = rng.random(above.size)
    return np.asarray((table[above] <= chances[:, None]).sum(axis=1))


def _check_parents(parents: Any) -> tuple[int | None, ...]:
    if isinstance(parents, str):
        if parents not in TREES:
            raise InvalidParameter(
                f"parents={parents!r} is not known. Pass one of {', '.join(TREES)}, or a list.", parameter="parents"
            )
        return TREES[parents]
    if not isinstance(parents, Iterable):
        raise InvalidParameter(f"parents is {a_type(parents)}. Pass {', '.join(TREES)}, or a list.")
    links = tuple(parents)
    if not links or links[0] is not None:
        raise InvalidParameter("the first column is the root of the tree. Start the list of parents with None.")
    for j, parent in enumerate(links[1:], start=1):
        whole = isinstance(parent, (int, np.integer)) and not isinstance(parent, bool)
        if not (whole and 0 <= parent < j):
            shown = parent if whole or parent is None else a_type(parent)
            raise InvalidParameter(f"the parent of column {j} is {shown}. Pass the number of a column before it.")
    return links
