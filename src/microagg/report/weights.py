"""What is said of weights: what they did, what they disclose, and what a sample leaves of the risk."""

from collections.abc import Sequence

from microagg.columns.roles import Role
from microagg.judge import Judgement
from microagg.judge.parts import JudgedWeights, WeightFound
from microagg.report.parts import Fact, Finding
from microagg.report.text import FIXED, at_most, count, counted, first_of, listed, percent, points, quoted, sentence

_MANY_GROUPS = 0.1  # of all: the headline says it if the weights of more show categories
_FEW_LINKS = 0.1  # of a record: fewer expected links have no figure


def done(judgement: Judgement) -> list[Fact]:
    """Return what was done with weights; nothing where there are none."""
    run, found = judgement.run, judgement.weights
    names = run.names(Role.WEIGHT)
    if not names:
        return []
    first = quoted(names[0])
    words = [
        f"The values that groups release are weighted by {first}: weighted totals of means are exact before rounding, "
        f"and unweighted totals change."
        if run.weighted
        else "The values that groups release are not weighted: unweighted totals are kept, and weighted totals change.",
        "Distances do not depend on weights. Each group has k records, or units, with a weight above 0."
        if run.weighted
        else "Distances and k do not depend on weights.",
        _by_group(run.calibrated) if run.weights_by_group else "",
    ]
    if found is not None and found.factors is not None:
        low, high = found.factors
        words.append(f"Calibration multiplied them by {low:.3g} to {high:.3g}.")
    if found is not None and found.steps:
        words.append(_rounded(found))
    if found is not None and found.dominated:
        words.append(_cut(judgement, found))
    how = "weighted" if run.weighted else "not weighted"
    value = f"{how}; weights by group" if run.weights_by_group else f"{how}; weights unchanged"
    return [Fact("weights", value, sentence(words))]


def _by_group(calibrated: Sequence[str]) -> str:
    """Return which weight the records of a group have."""
    if not calibrated:
        return "Every record has the mean weight of its group, rounded. Before rounding, the sum of weights is exact."
    return (
        f"Every record gets the mean weight of its group. These weights are then adjusted, so that weighted totals of "
        f"the categories of {listed(calibrated)} are kept, and rounded last. This changes weighted totals of masked "
        f"numbers a little."
    )


def _rounded(found: JudgedWeights) -> str:
    """Return to what the weights of groups were rounded, and how far that moved weighted totals."""
    steps = first_of([f"{step:g} ({quoted(name)})" for name, step in found.steps])
    return f"Rounding to multiples of {steps} changed weighted totals by {at_most(found.rounding_moved)}."


def _cut(judgement: Judgement, found: JudgedWeights) -> str:
    """Return in how many groups a weight was cut, and how far totals changed by that."""
    whose = "record" if judgement.groups.units is None else "unit"
    return (
        f"In {counted(found.dominated, 'group')} one {whose} had more than 80{FIXED}% of the weight, which was cut to "
        f"that share. Weighted totals {_moved_by_cut(found)}."
    )


def _moved_by_cut(found: JudgedWeights) -> str:
    moved = [f"{quoted(name)} {points(share)}{FIXED}%" for name, share in found.moved if abs(share) >= 0.005]
    return f"changed by that: {first_of(moved)}" if moved else f"changed by less than 0.01{FIXED}%"


def gives_away(one: WeightFound) -> list[str]:
    """Return the masked columns of which a weight discloses the category, each with how many weights do."""
    return [
        f"{quoted(name)} ({count(own.weights)} of {counted(one.distinct, 'weight')})"
        for name, own in one.telling.items()
        if own.share == 1.0
    ]


def headline(judgement: Judgement) -> list[str]:
    """Return, for the headline, which columns weights disclose, how many groups, and that weights are not used."""
    weights = judgement.weights
    if weights is None:
        return [_unused(judgement)]
    away = [(one.weight, gives_away(one)) for one in weights.found]
    disclosed = [f"The weight {quoted(name)} discloses {first_of(columns, 3)}." for name, columns in away if columns]
    many = [one for one in weights.revealing if one[1] > _MANY_GROUPS * weights.groups]
    shown = [f"T{_reveals(name, groups, weights)[1:]}." for name, groups in many]
    return [*disclosed, *shown, _unused(judgement)]


def _reveals(name: str, groups: int, found: JudgedWeights) -> str:
    """Return in how many groups a weight that is released by group shows categories."""
    whole = counted(found.groups, "group")
    return f"the weight {quoted(name)} shows categories of the members in {count(groups)} of {whole}"


def _unused(judgement: Judgement) -> str:
    """Return that weights were found and not used; empty where there are none, or they are."""
    named, guessed = judgement.run.names(Role.WEIGHT), judgement.unused_weights
    if named and not judgement.run.weighted:
        return f"The weight {quoted(named[0])} is not used: totals and shares here are unweighted."
    if guessed:
        may = "may be a sampling weight and is" if len(guessed) == 1 else "may be sampling weights and are"
        return f"{listed(guessed, 3)} {may} not used: the figures here are unweighted."
    return ""


def unused(judgement: Judgement) -> list[Finding]:
    """Return what weights were found and not used, and what to do about it."""
    words = _unused(judgement)
    if not words:
        return []
    remedy = (
        "If users weight their results, let groups release weighted values (weighted)."
        if judgement.run.names(Role.WEIGHT)
        else "If it is one, name it as a weight. Users who weight their results find other figures."
    )
    return [Finding("look", "weights not used", f"{words} {remedy}", words)]


def findings(judgement: Judgement) -> list[Finding]:
    """Return what weights disclose, and how far totals changed where weights were cut."""
    found = judgement.weights
    if found is None:
        return []
    told = []
    remedy = "Release weights by group: every record then has the mean weight of its group, and k covers it too."
    for one in found.found:
        if gives_away(one):
            words = f"the weight {quoted(one.weight)} discloses {first_of(gives_away(one))}"
            told.append(
                Finding(
                    "look", "weights",
                    f"{words[0].upper()}{words[1:]}. All records with such a weight have the same original category, "
                    f"so the weight shows it, even though the column is masked. {remedy}",
                    f"{words}.",
                )
            )  # fmt: skip
        if one.rare:
            share = percent(100.0 * one.rare / judgement.groups.records)
            words = f"{counted(one.rare, 'record')} ({share}) have a weight {quoted(one.weight)} that fewer than "
            words += f"{judgement.run.k} records have"
            told.append(Finding("look", "weights", f"{words}. It may show who they are. {remedy}", f"{words}."))
    for name, groups in found.revealing:
        if groups:
            short = _reveals(name, groups, found)
            told.append(
                Finding(
                    "look", "weights",
                    f"{short[0].upper()}{short[1:]}. All groups with such a weight have members of the same original "
                    f"categories, so that the weight shows them, even though the column is masked or dropped. Use a "
                    f"larger k, or drop the weight.",
                    f"{short}.",
                )
            )  # fmt: skip
    if found.dominated:
        short = f"weights were cut in {counted(found.dominated, 'group')}; weighted totals {_moved_by_cut(found)}."
        told.append(Finding("look", "weights cut", _cut(judgement, found), short))
    if found.missed > 1e-6:
        text = (
            f"After calibration, a weighted total of a category is wrong by up to {percent(found.missed)} of the sum "
            f"of the weights, since no group releases some category."
        )
        told.append(Finding("look", "calibration", text, f"{text[0].lower()}{text[1:]}"))
    return told


def lost(judgement: Judgement) -> str:
    """Return the loss by weight."""
    found = judgement.weights
    return "" if found is None or found.percent is None else f"With weights, the loss is {percent(found.percent)}."


def linked(judgement: Judgement) -> str:
    """Return what is left of linkage where the intruder cannot know who is in the sample."""
    found = judgement.weights
    if found is None or found.expected_links is None or found.population is None:
        return ""
    links = found.expected_links
    number = "fewer than 0.1" if links < _FEW_LINKS else f"{links:.1f}" if links < 10 else count(round(links))
    stands_for = f"which by its weights represents a population of {count(round(found.population))}"
    units = None if judgement.risk is None else judgement.risk.units
    linked = counted(judgement.groups.records, "record") if units is None else counted(units, "unit")
    return (
        f"An intruder who cannot know who is in the sample, {stands_for}, links {number} of {linked} to the right one, "
        f"even if they find every group."
    )


def checked(judgement: Judgement) -> Finding | None:
    """Return, for the checklist, how weights are released, where they are not released unchanged."""
    names = judgement.run.names(Role.WEIGHT)
    if not names or not judgement.run.weights_by_group:
        return None
    each = "the mean of its group" if len(names) == 1 else "the means of its group"
    return Finding("good", "weights", f"{listed(names)}: every record has {each}, rounded, and k covers it too.")


def total_words(judgement: Judgement) -> str:
    """Return the name of the totals that are reported."""
    return "Weighted totals" if judgement.run.weighted else "Totals"
