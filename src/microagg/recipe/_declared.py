"""The parts of a recipe that a person declares one by one: analyses that must survive, relations that must hold."""

from collections.abc import Collection, Mapping
from typing import Any

from microagg.base.frozen import frozen
from microagg.errors import InvalidParameter, RoleError, blamed
from microagg.measures.analyses.analysis import Analysis
from microagg.recipe._choice import LISTED, Part, choose
from microagg.recipe.relations import Relation


def as_relation(said: Any) -> Relation:
    """Return a relation that is one already, or that a text or a table says."""
    if isinstance(said, Relation):
        return said
    if not isinstance(said, Mapping):
        return Relation.of(said)
    for name in said:
        if name not in ("holds", "tolerance"):
            raise InvalidParameter(f"a relation has no {name!r}. It has holds and tolerance.", parameter=name)
    if "holds" not in said:
        raise InvalidParameter(
            "a relation needs holds, which says what is true. Add it: holds = 'income = wage + benefits'.",
            parameter="holds",
        )
    try:
        return Relation.of(said["holds"], said.get("tolerance", 0.0))
    except InvalidParameter as error:
        error.parameter = "holds" if error.parameter == "relations" else error.parameter  # its key
        raise


@frozen()
class Analyses(Part):
    """What users of the file will compute."""

    listed = "analyses"
    analyses: tuple[Analysis, ...] = choose(
        (),
        LISTED,
        "what users will compute: the results before and after masking are compared",
        element=Analysis.of,
        spelt=lambda one: one.said,
        more="Each is an `Analysis`, or a mapping that says the same. By default some are guessed.",
    )


@frozen()
class Relations(Part):
    """What holds between the numbers of a record."""

    listed = "relations"
    relations: tuple[Relation, ...] = choose(
        (),
        LISTED,
        "relations between columns: kept where the values of a group can keep them, and counted",
        element=as_relation,
        spelt=lambda one: {"holds": one.said} | ({"tolerance": one.tolerance} if one.tolerance else {}),
        more='Such as "income = wage + benefits" or "size >= adults"; or a `Relation`, or a mapping with `holds` and '
        "`tolerance`.",
    )


def check_released(analysis: Analysis, released: Collection[Any], unit: Any) -> None:
    """Refuse an analysis that nobody could do on the release."""
    from microagg.measures.analyses.judge import columns_read

    columns_read([analysis], released)
    if analysis.unit is not None and analysis.unit != unit and analysis.unit not in released:
        what = "is neither the recipe's unit nor released. Name another, or leave it out."
        error = RoleError(
            f"the unit {analysis.unit!r} of an analysis {what}", parameter="unit", columns=(analysis.unit,)
        )
        raise blamed(analysis, error)
