"""The records of two files as analyses read them: numbers, categories with the same codes, domains and clusters.

Variances are by linearisation: of a statistic whose every record adds its influence.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.equivalence import distinct_of, without_gaps
from microagg.columns.table import Coded, Table
from microagg.columns.weights import Labels
from microagg.errors import InvalidData, InvalidParameter
from microagg.measures.analyses.terms import COMPARED, Condition, Term

Values = NDArray[np.float64]
Rows = NDArray[np.bool_]

MOST_DOMAINS = 1000
"""Domains of an analysis, at most."""
MOST_LEVELS = 1000
"""Different numbers of a column that is taken as categories, at most."""

_FEW = 1 << 20  # combinations of categories that are counted without sorting
_MANY = 1 << 24  # pairs of a cluster and a domain that are
_TRUTH = {"true": 1.0, "false": 0.0}


class Shared:
    """What two files of the same columns have in common: codes of categories, the commonest one, domains."""

    def __init__(self, before: Table, after: Table) -> None:
        self._before = {column.name: column for column in before}
        self._after = {column.name: column for column in after}
        self._distinct: dict[Any, Values] = {}
        self._commonest: dict[Any, int] = {}
        self._domains: dict[tuple[Any, ...], Labels] = {}

    def distinct(self, name: Any) -> Values:
        """Return the different numbers of a column that both files have, in their order."""
        if name not in self._distinct:
            known = [np.unique(one[name].cells.known) for one in (self._before, self._after)]
            found = np.unique(np.concatenate(known))
            if found.size > MOST_LEVELS:
                raise InvalidData(
                    f"column {name!r} has {found.size} different numbers, too many to be categories (at most "
                    f"{MOST_LEVELS}). Name another column, or recode it.",
                    parameter="analyses",
                    columns=(name,),
                )
            self._distinct[name] = found
        return self._distinct[name]

    def levels(self, name: Any) -> tuple[str, ...]:
        """Return the categories of a column, or the different numbers, as text."""
        column = self._before[name]
        if column.shown:
            return column.shown
        return tuple(f"{value:.15g}" for value in self.distinct(name))

    def codes_in(self, column: Coded) -> Labels:
        """Number the category of each record; -1 where it is missing."""
        if column.shown:
            return np.asarray(np.where(np.isnan(column.values), -1.0, column.values), dtype=np.int64)
        places = np.searchsorted(self.distinct(column.name), column.values)
        return np.asarray(np.where(np.isnan(column.values), -1, places))

    def commonest(self, name: Any) -> int:
        """Return the code of the category that most records of the original have; the lower of two."""
        if name not in self._commonest:
            codes = self.codes_in(self._before[name])
            self._commonest[name] = int(np.bincount(codes[codes >= 0], minlength=1).argmax())
        return self._commonest[name]

    def domains(self, by: tuple[Any, ...], files: Sequence["FileRecords"]) -> Labels:
        """Return the combinations of categories that records of either file have."""
        if by not in self._domains:
            found = _present(np.concatenate([one.combined(by) for one in files]), self.n_combinations(by))
            if found.size > MOST_DOMAINS:
                raise InvalidParameter(
                    f"there are {found.size} domains, and at most {MOST_DOMAINS} are estimated. Name fewer columns.",
                    parameter="by",
                    columns=by,
                )
            self._domains[by] = found
        return self._domains[by]

    def n_combinations(self, by: tuple[Any, ...]) -> int:
        """Count all combinations of the categories of some columns."""
        return int(np.prod([float(len(self.levels(name))) for name in by])) if by else 1

    def shown_domain(self, by: tuple[Any, ...], code: int) -> tuple[tuple[Any, str], ...]:
        """Return the name and the category of each column of a domain."""
        found: list[tuple[Any, str]] = []
        for name in reversed(by):
            levels = self.levels(name)
            code, own = divmod(code, len(levels))
            found.append((name, levels[own]))
        return tuple(reversed(found))


def _present(codes: Labels, n: int) -> Labels:
    codes = codes[codes >= 0]
    return np.flatnonzero(np.bincount(codes, minlength=1)) if n <= _FEW else distinct_of(codes)


class FileRecords:
    """The columns of one file; what is derived from one is kept for the next analysis."""

    def __init__(self, table: Table, shared: Shared, units: Mapping[Any, Labels]) -> None:
        self._columns = {column.name: column for column in table}
        self.shared = shared
        self.units = units
        self.n = table.n_records
        self._orders: dict[Term, Labels] = {}
        self._codes: dict[Any, Labels] = {}
        self._values: dict[Term, Values] = {}
        self._domains: dict[tuple[Any, ...], Labels] = {}
        self._parts: dict[tuple[Any, tuple[Any, ...]], tuple[Labels, Labels]] = {}

    @property
    def names(self) -> Collection[Any]:
        """The columns of the file."""
        return self._columns.keys()

    def lacks(self, term: Term) -> Rows:
        """Mark the records that have no value of a term."""
        column = self._columns[term.column]
        plain = term.condition is not None or (term.is_plain and bool(column.shown))
        return np.isnan(column.values if plain else self.values(term))

    def column(self, name: Any) -> Coded:
        """Return a column."""
        return self._columns[name]

    def values(self, term: Term) -> Values:
        """Return the numbers of a term, NaN where missing."""
        found = self._values.get(term)
        if found is None:
            found = self._values[term] = self._made(term)
        return found

    def _made(self, term: Term) -> Values:
        if term.condition is not None:
            return self._holds(self._columns[term.column], term.condition)
        with np.errstate(all="ignore"):
            values = term.made.values(lambda name: _numbers(self._columns[name]))
        return values if term.is_plain else np.where(np.isfinite(values), values, np.nan)

    def _holds(self, column: Coded, condition: Condition) -> Values:
        number = condition.number
        if not column.shown:
            if number is None:
                raise _no_number(column, condition)
            held = COMPARED[condition.sign](column.values, number)
        elif condition.sign in ("=", "!="):
            if condition.value not in column.shown:
                raise InvalidParameter(
                    f"no record has the category of {column.name!r} that an analysis asks for. Name one that the file "
                    f"has.",
                    parameter="value",
                    columns=(column.name,),
                )
            held = COMPARED[condition.sign](column.values, column.shown.index(condition.value))
        elif number is None:
            raise _no_number(column, condition)
        else:
            held = COMPARED[condition.sign](_numbers(column), number)
        return np.where(np.isnan(column.values), np.nan, held)

    def codes(self, name: Any) -> Labels:
        """Number the category of each record, -1 where it is missing; the same in both files."""
        if name not in self._codes:
            self._codes[name] = self.shared.codes_in(self._columns[name])
        return self._codes[name]

    def order(self, term: Term) -> Labels:
        """Sort the records by a term, missing ones last: once for all analyses."""
        if term not in self._orders:
            self._orders[term] = np.argsort(self.values(term))
        return self._orders[term]

    def combined(self, by: tuple[Any, ...]) -> Labels:
        """Number the combination of categories of each record; -1 where one is missing."""
        found = np.zeros(self.n, dtype=np.int64)
        lacking = np.zeros(self.n, dtype=bool)
        for name in by:
            codes = self.codes(name)
            lacking |= codes < 0
            found = found * len(self.shared.levels(name)) + codes
        found[lacking] = -1
        return found

    def domain_codes(self, by: tuple[Any, ...], found: Labels) -> Labels:
        """Number the domain of each record, of those found; -1 where it has none."""
        if by not in self._domains:
            combined = self.combined(by)
            self._domains[by] = np.asarray(np.where(combined < 0, -1, np.searchsorted(found, combined)))
        return self._domains[by]

    def parts(self, unit: Any, by: tuple[Any, ...], domains: Labels, n_domains: int) -> tuple[Labels, Labels]:
        """Number the parts of units that lie in each domain, once for all analyses."""
        if (unit, by) not in self._parts:
            self._parts[unit, by] = numbered(self.units[unit], domains, n_domains)
        return self._parts[unit, by]


def _no_number(column: Coded, condition: Condition) -> InvalidParameter:
    return InvalidParameter(
        f"the condition on column {column.name!r} compares with {condition.value!r}, which is not a number. Pass a "
        f"number, such as '= 0'.",
        parameter="value",
        columns=(column.name,),
    )


def _numbers(column: Coded) -> Values:
    """Return the numbers of a column; categories have some where all of them are written as numbers, or as truth."""
    if not column.shown:
        return column.values
    try:
        stands_for = np.array([_TRUTH[one.lower()] if one.lower() in _TRUTH else float(one) for one in column.shown])
    except ValueError:
        raise InvalidData(
            f"column {column.name!r} holds categories, and an analysis needs numbers. Ask for a share or a table, or "
            f"name another column.",
            parameter="analyses",
            columns=(column.name,),
        ) from None
    missing = np.isnan(column.values)
    return np.asarray(np.where(missing, np.nan, stands_for[np.where(missing, 0, column.values).astype(np.int64)]))


class Pieces(NamedTuple):
    """The parts of clusters that lie in each domain.

    Attributes
    ----------
    codes : array of shape (m,) or None
        The part that each record belongs to; None: every record is its own.
    domain_of : array
        The domain of each part.
    inside : array of shape (domains,)
        How many clusters have records in each domain.
    n_clusters : int
        How many there are in the sample.
    """

    codes: Labels | None
    domain_of: Labels
    inside: Labels
    n_clusters: int

    def summed(self, values: Values) -> Values:
        """Add up by part."""
        if self.codes is None:
            return values
        found = np.bincount(self.codes, weights=values, minlength=self.domain_of.size)
        return np.asarray(found, dtype=np.float64)


def numbered(clusters: Labels, domains: Labels, n_domains: int) -> tuple[Labels, Labels]:
    """Number the pairs of a cluster and a domain, and give the domain of each; records of domain -1 have any number."""
    pairs = clusters * n_domains + np.maximum(domains, 0)
    n = (int(clusters.max(initial=-1)) + 1) * n_domains
    if n <= _MANY:  # without sorting
        there, places = without_gaps(pairs, n)
        return places, there % n_domains
    found, places = np.unique(pairs, return_inverse=True)
    return places.ravel(), found % n_domains


@dataclass(frozen=True, eq=False)
class Sample:
    """The records of one file that an analysis is of: those that lack nothing it needs.

    Attributes
    ----------
    records : FileRecords
    rows : array of shape (n,) or None
        Which records of the file are in it; None: all.
    weights : array of shape (m,)
        1 where no weight is named.
    domains : array of shape (m,)
        The domain of each, numbered from 0.
    n_domains : int
    clusters : array of shape (m,) or None
        The unit of each, where one is named; None: every record is its own.
    parts : tuple or None
        What `numbered` gives of the whole file, where it is known.
    z : float
        How many standard errors an interval extends to each side.
    check : callable
        Called often by what takes long; what it raises stops the work.
    """

    records: FileRecords
    rows: Rows | None
    weights: Values
    domains: Labels
    n_domains: int
    clusters: Labels | None = None
    parts: tuple[Labels, Labels] | None = None
    z: float = 1.959963984540054
    check: Callable[[], None] = lambda: None
    _kept: dict[Any, Any] = field(default_factory=dict, repr=False)

    @property
    def names(self) -> Collection[Any]:
        """The columns of the files."""
        return self.records.names

    @property
    def size(self) -> int:
        """How many records there are."""
        return int(self.weights.size)

    def values(self, term: Term) -> Values:
        """Return the numbers of a term."""
        if ("values", term) not in self._kept:
            self._kept["values", term] = self._taken(self.records.values(term))
        found: Values = self._kept["values", term]
        return found

    def codes(self, name: Any) -> Labels:
        """Return the codes of a column's categories."""
        return np.asarray(self._taken(self.records.codes(name)))

    def _taken(self, values: Any) -> Any:
        return values if self.rows is None else values[self.rows]

    def summed(self, values: Values) -> Values:
        """Add up by domain."""
        return np.asarray(np.bincount(self.domains, weights=values, minlength=self.n_domains), dtype=np.float64)

    @cached_property
    def counts(self) -> Labels:
        """How many records each domain has."""
        return np.bincount(self.domains, minlength=self.n_domains)

    @cached_property
    def totals(self) -> Values:
        """What the records of each domain weigh; NaN where there are none."""
        found = self.summed(self.weights)
        return np.where(found > 0, found, np.nan)

    @cached_property
    def pieces(self) -> Pieces:
        """The parts of clusters that lie in each domain; of those without clusters every record is its own."""
        if self.clusters is None:
            return Pieces(None, self.domains, self.counts, self.size)
        if self.parts is None:
            codes, domain_of = numbered(self.clusters, self.domains, self.n_domains)
        else:
            codes, domain_of = self._taken(self.parts[0]), self.parts[1]
        # A cluster none of whose records is in the sample does not count.
        there = np.bincount(codes, minlength=domain_of.size) > 0
        inside = np.bincount(domain_of[there], minlength=self.n_domains)
        return Pieces(codes, domain_of, inside, int(np.count_nonzero(np.bincount(self.clusters))))

    def sorted_domains(self, term: Term) -> list[tuple[int, Labels]]:
        """Return the records of each domain that has some, by rising values of a term."""
        order = self.records.order(term)
        if self.rows is not None:
            places = np.cumsum(self.rows) - 1
            order = places[order[self.rows[order]]]
        if self.n_domains == 1:
            return [(0, order)] if order.size else []
        small = self.domains.astype(np.int16)  # sorted by its two bytes, in place of comparisons
        order = order[np.argsort(small[order], kind="stable")]
        parts = np.split(order, np.cumsum(self.counts)[:-1])
        return [(domain, own) for domain, own in enumerate(parts) if own.size]


def errors_of(sample: Sample, influences: Values) -> Values:
    """Return the standard error of a statistic in each domain, from w·z of each record.

    z is the influence of a record on the statistic: its derivative by the record's weight (Deville 1999). With
    u = Σ w·z of a cluster, or of a record where there are none, the variance is c/(c−1) · Σ u², c being the clusters of
    the domain: that of a domain taken by itself, as if it had been drawn with replacement. The sum of all u is 0. NaN
    where a domain has fewer than two clusters.
    """
    pieces = sample.pieces
    squares = np.bincount(pieces.domain_of, weights=pieces.summed(influences) ** 2, minlength=sample.n_domains)
    return np.sqrt(squares * _correction(pieces.inside.astype(np.float64)))


def errors_of_totals(sample: Sample, amounts: Values) -> Values:
    """Return the standard error of the sum of w·x in each domain.

    How many records of a domain are drawn is by chance too, so that all c clusters of the sample count, those with
    nothing in the domain as well: c/(c−1) · Σ (u − ū)².
    """
    pieces = sample.pieces
    if not sample.size:
        return np.full(sample.n_domains, np.nan)
    sums, n = pieces.summed(amounts), pieces.n_clusters
    totals = np.bincount(pieces.domain_of, weights=sums, minlength=sample.n_domains)
    inside = np.bincount(pieces.domain_of, minlength=sample.n_domains)
    # Centred first: a difference of large sums of squares would lose its digits.
    centred = sums - (totals / n)[pieces.domain_of]
    squares = np.bincount(pieces.domain_of, weights=centred**2, minlength=sample.n_domains)
    return np.sqrt((squares + (n - inside) * (totals / n) ** 2) * _correction(np.full(sample.n_domains, float(n))))


def _correction(clusters: Values) -> Values:
    return np.asarray(np.divide(clusters, clusters - 1.0, out=np.full(clusters.size, np.nan), where=clusters > 1))
