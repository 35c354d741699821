"""Data to try things on: synthetic data, and the reference files of the CASC project."""

from microagg.datasets.casc import load
from microagg.datasets.households import households
from microagg.datasets.made import normal, panel, survey, uniform
from microagg.datasets.trees import TREES, binary_tree, dependence_tree

__all__ = ["TREES", "binary_tree", "dependence_tree", "households", "load", "normal", "panel", "survey", "uniform"]
