"""Confidential columns: what records with the same masked values disclose, what is demanded, reached, and its cost."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from microagg.algorithms.diversity.demand import Confidential, HeldValues, Limits
from microagg.algorithms.diversity.ways import WAYS
from microagg.base.frozen import frozen
from microagg.columns import frames
from microagg.columns.roles import Role
from microagg.columns.weights import Labels
from microagg.judge.parts import Bar, Fact, finite
from microagg.judge.run import JudgedRun, columns_of
from microagg.judge.text import count, counted, listed, number, percent, quoted, sentence, shown
from microagg.measures.diversity import Goal, given_away, goals_of, promised

if TYPE_CHECKING:
    from microagg.judge.judgement import Judgement
    from microagg.measures.diversity import DiversityFacts
    from microagg.release import Release

_MOST_BARS = 12
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


@frozen()
class GivenAway:
    """How varied a confidential column is among records with the same masked values."""

    column: str
    distinct: int
    entropy: float
    t: float
    t_ordered: float | None
    uniform_groups: int  # with one value throughout, which discloses it
    uniform_records: int  # in those
    by_taxonomy: bool = False  # whether t is the distance in a taxonomy
    text: str = ""


@frozen()
class WorstGroup:
    """The group of records that is farthest from the whole file in a confidential column, or holds least of it."""

    records: int
    alike: int  # how many records are in groups as bad
    bars: tuple[Bar, ...]  # shares in percent: `before` of the whole file, `after` of the group
    column: str
    text: str


@frozen()
class Demanded:
    """What is demanded of a confidential column, and reached in what is released."""

    column: str
    goals: tuple[Goal, ...]
    measured: str  # t: by "values", by their "order", or by a "taxonomy"
    uniform_before: int | None  # groups that gave one value away before; None in public
    groups_before: int | None  # of so many; None in public
    worst: WorstGroup | None  # None in public


@frozen()
class GoalRow:
    """What was asked of a confidential column, and what is reached."""

    column: str
    name: str
    asked: str
    reached: str
    meaning: str


@frozen()
class JudgedDemands:
    """What is demanded of confidential columns, how groups came to keep it, and what that cost."""

    columns: tuple[Demanded, ...]
    holds: bool  # counted again in the released file
    way: str
    said: str  # what that way does
    loss_before: (
        float | None
    )  # of groups that need not keep it, in percent, before refining and rounding; None in public
    loss_after: float | None  # of those that do
    promise: tuple[str, ...] = ()
    rows: tuple[GoalRow, ...] = ()
    how: str = ""
    cost: str = ""  # empty in public
    pictures: tuple[WorstGroup, ...] = ()  # none in public


def diversity_of(release: "Release[Any]") -> tuple[GivenAway, ...]:
    """Return l and t of the confidential columns; of those that a demand is about, as the demand counts them."""
    demand = release.pair.demand
    counted: dict[Any, tuple[Confidential, HeldValues]] = {}
    classes = np.empty(0, dtype=np.int64)
    if demand is not None:
        classes = _classes(release)
        figures = zip(demand.columns, demand.figures(classes), strict=True)
        counted = {column.name: (column, own) for column, own in figures}
    sizes = np.bincount(classes)
    found = []
    for name, own in release.anonymity.diversity.items():
        given = GivenAway(
            column=shown(name),
            distinct=own.distinct,
            entropy=float(own.entropy),
            t=float(own.t),
            t_ordered=finite(own.t_ordered),
            uniform_groups=own.uniform_groups,
            uniform_records=own.uniform_records,
        )
        found.append(_as_demanded(given, *counted[name], sizes) if name in counted else given)
    return tuple(found)


def _as_demanded(own: GivenAway, column: Confidential, figures: HeldValues, sizes: Labels) -> GivenAway:
    """Return what is given away of a column by the kind it has: a text file has its numbers as text."""
    uniform, t = figures.distinct <= 1, float(figures.t.max())
    return GivenAway(
        column=own.column,
        distinct=int(figures.distinct.min()),
        entropy=float(figures.entropy.min()),
        t=own.t if column.ordered else t,
        t_ordered=t if column.ordered else None,
        uniform_groups=int(np.count_nonzero(uniform)),
        uniform_records=int(sizes[uniform].sum()),
        by_taxonomy=column.kin is not None,
    )


def kept_of(release: "Release[Any]", run: JudgedRun, public: bool) -> JudgedDemands | None:
    """Return what is demanded of confidential columns, counted again in the released file; None where nothing is.

    In public that is what anybody can count in the release, and neither what it cost nor which group is worst.
    """
    facts, demand = release.diversity, release.pair.demand
    if facts is None or demand is None:
        return None
    classes = _classes(release)
    reached, figures = given_away(demand, classes), demand.figures(classes)
    columns = []
    for column, limits, own in zip(demand.columns, demand.limits, figures, strict=True):
        before = facts.before[column.name]
        columns.append(
            Demanded(
                column=shown(column.name),
                goals=goals_of(limits, reached[column.name]),
                measured="taxonomy" if column.kin is not None else "order" if column.ordered else "values",
                uniform_before=None if public else before.uniform,
                groups_before=None if public else before.groups,
                worst=None if public else _worst(release, column, limits, own, classes),
            )
        )
    found = JudgedDemands(
        columns=tuple(columns),
        holds=demand.kept(classes),
        way=facts.way,
        said=WAYS[facts.way],
        loss_before=None if public else finite(facts.loss_before),
        loss_after=None if public else finite(facts.loss_after),
    )
    return replace(
        found,
        promise=promises(found),
        rows=tuple(_row(one, goal) for one in found.columns for goal in one.goals),
        how=f"How groups were formed to keep this: “{found.way}”, that is, {_way(found)}.",
        cost=_cost(found, run.refined is not None),
        pictures=tuple(one.worst for one in found.columns if one.worst is not None),
    )


def _classes(release: "Release[Any]") -> Labels:
    """Number records such that those with the same released values have the same number."""
    keys = [*columns_of(release, Role.QUASI, Role.STRATUM), *release.recipe.weights_by_group]
    return frames.category_codes(frames.open_frame(release.data), keys)


def _worst(
    release: "Release[Any]", column: Confidential, limits: Limits, figures: HeldValues, classes: Labels
) -> WorstGroup:
    """Find the group that is farthest from the file, or holds least where t is not demanded; the first of several."""
    badness = figures.t if limits.t is not None else -figures.entropy
    bad = np.flatnonzero(badness >= badness.max() - 1e-9)
    first = np.unique(classes, return_index=True)[1]
    worst = bad[first[bad].argmin()]
    own = column.codes[classes == worst]
    values = frames.open_frame(release.data).get_column(column.name)
    size, alike = int(own.size), int(np.isin(classes, bad).sum())
    what = "differs most from the file" if limits.t is not None else "varies least"
    more = f"; other groups that are equally bad have {counted(alike - size, 'more record')}" if alike > size else ""
    text = f"the group that {what}, of {counted(size, 'record')}{more}"
    return WorstGroup(size, alike, _bars(column, own, values), shown(column.name), text)


def _bars(column: Confidential, own: Labels, values: Any) -> tuple[Bar, ...]:
    """Return the shares of values in the file and in a group: of the commonest, or of classes of values in order."""
    m = column.n_values
    file, group = column.counts, np.bincount(own, minlength=m + 1)
    where = np.unique(column.codes, return_index=True)  # a record that has each value
    rows = dict(zip(where[0].tolist(), where[1].tolist(), strict=True))

    def called(code: int) -> str:
        return _written(values[rows[code]])

    def bar(of: str, label: str, codes: Any) -> Bar:
        shares = (100.0 * float(counts[codes].sum()) / float(counts.sum()) for counts in (file, group))
        return Bar(of, label, *shares)

    if column.ordered and m > _MOST_BARS:
        runs = _runs(file[:m])
        ends = [(_rounded(called(run[0])), _rounded(called(run[-1]))) for run in runs]
        names = [low if low == high else f"{low} – {high}" for low, high in ends]
        bars = [bar("category", name, run) for name, run in zip(names, runs, strict=True)]
    else:
        order = np.arange(m) if m <= _MOST_BARS and column.ordered else np.argsort(-file[:m], kind="stable")
        bars = [bar("category", called(code), [code]) for code in order[:_MOST_BARS].tolist()]
        if m > _MOST_BARS:
            bars.append(bar("others", str(m - _MOST_BARS), order[_MOST_BARS:]))
    return tuple(bars + ([bar("missing", "", [m])] if file[m] else []))


def _runs(counts: Labels) -> list[Labels]:
    """Cut values in order into at most twelve classes of about as many records each."""
    middle = (np.cumsum(counts) - counts / 2) / counts.sum()
    classes = np.minimum((middle * _MOST_BARS).astype(np.int64), _MOST_BARS - 1)
    return [np.flatnonzero(classes == number) for number in np.unique(classes)]


def _rounded(written: str) -> str:
    """Write the end of a class of numbers shortly; dates and words stay."""
    try:
        value = float(written)
    except ValueError:
        return written
    return f"{value:.5g}" if abs(value) < 1e5 else f"{value:.0f}" if abs(value) < 1e15 else written


def _written(value: Any) -> str:
    """Write a value as it may be displayed, numbers without needless digits."""
    return f"{value:.10g}" if isinstance(value, (float, np.floating)) else shown(value)


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


def headline(judgement: "Judgement") -> str:
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


def _cost(kept: JudgedDemands, refined: bool) -> str:
    """Return what keeping it cost; in public nothing."""
    if kept.loss_before is None or kept.loss_after is None:
        return ""
    before = " (both before groups were refined)" if refined else ""
    words = [
        f"Without the demand on {_all_goals(kept)}, groups would lose {percent(kept.loss_before)} of the information; "
        f"with it, they lose {percent(kept.loss_after)}{before}."
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


def done(judgement: "Judgement") -> list[Fact]:
    """Return what was demanded, and how groups were formed to keep it."""
    kept = judgement.kept
    if kept is None:
        return []
    asked = list(dict.fromkeys(goal.short for one in kept.columns for goal in one.goals))
    return [Fact("demanded", ", ".join(asked), sentence(promises(kept))), Fact("kept by", kept.way, _way(kept))]


def _way(kept: JudgedDemands) -> str:
    """Return what a way does; all end by merging."""
    return kept.said if kept.way == "merge" else f"{kept.said}; groups that still break the demand are merged"


def covered(judgement: "Judgement") -> str:
    """Return, for the checklist, of which columns something is demanded; empty where of none."""
    kept = judgement.kept
    if kept is None:
        return ""
    words = [f"{quoted(one.column)} ({', '.join(goal.short for goal in one.goals)})" for one in kept.columns]
    return f" What a group discloses is limited for {', '.join(words)}."


def limits(judgement: "Judgement") -> list[str]:
    """Return what keeping it does not claim."""
    asked = {goal.name[-1] for one in judgement.kept.columns for goal in one.goals} if judgement.kept else set()
    return [text for name, text in _LIMITS.items() if name in asked]


def _row(one: Demanded, goal: Goal) -> GoalRow:
    meanings = {
        "l": "the smallest number of different values in a group",
        "entropy_l": "the same, but rare values count less: exp(entropy)",
        "recursive_l": f"the largest ratio of records with the commonest value to records with {goal.rest}",
        "t": "the largest difference between the values of a group and those of the whole file, from 0 to 1: "
        f"{_MEASURED[one.measured]}",
    }
    return GoalRow(one.column, _NAMES[goal.name], _asked(goal), _figure(goal.reached), meanings[goal.name])


def in_words(own: GivenAway) -> GivenAway:
    """Return what the groups have in common in a confidential column."""
    return replace(own, text=_diversity_words(own))


def _diversity_words(own: GivenAway) -> str:
    if own.distinct <= 1:
        groups = counted(own.uniform_groups, "group has", "groups have")
        return (
            f"{groups} only one value ({counted(own.uniform_records, 'record')} in all). If somebody knows that a "
            f"person is in such a group, they know the person's value."
        )
    if own.distinct == 2:
        return "At least one group has only two different values."
    return f"Every group has at least {count(own.distinct)} different values."


def as_json(found: "DiversityFacts | None") -> dict[str, Any]:
    """Return what is demanded of confidential columns: what is reached, by which way, and what it cost."""
    if found is None:
        return {}
    return {
        "diversity": found.way,
        "demanded": {str(name): goals_as_json(goals) for name, goals in found.goals.items()},
        "groups_of_one_value_without_it": {str(name): own.uniform for name, own in found.before.items()},
        "information_loss_without_it_percent": found.loss_before,
        "information_loss_with_it_percent": found.loss_after,
    }


def goals_as_json(goals: Sequence[Goal]) -> dict[str, Any]:
    """Return what is demanded of a column and what is reached, by keyword; of recursive (c, l) what is below c."""
    return {
        one.name: {
            "asked": one.asked if one.rank is None else [one.asked, one.rank],
            "reached": one.reached if math.isfinite(one.reached) else None,
            "holds": one.holds,
        }
        for one in goals
    }
