"""What a report holds, as plain values: what was found, with the words for it."""

from collections.abc import Mapping
from typing import Any

from microagg.base.frozen import frozen
from microagg.judge.parts import (
    ColumnLoss,
    Correlations,
    Distribution,
    Fact,
    Figure,
    Finding,
    JudgedGroups,
    JudgedRisk,
    JudgedTree,
    LeftOut,
    Loss,
    RecordRisk,
    SizeCount,
    State,
)
from microagg.judge.parts import SourceFacts as SourceFacts
from microagg.judge.parts import WrittenFacts as WrittenFacts
from microagg.judge.topics.confidential import DiversityRow, KeptSection
from microagg.judge.topics.origin import RecodedColumn
from microagg.judge.topics.results import ResultsSection
from microagg.report.alternatives import MapSection


@frozen()
class Verdict:
    """The page in a few sentences."""

    state: State  # "look": it holds, and there is something that it does not cover
    headline: str
    lines: tuple[Fact, ...]
    look_first: tuple[str, ...]
    findings: tuple[Finding, ...] = ()  # those and all others; empty in public
    alone_percent: float | None = None  # of the records, by all that is released; None in public


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


@frozen()
class SourceSection:
    """Where the original came from, for the internal report."""

    facts: tuple[Fact, ...]


@frozen()
class TopicSection:
    """What a topic says in a section of its own, and its figures."""

    name: str
    title: str  # empty: it has no section
    text: tuple[str, ...]
    figures: Mapping[str, Any]


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
    topics: tuple[TopicSection, ...]
    checklist: tuple[Finding, ...]
    limits: tuple[str, ...]
