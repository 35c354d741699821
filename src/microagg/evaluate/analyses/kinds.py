"""Every kind of analysis by its word."""

from microagg.evaluate.analyses.definition import AnalysisKind
from microagg.evaluate.analyses.inequality import GINI, POVERTY
from microagg.evaluate.analyses.means import MEAN, RATIO, SHARE, TOTAL
from microagg.evaluate.analyses.quantile import QUANTILE
from microagg.evaluate.analyses.regression import LINEAR, LOGISTIC, LOGLINEAR
from microagg.evaluate.analyses.table import TABLE

_KINDS = (MEAN, TOTAL, SHARE, QUANTILE, RATIO, GINI, POVERTY, TABLE, LINEAR, LOGISTIC, LOGLINEAR)

ANALYSES: dict[str, AnalysisKind] = {kind.name: kind for kind in _KINDS}
"""Every kind of analysis by its word in a recipe; a new one is entered here."""
