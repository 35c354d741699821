"""What was done with the values of each kind, with what is missing and with the digits of means, in words."""

from microagg.judge import Judgement
from microagg.judge.parts import Fact
from microagg.judge.run import JudgedRun, KindFacts
from microagg.judge.text import at_most, counted, first_of, sentence
from microagg.judge.topics.weights import total_words

_KINDS = {"number": "number", "date": "date", "ordinal": "ordinal", "nominal": "nominal", "semi": "semi-continuous"}
_NOMINAL = {
    "mode": "its most common category; if several are equally common, the one that is still most underrepresented in "
    "the released file",
    "balanced": "that one of its categories that is still most underrepresented in the released file, so that shares "
    "are kept",
    "draw": "a category drawn at random, each with the probability of its share of the members",
}
_MISSING = {
    "pattern": (
        "by pattern",
        "Records with missing values in the same columns are grouped together, so that few empty cells are filled.",
    ),
    "state": (
        "a value like others",
        "A missing value counts as a value when groups are formed. A group may hold records with and without a value.",
    ),
    "error": ("not allowed", "The masked columns and the strata have no missing values."),
    "drop": ("left out", "Records with a missing value are not in the release."),
}
_WHOLE = (
    "If at least half of a group, and enough members, have a value, all members get one; otherwise the cell is empty "
    "for all of them."
)


def kinds(run: JudgedRun) -> Fact:
    """Return of which kind the masked columns are."""
    by_kind = _by_kind(run)
    if len(by_kind) == 1:
        return Fact("kinds", f"all {_called(next(iter(by_kind)))}")
    value = ", ".join(f"{len(names)} {_called(kind, len(names))}" for kind, names in by_kind.items())
    return Fact("kinds", value, "; ".join(f"{_KINDS[kind]}: {', '.join(names)}" for kind, names in by_kind.items()))


def _called(kind: str, number: int = 2) -> str:
    return _KINDS[kind] + ("s" if number > 1 and kind in ("number", "date") else "")


def _by_kind(run: JudgedRun) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {kind: [] for kind in _KINDS}
    for name, kind in run.kinds.items():
        found[kind.name].append(name)
    return {kind: names for kind, names in found.items() if names}


def released(run: JudgedRun) -> list[Fact]:
    """Return what a group releases of each kind, and when it releases a spike."""
    own = {kind.name: _said(kind, run) for kind in run.kinds.values() if not kind.with_taxonomy}
    said = {kind: own[kind] for kind in _KINDS if kind in own}
    if set(said) == {"number"} and len({kind.said for kind in run.kinds.values()}) == 1:
        why = f"each record gets the {run.aggregate} of its group in every masked column"
        if run.moments != "none":
            why += f", spread so that {run.moments}s are kept"
        return [Fact("released", run.aggregate, why)]
    said |= {f"{kind.name} with a taxonomy": kind.said for kind in run.kinds.values() if kind.with_taxonomy}
    words = "; ".join(f"{_KINDS.get(kind, kind)}: {what}" for kind, what in said.items())
    facts = [
        Fact(
            "released", "by kind", f"Each record gets the value that its group releases. {words[0].upper()}{words[1:]}."
        )
    ]
    spikes = {name: kind.spike for name, kind in run.kinds.items() if kind.spike is not None}
    if spikes:
        facts.append(_spikes(run, spikes))
    return facts


def _said(kind: KindFacts, run: JudgedRun) -> str:
    if kind.name == "nominal":
        return _NOMINAL[run.nominal]
    spread = f", spread so that {run.moments}s are kept" if kind.name == "number" and run.moments != "none" else ""
    return kind.said.replace("mean", run.aggregate) + spread


def _spikes(run: JudgedRun, spikes: dict[str, float]) -> Fact:
    columns = ", ".join(f"{name} ({value:g})" for name, value in spikes.items())
    when = "all members have it"
    if run.spike_totals == "safe":
        when = f"fewer than {min(run.k, 3)} members have another value, so that no single amount is disclosed"
    weight = (
        f"When groups are formed, the difference between spike and no spike counts {run.spike_weight:g} times as much "
        f"as the amount."
    )
    return Fact("spikes", columns, f"A group releases the spike if {when}. {weight}")


def missing_values(judgement: Judgement) -> Fact:
    """Return what became of missing values; in public nothing that was counted."""
    run, missing = judgement.run, judgement.missing
    word, why = _MISSING[run.missing]
    if judgement.public or run.missing in ("error", "drop"):
        return Fact("missing values", word, why)
    if not (missing.cells or missing.filled):
        return Fact("missing values", "none", "No masked column has missing values.")
    counts = []
    if missing.patterns is not None:
        moved = (
            "no record had to join another pattern"
            if not missing.moved
            else f"{counted(missing.moved, 'record')} with a pattern of fewer than k records joined another pattern"
        )
        counts.append(f"There are {counted(missing.patterns, 'pattern')}; {moved}.")
    filled, blanked = missing.filled or 0, missing.blanked or 0
    if filled or blanked:
        made_empty = counted(blanked, "value was", "values were")
        counts.append(f"{_WHOLE} {counted(filled, 'cell was', 'cells were')} filled, and {made_empty} made empty.")
    else:
        counts.append("No empty cell was filled, and no value was made empty.")
    return Fact("missing values", word, sentence([why, *counts]))


def rounding(judgement: Judgement) -> Fact:
    """Return how released means were rounded, and internally how far that changed totals."""
    run = judgement.run
    if run.rounding == "none":
        what = "Means" if run.moments == "none" else "Values"
        return Fact("rounding", "none", f"{what} are released with all their digits.")
    how = "to the step of each original column" if run.rounding == "auto" else "to steps that were chosen by column"
    rounded = {one.column: one for one in judgement.loss.columns if one.step is not None}
    if not rounded:
        return Fact("rounding", how, "" if judgement.public else "No column is a quantity.")
    names: dict[float | None, list[str]] = {}
    for name in run.kinds:  # in the order of the file
        if name in rounded:
            names.setdefault(rounded[name].step, []).append(name)
    steps = "; ".join(f"{step:g}: {first_of(columns)}" for step, columns in names.items())
    most = rounding_moved(judgement)
    totals = total_words(judgement)
    changed = f"{totals} changed by {at_most(most)}." if most else "No total changed."
    return Fact("rounding", how, f"{steps}. {changed}")


def rounding_moved(judgement: Judgement) -> float:
    """Return how far a total changed by rounding at most, in percent, among those that can be compared."""
    columns = [one for one in judgement.loss.columns if one.change is not None and one.change.total is not None]
    return max((abs(one.rounding_moved or 0.0) for one in columns), default=0.0)
