"""Which columns of a file depend on which, and a few that represent all."""

from microagg.checks import check_option, check_whole
from microagg.desk.opening import Opened
from microagg.errors import InvalidData
from microagg.frozen import frozen
from microagg.io import frames
from microagg.io.coding import open_table
from microagg.partition.dependence import MEASURES, Dependence, dependence
from microagg.partition.selection import Selection, select_columns
from microagg.recipe.wishes import asked_of, with_declared_codes

_USUAL = 3  # columns that are chosen where nobody says how many


@frozen()
class ColumnTree:
    """The dependence tree of the columns to mask.

    Attributes
    ----------
    names : list of str
    dependence : Dependence
    chosen : Selection
    """

    names: list[str]
    dependence: Dependence
    chosen: Selection


def column_tree(opened: Opened, measure: str, count: int | None = None) -> ColumnTree:
    """Span the tree of the columns to mask, and choose some of them."""
    check_option("measure", measure, MEASURES)
    names = opened.recipe.masked(opened.source.table.column_names)
    if len(names) < 2:
        raise InvalidData(f"a tree needs two columns; {len(names)} is to be masked. Name more in a recipe.")
    most = "There are no more columns to mask."
    wanted = min(_USUAL, len(names)) if count is None else check_whole("count", count, 1, len(names), most)
    source = opened.source
    recipe = with_declared_codes(opened.recipe, source, names)
    typed = source.typed_for(recipe.kinds.kinds, names, recipe.missing_codes.codes)
    table, _ = open_table(frames.open_frame(typed.select(names)), asked_of(recipe, names, source.labels))
    spanned = dependence(table, measure=measure)
    return ColumnTree(names, spanned, select_columns(names, spanned, count=wanted))
