"""The dependence tree of a table's columns, of whatever kind."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.dependence import (
    MEASURES,
    Dependence,
    check_widths,
    cut_into_categories,
    numbered,
    tree_of,
    weights_of_categories,
    weights_of_numbers,
)
from microagg.checks import EXACT_INTEGERS, check_option, check_whole
from microagg.columns.table import Table
from microagg.errors import InvalidParameter


def dependence(table: Table, measure: str = "emim", width: Any = None, bins: int | None = None) -> Dependence:
    """Weigh every pair of a table's columns and span the tree of the strongest."""
    check_option("measure", measure, MEASURES)
    if measure == "normal":
        if width is not None or bins is not None:
            raise InvalidParameter(
                "measure='normal' uses no categories. Leave out width and bins.", parameter="measure"
            )
        other = next((one for one in table if not one.kind.is_squared or one.cells.states is not None), None)
        if other is not None:
            raise InvalidParameter(
                f"measure='normal' is for complete numbers, which column {other.name!r} is not. Choose emim, chi2 or "
                f"vi.",
                parameter="measure",
                columns=(other.name,),
            )
        sizes = np.zeros(len(table), dtype=np.int64)
        weights = weights_of_numbers(table.matrix())
    else:
        codes, sizes = categorise(table, width, bins)
        weights = weights_of_categories(codes, sizes, measure)
    return tree_of(measure, weights, sizes, [column.is_constant for column in table])


def categorise(table: Table, width: Any = None, bins: int | None = None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number each record's category in each column; give the codes (d, n) and how many there are.

    Numbers and dates are cut: with `width` (one, or one a column) a category is that wide, from the column's minimum
    on; with `bins` a column's range is cut into so many; with neither, as `automatic_bins` says. Ordinal and nominal
    columns have categories already. Each way of being missing is one more. Empty categories count for nothing and get
    no number.
    """
    d, n = len(table), table.n_records
    widths = check_widths(width, d)
    if bins is not None:
        bins = check_whole("bins", bins, 2, EXACT_INTEGERS, "Leave it out for a number by rule.")
    if widths is not None and bins is not None:
        raise InvalidParameter("both width and bins were given. Pass one of them.", parameter="bins")
    codes = np.empty((d, n), dtype=np.int64)
    sizes = np.empty(d, dtype=np.int64)
    for j, column in enumerate(table):
        known = column.cells.known
        if not column.kind.is_squared or known.size == 0:
            own = known
        else:
            own = cut_into_categories(known, j, None if widths is None else float(widths[j]), bins)
        if column.cells.states is not None:
            cut = -column.cells.states.astype(np.float64)  # whole intervals are numbered from 0: never below
            cut[column.cells.present] = own - (own.min() if own.size else 0.0)
            own = cut
        codes[j], sizes[j] = numbered(own)
    return codes, sizes
