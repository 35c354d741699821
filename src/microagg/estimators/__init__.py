"""The scikit-learn classes: thin wrappers around the plain functions."""

from microagg.estimators.blocking import MedianTree, OrthantTree, UnivariateBlocks
from microagg.estimators.by_tree import AMA, EMAD
from microagg.estimators.dependence import DependenceTree
from microagg.estimators.partitioners import CBFS, IAMAT, MDAV, VMDAV, MaximumDistance, Projection, Univariate

__all__ = [
    "AMA",
    "CBFS",
    "EMAD",
    "IAMAT",
    "MDAV",
    "VMDAV",
    "DependenceTree",
    "MaximumDistance",
    "MedianTree",
    "OrthantTree",
    "Projection",
    "Univariate",
    "UnivariateBlocks",
]
