"""How a file differs from the one that a recipe was written for: in columns, categories, and the size of numbers.

Counts and the names of columns are said, never a category or another cell.
"""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from microagg.base.frozen import frozen
from microagg.checks import shown_name
from microagg.columns.kinds.taxonomy import read_taxonomy
from microagg.columns.recoding import Recoding
from microagg.errors import InvalidData
from microagg.recipe._profile import (
    MOST,
    ColumnProfile,
    Profile,
    as_text,
    digest_of,
    is_declared_category,
    names_in,
    profile_of,
)
from microagg.recipe._recipe import Recipe

OTHER_SCALE = 8.0
"""Times: numbers that became so much larger or smaller are on another scale; both sides are known to one digit."""

OTHER_SHARE = 10
"""Percentage points: a share of missing values that moved so far is another one."""

_ACCEPTED = "If the column is right, delete its line in [profile] of the recipe."


@frozen()
class Difference:
    """One difference between a file and the one that a recipe was written for.

    Attributes
    ----------
    sign : str
        "+" for a column that came, "-" for one that is gone, "~" for one that changed.
    column : str
    text : str
        What is different, in counts; no cell is in it.
    stops : bool
        Whether it endangers what the recipe promises, so that nothing is masked.
    remedy : str
        What to do then; empty where roles do not fit, of which another error says it.
    """

    sign: str
    column: Any
    text: str
    stops: bool = False
    remedy: str = ""

    def __str__(self) -> str:
        return f"{self.sign} column {shown_name(self.column)}: {self.text}"


def differences_of(recipe: Recipe, frame: Any) -> tuple[Difference, ...]:
    """Return how a frame, a `Source` or a file beyond memory differs from the one that a recipe was written for.

    Without a profile in the recipe, columns alone are compared.
    """
    labels = getattr(frame, "index_columns", ())  # of rows, in a file beyond memory: identifiers without being named
    found = list(_columns(recipe, names_in(frame), labels))
    if recipe.profile is not None:
        found += _changes(recipe, recipe.profile, profile_of(recipe, frame))
    return tuple(found)


def compared(recipe: Recipe, frame: Any) -> tuple[Recipe, tuple[Difference, ...]]:
    """Compare a file with the one that a recipe was written for, say what differs, and refuse what endangers people.

    Returns the recipe without its profile, so that parts of the file are not compared again, and the differences.
    A recipe without a profile is not compared: nobody knows what its file was like, and a name that is not in this one
    may be a typing error. What roles do not fit is not refused here.
    """
    if recipe.profile is None:
        return recipe, ()
    found = differences_of(recipe, frame)
    if found:
        lines = "\n".join(map(str, found))
        logging.getLogger("microagg").warning("Compared with the file that the recipe was written for:\n%s", lines)
    grave = [one for one in found if one.stops and one.remedy]
    if grave:
        words = "1 difference" if len(grave) == 1 else f"{len(grave)} differences"
        raise InvalidData(
            f"the recipe was written for another file, and {words} may endanger the people in this one. "
            + " ".join(f"Column {shown_name(one.column)}: {one.text} {one.remedy}" for one in grave)
            + f" {_ACCEPTED}",
            parameter="recipe",
            columns=tuple(one.column for one in grave),
        )
    return replace(recipe, profile=None), found


def _columns(recipe: Recipe, names: Sequence[Any], labels: Sequence[Any] = ()) -> Iterator[Difference]:
    """Compare the columns. Where no name fits, the file's may be the cells of a record: they are not shown."""
    said = {name: role for role, name in recipe.roles.named}
    before = {} if recipe.profile is None else recipe.profile.columns
    if not any(name in said or name in before for name in names):
        return
    for name in names:
        if name in said or name in before or name in labels:
            continue
        if recipe.roles.rest == "keep" and before:
            remedy = "Give it a role in [roles]: drop, perhaps."
            yield Difference("+", name, "it is new, and would be released unchanged.", True, remedy)
        elif recipe.roles.rest is None and recipe.roles.quasi is not None:
            yield Difference("+", name, "it is new, and the recipe gives it no role.", True)
        elif before:
            becomes = "masked" if recipe.roles.quasi is None else "left out"
            yield Difference("+", name, f"it is new, and is {becomes}.")
    for name in dict.fromkeys([*said, *before]):
        if name not in names and name in said:
            yield Difference("-", name, f"it is gone, and the recipe names it in {said[name]}.", True)
        elif name not in names:
            yield Difference("-", name, "it is gone.")


def _changes(recipe: Recipe, then: Profile, now: Profile) -> Iterator[Difference]:
    """Compare what the columns hold that were looked at in both files."""
    masked = recipe.masked(list(now.columns))
    for name, was in then.columns.items():
        own = now.columns.get(name, ColumnProfile())
        if was.type is None or own.type is None:
            continue
        if was.type != own.type and not is_declared_category(recipe, name):
            text, remedy = f"it holds {own.type}, and held {was.type}.", f"Write it as {was.type}, as before."
            yield Difference("~", name, text, name in masked, remedy if name in masked else "")
        elif was.categories is not None:
            yield from _categories(recipe, name, was.categories, own.categories)
        else:
            yield from _scale(recipe, name, was, own)
        if abs(own.missing - was.missing) >= OTHER_SHARE:
            yield Difference("~", name, f"{own.missing} % of its values are missing, and {was.missing} % were.")


def _categories(recipe: Recipe, name: Any, then: frozenset[str], now: frozenset[str] | None) -> Iterator[Difference]:
    if now is None:
        yield Difference("~", name, f"it has more than {MOST} categories, and had {len(then)}.")
        return
    new, gone = now - then, then - now
    place, remedy, known = _declared(recipe, name)
    unknown = new - known if place else frozenset()
    if not new and not gone:
        return
    parts = [_counted(len(some), what) for some, what in ((new, "new"), (gone, "gone")) if some]
    text = f"{' and '.join(parts)}."
    if unknown:
        text = f"{text} {place} does not have {len(unknown)} of the new ones."
    yield Difference("~", name, text, bool(unknown), remedy if unknown else "")


def _counted(number: int, what: str) -> str:
    return f"1 category is {what}" if number == 1 else f"{number} categories are {what}"


def _declared(recipe: Recipe, name: Any) -> tuple[str, str, frozenset[str]]:
    """Return where a recipe lists categories of a column, the remedy, and these; empty where it lists none."""
    rule, kind, tree = (of.get(name) for of in (recipe.recode.recode, recipe.kinds.kinds, recipe.taxonomy.taxonomy))
    if rule is not None:
        values = [*Recoding.of({name: rule}).rules[name].groups]
        place = "The rule in [recode]", "Add them to the rule, under a category that they join."
    elif isinstance(kind, tuple):
        values = list(kind)
        place = "The list of levels in [kinds]", "Add them to the levels, at their place in the order."
    elif tree is not None:
        values = list(read_taxonomy(tree, name) if isinstance(tree, str) else tree)
        place = "The taxonomy", "Add them to the taxonomy."
    else:
        return "", "", frozenset()
    return *place, frozenset(digest_of(name, as_text(value)) for value in values)


def _scale(recipe: Recipe, name: Any, was: ColumnProfile, own: ColumnProfile) -> Iterator[Difference]:
    pairs = [(was.median, own.median), (was.high, own.high)]
    ratios = [after / before for before, after in pairs if before is not None and after is not None]
    moved = [ratio for ratio in ratios if not 1 / OTHER_SCALE < ratio < OTHER_SCALE]
    if not moved:
        return
    factor = float(f"{max(moved[0], 1 / moved[0]):.0e}")
    text = f"its numbers are about {factor:.0f} times {'as large' if moved[0] > 1 else 'smaller'}."
    if name not in recipe.recode.recode:
        yield Difference("~", name, text)
        return
    remedy = "Adapt its limits and classes in [recode], or write the column in its former unit."
    yield Difference("~", name, f"{text} The rule in [recode] was written for the former ones.", True, remedy)
