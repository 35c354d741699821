"""Kinds of columns: how each is placed in space, represented by one value, and judged. One file a kind."""

from microagg.columns.kinds._kind import FEWEST, Block, Cells, Facts, Kind, Rule
from microagg.columns.kinds.date import Date
from microagg.columns.kinds.nominal import Nominal
from microagg.columns.kinds.number import Number
from microagg.columns.kinds.ordinal import Ordinal
from microagg.columns.kinds.semi import Semi
from microagg.columns.kinds.taxonomy import Taxonomy

KINDS: dict[str, type[Kind]] = {kind.name: kind for kind in (Number, Date, Ordinal, Nominal, Semi)}
"""Every kind by the word for it in a recipe; a nominal column may have a taxonomy besides."""

NOMINAL_RULES = ("mode", "balanced", "draw")
SPIKE_TOTALS = ("safe", "exact")

__all__ = [
    "FEWEST",
    "KINDS",
    "NOMINAL_RULES",
    "SPIKE_TOTALS",
    "Block",
    "Cells",
    "Date",
    "Facts",
    "Kind",
    "Nominal",
    "Number",
    "Ordinal",
    "Rule",
    "Semi",
    "Taxonomy",
]
