"""Criterion: a figure by which releases are ranked or drawn, and what is said of the ranking."""

import math
from typing import Any

from microagg.base.frozen import frozen
from microagg.checks import check_between
from microagg.measures.analyses.estimate import MOVED
from microagg.measures.measure import Definition

_LONGEST = 50  # characters of a name on an axis


@frozen()
class Criterion:
    """A figure by which releases are set beside each other.

    Attributes
    ----------
    name : str
        By which a candidate's figure is found; "score" is the scoring index.
    unit : str
        "%" or "".
    better : str
        "lower" or "higher".
    title : str
        What it is in a few words.

    Examples
    --------
    >>> from microagg.measures.criterion import Criterion
    >>> Criterion("within", "%", "higher", "estimates within their intervals").label
    'estimates within their intervals, within (%); higher is better'
    """

    name: str
    unit: str = ""
    better: str = "lower"
    title: str = ""

    @classmethod
    def of(cls, definition: Definition) -> "Criterion":
        """Return the criterion that a measure is."""
        title = definition.title if isinstance(definition.title, str) else ""
        return cls(definition.name, definition.unit, definition.better, title)

    @classmethod
    def of_analysis(cls, name: str) -> "Criterion":
        """Return the criterion that an analysis is, by its name: how far its estimates moved."""
        return cls(name, title=MOVED)

    @property
    def is_score(self) -> bool:
        """Whether it is the scoring index."""
        return self.name == "score"

    @property
    def higher(self) -> bool:
        """Whether more is better."""
        return self.better == "higher"

    @property
    def label(self) -> str:
        """What an axis says of it."""
        unit = f" ({self.unit})" if self.unit else ""
        name = self.name if len(self.name) <= _LONGEST else f"{self.name[: _LONGEST - 1]}…"
        named = f"{name}, {MOVED}" if self.title == MOVED else ", ".join(filter(None, (self.title, name)))
        return f"{named}{unit}{'; higher is better' if self.higher else ''}"

    @property
    def mark(self) -> str:
        """What is said beside the best one."""
        return "lowest score" if self.is_score else "best"

    @property
    def head(self) -> str:
        """What is said before the best one is named."""
        return "The lowest score" if self.is_score else f"The best by {self.name}"

    def loss(self, value: float) -> float:
        """Return a value such that lower is better; what is no number is worst."""
        return math.inf if math.isnan(value) else -value if self.higher else value

    def shown(self, value: float) -> str:
        """Return a value as a table shows it."""
        return f"{value:.2f}" if self.unit or abs(value) >= 0.1 or value == 0 else f"{value:.2g}"


SCORE = Criterion("score", title="loss and risk together")
FROM_UTILITY = (
    Criterion("within", "%", "higher", "estimates within their intervals"),
    Criterion("overlap", "", "higher", "overlap of intervals"),
    Criterion("changed", title="changed conclusions"),
)
"""The criteria that come from analyses, whichever these are: the measures of `Utility`."""
PMSE = Criterion("pMSE", title="distinguishing both files")


def ranking_words(rank: Criterion, axis: Criterion | None, least_k: int | None, below: int, of: int) -> str:
    """Return by what releases are ranked, where that is not the score, and which of them cannot be the best."""
    said = []
    if not rank.is_score:
        what = f", {rank.title}" if rank.title == MOVED else ""
        said.append(f"Ranked by {rank.name}{what}; {rank.better} is better.")
    if axis is not None:
        said.append(f"Efficient by {axis.name} ({axis.better} is better) and G_DR.")
    if least_k is not None:
        have = "has" if below == 1 else "have"
        said.append(f"{below} of {of} {have} k below {least_k}, and cannot be the best or efficient.")
    return " ".join(said)


def scoring_index(g_il: float, g_dr: float, x: Any = 0.5) -> float:
    """Weigh the loss of a release against its risk; lower is better.

    Parameters
    ----------
    g_il : float
        The overall loss, in percent (`loss_measures(...).g_il`).
    g_dr : float
        The overall risk, in percent (`disclosure_risk(...).g_dr`).
    x : float
        The weight of the loss, from 0 to 1.

    Returns
    -------
    float
        x · g_il + (1 − x) · g_dr

    References
    ----------
    B. J. Oommen, E. Fayyoumi: On utilizing association and interaction concepts for enhancing
    microaggregation in secure statistical databases. IEEE Trans. SMC-B 40(1), 2010, equation 8.

    Examples
    --------
    >>> import microagg as ma
    >>> ma.scoring_index(22.15, 31.88)
    27.015
    """
    x = check_between("x", x, 0.0, 1.0, "It is the weight of the loss; 0.5 weighs loss and risk equally.")
    return float(x * g_il + (1 - x) * g_dr)
