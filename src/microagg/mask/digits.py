"""Digits by which members of groups can be computed: refused where a release is written."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from microagg.columns.kinds import Kind, Number
from microagg.columns.rounding import FINEST, Steps, power_asked
from microagg.errors import InvalidParameter, setting
from microagg.recipe import Recipe

_WHOLE = Steps.of(np.ones(1))


def are_weighted(recipe: Recipe) -> bool:
    """Return whether groups release weighted means."""
    weighted = bool(recipe.roles.of("weight")) and recipe.weights.weighted is not False
    return weighted and recipe.masking.aggregate == "mean"


def matter(recipe: Recipe) -> bool:
    """Return whether digits of a mean could be too many."""
    masking = recipe.masking
    return masking.rounding != "auto" and (masking.moments != "none" or are_weighted(recipe))


def undoable(recipe: Recipe, columns: Iterable[tuple[Any, Kind, Steps]]) -> tuple[Any, ...]:
    """Return the columns of numbers with few digits whose members' values can be computed from what groups release.

    Of each column the name is given, the kind, and what divides its values. An intruder who knows the weights of the
    members, or how far means were spread, looks for multiples of the column's own step that give the mean: with all
    digits there is mostly one way. What nearly all values are multiples of is the step: a few others hide nothing.
    """
    return tuple(name for name, kind, steps in columns if _is_undoable(recipe, name, kind, steps))


def _is_undoable(recipe: Recipe, name: Any, kind: Kind, steps: Steps) -> bool:
    masking, usual = recipe.masking, steps.usual
    mapped = masking.moments != "none" and type(kind) is Number
    if usual is None or not (mapped or (are_weighted(recipe) and kind.is_quantity)):
        return False
    asked = power_asked(name, masking.rounding)
    return masking.rounding == "none" or (asked is not None and asked < usual - FINEST)


def refuse_undoable(recipe: Recipe, names: Sequence[Any]) -> None:
    """Refuse to write columns that `undoable` names."""
    if not names:
        return
    moments = recipe.masking.moments
    what, other = "weighted means", setting("weighted", False)
    if moments != "none":
        what, other = f"values spread to keep {moments}s", setting("moments", "none")
    listed = ", ".join(map(repr, names[:3])) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    raise InvalidParameter(
        f"{len(names)} column(s) of whole numbers or short decimals would be written as {what} with too many digits: "
        f"{listed}. A file may have steps down to a thousandth of the column's own: from more digits the values of "
        "members can be computed. "
        f"Round them: {setting('rounding', 'auto')}; or choose {other}.",
        parameter="rounding",
        columns=tuple(names),
    )


def refuse_integers(recipe: Recipe, names: Iterable[str], schema: pa.Schema) -> None:
    """Refuse, before any work, columns to mask that are stored as whole numbers, if `undoable` would name them."""
    stored = [
        name
        for name in names
        if pa.types.is_integer(schema.field(name).type)
        and recipe.kinds.kinds.get(name, "number") == "number"
        and name not in recipe.recode.recode
    ]
    refuse_undoable(recipe, undoable(recipe, ((name, Number(), _WHOLE) for name in stored)))
