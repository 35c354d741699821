"""Dependence trees: which columns speak for which."""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg._kernels._jit import announce_compiling
from microagg._kernels.dependence import meetings
from microagg._kernels.standard import standard_scores
from microagg.checks import check_option
from microagg.errors import InvalidParameter

MEASURES = ("emim", "chi2", "normal", "vi")
"""Mutual information, chi-squared, that of a normal pair, and the variation of information (a distance)."""

_DECIMALS = 10  # weights that agree to here are tied, so that rounding does not decide
_PERFECT = 1e-12  # 1 - ρ² below this is rounding
_SLICE = 20_000_000  # records counted before Python regains control: some 0.1 s


class Edge(NamedTuple):
    """Two columns, by number, and how strongly they depend on each other."""

    first: int
    second: int
    weight: float


@dataclass(frozen=True)
class Dependence:
    """A spanning tree of the columns and the weights it was chosen by."""

    measure: str
    weights: NDArray[np.float64]  # (d, d)
    edges: tuple[Edge, ...]  # the strongest first
    degrees: NDArray[np.int64]  # (d,)
    categories: NDArray[np.int64]  # (d,): how many each column was cut into; 0 where it was not

    @property
    def total_weight(self) -> float:
        """The sum of the weights of the tree's edges."""
        return float(sum(edge.weight for edge in self.edges))


def dependence(
    columns: NDArray[np.float64], measure: str = "emim", width: Any = None, bins: int | None = None
) -> Dependence:
    """Weigh every pair of `columns` (d, n) and span the tree of the strongest."""
    check_option("measure", measure, MEASURES)
    d = columns.shape[0]
    if measure == "normal":
        if width is not None or bins is not None:
            raise InvalidParameter("measure='normal' uses no categories. Leave out width and bins.")
        sizes = np.zeros(d, dtype=np.int64)
        weights = _normal_weights(columns)
    else:
        codes, sizes = categorise(columns, width, bins)
        weights = _weights_of_categories(codes, sizes, measure)
    weights = weights.round(_DECIMALS) + 0.0
    edges = _spanning_tree(weights, nearest_first=measure == "vi")
    degrees = np.bincount([end for edge in edges for end in edge[:2]], minlength=d)
    return Dependence(measure, weights, edges, degrees, sizes)


def categorise(
    columns: NDArray[np.float64], width: Any = None, bins: int | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number each record's category in each of `columns` (d, n); give the codes and how many there are.

    With `width` (one, or one a column) a category is that wide, from the column's minimum on; with `bins`
    a column's range is cut into so many; with neither, as `automatic_bins` says. Empty categories count for
    nothing and get no number.
    """
    d, n = columns.shape
    widths = _check_widths(width, d)
    _check_bins(bins)
    if widths is not None and bins is not None:
        raise InvalidParameter("both width and bins were given. Pass one of them.")
    codes = np.empty((d, n), dtype=np.int64)
    sizes = np.empty(d, dtype=np.int64)
    for j, column in enumerate(columns):
        if widths is None:
            wanted = automatic_bins(column) if bins is None else bins
            found = _numbered(column) if wanted is None else _numbered(_cut(column, wanted))
        else:
            with np.errstate(over="ignore"):
                found = _numbered(np.floor((column - column.min()) / widths[j]))
        codes[j], sizes[j] = found
    return codes, sizes


def automatic_bins(column: NDArray[np.float64]) -> int | None:
    """Give the number of equal intervals to cut a column into, or None: each value is a category.

    Sturges' rule, ⌈log2 n⌉ + 1, found known trees most often (docs/algorithms/dependence.md has the figures).
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


def _numbered(values: NDArray[np.float64]) -> tuple[NDArray[np.int64], int]:
    found, codes = np.unique(values, return_inverse=True)
    return codes, found.size


def _check_widths(width: Any, d: int) -> NDArray[np.float64] | None:
    if width is None:
        return None
    try:
        widths = np.broadcast_to(np.asarray(width, dtype=np.float64), d)
    except (ValueError, TypeError):
        raise InvalidParameter(f"width must be a number, or one for each of the {d} columns.") from None
    if not (np.isfinite(widths) & (widths > 0)).all():
        raise InvalidParameter("width must be positive and finite. Leave it out for a width by rule.")
    return widths


def _check_bins(bins: Any) -> None:
    whole = isinstance(bins, (int, np.integer)) and not isinstance(bins, bool)
    if bins is not None and not (whole and bins >= 1):
        shown = bins if whole else f"a {type(bins).__name__}"
        raise InvalidParameter(f"bins={shown} must be a number of intervals. Pass 2 or more, or leave it out.")


def _weights_of_categories(codes: NDArray[np.int64], sizes: NDArray[np.int64], measure: str) -> NDArray[np.float64]:
    d, n = codes.shape
    announce_compiling()
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


def _normal_weights(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    scores = standard_scores(columns)
    correlations = np.clip(scores @ scores.T / columns.shape[1], -1.0, 1.0)
    rest = 1.0 - correlations**2
    weights = np.where(rest < _PERFECT, np.inf, -0.5 * np.log(np.maximum(rest, _PERFECT)))
    np.fill_diagonal(weights, 0.0)
    return np.asarray(weights)


def _spanning_tree(weights: NDArray[np.float64], *, nearest_first: bool) -> tuple[Edge, ...]:
    """Span the strongest tree; of equal weights the pair that comes first, (0, 1) before (0, 2), is taken."""
    from scipy.sparse.csgraph import minimum_spanning_tree

    d = weights.shape[0]
    first, second = np.triu_indices(d, 1)
    values = weights[first, second]
    order = np.argsort(values if nearest_first else -values, kind="stable")
    # The place in that order stands for the weight: no ties are left, and no zero is taken for a missing edge.
    places = np.zeros((d, d))
    places[first[order], second[order]] = np.arange(1, order.size + 1)
    tree = minimum_spanning_tree(places).tocoo()
    kept = sorted(zip(tree.data, tree.row, tree.col, strict=True))
    return tuple(Edge(int(i), int(j), float(weights[i, j])) for _, i, j in kept)
