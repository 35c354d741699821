"""What numbers and texts stand for: missing values, spikes, orders, dates and weights."""

from collections.abc import Sequence

import numpy as np
import pyarrow.compute as pc

from microagg.columns.kinds.date import are_dates as are_dates_in_text
from microagg.guess import names, shape
from microagg.guess.facts import Facts, Floats, Ints

_NINES = tuple(float(f"{'9' * length}{last}") for length in range(1, 7) for last in (7, 8, 9))
_BELOW = (*(-float(one) for one in range(1, 10)), *(-nine for nine in _NINES))
_SPIKE = 0.1  # share of the cells that one value holds, from which it is a spike
_NO_DECIMALS = 1e12  # from here on float64 has too few digits left for long decimals
_OTHERS = 20  # different values beside a spike from which it is one of amounts
_ROWS = 20_000  # rows that are looked at
_LIKE_DATES = r"^([0-9]{1,4}[./-][0-9]{1,2}[./-][0-9]{2,4})([T ][0-9:.,]+ ?(Z|[+-][0-9:]+)?)?$"


def missing_codes(numbers: Floats, counts: Ints, column: Facts) -> tuple[float, ...]:
    """Return the values that probably stand for missing ones: 99, -9 and the like that lie apart from all others.

    What the file labels as no answer is one wherever it lies.
    """
    labelled = {v for v, text in column.labels.items() if names.NO_ANSWER.search(str(text).lower())}
    found = np.isin(numbers, [v for v in labelled if isinstance(v, (int, float))])
    low, high = np.isin(numbers, _BELOW), np.isin(numbers, _NINES)
    rest = numbers[~(low | high | found)]
    if len(rest) < 2:
        return tuple(numbers[found].tolist()) if len(rest) else ()
    if rest[0] >= 0 and np.any(numbers[low] <= rest[0] - 2):
        found |= low
    with np.errstate(over="ignore"):  # numbers may reach from one end of float64 to the other
        apart = numbers - rest[-1] >= max(2.0, 0.1 * rest[-1] - 0.1 * rest[0])
    found |= high & apart & (counts >= 2)
    return tuple(numbers[found].tolist())


def spike_of(numbers: Floats, counts: Ints) -> float | None:
    """Return the value that holds a tenth of the cells or more, where the others are amounts of many values."""
    if len(numbers) <= _OTHERS or counts.max() < _SPIKE * counts.sum():
        return None
    return float(numbers[int(np.argmax(counts))])


def without_spike(numbers: Floats, counts: Ints, spike: float | None) -> tuple[Floats, Ints]:
    """Return values and counts with a spike taken away; one between the others is made as frequent as its neighbours.

    Without that, it would leave a gap where a quantity has none.
    """
    if spike is None:
        return numbers, counts
    at = int(np.searchsorted(numbers, spike))
    if at in (0, len(numbers) - 1):
        return np.delete(numbers, at), np.delete(counts, at)
    counts = counts.copy()
    counts[at] = (counts[at - 1] + counts[at + 1] + 1) // 2
    return numbers, counts


def order_shows(column: Facts, others: Sequence[Facts]) -> str:
    """Name a column of numbers that follows the order of this one; empty where none does, or one goes against it.

    Another goes against the order if it differs much between the values, but not in their order.
    """
    following, strongest = "", 0.0
    for other in others:
        if other is column or np.array_equal(other.codes, column.codes):  # the same codes twice show no order
            continue
        rows = np.flatnonzero((column.codes >= 0) & (other.codes >= 0))[:_ROWS]
        if rows.size < 30:
            continue
        by_order, by_value = _explained(column.codes[rows], other.codes[rows])
        if by_value >= 0.1 and by_order < 0.5 * by_value and not _is_short(other):
            return ""
        if by_order * rows.size >= 15 and by_order >= 0.02 and by_order >= 0.6 * by_value and by_order > strongest:
            following, strongest = other.name, by_order
    return following


def is_orderly(column: Facts) -> bool:
    """Return whether a column has an order that others can be compared with: amounts, or a short row of numbers."""
    if column.numbers is None or column.type not in ("numbers", "whole numbers") or column.distinct < 3:
        return False
    return column.type == "numbers" or _is_short(column) or not shape.stand_alone(column.numbers, column.counts)


def follows(column: Facts, amounts: Sequence[Facts]) -> str:
    """Name an amount that rises or falls with this column, as no numbering and hardly any code does."""
    for other in amounts:
        rows = np.flatnonzero((column.codes >= 0) & (other.codes >= 0))[:_ROWS]
        if other is not column and rows.size >= 30 and _explained(column.codes[rows], other.codes[rows])[0] >= 0.5:
            return other.name
    return ""


def _is_short(column: Facts) -> bool:
    return column.numbers is not None and column.distinct <= 20 and shape.is_consecutive(column.numbers)


def _explained(groups: Ints, values: Ints) -> tuple[float, float]:
    """Return the shares of the variance of ranks that the order of the groups explains, and that the groups explain."""
    ranks, order = _ranks(values), _ranks(groups)
    total = float(ranks.var())
    if total == 0.0 or order.var() == 0.0:
        return 0.0, 0.0
    size = np.bincount(groups)
    used = size > 0
    means = np.bincount(groups, weights=ranks)[used] / size[used]
    between = float(np.average((means - ranks.mean()) ** 2, weights=size[used])) / total
    by_chance = (np.count_nonzero(used) - 1) / (len(ranks) - 1)
    slope = float(np.mean((ranks - ranks.mean()) * (order - order.mean()))) ** 2 / (total * float(order.var()))
    return slope, max(0.0, between - by_chance * (1 - between))


def _ranks(values: Ints) -> Floats:
    """Return the rank of each value; ties get the mean of theirs."""
    counts = np.bincount(values)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2.0)[values])


def are_dates(numbers: Floats) -> bool:
    """Return whether whole numbers are dates that are written as 20240131."""
    if numbers[0] < 18000101 or numbers[-1] > 22001231:
        return False
    month, day = numbers // 100 % 100, numbers % 100
    return bool(np.all((month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)))


def text_form(column: Facts) -> str:
    """Say what texts look like: "dates" that masking reads, "like dates", "digits" with leading zeros, or "text"."""
    values = column.values.slice(0, _ROWS)
    if pc.all(pc.match_substring_regex(values, r"^[0-9]+$")).as_py():
        return "digits"
    if not pc.all(pc.match_substring_regex(values, _LIKE_DATES)).as_py():
        return "text"
    return "dates" if are_dates_in_text(column.values) else "like dates"


def says_sex(column: Facts) -> bool:
    """Return whether the values, or their labels, are words for a person's sex."""
    texts = column.labels.values() if column.type == "codes" else column.values.to_pylist()
    said = {text.strip().lower() for text in texts if isinstance(text, str)}
    return len(said) == 2 and said <= names.SEXES


def is_weight(column: Facts) -> str:
    """Say why numbers are sampling weights by their values alone; empty where nothing says so.

    Weights are computed: positive, with long decimals, and either few of them recur throughout, as design weights do,
    or they add up to the number of people, or of records.
    """
    numbers, counts = column.numbers, column.counts
    if numbers is None or column.type != "numbers" or not 0 < numbers[0] <= numbers[-1] < _NO_DECIMALS:
        return ""
    if numbers[-1] > 1000 * numbers[0]:
        return ""
    if column.present < 50 or np.average(numbers != np.round(numbers, 4), weights=counts) < 0.8:
        return ""
    if counts.mean() >= 10:
        return "it has few different positive numbers, with many decimals"
    total = float(numbers @ counts)
    if abs(total - round(total)) < 1e-6 * max(1.0, total * 1e-6):
        return "positive numbers with many decimals, and their sum is a whole number"
    return ""
