"""Which columns form the groups: by the edges of a dependence tree (EMAD, AMA), or every set of so many columns."""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms import ama, emad
from microagg.algorithms.dependence import Dependence
from microagg.algorithms.kernels.sums import exact_sums, group_means
from microagg.base.frozen import ReadOnly, frozen
from microagg.checks import check_option
from microagg.errors import InvalidParameter
from microagg.work import Progress, in_parallel, tell

RULES = ("degree", "cover", "every")
"""Which columns are taken: those with the most edges (EMAD), the fewest that cover all (AMA), the best of all sets."""

COUNTED = ("degree", "every")
"""The rules that take as many columns as are asked for."""

CHOICES = ("first", "lowest-loss")
"""Which one among choices that tie: that of the first columns, or the one whose groups lose least."""

MOST_ALTERNATIVES = 10_000


@frozen()
class Selection(ReadOnly):
    """The columns on which groups are formed, and why these.

    Attributes
    ----------
    columns : tuple
        The chosen columns, by name (by number where they have none).
    reason : str
        The rule in words.
    degrees : mapping
        How many edges of the dependence tree end at each column of the file; empty where no tree was asked.
    alternatives : tuple of tuples
        Every choice that the rule finds as good, the first being that of the lowest columns.
    n_alternatives : int
        How many there are; no more than 10 000 are listed.
    losses : mapping
        The information loss, in percent, of each alternative; empty where they were not tried.
    tree : Dependence or None
        The tree that was asked. It shows original values, and is not stored with pickle.
    rule : str
        "degree", "cover" or "every"; empty where no tree was asked.

    Examples
    --------
    >>> import microagg as ma
    >>> survey = ma.datasets.survey(500, seed=0).select(["age", "hours", "wage", "income", "tax"])
    >>> ma.protect(survey, k=3, select="emad", count=2).selection
    Selection: wage, hours (the most edges of the dependence tree: 3, 2)
    """

    columns: tuple[Any, ...]
    reason: str
    degrees: Mapping[Any, int]
    alternatives: tuple[tuple[Any, ...], ...]
    n_alternatives: int
    losses: Mapping[tuple[Any, ...], float] = field(default_factory=dict)
    tree: Dependence | None = field(default=None, repr=False, compare=False)
    rule: str = ""

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "tree": None}

    @property
    def ties(self) -> int:
        """How many choices the dependence tree finds equally good; 1 where every set of columns was tried."""
        return 1 if self.rule == "every" else self.n_alternatives

    def __repr__(self) -> str:
        ties = f"; {self.n_alternatives} choices tie" if self.ties > 1 else ""
        loss = f"; information loss {self.losses[self.columns]:.2f} %" if self.columns in self.losses else ""
        return f"Selection: {', '.join(map(str, self.columns))} ({self.reason}{ties}{loss})"


def select_columns(names: Sequence[Any], tree: Dependence, rule: str = "degree", count: Any = None) -> Selection:
    """Select columns by a rule, by name: of highest degree (EMAD), a cover (AMA), or every set of so many."""
    check_option("rule", rule, RULES)
    degrees = tree.degrees
    ways, n_ways = choose_columns(degrees, rule, count, tree.silent)
    alternatives = tuple(tuple(names[j] for j in way) for way in ways)
    edges = ", ".join(str(degrees[j]) for j in ways[0])
    silent = int(tree.silent.sum())
    if rule == "degree":
        reason = f"the most edges of the dependence tree: {edges}"
    elif rule == "every":
        reason = f"the least loss of all {n_ways} sets of {len(ways[0])} columns"
    else:
        reason = f"the fewest whose edges in the dependence tree ({edges}) add up to the {len(names) - silent} columns"
    if silent and rule != "every":
        reason += f"; {silent} of one value left out"
    shown = {name: int(degree) for name, degree in zip(names, degrees, strict=True)}
    return Selection(alternatives[0], reason, shown, alternatives, n_ways, tree=tree, rule=rule)


def choose_columns(
    degrees: NDArray[np.int64], rule: str = "degree", count: Any = None, silent: NDArray[np.bool_] | None = None
) -> tuple[tuple[tuple[int, ...], ...], int]:
    """Take the columns of highest degree: `count` of them (EMAD), or ("cover") until their degrees add up to d (AMA).

    By "every", each set of `count` columns is an alternative.

    `silent` columns, of one value, come last and do not count. Where columns of one degree stand at the cut,
    each way to fill the last places is an alternative; the first takes the columns that come first. Returns
    the alternatives, the first 10 000, and their number.
    """
    silent = np.zeros(degrees.size, dtype=np.bool_) if silent is None else silent
    if rule in COUNTED:
        size = emad.places(count, degrees.size)
    elif count is not None:
        raise InvalidParameter("count goes with rule='degree' and rule='every'. Leave it out.", parameter="count")
    else:
        size = ama.key_attributes(degrees, silent)
    ranked = np.zeros(degrees.size, dtype=np.int64) if rule == "every" else np.where(silent, -1, degrees)
    order = np.argsort(-ranked, kind="stable")
    last = ranked[order[size - 1]]
    certain = [int(j) for j in order if ranked[j] > last]
    tied = [int(j) for j in order if ranked[j] == last]
    ways = itertools.islice(itertools.combinations(tied, size - len(certain)), MOST_ALTERNATIVES)
    return tuple((*certain, *way) for way in ways), math.comb(len(tied), size - len(certain))


def with_least_loss(found: Selection, losses: Callable[[Sequence[tuple[Any, ...]]], Sequence[float]]) -> Selection:
    """Return the choice that loses least among those that tie, the first of equals; `losses` tries several choices."""
    if found.n_alternatives > len(found.alternatives):
        raise InvalidParameter(
            f"{found.n_alternatives} choices of columns are too many to try (limit {MOST_ALTERNATIVES}). Choose "
            "another count, measure or rule.",
            parameter="choose",
        )
    tried = dict(zip(found.alternatives, losses(found.alternatives), strict=True))
    return replace(found, columns=min(tried, key=tried.__getitem__), losses=tried)


def losses_of_subsets(
    columns: NDArray[np.float64],
    subsets: Sequence[Sequence[int]],
    partition: Callable[..., NDArray[np.int64]],
    k: int,
    n_jobs: int,
    progress: Progress | None = None,
) -> list[float]:
    """Return the loss, in percent of all columns (d, n), of groups formed on each subset of them by a method."""
    centred = columns - exact_sums(columns)[:, None] / columns.shape[1]
    total = float((centred**2).sum())
    done = [0]

    def loss(subset: Sequence[int], check: Callable[[], None]) -> float:
        labels = partition(columns[sorted(subset)].T, k, progress=lambda *_: check())
        means = group_means(columns, labels, int(labels.max()) + 1)
        error = float(((columns - means[:, labels]) ** 2).sum())
        done[0] += 1
        tell(progress, done[0], len(subsets))
        return 100.0 * error / total if total > 0 else 0.0

    def losses(part: Sequence[Sequence[int]], check: Callable[[], None]) -> list[float]:
        return [loss(subset, check) for subset in part]

    # Small files take a moment each: a thread gets several at a time.
    step = max(1, 20_000 // columns.shape[1])
    parts = [subsets[start : start + step] for start in range(0, len(subsets), step)]
    return list(itertools.chain.from_iterable(in_parallel(losses, parts, n_jobs)))
