"""Judgement: everything that is found of a release, and how it is found."""

from collections.abc import Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from microagg.algorithms.selection import Selection
from microagg.base.frozen import ReadOnly, frozen
from microagg.columns.roles import Role
from microagg.guess.facts import ColumnValues
from microagg.judge.doubted import codes_in_order, doubted_columns, facts_of, repeating_columns, unused_weights
from microagg.judge.drawn import distributions_of
from microagg.judge.groups import groups_of, idle_codes_of, left_out_of, missing_of, standing_alone, strata_of
from microagg.judge.parts import (
    Alone,
    Correlations,
    Distribution,
    JudgedGroups,
    JudgedRisk,
    JudgedTree,
    LeftOut,
    Loss,
    MissingValues,
    Strata,
    finite,
)
from microagg.judge.public import public_change_of_correlations, public_loss_of, told_columns
from microagg.judge.run import JudgedRun, columns_of, run_of
from microagg.judge.text import shown
from microagg.judge.topics import TOPICS, confidential
from microagg.judge.topics import loss as losses
from microagg.judge.topics import risk as risks
from microagg.judge.topics.confidential import GivenAway, JudgedDemands, diversity_of, kept_of
from microagg.judge.topics.origin import MissingCodes, RecodedColumn, missing_codes_of, missing_weights_of, recoded_of
from microagg.judge.topics.results import JudgedResults
from microagg.judge.topics.sample import SAMPLE, SampleScale
from microagg.judge.topics.weights import JudgedWeights, weighing_of
from microagg.measures.definitions import measures_of_both
from microagg.measures.measure import Measure
from microagg.work import Progress, stage, tell

if TYPE_CHECKING:
    from microagg.release import Release

_MOST_CHOICES = 12  # of columns that tie, which are listed


@frozen()
class Judgement(ReadOnly):
    """Everything that a report says of a release: figures, with what is said of each.

    A public one holds nothing that must not be shown: what would help an intruder is None or empty.

    Attributes
    ----------
    public : bool
    run : JudgedRun
        What was asked.
    measures : mapping
        Every figure of loss, of risk and of both, by its name; empty in public.
    recoded : tuple of RecodedColumn
        The columns that were recoded before they were masked, and how.
    missing_codes : tuple of MissingCodes
        The columns in which the file distinguishes several kinds of missing values; empty in public.
    differences : tuple of str
        How the file differs from the one that the recipe was written for, a line for each. None in public.
    missing_weights : mapping
        How many released records lack each sampling weight, where any do; empty in public.
    groups : JudgedGroups
        k promised and reached, and the groups behind it.
    doubted : mapping
        The columns masked as numbers that are probably none, and why; empty in public.
    codes_in_order : mapping
        The confidential columns that are probably codes, whose order t was measured by, and why; empty in public.
    idle_codes : mapping
        The codes for missing values that no record has, by column; none is named of a column that is not masked.
    repeats : bool
        Whether a dropped or masked column says that several rows belong to one person or household, and k does not
        count those.
    unused_weights : tuple of str
        The columns that may be sampling weights, where none is named; empty in public.
    left_out : LeftOut
        Records that are not in the release.
    missing : MissingValues
        What became of missing values in the masked columns.
    strata : Strata or None
    weights : JudgedWeights or None
        What weights did and disclose; None where there are none, and in public.
    results : JudgedResults or None
        What researchers would find; None in public.
    alone : Alone
        Records with unique values: in the columns that are released unchanged, and in all that is
        released.
    loss : Loss
        What masking cost, overall and by column.
    moved : str
        How far a correlation moved on average, in words; empty where that is not shown.
    distributions : tuple of Distribution
        The masked columns in bins, or their categories.
    not_drawn : tuple of str
        Masked columns that are not among those, since there are too many.
    correlations : Correlations or None
    risk : JudgedRisk or None
        What an intruder could still do.
    diversity : tuple of GivenAway
        How varied the confidential columns are among records with the same masked values.
    kept : JudgedDemands or None
        What is demanded of confidential columns, and what is reached; None where nothing is.
    tree : JudgedTree or None
        The dependence tree by which columns were chosen to form groups.
    topics : mapping
        The figures of each topic that has any, by its name.
    """

    public: bool
    run: JudgedRun
    recoded: tuple[RecodedColumn, ...]
    groups: JudgedGroups
    repeats: bool
    left_out: LeftOut
    missing: MissingValues
    strata: Strata | None
    loss: Loss
    moved: str
    distributions: tuple[Distribution, ...]
    not_drawn: tuple[str, ...]
    kept: JudgedDemands | None
    topics: Mapping[str, Any]
    # What follows is never public.
    measures: Mapping[str, Measure] = field(default_factory=dict)
    missing_codes: tuple[MissingCodes, ...] = ()
    differences: tuple[str, ...] = ()
    missing_weights: Mapping[str, int] = field(default_factory=dict)
    doubted: Mapping[str, str] = field(default_factory=dict)
    codes_in_order: Mapping[str, str] = field(default_factory=dict)
    idle_codes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unused_weights: tuple[str, ...] = ()
    weights: JudgedWeights | None = None
    results: JudgedResults | None = None
    alone: Alone = field(default_factory=Alone)
    correlations: Correlations | None = None
    risk: JudgedRisk | None = None
    diversity: tuple[GivenAway, ...] = ()
    tree: JudgedTree | None = None


def judge(
    release: "Release[Any]",
    *,
    public: bool = False,
    progress: Progress | None = None,
) -> Judgement:
    """Return what there is to say of a release.

    Parameters
    ----------
    release : Release[Any]
        With its original values: one that was stored has none.
    public : bool
        Leave out whatever could help an intruder; it is then not even measured.
    progress : callable, optional
        Called as progress(done, in all), often; what it raises stops the work.

    Returns
    -------
    Judgement

    Examples
    --------
    >>> import microagg as ma
    >>> from microagg.judge import judge
    >>> found = judge(ma.protect(ma.datasets.survey(300, seed=0).select(["age", "income"]), k=3))
    >>> found.groups.reached, sorted(found.measures)[:3]
    (3, ['G_DR', 'G_IL', 'ID'])
    """
    measuring, reading, drawing, losing, standing, risking = (stage(progress, number, 6) for number in range(6))
    run = run_of(release, public)
    release._measure(("loss", "anonymity") if public else ("loss", "anonymity", "risk", "results"), measuring)
    facts = facts_of(release, reading)
    repeating = repeating_columns(release, facts)
    drawn, others = distributions_of(release, run, public, drawing)
    told = told_columns(release, run) if public else None
    loss = losses.loss_of(release, losing) if told is None else public_loss_of(release, told)
    # What is never public is not measured for it.
    topics = {one.name: one.find(release, run) for one in TOPICS if not public or one.is_public}
    left_out = left_out_of(release, run, public)
    measures = {} if public else {one.name: one for one in measures_of_both(release.loss, release.risk)}
    found = Judgement(
        public=public,
        run=run,
        recoded=recoded_of(release, run, public),
        groups=groups_of(release, run, public),
        repeats=not release.recipe.roles.unit and bool(repeating),
        left_out=left_out,
        missing=missing_of(release, run, public),
        strata=strata_of(release, run, public),
        loss=losses.in_words(loss, run, measures, public=public, some_left_out=bool(left_out.records)),
        moved="" if told is None else public_change_of_correlations(release, told),
        distributions=drawn,
        not_drawn=others,
        kept=kept_of(release, run, public),
        topics=_shown(topics, public),
        measures=measures,
    )
    if not public:
        scale = SampleScale(topics[SAMPLE.name])
        alone = scale.alone(standing_alone(release, run, repeating, standing))
        risk = scale.risk(risks.risk_of(release, run, risking))
        found = _internal(release, replace(found, alone=alone, risk=risk), facts, scale)
    tell(progress, 1, 1)
    return found


def _internal(
    release: "Release[Any]", found: Judgement, facts: Mapping[str, ColumnValues], scale: SampleScale
) -> Judgement:
    """Add what must not be shown to everybody."""
    run, correlations = found.run, losses.correlations_of(release)
    assert found.risk is not None
    return replace(
        found,
        moved="" if correlations is None else correlations.text,
        missing_codes=missing_codes_of(release),
        differences=tuple(shown(str(one)) for one in release.differences),
        missing_weights=scale.counts(missing_weights_of(release)),
        doubted=doubted_columns(release, facts),
        codes_in_order=codes_in_order(release, facts),
        idle_codes=idle_codes_of(release),
        unused_weights=unused_weights(release, facts),
        weights=scale.weights(weighing_of(release, run)),
        results=release.results,
        correlations=correlations,
        risk=risks.in_words(found.risk, run, found.measures, by_units=found.groups.units is not None),
        diversity=tuple(confidential.in_words(scale.given_away(one)) for one in diversity_of(release)),
        tree=tree_of(release),
    )


def _shown(found: Mapping[str, Any], public: bool) -> dict[str, Any]:
    """Return the figures of the topics that have any; in public what each of them lets everybody see."""
    known = {one: found[one.name] for one in TOPICS if found.get(one.name) is not None}
    if public:
        known = {one: one.public(own) for one, own in known.items()}
    return {one.name: own for one, own in known.items() if own is not None}


def tree_of(release: "Release[Any]") -> JudgedTree | None:
    """Return the dependence tree, where the columns that form groups were chosen by one."""
    selection = release.selection
    if selection is None or selection.tree is None or list(selection.degrees) != columns_of(release, Role.QUASI):
        return None
    return tree_by(selection)


def tree_by(selection: Selection, *, used: bool = True) -> JudgedTree:
    """Return the dependence tree by which columns are chosen; `used` says whether these formed groups."""
    assert selection.tree is not None
    names, losses = list(selection.degrees), selection.losses
    ways = sorted(selection.alternatives, key=losses.__getitem__) if losses else selection.alternatives
    return JudgedTree(
        measure=selection.tree.measure,
        names=tuple(map(shown, names)),
        edges=tuple((int(a), int(b), finite(weight)) for a, b, weight in selection.tree.edges),
        chosen=tuple(names.index(name) for name in selection.columns),
        text=selection.reason,
        ties=selection.ties,
        tried=tuple((tuple(map(shown, way)), losses.get(way)) for way in ways[:_MOST_CHOICES] if ways[1:]),
        used=used,
    )
