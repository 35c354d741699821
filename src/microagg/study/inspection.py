"""What a file holds, and what each of its columns probably is: guesses for a person to check."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from microagg.checks import EXACT_INTEGERS
from microagg.io import frames
from microagg.schema import Role

ValueLabels = Mapping[str, Mapping[Any, str]]

_FEW = 50  # distinct values up to which a column may divide the file into strata
_UNIQUE = 0.95  # share of distinct values from which a column may tell everybody apart

_SPLIT = re.compile(r"[^a-z0-9]+|(?<=[a-z])(?=[0-9])")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_IDENTIFIER = set(
    """id ids name surname firstname lastname fullname ssn nin nino nif dni passport email mail phone telephone mobile
    iban account address street person patient respondent citizen employee customer client key uuid guid pid rowid index
    licence license plate ip""".split()
)
_UNIT = {"household", "hh", "hhid", "firm", "company", "enterprise", "family", "establishment", "school", "hospital"}
_WEIGHT = set("weight weights wgt wt wgts gewicht poids peso pond expansion fnlwgt pweight".split())
_STRATUM = set(
    """region state province county district nuts nuts1 nuts2 nuts3 country canton land sex gender sector nace stratum
    strata area department""".split()
)
_CONFIDENTIAL = set(
    """diagnosis disease illness hiv religion religious ethnic ethnicity race orientation party vote crime offence drug
    drugs disability pregnant abortion health icd icd10 treatment medication union political""".split()
)
_NUMBERED = {"no", "nr", "number", "num", "ref", "code"}
_BODILY = {"kg", "lb", "lbs", "g", "body", "birth", "net", "gross"}
_DATE = {"date", "birth", "birthdate", "dob", "born", "birthday", "timestamp", "day"}


@dataclass(frozen=True)
class ColumnGuess:
    """What a column holds and what it probably is.

    Attributes
    ----------
    name : str
    type : str
        "numbers", "whole numbers" (however they are stored), "codes", whose numbers stand for something else, "text",
        "dates" or "other".
    missing, distinct : int
        Values that are missing; different ones among the others.
    role : Role
    reason : str
        Why that role.
    """

    name: str
    type: str
    missing: int
    distinct: int
    role: Role
    reason: str


@dataclass(frozen=True)
class Inspection:
    """What a file holds: the guesses, and how exposed its records would be as they are.

    Attributes
    ----------
    records : int
    columns : tuple of ColumnGuess
    unique : int
        Records that nobody shares the guessed quasi-identifiers and strata with.
    incomplete : int
        Records that lack a value in one of the columns to mask, of the strata or of the unit, and cannot be masked.
    """

    records: int
    columns: tuple[ColumnGuess, ...]
    unique: int
    incomplete: int

    @property
    def roles(self) -> dict[str, Any]:
        """The guesses, as `protect` and recipes name them; roles that no column has are left out."""
        found: dict[str, Any] = {}
        for role in Role:
            names = [column.name for column in self.columns if column.role is role]
            if names:
                found[role.value] = names[0] if role is Role.UNIT else names
        return found

    @property
    def reasons(self) -> Mapping[str, str]:
        """The reason of each column's role."""
        return {column.name: column.reason for column in self.columns}


def inspect_table(table: pa.Table, k: int, value_labels: ValueLabels | None = None) -> Inspection:
    """Guess the role of each column of a table whose numbers are numbers; k decides what may be a stratum.

    `value_labels` tells, by column, what its values stand for, where the file says so: such numbers are codes.
    """
    found: list[ColumnGuess] = []
    strata: list[str] = []
    taken: set[Role] = set()
    for name in table.column_names:
        guess = _guess(table, name, k, strata, taken, (value_labels or {}).get(name, {}))
        if guess.role is Role.STRATUM:
            strata.append(name)
        taken.add(guess.role)
        found.append(guess)
    quasi = [column.name for column in found if column.role is Role.QUASI]
    frame = frames.open_frame(table)
    unique = 0
    if [*quasi, *strata] and table.num_rows:
        codes = frames.category_codes(frame, [*quasi, *strata])
        unique = int(np.count_nonzero(np.bincount(codes) == 1))
    incomplete = 0
    unit = [column.name for column in found if column.role is Role.UNIT]
    masks = frames.missing_rows(frame, [*quasi, *strata, *unit]) if quasi else {}
    if masks:
        incomplete = int(np.count_nonzero(np.logical_or.reduce(list(masks.values()))))
    return Inspection(table.num_rows, tuple(found), unique, incomplete)


def _guess(
    table: pa.Table, name: str, k: int, strata: list[str], taken: set[Role], labels: Mapping[Any, str]
) -> ColumnGuess:
    """Guess one column's role. Where in doubt, what is safer: a column is masked or left out, not passed through.

    A name alone never releases a column: strata are counted as k is, and what is kept has one value throughout.
    """
    column = _values(table[name])
    distinct = _distinct(column)
    kind = "codes" if _stand_for_more(table[name].type, column, distinct, labels) else _kind(column)
    present = len(column) - column.null_count
    words = set(_SPLIT.split(_CAMEL.sub("_", name).lower()))
    words |= {name.lower().replace("_", "").replace(" ", "")}
    numeric = kind in ("numbers", "whole numbers")
    telling = present >= 20 and distinct >= _UNIQUE * present and kind != "numbers"

    def guess(role: Role, reason: str) -> ColumnGuess:
        return ColumnGuess(name, kind, column.null_count, distinct, role, reason)

    if present == 0:
        return guess(Role.DROP, "it is empty")
    if distinct == 1 and column.null_count == 0:
        return guess(Role.KEEP, "every record has the same value")
    if words & _UNIT and Role.UNIT not in taken and not telling and kind != "numbers" and distinct > _FEW:
        return guess(Role.UNIT, "by its name it says which records belong together")
    repeated = words & _IDENTIFIER and kind != "numbers" and _FEW < distinct < present
    if repeated and not telling and Role.UNIT not in taken:
        return guess(Role.UNIT, "by its name it says who a record belongs to, and its values repeat")
    if words & _IDENTIFIER and (telling or (not numeric and distinct > _FEW)):
        return guess(Role.IDENTIFIER, f"by its name, and {distinct} of {present} values differ")
    if kind in ("text", "codes") and telling:
        return guess(Role.IDENTIFIER, f"{distinct} of {present} values differ: it tells people apart")
    if kind == "whole numbers" and distinct == present and _is_a_numbering(column):
        return guess(Role.IDENTIFIER, "it numbers the records")
    if words & _WEIGHT and not words & _BODILY and numeric and _positive(column):
        return guess(
            Role.DROP,
            "by its name it may be a sampling weight or a body weight; move it to weight to release it unchanged, or "
            "to quasi to mask it",
        )
    if words & _CONFIDENTIAL and distinct <= _FEW and kind in ("text", "whole numbers", "codes", "other"):
        return guess(Role.DROP, "by its name it is sensitive; move it to confidential to release it unchanged")
    if kind == "whole numbers" and telling and words & (_CONFIDENTIAL | _NUMBERED):
        return guess(Role.IDENTIFIER, f"{distinct} of {present} values differ, and by its name it is no quantity")
    may_divide = distinct <= _FEW and column.null_count == 0 and kind != "numbers"
    if words & _STRATUM and may_divide and _fewest(table, [*strata, name]) >= max(3 * k, 10):
        return guess(Role.STRATUM, f"by its name, and each of its {distinct} values has records enough")
    obstacle = _obstacle(column) if numeric else ""
    if obstacle:
        return guess(Role.IDENTIFIER if telling else Role.DROP, f"{obstacle}, and cannot be averaged")
    if numeric and not words & _IDENTIFIER:
        few = f"only {distinct}" if distinct <= 10 else str(distinct)
        return guess(Role.QUASI, f"{kind}, {few} different values")
    if numeric:
        return guess(Role.DROP, "by its name it may identify; move it to quasi if it is a quantity")
    if kind == "dates" or words & _DATE:
        return guess(Role.DROP, "a date can single people out; turn it into a year or an age to keep it")
    return guess(Role.DROP, f"{kind} cannot be averaged; move it to strata, confidential or keep if it may be released")


def _values(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Give the values that a column holds: no dictionary, and nothing in place of what is not a number."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
    return column


def _distinct(column: pa.ChunkedArray) -> int:
    """Count the different values; 0 where they cannot be told apart."""
    try:
        return int(pc.count_distinct(column, mode="only_valid").as_py())
    except pa.ArrowException:
        return 0


def _stand_for_more(stored: pa.DataType, column: pa.ChunkedArray, distinct: int, labels: Mapping[Any, str]) -> bool:
    """Tell whether numbers are codes: categories, or most of them with a label that says what they stand for.

    Labels of a few values among many, as of a refusal to answer, leave a quantity what it is.
    """
    if not _is_number(column.type):
        return False
    if pa.types.is_dictionary(stored):
        return True
    if not 0 < distinct <= 2 * len(labels):
        return False
    return 2 * sum(value in labels for value in column.unique().drop_null().to_pylist()) >= distinct


def _kind(column: pa.ChunkedArray) -> str:
    type_ = column.type
    if pa.types.is_integer(type_):
        return "whole numbers"
    if _is_number(type_):
        return "whole numbers" if _all_whole(column) else "numbers"
    if pa.types.is_string(type_) or pa.types.is_large_string(type_):
        return "text"
    return "dates" if pa.types.is_temporal(type_) else "other"


def _is_number(type_: pa.DataType) -> bool:
    return bool(pa.types.is_integer(type_) or pa.types.is_floating(type_) or pa.types.is_decimal(type_))


def _all_whole(column: pa.ChunkedArray) -> bool:
    """Tell whether floats or decimals are whole numbers: some files hold no others, so their type does not say.

    Beyond 2**53 every float is whole, which says nothing.
    """
    whole = pc.equal(column, pc.floor(column))
    return bool(pc.all(whole).as_py()) and _largest(column) <= EXACT_INTEGERS


def _largest(column: pa.ChunkedArray) -> float:
    """Give the largest magnitude."""
    extremes = pc.min_max(column).as_py()
    return max(abs(extremes["min"]), abs(extremes["max"])) if extremes["max"] is not None else 0


def _obstacle(column: pa.ChunkedArray) -> str:
    """Say why numbers cannot be masked, as `protect` would; empty where they can."""
    largest = _largest(column)
    if pa.types.is_floating(column.type):
        return "it holds infinite values" if largest == float("inf") else ""
    return "it holds numbers beyond 2**53" if largest > EXACT_INTEGERS else ""


def _is_a_numbering(column: pa.ChunkedArray) -> bool:
    """Tell whether different whole numbers lie as densely as a numbering does."""
    extremes = pc.min_max(column).as_py()
    return bool(extremes["max"] - extremes["min"] < 2 * len(column))


def _positive(column: pa.ChunkedArray) -> bool:
    return bool(pc.min(column).as_py() >= 0)


def _fewest(table: pa.Table, names: list[str]) -> int:
    return int(np.bincount(frames.category_codes(frames.open_frame(table.select(names)), names)).min())
