"""What is said of the results that researchers would find, before and after masking."""

from collections.abc import Sequence
from itertools import groupby

from microagg.judge.parts import JudgedResults, ResultLine
from microagg.report.parts import Fact, Finding, ResultBlock, ResultsSection, State, worded
from microagg.report.text import FIXED, count, counted, percent, sentence

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


def section(found: JudgedResults | None) -> ResultsSection | None:
    """Return all that is said of results; None in public."""
    if found is None:
        return None
    return worded(
        ResultsSection,
        found,
        intro=_intro(found),
        survived=_survived(found),
        blocks=tuple(_blocks(found)),
        more=_more(found),
        how=_how(found),
    )


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
