"""Data to try things on: made data, and the reference files of the CASC project."""

from microagg.datasets.casc import load
from microagg.datasets.made import normal, survey, uniform

__all__ = ["load", "normal", "survey", "uniform"]
