"""What a report holds, as plain values: text, numbers, and tuples of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

State = Literal["good", "look", "bad", "note"]
"""How a finding reads: as it should be, worth a look, wrong, or merely stated."""


@dataclass(frozen=True)
class SourceFacts:
    """Where the original file came from, as far as its reader knows.

    Attributes
    ----------
    name : str
        What the file is called. It heads the public report too; of a database's address the table's name alone does.
    kind : str
        CSV, Parquet, a database ...
    details : mapping
        More that the house should know: table, query, encoding. Never in the public report.
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


@dataclass(frozen=True)
class Fact:
    """Something that was done or found, and why or what it means."""

    name: str
    value: str
    why: str = ""


@dataclass(frozen=True)
class Finding:
    """A sentence with its weight."""

    state: State
    topic: str
    text: str


@dataclass(frozen=True)
class Verdict:
    """The page in a few sentences."""

    state: State  # "look": it holds, and there is something that it does not cover
    headline: str
    lines: tuple[Fact, ...]
    look_first: tuple[str, ...]


@dataclass(frozen=True)
class Figure:
    """One number that judges the release, with what it takes to read it."""

    name: str
    symbol: str  # by which it is found
    value: float | None  # None: beyond what a float holds
    unit: str  # "%" or ""
    meaning: str
    better: str = "lower"


@dataclass(frozen=True)
class SizeCount:
    """How many groups are of some size, or of a range of sizes."""

    size: str
    groups: int
    share: float  # of all records, in percent


@dataclass(frozen=True)
class Groups:
    """k promised and reached, and the groups behind it."""

    promised: int
    reached: int
    counted: int | None  # in the released file as it is now, whole records; None in public for per_column
    unique: int | None  # records whose combination is theirs alone; None in public
    per_column: bool
    records: int
    groups: int
    smallest: int
    largest: int | None  # None in public
    sizes: tuple[SizeCount, ...]


@dataclass(frozen=True)
class Alone:
    """Records with values that nobody else has, in the columns that are released as they are."""

    by_column: Mapping[str, int]  # without those that hold lists or mixed types, which cannot be counted
    together: int  # by all of those columns and the strata at once


@dataclass(frozen=True)
class LeftOut:
    """Records that are not in the release."""

    records: int | None  # None in public
    text: str


@dataclass(frozen=True)
class ColumnLoss:
    """What one masked column lost. In public the word alone, or that it is not told."""

    column: str
    word: str
    percent: float | None = None
    mean: float | None = None  # change, in original standard deviations
    deviation: float | None = None
    quantile: float | None = None  # the largest change of one, in the same units
    at: str = ""  # and which


@dataclass(frozen=True)
class Loss:
    """What masking cost."""

    word: str
    percent: float | None
    scale: str  # what the words mean
    figures: tuple[Figure, ...]
    columns: tuple[ColumnLoss, ...]
    told: int  # of how many columns the loss is told; in public maybe not of all


@dataclass(frozen=True)
class Distribution:
    """One column in bins: the share of records in each, in percent.

    The first and the last bin are open: they hold everything below the second edge and above the last but one.
    """

    column: str
    edges: tuple[float, ...]  # one more than there are bins; in public the outer two are drawn, not data
    before: tuple[float, ...]  # empty in public
    after: tuple[float, ...]
    beyond: float | None  # percent of the original records outside the edges; None in public
    note: str = ""  # why nothing is drawn
    lost: str = ""


@dataclass(frozen=True)
class Correlations:
    """Masked minus original correlations."""

    columns: tuple[str, ...]
    change: tuple[tuple[float, ...], ...]  # empty where there are too many to draw
    largest: tuple[tuple[str, str, float], ...]
    mean: float
    text: str


@dataclass(frozen=True)
class ColumnRisk:
    """What one column adds to the risk."""

    column: str
    driver: float | None  # percentage points of linkage
    dominated: int | None  # groups that fail the p % rule; None where it means nothing


@dataclass(frozen=True)
class RecordRisk:
    """How the chance of being linked is spread over the records, in percent."""

    edges: tuple[float, ...]
    shares: tuple[float, ...]  # of records
    quantiles: tuple[tuple[str, float], ...]
    bound: float | None  # 100 / k; None where k holds for single columns only


@dataclass(frozen=True)
class Risk:
    """What an intruder could still do."""

    figures: tuple[Figure, ...]
    keys: tuple[str, ...]  # the columns that the intruder is taken to know
    restricted: bool  # whether those are not all masked columns
    sampled: int | None  # how many records linkage was estimated on; None: all
    seed: int | None  # what they were drawn with
    standard_error: float  # of linkage, in percent
    how: str  # keys, sets, sample, in words
    records: RecordRisk
    columns: tuple[ColumnRisk, ...]
    dominance_percent: float
    n_groups: int

    def value_of(self, symbol: str) -> float | None:
        """Give a figure by its symbol."""
        return next(figure.value for figure in self.figures if figure.symbol == symbol)


@dataclass(frozen=True)
class DiversityFacts:
    """How varied a confidential column is within the records that look alike."""

    column: str
    distinct: int
    entropy: float
    t: float
    t_ordered: float | None
    uniform_groups: int  # with one value throughout, which gives it away
    uniform_records: int  # in those
    text: str


@dataclass(frozen=True)
class Tree:
    """The dependence tree by which the columns that form groups were chosen."""

    measure: str
    names: tuple[str, ...]
    edges: tuple[tuple[int, int, float | None], ...]  # the strongest first; None: infinite
    chosen: tuple[int, ...]
    text: str


@dataclass(frozen=True)
class CandidateFacts:
    """One of the releases that were compared."""

    method: str
    k: int
    il: float | None
    g_il: float | None
    rld: float | None
    g_dr: float | None
    score: float | None
    mark: str


@dataclass(frozen=True)
class Map:
    """The releases that were compared, by risk and loss."""

    candidates: tuple[CandidateFacts, ...]
    frontier: tuple[tuple[float, float], ...]
    text: str


@dataclass(frozen=True)
class Source:
    """Where the original came from, for the internal report."""

    facts: tuple[Fact, ...]


@dataclass(frozen=True)
class ReportModel:
    """Everything that the page shows."""

    public: bool
    title: str
    verdict: Verdict
    source: Source | None
    done: tuple[Fact, ...]
    versions: tuple[Fact, ...]
    groups: Groups
    left_out: LeftOut
    loss: Loss
    distributions: tuple[Distribution, ...]
    not_drawn: tuple[str, ...]
    correlations: Correlations | None
    risk: Risk | None
    diversity: tuple[DiversityFacts, ...]
    tree: Tree | None
    map: Map | None
    checklist: tuple[Finding, ...]
    limits: tuple[str, ...]
