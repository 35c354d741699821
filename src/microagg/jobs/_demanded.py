"""What a recipe demands of confidential columns, whether a masked file keeps it, and which have no limit at all."""

from collections.abc import Mapping, Sequence

from microagg.algorithms.diversity.demand import Limits
from microagg.columns import frames
from microagg.errors import InvalidData
from microagg.files.sources import Source
from microagg.mask.demands import check_demanded, demand_on, demanded_columns, sensitive_table
from microagg.measures.diversity import Goal, given_away, goals_of
from microagg.recipe import Recipe
from microagg.report.text import first_of, quoted

Goals = Mapping[str, tuple[Goal, ...]]


def goals_in(after: Source, recipe: Recipe | None, masked: Sequence[str]) -> Goals:
    """Return what a recipe demands of confidential columns and what a masked file reaches; empty without a demand.

    `masked` are the columns that the recipe masks. Records look the same if they share these, the strata, and weights
    that are released by group.
    """
    if recipe is None or not recipe.diversity.demanded:
        return {}
    confidential = list(recipe.roles.confidential)
    check_demanded(recipe, confidential)
    limits = demanded_columns(recipe, confidential)
    keys = [*masked, *recipe.roles.strata, *recipe.weights_by_group]
    _check_known(after, recipe, keys, limits)
    typed = frames.open_frame(after.typed_for(recipe.kinds.kinds, [*keys, *limits]))
    sensitive = sensitive_table({name: typed.get_column(name) for name in limits}, recipe, after.labels)
    found = given_away(demand_on(sensitive, limits), frames.category_codes(typed, keys))
    return {name: goals_of(limits[name], own) for name, own in found.items()}


def _check_known(after: Source, recipe: Recipe, keys: Sequence[str], limits: Mapping[str, Limits]) -> None:
    """Refuse a file without a column that the demand needs, or with one whose order of values is not known."""
    lacking = next((name for name in (*limits, *keys) if name not in after.table.column_names), None)
    if lacking is not None:
        raise InvalidData(
            f"the recipe demands l or t of confidential columns, which is counted with column {lacking!r}, and that "
            "column is not in the masked file. Assess a file that has it, or take [diversity] out of the recipe.",
            columns=(lacking,),
        )
    for name, own in limits.items():
        if own.t is not None and name in recipe.recode.recode and name not in recipe.kinds.kinds:
            raise InvalidData(
                f"column {name!r} was recoded. t is measured by the order of its classes, and the recipe does not "
                "say that order. Use the recipe that masking has written, which does.",
                columns=(name,),
            )


def without_limit(recipe: Recipe) -> list[str]:
    """Return a line that warns of confidential columns to which neither l nor t applies; empty if there are none."""
    confidential = recipe.roles.confidential
    names = [name for name in confidential if name not in demanded_columns(recipe, confidential)]
    if not names:
        return []
    return [
        f"confidential columns are released unchanged, and neither l nor t limits what a group discloses of them: "
        f"{first_of([quoted(name) for name in names])}."
    ]


def kept_words(goals: Goals) -> list[str]:
    """Say of each thing that is demanded whether the file keeps it."""
    return [
        f"{one.short} of {name!r}: {'kept' if one.holds else 'NOT kept'}, {one.reached:.3g} reached"
        for name, own in goals.items()
        for one in own
    ]


def broken_words(goals: Goals) -> list[str]:
    """Warn of what the file does not keep."""
    return [
        f"the masked file does not keep {one.short} of {name!r}, as the recipe demands: {one.reached:.3g} is reached. "
        f"Mask again, and do not release it."
        for name, own in goals.items()
        for one in own
        if not one.holds
    ]
