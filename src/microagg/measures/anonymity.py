"""How many records an intruder cannot distinguish, and what they disclose together."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.equivalence import codes_of, first_of_each, split_classes
from microagg.algorithms.kernels.alike import (
    Digests,
    classes_of,
    digests_of,
    digests_of_sets,
    fewest_alike,
    fewest_in_groups,
    float_bits,
    in_order,
    with_units,
)
from microagg.algorithms.kernels.diversity import farthest_by_earth_movers
from microagg.algorithms.kernels.sums import group_sizes
from microagg.algorithms.units import Units, held_by
from microagg.base.frozen import ReadOnly, frozen
from microagg.columns.table import Table
from microagg.columns.weights import Labels
from microagg.measures.measure import Measure, as_html, as_text
from microagg.work import ALONE, Progress, Work, tell

_PART = 1 << 18  # records whose digests are made together


@frozen()
class Diversity:
    """How varied a confidential column is among records with the same keys.

    Attributes
    ----------
    distinct : int
        The smallest number of different values among records with the same keys (distinct l-diversity).
    entropy : float
        The least exp(entropy) of the values among them (entropy l-diversity): like a number of values
        equally frequent.
    t : float
        The greatest distance of their distribution to the whole file's, values taken as unordered (half the sum
        of absolute differences).
    t_ordered : float
        The same by the earth mover's distance over the ordered values; NaN for text.
    uniform_groups, uniform_records : int
        How many groups of records with the same keys have only one value, which discloses it, and how many
        records they hold.
    """

    distinct: int
    entropy: float
    t: float
    t_ordered: float
    uniform_groups: int
    uniform_records: int


@frozen()
class Anonymity(ReadOnly):
    """How well a file hides its records among others with the same keys.

    Attributes
    ----------
    k : int
        The fewest records that share one combination of keys. Where units are known, those are counted: as many times
        the rows of the one that has most as there are rows in all, rounded down.
    n_records, n_combinations : int
    n_unique : int
        Records whose combination no other record, or unit, has.
    diversity : mapping
        For each confidential column, its `Diversity`.
    units : int or None
        The fewest different units that share one combination, where they are known.
    share : float or None
        The largest part of the rows of one combination that one unit has, in percent.

    Examples
    --------
    >>> import microagg as ma
    >>> survey = ma.datasets.survey(500, seed=0).select(["age", "income", "hours"])
    >>> ma.anonymity(survey, ["age", "income"]).k
    1
    >>> ma.anonymity(ma.protect(survey, k=5).data, ["age", "income"]).k
    5
    """

    k: int
    n_records: int
    n_combinations: int
    n_unique: int
    diversity: Mapping[Any, Diversity]
    units: int | None = None
    share: float | None = None

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The figures as objects that know how to be read."""
        n = float(self.n_records)
        share = 100.0 * self.n_unique / self.n_records
        whose, alone = ("records", "record") if self.units is None else ("units", "unit")
        found = [
            Measure("k", self.k, "higher", (1.0, n), f"The smallest number of {whose} with the same keys."),
            Measure("unique", share, "lower", (0.0, 100.0), f"Records whose keys no other {alone} has.", "%"),
        ]
        if self.share is not None:
            explained = "The largest share that one unit has of the rows with the same keys."
            found.append(Measure("largest share", self.share, "lower", (0.0, 100.0), explained, "%"))
        l_is = "The smallest number of different values among records with the same keys."
        t_is = "The largest difference between records with the same keys and the whole file."
        for name, own in self.diversity.items():
            found += [
                Measure(f"l of {name}", own.distinct, "higher", (1.0, n), l_is),
                Measure(
                    f"entropy l of {name}", own.entropy, "higher", (1.0, n), "The same, but rare values count less."
                ),
                Measure(f"t of {name}", own.t, "lower", (0.0, 1.0), t_is),
            ]
            if not np.isnan(own.t_ordered):
                found.append(
                    Measure(
                        f"ordered t of {name}", own.t_ordered, "lower", (0.0, 1.0), "The same, by the order of values."
                    )
                )
        return tuple(found)

    def __repr__(self) -> str:
        return as_text(f"Anonymity of {self.n_records} records", self.measures)

    def _repr_html_(self) -> str:
        return as_html(f"Anonymity of {self.n_records} records", self.measures)


def measure_anonymity(
    alike: NDArray[np.int64],
    confidential: Mapping[Any, tuple[NDArray[np.int64], bool]],
    units: Units | None = None,
    progress: Progress | None = None,
) -> Anonymity:
    """Judge records by the number of their combination of keys.

    `alike` (n,) is numbered from 0 without gaps; `confidential` gives each column's categories, numbered in
    order from 0 without gaps, and whether that order means anything; `units` are the units of records.
    """
    sizes = group_sizes(alike, int(alike.max()) + 1)
    diversity = {}
    for name, column in confidential.items():
        diversity[name] = _diversity(alike, sizes, *column)
        tell(progress, len(diversity), len(confidential))
    if units is None:
        return Anonymity(int(sizes.min()), alike.size, sizes.size, int(np.count_nonzero(sizes == 1)), diversity)
    held = held_by(alike, units.codes, sizes.size)
    return Anonymity(
        k=int((held.rows // held.largest if units.in_part else held.units).min()),
        n_records=alike.size,
        n_combinations=sizes.size,
        n_unique=int(held.rows[held.units == 1].sum()),
        diversity=diversity,
        units=int(held.units.min()),
        share=100.0 * float((held.largest / held.rows).max()),
    )


def _diversity(
    alike: NDArray[np.int64], sizes: NDArray[np.int64], codes: NDArray[np.int64], ordered: bool
) -> Diversity:
    """Judge one column, one combination's values after the other: only pairs that occur are ever stored."""
    n_values = int(codes.max()) + 1
    overall = np.bincount(codes) / codes.size
    cumulative = np.cumsum(overall)
    pairs, counts = np.unique(alike * n_values + codes, return_counts=True)
    owner, value = pairs // n_values, pairs % n_values
    shares = counts / sizes[owner]
    entropies = -np.bincount(owner, shares * np.log(shares), minlength=sizes.size)
    # Σ |p - q| over all values is that over the values that occur, and the overall share of all others.
    gaps = np.bincount(owner, np.abs(shares - overall[value]) - overall[value], minlength=sizes.size)
    distinct = np.bincount(owner, minlength=sizes.size)
    distance = float("nan")
    if ordered:
        starts = np.searchsorted(owner, np.arange(sizes.size + 1))
        distance = farthest_by_earth_movers(starts, value, shares, cumulative) / max(1, n_values - 1)
    return Diversity(
        distinct=int(distinct.min()),
        entropy=float(np.exp(entropies.min())),
        t=float(max(0.0, (gaps.max() + 1.0) / 2.0)),
        t_ordered=distance,
        uniform_groups=int(np.count_nonzero(distinct == 1)),
        uniform_records=int(sizes[distinct == 1].sum()),
    )


def fewest_whole_units(table: Table, strata: NDArray[np.int64], units: NDArray[np.int64]) -> int:
    """Return the fewest units that have the same rows: released values and stratum, as often as each occurs."""
    numbers = np.asarray(strata, dtype=np.int64).view(np.uint64)
    found = digests_of([*(float_bits(column.cells.classes) for column in table), numbers], os.urandom(16))
    return fewest_alike([in_order(digests_of_sets(found, units))])


def classes_sharing(table: Table, strata: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number records such that those that share a combination of released values and stratum have the same number."""
    numbers = np.asarray(strata, dtype=np.int64).view(np.uint64)
    return classes_of(digests_of([*(float_bits(column.cells.classes) for column in table), numbers], os.urandom(16)))


def fewest_sharing(
    table: Table,
    strata: NDArray[np.int64],
    *,
    units: Units | None = None,
    groups: NDArray[np.int64] | None = None,
    per_column: bool = False,
    work: Work = ALONE,
) -> int:
    """The fewest records, or units where these are known, that share a combination of released values and stratum.

    Zeros of both signs are equal, and a missing value is equal to one that is missing in the same way only. So it is
    never more than what `files.promise.check_written` counts, where all that is missing is equal.

    Parameters
    ----------
    table : Table
        The released values themselves.
    strata : array of shape (n,)
    units : Units, optional
    groups : array of shape (n,), optional
        Records that were masked together, numbered from 0. Where they did get the same values, which is checked,
        counting takes less time; the answer is the same whatever they are.
    per_column : bool
        Whether to count each column by itself, with the strata.
    work : Work
    """
    key, in_part = os.urandom(16), units is None or units.in_part
    numbers = np.asarray(strata, dtype=np.int64).view(np.uint64)
    first, second, third, fourth = work.stages(4)
    columns = first.each(lambda column, _: column.cells.classes, table.columns)

    def digests(rows: slice, own: Sequence[NDArray[np.float64]]) -> Digests:
        found = digests_of([*(float_bits(values[rows]) for values in own), numbers[rows]], key)
        return found if units is None else with_units(found, units.codes[rows])

    def of_part(start: int, _: Callable[[], None]) -> Digests:
        return digests(slice(start, start + _PART), columns)

    def of_column(values: NDArray[np.float64], _: Callable[[], None]) -> int:
        return fewest_alike([in_order(digests(slice(None), [values]))], in_part)

    if per_column:
        return min(second.each(of_column, columns))
    starts = range(0, numbers.size, _PART)
    parts = second.each(of_part, starts)
    if groups is not None and units is None:
        heads = np.concatenate(parts, axis=1)[:, first_of_each(groups)]

        def is_alike(start: int, _: Callable[[], None]) -> bool:
            own = groups[start : start + _PART]
            return all(np.array_equal(head[own], lane) for head, lane in zip(heads, parts[start // _PART], strict=True))

        if all(third.each(is_alike, starts)):
            return fewest_in_groups(heads, np.bincount(groups))
    return fewest_alike(fourth.each(lambda part, _: in_order(part), parts), in_part)


_MOST_SETS = 64  # of columns that are constant in a unit: the commonest are looked at


@frozen()
class RebuiltUnits(ReadOnly):
    """How many units come together again.

    Attributes
    ----------
    units : int
        Units of two rows or more that share a combination of released values which fewer than k units have.
    of : int
        Units of two rows or more.
    by_column : mapping
        For each column that does so by itself, how many.
    """

    units: int
    of: int
    by_column: Mapping[Any, int]

    @property
    def percent(self) -> float:
        """The share of the units of two rows or more."""
        return 100.0 * self.units / self.of if self.of else 0.0


def rebuilt_units(columns: Mapping[Any, Labels], units: Labels, k: int) -> RebuiltUnits:
    """Count the units that an intruder brings together again.

    The columns that are constant in a unit are taken together. If fewer than k units have a row with the same values
    there, the rows of the unit are known to belong together, or to one of very few. Of units that differ in which
    columns are constant, the 64 commonest sets of columns are looked at.

    Parameters
    ----------
    columns : mapping of arrays of shape (n,)
        The codes of the released values.
    units : array of shape (n,)
        The unit of each row, numbered from 0.
    k : int
    """
    sizes = np.bincount(units)
    several, names = sizes > 1, list(columns)
    alone = {name: _rebuilt(_constant(columns[name], units) & several, [columns[name]], units, k) for name in names}
    constant = np.array([_constant(columns[name], units) for name in names]).reshape(len(names), sizes.size)
    sets, counts = np.unique(constant[:, several], axis=1, return_counts=True)
    found = np.zeros(sizes.size, dtype=bool)
    for place in np.argsort(-counts, kind="stable")[:_MOST_SETS]:
        own = sets[:, place]
        if own.any():
            whose = constant[own].all(axis=0) & several
            found |= _rebuilt(whose, [columns[name] for name, used in zip(names, own, strict=True) if used], units, k)
    by_column = {name: int(np.count_nonzero(rows)) for name, rows in alone.items() if rows.any()}
    return RebuiltUnits(int(np.count_nonzero(found)), int(np.count_nonzero(several)), by_column)


def _constant(codes: Labels, units: Labels) -> NDArray[np.bool_]:
    """Return in which units a column has one value."""
    one = np.zeros(int(units.max()) + 1, dtype=np.int64)
    one[units] = codes
    changes = np.zeros(one.size, dtype=bool)
    changes[units[codes != one[units]]] = True
    return ~changes


def _rebuilt(whose: NDArray[np.bool_], columns: Sequence[Labels], units: Labels, k: int) -> NDArray[np.bool_]:
    """Return which of some units, in which the columns are constant, share their values with fewer than k units."""
    classes = np.zeros(units.size, dtype=np.int64)
    for codes in columns:
        classes = split_classes(classes, codes, codes_of(codes))
    few = held_by(classes, units, int(classes.max()) + 1).units < k
    found = np.zeros(whose.size, dtype=bool)
    found[units[few[classes]]] = True
    return found & whose
