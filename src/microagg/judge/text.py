"""Numbers and names in the form that people read."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

_JOINERS = "\u200c\u200d"  # which some scripts need
THIN, FIXED = "\u202f", "\u00a0"  # spaces that no line breaks at


def shown(name: Any) -> str:
    """Return a column's name as it may be displayed: no control or direction marks, which could disguise it."""
    return "".join(
        char if char.isprintable() or char in _JOINERS else " " if char.isspace() else "\ufffd" for char in str(name)
    )


def quoted(name: Any) -> str:
    """Return a name in quotation marks."""
    return f"“{shown(name)}”"


def listed(names: Sequence[Any], most: int = 12) -> str:
    """Return names as a list in a sentence."""
    words = [quoted(name) for name in names[:most]]
    if len(names) > most:
        words.append(f"{len(names) - most} more")
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def first_of(words: Sequence[str], most: int = 4) -> str:
    """Return the first of many words, and how many more there are."""
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return ", ".join(words[:most]) + more


def count(number: int) -> str:
    """Return a whole number, its thousands apart."""
    return f"{number:,}".replace(",", THIN)


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number of things."""
    return f"{count(number)} {one if number == 1 else many or one + 's'}"


def percent(value: float | None) -> str:
    """Return a percentage with the digits that matter."""
    if value is None or not math.isfinite(value):
        return "–"
    return f"{_digits(value)}{FIXED}%"


def percents(values: Iterable[float]) -> list[str]:
    """Return several percentages."""
    return [percent(value) for value in values]


def at_most(value: float) -> str:
    """Return a percentage that others do not exceed."""
    if 0 < value < 0.005:
        return f"less than 0.01{FIXED}%"
    return f"at most {percent(value if value == 0 else max(value, 0.01))}"  # as `points` rounds it in tables


def points(value: float | None) -> str:
    """Return a signed change."""
    if value is None or not math.isfinite(value):
        return "–"
    rounded = round(value, 2)
    return "0" if rounded == 0 else f"{rounded:+.2f}".replace("-", "−")


def points_of(rows: Iterable[Iterable[float]]) -> list[list[str]]:
    """Return several rows of signed changes."""
    return [[points(value) for value in row] for row in rows]


def change(value: float | None) -> str:
    """Return a difference in percent with its sign."""
    if value is None or not math.isfinite(value):
        return "–"
    digits = _digits(abs(value)) if abs(value) >= 0.01 else "0"
    return f"{'' if digits == '0' else '+' if value > 0 else '−'}{digits}{FIXED}%"


def number(value: float | None) -> str:
    """Return a number without unit to three digits."""
    if value is None or not math.isfinite(value):
        return "–"
    if value == 0 or abs(value) >= 1000:
        return count(round(value))
    return f"{value:.3f}" if abs(value) < 1 else f"{value:.3g}"


def _digits(value: float) -> str:
    if value == 0:
        return "0"
    if 0 < value < 0.01:
        return f"<{FIXED}0.01"
    if abs(value) < 1:
        return f"{value:.2f}".replace("-", "−")
    if abs(value) < 1000:
        return (f"{value:.0f}" if value == round(value) else f"{value:.1f}").replace("-", "−")
    return count(round(value))


def sentence(parts: Iterable[str]) -> str:
    """Join sentences, without those that are empty."""
    return " ".join(part for part in parts if part)
