"""Numbers of units compared by value, so that several spellings of one unit are one unit."""

import re
import unicodedata
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from microagg.columns.numbers import is_text, plain_floats

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
    if pa.types.is_dictionary(array.type):  # its own codes may differ for equal values
        array = array.cast(array.type.value_type)
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
