"""Every kind of analysis by its word."""

from microagg.measures.analyses.definition import AnalysisKind
from microagg.measures.analyses.distribution import GINI, POVERTY, QUANTILE
from microagg.measures.analyses.means import MEAN, RATIO, SHARE, TOTAL
from microagg.measures.analyses.regression import LINEAR, LOGISTIC, LOGLINEAR
from microagg.measures.analyses.table import TABLE

_KINDS = (MEAN, TOTAL, SHARE, QUANTILE, RATIO, GINI, POVERTY, TABLE, LINEAR, LOGISTIC, LOGLINEAR)

ANALYSES: dict[str, AnalysisKind] = {kind.name: kind for kind in _KINDS}
"""Every kind of analysis by its word in a recipe; a new one is entered here."""
