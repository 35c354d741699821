"""What researchers would find: analyses, a model that distinguishes both files, and relations, before and after."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from microagg.errors import MicroaggError
from microagg.judge.names import shown
from microagg.judge.parts import JudgedResults, RelationFound, ResultLine, ToldApart, finite
from microagg.mask.relations import KeptRelation
from microagg.measures.analyses.analysis import Analysis
from microagg.measures.analyses.estimate import Estimate, Utility, worst_first
from microagg.measures.assess import check_sample
from microagg.measures.pmse import measure_pmse
from microagg.recipe.relations import RelationCounts
from microagg.work import Progress, part, tell

if TYPE_CHECKING:
    from microagg.release import Release

MOST_LINES = 40
"""So many estimates are listed one by one, at most; of analyses and of changed conclusions as many sentences."""

_RECORDS = 20_000  # by which a model distinguishes both files; of larger files they are drawn
_SEED = 0
_TERMS, _RECORDS_BY_TERM = 120, 10  # of that model at most, and records for each: with fewer it fits chance
_TERMS_BY_COLUMN = 2  # at least: with fewer the model sees means alone, which masking keeps, and finds nothing
_STEPS, _ANALYSES = 100, 70  # of the progress, in all and for the analyses


def results_of(release: "Release[Any]", progress: Progress | None = None) -> JudgedResults:
    """Do the analyses that a recipe declares, or guessed ones; what cannot be done is a remark, and no error."""
    failed: list[tuple[Analysis, Exception]] = []
    tell(progress, 0, _STEPS)
    with np.errstate(all="ignore"):  # values may be as large as floats go
        utility = release._utility(None, failed=failed, progress=part(progress, 0, _ANALYSES, _STEPS))
        told_apart, too_wide = _told_apart(release, part(progress, _ANALYSES, _STEPS, _STEPS))
    remarks = [*_left_out(release), *utility.remarks, *too_wide]
    relations: tuple[RelationCounts, ...] = ()
    try:
        relations = release.relations
    except MicroaggError as error:
        remarks.append(f"Relations were not counted. {error}")
    tell(progress, _STEPS, _STEPS)
    judged = [one for one in utility.estimates if one.has_interval]
    changed = sorted((one for one in judged if one.conclusion_changed), key=worst_first)
    lines = _lines(utility)
    return JudgedResults(
        declared=bool(release.recipe.analyses.analyses),
        level=100.0 * utility.level,
        analyses=len(utility.analyses),
        sentences=tuple(map(shown, utility.sentences[:MOST_LINES])),
        estimates=len(judged),
        within=sum(one.within for one in judged),
        overlap=next((one.value for one in utility.measures if one.name == "overlap"), None),
        n_changed=len(changed),
        changed=tuple(shown(one.sentence) for one in changed[:MOST_LINES]),
        farthest=tuple(shown(one.sentence) for one in _farthest(utility)[:MOST_LINES]),
        lines=tuple(map(_line, lines)),
        others=len(utility.estimates) - len(lines),
        told_apart=told_apart,
        relations=tuple(_relation(one, _chosen_words(release.chosen, one)) for one in relations),
        undone=tuple(shown(f"{one.name}: {_reason(why)}") for one, why in failed),
        remarks=tuple(map(shown, remarks)),
    )


def _left_out(release: "Release[Any]") -> list[str]:
    """Return what the original is, where records were left out of the release."""
    if not release.n_dropped:
        return []
    records, are = ("record", "is") if release.n_dropped == 1 else ("records", "are")
    whole = f"The original is the whole file, with the {release.n_dropped} {records} that {are} not in the release."
    counted = " Relations are counted in the released records." if release.recipe.relations.relations else ""
    return [f"{whole}{counted}"]


def _reason(why: Exception) -> str:
    return str(why) if isinstance(why, MicroaggError) else "It cannot be computed from these values."


def _lines(utility: Utility) -> list[Estimate]:
    """Return the worst estimate of each analysis, and the worst of all others, as far as there is room."""
    ordered = [judged.ordered for judged in utility.analyses]
    others = sorted((one for own in ordered for one in own[1:]), key=worst_first)
    chosen = {id(one) for one in [*(own[0] for own in ordered if own), *others][:MOST_LINES]}
    return [one for own in ordered for one in own if id(one) in chosen]


def _farthest(utility: Utility) -> list[Estimate]:
    """Return of each analysis what moved most, if it is lost or its intervals before and after are apart.

    One that is lost comes first, and the others last: a rare category is lost in every analysis that has it.
    """
    found = []
    for judged in utility.analyses:
        apart = [one for one in judged.estimates if _has_width(one) and (one.lost or one.overlap == 0)]
        found += [max(apart, key=lambda one: one.moved)] if apart else []
    lost = [one for one in found if one.lost]
    return [*lost[:1], *sorted((one for one in found if not one.lost), key=lambda one: -one.moved), *lost[1:]]


def _has_width(one: Estimate) -> bool:
    """Return whether the original has an interval that can be compared; that of rounded values may have no width."""
    return one.has_interval and one.interval_before[1] > one.interval_before[0]


def _line(one: Estimate) -> ResultLine:
    low, high = one.interval_before
    changed = ""
    if one.conclusion_changed:
        changed = "significance" if one.significance_changed else "sign"
    return ResultLine(
        analysis=shown(one.analysis),
        part=shown(one.part),
        what=shown(one.what),
        sentence=shown(one.sentence),
        before=finite(one.before),
        after=finite(one.after),
        low=finite(low),
        high=finite(high),
        written=one.written,
        unit=one.unit,
        difference=finite(100.0 * one.difference),
        overlap=finite(one.overlap),
        within=one.within,
        changed=changed,
    )


def _told_apart(release: "Release[Any]", progress: Progress | None) -> tuple[ToldApart | None, list[str]]:
    """Return how well a model distinguishes masked records from original ones, or a remark why it was not measured.

    It is not measured where no masked column varies.
    """
    original, written = release._as_many(_SEED)
    rows = check_sample(_RECORDS, original.n_records, _SEED)
    n = original.n_records if rows is None else rows.size
    most = min(_TERMS, n // _RECORDS_BY_TERM)
    varying = sum(not column.is_constant for column in original)
    if most < _TERMS_BY_COLUMN * varying:
        wide = f"{varying} masked columns are too many for a model of {n} records"
        return None, [f"It was not measured how well a model can distinguish masked and original records: {wide}."]
    found = measure_pmse(original, written, rows, most_terms=most, progress=progress)
    if not found.n_terms:
        return None, []
    told_apart = ToldApart(
        value=found.value,
        percent=found.percent,
        reading=found.reading,
        records=found.n_records,
        seed=None if rows is None and not release.n_dropped else _SEED,
        terms=found.n_terms,
        left_out=found.n_left_out,
    )
    return told_apart, []


def _chosen_words(chosen: Sequence[KeptRelation], found: RelationCounts) -> str:
    """Return which released values were chosen so that a relation holds."""
    words = [
        f"To keep it, the released {one.column} was chosen anew in {one.records} "
        f"record{'s' if one.records > 1 else ''}; its total changed by {100.0 * one.moved:.2g} %."
        for one in chosen
        if one.relation == found.relation
    ]
    return " ".join(["", *words])


def _relation(found: RelationCounts, chosen: str) -> RelationFound:
    return RelationFound(
        relation=shown(found.relation),
        before=found.before,
        after=found.after,
        fresh=found.fresh,
        known=found.known_after,
        known_before=found.known_before,
        reading=shown(f"{found.reading}{chosen}"),
    )
