"""What a file holds, and what each of its columns probably is: guesses for a person to check."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from microagg.io import frames
from microagg.schema import Role

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
        "numbers", "whole numbers", "text", "dates" or "other".
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
        Records that lack a value in one of the columns to mask.
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
                found[role.value] = names[0] if role in (Role.WEIGHT, Role.UNIT) else names
        return found

    @property
    def reasons(self) -> Mapping[str, str]:
        """The reason of each column's role."""
        return {column.name: column.reason for column in self.columns}


def inspect_table(table: pa.Table, k: int) -> Inspection:
    """Guess the role of each column of a table whose numbers are numbers; k decides what may be a stratum."""
    found: list[ColumnGuess] = []
    strata: list[str] = []
    taken: set[Role] = set()
    for name in table.column_names:
        distinct = _distinct(table[name])
        guess = _guess(table, name, distinct, k, strata, taken)
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
    masks = frames.missing_rows(frame, [*quasi, *strata]) if quasi else {}
    if masks:
        incomplete = int(np.count_nonzero(np.logical_or.reduce(list(masks.values()))))
    return Inspection(table.num_rows, tuple(found), unique, incomplete)


def _guess(table: pa.Table, name: str, distinct: int, k: int, strata: list[str], taken: set[Role]) -> ColumnGuess:
    """Guess one column's role. Where in doubt, what is safer: a column is masked or left out, not passed through."""
    column = table[name]
    kind = _kind(column.type)
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
    if kind == "text" and telling:
        return guess(Role.IDENTIFIER, f"{distinct} of {present} values differ: it tells people apart")
    if kind == "whole numbers" and distinct == present and _is_a_numbering(column):
        return guess(Role.IDENTIFIER, "it numbers the records")
    if words & _WEIGHT and not words & _BODILY and numeric and Role.WEIGHT not in taken and _positive(column):
        return guess(Role.WEIGHT, "by its name, and no value is negative")
    if words & _CONFIDENTIAL and distinct <= _FEW and kind in ("text", "whole numbers", "other"):
        return guess(Role.CONFIDENTIAL, "by its name it is sensitive; released as it is")
    if kind == "whole numbers" and telling and words & (_CONFIDENTIAL | _NUMBERED):
        return guess(Role.IDENTIFIER, f"{distinct} of {present} values differ, and by its name it is no quantity")
    may_divide = distinct <= _FEW and column.null_count == 0 and kind != "numbers"
    if words & _STRATUM and may_divide and _fewest(table, [*strata, name]) >= max(3 * k, 10):
        return guess(Role.STRATUM, f"by its name, and each of its {distinct} values has records enough")
    if numeric and not words & _IDENTIFIER:
        few = f"only {distinct}" if distinct <= 10 else str(distinct)
        return guess(Role.QUASI, f"{kind}, {few} different values")
    if numeric:
        return guess(Role.DROP, "by its name it may identify; move it to quasi if it is a quantity")
    if kind == "dates" or words & _DATE:
        return guess(Role.DROP, "a date can single people out; turn it into a year or an age to keep it")
    return guess(Role.DROP, f"{kind} cannot be averaged; move it to strata, confidential or keep if it may be released")


def _distinct(column: pa.ChunkedArray) -> int:
    """Count the different values; 0 where they cannot be told apart."""
    try:
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        return int(pc.count_distinct(column, mode="only_valid").as_py())
    except pa.ArrowException:
        return 0


def _kind(type_: pa.DataType) -> str:
    if pa.types.is_dictionary(type_):
        type_ = type_.value_type
    if pa.types.is_integer(type_):
        return "whole numbers"
    if pa.types.is_floating(type_) or pa.types.is_decimal(type_):
        return "numbers"
    if pa.types.is_string(type_) or pa.types.is_large_string(type_):
        return "text"
    return "dates" if pa.types.is_temporal(type_) else "other"


def _is_a_numbering(column: pa.ChunkedArray) -> bool:
    """Tell whether different whole numbers lie as densely as a numbering does."""
    extremes = pc.min_max(column).as_py()
    return bool(extremes["max"] - extremes["min"] < 2 * len(column))


def _positive(column: pa.ChunkedArray) -> bool:
    return bool(pc.min(column).as_py() >= 0)


def _fewest(table: pa.Table, names: list[str]) -> int:
    return int(np.bincount(frames.category_codes(frames.open_frame(table.select(names)), names)).min())
