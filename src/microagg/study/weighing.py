"""How weights should be released, by what they would disclose."""

from collections.abc import Sequence
from typing import Any

import narwhals as nw

from microagg.columns import frames
from microagg.columns.kinds import FEWEST
from microagg.columns.weights import checked_weights
from microagg.errors import InvalidData
from microagg.measures.weights import could_dominate, fingerprint, unit_could_dominate
from microagg.recipe import Recipe

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
