"""What several releases of one file disclose together, though each keeps its own promise.

Somebody who sees two releases, and knows which rows belong to the same person, knows two groups of everybody: few
records are in both. And each group shows a sum, its mean times its size. Sums of groups that overlap are equations, and
where there are enough of them, the values of single records follow exactly, though nobody was singled out in any one
release.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from itertools import count
from threading import Thread
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, lsmr, splu

from microagg.algorithms.equivalence import codes_of, first_of_each, split_classes
from microagg.base.frozen import frozen
from microagg.measures.measure import Measure, as_html, as_text
from microagg.work import Progress, one_thread_for_matrices, stage, tell

Numbers = NDArray[np.float64]

_DRAWS = 2  # random vectors: that an unsolved record has none of two by chance does not happen
_NONE = 1e-7  # of a vector of normal draws, what counts as nothing
_EXACT, _TOO_LONG = 1e-13, 7  # of the iterative solver; the last is what it gives for too many steps
_FEW_STEPS, _MOST_STEPS = (
    300,
    20_000,
)  # what is left after few is factorised; the most, where that takes too much memory
_LIFT, _TIMES = 1e-7, 20  # added to the diagonal, as sums depend on each other; how often that is mended at most
_HEARD = 0.1  # seconds between two words of progress


@frozen()
class JointDisclosure:
    """What several releases of one file disclose together.

    Attributes
    ----------
    releases : int
    n_records : int
    fewest : int
        The smallest number of records that no release distinguishes: those in the same groups of all of them.
    singled_out : int
        Records that are alone with their groups.
    solved : int
        Records whose values follow exactly from the means of groups, by linear algebra alone.
        Means that are rounded give them to within their rounding; medians and categories give no sums.
    converged : bool
        Whether the solver came to its end; otherwise more records than `solved` may follow.
    nearest : int
        Releases whose rows were matched to records by nearest values. All figures are estimates where there are any.
    consistent : float or None
        The percentage of groups of those releases whose records give the released means; None where there are none.
    n_units : int or None
        Where a unit is named: how many units there are.
    solved_units : int or None
        Units that have a value, in a masked column that all their rows have in common, which follows from the means of
        groups: such a value is one unknown, in as many groups as its unit has rows, even of one release. None where no
        unit is named, and where the values of more than 50 000 units depend on each other.

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
    nearest: int = 0
    consistent: float | None = None
    n_units: int | None = None
    solved_units: int | None = None

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The figures as objects that know how to be read."""
        of, n = 100.0 / self.n_records, float(self.n_records)
        alone = "Records that are in the same groups of all releases as no other record."
        follow = "Records whose values follow exactly from the means of groups."
        fewest = "The smallest number of records that all releases together cannot distinguish."
        found = (
            Measure("k together", self.fewest, "higher", (1.0, n), fewest),
            Measure("singled out", of * self.singled_out, "lower", (0.0, 100.0), alone, "%"),
            Measure("solved", of * self.solved, "lower", (0.0, 100.0), follow, "%"),
        )
        if self.solved_units is None or self.n_units is None:
            return found
        units = "Units with a value, in a column that all their rows have in common, that follows from the means."
        share = 100.0 * self.solved_units / self.n_units
        return (*found, Measure("solved units", share, "lower", (0.0, 100.0), units, "%"))

    @property
    def _title(self) -> str:
        title = "1 release" if self.releases == 1 else f"{self.releases} releases together"
        if not self.converged:
            title += " (the solver was stopped: more records may follow)"
        if self.consistent is not None:
            title += (
                f"\nThese are estimates: in {self.nearest} of {self.releases} releases the rows are not in the order "
                f"of the original, and were matched by nearest values; {self.consistent:.1f} % of their groups then "
                f"have the released means."
            )
        return title

    def __str__(self) -> str:
        return as_text(self._title, self.measures)

    def _repr_html_(self) -> str:
        return as_html(self._title, self.measures)


def measure_joint(labels: Sequence[NDArray[np.int64]], progress: Progress | None = None) -> JointDisclosure:
    """Measure what releases disclose together.

    Parameters
    ----------
    labels : sequence of arrays of shape (n,)
        The group of each record in each release.
    progress : callable, optional
        Called as progress(done, in all).
    """
    codes = [codes_of(one) for one in labels]
    sizes = np.bincount(_cells(codes))
    solved, converged = solved_records(codes, progress)
    return JointDisclosure(
        len(codes),
        codes[0].size,
        int(sizes.min()),
        int(np.count_nonzero(sizes == 1)),
        int(np.count_nonzero(solved)),
        converged,
    )


def _cells(codes: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Number the combinations of groups that records share."""
    cells = np.zeros(codes[0].size, dtype=np.int64)
    for one in codes:
        cells = split_classes(cells, one, one)
    return cells


def solved_records(
    codes: Sequence[NDArray[np.int64]], progress: Progress | None = None
) -> tuple[NDArray[np.bool_], bool]:
    """Return which records' values follow from the sums of groups, and whether the solver came to its end.

    A record's value follows where no change of the others' can make up for one of it: where everything that all groups'
    sums leave open (the null space of groups by records) is nothing at that record. A random vector, projected there,
    is then nothing at just these records. Records that share all groups are one unknown, and none of them follows.
    """
    cells = _cells(codes)
    first = first_of_each(cells)
    follows, converged = solved_unknowns(_groups_by_records([one[first] for one in codes]), progress)
    return (follows & (np.bincount(cells) == 1))[cells], converged


class TooManyUnknowns(Exception):
    """More unknowns than can be solved together."""


def solved_unknowns(
    sums: sparse.csr_matrix, progress: Progress | None = None, most: float = np.inf
) -> tuple[NDArray[np.bool_], bool]:
    """Return which unknowns follow from sums of them, (sums, unknowns), and whether the solver came to its end.

    Raises TooManyUnknowns where more than `most` are left that must be solved together.
    """
    holds = (sums != 0.0).astype(np.float64).tocsr()
    open_yet = _without_chains(holds)
    rows, columns, loose = _without_slack(holds, open_yet)
    if columns.size > most:
        raise TooManyUnknowns
    drawn, converged = np.random.default_rng(0).standard_normal((sums.shape[1], _DRAWS)), True
    drawn[~open_yet] = 0.0
    if rows.size:
        drawn[columns], converged = _unexplained(sums[rows][:, columns].tocsr(), drawn[columns], progress)
    for own, unknowns in reversed(loose):
        _make_up(sums[own].tocsr(), unknowns, drawn)
    tell(progress, 1, 1)
    return np.asarray((np.abs(drawn) < _NONE).all(axis=1)), converged


def _without_slack(
    holds: sparse.csr_matrix, open_yet: NDArray[np.bool_]
) -> tuple[NDArray[Any], NDArray[Any], list[tuple[NDArray[Any], NDArray[Any]]]]:
    """Return the sums and unknowns that must be solved together, and the others in the order in which they fell away.

    An unknown of one sum alone can make up for whatever the others of that sum are: the sum shows nothing of them.
    """
    unknown, sums = open_yet.copy(), np.ones(holds.shape[0], dtype=np.bool_)
    loose: list[tuple[NDArray[Any], NDArray[Any]]] = []
    turned = holds.T.tocsr()
    while True:
        sums &= (holds @ unknown.astype(np.float64)) > 0.0
        free = unknown & ((turned @ sums.astype(np.float64)) <= 1.0)
        if not free.any():
            return np.flatnonzero(sums), np.flatnonzero(unknown), loose
        gone = sums & ((holds @ free.astype(np.float64)) > 0.0)
        loose.append((np.flatnonzero(gone), np.flatnonzero(free)))
        sums &= ~gone
        unknown &= ~free


def _make_up(sums: sparse.csr_matrix, unknowns: NDArray[Any], drawn: Numbers) -> None:  # OUT: drawn
    """Let one of the unknowns of each sum, which no other sum has, make up for what all others there are drawn to."""
    parts = sums[:, unknowns].tocsr()
    first = parts.indptr[:-1]
    chosen = unknowns[parts.indices[first]]
    drawn[chosen] = 0.0
    drawn[chosen] = -(sums @ drawn) / parts.data[first][:, None]


def _groups_by_records(codes: Sequence[NDArray[np.int64]]) -> sparse.csr_matrix:
    """Return a row for each group of each release, with ones at its records."""
    n, above, rows = codes[0].size, 0, []
    for one in codes:
        rows.append(one + above)
        above += int(one.max()) + 1
    row, column = np.concatenate(rows), np.tile(np.arange(n), len(codes))
    return sparse.csr_matrix((np.ones(row.size), (row, column)), shape=(above, n))


def _without_chains(sums: sparse.csr_matrix) -> NDArray[np.bool_]:
    """Return which unknowns are open after each that is the last open one of a sum is solved, again and again."""
    open_yet = np.ones(sums.shape[1], dtype=np.bool_)
    while True:
        last = (sums @ open_yet.astype(np.float64)) == 1.0
        solved = ((sums.T @ last.astype(np.float64)) > 0.0) & open_yet
        if not solved.any():
            return open_yet
        open_yet &= ~solved


def _unexplained(sums: sparse.csr_matrix, drawn: Numbers, progress: Progress | None) -> tuple[Numbers, bool]:
    """Return what no sum of groups makes of some vectors, and whether the solver came to its end.

    Groups that mix everybody with everybody are soon solved by iteration, and are slow to factorise. Groups of near
    records are the other way round, and they are the usual ones.
    """
    short, long = (stage(progress, number, 2) for number in range(2))
    with one_thread_for_matrices():
        remains, ended = _iterated(sums, drawn, _FEW_STEPS, short)
        if ended:
            return remains, True
        try:
            return _factorised(sums, drawn, long)
        except MemoryError:
            return _iterated(sums, drawn, _MOST_STEPS, long)


def _iterated(sums: sparse.csr_matrix, drawn: Numbers, most: int, progress: Progress | None) -> tuple[Numbers, bool]:
    """Solve by LSMR, one vector after the other, in so many steps at most."""
    steps, turned = count(), sums.T.tocsr()

    def multiplied(vector: Numbers) -> Numbers:
        tell(progress, min(next(steps), most * _DRAWS), most * _DRAWS)
        return np.asarray(turned @ vector)

    operator = LinearOperator(turned.shape, matvec=multiplied, rmatvec=lambda vector: sums @ vector, dtype=np.float64)
    remains = np.empty_like(drawn)
    for draw in range(drawn.shape[1]):
        found, why, *_ = lsmr(operator, drawn[:, draw], atol=_EXACT, btol=_EXACT, conlim=0, maxiter=most)
        remains[:, draw:] = (drawn[:, draw] - turned @ found)[:, np.newaxis]
        if why == _TOO_LONG:  # another vector would take as long
            return remains, False
    return remains, True


def _factorised(sums: sparse.csr_matrix, drawn: Numbers, progress: Progress | None) -> tuple[Numbers, bool]:
    """Solve the normal equations by a factorisation, again for what is left, until nothing is."""
    turned = sums.T.tocsr()
    lifted = (sums @ turned + _LIFT * sparse.eye(sums.shape[0])).tocsc()
    factors = _heard(
        lambda: splu(lifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}),
        progress,
    )
    remains = drawn
    for _ in range(_TIMES):
        remains = remains - turned @ factors.solve(sums @ remains)
        tell(progress, 1, 1)
        if np.abs(sums @ remains).max() < _EXACT:
            return remains, True
    return remains, False


def _heard(work: Callable[[], Any], progress: Progress | None) -> Any:
    """Return what work gives that cannot be stopped, and be stopped meanwhile: nobody waits for its thread then."""
    result: Future[Any] = Future()

    def run() -> None:
        try:
            result.set_result(work())
        except BaseException as error:  # noqa: BLE001 - it is raised again where somebody waits
            result.set_exception(error)

    Thread(target=run, daemon=True).start()
    while not result.done():
        tell(progress, 0, 1)
        wait([result], timeout=_HEARD)
    return result.result()
