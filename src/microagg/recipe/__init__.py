"""Recipe: every choice of a run, one frozen value with a part for each concern.

Each choice is declared once (`_parts`), with its kind, its words or limits and its meaning. The keywords of `protect`,
the keys of a recipe file, the options of the command line and the tables of the documentation follow from that.
"""

from microagg.recipe._choice import Choice as Choice
from microagg.recipe._choice import Part as Part
from microagg.recipe._choice import choices_of as choices_of
from microagg.recipe._columns import Analyses as Analyses
from microagg.recipe._columns import DiversityChoices as DiversityChoices
from microagg.recipe._columns import Importance as Importance
from microagg.recipe._columns import Kinds as Kinds
from microagg.recipe._columns import Missing as Missing
from microagg.recipe._columns import Recode as Recode
from microagg.recipe._columns import Relations as Relations
from microagg.recipe._columns import TaxonomyChoices as TaxonomyChoices
from microagg.recipe._columns import UnitChoices as UnitChoices
from microagg.recipe._lines import Comments as Comments
from microagg.recipe._parts import BlockChoices as BlockChoices
from microagg.recipe._parts import Compare as Compare
from microagg.recipe._parts import Join as Join
from microagg.recipe._parts import Masking as Masking
from microagg.recipe._parts import MethodChoices as MethodChoices
from microagg.recipe._parts import OutputChoices as OutputChoices
from microagg.recipe._parts import Reading as Reading
from microagg.recipe._parts import Refine as Refine
from microagg.recipe._parts import RiskChoices as RiskChoices
from microagg.recipe._parts import Roles as Roles
from microagg.recipe._parts import Select as Select
from microagg.recipe._parts import WeightChoices as WeightChoices
from microagg.recipe._parts import method_names as method_names
from microagg.recipe._recipe import Recipe as Recipe
from microagg.recipe._tables import OF_PROTECT as OF_PROTECT
from microagg.recipe._tables import PARTS as PARTS
from microagg.recipe._tables import K as K
from microagg.recipe._tables import as_key as as_key
from microagg.recipe._tables import choices as choices
from microagg.recipe._tables import options_of as options_of
