"""Data to try things on: synthetic data, and the reference files of the CASC project."""

from microagg.datasets.casc import load
from microagg.datasets.households import households
from microagg.datasets.made import TREES, binary_tree, dependence_tree, normal, panel, survey, uniform

__all__ = ["TREES", "binary_tree", "dependence_tree", "households", "load", "normal", "panel", "survey", "uniform"]
