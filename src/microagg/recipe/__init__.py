"""Recipe: every choice of a run, one frozen value with a part for each concern.

Each choice is declared once (`_parts`), with its kind, its words or limits and its meaning. The keywords of `protect`,
the keys of a recipe file, the options of the command line and the tables of the documentation follow from that.
"""

from microagg.recipe._by_column import Importance, Kinds, Missing, Recode, Taxonomy
from microagg.recipe._choice import Choice, Part, choices_of
from microagg.recipe._declared import Analyses, Relations
from microagg.recipe._lines import Comments
from microagg.recipe._parts import (
    Blocks,
    Compare,
    Join,
    Masking,
    Method,
    Output,
    Reading,
    Refine,
    Risk,
    Roles,
    Select,
    WeightChoices,
    method_names,
)
from microagg.recipe._promised import DiversityChoices, UnitChoices
from microagg.recipe._recipe import Recipe
from microagg.recipe._tables import OF_PROTECT, PARTS, K, as_key, choices, options_of

__all__ = [
    "OF_PROTECT",
    "PARTS",
    "Analyses",
    "Blocks",
    "Choice",
    "Comments",
    "Compare",
    "DiversityChoices",
    "Importance",
    "Join",
    "K",
    "Kinds",
    "Masking",
    "Method",
    "Missing",
    "Output",
    "Part",
    "Reading",
    "Recipe",
    "Recode",
    "Refine",
    "Relations",
    "Risk",
    "Roles",
    "Select",
    "Taxonomy",
    "UnitChoices",
    "WeightChoices",
    "as_key",
    "choices",
    "choices_of",
    "method_names",
    "options_of",
]
