"""Dependence trees: which columns speak for which."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.kernels.categories import meetings
from microagg.algorithms.kernels.sums import exact_sum
from microagg.algorithms.scores import standard_scores
from microagg.base.frozen import frozen
from microagg.checks import EXACT_INTEGERS
from microagg.errors import InvalidParameter

MEASURES = ("emim", "chi2", "normal", "vi")
"""Mutual information, chi-squared, that of a normal pair, and the variation of information (a distance)."""

_DECIMALS = 10  # weights that agree to here are tied, so that rounding does not decide
_PERFECT = 2e-12  # 1 - ρ² below this is rounding
_SLICE = 20_000_000  # records counted before Python regains control: some 0.1 s


class Edge(NamedTuple):
    """Two columns, by number, and how strongly they depend on each other."""

    first: int
    second: int
    weight: float


@frozen()
class Dependence:
    """A spanning tree of the columns and the weights it was chosen by."""

    measure: str
    weights: NDArray[np.float64]  # (d, d)
    edges: tuple[Edge, ...]  # the strongest first
    degrees: NDArray[np.int64]  # (d,)
    categories: NDArray[np.int64]  # (d,): how many each column was cut into; 0 where it was not
    silent: NDArray[np.bool_]  # (d,): columns in no edge: of one value, by "vi" of one category

    @property
    def total_weight(self) -> float:
        """The sum of the weights of the tree's edges."""
        return float(sum(edge.weight for edge in self.edges))


def tree_of(measure: str, weights: NDArray[np.float64], sizes: NDArray[np.int64], constant: Any) -> Dependence:
    """Span the tree of the strongest weights between columns: of categories, so many in each, or of normal numbers.

    `constant` marks the columns of one value.
    """
    weights = weights.round(_DECIMALS) + 0.0
    # By a distance of entropies one category is enough to be everybody's nearest, and the hub of the tree.
    silent = sizes == 1 if measure == "vi" else np.asarray(constant, dtype=bool)
    edges = _spanning_tree(weights, ~silent, nearest_first=measure == "vi")
    degrees = np.bincount(np.array([edge[:2] for edge in edges], dtype=np.int64).ravel(), minlength=len(weights))
    return Dependence(measure, weights, edges, degrees, sizes, silent)


def cut_into_categories(column: NDArray[np.float64], j: int, width: float | None, bins: int | None) -> Any:
    """Number the interval of each value: `width` wide, or one of `bins`, or as `automatic_bins` says.

    Where that says none, each value is a category.
    """
    if width is not None:
        return _cut_by_width(column, width, j)
    wanted = automatic_bins(column) if bins is None else bins
    return column if wanted is None else _cut(column, wanted)


def automatic_bins(column: NDArray[np.float64]) -> int | None:
    """Return the number of equal intervals to cut a column into, or None: each value is a category.

    Sturges' rule, ⌈log2 n⌉ + 1, found known trees most often (docs/algorithms/emad.md has the figures).
    A column with no more distinct values than that is taken to be one of categories.
    """
    intervals = max(2, math.ceil(math.log2(column.size)) + 1)
    return None if np.unique(column).size <= intervals else intervals


def _cut(column: NDArray[np.float64], bins: int) -> NDArray[np.float64]:
    """Number equal intervals of a column's range; the maximum belongs to the last."""
    power = int(np.frexp(np.abs(column).max())[1])
    scaled = np.ldexp(column, -power)  # so that neither the range of ±1e308 overflows nor that of ±1e-308 vanishes
    spread = scaled.max() - scaled.min()
    if spread == 0:
        return np.zeros(column.size)
    return np.asarray(np.minimum(np.floor((scaled - scaled.min()) / spread * bins), bins - 1))


def _cut_by_width(column: NDArray[np.float64], width: float, j: int) -> NDArray[np.float64]:
    """Number intervals of one width from a column's minimum on."""
    with np.errstate(over="ignore"):
        steps = (column - column.min()) / width
    if not steps.max() < EXACT_INTEGERS:
        raise InvalidParameter(
            f"width={width:g} cuts column {j} into more intervals than 2**53, the most float64 can number. Widen it."
        )
    return np.asarray(np.floor(steps))


def numbered(values: NDArray[np.float64]) -> tuple[NDArray[np.int64], int]:
    """Number different values, and count them."""
    found, codes = np.unique(values, return_inverse=True)
    return codes, found.size


def check_widths(width: Any, d: int) -> NDArray[np.float64] | None:
    """Return the width of the categories of each column, or say why there is none."""
    if width is None:
        return None
    try:
        given = np.asarray(width)
        if given.dtype.kind not in "iuf" or given.shape not in ((), (d,)):
            raise TypeError
        widths = np.broadcast_to(given.astype(np.float64), d)
    except (ValueError, TypeError):
        raise InvalidParameter(
            f"width must be a number, or one for each of the {d} columns.", parameter="width"
        ) from None
    bad = widths[~(np.isfinite(widths) & (widths > 0))]
    if bad.size:
        raise InvalidParameter(
            f"width={bad[0]:g} must be positive and finite. Leave it out for a width by rule.", parameter="width"
        )
    return widths


def weights_of_categories(codes: NDArray[np.int64], sizes: NDArray[np.int64], measure: str) -> NDArray[np.float64]:
    """Weigh each pair of columns by how their categories, numbered (d, n), go together."""
    d, n = codes.shape
    counts = np.arange(n + 1, dtype=np.float64)
    x_log_x = counts * np.log(np.maximum(counts, 1.0))
    first, second = np.triu_indices(d, 1)
    information, squares = np.empty(first.size), np.empty(first.size)
    step = max(1, _SLICE // n)
    for start in range(0, first.size, step):
        part = slice(start, start + step)
        meetings(codes, sizes, x_log_x, first[part], second[part], information[part], squares[part])
    # Σ p log p = (Σ c log c) / n - log n, for single categories and for pairs.
    alone = np.array([x_log_x[np.bincount(code)].sum() for code in codes]) / n - np.log(n)
    together = information / n - np.log(n)
    if measure == "emim":
        values = together - alone[first] - alone[second]
    elif measure == "chi2":
        values = squares - 1.0
    else:
        values = (alone[first] + alone[second] - 2.0 * together) / np.log(2.0)
    weights = np.zeros((d, d))
    weights[first, second] = weights[second, first] = np.maximum(values, 0.0)
    return weights


def weights_of_numbers(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weigh each pair of columns (d, n) by the information of normal numbers with their correlation."""
    scores = standard_scores(columns)
    d, n = scores.shape
    weights = np.zeros((d, d))
    for i in range(d):
        for j in range(i):
            # Exact sums, so that the order of records cannot matter; what is left of 1 is rounded, as noise in it
            # would be blown up where columns nearly agree.
            rest = round(1.0 - (exact_sum(scores[i] * scores[j]) / n) ** 2, 12)
            weights[i, j] = weights[j, i] = np.inf if rest < _PERFECT else -0.5 * np.log(rest)
    return weights


def _spanning_tree(weights: NDArray[np.float64], spoken: NDArray[np.bool_], *, nearest_first: bool) -> tuple[Edge, ...]:
    """Span the strongest tree over some columns; of equal weights the pair that comes first is taken."""
    from scipy.sparse.csgraph import minimum_spanning_tree

    d = weights.shape[0]
    first, second = np.triu_indices(d, 1)
    among = spoken[first] & spoken[second]
    first, second = first[among], second[among]
    values = weights[first, second]
    order = np.argsort(values if nearest_first else -values, kind="stable")
    # The place in that order stands for the weight: no ties are left, and no zero is taken for a missing edge.
    places = np.zeros((d, d))
    places[first[order], second[order]] = np.arange(1, order.size + 1)
    tree = minimum_spanning_tree(places).tocoo()
    kept = sorted(zip(tree.data, tree.row, tree.col, strict=True))
    return tuple(Edge(int(i), int(j), float(weights[i, j])) for _, i, j in kept)
