"""What a recipe asks of weights: how they are read, what they do to groups, and how they are released."""

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.equivalence import codes_of
from microagg.algorithms.kernels.sums import exact_digits, round_digits, rounded_group_means
from microagg.algorithms.scores import MovedTotal
from microagg.algorithms.units import Units
from microagg.checks import nearest, shown_name
from microagg.columns.kinds import Facts, Nominal
from microagg.columns.kinds.nominal import counts_of_numbers, numbers_of
from microagg.columns.roles import Role
from microagg.columns.table import Coded, Table
from microagg.columns.weights import DOMINATED, Weighing, Weights, WeightScale, WeightSeen, in_units
from microagg.errors import InvalidData, InvalidParameter, RoleError, setting
from microagg.mask.facts import WeightFacts
from microagg.mask.groups import Groups
from microagg.measures.loss import InformationLoss
from microagg.measures.weights import reveal_categories
from microagg.recipe import Recipe, WeightChoices
from microagg.recipe.combine import Combination, refuse

Labels = NDArray[np.int64]
Values = NDArray[np.float64]

LEAST, MOST = 1 / 3, 3.0
"""By what factors calibration may change a group's weight: beyond, its totals are bought too dearly."""

_RECORDS = 10  # for each value, on average: columns of so few values can be of a design
_NOTHING = 1e-12  # of the largest: eigenvalues below are 0, of categories that add up to all records


def weighing_of(recipe: Recipe) -> Weighing:
    """Settle what is done with weights, or say what does not go together."""
    chosen, names = recipe.weights, recipe.roles.of(Role.WEIGHT.value)
    refuse("weights", Combination(recipe=recipe))
    if not names:
        return Weighing()
    return Weighing(names, chosen.weighted is not False, chosen.release == "group", chosen.cap, chosen.calibrate)


def settled_weights(weighing: Weighing) -> WeightChoices:
    """Return what is done with weights as a recipe records it."""
    if not weighing.names:
        return WeightChoices()
    return WeightChoices(
        weighing.weighted, "group" if weighing.by_group else "as it is", weighing.cap, weighing.calibrate
    )


def check_dominance(dominated: int, n_groups: int, weighing: Weighing, *, of_units: bool) -> None:
    """Refuse groups in which one record, or unit, has most of the weight, unless such weights may be cut."""
    if dominated and not weighing.cap:
        hold = "holds" if dominated == 1 else "hold"
        raise InvalidData(
            f"{dominated} of {n_groups} groups {hold} one {'unit' if of_units else 'record'} with more than "
            f"{100 * DOMINATED:.0f} % of the group's weight, so that the mean is almost its value. Cut such weights, "
            f"which changes weighted totals: {setting('weight_cap', True)}; or do not weight: "
            f"{setting('weighted', False)}.",
            parameter="weight_cap",
            columns=weighing.names[:1],
        )


def weights_of_groups(values: Values, labels: Labels) -> Values:
    """Return for each record the mean weight of its group."""
    return np.asarray(rounded_group_means(values, labels, int(labels.max()) + 1)[labels])


def check_calibrated(weighing: Weighing, columns: Sequence[Coded]) -> None:
    """Refuse columns to calibrate by that are not masked categories."""
    known = {column.name: column for column in columns}
    for name in weighing.calibrate:
        if name not in known:
            raise RoleError(
                f"column {shown_name(name)} in calibrate is not masked. Name masked nominal "
                f"columns.{nearest(name, list(known))}",
                parameter="calibrate",
                columns=(name,),
            )
        if not isinstance(known[name].kind, Nominal):
            raise InvalidParameter(
                f"column {name!r} in calibrate is of kind {known[name].kind.name!r}, and only totals of nominal "
                "columns can be kept. Leave it out.",
                parameter="calibrate",
                columns=(name,),
            )


class Margins(NamedTuple):
    """Weighted totals of categories: what they are in the file, and what they are in the release, in whole units.

    The first place is that of all records, then come the categories of each column.
    """

    wanted: Labels
    found: Labels  # (places, places): of records released with both

    @property
    def effects(self) -> Values:
        """What each place adds to the factor of a group's weight, such that the totals become those wanted."""
        total = float(self.wanted[0])
        found, wanted = self.found / total, self.wanted / total
        return np.asarray(np.linalg.pinv(found, rcond=_NOTHING, hermitian=True) @ (wanted - found[0]))

    @property
    def missed(self) -> float:
        """How far a total stays from what is wanted, at most, as a share of all: where a category is gone."""
        total = float(self.wanted[0])
        return float(np.abs(self.found[0] / total + self.found / total @ self.effects - self.wanted / total).max())


def wanted_totals(weighed: Sequence[Labels]) -> Labels:
    """Return what all records weigh, and those of each category of some columns, by what the latter are."""
    return np.concatenate([[weighed[0].sum()], *weighed])


def found_totals(after: Sequence[Labels], sizes: Sequence[int], units: Labels) -> Labels:
    """Return what records weigh that are released with two categories, for each pair; parts of a file can be added.

    `after` are the numbers of the released categories, column by column, and `sizes` how many there are.
    """
    places = [np.zeros(units.size, dtype=np.int64)]
    places += [own + start for start, own in zip(_starts(sizes), after, strict=False)]
    n = 1 + sum(sizes)
    found = np.zeros((n, n), dtype=np.int64)
    for one in places:
        for other in places:
            pairs = np.bincount(one * n + other, weights=units, minlength=n * n)
            found += pairs.astype(np.int64).reshape(n, n)
    return found


def _starts(sizes: Sequence[int]) -> list[int]:
    return [int(start) for start in np.cumsum([1, *sizes])]


def factors_of(effects: Values, after: Sequence[Labels], sizes: Sequence[int]) -> Values:
    """Return by what calibration multiplies the weight of each record."""
    found = np.full(after[0].size, 1.0 + effects[0])
    for start, own in zip(_starts(sizes), after, strict=False):
        found += effects[start + own]
    return found


class Calibrated(NamedTuple):
    """What calibration did: by what it multiplied weights, from the least to the most, and what it missed."""

    lowest: float
    highest: float
    missed: float

    @classmethod
    def of(cls, factors: Values, missed: float) -> "Calibrated":
        """Return what calibration does to some weights."""
        return cls(float(factors.min()), float(factors.max()), missed)

    def join(self, other: "Calibrated") -> "Calibrated":
        """Return what was done to the weights of both."""
        lowest, highest = min(self.lowest, other.lowest), max(self.highest, other.highest)
        return Calibrated(lowest, highest, max(self.missed, other.missed))

    def check(self, name: Any) -> None:
        """Refuse to change weights too much."""
        if self.lowest < LEAST or self.highest > MOST:
            raise InvalidData(
                f"calibration would multiply weights of {name!r} by {self.lowest:.3g} to {self.highest:.3g}; from 1/3 "
                f"to 3 is allowed. Calibrate fewer columns, or those with fewer categories: {setting('calibrate')}.",
                parameter="calibrate",
                columns=(name,),
            )


def calibration_of(weighing: Weighing, parts: Sequence[Sequence[Calibrated]]) -> Calibrated:
    """Return what was done to all weights, from what was done in each part of a file, or refuse it."""
    whole: list[Calibrated] = [reduce(Calibrated.join, own) for own in zip(*parts, strict=True)]
    for name, own in zip(weighing.names, whole, strict=True):
        own.check(name)
    found: Calibrated = reduce(Calibrated.join, whole)
    return found


class RoundedFacts(NamedTuple):
    """The step of each weight that is released by group, and by which share rounding to it moved totals, by column."""

    steps: Mapping[Any, float]
    moved: Mapping[Any, float]


class RoundedWeights(NamedTuple):
    """How rounding the weights of groups moved weighted totals; what parts of a file know can be joined.

    Attributes
    ----------
    sums : list of MovedTotal
        Of each weight.
    totals : list of MovedTotal
        By the first weight, of the masked quantities, in the order of the file.
    categories : list of lists of arrays
        For each weight and each column to calibrate by, what was added to the weight of each category, in whole units.
    """

    sums: list[MovedTotal]
    totals: list[MovedTotal]
    categories: list[list[Labels]]

    def join(self, other: "RoundedWeights") -> "RoundedWeights":
        """Return what both moved."""
        sums, totals = (list(map(MovedTotal.join, *own)) for own in zip(self[:2], other[:2], strict=True))
        changed = [list(map(np.add, *own)) for own in zip(self.categories, other.categories, strict=True)]
        return RoundedWeights(sums, totals, changed)

    def facts(self, weighing: Weighing, scales: Sequence[WeightScale], columns: Iterable[Coded]) -> RoundedFacts:
        """Return what is reported of it; `columns` are those that are masked."""
        moved = {name: own.share for name, own in zip(weighing.names, self.sums, strict=True)}
        quantities = [column.name for column in columns if column.kind.is_quantity]
        moved |= {name: own.share for name, own in zip(quantities, self.totals, strict=True)}
        for own, scale, changed in zip(self.sums, scales, self.categories, strict=True):
            whole = np.ldexp(round_digits(own.total), scale.power)
            for name, one in zip(weighing.calibrate, changed, strict=True):
                moved[name] = max(moved.get(name, 0.0), float(np.abs(one).max() / whole))
        return RoundedFacts({name: scale.step.size for name, scale in zip(weighing.names, scales, strict=True)}, moved)


def round_weights(
    values: Sequence[Values],
    scales: Sequence[WeightScale],
    released: Table,
    after: Sequence[Labels],
    sizes: Sequence[int],
) -> tuple[list[Values], RoundedWeights]:
    """Round the weights of groups; return them, record by record, and how that moved weighted totals.

    `after` are the numbers of the categories that columns to calibrate by release, of which there are `sizes`.
    """
    found = [scale.step.rounded(own) for scale, own in zip(scales, values, strict=True)]
    changes = [now - own for own, now in zip(values, found, strict=True)]
    sums = [MovedTotal(exact_digits(own), exact_digits(change)) for own, change in zip(values, changes, strict=True)]
    totals, categories = [], []
    for cells in (column.cells for column in released if column.kind.is_quantity):
        # As where values are rounded, only the share is reported.
        known = np.ldexp(cells.known, -100 if np.abs(cells.known).max(initial=0.0) > 2.0**900 else 0)
        totals.append(MovedTotal(*(exact_digits(own[cells.present] * known) for own in (values[0], changes[0]))))
    for change, scale in zip(changes, scales, strict=True):
        added = in_units(change, scale.power)
        columns = zip(after, sizes, strict=True)
        categories.append([np.bincount(own, added, size).astype(np.int64) for own, size in columns])
    return found, RoundedWeights(sums, totals, categories)


class ReleasedWeights(NamedTuple):
    """What is released in the place of weights, and what was done to them.

    Attributes
    ----------
    values : mapping
        The released weights by column; empty if they are released unchanged.
    calibrated : Calibrated or None
    rounded : RoundedFacts or None
    revealing : mapping
        See `revealing_weights`.
    """

    values: dict[Any, Values]
    calibrated: Calibrated | None = None
    rounded: RoundedFacts | None = None
    revealing: Mapping[Any, int] = MappingProxyType({})


def released_weights(
    original: Table, groups: Groups, released: Table, k: int, dropped: Mapping[Any, Labels]
) -> ReleasedWeights:
    """Return what each record gets in the place of its weights; `dropped` are the columns that are not released."""
    weighing, weights = original.weighed
    if not weighing.by_group:
        return ReleasedWeights({})
    labels = groups.released_together
    found = {name: weights_of_groups(weights[name], labels) for name in weighing.names}
    columns = original.named(weighing.calibrate).columns
    facts = [column.kind.count(column.cells) for column in columns]
    sizes = [counts_of_numbers(one).size for one in facts]
    after = released_numbers(released.named(weighing.calibrate).columns, facts)
    done = []
    for name, values in found.items() if columns else ():
        whole = Weights.of(weights[name]).whole
        wanted = [column.kind.weighed(column.cells, whole, one) for column, one in zip(columns, facts, strict=True)]
        margins = Margins(wanted_totals(wanted), found_totals(after, sizes, whole))
        factors = factors_of(margins.effects, after, sizes)
        done.append(Calibrated.of(factors, margins.missed))
        values *= factors
    calibrated = calibration_of(weighing, [done]) if columns else None
    scales = [WeightSeen.of(weights[name]).scale for name in weighing.names]
    rounded, moved = round_weights([*found.values()], scales, released, after, sizes)
    own = dict(zip(found, rounded, strict=True))
    revealing = revealing_weights(weights, own, original, labels, groups.labels, k, original.units, dropped)
    return ReleasedWeights(own, calibrated, moved.facts(weighing, scales, released), revealing)


def revealing_weights(
    before: Mapping[Any, Values],
    after: Mapping[Any, Values],
    original: Table,
    labels: Labels,
    groups: Labels,
    k: int,
    units: Units | None,
    dropped: Mapping[Any, Labels],
) -> dict[Any, int]:
    """Return for each weight that is released by group how many groups it shows categories of the design of.

    `labels` say which records are released with the same weight: a group, or a place in a group of whole units.
    `dropped` are the columns that are not released, numbered from 0: they may be of the design too.
    """
    categories = _categories(original, dropped)
    whose = None if units is None else units.codes
    found = {}
    for name, own in after.items():
        shown = reveal_categories(codes_of(before[name]), codes_of(own), categories, labels, k, whose)
        found[name] = int(np.unique(groups[shown[labels]]).size)
    return found


def _categories(original: Table, dropped: Mapping[Any, Labels]) -> dict[Any, Labels]:
    """Return the columns that can be of a design: categories, and whatever else has few values, masked or dropped."""
    found = {**{one.name: codes_of(one.cells.classes) for one in original}, **dropped}
    named = {one.name for one in original if isinstance(one.kind, Nominal)}
    few = original.n_records / _RECORDS
    return {name: own for name, own in found.items() if name in named or int(own.max()) < few}


def released_numbers(columns: Sequence[Coded], facts: Sequence[Facts]) -> list[Labels]:
    """Return the numbers of categories that are released; `facts` are those of the original."""
    return [numbers_of(column.cells, one.counts.size) for column, one in zip(columns, facts, strict=True)]


def weight_facts(
    information: InformationLoss,
    dominated: int,
    moved: Mapping[Any, MovedTotal],
    calibrated: Calibrated | None,
    rounded: RoundedFacts | None = None,
    revealing: Mapping[Any, int] = MappingProxyType({}),
) -> WeightFacts:
    """Return what weights did to a release."""
    return WeightFacts(
        information,
        dominated,
        {name: own.share for name, own in moved.items()} if dominated else {},
        None if calibrated is None else (calibrated.lowest, calibrated.highest),
        0.0 if calibrated is None else calibrated.missed,
        {} if rounded is None else rounded.steps,
        {} if rounded is None else rounded.moved,
        dict(revealing),
    )
