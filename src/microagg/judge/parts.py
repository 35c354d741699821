"""The parts of a judgement: numbers, names as they may be displayed, sentences, and tuples of them."""

import math
from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from microagg.base.frozen import ReadOnly, frozen
from microagg.judge.text import sentence
from microagg.measures.anonymity import RebuiltUnits as RebuiltUnits
from microagg.measures.columns import ColumnChange as ColumnChange
from microagg.measures.measure import HIGHER, Measure


def finite(value: float) -> float | None:
    """Return a plain float that JSON can hold, or None."""
    return float(value) if math.isfinite(value) else None


State = Literal["good", "look", "bad", "note"]
"""How a finding reads: as it should be, worth a look, wrong, or merely stated."""


@frozen()
class SourceFacts:
    """Where the original file came from, as far as its reader knows.

    Attributes
    ----------
    name : str
        What the file is called. It heads the public report too; of a database's address the table's name alone does.
    kind : str
        CSV, Parquet, a database ...
    details : mapping
        More for the internal report: table, query, encoding. Never in the public one.
    sha256 : str or None
        Of the file's bytes. Never in the public report, where it would let an intruder test a guess at the file.
    records, columns : int or None
        As read.

    Examples
    --------
    >>> from microagg.report import SourceFacts
    >>> SourceFacts("survey.csv", "CSV", {"separator": "comma"}).kind
    'CSV'
    """

    name: str
    kind: str
    details: Mapping[str, str] = field(default_factory=dict)
    sha256: str | None = None
    records: int | None = None
    columns: int | None = None


@frozen()
class WrittenFacts:
    """How the released file was written, as far as that is not seen in `Release.data`.

    Attributes
    ----------
    reordered : bool or None
        Whether the rows were sorted by their released values; None: the release was not written yet.
    excel_safe : bool
        Whether an apostrophe was put before text that a spreadsheet would take for a formula.
    kind : str or None
        The kind of file, such as "csv" or "stata" (`Source.kind` has the words); None: nobody knows yet.

    Examples
    --------
    >>> from microagg.report import WrittenFacts
    >>> WrittenFacts(reordered=True)
    WrittenFacts(reordered=True, excel_safe=False, kind=None)
    """

    reordered: bool | None = None
    excel_safe: bool = False
    kind: str | None = None


@frozen()
class Fact:
    """Something that was done or found, and why or what it means."""

    name: str
    value: str
    why: str = ""


@frozen()
class Finding:
    """Something that was found, with its weight."""

    state: State
    topic: str
    text: str  # what it means and what can be done
    short: str = ""  # the same in one line, for a terminal


@frozen()
class Verdict:
    """The page in a few sentences."""

    state: State  # "look": it holds, and there is something that it does not cover
    headline: str
    lines: tuple[Fact, ...]
    look_first: tuple[str, ...]
    findings: tuple[Finding, ...] = ()  # those and all others; empty in public
    alone_percent: float | None = None  # of the records, by all that is released; None in public


@frozen()
class SourceSection:
    """Where the original came from, for the internal report."""

    facts: tuple[Fact, ...]


@frozen()
class Figure:
    """One number that judges the release, with what it takes to read it."""

    name: str
    symbol: str  # by which it is found
    value: float | None  # None: beyond what a float holds
    unit: str  # "%" or ""
    meaning: str
    better: str = "lower"


def figure(measure: Measure, more: str = "") -> Figure:
    """Return a measure as the page shows it."""
    return Figure(
        name=measure.title or measure.name,
        symbol=measure.name,
        value=finite(measure.value),
        unit=measure.unit,
        meaning=sentence([measure.explained, more, HIGHER if measure.better == "higher" else ""]),
        better=measure.better,
    )


@frozen()
class SizeCount:
    """How many groups are of some size, or of a range of sizes."""

    least: int
    most: int
    groups: int
    share: float  # of all records, in percent
    size: str  # or a range of sizes, in words


@frozen()
class UnitFacts:
    """The persons, households or firms that rows belong to, by whom k is counted."""

    named: str | None  # the column; None in public
    different: int | None  # the fewest that share their masked values; None in public
    share: float | None  # most of the rows of one combination that one of them has, in percent; None in public
    in_part: bool  # whether none may have more than 1/k of them
    whole: bool  # whether units are released by numbers, with all their rows the same
    merged: tuple[int, float] | None = None  # rows of one group that is most of its stratum, and its percentage
    once: tuple[str, ...] = ()  # columns that are masked once for each unit
    loss_by_row: float | None = None  # in percent, if they were not; None in public
    loss_once: float | None = None
    rebuilt: RebuiltUnits | None = None  # by columns released unchanged; None in public, and where that is not counted
    joined: int = 0  # spellings that were taken for the same unit as another; 0 in public


@frozen()
class JudgedGroups:
    """k promised and reached, and the groups behind it."""

    promised: int
    reached: int
    counted: int | None  # counted now in the released file, whole records; None in public for per_column
    unique: int | None  # records whose combination no other record has; None in public
    per_column: bool
    records: int
    groups: int
    smallest: int
    largest: int | None  # None in public
    sizes: tuple[SizeCount, ...]  # empty in public, and where each column has its own groups
    units: UnitFacts | None = None  # where a unit is named


@frozen()
class LeftOut:
    """Records that are not in the release."""

    records: int | None  # None in public, unless there are none
    read: int | None  # None in public
    percent: float | None  # in public a whole number, and None where they are few
    below: int | None = None  # in public, where they are few: that there are fewer than so many
    text: str = ""  # in a sentence or two


@frozen()
class Strata:
    """The strata that groups do not cross."""

    count: int
    smallest: int | None  # None in public
    largest: int | None  # None in public
    small: int | None  # how many hold fewer than ten times k records; None in public


@frozen()
class Alone(ReadOnly):
    """Records with unique values, in the columns that are released unchanged. Empty in public."""

    by_column: Mapping[str, int] = field(default_factory=dict)  # without those that hold lists or mixed types
    together: int = 0  # by all of those columns and the strata at once
    by_all: int = 0  # by everything that is released: masked columns, strata, and those columns
    few_units: Mapping[str, int] = field(default_factory=dict)  # columns of units: groups with fewer than k
    amounts: Mapping[str, int] = field(default_factory=dict)  # columns with a spike: groups with one amount off it
    rare: Mapping[str, int] = field(default_factory=dict)  # masked columns: released categories of fewer than k
    medians: Mapping[str, int] = field(default_factory=dict)  # columns: cells that are the record's own by them


@frozen()
class MissingValues:
    """What became of missing values in the masked columns. In public only whether any are released."""

    cells: int | None = None  # missing in the release; None in public
    any_released: bool = False
    patterns: int | None = None  # different sets of missing columns; None in public, and where they did not matter
    moved: int | None = None  # records of a pattern rarer than k, which joined another; None in public
    filled: int | None = None  # None in public
    blanked: int | None = None  # None in public


@frozen()
class ColumnLoss:
    """What one masked column lost. In public the word alone, or that it is not shown."""

    column: str
    word: str
    kind: str = "number"
    percent: float | None = None
    mean: float | None = None  # change, in original standard deviations
    deviation: float | None = None
    quantile: float | None = None  # the largest change of one, in the same units
    quantile_at: float | None = None  # and of which, in percent
    change: ColumnChange | None = None  # in the column's own terms; None in public
    step: float | None = None  # to multiples of which it was rounded; None in public, and where it was not
    rounding_moved: float | None = None  # how far its total moved by that, in percent; None in public
    at: str = ""  # which quantile moved most
    own: str = ""  # what became of it in its own terms


@frozen()
class Bound:
    """How little any grouping at k could lose, in percent, beside what this one loses in the same terms."""

    percent: float | None  # None where it was not found
    reached: float | None
    of: str  # "information loss", or "squared distances" of records as points
    text: str  # both in a sentence, or why it was not found; empty where nobody needs to read it


@frozen()
class SpikeRow:
    """How many records, in percent, have the value of a column that most have."""

    column: str
    kind: str
    value: str
    before: float | None
    after: float | None
    change: float  # in points


@frozen()
class Loss:
    """What masking cost."""

    word: str
    percent: float | None  # None in public
    columns: tuple[ColumnLoss, ...]
    told: int  # of how many columns the loss is shown; in public maybe not of all
    bound: Bound | None = None  # None in public
    meaning: str = ""  # of what the loss is a share
    aside: str = ""  # what columns of importance 0 lost, which is not in it; empty where there are none
    scale: str = ""  # what the words mean
    bound_text: str = ""  # how little any grouping could lose; empty in public
    mixed: bool = False  # whether there are columns that are no quantities
    in_own_terms: bool = False  # whether there is more to say of columns than the loss of numbers
    spikes: tuple[SpikeRow, ...] = ()  # the largest change first; empty in public
    figures: tuple[Figure, ...] = ()


@frozen()
class Bar:
    """How many records, in percent, have one value, or one of some."""

    of: str  # "category", "spike", "missing" or "others"
    label: str  # a category as it may be displayed, or the spike; how many others there are
    before: float | None  # None in public
    after: float


@frozen()
class Distribution:
    """One column in bins: the share of records in each, in percent.

    The first and the last bin are open: they hold everything below the second edge and above the last but one.
    """

    column: str
    edges: tuple[float, ...]  # one more than there are bins; in public the outer two are drawn, not data
    before: tuple[float, ...]  # empty in public
    after: tuple[float, ...]
    beyond: float | None  # percent of the original records outside the edges; None in public
    undrawn: str = ""  # why there are no bins: "constant", "nearly constant", "few"
    lost_percent: float | None = None  # None in public
    marks: tuple[str, ...] = ()  # what the borders are called, where they are dates; empty where nobody may know
    bars: tuple[Bar, ...] = ()  # categories, or what stands apart from the bins: the spike, and what is missing
    kind: str = "number"
    note: str = ""  # why nothing is drawn
    lost: str = ""


@frozen()
class Correlations:
    """Masked minus original correlations."""

    columns: tuple[str, ...]
    change: tuple[tuple[float, ...], ...]  # empty where there are too many to draw
    largest: tuple[tuple[str, str, float], ...]
    mean: float
    text: str = ""  # how far one moved on average, in words


@frozen()
class ColumnRisk:
    """What one column adds to the risk."""

    column: str
    driver: float | None  # percentage points of linkage
    dominated: int | None  # groups that fail the p % rule; None where it means nothing


@frozen()
class RecordRisk:
    """How the chance of being linked is spread over the records, in percent."""

    edges: tuple[float, ...]
    shares: tuple[float, ...]  # of records
    chances: tuple[tuple[float, float], ...]  # up to which a share of the records, in percent, has its chance
    bound: float | None  # 100 / k; None where k holds for single columns only
    quantiles: tuple[tuple[str, float], ...] = ()  # the chances, with the share of the records in words


@frozen()
class JudgedLinkage:
    """By what, and on what, records were linked."""

    sets: int  # of keys that were tried
    of_sets: int  # that there are
    sets_error: float  # the standard error of trying only some


@frozen()
class ConstantsFound:
    """How many units have a value that means of groups disclose, in columns that are constant in units."""

    columns: tuple[str, ...]
    units: int
    solved: int | None  # None: there are too many to compute it


@frozen()
class JudgedRisk:
    """What an intruder could still do."""

    keys: tuple[str, ...]  # the columns that the intruder is assumed to know
    restricted: bool  # whether those are not all masked columns
    units: int | None  # how many whole units there are, where these are linked by all their rows; None: records are
    sampled: int | None  # how many records, or whole units, linkage was estimated on; None: all
    seed: int | None  # what they were drawn with
    standard_error: float  # of linkage, in percent
    full_error: float  # of linkage by all keys
    linkage: JudgedLinkage
    records: RecordRisk
    columns: tuple[ColumnRisk, ...]
    dominance_percent: float
    n_groups: int
    constants: ConstantsFound | None = None  # None: no unit, or no masked column that is constant in units
    figures: tuple[Figure, ...] = ()
    how: str = ""  # keys, sets, sample, in words
    right: str = ""  # what an intruder finds who links rightly
    error: str = ""  # the standard error of linkage by some columns, in words

    def value_of(self, symbol: str) -> float | None:
        """Return a figure by its symbol."""
        return next(figure.value for figure in self.figures if figure.symbol == symbol)


@frozen()
class JudgedTree:
    """The dependence tree by which the columns that form groups were chosen."""

    measure: str
    names: tuple[str, ...]
    edges: tuple[tuple[int, int, float | None], ...]  # the strongest first; None: infinite
    chosen: tuple[int, ...]
    text: str  # the rule in words
    ties: int = 1  # choices as good by the tree
    tried: tuple[tuple[tuple[str, ...], float | None], ...] = ()  # the choices, and what each loses, in percent
    used: bool = True  # whether groups were formed on the chosen columns

    @property
    def degrees(self) -> list[tuple[str, int]]:
        """How many edges end at each column, the most first."""
        ends = [end for first, second, _ in self.edges for end in (first, second)]
        return sorted(((name, ends.count(j)) for j, name in enumerate(self.names)), key=lambda one: -one[1])
