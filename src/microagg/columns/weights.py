"""Weights of a sample: the columns that hold them, for how many each record counts, and its share in a group."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.kernels.sums import exact_digits, exact_sum, round_digits
from microagg.base.frozen import frozen
from microagg.columns.frames import floats_of, numbers_like
from microagg.errors import InvalidData, setting

Values = NDArray[np.float64]
Labels = NDArray[np.int64]

DOMINATED = 0.8
"""The largest share that one member, or unit, may have of a group's weight: above, a mean is all but its value."""

_OTHERS = 4.0  # 0.8 to 0.2: so many times the weight of all others is the most that one member may have
_BITS = 48  # of the whole weights' total: sums are exact, and so are those of levels times weights


def power_of(total: float) -> int:
    """Return the power of two by which weights of this total are counted in whole units."""
    return _BITS - int(np.frexp(total)[1]) if total > 0 else 0


_DIGITS = (1, 2, 5)
_LEAST = 1e-290  # lower weights count as this one: their steps would leave the range of float64
_PART = 20.0  # a step is this part of the median weight, at most


class WeightStep(NamedTuple):
    """What weights that are released by group are multiples of: 1, 2 or 5 times a power of ten.

    Attributes
    ----------
    number : int
        In the series ..., 0.5, 1, 2, 5, 10, ..., where that of 1 is 0.
    """

    number: int

    @classmethod
    def of(cls, counts: Mapping[int, int]) -> "WeightStep":
        """Return the largest step that is at most 5 % of the median of the positive weights, the lower one of two.

        `counts` say for how many weights each step is the largest, as `count_steps` gives them.
        """
        half, reached = (sum(counts.values()) + 1) // 2, 0
        for number in sorted(counts):
            reached += counts[number]
            if reached >= half:
                return cls(number)
        return cls(0)  # no weight is positive: none is rounded

    @property
    def size(self) -> float:
        """The step itself."""
        return float(self._times(np.ones(1))[0])

    def rounded(self, values: Values) -> Values:
        """Return the nearest multiples, half to even; a weight above 0 is one step at least."""
        times = np.rint(values / self.size)
        return self._times(np.where(values > 0, np.maximum(times, 1.0), times))

    def _times(self, times: Values) -> Values:
        power, place = divmod(self.number, len(_DIGITS))
        times = times * _DIGITS[place]
        return np.asarray(times * 10.0**power if power >= 0 else times / 10.0**-power)


class WeightScale(NamedTuple):
    """How a weight is counted and released: in whole units of 2**-power, and by group in multiples of a step.

    `zeros` says whether some records weigh nothing.
    """

    power: int
    step: WeightStep
    zeros: bool


def count_steps(values: Values) -> dict[int, int]:
    """Return for how many positive weights each step, by number, is the largest of at most 5 % of the weight."""
    positive = np.maximum(values[values > 0], _LEAST)
    most = positive / _PART * (1.0 + 1e-9)  # 5 % of 0.2 is 0.01, whatever the last digit says
    powers = np.floor(np.log10(most))
    digits = most / 10.0**powers
    numbers = len(_DIGITS) * powers.astype(np.int64) + (digits >= _DIGITS[1]) + (digits >= _DIGITS[2])
    found, counts = np.unique(numbers, return_counts=True)
    return dict(zip(found.tolist(), counts.tolist(), strict=True))


class Weights(NamedTuple):
    """The weight of each record.

    Attributes
    ----------
    values : array of shape (n,)
        0 or more, and finite.
    power : int
        Weights are compared in whole units of 2**-power, whose sums are exact: which of two categories weighs more then
        depends neither on the order of the records nor on how a file is cut. It follows from the whole file's total.
    units : array of shape (n,) or None
        The unit (person, household or firm) of each record, where one may have several in a group: together they may
        not have most of its weight.
    """

    values: Values
    power: int
    units: Labels | None = None

    @classmethod
    def of(cls, values: Values) -> "Weights":
        """Return the weights of a whole file."""
        return cls(values, power_of(exact_sum(values)))

    @property
    def whole(self) -> Labels:
        """The weights in whole units."""
        return in_units(self.values, self.power)

    def take(self, rows: Labels | NDArray[np.bool_]) -> "Weights":
        """Return the weights of some records."""
        return self._replace(values=self.values[rows], units=None if self.units is None else self.units[rows])


def in_units(values: Values, power: int) -> Labels:
    """Return weights in whole units of 2**-power."""
    return np.rint(np.ldexp(values, power)).astype(np.int64)


class Members(NamedTuple):
    """What the members of groups weigh in what their group releases.

    Members of a group that weighs nothing count as if all weighed the same.

    Attributes
    ----------
    weights : Weights
        As in the file.
    units : array of shape (n,)
        The same in whole units.
    values : array of shape (n,)
        By which values are averaged: 0 for members without a value, and where one member has more than 0.8 of the
        weight of those with a value, its weight is cut to that share. Where units are known, the members of one are
        taken together, and cut by the same factor.
    whole : array of shape (n,)
        The same in whole units.
    cut : array of shape (groups,)
        In which groups a weight was cut.
    """

    weights: Weights
    units: Labels
    values: Values
    whole: Labels
    cut: NDArray[np.bool_]

    @classmethod
    def of(cls, weights: Weights, labels: Labels, n_groups: int, present: NDArray[np.bool_] | None = None) -> "Members":
        """Return what members weigh; `present` marks which of them have a value, where not all do."""
        values = weights.values if present is None else np.where(present, weights.values, 0.0)
        values, cut = _cut(values, labels, n_groups, weights.units)
        alike = np.ones(values.size) if present is None else present.astype(np.float64)
        counts = alike
        if (
            weights.units is not None and cut.any()
        ):  # nobody else weighs anything: the unit may have most of the rows too
            within, _ = _cut(alike, labels, n_groups, weights.units)
            counts = np.where((cut & (_sums(within, labels, n_groups) > 0))[labels], within, alike)
        values = np.where(_sums(values, labels, n_groups)[labels] > 0, values, counts)
        return cls(
            weights,
            _or_alike(weights.whole, labels, n_groups, np.ones(values.size, dtype=np.int64)),
            values,
            _or_alike(in_units(values, weights.power), labels, n_groups, alike.astype(np.int64)),
            cut,
        )

    def take(self, rows: Labels | NDArray[np.bool_]) -> "Members":
        """Return some of the members."""
        return Members(self.weights.take(rows), self.units[rows], self.values[rows], self.whole[rows], self.cut)


def has_most(values: Values, labels: Labels, n_groups: int, units: Labels | None) -> NDArray[np.bool_]:
    """Return in which groups a member, or unit, has more than 0.8 of the weight."""
    return _cut(values, labels, n_groups, units)[1]


def _cut(values: Values, labels: Labels, n_groups: int, units: Labels | None) -> tuple[Values, NDArray[np.bool_]]:
    """Cut the weights of a member, or unit, that has more than 0.8 of its group's; return in which groups one has."""
    members, owners, sums = np.arange(values.size), labels, values
    if units is not None:
        n_units = int(units.max()) + 1
        pairs, members = np.unique(labels * n_units + units, return_inverse=True)
        owners, sums = pairs // n_units, _sums(values, members, pairs.size)
    highest = np.zeros(n_groups)
    np.maximum.at(highest, owners, sums)
    # The others are summed by themselves: what is left of a sum that one member makes is lost in its last digits.
    top = np.flatnonzero(sums == highest[owners])
    first = np.full(n_groups, sums.size)
    np.minimum.at(first, owners[top], top)
    own = members == first[labels]
    most = _OTHERS * _sums(np.where(own, 0.0, values), labels, n_groups)
    cut = highest > most
    if not cut.any():
        return values, cut
    fresh = values.copy()
    rows = np.flatnonzero(own & cut[labels])
    fresh[rows] = most[labels[rows]] * (values[rows] / highest[labels[rows]])
    return fresh, cut


def _sums(values: Values, labels: Labels, n_groups: int) -> Values:
    return np.bincount(labels, weights=values, minlength=n_groups).astype(np.float64)


def _or_alike(whole: Labels, labels: Labels, n_groups: int, alike: Labels) -> Labels:
    """Return whole units, in their place 1 for each member of a group that has none."""
    totals = _sums(whole.astype(np.float64), labels, n_groups)  # exact: they are below 2**53
    return np.asarray(np.where(totals[labels] > 0, whole, alike))


_LARGEST = 2.0**60  # beyond, or below its inverse, products with values leave the range of float64


class WeightSeen(NamedTuple):
    """What is known of a column of weights; what several parts of a file know can be joined."""

    missing: int
    infinite: int
    negative: int
    zeros: int
    largest: float
    total: Labels  # the exact sum, as digits
    steps: Mapping[int, int]  # see `count_steps`

    @classmethod
    def of(cls, values: Values) -> "WeightSeen":
        """Look at some weights."""
        good = values[np.isfinite(values)]
        return cls(
            int(np.count_nonzero(np.isnan(values))),
            int(np.count_nonzero(np.isinf(values))),
            int(np.count_nonzero(values < 0)),
            int(np.count_nonzero(values == 0)),
            float(good.max(initial=0.0)),
            exact_digits(good),
            count_steps(good),
        )

    def join(self, other: "WeightSeen") -> "WeightSeen":
        """Return what is known from both."""
        return WeightSeen(
            self.missing + other.missing,
            self.infinite + other.infinite,
            self.negative + other.negative,
            self.zeros + other.zeros,
            max(self.largest, other.largest),
            self.total + other.total,
            Counter(self.steps) + Counter(other.steps),
        )

    @property
    def scale(self) -> WeightScale:
        """How these weights are counted and released."""
        return WeightScale(power_of(round_digits(self.total)), WeightStep.of(self.steps), self.zeros > 0)

    def check(self, name: Any) -> None:
        """Refuse a column that does not hold weights; none of its cells is shown."""
        counts = {"missing": self.missing, "infinite": self.infinite, "negative": self.negative}
        for what, count in counts.items():
            if count:
                raise _refused(name, f"has {count} {what} value(s)", "Correct them, or drop those records")
        if self.largest == 0:
            raise _refused(name, "is 0 in every record", "Name another column")
        if not 1 / _LARGEST < self.largest < _LARGEST:
            raise _refused(name, "has values too large or small for weights", "Scale it")


def _refused(name: Any, what: str, remedy: str) -> InvalidData:
    return InvalidData(
        f"the weight {name!r} {what}; it must be a number of 0 or more in every record. {remedy}; or release it "
        f"without using it: {setting('weighted', False)}.",
        parameter="weight",
        columns=(name,),
    )


def weights_in(column: Any, name: Any) -> Values:
    """Return a column of weights as numbers, NaN where one is missing; refuse one that holds none."""
    series: nw.Series[Any] = nw.from_native(column, series_only=True)
    if not series.dtype.is_numeric():
        raise _refused(name, "is not numeric", "Name a column of numbers")
    return floats_of(series)


def checked_weights(series: nw.Series[Any], name: Any) -> Values:
    """Return a whole column of weights, or say why it is none."""
    values = weights_in(series, name)
    WeightSeen.of(values).check(name)
    return values


def weights_like(series: nw.Series[Any], values: Values) -> nw.Series[Any]:
    """Make a series of released weights: numbers of twice the usual digits, of the library of another series."""
    return numbers_like(series.cast(nw.Float64), values)


@frozen()
class Weighing:
    """What is done with the weights of a file, settled.

    Attributes
    ----------
    names : tuple
        The columns of weights, the one that weights representatives first.
    weighted : bool
        Whether representatives are weighted.
    by_group : bool
        Whether weights are released as the means of groups.
    cap : bool
        Whether weights that dominate their group are cut.
    calibrate : tuple
        The columns whose totals by category are kept.
    """

    names: tuple[Any, ...] = ()
    weighted: bool = False
    by_group: bool = False
    cap: bool = False
    calibrate: tuple[Any, ...] = ()

    @property
    def used(self) -> tuple[Any, ...]:
        """The columns whose values are used."""
        return self.names if self.by_group else self.names[: int(self.weighted)]


class Weighed(NamedTuple):
    """The weights of records, by column: those that are used; if none is, the first one, where it can be read.

    Loss and risk are measured by the first one, whether it is used or not.
    """

    weighing: Weighing
    values: Mapping[Any, Values]

    @classmethod
    def of(cls, frame: Any, weighing: Weighing) -> "Weighed":
        """Read the weights of a frame, or say why they are none."""
        found = {name: checked_weights(frame.get_column(name), name) for name in weighing.used}
        if not found and weighing.names:
            name = weighing.names[0]
            try:
                found[name] = checked_weights(frame.get_column(name), name)
            except InvalidData:  # it is released unchanged, whatever it holds
                return cls(weighing, {})
        return cls(weighing, found)

    def take(self, rows: Labels | NDArray[np.bool_]) -> "Weighed":
        """Return the weights of some records."""
        return self._replace(values={name: values[rows] for name, values in self.values.items()})

    @property
    def first(self) -> Weights | None:
        """The weights by which loss and risk are measured; None where there are none."""
        name = self.weighing.names[0] if self.weighing.names else None
        return Weights.of(self.values[name]) if name in self.values else None

    @property
    def representing(self) -> Weights | None:
        """The weights by which groups are represented; None if all records count the same."""
        return self.first if self.weighing.weighted else None


NOT_WEIGHED = Weighed(Weighing(), {})
