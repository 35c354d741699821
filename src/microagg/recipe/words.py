"""The words of people for choices: what they type on a command line or into a form, and how fields are called."""

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from microagg.errors import InvalidParameter
from microagg.recipe._choice import (
    BY_COLUMN,
    LISTED,
    NAME_OR_NAMES,
    NAMES,
    NUMBERS,
    WHOLES,
    WORD_OR_BY_COLUMN,
    WORD_OR_WHOLE,
    WORDS,
    Choice,
)
from microagg.recipe._file import tables_in
from microagg.recipe._tables import choices

LISTS = (NAMES, NAME_OR_NAMES, NUMBERS, WHOLES, WORDS)
TABLES = (BY_COLUMN, WORD_OR_BY_COLUMN)


def takes_names(choice: Choice) -> bool:
    """Return whether names may be said in the place of a word."""
    return NAMES in choice.or_object


def value_of(choice: Choice, given: Any) -> Any:
    """What a person has typed for a choice: lists are written with commas, moves as a number, tables in a file."""
    if choice.kind == LISTED:
        return tables_in(Path(given), choices()[choice.keyword][0])
    if choice.kind == WORD_OR_WHOLE and choice.words:  # where any word will do, as that of a column, 2020 may be one
        return _number_or_word(given) if given.isdecimal() else given
    if takes_names(choice) and given not in choice.words:
        return listed(given)
    if choice.kind in TABLES and given not in choice.words:
        return dict(_of_column(part, choice) for part in listed(given))
    if choice.kind not in LISTS:
        return given
    parts = listed(given)
    try:
        if choice.kind == WHOLES:
            return [int(part) for part in parts]
        if choice.kind == NUMBERS:
            numbers = [float(part) for part in parts]
            return numbers if len(numbers) != 1 else numbers[0]
    except ValueError:
        raise InvalidParameter(
            f"{choice.keyword}={given!r} must be {choice.kind}, separated by commas.", parameter=choice.keyword
        ) from None
    return parts


def _of_column(part: str, choice: Choice) -> tuple[str, Any]:
    """Read what is said of one column: its name, and a word, a number, or several with bars between."""
    name, sign, said = part.partition("=")
    if not sign or not said:
        raise InvalidParameter(
            f"{choice.keyword}: {part!r} must be a column and a value, such as wage=1.", parameter=choice.keyword
        )
    return name.strip(), value_of_column(choice, said)


def value_of_column(choice: Choice, said: str) -> Any:
    """Return what a person has typed for one column of a table of columns, such as width:5|top:80."""
    if choice.keyword in ("recode", "taxonomy", "kinds") and ":" in said:
        found: dict[str, Any] = {}
        for word, _, own in (one.partition(":") for one in said.split("|")):
            _add_rule(found, word.strip(), own.strip())
        return found
    values = [_number_or_word(one.strip()) for one in said.split("|")]
    return values if len(values) > 1 else values[0]


def column_text(choice: Choice, value: Any) -> str:
    """Return what a person would type for what is chosen for one column; empty where that cannot be typed."""
    if isinstance(value, Mapping):
        text = "|".join(_rule_text(word, own) for word, own in value.items())
    else:
        text = "|".join(map(_plain_text, value if isinstance(value, (list, tuple)) else (value,)))
    try:
        same = choice.of_column("", value_of_column(choice, text)) == value
    except (InvalidParameter, TypeError):
        same = False
    return text if same else ""


def _rule_text(word: str, own: Any) -> str:
    if isinstance(own, Mapping):
        return "|".join(f"{word}:{new}={'/'.join(map(str, olds))}" for new, olds in own.items())
    return f"{word}:{'/'.join(map(_plain_text, own)) if isinstance(own, (list, tuple)) else _plain_text(own)}"


def _plain_text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else str(value)


def _add_rule(found: dict[str, Any], word: str, said: str) -> None:
    """Add what a word says: cuts:18/30/65, and join:other=x/y, once for each new category."""
    if word == "cuts":
        found[word] = [_number_or_word(one.strip()) for one in said.split("/")]
    elif word == "join" and "=" in said:  # else it is the path of a table
        new, _, olds = said.partition("=")
        joined = found.setdefault(word, {})
        joined[new.strip()] = [one.strip() for one in olds.split("/")]
    else:
        found[word] = _number_or_word(said)


def _number_or_word(text: str) -> Any:
    try:
        return int(text) if text.lstrip("-").isdecimal() else float(text)
    except ValueError:
        return text


def listed(text: str) -> list[str]:
    """Split a list at its commas; a name that holds one is in double quotes."""
    try:
        row = next(csv.reader([text], skipinitialspace=True), [])
    except csv.Error:
        raise InvalidParameter(
            "a list of names cannot be split. Put a name that holds a comma or a line break in double quotes, "
            "and name no more than a file has."
        ) from None
    return [part.strip() for part in row if part.strip()]


TITLES = {
    "roles": "Which column is what",
    "recode": "Which column is what",
    "kinds": "Which column is what",
    "missing": "Which column is what",
    "importance": "How groups are formed",
    "taxonomy": "Which column is what",
    "units": "Persons, households and firms",
    "diversity": "What a group may give away",
    "join": "Persons, households and firms",
    "method": "How groups are formed",
    "masking": "What is released",
    "weights": "What is released",
    "analysis": "What users need",
    "relation": "What users need",
    "select": "Which columns form the groups",
    "blocks": "Large files",
    "refine": "Lower loss",
    "read": "How a text file is written, or which sheet is read (detected by default)",
    "risk": "What the intruder knows",
    "output": "How the release is written",
    "compare": "What is compared",
}

LABELS = {
    "refine": "refine the groups",
    "recode": "recoding",
    "kinds": "kind",
    "missing_codes": "codes of missing values",
    "taxonomy": "tree of categories",
    "unit_share": "share of a unit in its group",
    "unit_release": "rows of a unit",
    "unit_constant": "columns with one value a unit",
    "household": "columns of a whole unit",
    "unit_order": "order of a unit's rows",
    "small_units": "units of a rare size",
    "l": "different values (l)",
    "entropy_l": "different values by entropy (l)",
    "recursive_l": "different values by frequency (c, l)",
    "l_columns": "columns that l applies to",
    "t": "closeness to the whole file (t)",
    "t_columns": "columns that t applies to",
    "diversity": "how groups keep l and t",
    "scale": "how columns are compared",
    "aggregate": "value of a group",
    "nominal": "category of a group",
    "nominal_seed": "secret seed of drawn categories",
    "spike": "importance of a spike",
    "spike_totals": "groups with a spike",
    "moments": "variation that is kept",
    "moments_clip": "stay within the original range",
    "missing": "missing values",
    "per_column": "k for each column only",
    "weighted": "weighted means",
    "weight_release": "release of weights",
    "weight_cap": "cut weights that dominate a group",
    "calibrate": "weighted totals that are kept",
    "select": "choice of columns",
    "columns": "columns that form the groups",
    "count": "number of columns",
    "measure": "measure of dependence",
    "width": "width of categories",
    "bins": "number of categories",
    "blocks": "cutting a large file",
    "max_block": "largest block",
    "seed": "seed of the refinement",
    "decimal": "decimal mark",
    "thousands": "thousands mark",
    "header": "names in the first row",
    "households": "file of households",
    "on": "joined by",
    "relations": "relations between columns",
    "analyses": "analyses of your users",
    "keys": "columns that the intruder knows",
    "sample": "records that linkage is measured on",
    "sample_seed": "seed of that sample",
    "same_order": "keep the order of rows",
    "excel_safe": "safe for spreadsheets",
    "public": "public report",
    "file_kind": "kind of file",
    "ks": "levels of k",
    "ls": "levels of l",
    "ts": "levels of t",
    "x": "weight of the loss",
    "rank": "ranked by",
    "map_axis": "loss on the map",
    "least_k": "k that the best must reach",
    "tail": "last groups",
    "gamma": "growth of groups",
    "centroid": "centre of the records",
    "sizes": "size of groups",
    "axis": "order of records",
}
"""What choices are called, by their keyword, where that says little to people who do not program."""
