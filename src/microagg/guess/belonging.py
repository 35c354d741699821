"""Which rows belong together: a number, or a text, within whose values other columns do not change."""

from collections.abc import Sequence

import numpy as np
import pyarrow.compute as pc

from microagg.algorithms.equivalence import distinct_of
from microagg.guess import names
from microagg.guess.facts import FEW, Facts, Ints

_ROWS = 100_000  # rows that are looked at
_PAIRS = 20  # pairs of rows with the same value from which constancy means something
_SEVERAL = 2  # columns that are constant within values that occur unevenly


def goes_with_rows(column: Facts, others: Sequence[Facts]) -> bool:
    """Return whether other columns are constant within the values of a column, as within a household or a person.

    Rows are put in the order of the column. Another column counts if it often changes from one value to the next, and
    returns to what it was, and hardly ever changes within one. What is a class of the column, as age groups are of
    ages, does not return. One such column is enough where values occur about equally often. Of values that occur
    unevenly, as firms do, but also categories that another column follows from, it takes several such columns.
    """
    codes = _without_spellings(column)[:_ROWS]
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


def _without_spellings(column: Facts) -> Ints:
    """Return which value each row has, where texts that differ only in spaces and capitals are one."""
    if column.type != "text":
        return column.codes
    plain = pc.replace_substring_regex(pc.utf8_lower(pc.utf8_normalize(column.values, "NFC")), r"[\s\p{Z}]+", "")
    return np.append(plain.dictionary_encode().indices.to_numpy().astype(np.int64), -1)[column.codes]


def may_number_units(column: Facts) -> bool:
    """Return whether values repeat as numbers of persons or firms do: many, with digits, and most in several rows.

    Codes of occupations or places are like that too, unless their name or their labels say what they are.
    """
    if column.type not in ("whole numbers", "text") or column.labels or column.words & names.CODED:
        return False
    if column.type == "text" and not pc.all(pc.match_substring_regex(column.values, "[0-9]")).as_py():
        return False
    several = np.count_nonzero(column.counts > 1)
    return bool(column.distinct > max(FEW, column.present / 50) and 2 * several > column.distinct)


def rises(column: Facts) -> bool:
    """Return whether the values of a column come in rising, or falling, order where they first appear."""
    present = column.codes[column.codes >= 0]
    first = np.unique(present, return_index=True)[1]
    return len(first) > 2 and not 0.01 <= float(np.mean(np.diff(first) > 0)) <= 0.99
