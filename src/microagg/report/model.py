"""Everything that the page shows, as plain data."""

import json
from dataclasses import asdict

from microagg.report import figures, words
from microagg.report.figures import Compared, Judged
from microagg.report.parts import Alone
from microagg.report.parts import ReportModel as ReportModel
from microagg.report.parts import SourceFacts as SourceFacts
from microagg.report.public import public_change_of_correlations, public_loss_of
from microagg.report.verdict import verdict


def build(
    release: Judged,
    *,
    source: SourceFacts | None = None,
    comparison: Compared | None = None,
    public: bool = False,
) -> ReportModel:
    """Gather what a report on a release says.

    Parameters
    ----------
    release : Release
        With its original values: one that was stored has none.
    source : SourceFacts, optional
        Where the original came from.
    comparison : Comparison, optional
        Other releases of the same file, for the map of risk and loss.
    public : bool
        Leave out whatever could help an intruder: all figures that depend on original values, the loss of columns
        that one group could have made, small cells, extremes, the names of columns that were dropped, the checksum,
        the order of rows. Risk is left out whole: what drives it tells an intruder what to find out.

    Returns
    -------
    ReportModel

    Examples
    --------
    >>> import microagg as ma
    >>> from microagg.report import build
    >>> build(ma.protect(ma.datasets.survey(300, seed=0).select(["age", "income"]), k=3)).verdict.headline
    'The promise holds: every record shares its masked values with at least 2 others.'
    """
    groups = figures.groups_of(release, public)
    correlations = None if public else figures.correlations_of(release)
    moved = public_change_of_correlations(release) if public else correlations.text if correlations else ""
    loss = public_loss_of(release) if public else figures.loss_of(release)
    risk = None if public else figures.risk_of(release)
    diversity = () if public else figures.diversity_of(release)
    drawn, others = figures.distributions_of(release, public)
    alone = Alone({}, 0) if public else figures.standing_alone(release)
    return ReportModel(
        public=public,
        title=words.title(source),
        verdict=verdict(release, groups, loss, moved, risk, diversity, alone, public),
        source=None if public else words.source_facts(source),
        done=words.what_was_done(release, public),
        versions=words.versions(release),
        groups=groups,
        left_out=words.left_out(release, public),
        loss=loss,
        distributions=drawn,
        not_drawn=others,
        correlations=correlations,
        risk=risk,
        diversity=diversity,
        tree=None if public else figures.tree_of(release),
        map=None if public or comparison is None else figures.map_of(comparison),
        checklist=words.checklist(release, alone.by_column, public),
        limits=words.limits(release, public),
    )


def to_json(model: ReportModel) -> str:
    """Give a report as JSON, for programs.

    Examples
    --------
    >>> import json, microagg as ma
    >>> from microagg.report import build, to_json
    >>> survey = ma.datasets.survey(300, seed=0).select(["age", "income"])
    >>> json.loads(to_json(build(ma.protect(survey, k=3))))["groups"]["reached"]
    3
    """
    return json.dumps(asdict(model), ensure_ascii=False, allow_nan=False, indent=1) + "\n"
