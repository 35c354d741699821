"""What papers say of time in words ("almost double"), judged by ratios measured within one run.

Seconds change from run to run, and so do ratios. So `RESULTS.md` has a word only, "yes" or "no". The limits are wide
themselves, and a ratio that lies within `MARGIN` of a limit gives no word, and the verdict "not to be had". The ratio
that was measured and the limits stand in `TIMES.md`, which is never compared. What the paper's own seconds give does
not change, and stands in both.

The papers give no limits. Ours were set after the first measurements, so that a word seldom changes from run to run;
another limit may give another word, so read the ratio.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

MARGIN = 1.1
ALMOST_DOUBLE, ALMOST_TRIPLE = (1.7, 2.3), (2.55, 3.45)  # 15 % off, to either side
NO_END = float("inf")


@dataclass(frozen=True)
class Claim:
    """A claim and the ratio (or the seconds) measured for it; it holds between the two limits."""

    where: str
    what: str
    ours: float
    limits: tuple[float, float]
    paper: float | None = None

    @property
    def word(self) -> str | None:
        """Return "yes" or "no"; None when the ratio is too near to a limit."""
        low, high = self.limits
        if low * MARGIN <= self.ours <= high / MARGIN:
            return "yes"
        return "no" if self.ours <= low / MARGIN or self.ours >= high * MARGIN else None

    @property
    def reason(self) -> str:
        """Return what RESULTS.md says under *why*: nothing that changes with the machine."""
        text = "" if self.word else "too near to tell; "
        text += "what was measured stands in TIMES.md"
        return text if self.paper is None else f"{text}; by the paper's own seconds {self.paper:.2f}"


def least_seconds(jobs: Mapping[str, Callable[[], object]], turns: int = 5) -> dict[str, float]:
    """Return the least seconds of each job, all run in turns, so that a busy moment of the machine meets all alike."""
    found = dict.fromkeys(jobs, NO_END)
    for turn in range(turns + 1):
        for name, job in jobs.items():
            began = time.perf_counter()
            job()
            if turn:  # the first turn compiles, and counts for nothing
                found[name] = min(found[name], time.perf_counter() - began)
    return found


def lines(claims: list[Claim]) -> list[list[str]]:
    """Return the table of claims for TIMES.md, its head first; empty when there are none."""
    if not claims:
        return []
    table = [["claim", "holds between", "by the paper's own seconds", "ours", "holds"]]
    for c in claims:
        low, high = c.limits
        between = f"{low:g} and {high:g}" if high < NO_END else f"{low:g} and more"
        paper = "" if c.paper is None else f"{c.paper:.2f}"
        table.append([f"{c.where}: {c.what}", between, paper, f"{c.ours:.3g}", c.word or "too near to tell"])
    return table
