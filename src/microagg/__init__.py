"""Release microdata without exposing anybody in it: k-anonymity by microaggregation.

`protect` does the whole job on a dataframe; the classes are the partitioners of the literature as
scikit-learn estimators; `datasets` makes and loads data to try them on. Everything is imported when it
is first used.
"""

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

if TYPE_CHECKING:
    from microagg import datasets as datasets
    from microagg import errors as errors
    from microagg.assess import anonymity as anonymity
    from microagg.assess import disclosure_risk as disclosure_risk
    from microagg.assess import dominance as dominance
    from microagg.assess import loss_measures as loss_measures
    from microagg.assess import pmse as pmse
    from microagg.assess import relations as relations
    from microagg.beyond import FileRelease as FileRelease
    from microagg.beyond import protect_file as protect_file
    from microagg.desk.tables import read as read
    from microagg.desk.tables import write as write
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
    from microagg.evaluate.analyses.analysis import Analysis as Analysis
    from microagg.evaluate.analyses.estimate import Estimate as Estimate
    from microagg.evaluate.analyses.estimate import Utility as Utility
    from microagg.evaluate.anonymity import Anonymity as Anonymity
    from microagg.evaluate.bound import LossBound as LossBound
    from microagg.evaluate.bound import loss_bound as loss_bound
    from microagg.evaluate.dominance import Dominance as Dominance
    from microagg.evaluate.joint import JointDisclosure as JointDisclosure
    from microagg.evaluate.loss import InformationLoss as InformationLoss
    from microagg.evaluate.loss import information_loss as information_loss
    from microagg.evaluate.measure import Measure as Measure
    from microagg.evaluate.pmse import PMSE as PMSE
    from microagg.evaluate.relations import Relation as Relation
    from microagg.evaluate.relations import RelationCounts as RelationCounts
    from microagg.evaluate.risk import DisclosureRisk as DisclosureRisk
    from microagg.evaluate.score import scoring_index as scoring_index
    from microagg.evaluate.utility import LossMeasures as LossMeasures
    from microagg.io.sources import Source as Source
    from microagg.partition.iamat import association as association
    from microagg.partition.iamat import interaction as interaction
    from microagg.partition.refine import Refinement as Refinement
    from microagg.partition.refine import refine as refine
    from microagg.partition.selection import Selection as Selection
    from microagg.pipeline import protect as protect
    from microagg.recipe import Recipe as Recipe
    from microagg.relation_keeping import KeptRelation as KeptRelation
    from microagg.release import Release as Release
    from microagg.results import default_analyses as default_analyses
    from microagg.results import utility as utility
    from microagg.study import Candidate as Candidate
    from microagg.study import Comparison as Comparison
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
    "read": "desk.tables",
    "write": "desk.tables",
    "Source": "io.sources",
    "anonymity": "assess",
    "disclosure_risk": "assess",
    "dominance": "assess",
    "joint_disclosure": "study.joint",
    "loss_measures": "assess",
    "pmse": "assess",
    "relations": "assess",
    "default_analyses": "results",
    "utility": "results",
    "Candidate": "study",
    "Comparison": "study",
    "compare": "study",
    "Analysis": "evaluate.analyses.analysis",
    "Estimate": "evaluate.analyses.estimate",
    "Utility": "evaluate.analyses.estimate",
    "Anonymity": "evaluate.anonymity",
    "LossBound": "evaluate.bound",
    "loss_bound": "evaluate.bound",
    "Dominance": "evaluate.dominance",
    "JointDisclosure": "evaluate.joint",
    "InformationLoss": "evaluate.loss",
    "information_loss": "evaluate.loss",
    "Measure": "evaluate.measure",
    "PMSE": "evaluate.pmse",
    "Relation": "evaluate.relations",
    "RelationCounts": "evaluate.relations",
    "KeptRelation": "relation_keeping",
    "DisclosureRisk": "evaluate.risk",
    "scoring_index": "evaluate.score",
    "LossMeasures": "evaluate.utility",
    "association": "partition.iamat",
    "interaction": "partition.iamat",
    "Refinement": "partition.refine",
    "refine": "partition.refine",
    "protect": "pipeline",
    "Selection": "partition.selection",
    "Recipe": "recipe",
    "Release": "release",
    "SubsetLosses": "study",
    "FileRelease": "beyond",
    "protect_file": "beyond",
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
