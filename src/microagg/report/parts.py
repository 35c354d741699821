"""What a report holds, as plain values: what was found, with the words for it."""

from collections.abc import Mapping
from typing import Any

from microagg.base.frozen import frozen
from microagg.judge.parts import (
    Correlations,
    Distribution,
    Fact,
    Finding,
    JudgedGroups,
    JudgedRisk,
    JudgedTree,
    LeftOut,
    Loss,
    SourceSection,
    Verdict,
)
from microagg.judge.parts import SourceFacts as SourceFacts
from microagg.judge.parts import WrittenFacts as WrittenFacts
from microagg.judge.topics.confidential import GivenAway, JudgedDemands
from microagg.judge.topics.origin import RecodedColumn
from microagg.judge.topics.results import JudgedResults
from microagg.report.alternatives import MapSection


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
    groups: JudgedGroups
    left_out: LeftOut
    loss: Loss
    distributions: tuple[Distribution, ...]
    not_drawn: tuple[str, ...]
    correlations: Correlations | None
    results: JudgedResults | None
    risk: JudgedRisk | None
    diversity: tuple[GivenAway, ...]
    kept: JudgedDemands | None
    tree: JudgedTree | None
    map: MapSection | None
    topics: tuple[TopicSection, ...]
    checklist: tuple[Finding, ...]
    limits: tuple[str, ...]
