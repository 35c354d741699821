"""What a field shows for a choice, and what a field that was posted says."""

from collections.abc import Mapping, Sequence
from typing import Any

from microagg.app.words import label_of
from microagg.errors import InvalidParameter
from microagg.recipe import Choice
from microagg.recipe import _choice as kinds
from microagg.recipe._lines import content_of
from microagg.recipe._text import toml
from microagg.recipe.words import column_text, takes_names, value_of, value_of_column

Posted = Mapping[str, list[str]]
"""A form: each field with what was posted for it, in order."""

_TABLES = (kinds.BY_COLUMN, kinds.WORD_OR_BY_COLUMN)
_WORDS = {"tab": "\t", "none": ""}  # what cannot be typed into a field, or not be seen there


def as_text(choice: Choice, value: Any) -> str:
    """Return the text of a field for what is chosen; none of a table of columns, which has a field for each column."""
    if value is None or value == () or isinstance(value, Mapping):
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if choice.kind == kinds.TEXT:
        return next((word for word, text in _WORDS.items() if text == value), str(value))
    return ", ".join(map(_number, value)) if isinstance(value, (list, tuple)) else _number(value)


def column_field(choice: Choice, value: Any) -> str:
    """Return what is chosen for one column as a person types it, else as a recipe file has it."""
    return "" if value is None else column_text(choice, value) or toml(value)


def _number(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else str(value)


def value_from(choice: Choice, field: str, posted: Posted, columns: Sequence[str], now: Any) -> Any:
    """Return what a form says of a choice; `now` is what holds, which stays where it is said again."""
    given = [one.strip() if choice.kind != kinds.TEXT else one for one in posted[field]]
    last = given[-1]
    if choice.kind in _TABLES:
        return _table_from(choice, field, posted, columns, now)
    if choice.kind in (kinds.NAMES, kinds.NAME_OR_NAMES, kinds.NAME):
        return _names_from(choice, given, columns, now)
    if choice.kind == kinds.WORDS and choice.words:
        return tuple(one for one in given if one) or choice.default
    if choice.kind == kinds.FLAG:
        return {"yes": True, "no": False}.get(last, choice.default if choice.default is None else False)
    if choice.kind == kinds.WORD_OR_WHOLE and last == "#":
        last = posted.get(f"{field}.number", [""])[-1].strip()
        if not last.isdecimal():
            raise InvalidParameter(f"{label_of(choice.keyword)} needs a whole number.", parameter=choice.keyword)
    if last == "" and choice.kind != kinds.TEXT:
        if choice.keyword == "k":
            raise InvalidParameter("k is empty. Type a whole number, 2 or more.", parameter="k")
        # Names of columns in the place of a word have a field of their own.
        return now if takes_names(choice) and now is not None and not isinstance(now, str) else choice.default
    if choice.kind == kinds.TEXT:
        return _WORDS.get(last, last) if last else choice.default
    return _scalar(choice, last, now)


def _scalar(choice: Choice, text: str, now: Any) -> Any:
    """Read a word, a number or a list of them."""
    if choice.kind in (kinds.WHOLE, kinds.NUMBER):
        try:
            value: Any = int(text) if choice.kind == kinds.WHOLE else float(text)
        except ValueError:
            raise InvalidParameter(
                f"{label_of(choice.keyword)} = {text[:40]!r} must be {choice.kind}.", parameter=choice.keyword
            ) from None
    elif choice.kind == kinds.WORD_OR_WHOLE:
        value = int(text) if text.isdecimal() else text
    else:
        value = text if takes_names(choice) else value_of(choice, text)
    return now if value == now else value  # whole parts check what they are made of


def _names_from(choice: Choice, given: list[str], columns: Sequence[str], now: Any) -> Any:
    """Read names of columns from their places; those that were there keep their order."""
    chosen = [columns[int(one)] for one in given if one.isdecimal() and int(one) < len(columns)]
    if choice.kind == kinds.NAME:
        return chosen[-1] if chosen else None
    former = now if isinstance(now, tuple) else () if now is None else (now,)
    ordered = [name for name in former if name in chosen] + [name for name in chosen if name not in former]
    return tuple(ordered) if ordered else choice.default


def _table_from(choice: Choice, field: str, posted: Posted, columns: Sequence[str], now: Any) -> Any:
    """Read what is said of single columns; a word where nothing is said of any."""
    found = dict(now) if isinstance(now, Mapping) else {}
    for i, name in enumerate(columns):
        text = posted.get(f"{field}@{i}", [None])[-1]
        if text is None or text.strip() == column_field(choice, found.get(name)):
            continue
        found.pop(name, None)
        if text.strip():
            found[name] = choice.of_column(name, _one_column(choice, name, text.strip()))
    word = posted[field][-1]
    return found if found or not word else word


def _one_column(choice: Choice, name: str, text: str) -> Any:
    if text[0] not in "{[\"'":
        return value_of_column(choice, text)
    try:
        return content_of(f"it = {text}", "it", choice.keyword)["it"]
    except InvalidParameter:
        raise InvalidParameter(
            f"{label_of(choice.keyword)} of column {name!r} cannot be read. Write it as in a recipe, such as "
            f"{{width = 5}}, or width:5.",
            parameter=choice.keyword,
            columns=(name,),
        ) from None
