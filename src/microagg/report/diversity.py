"""What is promised of confidential columns, what is reached, and what that cost, in words."""

import math

from microagg.evaluate.diversity import promised
from microagg.judgement import Judgement
from microagg.judgement.parts import Demanded, Goal, Kept
from microagg.report.parts import Fact, GoalRow, KeptSection, WorstPicture, worded
from microagg.report.text import count, counted, listed, number, percent, quoted, sentence

_NAMES = {"l": "l", "entropy_l": "entropy l", "recursive_l": "recursive l", "t": "t"}
_MEASURED = {
    "values": "half the sum of the absolute differences of shares",
    "order": "the earth mover's distance over the ordered values",
    "taxonomy": "the earth mover's distance in the taxonomy",
}
_LIMITS = {
    "l": "Different values may mean much the same, and one may be far commoner than the others: l counts them, and no "
    "more.",
    "t": "t bounds how far records alike are from the whole file. It says nothing of how much a single value of theirs "
    "tells.",
}


def promises(kept: Kept | None) -> tuple[str, ...]:
    """Say what is promised of confidential columns, a sentence for each, or for several of which the same is."""
    names: dict[tuple[str, ...], list[Demanded]] = {}
    for one in () if kept is None else kept.columns:
        names.setdefault(tuple(goal.short for goal in one.goals), []).append(one)
    said = []
    for columns in names.values():
        name = quoted(columns[0].column)
        if len(columns) > 1:
            name = f"each of {listed([one.column for one in columns])}"
        said.append(f"{promised(columns[0].goals, name)}.")
    return tuple(said)


def headline(judgement: Judgement) -> str:
    """Say for the headline what is kept; empty where nothing is demanded."""
    return sentence(promises(judgement.kept))


def reached(kept: Kept | None) -> str:
    """Say what is reached in the released file."""
    if kept is None:
        return ""
    columns = [f"{quoted(one.column)} {', '.join(map(_reached, one.goals))}" for one in kept.columns]
    return f"What records alike hold of confidential columns, counted in it too: {'; '.join(columns)}."


def _reached(goal: Goal) -> str:
    return f"{_NAMES[goal.name]} {_figure(goal.reached)} ({_asked(goal)} asked)"


def _asked(goal: Goal) -> str:
    if goal.rank is not None:
        return f"below {goal.asked:g}"
    return f"at {'most' if goal.name == 't' else 'least'} {goal.asked:g}"


def _figure(value: float) -> str:
    return "∞" if math.isinf(value) else count(int(value)) if value == int(value) else number(value)


def cost(judgement: Judgement) -> str:
    """Say what keeping it cost; in public nothing."""
    kept = judgement.kept
    if kept is None or kept.loss_before is None or kept.loss_after is None:
        return ""
    refined = ", both before they were refined" if judgement.run.refined is not None else ""
    words = [
        f"Groups that need not keep {_all_goals(kept)} would lose {percent(kept.loss_before)}, groups that do lose "
        f"{percent(kept.loss_after)}{refined}."
    ]
    for one in kept.columns:
        if one.uniform_before:
            groups = f"{count(one.uniform_before)} of {counted(one.groups_before or 0, 'group')}"
            words.append(f"Without that, {groups} would have one value of {quoted(one.column)} throughout.")
    return sentence(words)


def _all_goals(kept: Kept) -> str:
    asked = {goal.name for one in kept.columns for goal in one.goals}
    names = [said for name, said in _NAMES.items() if name in asked]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def done(judgement: Judgement) -> list[Fact]:
    """Tell what was demanded and which way groups came to keep it."""
    kept = judgement.kept
    if kept is None:
        return []
    asked = list(dict.fromkeys(goal.short for one in kept.columns for goal in one.goals))
    return [Fact("demanded", ", ".join(asked), sentence(promises(kept))), Fact("kept by", kept.way, _way(kept))]


def _way(kept: Kept) -> str:
    """Say what a way does; all end by merging."""
    return kept.said if kept.way == "merge" else f"{kept.said}; groups that still break the demand are merged"


def covered(judgement: Judgement) -> str:
    """Say for the checklist of which columns something is demanded; empty where of none."""
    kept = judgement.kept
    if kept is None:
        return ""
    words = [f"{quoted(one.column)} ({', '.join(goal.short for goal in one.goals)})" for one in kept.columns]
    return f" What records alike give away is limited for {', '.join(words)}."


def limits(judgement: Judgement) -> list[str]:
    """Say what keeping it does not claim."""
    asked = {goal.name[-1] for one in judgement.kept.columns for goal in one.goals} if judgement.kept else set()
    return [text for name, text in _LIMITS.items() if name in asked]


def section(judgement: Judgement) -> KeptSection | None:
    """Return all that is said of it; None where nothing is demanded."""
    kept = judgement.kept
    if kept is None:
        return None
    return worded(
        KeptSection,
        kept,
        promise=promises(kept),
        rows=tuple(_row(one, goal) for one in kept.columns for goal in one.goals),
        how=f"Groups came to keep that by “{kept.way}”: {_way(kept)}.",
        cost=cost(judgement),
        pictures=tuple(_picture(one) for one in kept.columns if one.worst is not None),
    )


def _row(one: Demanded, goal: Goal) -> GoalRow:
    meanings = {
        "l": "the fewest different values among records alike",
        "entropy_l": "the same, counting how often each occurs: exp(entropy)",
        "recursive_l": f"the most that records of the commonest value are, by those of {goal.rest}",
        "t": f"the farthest that records alike are from the file, from 0 to 1: {_MEASURED[one.measured]}",
    }
    return GoalRow(one.column, _NAMES[goal.name], _asked(goal), _figure(goal.reached), meanings[goal.name])


def _picture(one: Demanded) -> WorstPicture:
    assert one.worst is not None
    by_t = any(goal.name == "t" for goal in one.goals)
    what = "farthest from the file" if by_t else "least varied"
    others = one.worst.alike - one.worst.records
    more = f"; groups as bad hold {counted(others, 'more record')}" if others else ""
    text = f"the group that is {what}, of {counted(one.worst.records, 'record')}{more}"
    return worded(WorstPicture, one.worst, column=one.column, text=text)
