"""How records with missing values should be grouped, by how many would have to join records with others missing."""

from microagg.columns import frames
from microagg.columns.finders import open_table
from microagg.columns.patterns import find_patterns
from microagg.columns.roles import Role
from microagg.errors import MicroaggError
from microagg.files.sources import Source
from microagg.recipe import Recipe
from microagg.recipe.data import asked_of, with_declared_codes
from microagg.study.inspection import Inspection

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
