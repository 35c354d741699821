"""What a file holds, and what each of its columns probably is: guesses for a person to check.

How records with missing values should be grouped and weights be released is guessed too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microagg.algorithms.equivalence import codes_of
from microagg.algorithms.units import held_by
from microagg.base.frozen import frozen
from microagg.columns import frames
from microagg.columns.finders import open_table
from microagg.columns.kinds import FEWEST
from microagg.columns.patterns import find_patterns
from microagg.columns.roles import Role
from microagg.columns.weights import checked_weights
from microagg.errors import InvalidData, MicroaggError
from microagg.files.sources import Source
from microagg.guess import ColumnGuess as ColumnGuess
from microagg.guess import evidence, names
from microagg.guess.facts import FEW, ColumnValues, facts_of_table
from microagg.guess.roles import File, guess_column
from microagg.measures.weights import could_dominate, fingerprint, unit_could_dominate
from microagg.recipe import Recipe
from microagg.recipe.data import asked_of, with_declared_codes
from microagg.work import Progress, each, stage

ValueLabels = Mapping[str, Mapping[Any, str]]

_OF_TYPE = {"text": "nominal", "booleans": "nominal", "dates": "date", "numbers": "number", "whole numbers": "number"}
"""The kind that `protect` takes from a column's type."""


@frozen()
class Exposure:
    """How exposed the records of a file are without masking.

    Attributes
    ----------
    records : int
    unique : int
        Records that nobody shares the columns to mask and the strata with.
    incomplete : int
        Records that lack a value in one of these.
    smallest_stratum : int or None
        Records of the smallest stratum; None where there are no strata.
    """

    records: int
    unique: int = 0
    incomplete: int = 0
    smallest_stratum: int | None = None


@frozen()
class Inspection:
    """What a file holds: the guesses, and how exposed its records would be without masking.

    Attributes
    ----------
    records : int
    columns : tuple of ColumnGuess
    exposure : Exposure
        By the guessed columns to mask and strata.
    moved : int
        Of the incomplete records, those that would have to join others with values missing in other columns, if records
        with values missing in the same columns are grouped among themselves (`missing="pattern"`).
    repeats : str or None
        A column by which several rows seem to belong to one person, household or firm, but which cannot be the unit:
        k counts rows, not those.
    labelled : frozenset of str
        Columns whose values have labels in the file, so that their kind must be said.
    """

    records: int
    columns: tuple[ColumnGuess, ...]
    exposure: Exposure
    repeats: str | None = None
    moved: int = 0
    labelled: frozenset[str] = frozenset()

    @property
    def unique(self) -> int:
        """Records that nobody shares the columns to mask and the strata with."""
        return self.exposure.unique

    @property
    def incomplete(self) -> int:
        """Records that lack a value in one of these."""
        return self.exposure.incomplete

    @property
    def roles(self) -> dict[str, Any]:
        """The guesses, as `protect` and recipes name them; roles that no column has are left out."""
        found: dict[str, Any] = {}
        for role in Role:
            named = [column.name for column in self.columns if column.role is role]
            if named:
                found[role.value] = named[0] if role is Role.UNIT else named
        return found

    @property
    def reasons(self) -> Mapping[str, str]:
        """The reason of each column's role."""
        return {column.name: column.reason for column in self.columns}

    @property
    def kinds(self) -> dict[str, Any]:
        """The kinds of the masked columns that do not follow from their types, as recipes name them."""
        found: dict[str, Any] = {}
        for column in self.columns:
            follows = column.kind == _OF_TYPE.get(column.type) and column.name not in self.labelled
            if column.role is not Role.QUASI or column.kind is None or follows:
                continue
            found[column.name] = column.kind if column.spike is None else {"spike": _plain(column.spike)}
        return found

    @property
    def missing_codes(self) -> dict[str, list[float]]:
        """The values of masked columns that probably stand for missing ones, by column."""
        return {one.name: [_plain(code) for code in one.missing_codes] for one in self.columns if one.missing_codes}


def inspect_table(
    table: pa.Table,
    k: int,
    value_labels: ValueLabels | None = None,
    measures: Mapping[str, str] | None = None,
    unit: str | None = None,
    progress: Progress | None = None,
) -> Inspection:
    """Guess the role and the kind of each column of a table whose numbers are numbers.

    Parameters
    ----------
    table : pyarrow.Table
    k : int
        It decides what may be a stratum.
    value_labels : mapping, optional
        What values stand for, by column, where the file says so: such numbers are codes.
    measures : mapping, optional
        "nominal", "ordinal" or "scale", by column, where the file says so.
    unit : str, optional
        The column of the unit, where it need not be guessed: guesses of the others follow from it. One that the table
        lacks is passed over.
    progress : callable, optional
        Called as progress(done, in all).

    Returns
    -------
    Inspection
    """
    frame = frames.open_frame(table)
    labels, measures = value_labels or {}, measures or {}
    reading, guessing, counting = (stage(progress, number, 3) for number in range(3))
    facts = facts_of_table(table, labels, measures, reading)
    named = next((one for one in facts if one.name == unit), None)
    file = File(facts, named)
    guesses = {one.name: guess_column(one, file) for one in each(facts, guessing)}
    if named is not None:
        guesses[named.name] = replace(guesses[named.name], role=Role.UNIT, reason="as asked for", missing_codes=())
    repeats = named or _repeating(file, guesses)
    everything = np.zeros(table.num_rows, dtype=np.int64)
    found_unit = repeats if named or (repeats and _can_be_unit(repeats, everything, k)) else None
    strata = _strata(facts, guesses, k, found_unit)
    for name in strata:
        reason = f"a domain, and each of its {guesses[name].distinct} values has enough records"
        guesses[name] = replace(guesses[name], role=Role.STRATUM, reason=reason, missing_codes=())
    if found_unit is not None:
        reason = f"{guesses[found_unit.name].reason}; each group will hold {k} different ones"
        guesses[found_unit.name] = replace(guesses[found_unit.name], role=Role.UNIT, reason=reason)
    quasi = [name for name, guess in guesses.items() if guess.role is Role.QUASI]
    found = tuple(guesses[name] for name in table.column_names)
    exposed = exposure(frame, quasi, strata, counting)
    labelled = frozenset(one.name for one in facts if one.labels and not one.category)
    apart = repeats.name if repeats is not None and found_unit is None else None
    return Inspection(table.num_rows, found, exposed, apart, labelled=labelled)


def exposure(frame: Any, quasi: Sequence[Any], strata: Sequence[Any], progress: Progress | None = None) -> Exposure:
    """Count the records with unique values in these columns, and those with a missing value."""
    records, columns = frame.shape[0], [*quasi, *strata]
    if not columns:
        return Exposure(records)
    alone = int(np.count_nonzero(np.bincount(frames.row_classes(frame, columns, progress)) == 1))
    masks = frames.missing_rows(frame, columns)
    incomplete = int(np.count_nonzero(np.logical_or.reduce(list(masks.values())))) if masks else 0
    smallest = int(np.bincount(frames.category_codes(frame, strata)).min()) if strata and records else None
    return Exposure(records, alone, incomplete, smallest)


def _strata(
    facts: Sequence[ColumnValues], guesses: Mapping[str, ColumnGuess], k: int, unit: ColumnValues | None
) -> list[str]:
    """Choose domains all of whose combinations have enough records and units, those of fewest values first."""
    asked = [
        one
        for one in facts
        if guesses[one.name].role is Role.QUASI
        and one.distinct <= FEW
        and not one.missing
        and one.type not in ("numbers", "dates")
        and (one.words & names.STRATUM or evidence.says_sex(one))
    ]
    chosen: list[str] = []
    cells = np.zeros(len(facts[0].codes), dtype=np.int64)
    for one in sorted(asked, key=lambda column: (column.distinct, column.name)):
        finer = codes_of(cells * one.distinct + one.codes)
        if np.bincount(finer).min() >= max(3 * k, 10) and (unit is None or _can_be_unit(unit, finer, k)):
            chosen.append(one.name)
            cells = finer
    return [one.name for one in facts if one.name in chosen]


def _can_be_unit(column: ColumnValues, cells: NDArray[np.int64], k: int) -> bool:
    """Whether every stratum can hold k different values of a column, none of them in more than 1/k of its rows."""
    if column.missing:
        return False
    return not held_by(cells, column.codes, int(cells.max()) + 1).short(k, in_part=True).any()


def _repeating(file: File, guesses: Mapping[str, ColumnGuess]) -> ColumnValues | None:
    """Name the identifier by which rows belong together: what others are constant within first, then the finest."""
    found = [
        one
        for one in file.columns
        if guesses[one.name].role is Role.IDENTIFIER and one.present > one.distinct and not one.telling
    ]
    return max(found, key=lambda one: (one.name in file.following_rows, one.distinct, one.name), default=None)


def _plain(value: float) -> float:
    """Return a whole number as an integer."""
    return int(value) if value == int(value) else value


MOST_MOVED = 0.05
"""The share of the records that may have to move: beyond, to be missing may better be one more value."""


def rows_to_move(source: Source, recipe: Recipe) -> int:
    """Count the records whose set of missing columns is so rare that they must join others, as masking by pattern does.

    None of whole units, of which sets are counted in another way, and where the recipe cannot be followed: masking will
    say what is wrong with it.
    """
    if recipe.units.release == "pseudonym":
        return 0
    names = recipe.masked(source.table.column_names)
    said = with_declared_codes(recipe, source, names)
    codes = said.missing_codes.codes
    try:
        frame = frames.open_frame(source.typed_for(said.kinds.kinds, names, codes))
        if not codes and not frames.missing_rows(frame, names):
            return 0
        table, _ = open_table(frame, asked_of(said, names, source.labels))
        strata = frames.category_codes(frame, recipe.roles.of(Role.STRATUM.value))
        unit = recipe.roles.of(Role.UNIT.value)
        units = frames.units_of(frame, unit[0], recipe.units.share == "limited") if unit else None
        by_value = recipe.refine.effort is not None
        return find_patterns(table, strata, recipe.k, units, by_value=by_value).n_moved
    except MicroaggError:
        return 0


def incomplete_words(inspection: Inspection) -> str:
    """Return how many records have a missing value in the columns to mask, and what may be better for them."""
    lack = f"{inspection.incomplete} records have a missing value there"
    if inspection.moved <= MOST_MOVED * inspection.records:
        return f"{lack}; `missing` says what is done with them."
    share = 100 * inspection.moved / inspection.records
    return (
        f"{lack}, and {inspection.moved} records ({share:.0f} %) would have to join records in which other columns "
        'are missing, with missing = "pattern". missing = "state" may be the better choice. Compare both.'
    )


Guess = tuple[Any, str]


def guess_weights(frame: nw.DataFrame[Any], recipe: Recipe, nominal: Sequence[str]) -> dict[str, Guess]:
    """Return what a recipe should say of the weights that it names, and why, by keyword; empty where all is well.

    Parameters
    ----------
    frame : narwhals.DataFrame
        The file, its numbers as numbers.
    recipe : Recipe
        It names the weights and the columns to mask.
    nominal : list of str
        Those of the latter that are categories.
    """
    found: dict[str, Guess] = {}
    categories = {name: frames.category_codes(frame, [name]) for name in nominal}
    unit = recipe.roles.of("unit")
    units = frames.unit_codes(frame, unit[0]) if unit and unit[0] in frame.columns else None
    for name in recipe.roles.of("weight"):
        try:
            values = checked_weights(frame.get_column(name), name)
        except InvalidData:  # masking will say what is wrong with it
            return {}
        own = fingerprint(frames.category_codes(frame, [name]), categories, recipe.k, units)
        if "weight_release" not in found and not recipe.masking.per_column:
            if own.given_away:
                away, telling = own.given_away[0], own.telling[own.given_away[0]]
                why = f"{name} gives away {away}: {telling.weights} of {own.distinct} weights have one category only"
                found["weight_release"] = "group", why
            elif own.rare:
                why = f"{own.rare} records have a weight in {name} that fewer than {recipe.k} share"
                found["weight_release"] = "group", why
        first = name == recipe.roles.of("weight")[0]
        if first and recipe.weights.weighted is not False:
            gaps = _has_gaps(frame, recipe)
            # The fewest members of a group whose mean is released: k, or where values are missing maybe three.
            if could_dominate(values, min(recipe.k, FEWEST) if gaps else recipe.k):
                found["weight_cap"] = True, f"one weight in {name} could be more than 80 % of its group's"
            elif units is not None and unit_could_dominate(
                values, units, recipe.k, in_part=recipe.units.share == "limited", gaps=gaps
            ):
                found["weight_cap"] = True, f"one {unit[0]} could have more than 80 % of its group's {name}"
    return found


def _has_gaps(frame: nw.DataFrame[Any], recipe: Recipe) -> bool:
    """Return whether some masked cells are missing."""
    masked = recipe.masked(frame.columns)
    return bool(frames.missing_rows(frame, masked)) or bool(recipe.missing_codes.codes)
