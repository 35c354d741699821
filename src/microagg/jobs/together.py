"""Judging several masked files of one original together."""

from collections.abc import Mapping, Sequence
from typing import Any

from microagg.jobs.pairing import in_the_order_of, read_pair
from microagg.measures.joint import JointDisclosure
from microagg.recipe import Recipe, choices
from microagg.recipe.combine import Combination, refuse
from microagg.study.joint import joint_disclosure
from microagg.work import Progress


def assess_all(
    original: str,
    masked: Sequence[str],
    recipe: Recipe | None = None,
    chosen: Mapping[str, Any] | None = None,
    *,
    columns: list[str] | None = None,
    strata: str | None = None,
    key: str | None = None,
    progress: Progress | None = None,
) -> JointDisclosure:
    """Measure what several masked files of one original disclose together.

    Parameters
    ----------
    original : str
    masked : sequence of str
        Of the same records. Rows in another order are matched by `key`, or else by nearest values; the result
        says which.
    recipe : Recipe, optional
        What they were masked by.
    chosen : mapping, optional
        Choices by keyword. Those of reading hold of text files; others have no meaning here, and are refused.
    columns : list of str, optional
        The masked ones; by default the recipe's, or those of each file in which it differs from the original.
    strata : str, optional
        Refused: groups lie within strata already.
    key : str, optional
        A column that identifies each record in all files.
    progress : callable, optional
        Called as progress(done, in all).
    """
    said = {**(chosen or {}), "strata": strata}
    reading = {name: value for name, value in said.items() if name in choices("read")}
    for keyword, value in said.items():
        if value is not None:
            refuse("several files", Combination(keyword=keyword))
    pairs = [read_pair(original, one, recipe, reading) for one in masked]
    before = pairs[0].before
    after = [one.after if key is None else in_the_order_of(before, one.after, key) for one in pairs]
    if columns is None and recipe is not None:
        columns = list(recipe.masked(before.table.column_names))
    match = "auto" if key is None else "position"
    frames = [one.typed() for one in after]
    unit = None if recipe is None or recipe.roles.unit not in before.table.column_names else recipe.roles.unit
    return joint_disclosure(before.typed(), frames, columns=columns, match=match, unit=unit, progress=progress)
