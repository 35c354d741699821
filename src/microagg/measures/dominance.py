"""Groups in which one member is most of the total: what a mean of business data can disclose."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.kernels.groups import largest_and_rest
from microagg.base.frozen import ReadOnly, frozen
from microagg.checks import check_jobs
from microagg.work import Progress, in_parallel, part


@frozen()
class Dominance(ReadOnly):
    """How far single members make up their groups' totals, in each non-negative column.

    Where records have weights, a member adds its value times its weight.

    Attributes
    ----------
    largest_share : mapping
        For each column, the highest share, in percent, that one member has of its group's total.
    median_share : mapping
        For each column, the median over groups of the largest member's share, in percent.
    failing : mapping
        For each column, how many groups fail the p percent rule: the total without the two largest members
        is less than p percent of the largest, so the second largest can guess it that closely.
    p : float
        The percentage of that rule.
    n_groups : int
    left_out : tuple
        Columns with negative values, for which shares mean nothing.

    Examples
    --------
    >>> import microagg as ma
    >>> found = ma.dominance([[1.0], [2.0], [97.0], [5.0], [5.0], [5.0]], [0, 0, 0, 1, 1, 1], p=10)
    >>> found.largest_share[0], found.failing[0]
    (97.0, 1)
    """

    largest_share: Mapping[Any, float]
    median_share: Mapping[Any, float]
    failing: Mapping[Any, int]
    p: float
    n_groups: int
    left_out: tuple[Any, ...]

    def __repr__(self) -> str:
        worst = max(self.failing.values(), default=0)
        highest = max(self.largest_share.values(), default=0.0)
        left_out = f"; {len(self.left_out)} columns with negative values left out" if self.left_out else ""
        return (
            f"Dominance: the largest member has up to {highest:.1f} % of the total of its group; up to {worst} of "
            f"{self.n_groups} groups fail the {self.p:g} % rule in one column{left_out}"
        )


def measure_dominance(
    columns: NDArray[np.float64],
    labels: NDArray[np.int64],
    names: Sequence[Any],
    p: float,
    weights: NDArray[np.float64] | None = None,
    progress: Progress | None = None,
) -> Dominance:
    """Judge the groups of the original columns (d, n); `labels` (n,) are numbered from 0, and `weights` (n,)."""
    n_groups = int(labels.max()) + 1

    heard = part(progress, 0, len(names), len(names) + 1)  # whoever asked goes on

    def judge(column: NDArray[np.float64], check: Callable[[], None]) -> tuple[float, float, int] | None:
        check()
        return _shares(column, labels, n_groups, p, weights) if column.min() >= 0 else None

    found = dict(zip(names, in_parallel(judge, list(columns), check_jobs(None), heard), strict=True))
    known = {name: one for name, one in found.items() if one is not None}
    return Dominance(
        largest_share={name: one[0] for name, one in known.items()},
        median_share={name: one[1] for name, one in known.items()},
        failing={name: one[2] for name, one in known.items()},
        p=p,
        n_groups=n_groups,
        left_out=tuple(name for name in found if name not in known),
    )


def _shares(
    column: NDArray[np.float64],
    labels: NDArray[np.int64],
    n_groups: int,
    p: float,
    weights: NDArray[np.float64] | None,
) -> tuple[float, float, int]:
    """Return the largest and the median share of a group's largest member, in percent, and how many groups fail."""
    power = max(0, int(np.frexp(column.max())[1]) - 900)  # so that no total overflows
    amounts = np.ldexp(column, -power) if power else column
    if weights is not None:
        amounts = amounts * weights
    largest, second, rest = largest_and_rest(amounts, labels, n_groups)
    totals = rest + second + largest
    shares = np.divide(largest, totals, out=np.zeros(n_groups), where=totals > 0)
    failing = int(np.count_nonzero(rest < p / 100 * largest))
    return 100.0 * float(shares.max()), 100.0 * float(np.median(shares)), failing
