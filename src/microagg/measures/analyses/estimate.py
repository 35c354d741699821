"""Estimates before and after masking, and what is said of them."""

import html
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from microagg.base.frozen import frozen
from microagg.measures.analyses.analysis import Analysis, listed
from microagg.measures.measure import Measure, as_text

Interval = tuple[float, float]

MOVED = "moved at most, in half intervals"
"""What the figure of an analysis is by which releases are ranked, in a few words."""

_MOST_DIGITS = 12  # decimals that an estimate is shown with


@frozen()
class Estimate:
    """One figure of an analysis, of the original and of the masked file. Not for publication.

    Attributes
    ----------
    analysis : str
        The name of the analysis.
    kind : str
    domain : tuple of (column, category)
        Empty where it is of all records.
    term : str
        Which figure: a category, a coefficient; empty where the analysis has one.
    before, after : float
        NaN where there is none, as of a domain without records.
    interval_before, interval_after : tuple of two floats
    unit : str
        "%" or "".
    tested : bool
        Whether users ask if it differs from 0; else its sign and significance are no conclusions, as of a count.

    Examples
    --------
    >>> import microagg as ma
    >>> one = ma.Estimate("Poverty rate", "poverty", (), "", 14.4, 13.9, (13.8, 15.1), (13.2, 14.5), "%")
    >>> one
    Poverty rate 14.4 → 13.9 %: within its interval.
    >>> round(one.overlap, 3), round(one.difference, 4)
    (0.538, -0.0347)
    """

    analysis: str
    kind: str
    domain: tuple[tuple[Any, str], ...]
    term: str
    before: float
    after: float
    interval_before: Interval
    interval_after: Interval
    unit: str = ""
    tested: bool = True

    @property
    def difference(self) -> float:
        """The difference as a share of the size of `before`; infinite where only that is 0."""
        if self.before == self.after:
            return 0.0
        return (self.after - self.before) / abs(self.before) if self.before else math.copysign(math.inf, self.after)

    @property
    def overlap(self) -> float:
        """How far the two intervals overlap: 1 where they are the same, 0 where they are apart; NaN without intervals.

        The mean of the two shares of overlap (Karr, Kohnen, Oganian, Reiter and Sanil, The American Statistician 60,
        2006): ½ · (o / (U − L) + o / (U′ − L′)) with o = min(U, U′) − max(L, L′), or 0 if that is negative. An interval
        of length 0 counts as covered where it lies in the other.
        """
        (low, high), (lower, higher) = self.interval_before, self.interval_after
        if any(map(math.isnan, (low, high, lower, higher))):
            return math.nan
        common = min(high, higher) - max(low, lower)
        if common < 0:
            return 0.0
        return sum(common / length if length > 0 else 1.0 for length in (high - low, higher - lower)) / 2.0

    @property
    def within(self) -> bool:
        """Whether `after` lies in the interval of the original."""
        return self.interval_before[0] <= self.after <= self.interval_before[1]

    @property
    def lost(self) -> bool:
        """Whether the original has it and the masked file does not."""
        return math.isnan(self.after) and not math.isnan(self.before)

    @property
    def moved(self) -> float:
        """How far it moved: |after − before| over half the width of the original's interval; 1 is its edge.

        Infinite where it is lost by masking, or moved at all though its interval has no width; 0 where the original has
        no interval to judge by, and it is not lost. It is never NaN.
        """
        if self.lost:
            return math.inf
        if not self.has_interval or self.before == self.after:
            return 0.0
        half = (self.interval_before[1] - self.interval_before[0]) / 2.0
        moved = abs(self.after - self.before) / half if half > 0 else math.inf
        return math.inf if math.isnan(moved) else moved

    @property
    def sign_changed(self) -> bool:
        """Whether one is above 0 and the other below, of what is tested."""
        return self.tested and self.before * self.after < 0

    @property
    def significance_changed(self) -> bool:
        """Whether one interval holds 0 and the other does not, of what is tested."""
        before, after = (_holds_zero(own) for own in (self.interval_before, self.interval_after))
        return self.tested and before is not None and after is not None and before != after

    @property
    def conclusion_changed(self) -> bool:
        """Whether the significance changed, or the sign of what was significant."""
        return self.significance_changed or (self.sign_changed and not _holds_zero(self.interval_before))

    @property
    def has_interval(self) -> bool:
        """Whether the original has an interval to judge by."""
        return not any(map(math.isnan, self.interval_before))

    @property
    def part(self) -> str:
        """Which figure of its analysis it is, in words; empty where that has one."""
        where = [f"{name} = {value}" for name, value in self.domain]
        return ", ".join([self.term, *where] if self.term else where)

    @property
    def what(self) -> str:
        """What is estimated, in words."""
        columns = listed(tuple(name for name, _ in self.domain))
        what = self.analysis.removesuffix(f" by {columns}") if columns else self.analysis
        return f"{what} ({self.part})" if self.part else what

    @property
    def written(self) -> tuple[str, str, str, str]:
        """What stands before and after, and the ends of the interval before, with the digits that matter."""
        digits = _decimals(self)
        found = self._shown(digits)
        while digits is not None and digits < _MOST_DIGITS and not self.within and found[1] in found[2:]:
            digits += 1  # what is outside must not look as if it were the end of the interval
            found = self._shown(digits)
        return found

    def _shown(self, digits: int | None) -> tuple[str, str, str, str]:
        before, after, low, high = (
            "–" if math.isnan(value) else _shown(value, digits)
            for value in (self.before, self.after, *self.interval_before)
        )
        return before, after, low, high

    @property
    def sentence(self) -> str:
        """What became of it, in a sentence."""
        unit = f" {self.unit}" if self.unit else ""
        if math.isnan(self.before) or math.isnan(self.after):
            missing = "neither file has it" if math.isnan(self.before) and math.isnan(self.after) else ""
            missing = missing or ("only the masked file has it" if math.isnan(self.before) else "lost by masking")
            return f"{self.what}: {missing}."
        before, after, low, high = self.written
        moved = f"{self.what} {before} → {after}{unit}"
        if not self.has_interval:
            return f"{moved}: it has no interval, so it cannot be judged."
        judged = "within its interval" if self.within else f"outside its interval of {low} to {high}{unit}"
        if self.sign_changed and not _holds_zero(self.interval_before):
            judged += "; its sign changed"
        if self.significance_changed:
            is_significant = not _holds_zero(self.interval_after)
            judged += "; significant only after masking" if is_significant else "; no longer significant"
        return f"{moved}: {judged}."

    def row(self) -> dict[str, Any]:
        """Return all of it as plain values, for a table; NaN where there is none."""
        return {
            "analysis": self.analysis,
            "kind": self.kind,
            "domain": ", ".join(f"{name} = {value}" for name, value in self.domain),
            "term": self.term,
            "before": self.before,
            "after": self.after,
            "before_low": self.interval_before[0],
            "before_high": self.interval_before[1],
            "after_low": self.interval_after[0],
            "after_high": self.interval_after[1],
            "difference": self.difference,
            "overlap": self.overlap,
            "within": self.within,
            "sign_changed": self.sign_changed,
            "significance_changed": self.significance_changed,
            "unit": self.unit,
        }

    def __repr__(self) -> str:
        return self.sentence


def _holds_zero(interval: Interval) -> bool | None:
    return None if any(map(math.isnan, interval)) else interval[0] <= 0.0 <= interval[1]


def _decimals(estimate: Estimate) -> int | None:
    """Return how many decimals to show: the first digits of the interval's half; None where that says nothing."""
    half = (estimate.interval_before[1] - estimate.interval_before[0]) / 2.0
    if not (half > 0 and math.isfinite(half)):
        return None
    digits = -math.floor(math.log10(half))
    return min(_MOST_DIGITS, max(1, digits) if estimate.unit == "%" else max(0, digits + 1))


def _shown(value: float, decimals: int | None) -> str:
    if decimals is None:
        return f"{value:.6g}"
    return f"{value:.{decimals}f}" if abs(value) < 1e15 else f"{value:.6g}"


def worst_first(one: Estimate) -> tuple[float, float]:
    """Order estimates: first those whose intervals overlap least, and of those the one that moved most."""
    moved = abs(one.difference)
    overlap = -1.0 if one.lost else one.overlap
    return (2.0 if math.isnan(overlap) else overlap), (0.0 if math.isnan(moved) else -moved)


@frozen()
class Judged:
    """One analysis with its estimates.

    Attributes
    ----------
    analysis : Analysis
    estimates : tuple of Estimate
    left_out : tuple of two ints
        Records that lack a value it needs, before and after.
    clustered : tuple of two bools
        Whether the intervals before and after are clustered by unit.
    """

    analysis: Analysis
    estimates: tuple[Estimate, ...]
    left_out: tuple[int, int]
    clustered: tuple[bool, bool]

    @property
    def ordered(self) -> tuple[Estimate, ...]:
        """Its estimates, the worst first."""
        return tuple(sorted(self.estimates, key=worst_first))

    @property
    def worst(self) -> Estimate:
        """The estimate whose intervals overlap least; of those, the one that moved most."""
        return self.ordered[0]

    @property
    def moved(self) -> float:
        """How far its estimates moved, at most: the largest `Estimate.moved`. Lower is better.

        Only estimates count that have an interval before masking or are lost; infinite where there is none of them, as
        nothing can then be said. Releases are ranked by it (`compare(rank=...)`).
        """
        return max((one.moved for one in self.estimates if one.has_interval or one.lost), default=math.inf)

    @property
    def sentence(self) -> str:
        """What became of it, in a sentence or two."""
        if len(self.estimates) == 1:
            return self.estimates[0].sentence
        if not self.estimates:
            return f"{self.analysis.name}: no record has all the values that it needs."
        judged = [one for one in self.estimates if one.has_interval]
        inside = sum(one.within for one in judged)
        name = self.analysis.name
        return f"{name}: {inside} of {len(judged)} figures are within their intervals. Worst: {self.worst.sentence}"


def farthest(analyses: Iterable[Judged]) -> list[Estimate]:
    """Return of each analysis what moved most, if it is lost or its intervals before and after are apart.

    One that is lost comes first, and the others last: a rare category is lost in every analysis that has it.
    """
    found = []
    for judged in analyses:
        apart = [one for one in judged.estimates if _has_width(one) and (one.lost or one.overlap == 0)]
        found += [max(apart, key=lambda one: one.moved)] if apart else []
    lost = [one for one in found if one.lost]
    return [*lost[:1], *sorted((one for one in found if not one.lost), key=lambda one: -one.moved), *lost[1:]]


def _has_width(one: Estimate) -> bool:
    """Return whether the original has an interval that can be compared; that of rounded values may have no width."""
    return one.has_interval and one.interval_before[1] > one.interval_before[0]


@frozen()
class Utility:
    """Whether the results of analyses survive masking. Not for publication: it holds estimates of the original.

    Attributes
    ----------
    analyses : tuple of Judged
        Each with its `analysis`, `estimates`, `worst`, `sentence`, and records `left_out` before and after.
    level : float
        Of the intervals.

    Examples
    --------
    >>> import microagg as ma
    >>> survey = ma.datasets.survey(300, seed=0)
    >>> masked = ma.protect(survey, k=3, quasi=["age", "income"], rest="keep").data
    >>> ma.utility(survey, masked, [ma.Analysis("mean", "income"), ma.Analysis("gini", "income")])
    Results of 2 analyses after masking
      within  100 %    2 of 2 estimates are within the 95 % intervals of the original. Higher is better.
      ...
    """

    analyses: tuple[Judged, ...]
    level: float = 0.95

    @property
    def estimates(self) -> tuple[Estimate, ...]:
        """All estimates, analysis by analysis."""
        return tuple(one for judged in self.analyses for one in judged.estimates)

    @property
    def judged(self) -> tuple[Estimate, ...]:
        """The estimates that have an interval before masking to judge by."""
        return tuple(one for one in self.estimates if one.has_interval)

    @property
    def n_within(self) -> int:
        """How many of those are within their intervals."""
        return sum(one.within for one in self.judged)

    @property
    def changed(self) -> tuple[Estimate, ...]:
        """Those whose conclusion changed, the worst first."""
        return tuple(sorted((one for one in self.judged if one.conclusion_changed), key=worst_first))

    def worst(self, most: int) -> list[Estimate]:
        """Return the worst estimate of each analysis, and the worst of all others, as far as there is room."""
        ordered = [judged.ordered for judged in self.analyses]
        others = sorted((one for own in ordered for one in own[1:]), key=worst_first)
        chosen = {id(one) for one in [*(own[0] for own in ordered if own), *others][:most]}
        return [one for own in ordered for one in own if id(one) in chosen]

    def __iter__(self) -> Iterator[Estimate]:
        return iter(self.estimates)

    def __len__(self) -> int:
        return len(self.estimates)

    def __getitem__(self, name: str) -> Judged:
        """Return an analysis by its name."""
        found: Mapping[str, Judged] = {one.analysis.name: one for one in reversed(self.analyses)}
        return found[name]

    def rows(self) -> list[dict[str, Any]]:
        """Return all estimates as plain values: any dataframe library makes a table of them."""
        return [one.row() for one in self.estimates]

    @property
    def sentences(self) -> tuple[str, ...]:
        """What became of each analysis."""
        return tuple(one.sentence for one in self.analyses)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a reader must know of the intervals and of records that were left out."""
        found = []
        units = {one.analysis.unit for one in self.analyses if one.clustered[0] != one.clustered[1]}
        if units:
            names = ", ".join(sorted(map(repr, units)))
            found.append(f"Intervals after masking are not clustered: the masked file has no column {names}.")
        lacking = [(*one.left_out, one.analysis.name) for one in self.analyses if any(one.left_out)]
        if lacking:
            counts = "; ".join(f"{name}: {before} before masking, {after} after it" for before, after, name in lacking)
            found.append(f"Analyses leave out records with a missing value. Number of records left out: {counts}.")
        return tuple(found)

    @property
    def measures(self) -> tuple[Measure, ...]:
        """How much survived, over all estimates that have an interval before masking."""
        judged, inside = self.judged, self.n_within
        if not judged:
            return ()
        overlaps = [0.0 if math.isnan(one.overlap) else one.overlap for one in judged]
        changed, n = len(self.changed), len(judged)
        return (
            Measure(
                "within",
                100.0 * inside / n,
                "higher",
                (0.0, 100.0),
                f"{inside} of {n} estimates are within the {100 * self.level:g} % intervals of the original.",
                "%",
                title="estimates within their intervals",
                of="loss",
            ),
            Measure(
                "overlap",
                sum(overlaps) / n,
                "higher",
                (0.0, 1.0),
                "How far intervals before and after overlap, on average.",
                title="overlap of intervals",
                of="loss",
            ),
            Measure(
                "changed",
                float(changed),
                "lower",
                (0.0, float(n)),
                "Estimates whose significance changed, or that were significant and changed their sign.",
                title="changed conclusions",
                of="loss",
            ),
        )

    @property
    def moved(self) -> tuple[Measure, ...]:
        """How far the estimates of each analysis moved, at most, by its name: the figures that releases are ranked by.

        1 is the edge of the original's interval (see `Judged.moved`). Analyses of one name count as one.
        """
        found: dict[str, float] = {}
        for one in self.analyses:
            found[one.analysis.name] = max(one.moved, found.get(one.analysis.name, 0.0))
        meaning = "The largest change of an estimate, in half widths of the original interval: 1 is its edge."
        return tuple(
            Measure(name, value, "lower", (0.0, math.inf), meaning, title=MOVED, of="loss")
            for name, value in found.items()
        )

    def __repr__(self) -> str:
        head = as_text(self._title, self.measures) if self.measures else self._title
        return "\n".join([head, *(f"  {one}" for one in (*self.sentences, *self.remarks))])

    def _repr_html_(self) -> str:
        heads = ("", "before", "after", "interval before", "overlap", "")
        rows = "".join(_html_row(one) for one in self.estimates)
        head = "".join(f"<th>{one}</th>" for one in heads)
        return (
            f"<table><caption style='text-align:left'>{html.escape(self._title)}</caption>"
            f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        )

    @property
    def _title(self) -> str:
        return f"Results of {len(self.analyses)} analyses after masking"


def _html_row(one: Estimate) -> str:
    before, after, low, high = one.written
    cells = [before, after, f"{low} to {high}", f"{one.overlap:.2f}", "within" if one.within else "outside"]
    shown = "".join(f"<td style='text-align:right'>{html.escape(cell)}</td>" for cell in cells)
    return f"<tr><th style='text-align:left'>{html.escape(one.what)}</th>{shown}</tr>"
