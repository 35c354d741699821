"""Opening a file: by a recipe, or with a guess of what each column is; what reading a text file had to guess."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from microagg.base.frozen import frozen
from microagg.columns import frames
from microagg.columns.numbers import is_text
from microagg.columns.roles import Role
from microagg.errors import InvalidData, InvalidParameter
from microagg.files.addresses import kind_at
from microagg.files.joining import Joined, join
from microagg.files.sources import Source, read_source
from microagg.recipe import Comments, Recipe, choices
from microagg.recipe.data import key_of, with_join
from microagg.recipe.profile import Difference, compared
from microagg.study.inspection import (
    ColumnGuess,
    Exposure,
    Guess,
    Inspection,
    exposure,
    guess_weights,
    inspect_table,
    rows_to_move,
)
from microagg.work import Progress

DEFAULT_K = 5
_REASONS = {Role.CONFIDENTIAL: "as asked for; it is released unchanged"}


@frozen()
class Opened:
    """A file that was read, and the recipe to mask it by.

    Attributes
    ----------
    address : str
        Where it is.
    source : Source
    recipe : Recipe
        The one that was given, or one of guesses.
    inspection : Inspection or None
        The guesses, where the recipe is made of them.
    differences : tuple of Difference
        How the file differs from the one that the recipe was written for; what would endanger people is refused.
    """

    address: str
    source: Source
    recipe: Recipe
    inspection: Inspection | None = None
    differences: tuple[Difference, ...] = ()


def open_file(address: str, recipe: Recipe | None = None, *, k: int | None = None, **chosen: Any) -> Opened:
    """Read a file and see that a recipe fits it, or guess one; see `read_file` and `open_source`."""
    return open_source(address, read_file(address, recipe, **chosen), recipe, k=k, **chosen)


def read_file(address: str, recipe: Recipe | None = None, *, progress: Progress | None = None, **chosen: Any) -> Source:
    """Read a file as a recipe says it is written; choices of reading that are passed have the last word.

    A file of households that the recipe names, or `households`, is read as well, and joined. What `progress` raises
    stops it where the kind of file allows that: see `read_source`.
    """
    asked = _changed(Recipe(DEFAULT_K) if recipe is None else recipe, chosen, "roles", "read", "join")
    with asked.blamed():
        on, other = key_of(asked), asked.join.households
        if other is not None and kind_at(other) != kind_at(address):
            raise InvalidParameter(
                f"the file of persons is of kind {kind_at(address)} and the file of households of kind "
                f"{kind_at(other)}. Pass two files of the same kind.",
                parameter="households",
            )
        source = read_source(address, progress=progress, **asked.reading.said)
        if other is None:
            return source
        return join(source, read_source(other, progress=progress, **asked.reading.said), on)


def open_source(
    address: str,
    source: Source,
    recipe: Recipe | None = None,
    *,
    k: int | None = None,
    progress: Progress | None = None,
    **chosen: Any,
) -> Opened:
    """See that a recipe fits a file, or guess the roles of its columns.

    Parameters
    ----------
    address : str
    source : Source
        What is there.
    recipe : Recipe, optional
        Without one, and without `quasi` among the choices, roles are guessed: of the columns that nothing is said of.
    k : int, optional
        It goes before the recipe's; 5 without either.
    progress : callable, optional
        Called as progress(done, in all).
    **chosen
        Choices that go before the recipe's, as `protect` takes them.
    """
    changes = chosen if k is None else {**chosen, "k": k}
    if recipe is not None or "quasi" in chosen:
        asked = (Recipe(DEFAULT_K) if recipe is None else recipe).replace(**changes)
        with asked.blamed():
            asked = with_join(asked, source.joined)
        asked, differences = fitting(asked, source)
        return Opened(address, source, asked, differences=differences)
    asked = Recipe(DEFAULT_K).replace(**changes)
    if source.joined is not None:  # which goes with pseudonyms alone
        asked = with_join(asked.replace(unit_release="pseudonym", quasi=[]), source.joined)
    labels = source.labels
    inspection = inspect_table(
        source.typed(),
        asked.k,
        labels.values if labels else None,
        labels.measures if labels else None,
        asked.roles.unit,
        progress,
    )
    counted = inspection.roles
    inspection = _with_asked(inspection, asked)
    if source.joined is not None:
        inspection = _of_joined(inspection, source.joined, asked)
    found = with_guessed_weights(guessed(inspection, asked), inspection, source, chosen)
    if source.joined is not None:
        found = with_join(found, source.joined)
    found.check_columns(source.table.column_names)
    if inspection.roles != counted:
        inspection = replace(inspection, exposure=exposure_by(source, found))
    inspection = replace(inspection, moved=rows_to_move(source, found))
    return Opened(address, source, found, inspection)


def fitting(recipe: Recipe, source: Source) -> tuple[Recipe, tuple[Difference, ...]]:
    """Return a recipe that fits a file, and how the file differs from the one that the recipe was written for.

    What differs is said first, so that a person sees all of it even where some is refused.
    """
    try:
        recipe, found = compared(recipe, source)
    except InvalidData:
        recipe.check_columns(source.table.column_names)  # which says more of roles
        raise
    recipe.check_columns(source.table.column_names)
    return recipe, found


def exposure_by(source: Source, recipe: Recipe, progress: Progress | None = None) -> Exposure:
    """Count how exposed the records of a file are, by the columns that a recipe masks and its strata."""
    frame = frames.open_frame(source.typed())
    return exposure(frame, recipe.masked(source.table.column_names), list(recipe.roles.strata), progress)


def _of_joined(inspection: Inspection, joined: Joined, asked: Recipe) -> Inspection:
    """Return guesses without strata in which the persons of a household may differ: whole households are masked."""
    own = {*joined.of_households, *asked.roles.strata}

    def changed(one: ColumnGuess) -> ColumnGuess:
        if one.name == joined.on:
            return replace(one, role=Role.UNIT, reason="it is the household in both files")
        if one.role is Role.STRATUM and one.name not in own:
            return replace(
                one, role=Role.QUASI, reason="a domain that differs within households, and whole households are masked"
            )
        return one

    return replace(inspection, columns=tuple(map(changed, inspection.columns)), repeats=None)


def _with_asked(inspection: Inspection, asked: Recipe) -> Inspection:
    """Return the roles that were asked for instead of guesses, so that what is shown is what the recipe says."""
    said = {name: Role(role) for role, name in asked.roles.named}
    columns = (
        replace(one, role=said[one.name], reason=_REASONS.get(said[one.name], "as asked for"))
        if one.name in said
        else one
        for one in inspection.columns
    )
    return replace(inspection, columns=tuple(columns))


def _changed(recipe: Recipe, chosen: Mapping[str, Any], *tables: str) -> Recipe:
    known = choices(*tables)
    return recipe.replace(**{name: value for name, value in chosen.items() if name in known})


def guessed(inspection: Inspection, asked: Recipe) -> Recipe:
    """Return a recipe with guessed roles, the reason of each beside it; what was asked for stays."""
    said = {name for _, name in asked.roles.named}
    roles: dict[str, Any] = {}
    reasons: dict[tuple[str, ...], str] = {}
    for role, named in inspection.roles.items():
        alone = isinstance(named, str)
        names = [name for name in ([named] if alone else named) if name not in said]
        if not names or (alone and getattr(asked.roles, role) is not None):
            continue
        roles[role] = names[0] if alone else [*asked.roles.of(role), *names]
        for name in names:
            reasons[("roles", role) if alone else ("roles", role, name)] = inspection.reasons[name]
    if not roles.get(Role.QUASI.value):
        raise InvalidData(
            "no column is left to mask: each is an identifier, empty or left out. Check how the file was read, or name "
            "columns in quasi."
        )
    values = guessed_values(inspection, asked)
    for name in values.get("kinds", {}):
        reasons["kinds", name] = inspection.reasons[name]
    return asked.replace(**roles, **values).commented(Comments(beside=reasons))


def with_guessed_weights(recipe: Recipe, inspection: Inspection, source: Source, chosen: Mapping[str, Any]) -> Recipe:
    """Return a recipe whose weights, if any, give nothing away and dominate no group; what was asked for stays."""
    names = [name for name in recipe.roles.of(Role.WEIGHT.value) if name in source.table.column_names]
    if not names:
        return recipe
    masked = recipe.masked(source.table.column_names)
    kinds = {column.name: column.kind for column in inspection.columns} | dict(recipe.kinds.kinds)
    nominal = [name for name in masked if kinds.get(name) == "nominal"]
    guesses = guess_weights(frames.open_frame(source.typed()), recipe, nominal)
    fresh = {keyword: guess for keyword, guess in guesses.items() if keyword not in chosen}
    return _said(recipe, fresh)


def _said(recipe: Recipe, guesses: Mapping[str, Guess]) -> Recipe:
    """Return a recipe that says what was guessed, by keyword, the reason of each beside it."""
    known = choices()
    reasons: dict[tuple[str, ...], str] = {
        (known[keyword][0], known[keyword][1].name): why for keyword, (_, why) in guesses.items()
    }
    changed = recipe.replace(**{keyword: value for keyword, (value, _) in guesses.items()})
    return changed.commented(Comments(beside={**recipe.comments.beside, **reasons}))


def guessed_values(inspection: Inspection, asked: Recipe) -> dict[str, Any]:
    """Return what was guessed of the values of columns that nothing was said of, in the words of a recipe.

    `kinds` maps columns to a kind, or to ``{"spike": value}``; `missing_codes` maps them to lists of values.
    """
    said = {name for _, name in asked.roles.named}
    chosen = {"kinds": asked.kinds.kinds, "missing_codes": asked.missing_codes.codes}
    found: dict[str, Any] = {}
    for choice, own in chosen.items():
        guesses = {name: value for name, value in getattr(inspection, choice).items() if name not in said}
        if guesses:
            found[choice] = {**guesses, **own}
    return found


_MARKS = {".": "point", ",": "comma"}


@frozen()
class ReadingGuess:
    """A guess of how a file is written.

    Attributes
    ----------
    text : str
        What was guessed: no cell is in it.
    now, other : str
        The decimal mark as it was read, and as it would be; empty where the guess is of something else.
    words : str
        What the other reading would be.
    """

    text: str
    now: str = ""
    other: str = ""
    words: str = ""


def reading_guesses(source: Source) -> list[ReadingGuess]:
    """Say what was guessed when a file was read; of two that were joined, of either."""
    files = [source] if source.joined is None else [source.joined.persons, source.joined.households]
    found = (guess for file in files for guess in _guesses_of(file))
    return list(dict.fromkeys(found))


def _guesses_of(source: Source) -> list[ReadingGuess]:
    dialect, found = source.dialect, []
    if dialect is None:
        return []
    if dialect.unsure:
        decimal, thousands = dialect.marks.decimal, dialect.marks.thousands
        mark = thousands or decimal
        count = sum(_has(source.table[name], mark) for name in _numbers(source))
        where = f"in {count} {'column' if count == 1 else 'columns'}"
        as_thousands, as_decimal = "the mark of thousands", "the decimal mark"
        read, would = (as_thousands, as_decimal) if thousands else (as_decimal, as_thousands)
        other = mark if thousands else "," if decimal == "." else "."
        text = f"A {_MARKS[mark]} was read as {read} {where}: a guess. It could be {would}."
        found.append(ReadingGuess(text, decimal, other, f"Read the {_MARKS[mark]} as {would}"))
    if dialect.guessed:
        found.append(ReadingGuess(f"The encoding was taken for {dialect.codec}: a guess, since it is not UTF-8."))
    return found


def _numbers(source: Source) -> list[str]:
    """Name the columns that are text in the file and numbers as they are read."""
    read = source.typed().schema
    return [name for name in source.table.column_names if not is_text(read.field(name).type)]


def _has(column: pa.ChunkedArray, mark: str) -> bool:
    return is_text(column.type) and pc.any(pc.match_substring(column, mark)).as_py() is True
