"""Columns of weights: read as numbers, refused where they cannot be weights, and what is done with them."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microagg.algorithms.kernels.sums import exact_digits, round_digits
from microagg.base.frozen import frozen
from microagg.columns.native import floats_of, numbers_like
from microagg.columns.weights import Weights, WeightScale, WeightStep, count_steps, power_of
from microagg.errors import InvalidData, setting

_LARGEST = 2.0**60  # beyond, or below its inverse, products with values leave the range of float64


class WeightSeen(NamedTuple):
    """What is known of a column of weights; what several parts of a file know can be joined."""

    missing: int
    infinite: int
    negative: int
    zeros: int
    largest: float
    total: NDArray[np.int64]  # the exact sum, as digits
    steps: Mapping[int, int]  # see `count_steps`

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> "WeightSeen":
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
        largest = max(self.largest, other.largest)
        steps = Counter(self.steps) + Counter(other.steps)
        return WeightSeen(
            self.missing + other.missing,
            self.infinite + other.infinite,
            self.negative + other.negative,
            self.zeros + other.zeros,
            largest,
            self.total + other.total,
            steps,
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


def weight_values(series: nw.Series[Any], name: Any) -> NDArray[np.float64]:
    """Return a column of weights as numbers, NaN where one is missing; refuse one that holds none."""
    if not series.dtype.is_numeric():
        raise _refused(name, "is not numeric", "Name a column of numbers")
    return floats_of(series)


def weights_in(column: pa.ChunkedArray, name: Any) -> NDArray[np.float64]:
    """Return a column of weights of an Arrow table as numbers, NaN where one is missing."""
    return weight_values(nw.from_native(column, series_only=True), name)


def checked_weights(series: nw.Series[Any], name: Any) -> NDArray[np.float64]:
    """Return a whole column of weights, or say why it is none."""
    values = weight_values(series, name)
    WeightSeen.of(values).check(name)
    return values


def weights_like(series: nw.Series[Any], values: NDArray[np.float64]) -> nw.Series[Any]:
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
    """The weights of records, by column: those that are used, and where none is the first one if it can be."""

    weighing: Weighing
    values: Mapping[Any, NDArray[np.float64]]

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

    def take(self, rows: NDArray[np.int64] | NDArray[np.bool_]) -> "Weighed":
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
