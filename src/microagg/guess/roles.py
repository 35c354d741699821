"""The rules that guess the role and the kind of each column: the first that has an answer gives it.

Where in doubt, what is safer: a column is masked or left out, not passed through, and what may be a numbering is not
averaged. A name alone lets nothing out: strata are counted as k is, and what is kept has one value throughout.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.equivalence import distinct_of
from microagg.columns.roles import Role
from microagg.guess import ColumnGuess, evidence, names, shape
from microagg.guess.facts import FEW, ColumnValues, Floats, Ints, tells_apart

_SHORT = 20  # different whole numbers up to which they may be codes
_MANY = 1000  # different codes or words beyond which no mode means anything
_RANGE = 130  # up to here whole numbers may be ages, hours or minutes, however evenly they are spread


@dataclass(frozen=True, eq=False)
class File:
    """All columns of a file, for rules that compare them; `named` is the unit, where somebody has said which it is."""

    columns: Sequence[ColumnValues]
    named: ColumnValues | None = None

    @cached_property
    def following_rows(self) -> dict[str, ColumnValues]:
        """The columns that others are constant within."""
        candidates = [one for one in self.columns if one.type in ("whole numbers", "text", "codes") and not one.telling]
        return {one.name: one for one in candidates if evidence.goes_with_rows(one, self.columns)}

    @cached_property
    def unit(self) -> ColumnValues | None:
        """The finest of those that is surely no amount: what is constant within it needs no other explanation."""
        if self.named is not None:
            return self.named
        found = [
            one
            for one in self.following_rows.values()
            if one.numbers is None
            or shape.sign_of_numbering(one.numbers, evidence.rises(one))
            or not shape.sign_of_amounts(*_once(one))
        ]
        return max(found, key=lambda one: (one.distinct, one.name), default=None)

    @cached_property
    def runs(self) -> ColumnValues | None:
        """What shows which rows belong together: the unit, or the finest column that stands for it and is not masked.

        A file without a number of households may have incomes that only one household has. What is surely no amount
        goes first.
        """
        if self.unit is not None:
            return self.unit
        following = self.following_rows.values()
        left_out = [one for one in following if _first_answer(Case(one, self, by_runs=False)).role is Role.IDENTIFIER]
        return max(left_out or following, key=lambda one: (one.distinct, one.name), default=None)

    def explains(self, column: ColumnValues) -> bool:
        """Return whether rows go with a column because it is the unit's, as a household's income is.

        What represents a unit that is not in the file explains only what is coarser: a number of the unit is not.
        """
        if self.unit is not None:
            return True
        return self.runs is not None and column.distinct < self.runs.distinct

    def counts(self, column: ColumnValues) -> Ints:
        """How often each value of a column occurs: once in each household or person, however many rows those have."""
        runs = self.runs
        if runs is None or runs is column:
            return column.counts
        pairs = distinct_of(column.codes * (runs.distinct + 1) + runs.codes + 1)  # rows of no unit are 0
        values = pairs // (runs.distinct + 1)
        return np.bincount(values[values >= 0], minlength=column.distinct)

    @cached_property
    def orderly(self) -> list[ColumnValues]:
        """The columns that an order can show in."""
        return [
            one
            for one in self.columns
            if evidence.is_orderly(one) and not one.telling and one.name not in self.following_rows
        ]

    @cached_property
    def amounts(self) -> list[ColumnValues]:
        """The columns that are amounts by their own values."""
        return [one for one in self.columns if _is_amount(one) and one.name not in self.following_rows]

    @cached_property
    def shared_sets(self) -> set[tuple[float, ...]]:
        """The sets of values that three columns or more have in common."""
        short = [one.numbers for one in self.columns if one.whole and one.distinct <= FEW]
        sets = [tuple(numbers.tolist()) for numbers in short if numbers is not None]
        return {one for one in sets if sets.count(one) >= 3}


@dataclass(frozen=True, eq=False)
class Case:
    """A column to guess, with what its rules share; `by_runs` says whether rows that belong together count once."""

    column: ColumnValues
    file: File
    missing_codes: tuple[float, ...] = field(default=())
    by_runs: bool = True

    def without_missing_codes(self, numbers: Floats) -> "tuple[Case, NDArray[np.bool_]]":
        """Return the case with the codes that stand for missing values, and which of its numbers are none."""
        held = evidence.missing_codes(self.column)
        return replace(self, missing_codes=held), ~np.isin(numbers, held)

    def guess(self, role: Role, reason: str, kind: str | None, spike: float | None = None) -> ColumnGuess:
        """Return the guess."""
        one = self.column
        held = self.missing_codes if role is Role.QUASI else ()
        if held:
            reason = (
                f"{reason}; {', '.join(f'{code:g}' for code in held)} are far from all others: codes for "
                "missing values?"
            )
        return ColumnGuess(one.name, one.type, one.missing, one.distinct, role, reason, kind, spike, held)


def guess_column(column: ColumnValues, file: File) -> ColumnGuess:
    """Guess the role and the kind of a column, strata left aside."""
    return _first_answer(Case(column, file))


def _first_answer(case: Case) -> ColumnGuess:
    for rule in _RULES:
        found = rule(case)
        if found is not None:
            return found
    return _by_type(case)


def why_no_quantity(column: ColumnValues, file: File, *, whole: bool) -> str | None:
    """Say why numbers are probably none that can be averaged: a numbering, codes, dates, weights; None if they may be.

    A name alone is not enough, and of two numbers the mean rounds to one of them. Of many numbers that repeat, other
    columns show what they are: where the file is not `whole`, nothing is said of those.
    """
    if column.distinct <= 2 or column.numbers is None:
        return None
    weight = evidence.is_weight(column) if column.numbers[0] >= 0 and column.type != "codes" else None
    if weight:
        return f"{weight}: a sampling weight?"
    for rule in (_rows_belong_together, _dates, _codes, _whole_numbers):
        found = rule(Case(column, file))
        if found is not None:
            repeat = column.distinct > _SHORT and not column.telling and rule is _whole_numbers
            no_quantity = found.role is Role.IDENTIFIER or found.kind in ("nominal", "date")
            return found.reason if no_quantity and (whole or not repeat) else None
    return None


def _without_content(case: Case) -> ColumnGuess | None:
    if case.column.present == 0:
        return case.guess(Role.DROP, "it is empty", None)
    if case.column.type == "other":
        return case.guess(Role.DROP, "lists and similar values cannot be masked", None)
    if case.column.distinct == 1 and not case.column.missing:
        return case.guess(Role.KEEP, "every record has the same value", None)
    return None


def _beyond_numbers(case: Case) -> ColumnGuess | None:
    """Decide of numbers that float64 cannot hold."""
    column = case.column
    if column.type not in ("numbers", "whole numbers", "codes") or column.category:
        return None
    if column.numbers is None:
        return case.guess(Role.IDENTIFIER, "numbers beyond 2**53 are not quantities, and cannot be averaged", "nominal")
    if np.isinf(column.numbers[[0, -1]]).any():
        return case.guess(Role.DROP, "it holds infinite values, and cannot be averaged", "number")
    return None


def _rows_belong_together(case: Case) -> ColumnGuess | None:
    column = case.column
    if column.name not in case.file.following_rows:
        return None
    if column.whole and column.numbers is not None:
        numbering = shape.sign_of_numbering(column.numbers, evidence.rises(column))
        amounts = shape.sign_of_amounts(column.numbers, np.ones_like(column.counts))
        explained = case.by_runs and amounts and case.file.explains(column)
        surely = shape.is_surely_amounts(column.numbers, column.counts)
        if not numbering and (explained or (surely and not (case.by_runs and case.file.runs is column))):
            return None
    return case.guess(
        Role.IDENTIFIER,
        "rows with the same value belong together: other columns are constant there",
        "nominal",
    )


def _identifier_by_name(case: Case) -> ColumnGuess | None:
    column = case.column
    if column.type in ("dates", "booleans"):
        return None
    amounts = column.whole and shape.sign_of_amounts(*_once(column))
    if column.words & names.UNIT and column.type != "numbers" and column.distinct > FEW and not amounts:
        return case.guess(Role.IDENTIFIER, "its name says that it groups rows", "nominal")
    if not column.words & names.IDENTIFIER:
        return None
    if column.telling:
        reason = f"its name says so, and {column.distinct} of {column.present} values differ"
        return case.guess(Role.IDENTIFIER, reason, "nominal")
    if column.type != "numbers" and column.distinct > FEW:
        return case.guess(
            Role.IDENTIFIER, "its name says that it identifies somebody, and its values repeat", "nominal"
        )
    if column.type in ("numbers", "whole numbers"):
        return case.guess(
            Role.DROP, "by its name it may identify a person; move it to quasi if it is a quantity", "number"
        )
    return None


def may_be_a_weight(column: ColumnValues) -> bool:
    """Return whether a column may be a sampling weight, by its name or its values; a constant does nothing."""
    return column.distinct > 1 and _weight(Case(column, File((column,)))) is not None


def _weight(case: Case) -> ColumnGuess | None:
    column = case.column
    if column.numbers is None or column.type == "codes" or column.numbers[0] < 0:
        return None
    told = "move it to weight to use it as one, best if weights are released by group, or to quasi to mask it"
    if names.may_be_a_weight(column.words):
        return case.guess(Role.DROP, f"by its name it may be a sampling weight or a body weight; {told}", "number")
    by_values = evidence.is_weight(column)
    return case.guess(Role.DROP, f"{by_values}: a sampling weight? {told}", "number") if by_values else None


def _sensitive(case: Case) -> ColumnGuess | None:
    column = case.column
    if column.words & names.CONFIDENTIAL and column.distinct <= FEW and column.type != "numbers":
        reason = "by its name it is sensitive; move it to confidential to release it unchanged"
        return case.guess(Role.DROP, reason, "nominal")
    return None


def _text(case: Case) -> ColumnGuess | None:
    column = case.column
    if column.type != "text":
        return None
    form = evidence.text_form(column)
    if form == "dates" and not (column.telling and evidence.rises(column)):
        return case.guess(Role.QUASI, "dates that are written as text", "date")
    if form == "like dates" and not column.telling:
        return case.guess(
            Role.DROP,
            "dates in several forms, or in one that is not known; rewrite them as 2024-01-31 to mask them",
            "date",
        )
    return _words(case, "digits with leading zeros" if form == "digits" else "words")


def _codes(case: Case) -> ColumnGuess | None:
    column = case.column
    if column.type != "codes":
        return None
    case = replace(case, missing_codes=evidence.missing_codes(column))
    return _words(case, "categories" if column.category else "numbers with labels")


def _words(case: Case, what: str) -> ColumnGuess:
    """Decide of words and codes by how many there are."""
    column = case.column
    if column.telling:
        reason = f"{column.distinct} of {column.present} values differ: it identifies people"
        return case.guess(Role.IDENTIFIER, reason, "nominal")
    ordered = column.ordered or column.measure == "ordinal"
    if column.distinct > _MANY or (column.present >= 20 and 2 * column.distinct > column.present):
        reason = (
            f"{what} with {column.distinct} values, which are too many to mask; join some of them to keep the column"
        )
        return case.guess(Role.DROP, reason, "ordinal" if ordered else "nominal")
    said = f"{what} in an order" if ordered else what
    return case.guess(Role.QUASI, f"{said}, {_number(column)}", "ordinal" if ordered else "nominal")


def _dates(case: Case) -> ColumnGuess | None:
    column = case.column
    if column.type == "dates":
        if column.telling and evidence.rises(column):
            return case.guess(Role.IDENTIFIER, "its values number the records in the order of time", "date")
        return case.guess(Role.QUASI, f"dates, {_number(column)}", "date")
    if column.whole and column.numbers is not None and column.distinct > 2 and evidence.are_dates(column.numbers):
        return case.guess(Role.DROP, "dates that are written as numbers; rewrite them as 2024-01-31", "date")
    return None


def _whole_numbers(case: Case) -> ColumnGuess | None:
    """Decide of whole numbers, without what stands for missing ones, and a spike aside."""
    column = case.column
    if not column.whole or column.numbers is None:
        return None
    case, left = case.without_missing_codes(column.numbers)
    numbers, counts = column.numbers[left], column.counts[left]
    spike = evidence.spike_of(numbers, counts)
    often = case.file.counts(column) if case.by_runs else column.counts
    others = evidence.without_spike(numbers, often[left], spike)
    for rule in (_numbering, _few_whole_numbers, _many_codes):
        found = rule(case, *others)
        if found is not None:
            return found
    return _quantity(case, spike, "whole numbers", len(numbers))


def _numbering(case: Case, numbers: Floats, counts: Ints) -> ColumnGuess | None:
    column = case.column
    all_differ = len(numbers) == counts.sum() > 2
    if all_differ and shape.is_dense(numbers):
        return case.guess(Role.IDENTIFIER, "its values number the records", "nominal")
    if not tells_apart(counts):
        return None
    sign = shape.sign_of_numbering(numbers, evidence.rises(column))
    if sign and not (shape.is_heaped(numbers, counts) or numbers[0] < 0):
        return case.guess(Role.IDENTIFIER, f"nearly all numbers differ, and {sign}", "nominal")
    if column.words & (names.CONFIDENTIAL | names.NUMBERED | names.CODED):
        return case.guess(Role.IDENTIFIER, "nearly all numbers differ, and by its name it is not a quantity", "nominal")
    if shape.is_composed(numbers) and not shape.is_heaped(numbers, counts):
        reason = "nearly all numbers differ, and a serial number follows their first digits"
        return case.guess(Role.IDENTIFIER, reason, "nominal")
    # Large ones are rare in a register with a second series too: what counts is how the others lie.
    main = len(shape.main_series(numbers))
    amounts = shape.sign_of_amounts(numbers[:main], counts[:main])
    if not amounts and not evidence.follows(column, case.file.amounts):
        return case.guess(
            Role.IDENTIFIER, "nearly all numbers differ, and nothing shows that they are amounts", "nominal"
        )
    return None


def _few_whole_numbers(case: Case, numbers: Floats, counts: Ints) -> ColumnGuess | None:
    """Decide of a few whole numbers: codes, unless their order shows. What is released is then a value that exists."""
    column = case.column
    shared = column.numbers is not None and tuple(column.numbers.tolist()) in case.file.shared_sets
    few = len(numbers) <= (FEW if shared else _SHORT)
    if len(numbers) <= 2:
        return case.guess(Role.QUASI, f"whole numbers, {_number(column)}: codes", "nominal")
    if not few or counts.sum() - counts.max() < 3 * (len(counts) - 1):  # what occurs once or twice is no category
        return None
    short = f"{len(numbers)} different whole numbers"
    if shape.fades(numbers, counts) and not column.words & names.CODED:
        return None
    if column.words & names.CODED or shape.has_gaps(numbers, counts):
        why = "by their name" if column.words & names.CODED else "with gaps"
        return case.guess(Role.QUASI, f"only {short}, {why}: codes", "nominal")
    follows = evidence.order_shows(column, case.file.orderly)
    if follows:
        kind = "ordinal" if len(numbers) <= 12 else "number"
        return case.guess(Role.QUASI, f"{short}, whose order is visible in {follows}", kind)
    also = " that several columns share" if shared else ""
    return case.guess(Role.QUASI, f"only {short}{also}, whose order is visible in no other column: codes", "nominal")


def _many_codes(case: Case, numbers: Floats, counts: Ints) -> ColumnGuess | None:
    """Decide of whole numbers that repeat: codes and numbers of persons or firms stand alone, quantities do not."""
    column = case.column
    if len(numbers) <= _SHORT or shape.fades(numbers, counts):
        return None
    alone = shape.stand_alone(numbers, counts) and not evidence.follows(column, case.file.amounts)
    if alone and len(numbers) > FEW and shape.are_even(counts):
        return case.guess(
            Role.IDENTIFIER, "numbers that repeat, with no values between them, like numbers of firms", "nominal"
        )
    if alone or column.words & names.CODED:
        return _words(case, "numbers that are far from each other" if alone else "codes by their name")
    evenly = numbers[-1] - numbers[0] > _RANGE and shape.are_even(counts)
    amounts = shape.sign_of_amounts(numbers, counts) or shape.is_bell_shaped(numbers, counts)
    if evenly and not amounts and not evidence.follows(column, case.file.amounts):
        return case.guess(Role.IDENTIFIER, "numbers that repeat and are evenly spread, like a numbering", "nominal")
    rough = shape.is_rough(numbers, counts) and not shape.is_heaped(numbers, counts)
    if (
        rough
        and not evidence.follows(column, case.file.amounts)
        and not evidence.order_shows(column, case.file.orderly)
    ):
        return _words(case, "numbers that are by turns frequent and rare")
    return None


def _numbers(case: Case) -> ColumnGuess | None:
    column = case.column
    if column.type != "numbers" or column.numbers is None:
        return None
    case, left = case.without_missing_codes(column.numbers)
    numbers, counts = column.numbers[left], column.counts[left]
    return _quantity(case, evidence.spike_of(numbers, counts), "numbers", len(numbers))


def _quantity(case: Case, spike: float | None, what: str, distinct: int) -> ColumnGuess:
    if spike is None:
        return case.guess(Role.QUASI, f"{what}, {_number(case.column)}", "number")
    column = case.column
    assert column.numbers is not None
    share = 100.0 * column.counts[column.numbers == spike].sum() / column.present
    reason = f"{share:.0f} % are {spike:g}, the others have {distinct - 1} different values"
    return case.guess(Role.QUASI, reason, "semi", spike)


def _by_type(case: Case) -> ColumnGuess:
    return case.guess(Role.QUASI, f"{case.column.type}, {_number(case.column)}", "nominal")


def _is_amount(column: ColumnValues) -> bool:
    """Return whether numbers are amounts by the way they lie, and not a numbering's."""
    if column.numbers is None or column.type not in ("numbers", "whole numbers") or column.distinct <= _SHORT:
        return False
    if column.telling and shape.sign_of_numbering(column.numbers, evidence.rises(column)):
        return False
    return bool(shape.sign_of_amounts(column.numbers, column.counts))


def _once(column: ColumnValues) -> tuple[Floats, Ints]:
    assert column.numbers is not None
    return column.numbers, np.ones_like(column.counts)


def _number(column: ColumnValues) -> str:
    few = "only " if column.distinct <= 10 else ""
    return f"{few}{column.distinct} different value{'s' if column.distinct != 1 else ''}"


_RULES: tuple[Callable[[Case], ColumnGuess | None], ...] = (
    _without_content,
    _beyond_numbers,
    _rows_belong_together,
    _identifier_by_name,
    _weight,
    _sensitive,
    _dates,
    _text,
    _codes,
    _whole_numbers,
    _numbers,
)
