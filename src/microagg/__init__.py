"""Release microdata without exposing anybody in it: k-anonymity by microaggregation.

`protect` does the whole job on a dataframe; the classes are the partitioners of the literature as
scikit-learn estimators; `datasets` makes and loads data to try them on. Everything is imported when it
is first used.
"""

import importlib
import sys
from typing import TYPE_CHECKING, Any

from microagg.base.imports import OtherVersions

__version__ = "0.2.0"

if TYPE_CHECKING:
    from microagg import datasets as datasets
    from microagg import errors as errors
    from microagg.algorithms.iamat import association as association
    from microagg.algorithms.iamat import interaction as interaction
    from microagg.algorithms.refine import Refinement as Refinement
    from microagg.algorithms.refine import refine as refine
    from microagg.algorithms.selection import Selection as Selection
    from microagg.estimators import AMA as AMA
    from microagg.estimators import CBFS as CBFS
    from microagg.estimators import EMAD as EMAD
    from microagg.estimators import IAMAT as IAMAT
    from microagg.estimators import MDAV as MDAV
    from microagg.estimators import VMDAV as VMDAV
    from microagg.estimators import DependenceTree as DependenceTree
    from microagg.estimators import MaximumDistance as MaximumDistance
    from microagg.estimators import MedianTree as MedianTree
    from microagg.estimators import OrthantTree as OrthantTree
    from microagg.estimators import Projection as Projection
    from microagg.estimators import Univariate as Univariate
    from microagg.estimators import UnivariateBlocks as UnivariateBlocks
    from microagg.file_release import FileRelease as FileRelease
    from microagg.file_release import protect_file as protect_file
    from microagg.files.sources import Source as Source
    from microagg.jobs.tables import read as read
    from microagg.jobs.tables import write as write
    from microagg.judge.analyses import default_analyses as default_analyses
    from microagg.judge.analyses import utility as utility
    from microagg.judge.comparison import Candidate as Candidate
    from microagg.judge.comparison import Comparison as Comparison
    from microagg.mask.relations import KeptRelation as KeptRelation
    from microagg.measures.analyses.analysis import Analysis as Analysis
    from microagg.measures.analyses.estimate import Estimate as Estimate
    from microagg.measures.analyses.estimate import Utility as Utility
    from microagg.measures.anonymity import Anonymity as Anonymity
    from microagg.measures.assess import anonymity as anonymity
    from microagg.measures.assess import disclosure_risk as disclosure_risk
    from microagg.measures.assess import dominance as dominance
    from microagg.measures.assess import loss_measures as loss_measures
    from microagg.measures.assess import pmse as pmse
    from microagg.measures.assess import relations as relations
    from microagg.measures.bound import LossBound as LossBound
    from microagg.measures.bound import loss_bound as loss_bound
    from microagg.measures.criterion import scoring_index as scoring_index
    from microagg.measures.dominance import Dominance as Dominance
    from microagg.measures.joint import JointDisclosure as JointDisclosure
    from microagg.measures.loss import InformationLoss as InformationLoss
    from microagg.measures.loss import information_loss as information_loss
    from microagg.measures.measure import Measure as Measure
    from microagg.measures.pmse import PMSE as PMSE
    from microagg.measures.risk import DisclosureRisk as DisclosureRisk
    from microagg.measures.utility import LossMeasures as LossMeasures
    from microagg.pipeline import protect as protect
    from microagg.recipe import Recipe as Recipe
    from microagg.recipe.relations import Relation as Relation
    from microagg.recipe.relations import RelationCounts as RelationCounts
    from microagg.release import Release as Release
    from microagg.study import SubsetLosses as SubsetLosses
    from microagg.study import best_subset as best_subset
    from microagg.study import compare as compare
    from microagg.study import select_variables as select_variables
    from microagg.study.joint import joint_disclosure as joint_disclosure

_HOME = {
    "AMA": "estimators",
    "CBFS": "estimators",
    "EMAD": "estimators",
    "IAMAT": "estimators",
    "MDAV": "estimators",
    "VMDAV": "estimators",
    "DependenceTree": "estimators",
    "MedianTree": "estimators",
    "OrthantTree": "estimators",
    "UnivariateBlocks": "estimators",
    "MaximumDistance": "estimators",
    "Projection": "estimators",
    "Univariate": "estimators",
    "read": "jobs.tables",
    "write": "jobs.tables",
    "Source": "files.sources",
    "anonymity": "measures.assess",
    "disclosure_risk": "measures.assess",
    "dominance": "measures.assess",
    "joint_disclosure": "study.joint",
    "loss_measures": "measures.assess",
    "pmse": "measures.assess",
    "relations": "measures.assess",
    "default_analyses": "judge.analyses",
    "utility": "judge.analyses",
    "Candidate": "judge.comparison",
    "Comparison": "judge.comparison",
    "compare": "study",
    "Analysis": "measures.analyses.analysis",
    "Estimate": "measures.analyses.estimate",
    "Utility": "measures.analyses.estimate",
    "Anonymity": "measures.anonymity",
    "LossBound": "measures.bound",
    "loss_bound": "measures.bound",
    "Dominance": "measures.dominance",
    "JointDisclosure": "measures.joint",
    "InformationLoss": "measures.loss",
    "information_loss": "measures.loss",
    "Measure": "measures.measure",
    "PMSE": "measures.pmse",
    "Relation": "recipe.relations",
    "RelationCounts": "recipe.relations",
    "KeptRelation": "mask.relations",
    "DisclosureRisk": "measures.risk",
    "scoring_index": "measures.criterion",
    "LossMeasures": "measures.utility",
    "association": "algorithms.iamat",
    "interaction": "algorithms.iamat",
    "Refinement": "algorithms.refine",
    "refine": "algorithms.refine",
    "protect": "pipeline",
    "Selection": "algorithms.selection",
    "Recipe": "recipe",
    "Release": "release",
    "SubsetLosses": "study",
    "FileRelease": "file_release",
    "protect_file": "file_release",
    "best_subset": "study",
    "select_variables": "study",
}

__all__ = [
    "AMA",
    "CBFS",
    "EMAD",
    "IAMAT",
    "MDAV",
    "PMSE",
    "VMDAV",
    "Analysis",
    "Anonymity",
    "Candidate",
    "Comparison",
    "DependenceTree",
    "DisclosureRisk",
    "Dominance",
    "Estimate",
    "FileRelease",
    "InformationLoss",
    "JointDisclosure",
    "KeptRelation",
    "LossBound",
    "LossMeasures",
    "MaximumDistance",
    "Measure",
    "MedianTree",
    "OrthantTree",
    "Projection",
    "Recipe",
    "Refinement",
    "Relation",
    "RelationCounts",
    "Release",
    "Selection",
    "Source",
    "SubsetLosses",
    "Univariate",
    "UnivariateBlocks",
    "Utility",
    "anonymity",
    "association",
    "best_subset",
    "compare",
    "datasets",
    "default_analyses",
    "disclosure_risk",
    "dominance",
    "errors",
    "information_loss",
    "interaction",
    "joint_disclosure",
    "loss_bound",
    "loss_measures",
    "pmse",
    "protect",
    "protect_file",
    "read",
    "refine",
    "relations",
    "scoring_index",
    "select_variables",
    "utility",
    "write",
]

sys.meta_path.append(OtherVersions())


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(f"microagg.{_HOME[name]}"), name)
    elif name in ("datasets", "errors"):
        value = importlib.import_module(f"microagg.{name}")
    else:
        raise AttributeError(f"module 'microagg' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
