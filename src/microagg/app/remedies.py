"""What would help where a recipe is refused, or slow: changes of it that a button makes.

A message names its remedy as a choice with a value (`microagg.errors.setting`), so most buttons follow from the message
itself. A button posts its change along with the form of its page, as fields of that form: "masking.missing=drop", or
"role-3=drop" by the place of a column. The page then reads the form as ever, and the change is a step of the history.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

from microagg.algorithms.methods import groups_each_column
from microagg.app.edits import roles_from
from microagg.app.forms import Wrong, changed_by
from microagg.app.values import Posted, as_text
from microagg.app.words import label_of, said
from microagg.base.frozen import frozen
from microagg.errors import MicroaggError
from microagg.jobs.trial import SECTIONS
from microagg.judge.text import shown
from microagg.recipe import PARTS, K, Recipe, choices_of

if TYPE_CHECKING:
    from microagg.jobs.messages import Told

_MOST_STRATA = 3  # columns that are offered to be no strata
_BLOCK, _FORMING = 10_000, 3  # records of a block, and columns that form groups, where a file is slow
_ELSEWHERE = ("roles", "read", "join", "output", "compare")  # other pages change these, and do more than that
_ABOUT_UNITS = ("unit", "unit_share", "small_units")

_LABELS = {
    ("missing", "pattern"): "Keep them, and group records with the same columns missing",
    ("missing", "state"): "Keep them, as one more value",
    ("missing", "drop"): "Leave those records out",
    ("per_column", True): "Accept k for each column by itself: whole records may be unique",
    ("per_column", False): "Let k hold for whole records",
    ("unit_share", "any"): "Accept k different units, of which one may have most of the rows",
    ("small_units", "suppress"): "Leave those units out",
    ("blocks", "median"): "Cut the file into blocks by median",
}
"""What a change means, where its keyword and value say little to somebody who does not program."""

_FOUND = {
    "weights": ("Release weights by group", {"weights.release": "group"}),
    "units": ("Mask columns with one value a unit once", {"units.constant": "once"}),
    "row order": ("Sort the rows", {"output.same_order": "no"}),
}
"""What would help against what the report finds, by its topic."""

_SEEN_AT = {"dominance": "risk", "values guessed closely": "risk", "results": "results", "large losses": "columns"}
"""Which part of Look shows more of it."""


@frozen()
class Remedy:
    """A change of the recipe that is offered.

    Attributes
    ----------
    label : str
        What a button says.
    change : str
        What it posts as "remedy": fields of a form, as in the query of an address.
    """

    label: str
    change: str


def offered(recipe: Recipe, columns: Sequence[str], failure: "Told | None", wrong: Wrong | None) -> tuple[Remedy, ...]:
    """Return what would help against what was refused: a form, or else the try of a recipe."""
    told, posted = (failure, {}) if wrong is None else (said(wrong.error), wrong.posted)
    if told is None:
        return ()
    found = (Remedy(label, urlencode(fields)) for label, fields in _changes(told, recipe, columns))
    return tuple(one for one in dict.fromkeys(found) if _helps(one, posted, recipe, columns))


def against(topic: str, recipe: Recipe, columns: Sequence[str]) -> tuple[Remedy, ...]:
    """Return what would help against a finding of the report, where one change does."""
    found = [Remedy(label, urlencode(fields)) for label, fields in [_FOUND[topic]]] if topic in _FOUND else []
    return tuple(one for one in found if _helps(one, {}, recipe, columns))


def seen_at() -> dict[str, int]:
    """Return the place of the part of Look that shows more of what the report finds, by its topic."""
    return {topic: list(SECTIONS).index(part) for topic, part in _SEEN_AT.items()}


def faster(recipe: Recipe, columns: Sequence[str]) -> tuple[Remedy, ...]:
    """Return what would be faster."""
    found: list[tuple[str, dict[str, Any]]] = []
    if recipe.refine.effort is not None:
        found.append(("Do not refine the groups", {"refine.effort": ""}))
    if recipe.blocks.by in ("auto", "none") and recipe.blocks.max_block is None:
        fields = {"blocks.by": "median", "blocks.max_block": _BLOCK}
        found.append((f"Cut the file into blocks of {_BLOCK:,} records".replace(",", "\u202f"), fields))
    alone = recipe.select.by is None and recipe.select.columns is None and not groups_each_column(recipe.method.name)
    if alone and len(recipe.masked(columns)) > _FORMING:
        fields = {"select.by": "emad", "select.count": _FORMING}
        found.append((f"Let {_FORMING} columns form the groups", fields))
    made = [Remedy(label, urlencode(fields)) for label, fields in found]
    return tuple(one for one in made if _helps(one, {}, recipe, columns))


def taken(posted: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return a form with the fields of the remedy that was posted with it, if any, in the place of its own."""
    change = dict(parse_qsl(posted.get("remedy", [""])[-1], keep_blank_values=True))
    return {**posted, **{field: [text] for field, text in change.items() if field != "number"}}


def _helps(remedy: Remedy, posted: Posted, recipe: Recipe, columns: Sequence[str]) -> bool:
    """Return whether a change can be made, and changes something."""
    form = taken({**posted, "remedy": [remedy.change]})
    try:
        return changed_by(form, roles_from(form, recipe, columns), columns) != recipe
    except MicroaggError:
        return False


def _changes(told: "Told", recipe: Recipe, columns: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return changes that may help, each with its label: those that the message names, then those that it implies."""
    known = {choice.keyword: (f"{table}.{name}", choice) for table, name, choice in _choices()}
    known["k"] = ("k", K)
    for keyword, value in told.settings:
        if keyword in known and not isinstance(value, (list, dict)):
            field, choice = known[keyword]
            text = as_text(choice, value)
            yield _LABELS.get((keyword, value), f"Set {label_of(keyword)} to {text}"), {field: text}
    if told.parameter == "method":
        yield "Choose mdav, which groups whole records", {"method.name": "mdav"}
    if told.kind == "TooFewRecords" and "strata" in told.text:  # else the whole file has too few
        for name in recipe.roles.strata[:_MOST_STRATA]:
            yield from _other_role(name, columns, "quasi", "Mask {}, so that it is no stratum")
            yield from _other_role(name, columns, "drop", "Drop {}, so that it is no stratum")
    if told.parameter in _ABOUT_UNITS or told.kind == "PromiseBroken":
        unit = recipe.roles.unit
        yield from _other_role(unit, columns, "drop", "Drop the unit {}: k then counts records")


def _other_role(name: Any, columns: Sequence[str], role: str, label: str) -> Iterator[tuple[str, dict[str, Any]]]:
    if name in columns:
        yield label.format(f"“{shown(name)}”"), {f"role-{columns.index(name)}": role}


def _choices() -> Iterator[tuple[str, str, Any]]:
    for table, (_, kind) in PARTS.items():
        if table not in _ELSEWHERE:
            yield from ((table, name, choice) for name, choice in choices_of(kind).items())
