"""Weights: what they did, what they disclose, and what a sample leaves of the risk."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.equivalence import codes_of
from microagg.algorithms.kernels.sums import exact_sum
from microagg.algorithms.units import Units
from microagg.base.frozen import ReadOnly, frozen
from microagg.columns import frames
from microagg.columns.kinds import Nominal
from microagg.columns.roles import Role
from microagg.errors import InvalidData
from microagg.judge.parts import Fact, Finding
from microagg.judge.run import JudgedRun, columns_of
from microagg.judge.text import (
    FIXED,
    at_most,
    count,
    counted,
    first_of,
    listed,
    percent,
    points,
    quoted,
    sentence,
    shown,
)
from microagg.mask.facts import WeightFacts
from microagg.measures.weights import Telling, fingerprint, weights_to_link

if TYPE_CHECKING:
    from microagg.judge.judgement import Judgement
    from microagg.release import Release

_MANY_GROUPS = 0.1  # of all: the headline says it if the weights of more show categories
_FEW_LINKS = 0.1  # of a record: fewer expected links have no figure


@frozen()
class WeightFound(ReadOnly):
    """What one weight discloses where it is released unchanged."""

    weight: str
    distinct: int  # different weights
    rare: int  # records whose weight fewer than k share
    telling: Mapping[str, Telling]  # of each masked column of categories


@frozen()
class JudgedWeights(ReadOnly):
    """What weights did, and what they disclose. None in public."""

    found: tuple[WeightFound, ...]  # empty where they are released by group
    facts: WeightFacts | None  # what they did; None where the weight is no number
    groups: int  # in which those were counted
    population: float | None  # the sum of the weights; of whole units, where these are linked
    expected_links: float | None  # of the records, or whole units, by who cannot know who is in the sample

    @property
    def revealing(self) -> list[tuple[Any, int]]:
        """The weights released by group, and the groups whose weight shows categories of the design."""
        return [] if self.facts is None else list(self.facts.revealing.items())


def weighing_of(release: "Release[Any]", run: JudgedRun) -> JudgedWeights | None:
    """Return what weights did, for the internal report; None where no column is a weight."""
    if not columns_of(release, Role.WEIGHT):
        return None
    weights = release.pair.weights
    return JudgedWeights(
        found=() if run.weights_by_group else _found(release, run.k),
        facts=release.weights,
        groups=int(release.groups.max()) + 1,
        population=None if weights is None else _population(weights.values, release.pair.units),
        expected_links=release.risk.expected_links,
    )


def _population(weights: NDArray[np.float64], units: Units | None) -> float:
    """Return how many persons, or whole units, a sample represents."""
    whole = None if units is None or units.slots is None else units.codes
    return exact_sum(weights_to_link(weights, whole))


def _found(release: "Release[Any]", k: int) -> tuple[WeightFound, ...]:
    """Return what each weight that is released unchanged discloses of records and of masked categories."""
    frame = frames.open_frame(release.data)
    categories = {
        shown(column.name): codes_of(column.cells.classes)
        for column in release.pair.original
        if isinstance(column.kind, Nominal)
    }
    units = None if release.pair.units is None else release.pair.units.codes
    found = []
    for name in columns_of(release, Role.WEIGHT):
        try:
            own = fingerprint(frames.category_codes(frame, [name]), categories, k, units)
        except InvalidData:  # lists and mixed types cannot be counted
            continue
        found.append(WeightFound(shown(name), own.distinct, own.rare, own.telling))
    return tuple(found)


def done(judgement: "Judgement") -> list[Fact]:
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
    facts = None if found is None else found.facts
    if facts is not None and facts.factors is not None:
        low, high = facts.factors
        words.append(f"Calibration multiplied them by {low:.3g} to {high:.3g}.")
    if facts is not None and facts.steps:
        words.append(_rounded(facts))
    if facts is not None and facts.dominated:
        words.append(_cut(judgement, facts))
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


def _rounded(facts: WeightFacts) -> str:
    """Return to what the weights of groups were rounded, and how far that moved weighted totals."""
    steps = first_of([f"{step:g} ({quoted(name)})" for name, step in facts.steps.items()])
    most = 100.0 * max(map(abs, facts.rounding_moved.values()), default=0.0)
    return f"Rounding to multiples of {steps} changed weighted totals by {at_most(most)}."


def _cut(judgement: "Judgement", facts: WeightFacts) -> str:
    """Return in how many groups a weight was cut, and how far totals changed by that."""
    whose = "record" if judgement.groups.units is None else "unit"
    return (
        f"In {counted(facts.dominated, 'group')} one {whose} had more than 80{FIXED}% of the weight, which was cut to "
        f"that share. Weighted totals {_moved_by_cut(facts)}."
    )


def _moved_by_cut(facts: WeightFacts) -> str:
    shares = sorted(((name, 100.0 * share) for name, share in facts.moved.items()), key=lambda one: -abs(one[1]))
    moved = [f"{quoted(name)} {points(share)}{FIXED}%" for name, share in shares if abs(share) >= 0.005]
    return f"changed by that: {first_of(moved)}" if moved else f"changed by less than 0.01{FIXED}%"


def gives_away(one: WeightFound) -> list[str]:
    """Return the masked columns of which a weight discloses the category, each with how many weights do."""
    return [
        f"{quoted(name)} ({count(own.weights)} of {counted(one.distinct, 'weight')})"
        for name, own in one.telling.items()
        if own.share == 1.0
    ]


def headline(judgement: "Judgement") -> list[str]:
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


def _unused(judgement: "Judgement") -> str:
    """Return that weights were found and not used; empty where there are none, or they are."""
    named, guessed = judgement.run.names(Role.WEIGHT), judgement.unused_weights
    if named and not judgement.run.weighted:
        return f"The weight {quoted(named[0])} is not used: totals and shares here are unweighted."
    if guessed:
        may = "may be a sampling weight and is" if len(guessed) == 1 else "may be sampling weights and are"
        return f"{listed(guessed, 3)} {may} not used: the figures here are unweighted."
    return ""


def unused(judgement: "Judgement") -> list[Finding]:
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


def findings(judgement: "Judgement") -> list[Finding]:
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
    facts = found.facts
    if facts is not None and facts.dominated:
        short = f"weights were cut in {counted(facts.dominated, 'group')}; weighted totals {_moved_by_cut(facts)}."
        told.append(Finding("look", "weights cut", _cut(judgement, facts), short))
    if facts is not None and facts.missed > 1e-8:
        text = (
            f"After calibration, a weighted total of a category is wrong by up to {percent(100.0 * facts.missed)} of "
            f"the sum of the weights, since no group releases some category."
        )
        told.append(Finding("look", "calibration", text, f"{text[0].lower()}{text[1:]}"))
    return told


def lost(judgement: "Judgement") -> str:
    """Return the loss by weight."""
    found = judgement.weights
    if found is None or found.facts is None or not math.isfinite(found.facts.information.percent):
        return ""
    return f"With weights, the loss is {percent(found.facts.information.percent)}."


def linked(judgement: "Judgement") -> str:
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


def checked(judgement: "Judgement") -> Finding | None:
    """Return, for the checklist, how weights are released, where they are not released unchanged."""
    names = judgement.run.names(Role.WEIGHT)
    if not names or not judgement.run.weights_by_group:
        return None
    each = "the mean of its group" if len(names) == 1 else "the means of its group"
    return Finding("good", "weights", f"{listed(names)}: every record has {each}, rounded, and k covers it too.")


def total_words(judgement: "Judgement") -> str:
    """Return the name of the totals that are reported."""
    return "Weighted totals" if judgement.run.weighted else "Totals"


def as_json(weights: WeightFacts | None) -> dict[str, Any]:
    """Return what weights did: the loss by weight, weights that were cut, and how far totals moved by that."""
    if weights is None:
        return {}
    return {
        "information_loss_by_weight_percent": weights.information.percent,
        "groups_with_a_weight_cut": weights.dominated,
        "weighted_totals_moved_percent": {str(name): 100.0 * share for name, share in weights.moved.items()},
        "calibration_factors": None if weights.factors is None else list(weights.factors),
        "calibration_missed_percent": 100.0 * weights.missed,
        "weights_rounded_to": {str(name): step for name, step in weights.steps.items()},
        "weighted_totals_moved_by_that_percent": {
            str(name): 100.0 * share for name, share in weights.rounding_moved.items()
        },
        "groups_whose_weight_shows_categories": {str(name): groups for name, groups in weights.revealing.items()},
    }
