"""What groups disclose of confidential columns of which something is demanded, and what keeping it cost."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.diversity.demand import Demand, HeldValues, Limits
from microagg.algorithms.kernels.diversity import SLACK
from microagg.base.frozen import ReadOnly, frozen


@frozen()
class ColumnDiversity(ReadOnly):
    """What records with the same masked values disclose of a confidential column, at most.

    Attributes
    ----------
    distinct, entropy, t : int, float, float
        The fewest different values, the least exp(entropy), and the greatest distance from the whole file. A missing
        value is none of the different ones.
    uniform, groups : int
        How many groups have one value throughout, and how many there are.
    ratio : float or None
        Where recursive (c, l) is demanded, the most that the records of the commonest value are of those from the l-th
        commonest on; infinite where there are none of the latter.
    """

    distinct: int
    entropy: float
    t: float
    uniform: int
    groups: int
    ratio: float | None = None


@frozen()
class DiversityFacts(ReadOnly):
    """What was demanded of confidential columns, how it is kept, and what that cost.

    Attributes
    ----------
    limits : mapping
        What was demanded of each column.
    before, after : mapping
        What groups disclosed of each column before that, and what records with the same values do in the release.
    way : str
        How groups came to keep it: a word of the recipe's `diversity`.
    loss_before, loss_after : float
        The information loss, in percent, of groups that need not keep it and of those that do, before anything is
        rounded or refined.
    """

    limits: Mapping[Any, Limits]
    before: Mapping[Any, ColumnDiversity]
    after: Mapping[Any, ColumnDiversity]
    way: str
    loss_before: float
    loss_after: float

    @property
    def goals(self) -> dict[Any, "tuple[Goal, ...]"]:
        """What is demanded of each column, with what is reached in the release."""
        return {name: goals_of(limits, self.after[name]) for name, limits in self.limits.items()}

    @classmethod
    def of(
        cls,
        demand: Demand,
        groups: NDArray[np.int64],
        classes: NDArray[np.int64],
        way: str,
        losses: tuple[float, float],
    ) -> "DiversityFacts":
        """Return the facts of a demand: of the groups before it was kept, and of records with the same values after."""
        names = [column.name for column in demand.columns]
        limits = dict(zip(names, demand.limits, strict=True))
        return cls(limits, given_away(demand, groups), given_away(demand, classes), way, *losses)


def given_away(demand: Demand, groups: NDArray[np.int64]) -> dict[Any, ColumnDiversity]:
    """Return what groups, numbered from 0 without gaps, disclose of each column of a demand."""
    found = zip(demand.columns, demand.limits, demand.figures(groups), strict=True)
    return {column.name: _given_away(limits, figures) for column, limits, figures in found}


def _given_away(limits: Limits, found: HeldValues) -> ColumnDiversity:
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(found.most > 0, found.most / found.tail, np.inf)
    return ColumnDiversity(
        distinct=int(found.distinct.min()),
        entropy=float(found.entropy.min()),
        t=float(found.t.max()),
        uniform=int(np.count_nonzero(found.distinct <= 1)),
        groups=found.distinct.size,
        ratio=None if limits.recursive is None else float(ratios.max()),
    )


@frozen()
class Goal:
    """One thing that is demanded of a confidential column: what was asked and what is reached.

    Attributes
    ----------
    name : str
        "l", "entropy_l", "recursive_l" or "t", as a recipe's keywords are called.
    asked, reached : float
        Of recursive (c, l) that is c, and the ratio that must be below it.
    rank : int or None
        l of recursive (c, l).
    holds : bool
    """

    name: str
    asked: float
    reached: float
    holds: bool
    rank: int | None = None

    @property
    def short(self) -> str:
        """Its name with what was asked."""
        return f"recursive_l = ({self.asked:g}, {self.rank})" if self.rank else f"{self.name} = {self.asked:g}"

    @property
    def rest(self) -> str:
        """The values that recursive (c, l) compares the commonest with."""
        return f"the {_ordinal(self.rank or 2)} commonest value and all rarer ones together"

    def words(self, values: str) -> str:
        """Return what it promises of `values`, such as "their values"."""
        if self.name == "entropy_l":
            return f"{values} vary at least as much as {self.asked:g} equally frequent values"
        if self.name == "recursive_l":
            return f"the commonest of {values} has fewer records than {self.asked:g} times {self.rest}"
        return f"{values} differ by at most {self.asked:g} from those of the whole file"


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def goals_of(limits: Limits, found: ColumnDiversity) -> tuple[Goal, ...]:
    """Return what is demanded of a column, with what is reached."""
    goals = []
    if limits.l is not None:
        goals.append(Goal("l", limits.l, found.distinct, found.distinct >= limits.l))
    if limits.entropy is not None:
        goals.append(Goal("entropy_l", limits.entropy, found.entropy, found.entropy >= limits.entropy * (1 - SLACK)))
    if limits.recursive is not None and found.ratio is not None:
        c, rank = limits.recursive
        goals.append(Goal("recursive_l", c, found.ratio, found.ratio < c * (1 - SLACK), rank))
    if limits.t is not None:
        goals.append(Goal("t", limits.t, found.t, found.t <= limits.t + SLACK))
    return tuple(goals)


def promised(goals: Sequence[Goal], name: str) -> str:
    """Return in a sentence, without its full stop, what is demanded of a column; `name` has its quotation marks."""
    values, words = f"the values of {name} in records with the same masked values", []
    for goal in goals:
        if goal.name == "l":
            words.append(f"records with the same masked values hold at least {goal.asked:g} different values of {name}")
        else:
            words.append(goal.words(values))
        values = "their values"
    said = "; ".join(words)
    return f"{said[:1].upper()}{said[1:]}"


def demand_words(facts: DiversityFacts) -> str:
    """Return in a line what of confidential columns is kept, what is reached, and what that cost."""
    kept = [
        f"{goal.short} of {name} ({goal.reached:.3g} reached)" for name, goals in facts.goals.items() for goal in goals
    ]
    cost = f"loss {facts.loss_before:.2f} % without that and {facts.loss_after:.2f} % with it, unrefined and unrounded"
    return f"{', '.join(kept)}; {facts.way}: {cost}"
