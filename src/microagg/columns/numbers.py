"""Numbers as people write them: read from columns of text, guessed at, compared by value, and written again."""

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from microagg.base.frozen import frozen
from microagg.errors import InvalidData, setting

MISSING = ("", "NA", "NaN", "NULL", ".")
"""What stands for a missing value in a column of numbers."""

THOUSANDS = (",", ".", "'", "’", " ", "\u00a0", "\u202f")
_SAMPLE = 1000


def decoded(array: Any) -> Any:
    """Return the values of an Arrow array, where it stores each of them once; any other unchanged."""
    return array.cast(array.type.value_type) if pa.types.is_dictionary(array.type) else array


def plain_floats(array: Any) -> Any:
    """Return an Arrow array of floats without negative zeros, those of two bytes wider; any other unchanged."""
    if pa.types.is_float16(array.type):
        array = array.cast(pa.float32())
    return pc.add(array, pa.scalar(0.0, array.type)) if pa.types.is_floating(array.type) else array


@frozen()
class Marks:
    """How the numbers of a file are written: the decimal mark, and what separates thousands, if anything does."""

    decimal: str = "."
    thousands: str | None = None

    @property
    def pattern(self) -> str:
        """A number in these marks, for both RE2 and Python."""
        point = re.escape(self.decimal)
        whole = "[0-9]+"
        if self.thousands:
            # No group of thousands starts with 0: 0.123 is a fraction and 012 345 a code.
            whole = f"(?:[1-9][0-9]{{0,2}}(?:{re.escape(self.thousands)}[0-9]{{3}})+|[0-9]+)"
        return f"^[+-]?(?:{whole}(?:{point}[0-9]*)?|{point}[0-9]+)(?:[eE][+-]?[0-9]+)?$"


def to_numbers(column: pa.ChunkedArray, marks: Marks, *, codes: bool) -> pa.ChunkedArray | None:
    """Turn a column of text into int64 or float64, or give None where it is not all numbers.

    Parameters
    ----------
    column : ChunkedArray of string
    marks : Marks
    codes : bool
        Whether text that may be a code (leading zeros, or whole and too long for int64) is a number too, and a column
        without any value one of numbers.
    """
    if not _all_match(_prepare(column.slice(0, _SAMPLE)), marks.pattern):
        return None
    column = without_marks(column)
    plain = _plain_numbers(column, marks)
    if plain is not None and (codes or not _any_matches(column, "^[+-]?0[0-9]")):
        return plain
    text = _prepare(column)
    if text.null_count == len(text):
        return text.cast(pa.float64()) if codes else None
    if not _all_match(text, marks.pattern) or (not codes and _any_matches(text, "^[+-]?0[0-9]")):
        return None
    text = _in_plain_marks(text, marks)
    if not _any_matches(text, "[^0-9-]"):
        try:
            return text.cast(pa.int64())
        except pa.ArrowInvalid:  # too long
            if not codes:
                return None
    numbers = text.cast(pa.float64())
    return numbers if _is_finite(numbers) else None


def _in_plain_marks(text: pa.ChunkedArray, marks: Marks) -> pa.ChunkedArray:
    if marks.thousands:
        text = pc.replace_substring(text, marks.thousands, "")
    return text if marks.decimal == "." else pc.replace_substring(text, marks.decimal, ".")


class NumbersSeen:
    """Finds from all parts of a column of text what `to_numbers` would make of the whole.

    Parameters
    ----------
    marks : Marks
    codes : bool
        Whether text that may be a code is a number too.
    """

    def __init__(self, marks: Marks, *, codes: bool) -> None:
        self._marks, self._codes = marks, codes
        self._is_text = self._any = self._fractions = self._too_long = False

    def see(self, column: pa.ChunkedArray) -> None:
        """Look at some more of the column."""
        if self._is_text:
            return
        numbers = to_numbers(column, self._marks, codes=True)
        if numbers is None:
            self._is_text = True
            return
        if numbers.null_count == len(numbers):
            return
        self._any = True
        if not self._codes or not pa.types.is_integer(numbers.type):
            text = _prepare(column)
            if not self._codes and _any_matches(text, "^[+-]?0[0-9]"):
                self._is_text = True
            if self._marks.thousands:
                text = pc.replace_substring(text, self._marks.thousands, "")
            fractions = _any_matches(text, "[^0-9-]")
            self._fractions |= fractions
            self._too_long |= not fractions and not pa.types.is_integer(numbers.type)

    @property
    def type(self) -> pa.DataType | None:
        """The type of numbers that the column is of; None of text."""
        if self._is_text or (not self._codes and not self._any):
            return None
        if self._fractions or not self._any:
            return pa.float64()
        if self._too_long:
            return pa.float64() if self._codes else None
        return pa.int64()


def to_be_numbers(kinds: Mapping[str, Any], names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the columns of text that must be numbers, by the kinds that a recipe says; and those that may be."""
    must = [name for name in names if kinds.get(name) in ("number", "semi") or isinstance(kinds.get(name), Mapping)]
    return must, [name for name in names if kinds.get(name) in (None, "ordinal")]


def named_numbers(
    column: pa.ChunkedArray, marks: Marks, name: str, file: str, *, whole: bool = True
) -> pa.ChunkedArray:
    """Turn a column of text that must be all numbers, be they codes, or say that it is not.

    If it is not the `whole` column, the message does not say how many of its values are infinite.
    """
    numbers = to_numbers(column, marks, codes=True)
    if numbers is None:
        infinite = _infinite(column, marks)
        if infinite:
            many = f"{infinite} infinite value(s)" if whole else "infinite values"
            raise InvalidData(
                f"column {name!r} of {file!r} has {many}. Drop those records, cap them, or give the column another "
                f"role.",
                columns=(name,),
            )
        thousands = f"{marks.thousands!r}" if marks.thousands else "nothing"
        known = ", ".join(filter(None, MISSING))
        raise InvalidData(
            f"column {name!r} of {file!r} is not all numbers with {marks.decimal!r} before decimals and {thousands} "
            f"between thousands (missing: an empty field, {known}). Give it another role, correct it, or say how "
            f"numbers are written: {setting('decimal')}, {setting('thousands')}.",
            columns=(name,),
        )
    return numbers


def _infinite(column: pa.ChunkedArray, marks: Marks) -> int:
    """Count the infinite values, as Inf and 1e999 are, of a column that is all numbers but for those; 0 of others."""
    text = _prepare(column)
    said = pc.match_substring_regex(text, "(?i)^-?inf(inity)?$").fill_null(False)
    rest = _null_where(said, text)
    if not _all_match(rest, marks.pattern):
        return 0
    beyond = pc.is_inf(_in_plain_marks(rest, marks).cast(pa.float64()))
    return int(pc.sum(said).as_py() or 0) + int(pc.sum(beyond).as_py() or 0)


def _plain_numbers(column: pa.ChunkedArray, marks: Marks) -> pa.ChunkedArray | None:
    """Read numbers of the plainest kind, in a fraction of the time that patterns take; None where there are others."""
    if marks.thousands or column.null_count == len(column):
        return None
    try:
        numbers = column.cast(pa.int64())
    except pa.ArrowInvalid:
        pass
    else:
        # Longer than need be: it has leading zeros, or is hexadecimal, which the cast takes too.
        plain = pc.sum(pc.binary_length(column)) == pc.sum(pc.binary_length(numbers.cast(pa.string())))
        return numbers if plain else None
    if not _any_matches(column.slice(0, _SAMPLE), "[.,eE]"):
        return None  # whole, and too long or with a plus; or with a fraction further down
    if marks.decimal != ".":
        if pc.any(pc.match_substring(column, ".")).as_py():
            return None
        column = pc.replace_substring(column, marks.decimal, ".")
    try:
        numbers = column.cast(pa.float64())
    except pa.ArrowInvalid:
        return None
    return numbers if _is_finite(numbers) else None


def _is_finite(numbers: pa.ChunkedArray) -> bool:
    """Return whether no number is infinite, as 1e999 is, or none, as the cast takes words for them."""
    return pc.all(pc.is_finite(numbers), skip_nulls=True).as_py() is not False


def _prepare(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Drop spaces around values, a plus before them, and what stands for missing."""
    text = column.cast(pa.string())
    if _any_matches(text, r"^\s|\s$"):
        text = pc.utf8_trim_whitespace(text)
    if pc.any(pc.starts_with(text, "+")).as_py():
        text = pc.replace_substring_regex(text, r"^\+", "")
    return without_marks(text)


def as_floats(array: Any) -> Any:
    """Return numbers as float64: of decimals the nearest, which a plain cast misses by a digit now and then."""
    return (array.cast(pa.string()) if pa.types.is_decimal(array.type) else array).cast(pa.float64())


def without_marks(text: pa.ChunkedArray) -> pa.ChunkedArray:
    """Make null of texts that stand for a missing value."""
    missing = pc.is_in(text, value_set=pa.array(MISSING, text.type))
    if not pc.any(missing).as_py():
        return text
    return _null_where(missing, text)


def _null_where(condition: pa.ChunkedArray, text: pa.ChunkedArray) -> pa.ChunkedArray:
    """Leave values out: by an array, since PyArrow before 24 damages a slice of text where the null is a scalar."""
    return pc.if_else(condition, pa.nulls(len(text), text.type), text)


def _all_match(text: pa.ChunkedArray, pattern: str) -> bool:
    return pc.all(pc.match_substring_regex(text, pattern), skip_nulls=True).as_py() is not False


def _any_matches(text: pa.ChunkedArray, pattern: str) -> bool:
    return pc.any(pc.match_substring_regex(text, pattern)).as_py() is True


def guess_marks(
    records: Sequence[Sequence[str]], delimiter: str, decimal: str | None, thousands: str | None
) -> tuple[Marks, bool]:
    """Guess the marks from the first records: those that make numbers of the most columns.

    Where every dot, or every comma, stands before three digits, it may be either mark, and the delimiter settles it: a
    semicolon is what programs write where the comma is the decimal mark and the dot separates thousands; otherwise it
    is the other way round. Without any column to judge by, it is the delimiter alone.

    Parameters
    ----------
    records : sequence of sequences of str
        Without the header.
    delimiter : str
    decimal, thousands : str or None
        What is known already; ``thousands=""`` for none.

    Returns
    -------
    marks : Marks
    is_unsure : bool
        Whether the delimiter alone decided between two readings.
    """
    comma_first = delimiter == ";"
    decimals = [decimal] if decimal else ([",", "."] if comma_first else [".", ","])
    separators = [None, *THOUSANDS] if thousands is None else [thousands or None]
    choices = [Marks(point, mark) for mark in separators for point in decimals if point != mark]
    columns = [set(map(str.strip, column)).difference(MISSING) for column in zip(*records, strict=False)]
    # Only columns of digits with something between them show which mark is which.
    telling = [
        column
        for column in columns
        if column
        and all(value[-1:].isdigit() or value[:1].isdigit() for value in column)
        and any(not value.lstrip("+-").isdigit() for value in column)
    ]
    best, fitting = choices[0], _fitting(choices[0], telling)
    for marks in choices[1:]:
        if all(fitting):  # which nothing can better
            break
        others = _fitting(marks, telling)
        if sum(others) > sum(fitting):
            best, fitting = marks, others
    mark = best.decimal  # a plain fraction comes before thousands, so only that is left to doubt
    separating = Marks("," if mark == "." else ".", mark)
    if best.thousands or separating not in choices or _fitting(separating, telling) != fitting:
        return best, False
    marked = [column for column, fits in zip(telling, fitting, strict=True) if fits and mark in "".join(column)]
    # Whoever separates thousands does so in every number of a column.
    if not marked or any(re.search("[0-9]{4}", value) for column in marked for value in column):
        return best, False
    return (separating if separating.decimal == decimals[0] else best), True


def _fitting(marks: Marks, columns: Sequence[Collection[str]]) -> list[bool]:
    """Return for each column whether all its values are numbers with these marks."""
    matches = re.compile(marks.pattern).match
    return [all(map(matches, column)) for column in columns]


def holds_numbers(dtype: pa.DataType) -> bool:
    """Return whether a type is one of numbers."""
    return bool(pa.types.is_integer(dtype) or pa.types.is_floating(dtype) or pa.types.is_decimal(dtype))


def is_text(dtype: pa.DataType) -> bool:
    """Return whether a type is text, in any of Arrow's ways to lay it out."""
    return str(dtype) in ("string", "large_string", "string_view")


def to_text(column: pa.ChunkedArray, decimal: str) -> pa.ChunkedArray:
    """Write numbers as the shortest text that reads back as the same number."""
    text = column.cast(pa.string())
    if pa.types.is_floating(column.type):
        text = _null_where(pc.is_nan(column), text)
    if decimal != "." and (pa.types.is_floating(column.type) or pa.types.is_decimal(column.type)):
        text = pc.replace_substring(text, ".", decimal)
    return text


_IGNORED = re.compile(  # code points that Unicode says are not shown, though Python prints some of them
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_LOOKS_LIKE = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-") | {"\u2800": " "})
_DOTTED = re.compile("i\u0307+|\u0131")  # what capitals of Turkish become in small letters
_NUMBER = re.compile(r"([+-]?)(\d*)(?:[.,](\d*))?(?:e([+-]?\d{1,9}))?")
_MOST_ZEROS = 30  # that a whole number is written with at its end; a larger power of ten is written as such
_USUAL = rf"^(?:0|[1-9][0-9]{{0,{_MOST_ZEROS}}}|[A-Za-z][A-Za-z0-9_-]*)$"  # only capital letters matter there


def by_value(array: Any) -> Any:
    """Return an Arrow array of units in one spelling each: what is one unit is equal.

    Numbers are compared as numbers, in text too and to the last digit: 1, 01, 1.0 and 1e0 are one. Other text is
    compared without spaces around it, and without regard to capital letters, to how many spaces there are between
    words, to how accents are stored, to the width of letters, and to what is not shown at all. To take two
    units for one protects no less.

    Examples
    --------
    >>> by_value(pa.array(["1", "01", "1.0", "A ", "a", "10"])).to_pylist()
    ['1', '1', '1', 'a', 'a', '10']
    """
    array = decoded(array)  # its own codes may differ for equal values
    if not is_text(array.type):
        return plain_floats(array)
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    encoded = array.cast(pa.large_string()).dictionary_encode()
    spelt = encoded.dictionary
    usual = pc.match_substring_regex(spelt, _USUAL)
    others = [_one_spelling(text) for text in spelt.filter(pc.invert(usual)).to_pylist()]
    plain = pc.replace_with_mask(pc.ascii_lower(spelt), pc.invert(usual), pa.array(others, pa.large_string()))
    return plain.take(encoded.indices)


def _one_spelling(text: str) -> str:
    if not text.isprintable():
        text = "".join(one for one in text if one.isspace() or unicodedata.category(one) not in ("Cc", "Cf"))
    if not text.isascii():
        text = unicodedata.normalize("NFKD", _IGNORED.sub("", text).translate(_LOOKS_LIKE))
        text = _DOTTED.sub("i", unicodedata.normalize("NFKD", text.casefold()))
        text = unicodedata.normalize("NFKC", text.translate(_LOOKS_LIKE))  # last: what was between is gone
    text = " ".join(text.casefold().split())
    found = _NUMBER.fullmatch(text)
    if found is None:
        return text
    sign, whole, fraction, power = (one or "" for one in found.groups())
    if not whole + fraction:
        return text
    digits = "".join(str(unicodedata.digit(one)) for one in whole + fraction).lstrip("0")
    known = digits.rstrip("0")
    if not known:
        return "0"
    zeros = int(power or 0) - len(fraction) + len(digits) - len(known)
    sign = sign.strip("+")
    return f"{sign}{known}{'0' * zeros}" if 0 <= zeros <= _MOST_ZEROS else f"{sign}{known}e{zeros}"
