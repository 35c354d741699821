"""What researchers would find: analyses, a model that distinguishes both files, and relations, before and after."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from microagg.base.frozen import frozen
from microagg.errors import MicroaggError
from microagg.judge.parts import Fact, Finding, State, finite
from microagg.judge.text import FIXED, count, counted, percent, sentence, shown
from microagg.mask.relations import KeptRelation
from microagg.measures.analyses.analysis import Analysis
from microagg.measures.analyses.estimate import Estimate, farthest
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
_MOST_NAMED = 2  # changed conclusions that a finding names
_MOST_MOVED = 4  # results that moved most, each of another analysis
_LINE = 180  # letters of a line for a terminal
_SHORT = 30  # letters of an estimate that has the analysis and its part in one name

_NOTHING = (
    "No analysis could be guessed: no released column is a quantity that varies, and none has categories to count."
)
_REMEDY = (
    "If users need these results, try a smaller k, fewer masked columns, strata for their domains, or keep variances."
)


@frozen()
class ResultLine:
    """One estimate of an analysis, before and after."""

    analysis: str
    part: str  # which figure of the analysis; empty where it has one
    what: str  # both in words
    sentence: str  # what became of it
    before: float | None  # None: there is none
    after: float | None
    low: float | None  # of the interval before; None: there is none to judge by
    high: float | None
    written: tuple[str, str, str, str]  # those four with the digits that matter
    unit: str  # "%" or ""
    difference: float | None  # in percent of the size of `before`
    overlap: float | None  # of the intervals before and after, from 0 to 1
    within: bool  # whether `after` lies in the interval before
    changed: str  # what of a conclusion changed: "sign", "significance", or nothing


@frozen()
class ToldApart:
    """How well a model distinguishes masked records from original ones, by the masked columns."""

    value: float  # pMSE: 0 where it cannot, 0.25 where it always can
    percent: float  # of the worst
    reading: str  # in words
    records: int  # of each file
    seed: int | None  # by which these were drawn; None: they are all
    terms: int  # what the model looks at
    left_out: int  # what more it would look at without a limit


@frozen()
class RelationFound:
    """How many records break a declared relation between columns."""

    relation: str
    before: int
    after: int
    fresh: int  # by masking alone
    known: int  # masked records that have a value in all of its columns
    known_before: int  # original ones
    reading: str  # in words


@frozen()
class ResultBlock:
    """The estimates of one analysis that are listed, the worst first."""

    analysis: str
    single: bool  # whether one is listed, whose name says the analysis too
    lines: tuple[ResultLine, ...]


@frozen()
class JudgedResults:
    """What researchers would find: the same analyses before and after masking. None in public."""

    declared: bool  # whether the recipe names the analyses; else they were guessed
    level: float  # of the intervals, in percent
    analyses: int  # that were done
    sentences: tuple[str, ...]  # what became of each, of the first ones
    estimates: int  # that have an interval to judge by
    within: int  # of these
    overlap: float | None  # of their intervals before and after, on average
    n_changed: int  # conclusions: their sign or significance
    changed: tuple[str, ...]  # what became of those, the worst first
    farthest: tuple[str, ...]  # of each analysis what moved most, if it is lost or its intervals are apart
    lines: tuple[ResultLine, ...]  # analysis by analysis, in each the worst first
    others: int  # estimates that are not among the lines
    told_apart: ToldApart | None  # None: no masked column varies, or too many columns for the records
    relations: tuple[RelationFound, ...]
    undone: tuple[str, ...]  # analyses that could not be done, and why
    remarks: tuple[str, ...]  # what else must be known, as of records left out
    intro: str = ""
    survived: str = ""  # how many estimates, in a sentence or two; empty where nothing was analysed
    blocks: tuple[ResultBlock, ...] = ()
    more: str = ""  # what is not listed
    how: str = ""  # what the model that distinguishes both files used


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
    judged, changed, lines = utility.judged, utility.changed, utility.worst(MOST_LINES)
    found = JudgedResults(
        declared=bool(release.recipe.analyses.analyses),
        level=100.0 * utility.level,
        analyses=len(utility.analyses),
        sentences=tuple(map(shown, utility.sentences[:MOST_LINES])),
        estimates=len(judged),
        within=utility.n_within,
        overlap=next((one.value for one in utility.measures if one.name == "overlap"), None),
        n_changed=len(changed),
        changed=tuple(shown(one.sentence) for one in changed[:MOST_LINES]),
        farthest=tuple(shown(one.sentence) for one in farthest(utility.analyses)[:MOST_LINES]),
        lines=tuple(map(_line, lines)),
        others=len(utility.estimates) - len(lines),
        told_apart=told_apart,
        relations=tuple(_relation(one, _chosen_words(release.chosen, one)) for one in relations),
        undone=tuple(shown(f"{one.name}: {_reason(why)}") for one, why in failed),
        remarks=tuple(map(shown, remarks)),
    )
    return replace(
        found,
        intro=_intro(found),
        survived=_survived(found),
        blocks=tuple(_blocks(found)),
        more=_more(found),
        how=_how(found),
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


def facts(found: JudgedResults | None) -> list[Fact]:
    """Return, for the verdict, how many results survive; nothing where that is not known."""
    if found is None or not found.estimates:
        return []
    changed = f" {_changed_words(found)}." if found.n_changed else " No conclusion changed."
    undone = f" {_undone_words(found)}." if found.undone else ""
    return [Fact("Results", f"{_within_words(found)}.{changed}{undone}")]


def _within_words(found: JudgedResults) -> str:
    """Return how many estimates are within their intervals."""
    of = f"{count(found.within)} of {counted(found.estimates, 'result')}"
    whose = "the declared analyses" if found.declared else "usual analyses"
    are = "is" if found.within == 1 else "are"
    return f"{of} of {whose} {are} within the {found.level:g}{FIXED}% intervals of the original"


def _undone_words(found: JudgedResults) -> str:
    which = "declared analyses" if found.declared else "usual analyses"
    return f"{count(len(found.undone))} of {count(len(found.undone) + found.analyses)} {which} could not be done"


def _changed_words(found: JudgedResults) -> str:
    return f"{counted(found.n_changed, 'conclusion')} changed in sign or significance"


def findings(found: JudgedResults | None) -> list[Finding]:
    """Return which conclusions changed, which results are outside their intervals, and which relations broke."""
    if found is None:
        return []
    told = []
    if found.undone and found.declared:
        words = _undone_words(found)
        told.append(Finding("look", "results", sentence([f"{words}.", *found.undone]), f"{words}: {found.undone[0]}"))
    if found.n_changed:
        words = _changed_words(found)
        more = found.n_changed - _MOST_NAMED
        others = f"And {counted(more, 'other')}." if more > 0 else ""
        text = sentence([f"{words[0].upper()}{words[1:]}:", *found.changed[:_MOST_NAMED], others, _REMEDY])
        told.append(Finding("look", "results", text, _short(words, found.n_changed, found.changed)))
    outside = found.estimates - found.within
    if outside:
        words = f"{count(outside)} of {counted(found.estimates, 'result')} {'is' if outside == 1 else 'are'} outside"
        words += f" the {found.level:g}{FIXED}% intervals of the original"
        # Guessed results may matter to nobody, unless they are far away; declared ones do to somebody.
        state: State = "look" if found.declared or found.farthest else "note"
        remedy = "" if found.n_changed else _REMEDY  # said once
        moved = ["These moved most:", *found.farthest[:_MOST_MOVED]] if found.farthest else []
        told.append(
            Finding(state, "results", sentence([f"{words}.", *moved, remedy]), _short(words, outside, found.farthest))
        )
    broken = [one for one in found.relations if one.fresh]
    if broken:
        words = f"masking breaks {counted(len(broken), 'declared relation')}"
        reasons = [one.reading for one in broken]
        told.append(Finding("look", "relations", sentence([f"{words[0].upper()}{words[1:]}.", *reasons]), f"{words}."))
    doubted = [one for one in found.relations if one.before > one.known_before / 2]
    if doubted:
        words = (
            f"{counted(len(doubted), 'declared relation is', 'declared relations are')} broken by most original records"
        )
        named = ", ".join(one.relation for one in doubted)
        told.append(
            Finding("look", "relations", f"{words}: {named}. Check that each relation is what you meant.", f"{words}.")
        )
    return told


def _short(words: str, number: int, named: Sequence[str]) -> str:
    """Return a line for a terminal, with the first that is short enough."""
    lines = [f"{words}{': ' if number == 1 else '; one of them: '}{one}" for one in named]
    return next((line for line in lines if len(line) <= _LINE), f"{words}.")


def _intro(found: JudgedResults) -> str:
    if not found.analyses:
        return "None of the declared analyses could be done." if found.declared else _NOTHING
    which = "that the recipe declares" if found.declared else "that users of such a file would probably do"
    own = "" if found.declared else " They were guessed from the columns: declare those that your users need."
    return f"The analyses {which} were done on the original and on the masked file.{own}"


def _survived(found: JudgedResults) -> str:
    """Return how many estimates survive, and what that means."""
    if not found.estimates:
        return "No estimate has a confidence interval, so none can be judged." if found.analyses else ""
    overlap = "" if found.overlap is None else f" Intervals before and after overlap by {percent(100 * found.overlap)}"
    return f"{_within_words(found)}.{overlap}{' on average.' if overlap else ''}"


def _blocks(found: JudgedResults) -> list[ResultBlock]:
    blocks = []
    for analysis, lines in groupby(found.lines, key=lambda one: one.analysis):
        own = tuple(lines)
        blocks.append(ResultBlock(analysis, len(own) == 1 and (not own[0].part or len(own[0].what) <= _SHORT), own))
    return blocks


def word_of(line: ResultLine) -> str:
    """Return what became of an estimate, in a word or two."""
    if line.before is None or line.after is None:
        both = line.before is None and line.after is None
        return "in neither file" if both else "new" if line.before is None else "lost"
    if line.low is None or line.high is None:
        return "no interval"
    return ("within" if line.within else "outside") + (f"; {line.changed}" if line.changed else "")


def _more(found: JudgedResults) -> str:
    if not found.others:
        return ""
    return f"{counted(found.others, 'more estimate is', 'more estimates are')} not listed: the list has the worst ones."


def _how(found: JudgedResults) -> str:
    """Return by what a model distinguished both files."""
    own = found.told_apart
    if own is None:
        return ""
    records = f"all {counted(own.records, 'record')}"
    if own.seed is not None:
        records = f"{counted(own.records, 'record')} drawn with seed {own.seed}"
    limit = f" of {count(own.terms + own.left_out)} possible ones" if own.left_out else ""
    return f"The model used {records} of each file, the masked columns, and {counted(own.terms, 'term')}{limit}."


def as_json(found: JudgedResults) -> dict[str, Any]:
    """Return what researchers would find: how many results survive, the worst of them, and what else is said."""
    own = found.told_apart
    return {
        "declared": found.declared,
        "level": found.level / 100.0,
        "analyses": found.analyses,
        "estimates": found.estimates,
        "within": found.within,
        "overlap": found.overlap,
        "conclusions_changed": found.n_changed,
        "changed": list(found.changed),
        "sentences": list(found.sentences),
        "worst": [_line_facts(asdict(one)) for one in found.lines],
        "pmse": None if own is None else asdict(own),
        "relations": [asdict(one) for one in found.relations],
        "undone": list(found.undone),
        "remarks": list(found.remarks),
    }


def _line_facts(line: dict[str, Any]) -> dict[str, Any]:
    return {name.replace("difference", "difference_percent"): own for name, own in line.items() if name != "written"}
