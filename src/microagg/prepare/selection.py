"""Which columns form the groups: those that the dependence tree connects to most others."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.checks import check_option
from microagg.errors import InvalidParameter

RULES = ("degree", "cover")
MOST_ALTERNATIVES = 10_000


@dataclass(frozen=True)
class Selection:
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

    def __post_init__(self) -> None:
        object.__setattr__(self, "degrees", MappingProxyType(dict(self.degrees)))
        object.__setattr__(self, "losses", MappingProxyType(dict(self.losses)))

    def __reduce__(self) -> tuple[object, ...]:  # read-only mappings do not pickle by themselves
        mappings = dict(self.degrees), dict(self.losses)
        return Selection, (self.columns, self.reason, mappings[0], self.alternatives, self.n_alternatives, mappings[1])

    def __repr__(self) -> str:
        ties = f"; {self.n_alternatives} choices tie" if self.n_alternatives > 1 else ""
        loss = f"; information loss {self.losses[self.columns]:.2f} %" if self.columns in self.losses else ""
        return f"Selection: {', '.join(map(str, self.columns))} ({self.reason}{ties}{loss})"


def select_columns(names: Sequence[Any], degrees: NDArray[np.int64], rule: str = "degree", count: Any = 3) -> Selection:
    """Select the columns of highest degree, by name."""
    check_option("rule", rule, RULES)
    ways, n_ways = choose_columns(degrees, rule, count)
    alternatives = tuple(tuple(names[j] for j in way) for way in ways)
    chosen = ways[0]
    edges = ", ".join(str(degrees[j]) for j in chosen)
    if rule == "degree":
        reason = f"the most edges of the dependence tree: {edges}"
    else:
        reason = f"the fewest whose edges in the dependence tree ({edges}) add up to the {len(names)} columns"
    shown = {name: int(degree) for name, degree in zip(names, degrees, strict=True)}
    return Selection(alternatives[0], reason, shown, alternatives, n_ways)


def choose_columns(
    degrees: NDArray[np.int64], rule: str = "degree", count: Any = 3
) -> tuple[tuple[tuple[int, ...], ...], int]:
    """Take the columns of highest degree: `count` of them, or ("cover") until their degrees add up to d.

    Where columns of one degree stand at the cut, each way to fill the last places is an alternative; the
    first takes the columns that come first. Returns the alternatives, the first 10 000, and their number.
    """
    d = degrees.size
    order = np.argsort(-degrees, kind="stable")
    if rule == "degree":
        size = _check_count(count, d)
    elif d <= 2:
        size = d
    else:
        size = int(np.argmax(np.cumsum(degrees[order]) >= d)) + 1
    last = degrees[order[size - 1]]
    certain = [int(j) for j in order if degrees[j] > last]
    tied = [int(j) for j in order if degrees[j] == last]
    places = size - len(certain)
    ways = itertools.islice(itertools.combinations(tied, places), MOST_ALTERNATIVES)
    return tuple((*certain, *way) for way in ways), math.comb(len(tied), places)


def _check_count(count: Any, d: int) -> int:
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)):
        raise InvalidParameter(f"count is a {type(count).__name__}. Pass how many columns are to form the groups.")
    if not 1 <= count <= d:
        raise InvalidParameter(f"count={count} is not between 1 and the {d} columns there are. Pass 2 or 3.")
    return int(count)
