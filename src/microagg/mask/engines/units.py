"""Units of a file that is read part by part: a number for each, the same in every part."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import reduce

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microagg.algorithms.kernels.alike import digests_of
from microagg.algorithms.units import Held, Units, held_by
from microagg.columns import frames
from microagg.columns.numbers import by_value, is_text
from microagg.columns.patterns import Patterns, PatternsSeen
from microagg.errors import InvalidData, InvalidParameter, setting
from microagg.files.promise import bits_of
from microagg.mask.demands import check_strata_weigh
from microagg.mask.engines.plan import Plan
from microagg.mask.grouping import check_stratum_units
from microagg.mask.unit_constants import settled_constant

Keys = NDArray[np.uint64]
Labels = NDArray[np.int64]

_KEY = b"units"  # it need not be secret: units that share a number by chance are taken for one, which protects no less
_AT_ONCE = 1 << 22  # records whose units are counted together, about


def unit_keys(plan: Plan, table: pa.Table) -> Keys:
    """Return the number of each row's unit, whichever way it is spelt."""
    return _keys(pa.chunked_array([by_value(table[plan.unit].combine_chunks())]))


def spelling_keys(plan: Plan, table: pa.Table) -> Keys:
    """Return a number for how each row's unit is spelt."""
    return _keys(table[plan.unit])


def _keys(column: pa.ChunkedArray) -> Keys:
    return np.asarray(digests_of([bits_of(column, _KEY)], _KEY)[0])


def can_be_spelt(plan: Plan, source: pa.Schema) -> bool:
    """Return whether units are text, which may have several spellings for one unit."""
    kind = source.field(plan.unit).type
    return is_text(kind.value_type if pa.types.is_dictionary(kind) else kind)


def n_distinct(keys: Keys, chunks: Callable[[], Iterable[slice]]) -> int:
    """Count different numbers, chunk by chunk of their rows."""
    one = np.zeros(1, dtype=np.int64)
    held = held_by_keys(
        lambda: ((np.broadcast_to(one, keys[rows].shape), keys[rows]) for rows in chunks()), keys.size, 1
    )
    return int(held.units[0])


def missing_units(plan: Plan, table: pa.Table) -> int:
    """Count the rows of which nobody knows whose they are."""
    missing = frames.missing_rows(nw.from_native(table, eager_only=True), [plan.unit])
    return sum(int(np.count_nonzero(rows)) for rows in missing.values())


def check_units_known(plan: Plan, missing: int) -> None:
    """Refuse rows of which nobody knows whose they are."""
    if missing:
        raise InvalidData(f"missing values in 1 column(s): {plan.unit!r} ({missing}). {frames.WHOSE}")


def units_of(plan: Plan, keys: Keys) -> Units:
    """Return the units of some rows, numbered from 0."""
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


def find_pieces(
    plan: Plan,
    seen: PatternsSeen,
    held: Callable[[Labels], Held] | None,
    weighing: Callable[[Labels], Labels] | None,
) -> tuple[Plan, Patterns]:
    """Cut strata by what records lack, into pieces that can hold k units; give the plan with the largest unit.

    `held` counts the units of pieces, which are given for each number of `seen`, and `weighing` the records, or units,
    that weigh something, where not all do and it matters.
    """
    if held is not None:
        check_stratum_units(held(seen.strata), plan.k, plan.strata, plan.in_part)
        plan = _with_settled_constant(plan, held(np.zeros_like(seen.strata)))
    if weighing is not None:
        check_strata_weigh(weighing(seen.strata) < plan.k, plan.k, plan.strata, held is not None)

    def short(target: Labels) -> NDArray[np.bool_]:
        found = np.zeros(int(target.max()) + 1, dtype=np.bool_)
        if held is not None:
            found |= held(target).short(plan.k, plan.in_part)
        if weighing is not None:
            found |= weighing(target) < plan.k
        return found

    patterns = seen.pieces(plan.k, None if held is None and weighing is None else short, by_value=plan.refined)
    return plan if held is None else replace(plan, largest_unit=int(held(patterns.pieces).largest.max())), patterns


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
