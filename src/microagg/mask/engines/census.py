"""What must be known of all records of a file, counted as they are read part by part; and the units that they are of.

A unit has a number, the same in every part.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import reduce

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microagg.algorithms.kernels.alike import digests_of
from microagg.algorithms.units import Held, Labels, Units, held_by
from microagg.checks import refuse_missing
from microagg.columns import frames
from microagg.columns.kinds import Cells, Semi
from microagg.columns.numbers import by_value, is_text
from microagg.columns.patterns import Patterns, PatternsSeen
from microagg.columns.rounding import Steps, is_rounded, power_asked
from microagg.columns.table import Table
from microagg.columns.weights import WeightScale, WeightSeen, weights_in
from microagg.errors import InvalidData, InvalidParameter, setting
from microagg.files.batches import Batches
from microagg.files.promise import bits_of
from microagg.mask.demands import check_strata_weigh
from microagg.mask.digits import matter, refuse_undoable, undoable
from microagg.mask.engines.plan import Plan, Tally
from microagg.mask.pieces import check_stratum_sizes, check_stratum_units
from microagg.mask.unit_constants import settled_constant

Keys = NDArray[np.uint64]

_KEY = b"units"  # it need not be secret: units that share a number by chance are taken for one, which protects no less
_AT_ONCE = 1 << 22  # records whose units are counted together, about


class Census:
    """What is counted of records as they are read; what is known of several parts of a file can be joined.

    Attributes
    ----------
    tallies : list of Tally
        Of each column to mask.
    seen : PatternsSeen
        Which values are missing, and in which strata.
    patterns : Patterns
        The pieces that strata are cut into by that, once all records have been counted.
    """

    patterns: Patterns

    def __init__(self, plan: Plan) -> None:
        self.tallies: list[Tally] = []
        self.seen = PatternsSeen(plan.by_pattern)
        self._weights: dict[str, WeightSeen] = {}
        self._weighing = np.zeros(0, dtype=np.int64)  # of each number of `seen`, records that the first weight counts
        self._lacking = Counter[str]()  # in strata, and units

    def count(
        self, plan: Plan, file: Batches, table: pa.Table, strata: Labels
    ) -> tuple[list[Cells], NDArray[np.int32], Keys | None]:
        """Count the records of a table, of which the strata are given.

        Returns the cells of the columns to mask, then the weights, each record's number by `seen`, and its unit's.
        """
        coded = plan.coded(table)
        weights = {name: weights_in(file.as_numbers(table[name], name), name) for name in plan.weighing.used}
        keys = None if plan.unit is None else unit_keys(plan, table)
        refused = [] if plan.unit is None else [plan.unit]
        if plan.recipe.masking.missing == "error":
            refused += plan.strata
        missing = frames.missing_rows(nw.from_native(table, eager_only=True), refused)
        self._lacking.update({name: int(np.count_nonzero(rows)) for name, rows in missing.items()})
        tallies = _tallies(plan, coded, keys)
        codes = self.seen.codes(coded, strata)
        some = codes[next(iter(weights.values())) > 0] if weights else codes
        weighing = np.bincount(some, minlength=self.seen.sizes.size)
        seen = {name: WeightSeen.of(values) for name, values in weights.items()}
        self._add(tallies, seen, np.arange(weighing.size), weighing)
        return [*(column.cells for column in coded), *map(Cells, weights.values())], codes.astype(np.int32), keys

    def join(self, other: "Census", strata: Labels) -> Labels:
        """Take what is known of later records; `strata` are our numbers of its strata. Return ours of its own."""
        numbers = self.seen.join(other.seen, strata)
        self._add(other.tallies, other._weights, numbers, other._weighing)
        self._lacking.update(other._lacking)
        return numbers

    def _add(
        self, tallies: list[Tally], weights: dict[str, WeightSeen], numbers: Labels, weighing: NDArray[np.int64]
    ) -> None:
        first = not self.tallies
        self.tallies = tallies if first else list(map(Tally.join, self.tallies, tallies))
        self._weights = weights if first else {name: own.join(weights[name]) for name, own in self._weights.items()}
        self._weighing = np.pad(self._weighing, (0, self.seen.sizes.size - self._weighing.size))
        self._weighing[numbers] += weighing

    @property
    def scales(self) -> list[WeightScale]:
        """How each weight is counted and released."""
        return [seen.scale for seen in self._weights.values()]

    def is_light(self, plan: Plan) -> bool:
        """Return whether some records weigh nothing, and it matters."""
        return plan.weighing.weighted and self.scales[0].zeros

    def check(self, plan: Plan) -> None:
        """Refuse what cannot be masked: of missing values, small strata, columns and weights."""
        if plan.unit is not None and self._lacking[plan.unit]:
            missing = f"{plan.unit!r} ({self._lacking[plan.unit]})"
            raise InvalidData(f"missing values in 1 column(s): {missing}. {frames.WHOSE}")
        if plan.recipe.masking.missing == "error":
            facts = zip(plan.names, (own.facts for own in self.tallies), strict=True)
            refuse_missing({**{name: own.n_records - own.n_known for name, own in facts}, **self._lacking})
        check_stratum_sizes(self.seen.strata_sizes, plan.k, plan.strata)
        self._check_columns(plan)
        for name, seen in self._weights.items():
            seen.check(name)

    def _check_columns(self, plan: Plan) -> None:
        """Refuse columns whose squares would leave the range, spikes that too few have, digits that disclose values."""
        known = list(zip(plan.columns, self.tallies, strict=True))
        refuse_undoable(plan.recipe, undoable(plan.recipe, ((one.name, one.kind, own.steps) for one, own in known)))
        for column, own in known:
            if isinstance(column.kind, Semi):
                column.kind.check_spike(own.facts, plan.rule.of_column(column.name))
            largest = max(abs(own.facts.lowest), abs(own.facts.highest)) if own.facts.n_known else 0.0
            if not 2.0**-400 < largest < 2.0**400 and largest > 0:
                raise InvalidData(f"column {column.name!r} has values too large or small to square. Scale it first.")

    def cut(self, plan: Plan, held: Callable[[Labels, bool], Held] | None) -> Plan:
        """Cut strata by what records lack, into pieces that can hold k units; return the plan with the largest unit.

        `held` counts the units of pieces, which are given for each number of `seen`; where the second argument is true,
        by the rows that weigh something. Where only some records weigh something, k of a piece must, or k units.
        """
        seen, light = self.seen, self.is_light(plan)
        if held is not None:
            check_stratum_units(held(seen.strata, False), plan.k, plan.strata, plan.in_part)
            plan = _with_settled_constant(plan, held(np.zeros_like(seen.strata), False))

        def weighing(pieces: Labels) -> Labels:
            if held is not None:
                return held(pieces, True).units
            return np.bincount(pieces, weights=self._weighing).astype(np.int64)

        if light:
            check_strata_weigh(weighing(seen.strata) < plan.k, plan.k, plan.strata, held is not None)

        def short(target: Labels) -> NDArray[np.bool_]:
            found = np.zeros(int(target.max()) + 1, dtype=np.bool_)
            if held is not None:
                found |= held(target, False).short(plan.k, plan.in_part)
            if light:
                found |= weighing(target) < plan.k
            return found

        self.patterns = seen.pieces(plan.k, short if light or held is not None else None, by_value=plan.refined)
        if held is None:
            return plan
        return replace(plan, largest_unit=int(held(self.patterns.pieces, False).largest.max()))


def _tallies(plan: Plan, table: Table, units: Keys | None) -> list[Tally]:
    """Count what must be known of some records, and of the units whose they are."""
    rounding = plan.recipe.masking.rounding
    found = []
    for column in table:
        wanted = is_rounded(column, rounding) and power_asked(column.name, rounding) is None
        wanted = wanted or matter(plan.recipe)
        steps = Steps.of(column.cells.known) if wanted else Steps()
        found.append(Tally(column.kind.count(column.cells, units), steps))
    return found


def unit_keys(plan: Plan, table: pa.Table) -> Keys:
    """Return the number of each row's unit, whichever way it is spelt."""
    return _keys(pa.chunked_array([by_value(table[plan.unit].combine_chunks())]))


def spelling_keys(plan: Plan, table: pa.Table) -> Keys:
    """Return a number for how each row's unit is spelt."""
    return _keys(table[plan.unit])


def _keys(column: pa.ChunkedArray) -> Keys:
    return np.asarray(digests_of([bits_of(column, _KEY)], _KEY)[0])


def can_be_spelt(plan: Plan, source: pa.Schema) -> bool:
    """Return whether there are units that are text, which may have several spellings for one unit."""
    if plan.unit is None:
        return False
    kind = source.field(plan.unit).type
    return is_text(kind.value_type if pa.types.is_dictionary(kind) else kind)


def n_distinct(keys: Keys, chunks: Callable[[], Iterable[slice]]) -> int:
    """Count different numbers, chunk by chunk of their rows."""
    one = np.zeros(1, dtype=np.int64)
    held = held_by_keys(
        lambda: ((np.broadcast_to(one, keys[rows].shape), keys[rows]) for rows in chunks()), keys.size, 1
    )
    return int(held.units[0])


def units_of(plan: Plan, keys: Keys | None) -> Units | None:
    """Return the units of some rows, numbered from 0; None where there are none."""
    if keys is None:
        return None
    return Units(np.unique(keys, return_inverse=True)[1].astype(np.int64).ravel(), plan.in_part)


def held_by_keys(chunks: Callable[[], Iterable[tuple[Labels, Keys]]], n: int, n_groups: int) -> Held:
    """Count the units of groups of n rows, which are given chunk by chunk, time and again.

    One range of numbers is counted, then the next, so that memory is that of some four million records.
    """
    bits = max(0, (n - 1) // _AT_ONCE).bit_length()

    def of_range(number: int) -> Held:
        own = []
        for labels, keys in chunks():
            inside = keys >> np.uint64(64 - bits) == number if bits else np.ones(keys.size, dtype=bool)
            own.append((labels[inside], keys[inside]))
        return held_by(np.concatenate([one for one, _ in own]), np.concatenate([one for _, one in own]), n_groups)

    return reduce(Held.join, map(of_range, range(1 << bits)))


def _with_settled_constant(plan: Plan, held: Held) -> Plan:
    """Return the plan with each row masked by its own group, or refuse that for units of many rows, unless it is asked.

    Which columns are constant in a unit is not known here, nor what the means of many groups disclose of these.
    """
    rows, units = int(held.rows.sum()), int(held.units.sum())
    if settled_constant(plan.recipe.units.constant, rows, units, plan.columns) == "once":
        raise InvalidParameter(
            f"a unit has {rows / units:.1f} rows on average, so that means of many groups may disclose a value that "
            f"all its rows have in common. In files larger than memory this is not prevented. "
            f"Accept it ({setting('unit_constant', 'row')}), or mask in memory.",
            parameter="unit_constant",
        )
    return replace(plan, recipe=plan.recipe.replace(unit_constant="row"))
