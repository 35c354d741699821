"""What is promised of confidential columns, what is reached, and what that cost, in words."""

import math

from microagg.judge import Judgement
from microagg.judge.parts import Demanded, Goal, JudgedDemands
from microagg.measures.diversity import promised
from microagg.report.parts import Fact, GoalRow, KeptSection, WorstPicture, worded
from microagg.report.text import count, counted, listed, number, percent, quoted, sentence

_NAMES = {"l": "l", "entropy_l": "entropy l", "recursive_l": "recursive l", "t": "t"}
_MEASURED = {
    "values": "half the sum of the absolute differences of shares",
    "order": "the earth mover's distance over the ordered values",
    "taxonomy": "the earth mover's distance in the taxonomy",
}
_LIMITS = {
    "l": "l only counts different values. Different values may mean nearly the same, and one of them may be much more "
    "common than the others.",
    "t": "t limits how far the values of a group differ from those of the whole file. It does not limit how much a "
    "single value discloses.",
}


def promises(kept: JudgedDemands | None) -> tuple[str, ...]:
    """Return what is promised of confidential columns: a sentence for each, or for several with the same promise."""
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
    """Return, for the headline, what is kept; empty where nothing is demanded."""
    return sentence(promises(judgement.kept))


def reached(kept: JudgedDemands | None) -> str:
    """Return what is reached in the released file."""
    if kept is None:
        return ""
    columns = [f"{quoted(one.column)} {', '.join(map(_reached, one.goals))}" for one in kept.columns]
    return f"The demands on confidential columns were counted in the released file too: {'; '.join(columns)}."


def _reached(goal: Goal) -> str:
    return f"{_NAMES[goal.name]} {_figure(goal.reached)} ({_asked(goal)} asked)"


def _asked(goal: Goal) -> str:
    if goal.rank is not None:
        return f"below {goal.asked:g}"
    return f"at {'most' if goal.name == 't' else 'least'} {goal.asked:g}"


def _figure(value: float) -> str:
    return "∞" if math.isinf(value) else count(int(value)) if value == int(value) else number(value)


def cost(judgement: Judgement) -> str:
    """Return what keeping it cost; in public nothing."""
    kept = judgement.kept
    if kept is None or kept.loss_before is None or kept.loss_after is None:
        return ""
    refined = " (both before groups were refined)" if judgement.run.refined is not None else ""
    words = [
        f"Without the demand on {_all_goals(kept)}, groups would lose {percent(kept.loss_before)} of the information; "
        f"with it, they lose {percent(kept.loss_after)}{refined}."
    ]
    for one in kept.columns:
        if one.uniform_before:
            groups = f"{count(one.uniform_before)} of {counted(one.groups_before or 0, 'group')}"
            words.append(f"Without it, {groups} would have only one value of {quoted(one.column)}.")
    return sentence(words)


def _all_goals(kept: JudgedDemands) -> str:
    asked = {goal.name for one in kept.columns for goal in one.goals}
    names = [said for name, said in _NAMES.items() if name in asked]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def done(judgement: Judgement) -> list[Fact]:
    """Return what was demanded, and how groups were formed to keep it."""
    kept = judgement.kept
    if kept is None:
        return []
    asked = list(dict.fromkeys(goal.short for one in kept.columns for goal in one.goals))
    return [Fact("demanded", ", ".join(asked), sentence(promises(kept))), Fact("kept by", kept.way, _way(kept))]


def _way(kept: JudgedDemands) -> str:
    """Return what a way does; all end by merging."""
    return kept.said if kept.way == "merge" else f"{kept.said}; groups that still break the demand are merged"


def covered(judgement: Judgement) -> str:
    """Return, for the checklist, of which columns something is demanded; empty where of none."""
    kept = judgement.kept
    if kept is None:
        return ""
    words = [f"{quoted(one.column)} ({', '.join(goal.short for goal in one.goals)})" for one in kept.columns]
    return f" What a group discloses is limited for {', '.join(words)}."


def limits(judgement: Judgement) -> list[str]:
    """Return what keeping it does not claim."""
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
        how=f"How groups were formed to keep this: “{kept.way}”, that is, {_way(kept)}.",
        cost=cost(judgement),
        pictures=tuple(_picture(one) for one in kept.columns if one.worst is not None),
    )


def _row(one: Demanded, goal: Goal) -> GoalRow:
    meanings = {
        "l": "the smallest number of different values in a group",
        "entropy_l": "the same, but rare values count less: exp(entropy)",
        "recursive_l": f"the largest ratio of records with the commonest value to records with {goal.rest}",
        "t": "the largest difference between the values of a group and those of the whole file, from 0 to 1: "
        f"{_MEASURED[one.measured]}",
    }
    return GoalRow(one.column, _NAMES[goal.name], _asked(goal), _figure(goal.reached), meanings[goal.name])


def _picture(one: Demanded) -> WorstPicture:
    assert one.worst is not None
    by_t = any(goal.name == "t" for goal in one.goals)
    what = "differs most from the file" if by_t else "varies least"
    others = one.worst.alike - one.worst.records
    more = f"; other groups that are equally bad have {counted(others, 'more record')}" if others else ""
    text = f"the group that {what}, of {counted(one.worst.records, 'record')}{more}"
    return worded(WorstPicture, one.worst, column=one.column, text=text)
