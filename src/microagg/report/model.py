"""Everything that the page shows, as plain data."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from microagg.judge import Judgement, judge, words
from microagg.judge.comparison import Comparison
from microagg.judge.parts import SourceFacts as SourceFacts
from microagg.judge.parts import WrittenFacts as WrittenFacts
from microagg.judge.topics import TOPICS
from microagg.judge.verdict import verdict
from microagg.report import alternatives
from microagg.report.parts import ReportModel as ReportModel
from microagg.report.parts import TopicSection
from microagg.work import Progress

if TYPE_CHECKING:
    from microagg.release import Release


def build(
    release: "Release[Any]",
    *,
    source: SourceFacts | None = None,
    written: WrittenFacts | None = None,
    comparison: Comparison | None = None,
    public: bool = False,
    progress: Progress | None = None,
) -> ReportModel:
    """Gather what a report on a release says.

    Parameters
    ----------
    release : Release[Any]
        With its original values: one that was stored has none.
    source : SourceFacts, optional
        Where the original came from.
    written : WrittenFacts, optional
        What was done to the released file when it was written; by default nothing.
    comparison : Comparison, optional
        Other releases of the same file, for the map of risk and loss.
    public : bool
        Leave out whatever could help an intruder: all figures that depend on original values, the loss of columns
        that one group could have made, small cells, extremes, the names of columns that were dropped, the checksum,
        the order of rows. Risk is left out whole: what drives it shows an intruder what to find out.
    progress : callable, optional
        Called as progress(done, in all), often; what it raises stops the work.

    Returns
    -------
    ReportModel

    Examples
    --------
    >>> import microagg as ma
    >>> from microagg.report import build
    >>> build(ma.protect(ma.datasets.survey(300, seed=0).select(["age", "tax"]), k=3)).verdict.headline[:48]
    'The promise holds: every record has the same mas'
    """
    found = judge(release, public=public, progress=progress)
    return put_into_words(found, source=source, written=written, comparison=comparison)


def put_into_words(
    judgement: Judgement,
    *,
    source: SourceFacts | None = None,
    written: WrittenFacts | None = None,
    comparison: Comparison | None = None,
) -> ReportModel:
    """Return what a report says of a judgement."""
    written = WrittenFacts() if written is None else written
    return ReportModel(
        public=judgement.public,
        moments=judgement.run.moments,
        title=words.title(source),
        verdict=verdict(judgement, written),
        source=None if judgement.public else words.source_facts(source),
        done=words.what_was_done(judgement),
        recoded=judgement.recoded,
        versions=words.versions(judgement.run),
        groups=judgement.groups,
        left_out=judgement.left_out,
        loss=judgement.loss,
        distributions=judgement.distributions,
        not_drawn=judgement.not_drawn,
        correlations=judgement.correlations,
        results=judgement.results,
        risk=judgement.risk,
        diversity=judgement.diversity,
        kept=judgement.kept,
        tree=judgement.tree,
        map=None if comparison is None or judgement.public else alternatives.section(comparison),
        topics=_sections(judgement),
        checklist=words.checklist(judgement, written),
        limits=words.limits(judgement),
    )


def _sections(judgement: Judgement) -> tuple[TopicSection, ...]:
    """Return what each topic says that has figures."""
    return tuple(
        TopicSection(one.name, one.title, tuple(one.paragraphs(found)), one.as_json(found))
        for one in TOPICS
        if (found := one.of(judgement)) is not None
    )


def to_json(model: ReportModel) -> str:
    """Return a report as JSON, for programs.

    Examples
    --------
    >>> import json, microagg as ma
    >>> from microagg.report import build, to_json
    >>> survey = ma.datasets.survey(300, seed=0).select(["age", "income"])
    >>> json.loads(to_json(build(ma.protect(survey, k=3))))["groups"]["reached"]
    3
    """
    return json.dumps(asdict(model), ensure_ascii=False, allow_nan=False, indent=1) + "\n"
