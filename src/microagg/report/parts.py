"""What a report holds, as plain values: what was found, with the words for it."""

from collections.abc import Mapping
from dataclasses import field, fields
from typing import Any, Literal, TypeVar

from microagg.base.frozen import frozen
from microagg.judge.parts import (
    ColumnLoss,
    Correlations,
    Distribution,
    GivenAway,
    JudgedDemands,
    JudgedGroups,
    JudgedResults,
    JudgedRisk,
    JudgedTree,
    LeftOut,
    Loss,
    RecodedColumn,
    RecordRisk,
    ResultLine,
    SizeCount,
    WorstGroup,
)
from microagg.report.alternatives import MapSection

Part = TypeVar("Part")

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
class Figure:
    """One number that judges the release, with what it takes to read it."""

    name: str
    symbol: str  # by which it is found
    value: float | None  # None: beyond what a float holds
    unit: str  # "%" or ""
    meaning: str
    better: str = "lower"


def worded(kind: type[Part], found: Any, **words: Any) -> Part:
    """Return a part of the judgement with the words that the page adds to it."""
    return kind(**{one.name: getattr(found, one.name) for one in fields(found)} | words)


@frozen(kw_only=True)
class SizeRow(SizeCount):
    """How many groups are of some size."""

    size: str


@frozen(kw_only=True)
class GroupsSection(JudgedGroups):
    """k promised and reached, and the groups behind it."""

    sizes: tuple[SizeRow, ...]


@frozen(kw_only=True)
class LeftOutSection(LeftOut):
    """Records that are not in the release."""

    text: str


@frozen(kw_only=True)
class LossRow(ColumnLoss):
    """What one masked column lost."""

    at: str = ""  # which quantile moved most
    own: str = ""  # what became of it in its own terms


@frozen()
class SpikeRow:
    """How many records, in percent, have the value of a column that most have."""

    column: str
    kind: str
    value: str
    before: float | None
    after: float | None
    change: float  # in points


@frozen(kw_only=True)
class LossSection(Loss):
    """What masking cost."""

    columns: tuple[LossRow, ...]
    meaning: str  # of what the loss is a share
    aside: str  # what columns of importance 0 lost, which is not in it; empty where there are none
    scale: str  # what the words mean
    bound_text: str  # how little any grouping could lose; empty in public
    mixed: bool  # whether there are columns that are no quantities
    in_own_terms: bool  # whether there is more to say of columns than the loss of numbers
    spikes: tuple[SpikeRow, ...]  # the largest change first; empty in public
    figures: tuple[Figure, ...]


@frozen(kw_only=True)
class DistributionPicture(Distribution):
    """One column in bins."""

    note: str = ""  # why nothing is drawn
    lost: str = ""


@frozen(kw_only=True)
class CorrelationsSection(Correlations):
    """Masked minus original correlations."""

    text: str


@frozen()
class ResultBlock:
    """The estimates of one analysis that are listed, the worst first."""

    analysis: str
    single: bool  # whether one is listed, whose name says the analysis too
    lines: tuple[ResultLine, ...]


@frozen(kw_only=True)
class ResultsSection(JudgedResults):
    """What researchers would find."""

    intro: str
    survived: str  # how many estimates, in a sentence or two; empty where nothing was analysed
    blocks: tuple[ResultBlock, ...]
    more: str  # what is not listed
    how: str  # what the model that distinguishes both files used


@frozen(kw_only=True)
class RecordsPicture(RecordRisk):
    """How the chance of being linked is spread over the records, in percent."""

    quantiles: tuple[tuple[str, float], ...]


@frozen(kw_only=True)
class RiskSection(JudgedRisk):
    """What an intruder could still do."""

    figures: tuple[Figure, ...]
    how: str  # keys, sets, sample, in words
    right: str  # what an intruder finds who links rightly
    error: str  # the standard error of linkage by some columns, in words
    records: RecordsPicture

    def value_of(self, symbol: str) -> float | None:
        """Return a figure by its symbol."""
        return next(figure.value for figure in self.figures if figure.symbol == symbol)


@frozen(kw_only=True)
class DiversityRow(GivenAway):
    """How varied a confidential column is among records with the same masked values."""

    text: str


@frozen()
class GoalRow:
    """What was asked of a confidential column, and what is reached."""

    column: str
    name: str
    asked: str
    reached: str
    meaning: str


@frozen(kw_only=True)
class WorstPicture(WorstGroup):
    """A confidential column in the worst group of records, beside the whole file."""

    column: str
    text: str


@frozen(kw_only=True)
class KeptSection(JudgedDemands):
    """What is demanded of confidential columns, how it is kept, and what that cost."""

    promise: tuple[str, ...]
    rows: tuple[GoalRow, ...]
    how: str
    cost: str  # empty in public
    pictures: tuple[WorstPicture, ...]  # none in public


@frozen()
class SourceSection:
    """Where the original came from, for the internal report."""

    facts: tuple[Fact, ...]


@frozen()
class ReportModel:
    """Everything that the page shows."""

    public: bool
    moments: str  # what of variation is kept: "none", "variance" or "covariance"
    title: str
    verdict: Verdict
    source: SourceSection | None
    done: tuple[Fact, ...]
    recoded: tuple[RecodedColumn, ...]
    versions: tuple[Fact, ...]
    groups: GroupsSection
    left_out: LeftOutSection
    loss: LossSection
    distributions: tuple[DistributionPicture, ...]
    not_drawn: tuple[str, ...]
    correlations: CorrelationsSection | None
    results: ResultsSection | None
    risk: RiskSection | None
    diversity: tuple[DiversityRow, ...]
    kept: KeptSection | None
    tree: JudgedTree | None
    map: MapSection | None
    checklist: tuple[Finding, ...]
    limits: tuple[str, ...]
