"""What several releases of one file give away together, though each keeps its own promise.

Who sees two releases and can tell which rows are the same person's knows two groups of everybody: few records lie in
both. And each group tells a sum, its mean times its size. Sums of groups that overlap are equations, and where there
are enough of them, the values of single records follow exactly, though nobody was singled out in any one release.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, lsmr

from microagg.equivalence import codes_of, split_classes
from microagg.evaluate.measure import Measure, as_html, as_text
from microagg.progress import Progress, stage, tell

_DRAWS = 2  # random vectors: that an unsolved record has none of two by chance does not happen
_NONE = 1e-7  # of a vector of normal draws, what counts as nothing
_EXACT, _MOST_STEPS, _TOO_LONG = 1e-13, 20_000, 7  # of the solver; the last is what it gives for too many steps


@dataclass(frozen=True)
class JointDisclosure:
    """What several releases of one file give away together.

    Attributes
    ----------
    releases : int
    n_records : int
    fewest : int
        The fewest records that no release tells apart: those who share their groups in all of them.
    singled_out : int
        Records that are alone with their groups.
    solved : int
        Records whose values follow exactly from the means of groups, by linear algebra alone.
        Means that are rounded give them to within their rounding; medians and categories give no sums.
    converged : bool
        Whether the solver came to its end; otherwise more records than `solved` may follow.

    Examples
    --------
    >>> import microagg as ma
    >>> found = ma.JointDisclosure(releases=2, n_records=200, fewest=1, singled_out=60, solved=10)
    >>> {one.name: one.value for one in found.measures}
    {'k together': 1, 'singled out': 30.0, 'solved': 5.0}
    """

    releases: int
    n_records: int
    fewest: int
    singled_out: int
    solved: int
    converged: bool = True

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The figures as objects that know how to be read."""
        of, n = 100.0 / self.n_records, float(self.n_records)
        alone = "Records that share their groups of all releases with nobody."
        follow = "Records whose values follow exactly from the means of groups."
        return (
            Measure("k together", self.fewest, "higher", (1.0, n), "Fewest records that no release tells apart."),
            Measure("singled out", of * self.singled_out, "lower", (0.0, 100.0), alone, "%"),
            Measure("solved", of * self.solved, "lower", (0.0, 100.0), follow, "%"),
        )

    @property
    def _title(self) -> str:
        title = "1 release" if self.releases == 1 else f"{self.releases} releases together"
        return title if self.converged else f"{title} (the solver was stopped: more records may follow)"

    def __str__(self) -> str:
        return as_text(self._title, self.measures)

    def _repr_html_(self) -> str:
        return as_html(self._title, self.measures)


def measure_joint(labels: Sequence[NDArray[np.int64]], progress: Progress | None = None) -> JointDisclosure:
    """Measure what releases give away together.

    Parameters
    ----------
    labels : sequence of arrays of shape (n,)
        The group of each record in each release.
    progress : callable, optional
        Called as progress(done, in all).
    """
    codes = [codes_of(one) for one in labels]
    classes = np.zeros(codes[0].size, dtype=np.int64)
    for one in codes:
        classes = split_classes(classes, one, one)
    sizes = np.bincount(classes)
    solved, converged = solved_records(codes, progress)
    return JointDisclosure(
        len(codes),
        classes.size,
        int(sizes.min()),
        int(np.count_nonzero(sizes == 1)),
        int(np.count_nonzero(solved)),
        converged,
    )


def solved_records(
    codes: Sequence[NDArray[np.int64]], progress: Progress | None = None
) -> tuple[NDArray[np.bool_], bool]:
    """Tell which records' values follow from the sums of groups, and whether the solver came to its end.

    A record's value follows where no change of the others' can make up for one of it: where everything that all groups'
    sums leave open (the null space of groups by records) is nothing at that record. A random vector, projected there,
    is then nothing at just these records. One sparse least-squares problem gives that for all of them.
    """
    sums = _groups_by_records(codes)
    open_yet = _without_chains(sums)
    left = sums[:, np.flatnonzero(open_yet)].T.tocsr()
    solved, converged = ~open_yet, True
    if left.shape[0]:
        nothing = np.ones(left.shape[0], dtype=np.bool_)
        for draw in range(_DRAWS):
            drawn = np.random.default_rng(draw).standard_normal(left.shape[0])
            remains, ended = _unexplained(left, drawn, stage(progress, draw, _DRAWS))
            nothing &= np.abs(remains) < _NONE
            converged = converged and ended
        solved[open_yet] = nothing
    tell(progress, 1, 1)
    return solved, converged


def _groups_by_records(codes: Sequence[NDArray[np.int64]]) -> sparse.csr_matrix:
    """Give a row for each group of each release, with ones at its records."""
    n, above, rows = codes[0].size, 0, []
    for one in codes:
        rows.append(one + above)
        above += int(one.max()) + 1
    row, column = np.concatenate(rows), np.tile(np.arange(n), len(codes))
    return sparse.csr_matrix((np.ones(row.size), (row, column)), shape=(above, n))


def _without_chains(sums: sparse.csr_matrix) -> NDArray[np.bool_]:
    """Tell which records are open after each that is the last open one of a group is solved, again and again."""
    open_yet = np.ones(sums.shape[1], dtype=np.bool_)
    while True:
        last = (sums @ open_yet.astype(np.float64)) == 1.0
        solved = ((sums.T @ last.astype(np.float64)) > 0.0) & open_yet
        if not solved.any():
            return open_yet
        open_yet &= ~solved


def _unexplained(
    left: sparse.csr_matrix, drawn: NDArray[np.float64], progress: Progress | None
) -> tuple[NDArray[np.float64], bool]:
    """Give what no sum of groups makes of a vector, and whether the solver came to its end."""
    steps = count()

    def multiplied(vector: NDArray[np.float64]) -> NDArray[np.float64]:
        tell(progress, min(next(steps), _MOST_STEPS), _MOST_STEPS)
        return np.asarray(left @ vector)

    turned = left.T.tocsr()
    operator = LinearOperator(left.shape, matvec=multiplied, rmatvec=lambda vector: turned @ vector, dtype=np.float64)
    found, why, *_ = lsmr(operator, drawn, atol=_EXACT, btol=_EXACT, conlim=0, maxiter=_MOST_STEPS)
    return drawn - left @ found, why != _TOO_LONG
