"""What values show: which stand for missing ones, spikes, orders, dates, weights, and which rows belong together."""

from collections.abc import Sequence

import numpy as np
import pyarrow.compute as pc

from microagg.algorithms.equivalence import distinct_of
from microagg.columns.kinds.date import are_dates as are_dates_in_text
from microagg.guess import names, shape
from microagg.guess.facts import FEW, ColumnValues, Floats, Ints

_NINES = tuple(float(f"{'9' * length}{last}") for length in range(1, 7) for last in (7, 8, 9))
_BELOW = (*(-float(one) for one in range(1, 10)), *(-nine for nine in _NINES))
_SPIKE = 0.1  # share of the cells that one value holds, from which it is a spike
_NO_DECIMALS = 1e12  # from here on float64 has too few digits left for long decimals
_OTHERS = 20  # different values beside a spike from which it is one of amounts
_ROWS = 20_000  # rows that are looked at
_MOST_ROWS = 100_000  # rows that are looked at, to see which belong together
_PAIRS = 20  # pairs of rows with the same value from which constancy means something
_SEVERAL = 2  # columns that are constant within values that occur unevenly
_LIKE_DATES = r"^([0-9]{1,4}[./-][0-9]{1,2}[./-][0-9]{2,4})([T ][0-9:.,]+ ?(Z|[+-][0-9:]+)?)?$"


def missing_codes(column: ColumnValues) -> tuple[float, ...]:
    """Return the values that probably stand for missing ones: 99, -9 and the like that lie apart from all others.

    What the file labels as no answer is one wherever it lies.
    """
    numbers = column.numbers
    if numbers is None:
        return ()
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
    found |= high & apart & (column.counts >= 2)
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


def order_shows(column: ColumnValues, others: Sequence[ColumnValues]) -> str:
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


def is_orderly(column: ColumnValues) -> bool:
    """Return whether a column has an order that others can be compared with: amounts, or a short row of numbers."""
    if column.numbers is None or column.type not in ("numbers", "whole numbers") or column.distinct < 3:
        return False
    return column.type == "numbers" or _is_short(column) or not shape.stand_alone(column.numbers, column.counts)


def follows(column: ColumnValues, amounts: Sequence[ColumnValues]) -> str:
    """Name an amount that rises or falls with this column, as no numbering and hardly any code does."""
    for other in amounts:
        rows = np.flatnonzero((column.codes >= 0) & (other.codes >= 0))[:_ROWS]
        if other is not column and rows.size >= 30 and _explained(column.codes[rows], other.codes[rows])[0] >= 0.5:
            return other.name
    return ""


def _is_short(column: ColumnValues) -> bool:
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


def text_form(column: ColumnValues) -> str:
    """Say what texts look like: "dates" that masking reads, "like dates", "digits" with leading zeros, or "text"."""
    values = column.values.slice(0, _ROWS)
    if pc.all(pc.match_substring_regex(values, r"^[0-9]+$")).as_py():
        return "digits"
    if not pc.all(pc.match_substring_regex(values, _LIKE_DATES)).as_py():
        return "text"
    return "dates" if are_dates_in_text(column.values) else "like dates"


def says_sex(column: ColumnValues) -> bool:
    """Return whether the values, or their labels, are words for a person's sex."""
    texts = column.labels.values() if column.type == "codes" else column.values.to_pylist()
    said = {text.strip().lower() for text in texts if isinstance(text, str)}
    return len(said) == 2 and said <= names.SEXES


def is_weight(column: ColumnValues) -> str:
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


def goes_with_rows(column: ColumnValues, others: Sequence[ColumnValues]) -> bool:
    """Return whether other columns are constant within the values of a column, as within a household or a person.

    Rows are put in the order of the column. Another column counts if it often changes from one value to the next, and
    returns to what it was, and hardly ever changes within one. What is a class of the column, as age groups are of
    ages, does not return. One such column is enough where values occur about equally often. Of values that occur
    unevenly, as firms do, but also categories that another column follows from, it takes several such columns.
    """
    codes = _without_spellings(column)[:_MOST_ROWS]
    rows = np.flatnonzero(codes >= 0)
    if not rows.size:
        return False
    counts = np.bincount(codes[rows])
    counts = counts[counts > 0]
    if rows.size - len(counts) < _PAIRS or counts.mean() > 50:
        return False
    if len(counts) > FEW and counts.std() <= counts.mean():
        needed = 1
    elif 2 * np.count_nonzero(counts > 1) > len(counts):
        needed = _SEVERAL
    else:
        return False
    # Shuffled first: in a file that is sorted by region, regions hardly change within any column in the order of rows.
    rows = np.random.default_rng(0).permutation(rows)
    rows = rows[np.argsort(codes[rows], kind="stable")]
    same = codes[rows][1:] == codes[rows][:-1]
    pairs, boundaries = np.count_nonzero(same), np.count_nonzero(~same)
    for other in others:
        if other is column or other.distinct + (other.missing > 0) < 2:
            continue
        values = other.codes[rows]
        changed = values[1:] != values[:-1]
        between = np.count_nonzero(changed & ~same)
        if between - (distinct_of(values).size - 1) < max(10, 0.05 * boundaries):
            continue
        expected = pairs * between / boundaries
        if expected >= 10 and np.count_nonzero(changed & same) <= 0.1 * expected:
            needed -= 1
            if not needed:
                return True
    return False


def _without_spellings(column: ColumnValues) -> Ints:
    """Return which value each row has, where texts that differ only in spaces and capitals are one."""
    if column.type != "text":
        return column.codes
    plain = pc.replace_substring_regex(pc.utf8_lower(pc.utf8_normalize(column.values, "NFC")), r"[\s\p{Z}]+", "")
    return np.append(plain.dictionary_encode().indices.to_numpy().astype(np.int64), -1)[column.codes]


def may_number_units(column: ColumnValues) -> bool:
    """Return whether values repeat as numbers of persons or firms do: many, with digits, and most in several rows.

    Codes of occupations or places are like that too, unless their name or their labels say what they are.
    """
    if column.type not in ("whole numbers", "text") or column.labels or column.words & names.CODED:
        return False
    if column.type == "text" and not pc.all(pc.match_substring_regex(column.values, "[0-9]")).as_py():
        return False
    several = np.count_nonzero(column.counts > 1)
    return bool(column.distinct > max(FEW, column.present / 50) and 2 * several > column.distinct)


def rises(column: ColumnValues) -> bool:
    """Return whether the values of a column come in rising, or falling, order where they first appear."""
    present = column.codes[column.codes >= 0]
    first = np.unique(present, return_index=True)[1]
    return len(first) > 2 and not 0.01 <= float(np.mean(np.diff(first) > 0)) <= 0.99
